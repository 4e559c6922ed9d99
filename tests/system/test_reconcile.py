"""`tidemark reconcile`: tables compared with what the feed told of them, on a real broker."""

from __future__ import annotations

import json
import pathlib
import shutil
from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer

from daemon import Daemon
from feed_lab import FeedLab
from free_ports import free_ports
from kafka_cluster import KafkaCluster
from program import BREACH, HEALTHY, UNKNOWN, UNREACHABLE, UNREADABLE, USAGE, WARNING, Program
from waiting import wait_until


@pytest.fixture
def feed(tidemark: Program, kafka: KafkaCluster, tmp_path: pathlib.Path, topic: str) -> Iterator[FeedLab]:
    lab = FeedLab(tidemark, kafka, tmp_path, topic.replace("_", "-"))
    yield lab
    lab.close()


def _reconcile(
    feed: FeedLab, *tables: object, more: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> tuple[int, list[dict]]:
    folders = [str(table) for table in tables]
    words = ("--config", feed.config, "--format", "json", *more)
    run = feed.tidemark("reconcile", *folders, *words, env=env)
    if not run.out:
        return run.code, []
    assert run.json["schema"] == "tidemark.reconcile/1"
    return run.code, run.json["tables"]


def test_a_table_that_was_told_whole_is_equal_and_then_behind(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    assert feed.once().code == HEALTHY
    code, (found,) = _reconcile(feed, table.folder)
    assert code == HEALTHY and found["agreement"] == "equal", found
    assert found["told_seq"] == found["applied_seq"] == 1
    instant = table.commit("dt=2")
    code, (found,) = _reconcile(feed, table.folder)
    assert code == WARNING and found["agreement"] == "behind", found
    assert [each["requestedTime"] for each in found["untold"]] == [instant]
    assert found["missing_partitions"] == ["dt=2"]
    assert feed.once().code == HEALTHY
    code, (found,) = _reconcile(feed, table.folder)
    assert code == HEALTHY and found["applied_seq"] == 2, found


def test_files_that_somebody_removed_are_a_difference_that_can_be_repaired(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    table.commit("dt=2")
    assert feed.once().code == HEALTHY
    shutil.rmtree(table.folder / "dt=2")
    code, (found,) = _reconcile(feed, table.folder)
    assert code == BREACH and found["agreement"] == "different", found
    assert found["surplus_partitions"] == ["dt=2"] and not found["repair_asked"]
    # Nobody publishes at this moment: it is heard all the same.
    code, (found,) = _reconcile(feed, table.folder, more=("--repair",))
    assert (code, found["repair_asked"]) == (BREACH, True), found
    feed.start()
    wait_until(lambda: _reconcile(feed, table.folder)[0] == HEALTHY, "the repair", 60)


def test_a_table_that_was_never_published_is_unknown_beside_one_that_was(feed: FeedLab) -> None:
    told = feed.table("told")
    told.commit("dt=1")
    assert feed.once().code == HEALTHY
    other = feed.table("other")
    other.commit("dt=1")
    code, (first, second) = _reconcile(feed, told.folder, other.folder)
    assert code == UNKNOWN
    assert (first["agreement"], second["agreement"]) == ("equal", "unknown")
    code, (gone,) = _reconcile(feed, feed.lake / "nowhere")
    assert code == UNKNOWN and gone["message"], gone


@pytest.fixture
def glue() -> Iterator[str]:
    """Its endpoint. It lets everybody in."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_what_others_did_to_a_catalog_is_named_and_mended_by_the_mirror_that_is_asked(
    feed: FeedLab, glue: str
) -> None:
    keys = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any"}
    client = boto3.client(
        "glue", endpoint_url=glue, region_name="eu-west-1", aws_access_key_id="any", aws_secret_access_key="any"
    )
    client.create_database(DatabaseInput={"Name": "lake"})
    sinks = [
        {"glue": {"endpoint": glue, "region": "eu-west-1", "database": "lake"}},
        {"trino": {"url": glue, "catalog": "lake", "name": "fast", "tables": ["none"]}},
    ]
    table = feed.table()
    table.commit("dt=1")
    table.commit("dt=2")
    state = json.dumps(str(feed.folder / "state"))
    config = feed.write()
    config.write_text(
        config.read_text() + f"state: {{ path: {state} }}\nmirror: {json.dumps({'sinks': sinks})}\n"
    )
    daemon = Daemon(feed.tidemark, config, env=keys)
    try:

        def compare() -> tuple[int, dict]:
            code, (found,) = _reconcile(feed, table.folder, more=("--sink", "glue"), env=keys)
            (sink,) = found["sinks"]
            assert (sink["sink"], sink["kind"]) == ("glue", "glue")
            return code, sink

        wait_until(lambda: compare()[0] == HEALTHY, "the catalog", 60)
        place = {"DatabaseName": "lake", "TableName": "orders"}
        client.delete_partition(**place, PartitionValues=["1"])
        client.create_partition(**place, PartitionInput={"Values": ["9"], "StorageDescriptor": {"Columns": []}})
        code, sink = compare()
        (there,) = sink["tables"]
        # Whether the stamp is that of the last group depends on what the sink was told at once.
        assert (code, there["agreement"]) in ((BREACH, "different"), (WARNING, "behind")), sink
        assert there["missing_partitions"] == ["dt=1"] and there["surplus_partitions"] == ["dt=9"], sink
        text = feed.tidemark("reconcile", table.folder, "--config", config, "--sink", "glue", env=keys).out
        assert "lake.orders: 1 partition missing (dt=1), 1 partition too many (dt=9)" in text
        assert daemon.ask("POST", f"/api/v1/sinks/glue/tables/{table.uid}/resume")[0] == 200
        wait_until(lambda: compare()[0] == HEALTHY, "the repair", 60)
        client.delete_table(DatabaseName="lake", Name="orders")
        code, sink = compare()
        assert code == BREACH and not sink["tables"][0]["there"], sink
    finally:
        daemon.kill()
    words = ("reconcile", table.folder, "--config", config)
    for flags, message in (
        (("--sink", "gleu"), "did you mean 'glue'?"),
        (("--sink", "fast"), "the sink 'fast' keeps nothing to compare with"),
        (("--sink", "glue", "--repair"), "/api/v1/sinks/{sink}/tables/{uid}/resume"),
    ):
        run = feed.tidemark(*words, *flags)
        assert run.code == USAGE and message in run.err, run


def test_a_cluster_that_does_not_answer_is_named(tidemark: Program, tmp_path: pathlib.Path) -> None:
    (nobody,) = free_ports(1)
    config = tmp_path / "tidemark.yaml"
    config.write_text(
        f'clusters: {{ main: {{ bootstrap_servers: "127.0.0.1:{nobody}" }} }}\n'
        "feed: { cluster: main, tables: [ /t ] }\n"
    )
    run = tidemark("reconcile", "/t", "--config", config, "--timeout", "3s")
    assert run.code == UNREACHABLE
    assert f"127.0.0.1:{nobody}" in run.err


def test_what_cannot_be_asked_has_its_exit_code(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    config = tmp_path / "tidemark.yaml"
    config.write_text("pipelines: []\n")
    assert tidemark("reconcile", "/t", "--config", config).code == USAGE
    assert tidemark("reconcile", "--config", config).code == USAGE
    assert tidemark("reconcile", "", "--config", config).code == USAGE
    assert tidemark("reconcile", "/t", "--config", tmp_path / "none").code in (USAGE, UNREADABLE)
