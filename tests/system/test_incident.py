"""The incident at scale: a quarter of the table, with what Hudi 0.14's readers returned of it and the truth.

Expected is what the events say and what Flink and Spark showed (testdata/hudi/incident/README.md), row by row.
"""

from __future__ import annotations

import json
import lzma
import pathlib
import re
import shutil

import pytest

from program import BREACH, HEALTHY, Program

_INCIDENT = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi/incident"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Its log files are stored compressed."""
    folder = tmp_path_factory.mktemp("incident") / "table"
    shutil.copytree(_INCIDENT / "table", folder, ignore=shutil.ignore_patterns("*.xz"))
    for packed in (_INCIDENT / "table").glob(".*.xz"):
        (folder / packed.name.removesuffix(".xz")).write_bytes(lzma.decompress(packed.read_bytes()))
    return folder


@pytest.fixture(scope="module")
def expected() -> tuple[dict[str, str], dict[str, str]]:
    """The right rows and those that the release shows: key -> ordering value."""
    text = lzma.decompress((_INCIDENT / "expected.tsv.xz").read_bytes()).decode()
    lines = [line.split("\t") for line in text.splitlines()[1:]]
    right = {key: ordering for key, ordering, _ in lines if ordering}
    shown = {key: ordering for key, _, ordering in lines if ordering}
    # All of the table: 176,278 and 153,252.
    assert (len(right), len(shown)) == (44055, 38300)
    return right, shown


def _read(tidemark: Program, table: pathlib.Path, profile: str) -> dict[str, str]:
    run = tidemark("read", table, "--profile", profile, "--columns", "id,ts", "--format", "csv")
    # One bucket of four is stored: the commits name the files of the others too, and they are missed.
    assert run.code == BREACH, run.err
    *findings, summary = run.err.splitlines()
    assert summary == f"tidemark: rows may be missing or wrong, damages={len(findings)}"
    for line in findings:
        assert re.search(r"missing_file: \.0000000[1-3]-", line), line
    lines = run.out.splitlines()[1:]
    rows = dict(line.split(",") for line in lines)
    assert len(rows) == len(lines)
    return rows


def test_the_releases_profile_shows_exactly_what_its_readers_showed(
    tidemark: Program, table: pathlib.Path, expected: tuple
) -> None:
    assert _read(tidemark, table, "hudi-0.14") == expected[1]


def test_event_time_gives_exactly_the_truth(
    tidemark: Program, table: pathlib.Path, expected: tuple
) -> None:
    assert _read(tidemark, table, "event-time") == expected[0]


def test_the_audit_finds_each_wrong_row_and_no_other(
    tidemark: Program, table: pathlib.Path, expected: tuple
) -> None:
    right, shown = expected
    kinds = {key: "lost_row" for key in right.keys() - shown.keys()}
    kinds |= {key: "resurrected_row" for key in shown.keys() - right.keys()}
    kinds |= {key: "stale_row" for key in right.keys() & shown.keys() if right[key] != shown[key]}
    run = tidemark("audit", table, "--profile", "hudi-0.14", "--format", "json", "--limit", "0")
    assert run.code == BREACH
    found = {}
    for finding in json.loads(run.out)["findings"]:
        if finding["kind"] not in ("lost_row", "stale_row", "resurrected_row"):
            continue
        key = finding["record_key"]
        found[key] = finding["kind"]
        assert finding["evidence"] and all((table / each["file"]).is_file() for each in finding["evidence"])
        if key in right:
            assert finding["expected"]["ordering"] == right[key]
    assert found == kinds
