"""`timeline` and `checkpoint` on tables that real writers left, held against their notes."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import pytest

import truth
from hudi_table import KEY_V1, KEY_V2, Commit
from program import HEALTHY, UNKNOWN, UNREADABLE, Program
from stored_tables import StoredTable, load_tables

MakeTable = Callable[..., pathlib.Path]

_TABLES = load_tables()


def completed_in_folder(table: StoredTable) -> set[tuple[str, str]]:
    """Requested time and action of every completed instant, from the names of the files alone.
    A completed compaction is stored under the action it became."""
    found = set()
    for folder in (table.folder / ".hoodie", table.folder / ".hoodie" / "timeline"):
        for path in folder.glob("[0-9]*"):
            instant, *rest = path.name.split(".")
            if not path.is_file() or len(rest) != 1 or rest[0] == "inflight":
                continue
            found.add((instant.split("_")[0], rest[0]))
    return found


@pytest.mark.parametrize("table", _TABLES, ids=lambda table: table.name)
def test_the_timeline_of_a_stored_table_has_every_completed_instant(
    table: StoredTable, tidemark: Program
) -> None:
    run = tidemark("timeline", table.folder, "--format", "json")
    assert run.code == HEALTHY
    shown = run.json
    assert shown["schema"] == "tidemark.timeline/1"
    assert shown["table_type"] == table.table_type
    instants = shown["instants"]
    assert [each["requested"] for each in instants] == sorted(
        each["requested"] for each in instants
    )
    done = {
        (each["requested"], pathlib.PurePath(each["file"]).name.split(".")[1])
        for each in instants
        if each["state"] == "COMPLETED"
    }
    assert done == completed_in_folder(table)
    assert not any(each["archived"] for each in instants)


@pytest.mark.parametrize("table", _TABLES, ids=lambda table: table.name)
def test_the_checkpoint_of_a_stored_table_is_the_one_its_writer_committed(
    table: StoredTable, tidemark: Program
) -> None:
    run = tidemark("checkpoint", table.folder, "--format", "json")
    shown = run.json
    assert shown["schema"] == "tidemark.checkpoint/1"
    assert (run.code == HEALTHY) == shown["found"]
    if table.checkpoint is None:
        assert shown["found"] is False or shown["kind"] == "spark_batch"
        return
    assert shown["value"] == table.checkpoint
    if "," in table.checkpoint:
        topic, offsets = truth.parse_checkpoint(table.checkpoint)
        assert (shown["kind"], shown["topic"]) == ("kafka", topic)
        assert shown["offsets"] == {str(n): offset for n, offset in offsets.items()}
    else:
        assert shown["kind"] in ("instant", "epoch_millis")
    if table.committed_by is not None:
        assert shown["instant"] == table.committed_by
    if table.newer_commits_without_checkpoint is not None:
        assert shown["commit_depth"] == table.newer_commits_without_checkpoint


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        (KEY_V1, "orders,0:12,1:7", "kafka"),
        (KEY_V2, "a.b-c_d,0:0", "kafka"),
        (KEY_V1, "stream,shardId-000000000000:4954", "kinesis"),
        (KEY_V1, "20240101120000123", "instant"),
        (KEY_V1, "1700000000000", "epoch_millis"),
        (KEY_V1, "whatever a column held", "other"),
        ("kafka.commit.offsets", "1=7,0=12", "kafka_connect"),
        ("_hudi_streaming_sink_checkpoint", '{"default_single_writer":"3"}', "spark_batch"),
    ],
    ids=lambda value: value if value.isidentifier() else None,
)
def test_the_kind_of_a_checkpoint_is_told(
    tidemark: Program, make_table: MakeTable, key: str, value: str, kind: str
) -> None:
    run = tidemark("checkpoint", make_table([Commit(value, key)]), "--format", "json")
    assert run.code == HEALTHY
    assert (run.json["key"], run.json["value"], run.json["kind"]) == (key, value, kind)


def test_the_search_ends_at_the_depth_that_was_asked_for(
    tidemark: Program, make_table: MakeTable
) -> None:
    table = make_table([Commit("t,0:1"), *[Commit() for _ in range(5)]])
    deep = tidemark("checkpoint", table, "--format", "json", "--max-commit-depth", "5")
    assert (deep.code, deep.json["commit_depth"]) == (HEALTHY, 5)
    shallow = tidemark("checkpoint", table, "--format", "json", "--max-commit-depth", "4")
    assert (shallow.code, shallow.json["found"]) == (UNKNOWN, False)


def test_limit_keeps_the_newest_instants(tidemark: Program, make_table: MakeTable) -> None:
    table = make_table([Commit(f"t,0:{n}") for n in range(6)] + [Commit(state="INFLIGHT")])
    every = tidemark("timeline", table, "--format", "json").json["instants"]
    assert [each["state"] for each in every] == ["COMPLETED"] * 6 + ["INFLIGHT"]
    last = tidemark("timeline", table, "--format", "json", "--limit", "2").json["instants"]
    assert last == every[-2:]


def test_a_torn_commit_is_passed_over_and_not_taken_for_an_empty_table(
    tidemark: Program, make_table: MakeTable
) -> None:
    table = make_table([Commit("t,0:1"), Commit("t,0:2")])
    (newest,) = sorted((table / ".hoodie").glob("*.commit"))[-1:]
    newest.write_bytes(newest.read_bytes()[:-40])
    run = tidemark("checkpoint", table, "--format", "json")
    assert run.json["value"] == "t,0:1"
    text = tidemark("checkpoint", table)
    assert newest.name in text.out + text.err


def test_an_empty_newest_commit_is_named_and_hides_no_checkpoint(
    tidemark: Program, make_table: MakeTable
) -> None:
    table = make_table("t,0:1")
    (table / ".hoodie" / "99990101000000000.commit").write_bytes(b"")
    run = tidemark("checkpoint", table, "--format", "json")
    assert (run.code, run.json["value"], run.json["commit_depth"]) == (HEALTHY, "t,0:1", 1)
    assert run.json["commits_unreadable"] == 0
    assert [each["kind"] for each in run.json["findings"]] == ["empty_commit"]
    for words in (
        ["checkpoint", table],
        ["freshness", "--table", table, "--bootstrap", "127.0.0.1:9", "--timeout", "300ms"],
    ):
        assert "empty_commit" in tidemark(*words).out


def test_a_table_version_that_is_not_known_is_refused(
    tidemark: Program, make_table: MakeTable
) -> None:
    table = make_table("t,0:1")
    file = table / ".hoodie" / "hoodie.properties"
    file.write_text(file.read_text().replace("hoodie.table.version=6", "hoodie.table.version=99"))
    run = tidemark("checkpoint", table)
    assert run.code == UNREADABLE
    assert "99" in run.err


@pytest.mark.parametrize("command", ["timeline", "checkpoint"])
def test_the_text_for_people_is_plain_when_nobody_watches(
    tidemark: Program, make_table: MakeTable, command: str
) -> None:
    run = tidemark(command, make_table("orders,0:12"), env={"TERM": "xterm-256color"})
    assert run.code == HEALTHY
    assert "\x1b" not in run.out, repr(run.out)
    assert len(run.out.splitlines()) >= 2
    assert run.err == ""
