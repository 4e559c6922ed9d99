#!/usr/bin/env python3
"""Writes <table>.txt: what the archived timeline of each table in ../tables holds, as fastavro and pyarrow read it.

    pip install fastavro==1.13.1 pyarrow==26.0.1
    python3 generate.py

One line per instant, oldest first: requested time, action, state, completion time, action of its pending states,
operation, and the extra metadata of a completed commit but for its schemas; "-" for what is not there.
"""
import glob
import io
import json
import os
import struct

import fastavro
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
STATES = {"REQUESTED": 0, "INFLIGHT": 1, "COMPLETED": 2, None: 2}
COMPLETES_AS = {"compaction": "commit", "logcompaction": "deltacommit", "clustering": "replacecommit"}
COMMITS = ("commit", "deltacommit", "replacecommit")


def log_entries(path):
    data = open(path, "rb").read()
    position = 0
    while position < len(data):
        block = io.BytesIO(data[position:])
        assert block.read(6) == b"#HUDI#"
        size, version, kind, headers = struct.unpack(">qiii", block.read(20))
        assert (version, kind) == (1, 3)
        schema = None
        for _ in range(headers):
            key, length = struct.unpack(">ii", block.read(8))
            value = block.read(length)
            if key == 2:
                schema = fastavro.parse_schema(json.loads(value))
        content = io.BytesIO(block.read(struct.unpack(">q", block.read(8))[0]))
        _, count = struct.unpack(">ii", content.read(8))
        for _ in range(count):
            length, = struct.unpack(">i", content.read(4))
            entry = fastavro.schemaless_reader(io.BytesIO(content.read(length)), schema)
            action = entry["actionType"]
            metadata = entry["hoodieReplaceCommitMetadata" if action == "replacecommit" else "hoodieCommitMetadata"]
            yield entry["commitTime"], action, STATES[entry["actionState"]], "-", metadata
        position += 14 + size


def history_rows(folder):
    version = open(folder + "/_version_").read().strip()
    for file in json.load(open(f"{folder}/manifest_{version}"))["files"]:
        for row in pq.read_table(f"{folder}/{file['fileName']}").to_pylist():
            metadata = None
            if row["metadata"] and row["action"] in COMMITS:
                metadata = next(fastavro.reader(io.BytesIO(row["metadata"])))
            yield row["instantTime"], row["action"], 2, row["completionTime"] or "-", metadata


def line_of(requested, entries):
    best = max(entries, key=lambda e: (e[2], e[3]))
    planned = sorted({e[1] for e in entries if e[1] != best[1]})
    metadata = best[4] if best[2] == 2 and best[1] in COMMITS else None
    fields = [requested, best[1], ["REQUESTED", "INFLIGHT", "COMPLETED"][best[2]], best[3],
              planned[0] if planned else "-", (metadata or {}).get("operationType") or "-"]
    extra = {k: v for k, v in ((metadata or {}).get("extraMetadata") or {}).items()
             if k not in ("schema", "latest_schema") and v is not None}
    fields += [f"{k}={v}" for k, v in sorted(extra.items())]
    return " ".join(fields)


def main():
    for table in sorted(glob.glob(HERE + "/../tables/*/table")):
        entries = []
        for path in glob.glob(table + "/.hoodie/*/.commits_.archive.*") + glob.glob(
                table + "/.hoodie/timeline/history/.commits_.archive.*"):
            entries += log_entries(path)
        if os.path.exists(table + "/.hoodie/timeline/history/_version_"):
            entries += history_rows(table + "/.hoodie/timeline/history")
        if not entries:
            continue
        instants = {}
        for entry in entries:
            instants.setdefault((entry[0], COMPLETES_AS.get(entry[1], entry[1])), []).append(entry)
        with open(f"{HERE}/{os.path.basename(os.path.dirname(table))}.txt", "w") as out:
            for (requested, _), same in sorted(instants.items()):
                out.write(line_of(requested, same) + "\n")


if __name__ == "__main__":
    main()
