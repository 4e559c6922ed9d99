"""`tidemark mirror` with sinks, on a real broker: each gets what it is for, alone."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterator

import pytest

from daemon import Daemon
from free_ports import free_ports
from hive_metastore import HiveMetastore
from kafka_cluster import KafkaCluster
from mirror_lab import MirrorLab, await_commit, value_of
from program import Program
from receivers import Hook
from waiting import wait_until

FINISHED = b'{"id":"q","stats":{"state":"FINISHED"}}'


@pytest.fixture
def lab(tidemark: Program, kafka: KafkaCluster, tmp_path: pathlib.Path, topic: str) -> Iterator[MirrorLab]:
    lab = MirrorLab(tidemark, kafka, tmp_path, topic.replace("_", "-"))
    yield lab
    lab.close()


def ids(hook: Hook) -> list[str]:
    return [each["id"] for each in hook.bodies()]


def sink_of(mirror: Daemon, name: str) -> dict:
    return next(each for each in mirror.get("/api/v1/sinks")["sinks"] if each["sink"] == name)


def test_each_sink_gets_every_change_though_one_of_them_is_away(lab: MirrorLab) -> None:
    table = lab.table()
    table.commit("dt=1")
    lab.start()
    (nobody,) = free_ports(1)
    with Hook() as hook, Hook() as trino, Hook() as lineage:
        trino.answer = FINISHED
        mirror = lab.mirror(
            sinks=[
                {"webhook": {"url": hook.url + "/events"}},
                {"trino": {"url": trino.url, "catalog": "hudi"}},
                {"openlineage": {"url": lineage.url}},
                {"presto": {"url": f"http://127.0.0.1:{nobody}", "catalog": "hudi", "name": "away"}},
            ]
        )
        wait_until(lambda: len(hook.requests) == 1, "the first event", 60)
        # What came before is not told event by event.
        (first,) = hook.bodies()
        assert first["type"] == "hudi.metadata.resync.v1"
        told = first["data"]["seq"]
        for partition, column in (("dt=2", None), ("dt=1", "price"), ("dt=3", None)):
            if column:
                table.columns.append(column)
            await_commit(mirror, table, table.commit(partition))
        events = [each for each in lab.reader().events(table.uid) if each["data"]["seq"] > told]
        wait_until(lambda: len(hook.requests) == 1 + len(events), "all events", 60)
        assert hook.bodies()[1:] == events
        statement = (
            "CALL \"hudi\".system.flush_metadata_cache(schema_name => 'lake', table_name => 'orders')"
        )
        assert {body.decode() for _, _, _, body in trino.requests} == {statement}
        wait_until(lambda: sink_of(mirror, "openlineage")["behind"] == 0, "the last event", 60)
        last = lineage.bodies()[-1]["dataset"]
        assert last["name"] == str(table.folder)
        assert [each["name"] for each in last["facets"]["schema"]["fields"]] == ["id", "name", "price"]
        wait_until(lambda: sink_of(mirror, "away")["paused"] == 1, "the pause", 60)
        held = mirror.get("/api/v1/sinks")["held"]
        assert [(each["sink"], each["mode"]) for each in held] == [("away", "paused")]
        assert value_of(mirror, "metadata_sync_sink_paused", sink="away") == 1
        assert value_of(mirror, "metadata_sync_apply_latency_seconds_count", sink="webhook") >= 2
        assert value_of(mirror, "metadata_sync_quarantined", sink="webhook") == 0


def test_a_hive_metastore_has_what_is_in_the_table_after_each_commit_and_after_it_was_away(
    lab: MirrorLab, dependencies: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    table = lab.table()
    table.commit("dt=1", "dt=2")
    lab.start()
    metastore = HiveMetastore(dependencies, tmp_path / "metastore")
    try:
        hive = {"uris": [metastore.uri()], "database": "default", "retry_first": "200ms", "retry_most": "1s"}
        mirror = lab.mirror(sinks=[{"hive": hive}])

        def await_hive() -> None:
            wait_until(lambda: metastore.partitions("default", "orders") == sorted(table.partitions), "hive", 60)

        await_hive()
        for partitions in (("dt=3",), ("dt=1", "dt=4"), ("dt=5", "dt=6")):
            table.commit(*partitions)
            await_hive()
        mirror.kill()
        table.commit("dt=7")
        mirror = lab.mirror(sinks=[{"hive": hive}])
        await_hive()
        metastore.stop()
        await_commit(mirror, table, table.commit("dt=8"))
        wait_until(lambda: sink_of(mirror, "hive")["paused"] == 1, "the pause", 60)
        metastore = HiveMetastore(dependencies, tmp_path / "metastore", port=metastore.port)
        await_hive()
        wait_until(lambda: sink_of(mirror, "hive")["behind"] == 0, "hive to be in step", 30)
    finally:
        metastore.stop()


def test_a_refusal_quarantines_the_table_until_somebody_resumes_it(lab: MirrorLab) -> None:
    table = lab.table()
    table.commit("dt=1")
    lab.start()
    with Hook() as hook:
        hook.status = 400
        mirror = lab.mirror(sinks=[{"webhook": {"url": hook.url}}])
        wait_until(lambda: sink_of(mirror, "webhook")["quarantined"] == 1, "the quarantine", 60)
        assert value_of(mirror, "metadata_sync_quarantined", sink="webhook") == 1
        (held,) = mirror.get("/api/v1/sinks")["held"]
        assert "status=400" in held["reason"]
        assert "resume the sink" in held["cure"]
        await_commit(mirror, table, table.commit("dt=2"))
        assert len(hook.requests) == 1
        hook.status = 200
        assert mirror.ask("POST", "/api/v1/sinks/webhook/tables/unknown/resume")[0] == 404
        assert mirror.ask("POST", f"/api/v1/sinks/webhook/tables/{table.uid}/resume")[0] == 200
        wait_until(lambda: sink_of(mirror, "webhook")["applied"] == 1, "what was missed", 60)
        assert hook.bodies()[-1]["type"] == "hudi.metadata.resync.v1"
        assert value_of(mirror, "metadata_sync_quarantined", sink="webhook") == 0


def test_doctor_says_which_sink_does_not_answer_and_no_password(lab: MirrorLab) -> None:
    (nobody,) = free_ports(1)
    env = {"SINK_PASSWORD": "hunter2-of-the-sink"}
    doris = {"host": "127.0.0.1", "port": nobody, "catalog": "c", "password": "${env:SINK_PASSWORD}"}
    with Hook() as trino:
        trino.answer = FINISHED
        file = lab.write_mirror(sinks=[{"trino": {"url": trino.url, "catalog": "c"}}, {"doris": doris}])
        file.write_text(file.read_text() + "pipelines: [ { name: retired, table: /nowhere, disabled: true } ]\n")
        run = lab.tidemark("doctor", "--config", file, "--format", "json", "--timeout", "10s", env=env)
        checks = {
            check["name"]: check["outcome"]
            for subject in run.json["subjects"]
            for check in subject["checks"]
        }
        assert checks["trino"] == "ok"
        assert checks["doris"] == "failed"
        assert "hunter2" not in run.out + run.err
