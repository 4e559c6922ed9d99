"""`audit` as people and other engines use it: exit codes, tasks over several processes, the repair plan."""

from __future__ import annotations

import decimal
import json
import pathlib

import pyarrow.parquet
import pytest

from program import BREACH, HEALTHY, UNKNOWN, USAGE, Program

_ROWS = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi/rows"
_LOST = _ROWS / "f014_string_oneflush_d/table"  # six live rows, of which 0.14 shows none
_BOTH_WAYS = _ROWS / "f014_string_compact_d/table"  # compacted after every commit
_RIGHT = _ROWS / "f111_string_sep_d/table"  # what 1.1 reads right


def test_lost_rows_are_listed_with_their_evidence(tidemark: Program) -> None:
    run = tidemark("audit", _LOST, "--profile", "hudi-0.14", "--format", "json")
    assert run.code == BREACH
    report = run.json
    assert report["schema"] == "tidemark.audit/1"
    assert report["profiles"] == ["hudi-0.14"]
    assert report["summary"]["findings"]["lost_row"] == 6
    lost = [each for each in report["findings"] if each["kind"] == "lost_row"]
    assert {each["record_key"] for each in lost} == {"1", "2", "3", "4", "5", "6"}
    for each in lost:
        assert each["expected"]["row"]["ev"] == "U3"
        assert each["actual"]["row"] is None
        assert each["repairable"]
        assert all((_LOST / item["file"]).is_file() for item in each["evidence"])


def test_nothing_wrong_is_said_of_a_table_that_its_readers_read_right(tidemark: Program) -> None:
    run = tidemark("audit", _RIGHT, "--format", "json")
    assert run.code == HEALTHY, run.out
    assert run.json["summary"]["severities"]["error"] == 0
    assert run.json["summary"]["complete"]


def test_the_limit_cuts_the_list_and_not_the_counts(tidemark: Program) -> None:
    run = tidemark("audit", _LOST, "--profile", "hudi-0.14", "--limit", "2", "--format", "json")
    assert run.json["summary"]["findings"]["lost_row"] == 6
    assert run.json["summary"]["listed"] == len(run.json["findings"]) == 2
    assert "2 of " in tidemark("audit", _LOST, "--limit", "2").out


def test_tasks_of_several_processes_come_to_the_report_of_one(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    plan = tidemark("audit", _LOST, "--plan")
    assert plan.code == HEALTHY
    lines = plan.out.splitlines()
    assert len(lines) > 2
    parts = []
    for number, line in enumerate(lines):
        task = tmp_path / f"task{number}"
        task.write_text(line + "\n")
        run = tidemark("audit", "--tasks", task)
        assert run.code in (HEALTHY, BREACH)
        parts.append(tmp_path / f"part{number}")
        parts[-1].write_text(run.out)
    merged = tidemark("audit", "--format", "json", "--merge", *reversed(parts))
    whole = tidemark("audit", _LOST, "--format", "json")
    assert merged.code == whole.code == BREACH
    reports = [json.loads(run.out) for run in (merged, whole)]
    for report in reports:
        for measured in ("seconds", "bytes_read"):
            del report["summary"][measured]
    assert reports[0] == reports[1]


def test_a_missing_part_is_not_a_whole_audit(tidemark: Program, tmp_path: pathlib.Path) -> None:
    plan = tidemark("audit", _RIGHT, "--plan").out.splitlines()
    task = tmp_path / "task"
    task.write_text("\n".join(plan[1:]) + "\n")
    part = tmp_path / "part"
    part.write_text(tidemark("audit", "--tasks", task).out)
    merged = tidemark("audit", "--merge", part)
    assert merged.code == UNKNOWN
    assert "not complete" in merged.out
    part.write_text(part.read_text()[:-20])
    assert tidemark("audit", "--merge", part).code == USAGE


@pytest.mark.parametrize("table", [_LOST, _BOTH_WAYS], ids=["lost", "lost and resurrected"])
def test_the_repair_plan_makes_the_readers_rows_the_right_ones(
    table: pathlib.Path, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    plan = tmp_path / "repair.parquet"
    run = tidemark("audit", table, "--profile", "hudi-0.14", "--repair-plan", plan, "--format", "json")
    assert run.code == BREACH
    found = pyarrow.parquet.read_table(plan)
    assert {field.name: str(field.type) for field in found.schema} == {
        **{"id": "int64", "name": "string", "weight": "decimal128(7, 2)", "ts": "string", "ev": "string"},
        **dict.fromkeys(("_hoodie_record_key", "_hoodie_partition_path", "_hoodie_operation"), "string"),
    }
    fixture = json.loads((table.parent / "fixture.json").read_text())
    # What Flink's reader returned, repaired by hand as docs/audit.md says.
    rows = {int(row["id"]): (row["ts"], row["ev"]) for row in fixture["flinkSnapshot"]}
    for row in found.to_pylist():
        key = row["id"]
        assert row["_hoodie_record_key"] == str(key)
        assert row["name"] == f"n{key}"
        assert row["weight"] == key + decimal.Decimal(row["ev"][1:]) / 100
        if row["_hoodie_operation"] == "U":
            assert rows.get(key) != (row["ts"], row["ev"])
            rows[key] = (row["ts"], row["ev"])
        else:
            assert row["_hoodie_operation"] == "D"
            assert rows.pop(key) == (row["ts"], row["ev"])
    assert rows == {row["id"]: (row["ts"], row["ev"]) for row in fixture["expectedEventTime"]}


@pytest.mark.parametrize(
    "words",
    [
        ("audit",),
        ("audit", _LOST, "--plan", "--tasks", "-"),
        ("audit", _LOST, "--merge", "x"),
        ("audit", _LOST, "--profile", "event-time"),
        ("audit", _LOST, "--profile", "hudi-9"),
        ("audit", _LOST, "--memory-limit", "much"),
        ("audit", _LOST, "--as-of", ""),
        ("audit", _LOST, "--repair-plan", ""),
        ("audit", "--tasks", ""),
    ],
    ids=lambda words: " ".join(str(word) for word in words[1:] if word != _LOST) or "no table",
)
def test_wrong_words_are_refused(words: tuple, tidemark: Program) -> None:
    assert tidemark(*words).code == USAGE
