#!/usr/bin/env python3
"""Writes the Parquet files of this folder and their rows as text.

    pip install pyarrow==26.0.1
    python3 generate.py
"""
import os
import random

import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
ROWS = 300


def table(rng):
    def nullable(make):
        return [None if rng.random() < 0.2 else make() for _ in range(ROWS)]
    return pa.table({
        "instantTime": pa.array([f"20240101{i:09d}" for i in range(ROWS)], pa.string()),
        "name": pa.array(nullable(lambda: rng.choice(["", "commit", "deltacommit", "ü€𝄞"])), pa.string()),
        "body": pa.array(nullable(lambda: rng.randbytes(rng.choice([0, 3, 40]))), pa.binary()),
        "version": pa.array(nullable(lambda: rng.choice([1, -1, 2**31 - 1, -(2**31)])), pa.int32()),
        "big": pa.array(nullable(lambda: rng.choice([0, 2**63 - 1, -(2**63)])), pa.int64()),
        "small": pa.array(nullable(lambda: rng.randint(-128, 127)), pa.int8()),
        "unsigned": pa.array(nullable(lambda: rng.choice([0, 2**64 - 1])), pa.uint64()),
        "unsigned32": pa.array(nullable(lambda: rng.choice([0, 2**32 - 1])), pa.uint32()),
        "truth": pa.array([True] * ROWS),
        "day": pa.array([1] * ROWS, pa.date32()),
        "list": pa.array([[1, 2]] * ROWS, pa.list_(pa.int32())),
        "part": pa.array([{"x": 1}] * ROWS, pa.struct([("x", pa.int32())])),
        "ratio": pa.array([0.5] * ROWS, pa.float64()),
    })


READ = ["instantTime", "name", "body", "version", "big", "small", "unsigned", "unsigned32"]


def cell(value):
    if value is None:
        return "-"
    raw = value if isinstance(value, bytes) else str(value).encode()
    return raw.hex() or "e"


def main():
    made = table(random.Random(20240103))
    with open(os.path.join(HERE, "rows.txt"), "w") as out:
        for row in made.select(READ).to_pylist():
            out.write(" ".join(cell(row[c]) for c in READ) + "\n")
    kinds = {
        "plain": dict(compression="NONE", use_dictionary=False),
        "snappy_dictionary": dict(compression="SNAPPY", use_dictionary=True),
        "gzip_row_groups": dict(compression="GZIP", row_group_size=70, data_page_size=256),
        "zstd_v2": dict(compression="ZSTD", data_page_version="2.0", data_page_size=256),
        "delta": dict(compression="NONE", use_dictionary=False, version="2.6", column_encoding={
            "instantTime": "DELTA_BYTE_ARRAY", "name": "DELTA_LENGTH_BYTE_ARRAY", "version": "DELTA_BINARY_PACKED",
            "big": "DELTA_BINARY_PACKED"}),
        "checksums": dict(compression="NONE", use_dictionary=False, write_page_checksum=True),
    }
    for name, options in kinds.items():
        pq.write_table(made, os.path.join(HERE, name + ".parquet"), store_schema=False, **options)
    pq.write_table(made.slice(0, 0), os.path.join(HERE, "empty.parquet"), store_schema=False)
    two = made.select(["instantTime", "version"]).slice(0, 5)
    pq.write_table(two, os.path.join(HERE, "small.parquet"), store_schema=False, use_dictionary=False, compression="NONE",
                   write_page_checksum=True, write_statistics=False)


if __name__ == "__main__":
    main()
