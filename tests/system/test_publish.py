"""`tidemark publish` on a real broker: every commit told once, in order, whatever dies."""

from __future__ import annotations

import collections
import json
import pathlib
import random
import shutil
import time
from collections.abc import Iterator

import pytest

from confluent_kafka import Producer
from prometheus_client.parser import text_string_to_metric_families

from daemon import Daemon
from feed_lab import FeedLab, Reader, copy_without_timeline, kill_after, move_into_place, uid_of
from kafka_cluster import KafkaCluster
from program import HEALTHY, UNKNOWN, USAGE, Program
from waiting import wait_until

_TABLES = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi/tables"
KILLS = 50


@pytest.fixture
def feed(tidemark: Program, kafka: KafkaCluster, tmp_path: pathlib.Path, topic: str) -> Iterator[FeedLab]:
    lab = FeedLab(tidemark, kafka, tmp_path, topic.replace("_", "-"))
    yield lab
    lab.close()


def _ask(feed: FeedLab, uid: str, action: str) -> None:
    """With a producer that chooses partitions as Kafka's own do."""
    producer = Producer({"bootstrap.servers": feed.kafka.bootstrap(), "partitioner": "murmur2_random"})
    producer.produce(f"{feed.prefix}.control", json.dumps({"action": action}).encode(), uid.encode())
    assert producer.flush(30) == 0


def _pages(reader: Reader, uid: str) -> int:
    """How often a snapshot of one page was written."""
    return sum(each.key() == f"{uid}/p/00000000".encode() for each in reader.read("state"))


def test_three_commits_two_partitions_and_a_column_are_each_seen_soon(feed: FeedLab) -> None:
    """R5, the worked example."""
    table = feed.table()
    table.commit("dt=1")
    feed.start()
    reader = feed.reader()
    wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 30)
    for partition, column in (("dt=2", None), ("dt=1", "price"), ("dt=3", None)):
        if column:
            table.columns.append(column)
        instant = table.commit(partition)
        began = time.monotonic()
        wait_until(lambda i=instant: i in reader.commits(table.uid), f"the commit {instant}", 10)
        assert time.monotonic() - began < 10
    told = [event["data"] for event in reader.events(table.uid)]
    kinds = [each["changeType"] for each in told if each["instantTime"]]
    assert kinds == ["PARTITION", "COMMIT", "SCHEMA", "PARTITION", "COMMIT", "PARTITION", "COMMIT"]
    changes = [(each["path"], each["op"]) for data in told if data["changeType"] == "PARTITION"
               for each in data["changeDetail"]["partitions"]]  # fmt: skip
    assert changes == [("dt=2", "ADD"), ("dt=1", "TOUCH"), ("dt=3", "ADD")]
    (schema,) = [each for each in told if each["changeType"] == "SCHEMA" and each["instantTime"]]
    assert [(each["op"], each["path"]) for each in schema["changeDetail"]["diff"]] == [("ADD", "price")]
    assert reader.partitions(table.uid) == table.partitions == {"dt=1", "dt=2", "dt=3"}


def test_one_round_tells_everything_and_the_next_nothing(feed: FeedLab) -> None:
    tables = [feed.table(f"t{i}") for i in range(3)]
    for table in tables:
        table.commit("dt=1")
    assert feed.once().code == HEALTHY
    reader = feed.reader()
    ends = [len(reader.events(table.uid)) for table in tables]
    assert all(end > 0 for end in ends)
    for table in tables:
        table.commit("dt=2")
    run = feed.once()
    assert run.code == HEALTHY
    assert "3 of 3 tables told" in run.err
    for table in tables:
        assert reader.commits(table.uid) == [table.instants[1]]
        assert reader.partitions(table.uid) == {"dt=1", "dt=2"}
    assert feed.once().code == HEALTHY
    for table in tables:
        assert reader.commits(table.uid) == [table.instants[1]]


def test_what_cannot_be_told_is_named_and_the_rest_is_told(feed: FeedLab) -> None:
    good = feed.table("good")
    good.commit("dt=1")
    bad = feed.table("bad")
    bad.commit("dt=1")
    (bad.folder / ".hoodie/hoodie.properties").write_text("hoodie.table.name=bad\nhoodie.table.version=99\n")
    run = feed.once()
    assert run.code == UNKNOWN
    assert "1 of 2 tables told" in run.err
    assert str(bad.folder) in run.err
    assert feed.reader().partitions(good.uid) == {"dt=1"}


@pytest.mark.parametrize("name", ["timeline_story_cow", "c_story_mor_v9", "a14_before_upgrade_v6", "c_story_cow_v8"])
def test_a_real_writers_instants_are_told_as_they_come(feed: FeedLab, name: str) -> None:
    stored = _TABLES / name / "table"
    source = stored if stored.is_dir() else _TABLES / name
    target = feed.lake / "moved"
    files = copy_without_timeline(source, target)
    feed.start()
    reader = feed.reader()
    wait_until(lambda: reader.state(uid_of(target))[0] is not None, "the first snapshot", 30)
    completed = []
    for file in files:
        move_into_place(file, target / file.relative_to(source))
        if not file.name.endswith((".requested", ".inflight")):
            completed.append(file.name.split(".", 1)[0].split("_")[0])
    wait_until(lambda: len(reader.commits(uid_of(target))) >= len(completed), "all instants", 60)
    # A savepoint has the time of the commit it protects: both are told.
    told = collections.Counter(reader.commits(uid_of(target)))
    assert not collections.Counter(completed) - told
    # What was archived before the first commit was seen is told from the archive.
    archived = told - collections.Counter(completed)
    assert all(instant < min(completed) for instant in archived)
    assert set(archived.values()) <= {1}
    assert bool(archived) == any((target / ".hoodie/history").glob(".commits*"))


def test_a_publisher_killed_at_any_moment_leaves_no_hole_and_no_repeat(feed: FeedLab) -> None:
    tables = [feed.table(f"t{i}") for i in range(3)]
    for table in tables:
        table.commit("dt=0")
    began = time.monotonic()
    assert feed.once().code == HEALTHY
    usual = time.monotonic() - began
    rolls = random.Random(7)
    reader = feed.reader()
    for number in range(KILLS):
        for table in tables:
            if rolls.random() < 0.5:
                if rolls.random() < 0.2:
                    table.columns.append(f"c{number}")
                table.commit(*{f"dt={rolls.randrange(9)}" for _ in range(rolls.randrange(1, 4))})
        config = feed.config
        feed.tidemark("publish", "--config", config, "--once", meanwhile=kill_after(rolls.random() * usual))
        feed.tidemark.runs.clear()
        if number % 10 == 9:
            for table in tables:
                reader.events(table.uid)  # bytes that were seen must stay
    assert feed.once().code == HEALTHY
    for table in tables:
        assert reader.commits(table.uid) == table.instants[1:]
        assert reader.partitions(table.uid) == table.partitions


def test_two_publishers_tell_each_commit_once(feed: FeedLab) -> None:
    tables = [feed.table(f"t{i}") for i in range(4)]
    for table in tables:
        table.commit("dt=0")
    assert feed.once().code == HEALTHY  # the first snapshot holds what was there before
    publishers = [feed.start(), feed.start()]
    for number in range(20):
        for table in tables:
            table.commit(f"dt={number % 5}")
        time.sleep(0.05)
        if number == 10:
            publishers[0].kill()
    for table in tables:
        feed.await_commits(table, 90)
        assert feed.reader().partitions(table.uid) == table.partitions


def test_a_broker_that_comes_back_is_told_what_it_missed(
    tidemark: Program, kafka_jars: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with KafkaCluster(tmp_path / "kafka", kafka_jars) as own:
        (tmp_path / "work").mkdir()
        feed = FeedLab(tidemark, own, tmp_path / "work", "loss")
        try:
            table = feed.table()
            table.commit("dt=0")
            publisher = feed.start()
            reader = feed.reader()
            wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 30)
            table.commit("dt=1")
            feed.await_commits(table)
            own.kill(own.nodes[0])
            for number in range(5):
                table.commit(f"dt={number}")
            wait_until(lambda: "not sent" in publisher.log() or "partition" in publisher.log(), "a complaint", 60)
            assert publisher.process.poll() is None
            own.start_again(own.nodes[0])
            feed.await_commits(table, 90)
            assert reader.commits(table.uid) == table.instants[1:]
            assert reader.partitions(table.uid) == table.partitions
        finally:
            feed.close()


def test_topics_that_do_not_fit_are_named_with_the_cure(feed: FeedLab) -> None:
    feed.table().commit("dt=1")
    feed.kafka.create_topic(f"{feed.prefix}.events", 3, {"cleanup.policy": "compact"})
    feed.kafka.create_topic(f"{feed.prefix}.state", 2, {"cleanup.policy": "delete", "max.message.bytes": "1000"})
    run = feed.once()
    assert run.code == USAGE
    for words in ("it has 3 partitions and feed.partitions says 2", "cleanup.policy is 'compact' and must be 'delete'",
                  "cleanup.policy is 'delete' and must be 'compact'", "max.message.bytes is 1000",
                  "kafka-configs --alter"):  # fmt: skip
        assert words in run.err


def test_an_unreadable_commit_is_told_as_suspect_and_the_stream_goes_on(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    assert feed.once().code == HEALTHY
    instant, body = table.prepare("dt=2")
    table.finish(instant, body[: len(body) // 2])
    table.commit("dt=3")
    assert feed.once().code == HEALTHY
    reader = feed.reader()
    assert reader.commits(table.uid) == table.instants[1:]
    detail = {each["data"]["instantTime"]: each["data"]["changeDetail"] for each in reader.events(table.uid)
              if each["data"]["changeType"] == "COMMIT"}  # fmt: skip
    assert detail[instant]["metadata"] == "unreadable"
    assert detail[instant]["suspect"] is True
    assert reader.partitions(table.uid) == {"dt=1", "dt=2", "dt=3"}


def test_an_operator_can_pause_a_table_and_ask_for_a_snapshot(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    publisher = feed.start()
    reader = feed.reader()
    wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 30)

    def ask_until_heard(action: str) -> None:
        _ask(feed, table.uid, action)
        wait_until(lambda: f"asked for {action}" in publisher.log(), f"the publisher to hear {action}", 30)

    ask_until_heard("pause")
    first = reader.state(table.uid)[0]
    wait_until(lambda: any(json.loads(each.value())["table"]["paused"] for each in reader.read("cursor")),
               "the pause to be remembered", 30)  # fmt: skip
    table.commit("dt=2")
    other = feed.table("other")
    other.commit("dt=1")
    wait_until(lambda: reader.state(other.uid)[0] is not None, "the other table", 30)
    assert reader.commits(table.uid) == []
    ask_until_heard("resume")
    feed.await_commits(table)
    ask_until_heard("snapshot")
    wait_until(lambda: reader.state(table.uid)[0]["asOfSeq"] > first["asOfSeq"], "a newer snapshot", 30)
    assert reader.partitions(table.uid) == {"dt=1", "dt=2"}


def test_what_is_asked_while_no_publisher_runs_is_done_once_by_the_next(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    publisher = feed.start()
    reader = feed.reader()
    wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 30)
    publisher.kill()
    for action in ("pause", "snapshot", "resume", "resync"):
        _ask(feed, table.uid, action)
    table.commit("dt=2")
    publisher = feed.start()
    wait_until(lambda: reader.state(table.uid)[0]["asOfSeq"] > 1, "the snapshot that was asked for", 60)
    assert publisher.log().count("asked for resume, snapshot, resync") == 1
    assert publisher.stop() == 0
    pages = _pages(reader, table.uid)
    _ask(feed, table.uid, "pause")
    publisher = feed.start()
    wait_until(lambda: reader.record(table.uid)["paused"], "the pause to be remembered", 60)
    assert publisher.log().count("asked for") == publisher.log().count("asked for pause") == 1
    assert _pages(reader, table.uid) == pages == 2
    assert publisher.stop() == 0
    publisher = feed.start()
    _ask(feed, table.uid, "resume")
    table.commit("dt=3")
    feed.await_commits(table)
    assert reader.commits(table.uid) == table.instants[1:]
    assert publisher.log().count("asked for") == publisher.log().count("asked for resume") == 1


def test_the_daemon_publishes_too_and_says_how_it_goes(feed: FeedLab) -> None:
    table = feed.table(is_dated=True)
    table.commit("dt=1")
    daemon = Daemon(feed.tidemark, feed.write(local_wake_ups=False, poll="60s"))
    try:
        reader = feed.reader()
        wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 60)
        place = f"file://{table.folder}"

        def shown() -> dict[str, float]:
            status, text = daemon.ask("GET", "/metrics")
            assert status == 200
            return {sample.name: sample.value for family in text_string_to_metric_families(text)
                    for sample in family.samples if sample.labels.get("table", place) == place}  # fmt: skip

        wait_until(lambda: shown().get("metadata_sync_groups_total", 0) >= 1, "the first group to be counted", 30)
        instant = table.commit("dt=2")
        body = json.dumps({"commitTime": instant, "tableName": "orders", "basePath": place})
        assert daemon.ask("POST", "/api/v1/wake", body) == (202, '{"woken":1}\n')
        feed.await_commits(table)
        wait_until(lambda: shown()["metadata_sync_groups_total"] >= 2, "the second group to be counted", 30)
        found = shown()
        assert found["metadata_sync_send_success_rate"] == 1
        assert found["metadata_sync_unpublished_instants"] == 0
        assert found["metadata_sync_partitions_held"] == feed.partitions
        assert found["metadata_sync_send_latency_p99"] >= 0
        assert found["metadata_sync_timeline_check_age_seconds"] < 90
    finally:
        daemon.stop()


def test_a_doctor_sees_what_a_publisher_would_meet(feed: FeedLab) -> None:
    feed.table().commit("dt=1")
    run = feed.tidemark("doctor", "--config", feed.write())
    assert run.code == HEALTHY, run
    assert "made at the first start" in run.out
    assert "a transactional id can be opened" in run.out
    feed.kafka.create_topic(f"{feed.prefix}.cursor", 5, {"cleanup.policy": "compact"})
    run = feed.tidemark("doctor", "--config", feed.write())
    assert run.code == USAGE, run
    assert "it has 5 partitions and feed.partitions says 2" in run.out


def test_a_dropped_table_is_told_and_one_that_comes_after_it_begins_anew(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    feed.table("neighbour").commit("dt=1")
    feed.start()
    reader = feed.reader()
    wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 30)
    shutil.rmtree(table.folder)

    def is_told() -> bool:
        last = reader.events(table.uid)[-1]["data"]
        return last["changeType"] == "TABLE" and last["changeDetail"]["reason"] == "DROPPED"

    wait_until(is_told, "the drop", 60)
    assert reader.state(table.uid) == (None, [])
    again = feed.table()
    again.commit("dt=9")
    wait_until(lambda: reader.state(table.uid)[0] is not None, "the new table", 60)
    assert reader.state(table.uid)[0]["epoch"] == 2
    assert reader.partitions(table.uid) == {"dt=9"}


def test_a_file_in_place_of_the_tables_folder_is_no_drop(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    publisher = feed.start()
    reader = feed.reader()
    wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 30)
    own = table.folder / ".hoodie"
    own.rename(table.folder / "aside")
    own.write_text("")
    wait_until(lambda: "is no folder" in publisher.log(), "the complaint", 60)
    own.unlink()
    (table.folder / "aside").rename(own)
    table.commit("dt=2")
    feed.await_commits(table)
    assert reader.state(table.uid)[0]["epoch"] == 1


def test_a_lost_cursor_topic_begins_an_epoch_beyond_what_subscribers_hold(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    assert feed.once().code == HEALTHY
    for number in range(3):
        table.commit(f"dt={number}")
    assert feed.once().code == HEALTHY
    cursor = f"{feed.prefix}.cursor"
    feed.kafka.delete_topic(cursor)
    feed.kafka.create_topic(cursor, feed.partitions, {"cleanup.policy": "compact"})
    table.commit("dt=9")
    assert feed.once().code == HEALTHY
    reader = feed.reader()
    head, _ = reader.state(table.uid)
    assert head and head["epoch"] == 2
    assert reader.partitions(table.uid) == table.partitions
    table.commit("dt=10")
    assert feed.once().code == HEALTHY
    assert reader.commits(table.uid)[-1] == table.instants[-1]
