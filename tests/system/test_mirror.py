"""`tidemark mirror` on a real broker: what it answers is what is in the table, whatever dies."""

from __future__ import annotations

import json
import os
import pathlib
import random
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer

from feed_lab import copy_without_timeline, move_into_place, uid_of
from free_ports import free_ports
from kafka_cluster import KafkaCluster
from mirror_lab import (
    EventStream,
    MirrorLab,
    await_commit,
    await_in_step,
    await_instant,
    columns_of,
    partitions_of,
    status_of,
    value_of,
)
from program import USAGE, Program
from waiting import wait_until

TABLES = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi/tables"
# More for a longer hunt: TIDEMARK_MIRROR_KILLS=1000 ctest -R system.mirror
KILLS = int(os.environ.get("TIDEMARK_MIRROR_KILLS", "50"))


@pytest.fixture
def lab(tidemark: Program, kafka: KafkaCluster, tmp_path: pathlib.Path, topic: str) -> Iterator[MirrorLab]:
    lab = MirrorLab(tidemark, kafka, tmp_path, topic.replace("_", "-"))
    yield lab
    lab.close()


def test_three_commits_two_partitions_and_a_column_are_each_seen_soon(lab: MirrorLab) -> None:
    """R5, the worked example, from the writer to the subscriber."""
    table = lab.table()
    table.commit("dt=1")
    lab.start()
    mirror = lab.mirror()
    await_in_step(mirror, table)
    stream = EventStream(mirror.url)
    for partition, column in (("dt=2", None), ("dt=1", "price"), ("dt=3", None)):
        if column:
            table.columns.append(column)
        instant = table.commit(partition)
        await_commit(mirror, table, instant, 10)
        assert partitions_of(mirror, table) == table.partitions
        assert columns_of(mirror, table) == table.columns
        latest = mirror.get(f"/api/v1/tables/{table.uid}/commit")["latestCommit"]
        assert latest["requestedTime"] == instant
        assert latest["commitType"] == "COMMIT"
    wait_until(lambda: len(stream.told) >= 3, "three events", 10)
    assert [each["instant"]["requestedTime"] for each in stream.told] == table.instants[1:]
    assert [each["what"] for each in stream.told] == ["applied"] * 3
    # By id too, and in pages.
    listed = mirror.get("/api/v1/tables")["tables"]
    assert [each["tableId"] for each in listed] == ["lake.orders"]
    page = mirror.get("/api/v1/tables/lake.orders/partitions?limit=2")
    assert [each["path"] for each in page["partitions"]] == ["dt=1", "dt=2"]
    rest = mirror.get(f"/api/v1/tables/lake.orders/partitions?after={page['next']}")
    assert [each["path"] for each in rest["partitions"]] == ["dt=3"]
    assert rest["next"] is None
    assert value_of(mirror, "metadata_sync_consume_lag", table=f"file://{table.folder}") == 0
    assert value_of(mirror, "metadata_sync_applied_total") == 3
    assert value_of(mirror, "metadata_sync_digest_mismatch_total") == 0


@pytest.mark.parametrize("name", ["c_story_mor_v9", "a14_before_upgrade_v6", "c_story_cow_v8"])
def test_a_real_writers_instants_reach_the_mirror_as_they_come(lab: MirrorLab, name: str) -> None:
    """What it holds in the end is where Spark found rows."""
    target = lab.lake / "moved"
    stored = TABLES / name
    files = copy_without_timeline(stored / "table", target)
    lab.start()
    mirror = lab.mirror()
    uid = uid_of(target)
    wait_until(lambda: mirror.ask("GET", f"/api/v1/tables/{uid}")[0] == 200, "the empty table", 60)
    for file in files:
        move_into_place(file, target / file.relative_to(stored / "table"))
    rows = json.loads((stored / "fixture.json").read_text())["sparkSnapshot"]
    wanted = {row["_hoodie_partition_path"] for row in rows}
    (last, *_) = files[-1].name.split(".")[0].split("_")
    await_instant(mirror, uid, last)
    listed = mirror.get(f"/api/v1/tables/{uid}/partitions")["partitions"]
    assert {each["path"] for each in listed} == wanted
    for word in ("digest_mismatch", "conflict", "gap", "dlq"):
        assert value_of(mirror, f"metadata_sync_{word}_total") == 0


def test_a_mirror_killed_at_any_moment_holds_what_is_in_the_tables(lab: MirrorLab) -> None:
    tables = [lab.table(f"t{number}") for number in range(3)]
    for table in tables:
        table.commit("dt=0")
    lab.start()
    rolls = random.Random(11)
    mirror = lab.mirror()
    for table in tables:
        await_in_step(mirror, table)
    for number in range(KILLS):
        for table in tables:
            if rolls.random() < 0.3:
                table.columns.append(f"c{number}_{table.folder.name}")
            table.commit(*{f"dt={rolls.randrange(20)}" for _ in range(rolls.randrange(1, 4))})
        time.sleep(rolls.random() * 0.3)
        mirror.kill()
        lab.tidemark.runs.clear()
        mirror = lab.mirror()
        # Never something that was not: what is held is a state that the table was in.
        for table in tables:
            assert status_of(mirror, table) is None or partitions_of(mirror, table) <= table.partitions
    for table in tables:
        await_commit(mirror, table, table.instants[-1])
        await_in_step(mirror, table)
    for name in ("digest_mismatch", "conflict", "parts_dropped", "dlq"):
        assert value_of(mirror, f"metadata_sync_{name}_total") == 0


def test_a_broker_that_comes_back_is_followed_on(
    tidemark: Program, kafka_jars: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with KafkaCluster(tmp_path / "kafka", kafka_jars) as own:
        (tmp_path / "work").mkdir()
        lab = MirrorLab(tidemark, own, tmp_path / "work", "loss")
        try:
            table = lab.table()
            table.commit("dt=0")
            lab.start()
            mirror = lab.mirror()
            await_in_step(mirror, table)
            own.kill(own.nodes[0])
            table.commit("dt=1")
            # It goes on answering with what it has.
            assert partitions_of(mirror, table) == {"dt=0"}
            own.start_again(own.nodes[0])
            await_commit(mirror, table, table.instants[-1], 120)
            await_in_step(mirror, table)
        finally:
            lab.close()


def test_a_poisoned_event_is_buried_and_its_table_healed_by_the_publisher(lab: MirrorLab) -> None:
    sick, well = lab.table("sick"), lab.table("well")
    for table in (sick, well):
        table.commit("dt=0")
    lab.start()
    mirror = lab.mirror()
    for table in (sick, well):
        await_in_step(mirror, table)
    producer = Producer({"bootstrap.servers": lab.kafka.bootstrap(), "partitioner": "murmur2_random"})
    producer.produce(f"{lab.prefix}.events", b'{"specversion":"2.0"}', sick.uid.encode(), headers={"mine": b"1"})
    assert producer.flush(30) == 0
    for table in (sick, well):
        await_commit(mirror, table, table.commit("dt=1"))
        await_in_step(mirror, table)
    dead = lab.reader()
    dead._partitions = 1
    (buried,) = dead.read("dlq")
    headers = dict(buried.headers())
    assert buried.value() == b'{"specversion":"2.0"}'
    assert buried.key().decode() == sick.uid
    assert headers["mine"] == b"1"
    assert b"specversion" in headers["tidemark-error"]
    assert headers["tidemark-topic"].decode() == f"{lab.prefix}.events"
    assert value_of(mirror, "metadata_sync_dlq_total") == 1
    assert value_of(mirror, "metadata_sync_relist_total", reason="poison") == 1


def test_events_that_were_deleted_unread_are_a_gap_that_heals(lab: MirrorLab) -> None:
    table = lab.table()
    table.commit("dt=0")
    lab.start()
    mirror = lab.mirror()
    await_in_step(mirror, table)
    assert mirror.stop() == 0
    for number in range(3):
        table.commit(f"dt=gone{number}")
    lab.await_commits(table)
    topic = f"{lab.prefix}.events"
    ends = {number: lab.kafka.log_end(topic, number) for number in range(lab.partitions)}
    lab.kafka.delete_records(topic, ends)
    mirror = lab.mirror()
    instant = table.commit("dt=after")
    await_commit(mirror, table, instant, 90)
    await_in_step(mirror, table)
    assert value_of(mirror, "metadata_sync_gap_total") >= 1


def test_topics_of_another_width_are_refused_with_the_cure(lab: MirrorLab) -> None:
    table = lab.table()
    table.commit("dt=0")
    assert lab.once().code == 0
    run = lab.tidemark("mirror", "--config", lab.write_mirror(partitions=3), "--listen", "127.0.0.1:0")
    assert run.code == USAGE
    assert "it has 2 partitions" in run.err


def test_a_mirror_may_be_there_before_its_feed(lab: MirrorLab) -> None:
    mirror = lab.mirror()
    assert mirror.ask("GET", "/readyz")[0] == 503
    table = lab.table()
    table.commit("dt=0")
    lab.start()
    await_in_step(mirror, table)
    wait_until(lambda: mirror.ask("GET", "/readyz")[0] == 200, "the mirror to be ready", 30)


def test_only_the_tables_that_are_wanted_are_followed(lab: MirrorLab) -> None:
    wanted, other = lab.table("orders"), lab.table("secrets")
    for table in (wanted, other):
        table.commit("dt=0")
    lab.start()
    mirror = lab.mirror(tables=["lake.ord*"])
    await_in_step(mirror, wanted)
    assert status_of(mirror, other) is None


def test_what_is_asked_wrongly_is_refused(lab: MirrorLab) -> None:
    table = lab.table()
    table.commit("dt=0")
    lab.start()
    mirror = lab.mirror()
    await_in_step(mirror, table)
    place = f"/api/v1/tables/{table.uid}"
    for path, expected in (
        (f"{place}/wait", 400),
        (f"{place}/wait?seq=1&instant=2", 400),
        (f"{place}/wait?seq=0", 400),
        (f"{place}/wait?seq=1&timeout=31s", 400),
        (f"{place}/wait?seq=1&timeout=soon", 400),
        (f"{place}/partitions?limit=0", 400),
        (f"{place}/partitions?perfix=a", 400),
        ("/api/v1/tables?limit=1001", 400),
        ("/api/v1/tables/nothing", 404),
        ("/api/v1/tables/nothing/wait?seq=1", 404),
    ):
        assert mirror.ask("GET", path)[0] == expected, path
    began = time.monotonic()
    late = mirror.get(f"{place}/wait?seq=1000&timeout=500ms")
    assert late["reached"] is False
    assert 0.4 < time.monotonic() - began < 10
    assert mirror.get(f"{place}/wait?seq=1")["reached"] is True


def test_serve_publishes_and_mirrors_in_one_process(lab: MirrorLab) -> None:
    table = lab.table()
    table.commit("dt=0")
    (nobody,) = free_ports(1)
    daemon = lab.serve(sinks=[{"webhook": {"url": f"http://127.0.0.1:{nobody}"}}])
    await_in_step(daemon, table)
    await_commit(daemon, table, table.commit("dt=1"))
    assert value_of(daemon, "metadata_sync_consume_lag", table=f"file://{table.folder}") == 0
    wait_until(lambda: value_of(daemon, "metadata_sync_groups_total") >= 2, "the counts of a later report", 30)
    wait_until(lambda: daemon.get("/api/v1/sinks")["held"], "a table that is held in its sink", 30)
    tester = pathlib.Path(sys.executable).with_name("schemathesis")
    # OpenAPI has no words for "one of these two parameters", so its tester may leave both out.
    (lab.folder / "schemathesis.toml").write_text(
        '[[operations]]\ninclude-name = "GET /api/v1/tables/{table}/wait"\n'
        'checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "404"]\n'
    )
    run = subprocess.run(
        [
            tester, "run", f"{daemon.url}/api/v1/openapi.json", "--include-path-regex", "/api/v1/(tables|sinks)",
            "--max-examples", "30", "--seed", "1", "--no-color", "--workers", "1",
            "--generation-database", "none", "--generation-with-security-parameters", "false",
        ],
        capture_output=True, text=True, timeout=240, cwd=lab.folder, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
