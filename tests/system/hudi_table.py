"""Writes the smallest Hudi table that has a timeline: table version 6, layout 1, JSON commits.

Enough for questions about checkpoints; there are no data files. Tables that real writers left are
in testdata/hudi/tables.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
from collections.abc import Sequence

KEY_V1 = "deltastreamer.checkpoint.key"
KEY_V2 = "streamer.checkpoint.key.v2"


@dataclasses.dataclass(frozen=True)
class Commit:
    """One commit of the timeline, completed unless `state` says otherwise."""

    checkpoint: str | None = None
    key: str = KEY_V1
    action: str = "commit"
    state: str = "COMPLETED"  # or REQUESTED, INFLIGHT
    instant: str | None = None


def instant_of(moment: datetime.datetime) -> str:
    """The 17-digit form, in the zone of the value."""
    return moment.strftime("%Y%m%d%H%M%S") + f"{moment.microsecond // 1000:03d}"


def write_table(
    folder: pathlib.Path,
    commits: Sequence[Commit],
    *,
    table_type: str = "COPY_ON_WRITE",
    name: str = "t",
) -> pathlib.Path:
    """The commits in timeline order, one second apart and the newest just now, unless they name
    their instants. Returns the folder."""
    meta = folder / ".hoodie"
    meta.mkdir(parents=True)
    (meta / "hoodie.properties").write_bytes(properties_file(table_type, name))
    now = datetime.datetime.now(datetime.timezone.utc)
    for place, commit in enumerate(commits):
        age = datetime.timedelta(seconds=len(commits) - 1 - place)
        _write_commit(meta, commit, commit.instant or instant_of(now - age))
    return folder


def add_commit(folder: pathlib.Path, commit: Commit) -> None:
    """One more on top of a table, now."""
    now = datetime.datetime.now(datetime.timezone.utc)
    _write_commit(folder / ".hoodie", commit, commit.instant or instant_of(now))


def properties_file(table_type: str, name: str) -> bytes:
    return (
        "#Properties saved by a test\n"
        f"hoodie.table.name={name}\n"
        f"hoodie.table.type={table_type}\n"
        "hoodie.table.version=6\n"
        "hoodie.timeline.layout.version=1\n"
        "hoodie.archivelog.folder=archived\n"
    ).encode()


def commit_files(commit: Commit, instant: str) -> list[tuple[str, bytes]]:
    """Names in the timeline's folder and contents, in the order in which a writer makes them."""
    files = [(f"{instant}.{commit.action}.requested", b"")]
    if commit.state == "REQUESTED":
        return files
    is_plain = commit.action == "commit"
    files.append((f"{instant}.inflight" if is_plain else f"{instant}.{commit.action}.inflight", b""))
    if commit.state == "INFLIGHT":
        return files
    extra = {"schema": '{"type":"record","name":"row","fields":[{"name":"id","type":"string"}]}'}
    if commit.checkpoint is not None:
        extra[commit.key] = commit.checkpoint
    body = {
        "partitionToWriteStats": {},
        "compacted": False,
        "extraMetadata": extra,
        "operationType": "UPSERT",
    }
    return [*files, (f"{instant}.{commit.action}", json.dumps(body, indent=2).encode())]


def _write_commit(meta: pathlib.Path, commit: Commit, instant: str) -> None:
    for name, content in commit_files(commit, instant):
        (meta / name).write_bytes(content)
