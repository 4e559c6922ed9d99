"""Tables in Azure's and Google's stores read as they do on disk."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator

import pytest
import yaml

import truth
from cloud_servers import AzureServer, GcsServer, azure_server, gcs_server
from daemon import Daemon
from hudi_table import Commit, write_table
from kafka_cluster import KafkaCluster, Record, now_ms
from program import BREACH, HEALTHY, UNREACHABLE, Program
from stored_tables import load_table
from waiting import wait_until

_ROWS = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi/rows"
# Both layouts of the timeline, and a table whose checkpoint is in the archive only.
_STORED = ["fresh_a1_cow_streamer", "a01_cow_3syncs_v9", "fresh_a8_archived"]


@pytest.fixture(scope="module")
def azure(dependencies: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[AzureServer]:
    with azure_server(dependencies, tmp_path_factory.mktemp("azure")) as server:
        yield server


@pytest.fixture(scope="module")
def gcs(dependencies: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GcsServer]:
    with gcs_server(dependencies, tmp_path_factory.mktemp("gcs")) as server:
        yield server


@pytest.fixture(params=["azure", "gcs"])
def store(request: pytest.FixtureRequest) -> AzureServer | GcsServer:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("name", _STORED)
def test_checkpoint_and_timeline_are_those_of_the_disk(
    store: AzureServer | GcsServer, tidemark: Program, name: str
) -> None:
    uri = store.upload(load_table(name).folder, f"warehouse/{name}")
    for command in (["checkpoint"], ["timeline"], ["timeline", "--archived"]):
        stored = tidemark(*command, uri, "--format", "json", env=store.environment)
        local = tidemark(*command, load_table(name).folder, "--format", "json")
        assert (stored.code, local.code) == (HEALTHY, HEALTHY)
        assert {**stored.json, "table": ""} == {**local.json, "table": ""}


def test_rows_and_findings_are_those_of_the_disk(
    store: AzureServer | GcsServer, tidemark: Program
) -> None:
    folder = _ROWS / "merge_string_eventtime_loglog/table"
    uri = store.upload(folder, "rows")
    stored = tidemark("read", uri, env=store.environment)
    local = tidemark("read", folder)
    assert stored.code == local.code == HEALTHY
    assert local.out
    assert stored.out == local.out
    found = [
        tidemark("audit", place, "--profile", "hudi-0.14", "--format", "json", env=store.environment)
        for place in (uri, folder)
    ]
    assert [run.code for run in found] == [BREACH, BREACH]
    assert found[0].json["summary"]["findings"] == found[1].json["summary"]["findings"]


def test_freshness_is_exact(
    store: AzureServer | GcsServer, kafka: KafkaCluster, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = load_table("a01_cow_3syncs_v9")
    topic, committed = truth.parse_checkpoint(table.checkpoint)
    if topic not in kafka.topics():
        kafka.create_topic(topic, table.partition_count)
        kafka.produce(topic, table.records)
    uri = store.upload(table.folder, "fresh/orders")
    run = tidemark(
        "freshness", "--table", uri, "--bootstrap", kafka.bootstrap(), "--format", "json",
        "--partitions", env=store.environment,
    )  # fmt: skip
    logs = table.logs()
    truth.check_pipeline(run, topic, {n: truth.of_log(committed[n], logs[n]) for n in logs})


def test_the_daemon_sees_commits_in_the_store(
    store: AzureServer | GcsServer, kafka: KafkaCluster, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    topic = f"orders-{type(store).__name__}"
    kafka.create_topic(topic, 1)
    kafka.produce(topic, [Record(0, now_ms()) for _ in range(3)])
    folder = tmp_path / "table"
    uri = store.upload(write_table(folder, [Commit(f"{topic},0:2")]), topic)
    config = tmp_path / "tidemark.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "clusters": {"main": {"bootstrap_servers": kafka.bootstrap()}},
                "defaults": {"interval": "1s"},
                "pipelines": [{"name": "orders", "table": uri, "sla": "10m"}],
            }
        )
    )
    daemon = Daemon(tidemark, config, env=store.environment)
    try:
        before = daemon.await_status("orders", "fresh")
        assert before["uncommitted_records"] == 1
        later = write_table(tmp_path / "later", [Commit(f"{topic},0:2"), Commit(f"{topic},0:3")])
        store.upload(later, topic)
        wait_until(
            lambda: daemon.pipelines()["orders"]["uncommitted_records"] == 0, "the commit", 30
        )
    finally:
        assert daemon.stop() == HEALTHY


def test_the_configuration_names_endpoint_and_key(
    azure: AzureServer, gcs: GcsServer, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = load_table("fresh_a1_cow_streamer")
    uris = [each.upload(table.folder, "by/config") for each in (azure, gcs)]
    (tmp_path / "account.key").write_text(azure.key + "\n")
    config = tmp_path / "tidemark.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "clusters": {"main": {"bootstrap_servers": "127.0.0.1:1"}},
                "stores": {
                    "azure": {
                        "match": "abfss://*",
                        "endpoint": azure.endpoint,
                        "account_key": "${file:account.key}",
                    },
                    "google": {"match": "gs://*", "endpoint": gcs.endpoint, "anonymous": True},
                },
                "pipelines": [{"name": f"p{n}", "table": uri} for n, uri in enumerate(uris)],
            }
        )
    )
    run = tidemark("doctor", "--config", config, "--format", "json")
    for subject in run.json["subjects"]:
        if subject["subject"] != "(daemon)":
            outcomes = {check["name"]: check["outcome"] for check in subject["checks"]}
            assert (outcomes["store"], outcomes["checkpoint"]) == ("ok", "ok")
    assert azure.key not in run.out + run.err


def test_a_wrong_key_is_said_and_not_shown(azure: AzureServer, tidemark: Program) -> None:
    uri = azure.upload(load_table("fresh_a1_cow_streamer").folder, "denied")
    wrong = "d3Jvbmcga2V5IG9mIHRoZSB0ZXN0"
    run = tidemark("checkpoint", uri, env={**azure.environment, "AZURE_STORAGE_KEY": wrong})
    assert run.code == UNREACHABLE
    assert "account=lakeaccount" in run.err
    assert wrong not in run.err


def test_a_missing_table_and_a_missing_bucket_are_told_apart(
    store: AzureServer | GcsServer, tidemark: Program
) -> None:
    uri = store.upload(load_table("fresh_a1_cow_streamer").folder, "there")
    gone = tidemark("doctor", uri + "-not", env=store.environment)
    elsewhere = tidemark("doctor", uri.replace("//lake", "//pond"), env=store.environment)
    assert HEALTHY not in (gone.code, elsewhere.code)
    told = "no such container", "no such bucket"
    assert any(words in elsewhere.out for words in told)
    assert not any(words in gone.out for words in told)
