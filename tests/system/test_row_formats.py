"""Rows of every type as Parquet and Arrow, read back by pyarrow, which also wrote the base file that they come from."""

from __future__ import annotations

import base64
import json
import pathlib

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

from program import BREACH, HEALTHY, Program

_TESTDATA = pathlib.Path(__file__).resolve().parents[2] / "testdata"
_INSTANT = "20260101000000000"
_FILE = f"f0000000-0_0-1-0_{_INSTANT}.parquet"


def _never_null(kind: pyarrow.DataType) -> pyarrow.Field:
    return pyarrow.field("item", kind, nullable=False)


# Where the Avro schema forbids nulls that the base file's columns allow.
_PAIR = pyarrow.struct([pyarrow.field("k", pyarrow.string(), False), ("v", pyarrow.int64())])
_TEXTS = pyarrow.list_(_never_null(pyarrow.string()))
_NARROWER = {
    "ls": pyarrow.list_(_never_null(_PAIR)),
    "mm": pyarrow.map_(pyarrow.string(), _never_null(_TEXTS)),
}


@pytest.fixture(scope="module")
def written() -> pyarrow.Table:
    """150 rows of 26 columns: nulls, ends of ranges, decimals of three widths, times of three precisions, nested."""
    return pyarrow.parquet.read_table(_TESTDATA / "rows/types_plain.parquet")


@pytest.fixture(scope="module")
def table(written: pyarrow.Table, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy-on-write table whose only base file holds those rows."""
    folder = tmp_path_factory.mktemp("types")
    meta = folder / ".hoodie"
    meta.mkdir()
    (meta / "hoodie.properties").write_text(
        "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
        "hoodie.timeline.layout.version=1\nhoodie.table.recordkey.fields=i\nhoodie.archivelog.folder=archived\n"
    )
    schema = (_TESTDATA / "rows/types.avsc").read_text()
    stat = {"fileId": "f0000000-0", "path": _FILE, "prevCommit": "null", "partitionPath": ""}
    commit = {
        "partitionToWriteStats": {"": [stat]},
        "compacted": False,
        "extraMetadata": {"schema": schema},
        "operationType": "INSERT",
    }
    (meta / f"{_INSTANT}.commit.requested").write_bytes(b"")
    (meta / f"{_INSTANT}.inflight").write_bytes(b"")
    (meta / f"{_INSTANT}.commit").write_text(json.dumps(commit))
    (folder / ".hoodie_partition_metadata").write_text(f"commitTime={_INSTANT}\npartitionDepth=0\n")
    keys = [str(number) for number in range(written.num_rows)]
    of_hudi = {
        "_hoodie_commit_time": [_INSTANT] * len(keys),
        "_hoodie_commit_seqno": [f"{_INSTANT}_0_{key}" for key in keys],
        "_hoodie_record_key": keys,
        "_hoodie_partition_path": [""] * len(keys),
        "_hoodie_file_name": [_FILE] * len(keys),
    }
    columns = {**of_hudi, **{name: written.column(name) for name in written.column_names}}
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / _FILE, compression="zstd")
    return folder


def _read(tidemark: Program, table: pathlib.Path, form: str, output: pathlib.Path, *more: str) -> pyarrow.Table:
    run = tidemark("read", table, "--format", form, "--output", output, *more)
    assert run.code in (HEALTHY, BREACH), run
    if form == "parquet":
        return pyarrow.parquet.read_table(output)
    with pyarrow.ipc.open_stream(output) as batches:
        return batches.read_all()


def _bits(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Floating numbers as their bytes: not a number equals itself, and zero is not minus zero."""
    integer = pyarrow.int32() if column.type == pyarrow.float32() else pyarrow.int64()
    return pyarrow.chunked_array([chunk.view(integer) for chunk in column.chunks], integer)


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_every_value_of_every_type_comes_back(
    tidemark: Program, table: pathlib.Path, written: pyarrow.Table, tmp_path: pathlib.Path, form: str
) -> None:
    ours = _read(tidemark, table, form, tmp_path / "rows")
    assert ours.column_names == written.column_names
    for name in written.column_names:
        found, wanted = ours.column(name), written.column(name)
        if name in _NARROWER:
            wanted = wanted.cast(_NARROWER[name])
        assert found.type == wanted.type, name
        if pyarrow.types.is_floating(wanted.type):
            found, wanted = _bits(found), _bits(wanted)
        assert found.combine_chunks().equals(wanted.combine_chunks()), name


def test_json_has_the_same_values(tidemark: Program, table: pathlib.Path) -> None:
    known = (_TESTDATA / "rows/types.jsonl").read_text().splitlines()
    run = tidemark("read", table)
    assert run.code == HEALTHY
    assert [json.loads(line) for line in run.out.splitlines()] == [json.loads(line) for line in known]


def _json_of(value: object, kind: pyarrow.DataType) -> object:
    """A value that pyarrow read as docs/reading.md has it in JSON."""
    if value is None:
        return None
    if pyarrow.types.is_timestamp(kind):
        digits = {"ms": "milliseconds", "us": "microseconds"}[kind.unit]
        return value.replace(tzinfo=None).isoformat(timespec=digits) + ("Z" if kind.tz else "")
    if pyarrow.types.is_date(kind):
        return value.isoformat()
    if pyarrow.types.is_decimal(kind):
        return f"{value:f}"
    if pyarrow.types.is_binary(kind):
        return base64.b64encode(value).decode()
    if pyarrow.types.is_struct(kind):
        return {field.name: _json_of(value[field.name], field.type) for field in kind}
    if pyarrow.types.is_map(kind):
        return {key: _json_of(each, kind.item_type) for key, each in value}
    if pyarrow.types.is_list(kind):
        return [_json_of(each, kind.value_type) for each in value]
    return value


# Merged of base files and logs, each with another type of ordering value or another shape.
_MERGED = (
    "types_wide merge_string_eventtime_loglog merge_decimal_eventtime_loglog merge_date_eventtime_baselog "
    "merge_timestamp_eventtime_baselog merge_int_eventtime_baselog f014_ts3_sep_d f014_ts6_sep_d "
    "f014_decimal_compact_d b_evolve_v9 b_nullord_loglog_v9 multi_partition_hive schema_evolution "
    "b2_payload_partialupdate_v9"
).split()


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize("name", _MERGED)
def test_rows_of_merged_tables_are_those_of_the_json_output(
    tidemark: Program, tmp_path: pathlib.Path, name: str, form: str
) -> None:
    stored = _TESTDATA / "hudi/rows" / name / "table"
    ours = _read(tidemark, stored, form, tmp_path / "rows", "--meta")
    found = [
        {field.name: _json_of(row[field.name], field.type) for field in ours.schema} for row in ours.to_pylist()
    ]
    in_json = [json.loads(line) for line in tidemark("read", stored, "--meta").out.splitlines()]
    assert found == in_json
    assert found
