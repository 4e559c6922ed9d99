"""Every stored table that was fed from Kafka: its topic is made again, record by record with the
offsets and stamps of the original, and the program has to find exactly what lies uncommitted."""

from __future__ import annotations

import pytest

import truth
from kafka_cluster import KafkaCluster
from program import UNKNOWN, Program
from stored_tables import StoredTable, load_tables

_TABLES = load_tables()


def _ids(tables: list[StoredTable]) -> list[str]:
    return [table.name for table in tables]


def _has_offsets(table: StoredTable) -> bool:
    return table.checkpoint is not None and "," in table.checkpoint


_FED = [table for table in _TABLES if _has_offsets(table)]
_WITHOUT_OFFSETS = [table for table in _TABLES if not _has_offsets(table)]


@pytest.fixture(scope="module", autouse=True)
def _nothing_but_the_topics_we_made(kafka: KafkaCluster):
    """Reading is all the program does: after the whole replay the broker has no group, no offsets
    topic and no other topic that the tests did not make."""
    assert (kafka.topics(), kafka.groups()) == (set(), set())
    yield
    assert kafka.topics() <= {table.topic for table in _FED}
    assert kafka.groups() == set()


def _replay(kafka: KafkaCluster, table: StoredTable) -> None:
    if table.topic in kafka.topics():  # two tables may be two moments of one story
        kafka.delete_topic(table.topic)
    kafka.create_topic(table.topic, table.partition_count)
    kafka.produce(table.topic, table.records)
    for partition, stamps in table.logs().items():
        assert kafka.log_end(table.topic, partition) == len(stamps)


@pytest.mark.parametrize("table", _FED, ids=_ids(_FED))
def test_the_report_on_a_stored_table_says_exactly_what_its_topic_holds(
    table: StoredTable, kafka: KafkaCluster, tidemark: Program
) -> None:
    topic, committed = truth.parse_checkpoint(table.checkpoint)
    assert topic == table.topic
    _replay(kafka, table)

    run = tidemark(
        "freshness", "--table", table.folder, "--bootstrap", kafka.bootstrap(),
        "--format", "json", "--partitions",
    )  # fmt: skip

    partitions = {
        number: truth.of_log(committed.get(number), stamps)
        for number, stamps in table.logs().items()
    }
    truth.check_pipeline(run, topic, partitions)
    checkpoint = run.pipeline["checkpoint"]
    assert checkpoint["value"] == table.checkpoint
    if table.committed_by is not None:
        assert checkpoint["instant"] == table.committed_by
    if table.newer_commits_without_checkpoint is not None:
        assert checkpoint["commit_depth"] == table.newer_commits_without_checkpoint


@pytest.mark.parametrize("table", _WITHOUT_OFFSETS, ids=_ids(_WITHOUT_OFFSETS))
def test_a_table_whose_commits_carry_no_kafka_offsets_is_unknown_and_says_why(
    table: StoredTable, kafka: KafkaCluster, tidemark: Program
) -> None:
    run = tidemark(
        "freshness", "--table", table.folder, "--bootstrap", kafka.bootstrap(), "--format", "json"
    )

    report = run.pipeline
    assert report["status"] == "unknown"
    assert report["reason"] in ("no_checkpoint", "checkpoint_not_kafka")
    assert report["lag_seconds"] is None
    assert report["sla_ratio"] is None
    assert report["message"]
    assert run.code == UNKNOWN
