"""What a real broker can hold at and behind a checkpoint, one case a test (docs/freshness.md).

Each test makes its topic, a table whose newest commit has read up to some offset, and compares the
report with what was put into the topic.
"""

from __future__ import annotations

import pathlib
import random
import threading
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from hudi_table import KEY_V2, Commit
from kafka_cluster import KafkaCluster, Record, now_ms, produce_with
from kafka_wire import NO_TIMESTAMP, RawRecord
from program import BREACH, HEALTHY, UNKNOWN, WARNING, Program, Run
from truth import Partition, Stored, check_lag, check_partition, check_pipeline, of_log
from waiting import wait_until

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000

MakeTable = Callable[..., pathlib.Path]


class Lab:
    """A run of `freshness` against the broker, with the flags most tests share."""

    def __init__(self, tidemark: Program, kafka: KafkaCluster, make_table: MakeTable) -> None:
        self._tidemark = tidemark
        self._kafka = kafka
        self._make_table = make_table

    def look(self, checkpoint: str, *flags: str) -> Run:
        return self._tidemark(
            "freshness", "--table", self._make_table(checkpoint),
            "--bootstrap", self._kafka.bootstrap(), "--format", "json", "--partitions", *flags,
        )  # fmt: skip

    def look_committed(self, checkpoint: str) -> Run:
        return self.look(checkpoint, "--isolation", "read_committed")


@pytest.fixture
def lab(tidemark: Program, kafka: KafkaCluster, make_table: MakeTable) -> Lab:
    return Lab(tidemark, kafka, make_table)


def only_partition(run: Run) -> dict:
    (found,) = run.pipeline["partition_detail"]
    return found


def check_unknown(run: Run, reason: str) -> None:
    """No number, not even by a side door."""
    report = run.pipeline
    assert (report["status"], report["reason"]) == ("unknown", reason)
    assert report["lag_seconds"] is None
    assert report["sla_ratio"] is None
    assert report["sla_ratio_capped"] is None
    assert report["oldest"] is None
    assert report["message"]
    assert run.code == UNKNOWN


def aged(*ages_ms: int, partition: int = 0) -> list[Record]:
    """Records that are so old now."""
    now = now_ms()
    return [Record(partition, now - age) for age in ages_ms]


def stamps(records: list[Record]) -> list[int]:
    return [record.timestamp_ms for record in records]


# --- the ordinary -----------------------------------------------------------------------------


def test_a_table_that_has_read_everything_is_fresh(kafka: KafkaCluster, lab: Lab, topic: str) -> None:
    kafka.create_topic(topic)
    records = aged(2 * DAY, DAY)
    kafka.produce(topic, records)
    run = lab.look(f"{topic},0:2")
    check_pipeline(run, topic, {0: of_log(2, stamps(records))})
    assert run.code == HEALTHY


def test_an_empty_topic_is_fresh(kafka: KafkaCluster, lab: Lab, topic: str) -> None:
    kafka.create_topic(topic, 2)
    run = lab.look(f"{topic},0:0,1:0")
    check_pipeline(run, topic, {0: of_log(0, []), 1: of_log(0, [])})
    assert run.code == HEALTHY


def test_lag_is_the_age_of_the_first_record_not_read_yet(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 3)
    logs = {0: aged(50 * MINUTE, 20 * MINUTE), 1: aged(HOUR), 2: aged(30 * MINUTE, 10, partition=2)}
    for partition, records in logs.items():
        kafka.produce(topic, [Record(partition, each.timestamp_ms) for each in records])
    run = lab.look(f"{topic},0:1,1:1,2:0")
    check_pipeline(
        run,
        topic,
        {n: of_log(c, stamps(logs[n])) for n, c in {0: 1, 1: 1, 2: 0}.items()},
    )
    assert run.pipeline["oldest"]["partition"] == 2
    assert run.code == HEALTHY  # 30 of 60 minutes


def test_a_lag_of_seventy_percent_of_the_sla_is_a_warning(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(15 * MINUTE)
    kafka.produce(topic, records)
    run = lab.look(f"{topic},0:0", "--sla", "20m")
    check_pipeline(run, topic, {0: of_log(0, stamps(records))}, sla=1200)
    assert run.pipeline["status"] == "warning"
    assert run.code == WARNING


def test_a_batch_pipeline_has_a_day(kafka: KafkaCluster, lab: Lab, topic: str) -> None:
    kafka.create_topic(topic)
    records = aged(10 * HOUR)
    kafka.produce(topic, records)
    run = lab.look(f"{topic},0:0", "--mode", "batch")
    check_pipeline(run, topic, {0: of_log(0, stamps(records))}, sla=86400)
    assert run.code == HEALTHY


def test_a_lag_of_many_days_is_shown_whole_and_capped_only_in_the_ratio(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(30 * DAY)
    kafka.produce(topic, records)
    run = lab.look(f"{topic},0:0")
    check_pipeline(run, topic, {0: of_log(0, stamps(records))})
    assert run.pipeline["sla_ratio"] > 719
    assert run.pipeline["sla_ratio_capped"] == 1.0


def test_the_first_record_counts_even_when_a_later_one_is_older(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(DAY, 5 * MINUTE, 10 * HOUR, MINUTE)
    kafka.produce(topic, records)
    check_pipeline(lab.look(f"{topic},0:1"), topic, {0: of_log(1, stamps(records))})


@pytest.mark.parametrize("compression", ["gzip", "snappy", "lz4", "zstd"])
def test_an_offset_inside_a_compressed_batch_gives_its_own_record(
    kafka: KafkaCluster, lab: Lab, topic: str, compression: str
) -> None:
    kafka.create_topic(topic)
    now = now_ms()
    records = [Record(0, now - HOUR + 1000 * n, f"key{n}", f"value {n} " * 40) for n in range(50)]
    kafka.produce_batch(topic, records, compression)
    assert kafka.log_end(topic) == 50
    for committed in (0, 17, 49):
        run = lab.look(f"{topic},0:{committed}")
        check_pipeline(run, topic, {0: of_log(committed, stamps(records))})


def test_records_larger_than_any_fetch_limit_are_still_seen(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 4, {"max.message.bytes": str(8 * 2**20)})
    now = now_ms()
    logs = {number: [now - HOUR * (number + 1), now - MINUTE] for number in range(4)}
    for number, when in logs.items():
        large = [Record(number, stamp, None, "x" * (3 * 2**20)) for stamp in when]
        kafka.produce_batch(topic, large, size_max=4 * 2**20)
    run = lab.look(f"{topic},0:0,1:0,2:1,3:0")
    committed = {0: 0, 1: 0, 2: 1, 3: 0}
    check_pipeline(run, topic, {n: of_log(committed[n], when) for n, when in logs.items()})


def test_every_one_of_many_partitions_is_decided_exactly(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    count = 240
    kafka.create_topic(topic, count)
    chance = random.Random(20241201)
    now = now_ms()
    logs = {
        number: [now - chance.randrange(HOUR) for _ in range(chance.randrange(6))]
        for number in range(count)
    }
    committed = {number: chance.randint(0, len(when)) for number, when in logs.items()}
    everything = [Record(number, stamp) for number, when in logs.items() for stamp in when]
    kafka.produce_batch(topic, everything)
    value = ",".join(f"{number}:{offset}" for number, offset in committed.items())
    run = lab.look(f"{topic},{value}")
    check_pipeline(run, topic, {n: of_log(committed[n], when) for n, when in logs.items()})


def test_the_time_zone_of_the_machine_changes_nothing(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(30 * MINUTE)
    kafka.produce(topic, records)
    for zone in ("Asia/Shanghai", "America/St_Johns"):
        run = tidemark(
            "freshness", "--table", make_table(f"{topic},0:0"), "--bootstrap", kafka.bootstrap(),
            "--format", "json", "--partitions", env={"TZ": zone},
        )  # fmt: skip
        check_pipeline(run, topic, {0: of_log(0, stamps(records))})
        age = run.pipeline["checkpoint"]["commit_age_seconds"]
        assert age is None or 0 <= age < 120


def test_a_log_that_moves_while_it_is_looked_at_gives_no_nonsense(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 3)
    kafka.produce(topic, [Record(number, now_ms()) for number in range(3)])
    begun, stop = threading.Event(), threading.Event()

    def write_and_delete() -> None:
        producer = Producer({"bootstrap.servers": kafka.bootstrap(), "linger.ms": 0, "log_level": 0})
        written = 0
        while not stop.wait(0.002):
            for number in range(3):
                producer.produce(topic, b"v", partition=number)
            written += 1
            producer.flush(10)
            begun.set()
            if written % 50 == 0:
                kafka.delete_records(topic, {0: written})

    writer = threading.Thread(target=write_and_delete)
    writer.start()
    # Before the first record is there the table has all of partition 0.
    assert begun.wait(60)
    try:
        # Partition 0 loses its beginning time and again, the others were read up to different places.
        runs = [lab.look(f"{topic},0:1,1:1,2:{10 * n}") for n in range(6)]
    finally:
        stop.set()
        writer.join()
    for run in runs:
        for detail in run.pipeline["partition_detail"]:
            verdicts = {0: ("LAGGING", "LOST"), 1: ("LAGGING", "FRESH"), 2: ("LAGGING", "FRESH", "AHEAD")}
            assert detail["verdict"] in verdicts[detail["partition"]]
            assert detail["log_start"] <= detail["end"]
            if detail["lag_seconds"] is not None:
                assert 0 <= detail["lag_seconds"] < 60
            if detail["verdict"] == "LAGGING":
                assert detail["first_uncommitted"] == detail["committed"]


# --- deleted before it was read -----------------------------------------------------------------


def check_lost(run: Run, expected: Partition) -> None:
    report = run.pipeline
    assert expected.verdict == "LOST"
    check_partition(only_partition(run), expected, run)
    assert (report["status"], report["reason"]) == ("breach", "data_lost")
    assert report["partitions"]["lost"] == 1
    assert report["lost_records"] == expected.start - (expected.committed or 0)
    assert run.code == BREACH


def test_records_that_retention_deleted_before_they_were_read_are_lost_never_fresh(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, config={"segment.ms": "60000"})
    records = aged(2 * DAY, 2 * DAY, 2 * DAY, 20 * MINUTE, 10 * MINUTE)
    kafka.produce(topic, records)
    kafka.set_topic_config(topic, {"retention.ms": str(HOUR)})
    wait_until(lambda: kafka.log_start(topic) == 3, "retention to delete the old segment", 60)

    run = lab.look(f"{topic},0:1")
    left = [Stored(3, records[3].timestamp_ms), Stored(4, records[4].timestamp_ms)]
    check_lost(run, Partition(1, 3, 5, left))
    assert run.pipeline["lag_is_lower_bound"] is True
    check_lag(run.pipeline["lag_seconds"], records[3].timestamp_ms, run)


def test_records_deleted_by_request_before_they_were_read_are_lost(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(50 * MINUTE, 40 * MINUTE, 30 * MINUTE, 20 * MINUTE)
    kafka.produce(topic, records)
    kafka.delete_records(topic, {0: 3})
    check_lost(lab.look(f"{topic},0:2"), Partition(2, 3, 4, [Stored(3, records[3].timestamp_ms)]))


def test_a_log_that_was_emptied_before_it_was_read_is_lost_without_an_age(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    kafka.produce(topic, aged(50 * MINUTE, 40 * MINUTE))
    kafka.delete_records(topic, {0: 2})
    run = lab.look(f"{topic},0:1")
    assert only_partition(run)["verdict"] == "LOST"
    assert run.pipeline["reason"] == "data_lost"
    assert run.pipeline["lag_seconds"] is None
    assert run.pipeline["lost_records"] == 1
    assert run.code == BREACH


def test_deleted_records_that_had_been_read_do_not_matter(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(50 * MINUTE, 40 * MINUTE, 30 * MINUTE)
    kafka.produce(topic, records)
    kafka.delete_records(topic, {0: 2})
    stored = [Stored(2, records[2].timestamp_ms)]
    check_pipeline(lab.look(f"{topic},0:2"), topic, {0: Partition(2, 2, 3, stored)})


def test_the_time_until_retention_takes_the_oldest_waiting_record_is_shown(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, config={"retention.ms": str(DAY)})
    records = aged(50 * MINUTE, 40 * MINUTE, 30 * MINUTE)
    kafka.produce(topic, records)
    run = lab.look(f"{topic},0:1")
    assert run.pipeline["retention_margin_records"] == 1
    left = DAY / 1000 - run.pipeline["lag_seconds"]
    assert abs(run.pipeline["retention_margin_seconds"] - left) < 0.01


# --- transactions -----------------------------------------------------------------------------


def test_the_records_of_an_open_transaction_wait_for_an_uncommitted_reader_and_block_a_committed_one(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    done, open_ = aged(50 * MINUTE)[0], aged(40 * MINUTE, 30 * MINUTE)
    kafka.produce(topic, [done])
    producer = kafka.transactional_producer(topic)
    producer.begin_transaction()
    produce_with(producer, topic, open_)
    try:
        uncommitted = lab.look(f"{topic},0:1")
        committed = lab.look_committed(f"{topic},0:1")
        behind = lab.look_committed(f"{topic},0:0")
    finally:
        producer.abort_transaction()

    check_pipeline(uncommitted, topic, {0: of_log(1, stamps([done, *open_]))})
    blocked = only_partition(committed)
    assert blocked["verdict"] == "BLOCKED"
    assert (blocked["committed"], blocked["end"]) == (1, 1)
    assert committed.pipeline["partitions"]["blocked"] == 1
    assert committed.pipeline["lag_seconds"] == 0
    assert committed.code == HEALTHY
    # What was committed before the open transaction is readable, and waits.
    check_pipeline(behind, topic, {0: Partition(0, 0, 1, [Stored(0, done.timestamp_ms)])})


def test_a_tail_of_aborted_records_is_fresh_for_a_committed_reader_only(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    done, aborted = aged(50 * MINUTE)[0], aged(40 * MINUTE, 30 * MINUTE)
    kafka.produce(topic, [done])
    producer = kafka.transactional_producer(topic)
    producer.begin_transaction()
    produce_with(producer, topic, aborted)
    producer.abort_transaction()
    wait_until(lambda: kafka.log_end(topic) == 4, "the abort marker", 30)

    check_pipeline(lab.look_committed(f"{topic},0:1"), topic, {0: Partition(1, 0, 4, [])})
    waiting = [Stored(1 + n, each.timestamp_ms) for n, each in enumerate(aborted)]
    check_pipeline(lab.look(f"{topic},0:1"), topic, {0: Partition(1, 0, 4, waiting)})


def test_a_tail_of_markers_only_is_fresh_for_every_reader(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    producer = kafka.transactional_producer(topic)
    producer.begin_transaction()
    produce_with(producer, topic, aged(50 * MINUTE, 40 * MINUTE))
    producer.commit_transaction()
    wait_until(lambda: kafka.log_end(topic) == 3, "the commit marker", 30)

    for run in (lab.look(f"{topic},0:2"), lab.look_committed(f"{topic},0:2")):
        check_pipeline(run, topic, {0: Partition(2, 0, 3, [])})
        assert run.code == HEALTHY


def test_a_checkpoint_on_a_marker_leads_to_the_next_record_the_reader_is_given(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    first, aborted, last = aged(50 * MINUTE), aged(40 * MINUTE), aged(30 * MINUTE)
    producer = kafka.transactional_producer(topic)
    for records, end in (
        (first, producer.commit_transaction),
        (aborted, producer.abort_transaction),
        (last, producer.commit_transaction),
    ):
        producer.begin_transaction()
        produce_with(producer, topic, records)
        end()
    wait_until(lambda: kafka.log_end(topic) == 6, "the last marker", 30)
    # 0 record, 1 marker, 2 aborted record, 3 marker, 4 record, 5 marker

    skipped, given = Stored(2, aborted[0].timestamp_ms), Stored(4, last[0].timestamp_ms)
    check_pipeline(lab.look(f"{topic},0:1"), topic, {0: Partition(1, 0, 6, [skipped, given])})
    check_pipeline(lab.look_committed(f"{topic},0:1"), topic, {0: Partition(1, 0, 6, [given])})


# --- compaction -------------------------------------------------------------------------------

_COMPACTED = {
    "cleanup.policy": "compact",
    "segment.ms": "60000",
    "min.cleanable.dirty.ratio": "0.01",
    "min.compaction.lag.ms": "0",
}


def test_a_checkpoint_in_a_compaction_hole_leads_to_the_next_surviving_record(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, config=_COMPACTED)
    now = now_ms()
    keys = ["a", "b", "a", "b", "a", "c"]
    records = [Record(0, now - DAY + n, key) for n, key in enumerate(keys)]
    records.append(Record(0, now - MINUTE, "d"))  # a segment of its own, which is never compacted
    kafka.produce(topic, records)
    wait_until(lambda: kafka.surviving_offsets(topic) == [3, 4, 5, 6], "compaction", 60)

    stored = [Stored(offset, records[offset].timestamp_ms) for offset in (3, 4, 5, 6)]
    run = lab.look(f"{topic},0:1")
    check_pipeline(run, topic, {0: Partition(1, 0, 7, stored)})
    assert only_partition(run)["reason"] == "gap"


def test_a_tail_that_was_compacted_away_is_fresh(kafka: KafkaCluster, lab: Lab, topic: str) -> None:
    kafka.create_topic(topic, config=_COMPACTED)
    now = now_ms()
    kafka.produce(topic, [Record(0, now - DAY, "a"), Record(0, now - DAY, "b")])
    producer = kafka.transactional_producer(topic)
    producer.begin_transaction()
    produce_with(producer, topic, [Record(0, now - DAY, "a"), Record(0, now - DAY, "b")])
    # The marker is stamped now and so opens a new segment; the aborted records are cleaned away.
    producer.abort_transaction()
    wait_until(lambda: kafka.surviving_offsets(topic) == [0, 1], "compaction", 60)
    assert kafka.log_end(topic) == 5

    for run in (lab.look(f"{topic},0:2"), lab.look_committed(f"{topic},0:2")):
        check_pipeline(run, topic, {0: Partition(2, 0, 5, [])})
        assert run.code == HEALTHY


def test_a_tombstone_is_a_record_that_waits(kafka: KafkaCluster, lab: Lab, topic: str) -> None:
    kafka.create_topic(topic, config=_COMPACTED)
    now = now_ms()
    records = [Record(0, now - HOUR, "a"), Record(0, now - 30 * MINUTE, "a", None)]
    kafka.produce(topic, records)
    check_pipeline(lab.look(f"{topic},0:1"), topic, {0: of_log(1, stamps(records))})


# --- stamps -----------------------------------------------------------------------------------


def test_a_topic_with_append_time_is_aged_by_the_broker_s_stamps(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, config={"message.timestamp.type": "LogAppendTime"})
    before = now_ms()
    kafka.produce(topic, aged(10 * DAY, 10 * DAY))
    after = now_ms()
    run = lab.look(f"{topic},0:1")
    detail = only_partition(run)
    assert detail["verdict"] == "LAGGING"
    assert before <= detail["timestamp_ms"] <= after
    check_lag(run.pipeline["lag_seconds"], detail["timestamp_ms"], run)
    assert run.pipeline["oldest"]["timestamp_type"] == "append"
    assert run.code == HEALTHY


def test_a_record_without_a_timestamp_has_no_age(kafka: KafkaCluster, lab: Lab, topic: str) -> None:
    kafka.create_topic(topic)
    kafka.produce(topic, aged(MINUTE))
    assert kafka.produce_raw(topic, 0, [RawRecord(NO_TIMESTAMP)]) == 1
    run = lab.look(f"{topic},0:1")
    check_unknown(run, "no_timestamp")
    detail = only_partition(run)
    assert (detail["verdict"], detail["reason"]) == ("UNKNOWN", "no_timestamp")
    assert (detail["first_uncommitted"], detail["timestamp_ms"]) == (1, None)


@pytest.mark.parametrize("stamp", ["zero", "seconds"])
def test_a_stamp_that_cannot_be_true_gives_no_age(
    kafka: KafkaCluster, lab: Lab, topic: str, stamp: str
) -> None:
    kafka.create_topic(topic)
    when = 0 if stamp == "zero" else now_ms() // 1000
    kafka.produce_raw(topic, 0, [RawRecord(when)])
    run = lab.look(f"{topic},0:0")
    check_unknown(run, "no_timestamp")
    detail = only_partition(run)
    assert detail["verdict"] == "UNKNOWN"
    assert detail["reason"] == "implausible_timestamp"


def test_a_stamp_far_in_the_future_is_no_proof_of_freshness(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    kafka.produce(topic, [Record(0, now_ms() + 30 * MINUTE)])
    run = lab.look(f"{topic},0:0")
    check_unknown(run, "no_timestamp")
    assert only_partition(run)["verdict"] == "UNKNOWN"
    assert 1780 < run.pipeline["clock_skew_seconds"] <= 1800


def test_a_stamp_slightly_in_the_future_is_age_zero_and_the_skew_is_told(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    kafka.produce(topic, [Record(0, now_ms() + 2 * MINUTE)])
    run = lab.look(f"{topic},0:0")
    assert only_partition(run)["verdict"] == "LAGGING"
    assert run.pipeline["lag_seconds"] == 0
    assert run.pipeline["status"] == "fresh"
    assert 100 < run.pipeline["clock_skew_seconds"] <= 120
    assert run.code == HEALTHY


# --- topics that are not what the checkpoint thinks ----------------------------------------------


def test_partitions_added_after_the_last_commit_are_waited_for_from_their_beginning(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 1)
    old, new = aged(DAY), aged(20 * MINUTE, 10 * MINUTE, partition=1)
    kafka.produce(topic, old)
    kafka.add_partitions(topic, 3)
    kafka.produce(topic, new)
    run = lab.look(f"{topic},0:1")
    expected = {0: of_log(1, stamps(old)), 1: of_log(None, stamps(new)), 2: of_log(None, [])}
    check_pipeline(run, topic, expected)
    assert run.pipeline["oldest"]["partition"] == 1


def test_an_added_partition_that_lost_its_beginning_is_lost(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 2)
    records = aged(20 * MINUTE, 10 * MINUTE, partition=1)
    kafka.produce(topic, records)
    kafka.delete_records(topic, {1: 1})
    run = lab.look(f"{topic},0:0")
    assert (run.pipeline["status"], run.pipeline["reason"]) == ("breach", "data_lost")
    assert run.pipeline["lost_records"] == 1
    (detail,) = [each for each in run.pipeline["partition_detail"] if each["partition"] == 1]
    check_partition(detail, Partition(None, 1, 2, [Stored(1, records[1].timestamp_ms)]), run)
    assert run.code == BREACH


def test_a_partition_the_topic_does_not_have_is_unknown(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 1)
    run = lab.look(f"{topic},0:0,7:3")
    check_unknown(run, "partitions_unknown")
    verdicts = {each["partition"]: each["verdict"] for each in run.pipeline["partition_detail"]}
    assert verdicts == {0: "FRESH", 7: "UNKNOWN"}


def test_a_deleted_and_created_again_topic_is_ahead_not_fresh(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    kafka.produce(topic, aged(3 * HOUR, 2 * HOUR, HOUR))
    assert lab.look(f"{topic},0:3").code == HEALTHY
    kafka.delete_topic(topic)
    kafka.create_topic(topic)
    kafka.produce(topic, aged(MINUTE))
    run = lab.look(f"{topic},0:3")
    check_unknown(run, "offset_ahead")
    check_partition(only_partition(run), Partition(3, 0, 1, []), run)
    assert run.pipeline["partitions"]["ahead"] == 1


def test_a_checkpoint_behind_the_end_of_the_log_gives_no_number(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 2)
    kafka.produce(topic, aged(MINUTE))
    check_unknown(lab.look(f"{topic},0:0,1:1"), "offset_ahead")


def test_a_breach_stands_although_another_partition_is_not_known(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic, 2)
    records = aged(2 * HOUR)
    kafka.produce(topic, records)
    run = lab.look(f"{topic},0:0,1:1")
    assert run.pipeline["status"] == "breach"
    assert run.pipeline["reason"] == "offset_ahead"
    assert run.pipeline["lag_is_lower_bound"] is True
    check_lag(run.pipeline["lag_seconds"], records[0].timestamp_ms, run)
    assert run.code == BREACH


def test_a_missing_topic_is_named_and_not_created(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    run = lab.look(f"{topic},0:5")
    check_unknown(run, "topic_missing")
    assert topic in run.pipeline["message"]
    assert topic not in kafka.topics()


def test_a_checkpoint_of_another_topic_than_the_one_asked_for_is_a_mismatch(
    kafka: KafkaCluster, lab: Lab, topic: str
) -> None:
    kafka.create_topic(topic)
    kafka.produce(topic, aged(MINUTE))
    run = lab.look(f"{topic},0:0", "--topic", "something-else")
    check_unknown(run, "topic_mismatch")
    assert topic in run.pipeline["message"]
    assert "something-else" in run.pipeline["message"]


@pytest.mark.parametrize(
    ("partition", "offset"), [(2**31 - 1, 0), (0, 2**63 - 1)], ids=["partition", "offset"]
)
def test_the_largest_numbers_of_a_checkpoint_are_numbers_like_others(
    kafka: KafkaCluster, lab: Lab, topic: str, partition: int, offset: int
) -> None:
    kafka.create_topic(topic)
    run = lab.look(f"{topic},{partition}:{offset}")
    check_unknown(run, "offset_ahead" if offset else "partitions_unknown")
    assert len(run.pipeline["partition_detail"]) <= 2


@pytest.mark.parametrize("checkpoint", ["0:99999999999999999999", "99999999999:1", "0:-5", "0:x"])
def test_a_checkpoint_that_holds_no_offset_is_never_taken_for_one(
    kafka: KafkaCluster, lab: Lab, topic: str, checkpoint: str
) -> None:
    kafka.create_topic(topic)
    run = lab.look(f"{topic},{checkpoint}")
    assert run.pipeline["reason"] in ("checkpoint_unreadable", "checkpoint_not_kafka", "no_checkpoint")
    check_unknown(run, run.pipeline["reason"])


# --- which checkpoint -------------------------------------------------------------------------


def test_commits_without_a_checkpoint_are_passed_over_and_counted(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(30 * MINUTE, 20 * MINUTE)
    kafka.produce(topic, records)
    commits = [Commit(f"{topic},0:0"), Commit(f"{topic},0:1"), Commit(""), Commit(), Commit()]
    run = tidemark(
        "freshness", "--table", make_table(commits), "--bootstrap", kafka.bootstrap(),
        "--format", "json", "--partitions",
    )  # fmt: skip
    check_pipeline(run, topic, {0: of_log(1, stamps(records))})
    assert run.pipeline["checkpoint"]["commit_depth"] == 3


def test_an_unfinished_commit_counts_for_nothing(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable, topic: str
) -> None:
    kafka.create_topic(topic)
    records = aged(30 * MINUTE, 20 * MINUTE)
    kafka.produce(topic, records)
    commits = [Commit(f"{topic},0:1", KEY_V2), Commit(state="INFLIGHT"), Commit(state="REQUESTED")]
    run = tidemark(
        "freshness", "--table", make_table(commits), "--bootstrap", kafka.bootstrap(),
        "--format", "json", "--partitions",
    )  # fmt: skip
    check_pipeline(run, topic, {0: of_log(1, stamps(records))})
    assert run.pipeline["checkpoint"]["key"] == KEY_V2
    assert run.pipeline["checkpoint"]["commit_depth"] == 0
    age = run.pipeline["checkpoint"]["commit_age_seconds"]
    assert age is None or 0 <= age < 60


def test_a_checkpoint_of_kafka_connect_takes_its_topic_from_the_user(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable, topic: str
) -> None:
    kafka.create_topic(topic, 2)
    first, second = aged(30 * MINUTE, 20 * MINUTE), aged(10 * MINUTE, partition=1)
    kafka.produce(topic, [*first, *second])
    table = make_table([Commit("1=0,0=1", "kafka.commit.offsets")])
    flags = ["freshness", "--table", table, "--bootstrap", kafka.bootstrap(), "--format", "json"]
    run = tidemark(*flags, "--partitions", "--topic", topic)
    expected = {0: of_log(1, stamps(first)), 1: of_log(0, stamps(second))}
    check_pipeline(run, topic, expected)
    without = tidemark(*flags)
    assert without.pipeline["status"] == "unknown"
    assert "topic" in without.pipeline["message"]


def test_a_table_without_any_checkpoint_is_unknown(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable
) -> None:
    run = tidemark(
        "freshness", "--table", make_table([Commit(), Commit("")]),
        "--bootstrap", kafka.bootstrap(), "--format", "json", "--partitions",
    )  # fmt: skip
    check_unknown(run, "no_checkpoint")
    assert run.pipeline["checkpoint"] is None
