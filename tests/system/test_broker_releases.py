"""Brokers of other releases than the one the other tests run: the oldest that is supported, and one whose old segments
lie in another store (KIP-405)."""

from __future__ import annotations

import pathlib
import threading
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Producer

from kafka_cluster import KafkaCluster, Record, now_ms, produce_with
from old_kafka import OldKafka
from program import UNKNOWN, Program, Run
from truth import Partition, Stored, check_pipeline, of_log
from waiting import wait_until

MINUTE = 60_000
AGES = (50, 40, 30, 20)  # minutes, of the records of every topic here
MakeTable = Callable[..., pathlib.Path]


def stamps() -> list[int]:
    now = now_ms()
    return [now - age * MINUTE for age in AGES]


class Look:
    def __init__(self, tidemark: Program, make_table: MakeTable, bootstrap: str) -> None:
        self._tidemark = tidemark
        self._make_table = make_table
        self._bootstrap = bootstrap

    def __call__(self, checkpoint: str, *flags: str) -> Run:
        return self._tidemark(
            "freshness", "--table", self._make_table(checkpoint), "--bootstrap", self._bootstrap,
            "--format", "json", "--partitions", *flags,
        )  # fmt: skip


class TestTheOldestRelease:
    @pytest.fixture(scope="class")
    def kafka(self, dependencies: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OldKafka]:
        broker = OldKafka(dependencies / "kafka-1.0.2", tmp_path_factory.mktemp("old"))
        yield broker
        broker.stop()

    @pytest.fixture
    def look(self, tidemark: Program, make_table: MakeTable, kafka: OldKafka) -> Look:
        return Look(tidemark, make_table, kafka.bootstrap())

    @pytest.mark.parametrize(
        "config",
        [
            {},
            {"compression.type": "gzip"},
            {"compression.type": "snappy"},
            {"compression.type": "lz4"},
            {"message.format.version": "0.10.0"},
            {"message.format.version": "0.10.0", "compression.type": "gzip"},
            {"cleanup.policy": "compact"},
        ],
        ids=str,
    )
    def test_the_lag_is_the_age_of_the_first_record_not_read_yet(
        self, config: dict[str, str], kafka: OldKafka, look: Look
    ) -> None:
        topic = "t" + "-".join(config.values()).replace(".", "")
        kafka.create_topic(topic, config)
        when = stamps()
        kafka.produce(topic, [Record(0, stamp, key=str(n).encode()) for n, stamp in enumerate(when)])
        for committed in range(len(when) + 1):
            check_pipeline(look(f"{topic},0:{committed}"), topic, {0: of_log(committed, when)})

    def test_records_of_the_oldest_format_have_no_stamp_and_no_age(self, kafka: OldKafka, look: Look) -> None:
        kafka.create_topic("stampless", {"message.format.version": "0.9.0"})
        kafka.produce("stampless", [Record(0, stamp) for stamp in stamps()])
        run = look("stampless,0:1")
        assert run.pipeline["reason"] == "no_timestamp"
        assert run.pipeline["lag_seconds"] is None
        assert run.pipeline["uncommitted_records"] == len(AGES) - 1
        assert run.code == UNKNOWN
        check_pipeline(look(f"stampless,0:{len(AGES)}"), "stampless", {0: of_log(len(AGES), stamps())})

    def test_a_committed_reader_does_not_wait_for_what_was_aborted(self, kafka: OldKafka, look: Look) -> None:
        kafka.create_topic("transactions", {})
        producer = Producer({"bootstrap.servers": kafka.bootstrap(), "transactional.id": "t", "log_level": 0})
        producer.init_transactions(60)
        first, second = stamps()[:2]
        for stamp, end in ((first, producer.commit_transaction), (second, producer.abort_transaction)):
            producer.begin_transaction()
            produce_with(producer, "transactions", [Record(0, stamp)])
            end(60)
        committed, aborted = Stored(0, first), Stored(2, second)  # and markers at 1 and 3
        for isolation, records in (("read_committed", [committed]), ("read_uncommitted", [committed, aborted])):
            for position in range(5):
                run = look(f"transactions,0:{position}", "--isolation", isolation)
                check_pipeline(run, "transactions", {0: Partition(position, 0, 4, records)})

    def test_a_missing_topic_is_named_and_not_created(self, kafka: OldKafka, look: Look) -> None:
        assert look("nowhere,0:1").pipeline["reason"] == "topic_missing"
        assert "nowhere" not in kafka.admin.list_topics(timeout=10).topics


class TestTieredStorage:
    """Case 38: all but the segment that is written to lie elsewhere, and the broker has deleted its own copies."""

    @pytest.fixture(scope="class")
    def tier(self, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
        folder = tmp_path_factory.mktemp("tier") / "remote"
        folder.mkdir()
        return folder

    @pytest.fixture(scope="class")
    def kafka(
        self, dependencies: pathlib.Path, tmp_path_factory: pytest.TempPathFactory, tier: pathlib.Path
    ) -> Iterator[KafkaCluster]:
        (jar,) = (dependencies / "kafka-tier-4.3.1").glob("*.jar")
        settings = {
            "remote.log.storage.system.enable": "true",
            "remote.log.storage.manager.class.name": "org.apache.kafka.server.log.remote.storage.LocalTieredStorage",
            "remote.log.storage.manager.class.path": str(jar),
            "remote.log.storage.manager.impl.prefix": "rsm.config.",
            "rsm.config.dir": str(tier),
            "remote.log.metadata.manager.listener.name": "PLAINTEXT",
            "remote.log.metadata.manager.impl.prefix": "rlmm.config.",
            "rlmm.config.remote.log.metadata.topic.num.partitions": "1",
            "rlmm.config.remote.log.metadata.topic.replication.factor": "1",
            "remote.log.manager.task.interval.ms": "500",
        }
        folder = tmp_path_factory.mktemp("tiered")
        cluster = KafkaCluster(folder / "broker", dependencies / "kafka-4.3.1", settings=settings)
        with cluster:
            yield cluster

    @staticmethod
    def fill(kafka: KafkaCluster, topic: str, when: list[int]) -> None:
        config = {"remote.storage.enable": "true", "local.retention.ms": "100", "segment.bytes": "1048576"}
        kafka.create_topic(topic, 1, {**config, "file.delete.delay.ms": "100"})
        # Each fills a segment.
        kafka.produce(topic, [Record(0, stamp, value=b"v" * 600_000) for stamp in when])
        left = kafka.nodes[0].folder / f"data/{topic}-0"
        wait_until(
            lambda: [each.name for each in left.glob("*.log")] == [f"{len(when):020}.log"], "the segments to move", 60
        )
        assert kafka.log_start(topic) == 0

    def test_records_that_lie_elsewhere_are_judged_as_ever(
        self, tidemark: Program, make_table: MakeTable, kafka: KafkaCluster
    ) -> None:
        when = stamps()
        self.fill(kafka, "tiered", when)
        look = Look(tidemark, make_table, kafka.bootstrap())
        for committed in range(len(when) + 1):
            check_pipeline(look(f"tiered,0:{committed}"), "tiered", {0: of_log(committed, when)})

    def test_a_tier_out_of_reach_is_named_and_asked_again(
        self, tidemark: Program, make_table: MakeTable, kafka: KafkaCluster, tier: pathlib.Path
    ) -> None:
        when = stamps()
        self.fill(kafka, "apart", when)
        look = Look(tidemark, make_table, kafka.bootstrap())
        (log,) = tier.rglob("apart-0-*")
        elsewhere = tier.with_name("elsewhere")
        log.rename(elsewhere)
        for client in ("librdkafka", "wire"):
            run = look("apart,0:1", "--timeout", "3s", "--kafka-client", client)
            assert (run.code, run.pipeline["reason"]) == (UNKNOWN, "partitions_unknown")
        assert "offsets from 1 to 3 lie in tiered storage" in run.pipeline["message"]

        back = threading.Timer(1, elsewhere.rename, (log,))
        back.start()
        check_pipeline(look("apart,0:1"), "apart", {0: of_log(1, when)})
        back.join()
