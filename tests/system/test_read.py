"""`read`: what comes out of the program, and what is left behind when it does not end well."""

from __future__ import annotations

import csv
import io
import json
import os
import pathlib
import shutil
import signal

import pyarrow.parquet
import pytest

from program import BREACH, HEALTHY, UNREACHABLE, UNREADABLE, USAGE, Program
from waiting import wait_until

_HUDI = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi"
_STRING = _HUDI / "rows/merge_string_eventtime_loglog/table"
_WIDE = _HUDI / "rows/types_wide/table"
_TORN = _HUDI / "rows/truncated_log_content/table"


def rows(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_rows_are_those_of_event_time_unless_a_release_is_asked_for(tidemark: Program) -> None:
    right = tidemark("read", _STRING)
    assert right.code == HEALTHY
    assert right.err == ""
    shown = tidemark("read", _STRING, "--profile", "hudi-0.14")
    keys = {row["id"] for row in rows(right.out)}
    # Lost by release 0.14, as its own reader showed.
    assert keys - {row["id"] for row in rows(shown.out)} == {"I1U3D2", "U3I1D2"}


def test_two_runs_give_the_same_bytes(tidemark: Program) -> None:
    table = _HUDI / "rows/f014_string_compact_d/table"
    runs = [
        tidemark("read", table, "--history", "--threads", threads) for threads in ("1", "4", "4")
    ]
    assert runs[0].out
    assert len({run.out for run in runs}) == 1


def test_values_have_the_forms_of_the_contract(tidemark: Program) -> None:
    (row,) = [row for row in rows(tidemark("read", _WIDE).out) if row["id"] == "b"]
    assert row["c_bool"] is True
    assert row["c_int"] == -5
    assert row["c_dec"] == "-12345678901234567890.0123456789"
    assert row["c_date"] == "1969-07-20"
    assert row["c_ts"] == "2025-06-01T01:02:03.456789Z"
    assert row["c_bin"] == "AP8="
    assert row["c_arr"] == ["a", "b"]
    assert row["c_map"] == {"k": 1}
    assert row["c_st"] == {"x": 1, "y": "y"}


def test_csv_has_a_header_and_the_same_rows(tidemark: Program) -> None:
    text = tidemark("read", _STRING, "--columns", "id,val", "--format", "csv").out
    read = list(csv.DictReader(io.StringIO(text)))
    assert read == [
        {"id": row["id"], "val": row["val"]}
        for row in rows(tidemark("read", _STRING, "--columns", "id,val").out)
    ]
    assert read


def test_columns_come_in_the_order_asked_for(tidemark: Program) -> None:
    row = rows(tidemark("read", _STRING, "--columns", "val,_hoodie_record_key,id").out)[0]
    assert list(row) == ["val", "_hoodie_record_key", "id"]


def test_meta_columns_come_first(tidemark: Program) -> None:
    row = rows(tidemark("read", _STRING, "--meta").out)[0]
    assert list(row)[:5] == [
        "_hoodie_commit_time",
        "_hoodie_commit_seqno",
        "_hoodie_record_key",
        "_hoodie_partition_path",
        "_hoodie_file_name",
    ]


def test_a_partition_can_be_chosen(tidemark: Program) -> None:
    table = _HUDI / "rows/multi_partition_hive/table"
    every = rows(tidemark("read", table).out)
    chosen = rows(tidemark("read", table, "--where-partition", "part=2025-01-01").out)
    assert chosen == [row for row in every if row["part"] == "2025-01-01"]
    assert 0 < len(chosen) < len(every)
    none = tidemark("read", table, "--where-partition", "part=1999-*")
    assert (none.code, none.out) == (HEALTHY, "")


def test_the_table_can_be_read_as_of_an_instant(tidemark: Program) -> None:
    instants = sorted(
        path.name.split(".")[0]
        for path in (_STRING / ".hoodie").glob("*.deltacommit")
    )
    counts = [
        len(rows(tidemark("read", _STRING, "--as-of", instant).out)) for instant in instants
    ]
    assert counts[0] == 1  # the seed that made the base file
    assert counts[-1] == len(rows(tidemark("read", _STRING).out))


@pytest.mark.parametrize(
    ("table", "gone", "readable_from", "clean"),
    [
        # Archived, as the clean that removed its files may be.
        (
            "rows/f014_x_compact2_clean",
            "20261130033512107",
            "20261130033535686",
            "20261130033526297",
        ),
        (
            "tables/a08_archived_cow_v9",
            "20261130021138479",
            "20261130022514821",
            "20261130021436339",
        ),
        # Replaced, then cleaned.
        (
            "tables/timeline_story_mor",
            "20261130023413526",
            "20261130023445603",
            "20261130023703942",
        ),
    ],
)
def test_an_instant_whose_files_were_cleaned_is_refused(
    table: str, gone: str, readable_from: str, clean: str, tidemark: Program
) -> None:
    path = _HUDI / table / "table"
    run = tidemark("read", path, "--as-of", gone)
    assert run.code == UNREADABLE
    assert run.out == ""
    for said in (f"as_of={gone}", f"readable_from={readable_from}", f"clean={clean}"):
        assert said in run.err
    run = tidemark("read", path, "--as-of", readable_from)
    assert run.code == HEALTHY
    assert run.out
    assert tidemark("audit", path, "--as-of", gone).code == UNREADABLE


def test_columns_that_the_files_lack_come_from_the_folders(tidemark: Program) -> None:
    table = _HUDI / "rows/drop_two_0140/table"
    run = tidemark("read", table, "--columns", "day,k,region", "--where-partition", "north/*")
    assert run.code == HEALTHY
    shown = rows(run.out)
    assert {row["k"] for row in shown} == {"alone 0", "newer 0", "late 0"}
    assert {(row["region"], row["day"]) for row in shown} == {("north", "7")}
    # As the real reader of the release that wrote it: null in rows from logs.
    run = tidemark("read", table, "--columns", "k,region", "--profile", "hudi-0.14")
    assert {row["k"]: row["region"] for row in rows(run.out)}["newer 0"] is None
    assert "config_dropped_columns" in tidemark("audit", table).out


def test_half_an_answer_does_not_look_whole(tidemark: Program) -> None:
    run = tidemark("read", _TORN)
    assert run.code == BREACH
    assert rows(run.out)
    assert "torn_tail: p1/." in run.err


@pytest.mark.parametrize("name", ["*.parquet", ".*.log.2_*"])
@pytest.mark.parametrize("damage", ["removed", "empty", "folder"])
def test_a_file_that_a_commit_wrote_and_that_is_gone_is_said(
    name: str, damage: str, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = tmp_path / "table"
    shutil.copytree(_STRING, table)
    (file,) = (table / "p1").glob(name)
    file.unlink()
    if damage == "empty":
        file.touch()
    elif damage == "folder":
        file.mkdir()
    run = tidemark("read", table)
    assert run.code in (BREACH, UNREADABLE)
    assert file.name in run.err
    audit = tidemark("audit", table)
    assert audit.code == BREACH
    assert ("wrong_size" if damage == "empty" else "missing_file") in audit.out


def test_a_memory_limit_gives_all_rows_or_names_the_block_that_is_over_it(
    tidemark: Program,
) -> None:
    whole = tidemark("read", _STRING)
    little = tidemark("read", _STRING, "--memory-limit", "8KiB")
    assert little.code == HEALTHY
    assert sorted(little.out.splitlines()) == sorted(whole.out.splitlines())
    # Its first block has 2,041 bytes.
    less = tidemark("read", _STRING, "--memory-limit", "1KiB")
    assert less.code == UNREADABLE
    assert "over the memory limit" in less.err
    assert ".log.1_0-22-16 block=0 bytes=2041 limit=1024" in less.err


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"", "empty_commit"), (b"{}", "empty_commit"), (b"Obj\x01", "unreadable_commit")],
)
def test_a_commit_that_does_not_tell_what_it_wrote_may_have_lost_it(
    body: bytes, kind: str, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = tmp_path / "table"
    shutil.copytree(_STRING, table)
    commit = sorted((table / ".hoodie").glob("*.deltacommit"))[0]
    commit.write_bytes(body)
    run = tidemark("read", table)
    assert run.code == BREACH
    assert f"{kind}: .hoodie/{commit.name}" in run.err
    audit = tidemark("audit", table, "--format", "json")
    assert audit.code == BREACH
    (finding,) = [each for each in audit.json["findings"] if "commit" in each["kind"]]
    assert (finding["kind"], finding["severity"]) == (kind, "error")


def test_a_partition_that_is_a_link_to_another_is_said(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = tmp_path / "table"
    shutil.copytree(_STRING, table)
    (table / "p2").symlink_to("p1", target_is_directory=True)
    run = tidemark("read", table)
    assert run.code == BREACH
    assert "repeated_partition: p2: " in run.err


def test_a_base_file_that_counts_its_rows_wrong_is_named(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = tmp_path / "table"
    shutil.copytree(_WIDE, table)
    file = next(path for path in sorted(table.rglob("*.parquet")) if ".hoodie" not in path.parts)
    bytes_ = bytearray(file.read_bytes())
    footer = len(bytes_) - 8 - int.from_bytes(bytes_[-8:-4], "little")
    rows_of_file = pyarrow.parquet.read_metadata(file).num_rows
    # The first long in the footer is the number of rows, as Thrift's compact protocol has it.
    at = bytes_.index(bytes([0x16, 2 * rows_of_file]), footer) + 1
    bytes_[at] += 2
    file.write_bytes(bytes_)
    run = tidemark("read", table)
    assert run.code == UNREADABLE
    assert f"file={file.relative_to(table)}" in run.err
    assert "differ in their number of rows" in run.err
    audit = tidemark("audit", table, "--format", "json")
    assert audit.code == BREACH
    (finding,) = [each for each in audit.json["findings"] if each["kind"] == "corrupt_file"]
    assert finding["severity"] == "error"
    assert finding["evidence"][0]["file"] == str(file.relative_to(table))
    assert not audit.json["summary"]["complete"]


@pytest.mark.parametrize("output", ["base", "p1/rows", "new"])
def test_nothing_is_written_into_the_table(
    output: str, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    table = tmp_path / "table"
    shutil.copytree(_STRING, table)
    (base,) = (table / "p1").glob("*.parquet")
    before = base.read_bytes()
    target = base if output == "base" else table / output
    for words in (("read", table, "--output", target), ("audit", table, "--repair-plan", target)):
        run = tidemark(*words)
        assert (run.code, run.out) == (USAGE, "")
        assert "the output lies in the table" in run.err
    assert base.read_bytes() == before
    assert target.exists() == (output == "base")


def test_before_the_first_commit_there_is_no_table(tidemark: Program) -> None:
    for words in ((), ("--history",)):
        run = tidemark("read", _STRING, "--as-of", "20200101000000000", *words)
        assert (run.code, run.out) == (USAGE, "")
        assert "no commit up to this instant" in run.err


def test_a_partition_that_is_not_there_is_said(tidemark: Program) -> None:
    run = tidemark("read", _STRING, "--where-partition", "p9")
    assert (run.code, run.out) == (HEALTHY, "")
    assert "no partition of the table matches" in run.err


def test_a_reader_that_throws_is_no_empty_table(tidemark: Program) -> None:
    run = tidemark("read", _HUDI / "rows/b_loglog_decimal_event_v8/table", "--profile", "hudi-1.0.2")
    assert run.code == BREACH
    assert "reader_fails" in run.err


@pytest.mark.parametrize("engine", ["flink", "spark"])
def test_a_changelog_table_is_read_as_the_engine_shows_it(
    engine: str, tidemark: Program
) -> None:
    fixture = _HUDI / "rows/f014_x_changelog"
    shown = json.loads((fixture / "fixture.json").read_text())[f"{engine}Snapshot"]
    run = tidemark("read", fixture / "table", "--profile", "hudi-0.14", "--engine", engine)
    assert run.code == HEALTHY
    assert len(shown) == {"flink": 3, "spark": 5}[engine]
    keys = ("id", "ev")
    read = sorted(tuple(str(row[key]) for key in keys) for row in rows(run.out))
    assert read == sorted(tuple(str(row[key]) for key in keys) for row in shown)


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet", "arrow"])
def test_an_output_file_is_whole_or_not_there(
    form: str, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    output = tmp_path / "rows"
    run = tidemark("read", _STRING, "--format", form, "--output", output)
    assert (run.code, run.out) == (HEALTHY, "")
    assert output.stat().st_size > 0
    assert list(tmp_path.iterdir()) == [output]


def test_a_run_that_fails_leaves_the_old_file(tidemark: Program, tmp_path: pathlib.Path) -> None:
    output = tmp_path / "rows"
    output.write_text("before")
    run = tidemark("read", tmp_path / "nowhere", "--output", output)
    assert run.code == UNREADABLE
    assert output.read_text() == "before"
    assert list(tmp_path.iterdir()) == [output]


def test_an_output_that_cannot_be_written_is_said(tidemark: Program, tmp_path: pathlib.Path) -> None:
    run = tidemark("read", _STRING, "--output", tmp_path / "no" / "folder")
    assert run.code == UNREACHABLE
    assert "output cannot be created" in run.err


@pytest.mark.parametrize(
    "words",
    [
        ("--columns", "nope"),
        ("--profile", "hudi-9"),
        ("--history", "--profile", "hudi-0.14"),
        ("--as-of", "yesterday"),
        ("--memory-limit", "plenty"),
        ("--format", "xml"),
        ("--columns", ""),
        ("--where-partition", ""),
        ("--as-of", ""),
        ("--output", ""),
    ],
    ids=" ".join,
)
def test_wrong_words_are_refused(words: tuple[str, ...], tidemark: Program) -> None:
    run = tidemark("read", _STRING, *words)
    assert (run.code, run.out) == (USAGE, "")
    assert run.err


def test_a_reader_that_goes_away_is_no_failure(tidemark: Program) -> None:
    read = tidemark.start("read", _STRING)
    assert read.stdout is not None
    read.stdout.close()
    assert read.wait(60) == HEALTHY


def test_ctrl_c_leaves_nothing_half_written(tidemark: Program, tmp_path: pathlib.Path) -> None:
    # Large enough to be stopped in the middle: the same log as many file groups.
    table = tmp_path / "table"
    shutil.copytree(_STRING, table)
    log = next((table / "p1").glob(".*.log.1_*"))
    group = log.name[1:].split("_")[0]
    for number in range(1, 5000):
        copy = log.name.replace(group, f"{number:08}-{group[9:]}")
        os.link(log, log.parent / copy)
    output = tmp_path / "out"
    output.mkdir()
    read = tidemark.start("read", table, "--output", output / "rows")
    wait_until(lambda: any(output.iterdir()) or read.poll() is not None, "an output", 30, 0.005)
    read.send_signal(signal.SIGINT)
    code = read.wait(60)
    assert code in (130, HEALTHY)
    if code == 130:
        assert list(output.iterdir()) == []
    else:  # it was done before the signal came
        assert [path.name for path in output.iterdir()] == ["rows"]
