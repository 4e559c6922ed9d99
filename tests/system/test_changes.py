"""`changes` on tables that real writers left: events by their published schema, applied as a subscriber would."""

from __future__ import annotations

import hashlib
import json
import pathlib
import shutil
import subprocess

import jsonschema
import pytest
import yaml

from program import HEALTHY, UNKNOWN, UNREADABLE, UNREACHABLE, USAGE, Program, Run

_REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
_TABLES = _REPOSITORY / "testdata/hudi/tables"
_SCHEMA = json.loads((_REPOSITORY / "docs/schemas/change-event.schema.json").read_text())
_VALIDATOR = jsonschema.Draft202012Validator(
    _SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
)
_NAMES = sorted(path.name for path in _TABLES.iterdir())


def _events(run: Run) -> list[dict]:
    return [json.loads(line) for line in run.out.splitlines()]


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")


def _apply(events: list[dict]) -> set[str]:
    """What a subscriber holds in the end, having checked every proof on the way."""
    known: set[str] = set()
    fields: list | None = None
    at = (0, 0)
    group: list[dict] = []
    for event in events:
        data = event["data"]
        if data["changeType"] == "SNAPSHOT":
            assert (data["epoch"], data["seq"]) == at
            if data["part"]["index"] == 0:
                known, fields = set(), data["changeDetail"]["fields"]
            known |= {entry["path"] for entry in data["changeDetail"]["partitions"]}
        else:
            group.append(data)
            assert data["part"]["index"] == len(group) - 1
            if len(group) < data["part"]["count"]:
                continue
            epoch, seq = data["epoch"], data["seq"]
            assert (epoch, seq) == (at[0], at[1] + 1) or (epoch == at[0] + 1 and seq == 1)
            assert (data["prev"] or {"seq": None})["seq"] == (at[1] if epoch == at[0] else None)
            at = (epoch, seq)
            for part in group:
                if part["changeType"] == "SCHEMA":
                    fields = part["changeDetail"]["fields"]
                for change in part["changeDetail"].get("partitions", []):
                    assert (change["path"] in known) == (change["op"] != "ADD")
                    (known.discard if change["op"] == "DROP" else known.add)(change["path"])
            group = []
            # A new epoch is proved by its snapshot.
            if seq == 1:
                continue
        assert (fields is None) == (data["schemaFingerprint"] is None) or fields == []
        assert data["partitionCount"] == len(known)
        assert int(data["partitionDigest"], 16) == sum(map(_hash, known)) % 2**128
    assert not group
    return known


def _visible(name: str) -> set[str]:
    """Partitions in which a real reader returned rows."""
    fixture = json.loads((_TABLES / name / "fixture.json").read_text())
    rows = fixture.get("sparkSnapshot") or fixture.get("flinkSnapshot") or []
    return {row["_hoodie_partition_path"] for row in rows if "_hoodie_partition_path" in row}


@pytest.mark.parametrize("name", _NAMES)
def test_events_are_as_published_and_end_with_what_readers_see(
    name: str, tidemark: Program
) -> None:
    table = _TABLES / name / "table"
    run = tidemark("changes", table)
    if name == "fresh_a9_restore_inflight":
        assert run.code == UNKNOWN and not run.out
        return
    assert run.code == HEALTHY, run
    events = _events(run)
    for event in events:
        _VALIDATOR.validate(event)
    assert len({event["id"] for event in events}) == len(events)
    assert _visible(name) <= _apply(events)
    from_start = tidemark("changes", table, "--from-start")
    assert from_start.code == HEALTHY, from_start
    assert _apply(_events(from_start)) == _apply(events)


def test_the_asyncapi_document_is_one() -> None:
    schema = json.loads((_REPOSITORY / "testdata/schemas/asyncapi-3.0.0.json").read_text())
    document = yaml.safe_load((_REPOSITORY / "docs/schemas/asyncapi.yaml").read_text())
    jsonschema.Draft7Validator(schema).validate(document)
    document["asyncapi"] = "9.0.0"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate(document)


def test_the_same_table_gives_the_same_bytes(tidemark: Program, tmp_path: pathlib.Path) -> None:
    table = tmp_path / "table"
    shutil.copytree(_TABLES / "c_story_cow_v9/table", table)
    first = tidemark("changes", table)
    assert first.code == HEALTHY
    for spelling in (f"{table}/", f"{tmp_path}/./table", f"file://{table}"):
        assert tidemark("changes", spelling).out == first.out


def test_a_digest_covers_the_details_of_all_parts(tidemark: Program) -> None:
    run = tidemark("changes", _TABLES / "c_story_mor_v9/table")
    groups: dict[str, list[tuple[str, str]]] = {}
    for line in run.out.splitlines():
        data = json.loads(line)["data"]
        start = line.index('"changeDetail":') + len('"changeDetail":')
        detail = line[start : line.index(',"timestamp":', start)]
        key = json.loads(line)["id"].rsplit("/", 1)[0]
        groups.setdefault(key, []).append((detail, data["part"]["groupDigest"]))
    for parts in groups.values():
        text = "".join(f"{len(detail.encode())}:{detail}" for detail, _ in parts)
        assert {digest for _, digest in parts} == {f"{_hash(text):032x}"}


def test_an_unreadable_commit_is_told_and_the_listing_heals(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = tmp_path / "table"
    shutil.copytree(_TABLES / "c_story_cow_v9/table", table)
    commit = sorted((table / ".hoodie/timeline").glob("*_*.commit"))[-1]
    commit.write_bytes(commit.read_bytes()[:-20])
    run = tidemark("changes", table)
    assert run.code == HEALTHY
    events = _events(run)
    suspects = [each["data"] for each in events if each["data"]["changeDetail"].get("suspect")]
    assert [each["instantTime"] for each in suspects] == [commit.name.split("_")[0]]
    assert events[-1]["data"]["source"] == "reconcile"
    whole = tidemark("changes", _TABLES / "c_story_cow_v9/table")
    assert _apply(events) == _apply(_events(whole))


def test_an_empty_commit_hides_no_partition(tidemark: Program, tmp_path: pathlib.Path) -> None:
    table = tmp_path / "table"
    shutil.copytree(_TABLES / "timeline_evolution_datasource/table", table)
    (table / ".hoodie/20261130024418816.commit").write_bytes(b"")
    events = _events(tidemark("changes", table))
    assert _visible("timeline_evolution_datasource") <= _apply(events)
    (told,) = [
        each["data"]["changeDetail"]
        for each in events
        if each["data"]["instantTime"] == "20261130024418816"
    ]
    assert told["metadata"] == "empty" and told["suspect"]


def test_an_instant_that_is_no_file_is_unreadable(tidemark: Program, tmp_path: pathlib.Path) -> None:
    table = tmp_path / "table"
    shutil.copytree(_TABLES / "timeline_evolution_datasource/table", table)
    commit = table / ".hoodie/20261130024418816.commit"
    commit.unlink()
    commit.symlink_to("nowhere")
    run = tidemark("changes", table)
    assert run.code == HEALTHY, run
    suspects = [each["data"] for each in _events(run) if each["data"]["changeDetail"].get("suspect")]
    assert [each["instantTime"] for each in suspects] == ["20261130024418816"]


def test_archived_schemas_are_told(tidemark: Program) -> None:
    events = _events(tidemark("changes", _TABLES / "fresh_a8_archived/table", "--from-start"))
    schemas = [each["data"] for each in events if each["data"]["changeType"] == "SCHEMA"]
    # As the archived commits have them: the batch writer made three columns nullable.
    assert [each["instantTime"] for each in schemas] == ["20261130024821782", "20261130024920850"]
    assert {diff["path"] for diff in schemas[1]["changeDetail"]["diff"]} == {"id", "ts", "part"}


def test_a_hole_in_the_archive_is_stated(tidemark: Program, tmp_path: pathlib.Path) -> None:
    table = tmp_path / "table"
    shutil.copytree(_TABLES / "fresh_a8_archived/table", table)
    (archive,) = (table / ".hoodie/archived").glob(".commits_.archive.1_*")
    archive.write_bytes(archive.read_bytes()[:40_000])
    events = _events(tidemark("changes", table, "--from-start"))
    kinds = [each["data"]["changeDetail"].get("commitType") for each in events]
    assert kinds.count("ARCHIVED_RANGE") == 1
    assert _visible("fresh_a8_archived") <= _apply(events)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["changes"], USAGE),
        (["changes", "/nowhere"], UNREADABLE),
        (["changes", ""], USAGE),
        (["changes", "s3://b/t", "--endpoint", "http://127.0.0.1:9", "--anonymous"], UNREACHABLE),
        (["changes", "/t", "--timeout", "5"], USAGE),
        (["changes", "/t", "--no-such-flag"], USAGE),
    ],
)
def test_what_cannot_be_told_has_its_exit_code(
    arguments: list[str], code: int, tidemark: Program
) -> None:
    assert tidemark(*arguments).code == code


def test_a_reader_that_goes_away_is_no_error(tidemark: Program) -> None:
    command = [str(tidemark.binary), "changes", str(_TABLES / "c_story_mor_v9/table")]
    done = subprocess.run(
        f"{' '.join(command)} | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert done.stderr == "" and len(done.stdout.splitlines()) == 1
