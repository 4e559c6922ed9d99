"""A second witness: hudi-rs, a reader by other people, over every stored table.

`read` under the profile of the release that wrote a table gives the rows that hudi-rs gives, or the difference is
listed below with its reason. A listed table that no longer differs fails, too.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import pathlib

import pyarrow
import pyarrow.ipc
import pytest
from hudi import HudiTableBuilder

from program import BREACH, HEALTHY, Program

_HUDI = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi"
# Where a row lies may differ: both readers name the file, and only the ones that merge name the log.
_OF_THE_FILE = {"_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_file_name", "_hoodie_operation"}

Rows = collections.Counter  # of a row as JSON


@dataclasses.dataclass(frozen=True)
class Difference:
    """What hudi-rs gives instead: the rows of another profile, other rows of some keys, or an error."""

    reason: str
    profile: str = ""
    lacks: frozenset[str] = frozenset()  # keys of rows that only the release shows
    adds: frozenset[str] = frozenset()  # keys of rows that only hudi-rs shows
    refuses: str = ""


_RULES_OF_1_1 = Difference(
    "the release that wrote the table loses rows or brings them back where 1.1 does not (docs/merge-rules.md); "
    "hudi-rs has the rules of 1.1",
    profile="hudi-1.1",
)
_RULES_FOR_DATES = Difference(
    "neither 0.14 nor 1.1 can compare the date of a delete with that of a row; hudi-rs can",
    profile="event-time",
)
_ROLLED_BACK = Difference(
    "0.14 does not show a commit whose own rollback of an older one has a later instant, until the next commit; "
    "hudi-rs, as 1.1, does",
    profile="hudi-1.1",
)
_NULL_IS_ZERO = "hudi-rs takes an ordering value of null as 0 where the release lets the delete win"
_CHANGELOG = Difference(
    "hudi-rs shows changelog records of deletes (_hoodie_operation D) as rows, as Spark's reader does",
    adds=frozenset({"2", "3"}),
)

_BY_THE_RULES_OF_1_1 = """
b_base0log_string_event_v8 b_baselog_string_event_v8 b_loglog_decimal_event_v8 b_loglog_string_event_v8
f014_bigint_sep_d f014_bigint_sep_flag f014_decimal_oneflush_d f014_decimal_sep_flag f014_int_sep_d
f014_string_oneflush_d f014_string_oneflush_flag f014_string_sep_d f014_string_sep_flag f014_ts3_sep_d f014_ts6_sep_d
f014_x_bug17642 f014_x_bug17642_oneflush f014_x_default_payload f014_x_hive_part f014_x_kafka f014_x_mdt
f014_x_natural_end f014_x_owla f014_x_recommit f014_x_rollback f014_x_state_string
merge_decimal_eventtime_loglog merge_int_eventtime_baselog merge_int_eventtime_loglog merge_long_default_loglog
merge_long_eventtime_baselog merge_long_eventtime_loglog merge_long_eventtime_lognobase merge_long_overwrite_baselog
merge_long_overwrite_loglog merge_string_default_baselog merge_string_eventtime_baselog merge_string_eventtime_loglog
merge_string_eventtime_lognobase merge_timestamp_eventtime_baselog merge_timestamp_eventtime_loglog
neg_decimal_loglog ties_across_commits v015_merge_long_eventtime_baselog v015_merge_long_eventtime_loglog
v015_merge_string_eventtime_baselog v015_merge_string_eventtime_loglog
""".split()

_OPERATION = "hudi-rs shows base rows whose operation is a delete's (D, -U), which the release's rows do not have"
_UNAVAILABLE = frozenset({"B1U2x", "B1U2xU3x", "B1U3xU2", "B3xU2", "I1U2x", "I2xU1"})
_PAYLOAD = "hudi-rs has no payload classes and refuses a table that names one"
_OF_A_PAYLOAD_FROM_1_0_ON = """
cols_flagged_102 cols_widened_102 pay_dms_101 pay_dms_102 pay_eventtime_101 pay_first_102 pay_mysql_101
pay_mysql_102 pay_mysql_111_v8 pay_nondefaults_102 pay_partial_101 pay_partial_102 pay_partial_111_v8
pay_postgres_101 pay_postgres_102 pay_postgres_111_v8
""".split()
_OF_A_PAYLOAD_BEFORE = """
cols_nullbase_mysql_0140 cols_nullbase_postgres_0140 pay_dms_0140 pay_dms_0140_kept pay_mysql_0140
pay_nondefaults_0140 pay_partial_0140 pay_partial_decimal_0140 pay_postgres_0140
""".split()
_WIDENED = Difference("hudi-rs cannot read a float under a column that is double now", refuses="expects Float64")

_WITHOUT_PARTITION_COLUMNS = """
drop_cow_0140 drop_cow_102 drop_cow_111 drop_encoded_0140 drop_plain_0140 drop_sql_int_0140 drop_sql_int_102
drop_sql_int_111 drop_timekeys_0140 drop_two_0140
""".split()


def _renamed(*keys: str) -> Difference:
    reason = "hudi-rs looks for renamed columns under their new name in files that have the old one"
    return Difference(reason, lacks=frozenset(keys), adds=frozenset(keys))


DIFFERENCES = {
    **dict.fromkeys(
        _WITHOUT_PARTITION_COLUMNS,
        Difference("hudi-rs refuses files without partition columns", refuses="drop.partition.columns"),
    ),
    **dict.fromkeys(("rename_cow_0140", "rename_cow_102"), _renamed("other part")),
    **dict.fromkeys(
        ("rename_mor_0140", "rename_mor_102"),
        _renamed("alone", "oldlog", "newlog", "late", "insert", "other part"),
    ),
    **dict.fromkeys(("rename_nested_mor_0140", "rename_nested_mor_111"), _renamed("alone")),
    "rename_nested_mor_102": _renamed("alone", "oldlog"),  # the latter is null in 1.0.2's own rows
    **dict.fromkeys(_BY_THE_RULES_OF_1_1, _RULES_OF_1_1),
    **dict.fromkeys(_OF_A_PAYLOAD_FROM_1_0_ON, Difference(_PAYLOAD, refuses="CUSTOM record merge mode")),
    **dict.fromkeys(_OF_A_PAYLOAD_BEFORE, Difference(_PAYLOAD, refuses="merges with a merger of its own")),
    "cols_flagged_0140": _RULES_OF_1_1,
    "pay_default_101": _RULES_OF_1_1,
    "cols_widened_0140": _WIDENED,
    "cols_widened_111": _WIDENED,
    "cols_nullbase_postgres_111": Difference(_NULL_IS_ZERO, adds=frozenset({"upsert"})),
    "cols_operation_0140_base": Difference(_OPERATION, adds=frozenset({"D then I", "D3 then I2", "base D"})),
    "cols_operation_111_base": Difference(
        _OPERATION, adds=frozenset({"D then I", "D3 then I2", "base -U", "base D"})
    ),
    "pay_mysql_111": Difference("several ordering fields", refuses="Multiple ordering fields"),
    "pay_postgres_111": Difference(
        "hudi-rs shows the unavailable value of Debezium where the release fills in the one before",
        lacks=_UNAVAILABLE,
        adds=_UNAVAILABLE,
    ),
    "f014_date_oneflush_d": _RULES_FOR_DATES,
    "f014_date_sep_d": _RULES_FOR_DATES,
    "merge_date_eventtime_baselog": _RULES_FOR_DATES,
    "merge_date_eventtime_loglog": _RULES_FOR_DATES,
    "failed_deltacommit_rolled_back": _ROLLED_BACK,
    "f014_x_changelog": _CHANGELOG,
    "f111_x_changelog": _CHANGELOG,
    "b_nullord_baselog_v9": Difference(_NULL_IS_ZERO, adds=frozenset("abd")),
    "b_nullord_loglog_v9": Difference(_NULL_IS_ZERO, adds=frozenset("abd")),
    "b_multiord_v9": Difference("several ordering fields", refuses="Multiple ordering fields"),
    "f111_x_precombine_string": Difference(
        "some deletes of a block have a string, some the integer that stands for none",
        refuses="Delete block mixes ordering types",
    ),
    "f014_x_compact_pending": Difference(
        "hudi-rs passes over logs written since a compaction was planned (their base instant is the plan's); as for "
        "the others it has the rules of 1.1",
        lacks=frozenset({"2", "4", "5", "8", "10", "11", "12"}),
        adds=frozenset({"1", "3", "4", "7", "9"}),
    ),
    "f111_x_mdt": Difference(
        "hudi-rs takes the files from Flink's metadata table and finds none (it reads the rows when the table is said "
        "to have no metadata table)",
        lacks=frozenset("123456"),
    ),
}


def _profile(fixture: dict) -> str:
    release = fixture["writer"]["hudi"]
    known = {"0.14": "hudi-0.14", "0.15": "hudi-0.15", "1.0.1": "hudi-1.0.0", "1.0.2": "hudi-1.0.2",
             "1.1": "hudi-1.1"}
    (profile,) = [name for prefix, name in known.items() if release.startswith(prefix)]
    return profile


def _tables() -> dict[str, pathlib.Path]:
    folders = sorted(path.parent for path in _HUDI.glob("*/*/fixture.json") if (path.parent / "table").is_dir())
    assert len(folders) > 200
    return {folder.name: folder for folder in folders}


_TABLES = _tables()


def _rows(batches: list) -> Rows:
    found: Rows = collections.Counter()
    for batch in batches:
        for row in batch.to_pylist():
            kept = {name: cell for name, cell in row.items() if name not in _OF_THE_FILE and cell is not None}
            found[json.dumps(kept, sort_keys=True, default=str)] += 1
    return found


def _keys(rows: Rows) -> set[str]:
    return {json.loads(row)["_hoodie_record_key"] for row in rows}


@pytest.fixture
def read(tidemark: Program, tmp_path: pathlib.Path):
    def rows_of(folder: pathlib.Path, profile: str) -> Rows:
        output = tmp_path / f"{profile}.arrow"
        run = tidemark(
            *("read", folder / "table", "--profile", profile, "--meta"),
            *("--format", "arrow", "--output", output),
        )
        assert run.code in (HEALTHY, BREACH), run
        with pyarrow.ipc.open_stream(output) as batches:
            return _rows(list(batches))

    return rows_of


def _rows_of_hudi_rs(folder: pathlib.Path) -> Rows:
    batches = HudiTableBuilder.from_base_uri(str(folder / "table")).build().read()
    return _rows([pyarrow.record_batch(batch) for batch in batches])


@pytest.mark.parametrize("name", sorted(_TABLES.keys() - DIFFERENCES.keys()))
def test_both_give_the_same_rows(read, name: str) -> None:
    folder = _TABLES[name]
    ours = read(folder, _profile(json.loads((folder / "fixture.json").read_text())))
    theirs = _rows_of_hudi_rs(folder)
    assert ours - theirs == theirs - ours == Rows()


@pytest.mark.parametrize("name", sorted(DIFFERENCES))
def test_a_difference_is_the_one_that_is_listed(read, name: str) -> None:
    folder, listed = _TABLES[name], DIFFERENCES[name]
    ours = read(folder, _profile(json.loads((folder / "fixture.json").read_text())))
    if listed.refuses:
        with pytest.raises(Exception, match=listed.refuses):
            _rows_of_hudi_rs(folder)
        return
    theirs = _rows_of_hudi_rs(folder)
    assert ours != theirs, f"no longer differs: {listed.reason}"
    if listed.profile:
        assert theirs == read(folder, listed.profile)
    else:
        assert _keys(ours - theirs) == listed.lacks
        assert _keys(theirs - ours) == listed.adds
