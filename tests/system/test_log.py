"""`log` on log files that real writers left, whole and damaged."""

from __future__ import annotations

import pathlib

import pytest

from program import BREACH, HEALTHY, UNREADABLE, USAGE, Program

_LOGS = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi/logs"
_TABLES = _LOGS.parent / "tables"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("intact.log", HEALTHY),
        ("truncated_zero.log", HEALTHY),
        ("parquet_and_delete.log", HEALTHY),
        ("cdc.log", HEALTHY),
        ("archive.log", HEALTHY),
        ("truncated_magic.log", BREACH),
        ("truncated_content.log", BREACH),
        ("truncated_midfile.log", BREACH),
        ("README.md", UNREADABLE),
        ("none.log", UNREADABLE),
    ],
)
def test_the_exit_code_says_whether_the_file_is_sound(
    name: str, code: int, tidemark: Program
) -> None:
    assert tidemark("log", _LOGS / name).code == code
    assert tidemark("log", _LOGS / name, "--format", "json").code == code


def test_json_accounts_for_every_byte(tidemark: Program) -> None:
    for path in sorted(_LOGS.glob("*.log")):
        shown = tidemark("log", path, "--format", "json").json
        assert shown["schema"] == "tidemark.log/1"
        assert shown["size"] == path.stat().st_size
        end = 0
        for entry in shown["entries"]:
            assert entry["offset"] == end
            end += entry["size"]
        assert end == shown["size"]


def test_deletes_of_several_ordering_fields_are_shown_with_their_types(tidemark: Program) -> None:
    (path,) = (_TABLES / "b_multiord_v9/table/p1").glob(".*_20261130025053313.log.1_*")
    shown = tidemark("log", path, "--format", "json").json
    assert shown["name"]["instant"] == "20261130025053313"
    deletes = shown["entries"][1]["deletes"]
    # The events of the story: d is deleted at (2, b), e at (1, z).
    assert {each["key"]: each["ordering"] for each in deletes} == {"d": "[2, b]", "e": "[1, z]"}
    assert {each["ordering_type"] for each in deletes} == {
        "ArrayWrapper[LongWrapper, StringWrapper]"
    }
    table = tidemark("log", path)
    assert "delete key=e partition=p1 ordering=[1, z]" in table.out


def test_a_folder_is_no_file(tidemark: Program) -> None:
    assert tidemark("log", f"{_LOGS}/").code == USAGE
