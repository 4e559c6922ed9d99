"""The tables that real Hudi writers left, and what Kafka held when they did."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib

from kafka_cluster import Record

_REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# Another folder of the same form, e.g. with tables that are too large for the repository.
_FOLDER = pathlib.Path(os.environ.get("TIDEMARK_TABLES", _REPOSITORY / "testdata/hudi/tables"))


@dataclasses.dataclass(frozen=True)
class StoredTable:
    name: str
    folder: pathlib.Path
    topic: str | None
    partition_count: int
    records: tuple[Record, ...]  # of each partition in offset order from 0; none was deleted
    checkpoint: str | None  # as committed in the table; None: it has none with offsets
    committed_by: str | None  # instant, where the writer's notes name it
    table_type: str
    story: str
    newer_commits_without_checkpoint: int | None  # None: the notes do not say

    def logs(self) -> dict[int, list[int]]:
        """Timestamps by partition; the place in the list is the offset."""
        found: dict[int, list[int]] = {number: [] for number in range(self.partition_count)}
        for record in self.records:
            found[record.partition].append(record.timestamp_ms)
        return found


_TYPES = {"COW": "COPY_ON_WRITE", "MOR": "MERGE_ON_READ"}


def load_tables() -> list[StoredTable]:
    """Every stored table that was fed from Kafka, by name."""
    tables = [_load(path.parent) for path in sorted(_FOLDER.glob("*/kafka.json"))]
    assert tables, f"no stored tables in {_FOLDER}"
    return tables


def load_table(name: str) -> StoredTable:
    return _load(_FOLDER / name)


def _load(folder: pathlib.Path) -> StoredTable:
    notes = json.loads((folder / "kafka.json").read_text())
    about = json.loads((folder / "fixture.json").read_text())
    records = _records(notes)
    table_type = _TYPES.get(about["writer"]["type"], about["writer"]["type"])
    commits = notes.get("checkpointsInActiveTimeline")
    if "archived" in notes.get("committedIn", ""):
        commits = None  # the notes list only some of the archived commits
    newer = None
    # On a merge-on-read table compactions are commits that are not asked for a checkpoint.
    if commits is not None and table_type == "COPY_ON_WRITE":
        newer = sum(1 for each in commits if each["instant"] > (notes.get("committedBy") or "9"))
    return StoredTable(
        name=folder.name,
        folder=folder / "table",
        topic=notes.get("topic"),
        partition_count=notes.get("partitions", 0),
        records=tuple(records),
        # Spark structured streaming leaves batch numbers in the table: its offsets are elsewhere.
        checkpoint=None if "structured_streaming" in folder.name else notes.get("committedCheckpoint"),
        committed_by=notes.get("committedBy"),
        table_type=table_type,
        story=about.get("story", ""),
        newer_commits_without_checkpoint=newer,
    )


def _records(notes: dict) -> list[Record]:
    if "offsets" in notes:  # by partition
        listed = [
            {"partition": part["partition"], **each}
            for part in notes["offsets"]
            for each in part["records"]
        ]
    else:
        listed = notes.get("records", [])
    listed = sorted(listed, key=lambda each: (each["partition"], each["offset"]))
    return [
        Record(each["partition"], each["timestamp"], each.get("key"), _text(each.get("value", "{}")))
        for each in listed
    ]


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


