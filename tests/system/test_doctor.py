"""`doctor`: finds what is wrong with a set-up and says the cure."""

from __future__ import annotations

import json
import pathlib
import socket
import ssl
from collections.abc import Callable

import pytest

import certificates
import receivers
from free_ports import free_ports
from kafka_cluster import HOST, KafkaCluster, Record, now_ms
from program import HEALTHY, UNKNOWN, UNREACHABLE, UNREADABLE, USAGE, WARNING, Program, Run
from waiting import wait_until

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
MakeTable = Callable[..., pathlib.Path]


def examine(tidemark: Program, table: pathlib.Path, *flags: str) -> Run:
    return tidemark("doctor", table, "--timeout", "4s", *flags)


def check_cure(run: Run, *words: str) -> None:
    """Something is wrong, named, and followed by what to do."""
    assert run.code != HEALTHY
    for word in words:
        assert word.lower() in run.out.lower()
    assert "->" in run.out


def test_a_healthy_set_up_has_no_complaint(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable, topic: str
) -> None:
    kafka.create_topic(topic, 2, {"retention.ms": str(7 * DAY)})
    kafka.produce(topic, [Record(0, now_ms() - MINUTE)])
    run = examine(tidemark, make_table(f"{topic},0:0,1:0"), "--bootstrap", kafka.bootstrap())
    assert run.code == HEALTHY
    assert "->" not in run.out
    assert topic in run.out


@pytest.mark.parametrize(
    ("flags", "client"),
    [
        ([], ["wire"]),
        (["--property", "check.crcs=true"], ["librdkafka", "check.crcs"]),
        (["--kafka-client", "librdkafka"], ["librdkafka", "asked for"]),
        (["--kafka-client", "wire"], ["wire", "asked for"]),
    ],
    ids=["nothing asked", "a foreign property", "librdkafka", "wire"],
)
def test_the_client_that_asks_is_told_with_its_reason(
    kafka: KafkaCluster,
    tidemark: Program,
    make_table: MakeTable,
    topic: str,
    flags: list[str],
    client: list[str],
) -> None:
    kafka.create_topic(topic)
    run = examine(tidemark, make_table(f"{topic},0:0"), "--bootstrap", kafka.bootstrap(), *flags)
    assert run.code == HEALTHY
    (line,) = [line for line in run.out.splitlines() if line.split()[1] == "client"]
    assert line.split()[2].startswith(client[0])
    for word in client:
        assert word in line


def test_a_property_that_the_wanted_client_cannot_use_is_a_mistake(
    tidemark: Program, make_table: MakeTable
) -> None:
    (port,) = free_ports(1)
    flags = ["--bootstrap", f"{HOST}:{port}", "--kafka-client", "wire", "--property", "check.crcs=true"]
    run = examine(tidemark, make_table("t,0:1"), *flags)
    check_cure(run, "check.crcs")
    assert run.code == USAGE


def test_a_table_alone_can_be_examined(tidemark: Program, make_table: MakeTable) -> None:
    run = examine(tidemark, make_table("t,0:1"))
    assert run.code == HEALTHY
    assert "t,0:1" in run.out


def test_a_newer_commit_that_cannot_be_read_is_told(
    tidemark: Program, make_table: MakeTable
) -> None:
    table = make_table("t,0:1")
    (table / ".hoodie" / "99990101000000000.commit").write_text('{"extraMetadata": {')
    run = examine(tidemark, table)
    check_cure(run, "t,0:1", "newer")
    assert run.code == WARNING


def test_a_newest_commit_that_is_empty_is_told(tidemark: Program, make_table: MakeTable) -> None:
    table = make_table("t,0:1")
    (table / ".hoodie" / "99990101000000000.commit").write_bytes(b"")
    run = examine(tidemark, table)
    check_cure(run, "t,0:1", "99990101000000000.commit", "empty")
    assert run.code == WARNING
    (table / ".hoodie" / "99990101000000000.commit").unlink()
    (table / ".hoodie" / "20000101000000000.commit").write_bytes(b"")
    assert examine(tidemark, table).code == HEALTHY, "the streamer is past it"


def test_a_pipeline_that_is_switched_off_is_not_examined(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text(
        "clusters: { main: { bootstrap_servers: 127.0.0.1:1 } }\n"
        "pipelines: [ { name: retired, table: /nowhere, disabled: true } ]\n"
    )
    run = tidemark("doctor", "--config", file)
    assert run.code == HEALTHY
    assert "skipped" in run.out and "retired" in run.out
    assert "nothing was looked at" in run.err


def test_a_configuration_without_a_pipeline_is_a_mistake(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "tidemark.yaml"
    for text in ["", "pipelines: []\n", "null\n", "---\n---\npipelines: []\n"]:
        file.write_text(text)
        for command in ("doctor", "freshness"):
            run = tidemark(command, "--config", file)
            assert (run.code, run.out) == (USAGE, "")


def test_a_folder_that_is_no_table_is_told(tidemark: Program, tmp_path: pathlib.Path) -> None:
    run = examine(tidemark, tmp_path)
    check_cure(run, "hoodie.properties")
    assert run.code == UNREADABLE


def test_a_cluster_that_is_not_there_is_told(tidemark: Program, make_table: MakeTable) -> None:
    (port,) = free_ports(1)
    run = examine(tidemark, make_table("t,0:1"), "--bootstrap", f"{HOST}:{port}")
    check_cure(run, "broker")
    assert run.code == UNREACHABLE


def test_a_cluster_that_is_asked_nothing_is_not_said_to_answer(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    (port,) = free_ports(1)
    run = examine(tidemark, tmp_path, "--bootstrap", f"{HOST}:{port}")
    assert "answers" not in run.out.split("cluster")[1]
    assert "skipped" in run.out


def test_a_missing_topic_is_told(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable, topic: str
) -> None:
    run = examine(tidemark, make_table(f"{topic},0:1"), "--bootstrap", kafka.bootstrap())
    check_cure(run, topic)
    assert topic not in kafka.topics()


@pytest.mark.parametrize(("kept", "is_failure"), [(2 * HOUR, False), (30 * MINUTE, True)])
def test_a_retention_too_short_for_the_sla_is_told(
    kafka: KafkaCluster,
    tidemark: Program,
    make_table: MakeTable,
    topic: str,
    kept: int,
    is_failure: bool,
) -> None:
    kafka.create_topic(topic, config={"retention.ms": str(kept)})
    run = examine(
        tidemark, make_table(f"{topic},0:0"), "--bootstrap", kafka.bootstrap(), "--sla", "1h"
    )
    check_cure(run, "retention.ms")
    assert (run.code == WARNING) == (not is_failure)


@pytest.mark.parametrize(
    ("committed", "words"),
    [(9, ["ends at 5", "created again"]), (1, ["begins at 2", "deleted before"])],
    ids=["beyond the end", "before the start"],
)
def test_a_checkpoint_outside_the_log_is_told(
    kafka: KafkaCluster,
    tidemark: Program,
    make_table: MakeTable,
    topic: str,
    committed: int,
    words: list[str],
) -> None:
    kafka.create_topic(topic, 2)
    kafka.produce(topic, [Record(1, now_ms() - MINUTE) for _ in range(5)])
    kafka.delete_records(topic, {1: 2})
    run = examine(
        tidemark, make_table(f"{topic},0:0,1:{committed}"), "--bootstrap", kafka.bootstrap()
    )
    check_cure(run, f"{topic} partition 1", f"committed up to {committed}", *words)
    assert run.code == UNKNOWN
    within = examine(tidemark, make_table(f"{topic},0:0,1:2"), "--bootstrap", kafka.bootstrap())
    assert within.code == HEALTHY


def test_a_whole_configuration_is_examined(
    kafka: KafkaCluster, tidemark: Program, make_table: MakeTable, topic: str, tmp_path: pathlib.Path
) -> None:
    """Each pipeline from its table to its topic, and what the daemon needs beside them."""
    kafka.create_topic(topic, 1, {"retention.ms": str(7 * DAY)})
    kafka.produce(topic, [Record(0, now_ms() - MINUTE)])
    dead, free = free_ports(2)
    pipelines = [
        {"name": "orders", "cluster": "main", "table": str(make_table(f"{topic},0:0"))},
        {"name": "slow", "cluster": "main", "table": str(make_table(f"{topic},0:0")), "interval": "1h"},
        *({"name": f"cut{i}", "cluster": "cut", "table": str(make_table("t,0:1"))} for i in range(3)),
        {"name": "moved", "cluster": "main", "table": str(tmp_path / "nowhere")},
    ]
    (tmp_path / "tokens").write_text("one\n")
    file = tmp_path / "tidemark.yaml"
    file.write_text(
        json.dumps(
            {
                "clusters": {
                    "main": {"bootstrap_servers": kafka.bootstrap()},
                    "cut": {"bootstrap_servers": f"{HOST}:{dead}"},
                },
                "pipelines": pipelines,
                "state": {"path": "state"},
                "http": {"listen": f"{HOST}:{free}", "auth": {"bearer_tokens_file": "tokens"}},
            }
        )
    )
    run = tidemark("doctor", "--config", file, "--format", "json", "--timeout", "4s")
    assert run.code == UNREADABLE, "the gravest: a table that is not there"
    subjects = {each["subject"]: each["checks"] for each in run.json["subjects"]}
    assert list(subjects) == [each["name"] for each in pipelines] + ["(daemon)"]
    outcomes = {
        subject: {check["name"]: check["outcome"] for check in checks} for subject, checks in subjects.items()
    }
    assert set(outcomes["orders"].values()) == {"ok"}
    assert outcomes["slow"]["interval"] == "warning"
    assert outcomes["moved"]["store"] == "failed"
    for cut in ("cut0", "cut1", "cut2"):
        assert (outcomes[cut]["checkpoint"], outcomes[cut]["cluster"]) == ("ok", "failed")
    assert outcomes["(daemon)"] == {"state": "ok", "tokens": "ok", "listen": "ok"}
    assert not (tmp_path / "state").exists(), "nothing is made"


def test_a_daemon_that_runs_is_no_complaint(tidemark: Program, make_table: MakeTable, tmp_path: pathlib.Path) -> None:
    (port,) = free_ports(1)
    file = tmp_path / "tidemark.yaml"
    file.write_text(
        json.dumps(
            {
                "clusters": {"main": {"bootstrap_servers": f"{HOST}:1"}},
                "pipelines": [{"name": "retired", "table": str(make_table("t,0:1")), "disabled": True}],
                "state": {"path": "state"},
                "http": {"listen": f"{HOST}:{port}"},
            }
        )
    )
    daemon = tidemark.start("serve", "--config", file)
    try:
        wait_until(lambda: port_answers(port), "the daemon to answer", 60)
        run = tidemark("doctor", "--config", file)
        assert run.code == HEALTHY, run
        assert "the daemon runs" in run.out
    finally:
        daemon.terminate()
        daemon.communicate()


def port_answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def test_each_exporter_is_asked_and_nothing_changes_there(
    tidemark: Program, make_table: MakeTable, dependencies: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    authority = certificates.make_authority(tmp_path, "authority")
    server = certificates.make_server_keystore(tmp_path, authority, "127.0.0.1")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(server)
    tls.load_verify_locations(authority.certificate)
    tls.verify_mode = ssl.CERT_REQUIRED
    known = {"ca": authority.certificate.name, "certificate": server.name, "key": server.name}
    file = tmp_path / "tidemark.yaml"
    with (
        receivers.pushgateway(dependencies, tmp_path) as gateway,
        receivers.Hook(tls) as guarded,
        receivers.Hook() as refusing,
    ):
        refusing.status = 403
        (dead,) = free_ports(1)
        exporters = [
            {"textfile": {"path": "t.prom"}},
            {"sources": {"path": "nowhere/sources.json"}},
            {"pushgateway": {"url": gateway}},
            {"pushgateway": {"name": "wrong", "url": refusing.url}},
            {"otlp": {"endpoint": guarded.url, "tls": known}},
            {"otlp": {"name": "stranger", "endpoint": guarded.url, "tls": {"ca": known["ca"]}}},
            {"otlp": {"name": "mistrusted", "endpoint": guarded.url}},
            {"webhook": {"url": f"{guarded.url}/hook", "tls": known}},
            {"webhook": {"name": "dead", "url": f"http://127.0.0.1:{dead}/s3cr3t-path"}},
            {"statsd": {"address": f"127.0.0.1:{dead}"}},
            {"emf": {"path": "-"}},
        ]
        clusters = {"main": {"bootstrap_servers": f"{HOST}:{dead}"}}
        pipelines = [{"name": "off", "table": str(make_table("t,0:0")), "disabled": True}]
        file.write_text(json.dumps({"clusters": clusters, "pipelines": pipelines, "exporters": exporters}))
        run = tidemark("doctor", "--config", file, "--format", "json", "--timeout", "20s")
        _, subject = run.json["subjects"]
        assert subject["subject"] == "(exporters)"
        found = [(check["name"], check["outcome"]) for check in subject["checks"]]
        assert found == [
            ("textfile", "ok"), ("sources", "failed"), ("pushgateway", "ok"), ("pushgateway", "failed"),
            ("otlp", "ok"), ("otlp", "failed"), ("otlp", "failed"), ("webhook", "ok"), ("webhook", "failed"),
            ("statsd", "ok"), ("emf", "ok"),
        ]  # fmt: skip
        assert run.code == UNKNOWN
        assert "s3cr3t" not in run.out
        assert all(check["cure"] for check in subject["checks"] if check["outcome"] != "ok")
        # Nothing that anybody would keep.
        assert "tidemark" not in receivers.fetch(f"{gateway}/metrics")
        assert {(method, path) for method, path, _, _ in guarded.requests} == {
            ("POST", "/v1/metrics"), ("HEAD", "/hook"),
        }  # fmt: skip
        assert not (tmp_path / "t.prom").exists()
