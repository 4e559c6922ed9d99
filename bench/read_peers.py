#!/usr/bin/env python3
"""What tidemark's reading is compared with, and what adds up its rows. One line of JSON each.

    read_peers.py floor TABLE                     pyarrow decodes the newest base files, all columns
    read_peers.py hudi-rs TABLE                   hudi-rs reads all rows and columns into Arrow
    read_peers.py total FORMAT SUM SUM LENGTH     count, two sums and a sum of lengths of the rows on stdin (arrow, csv)

Time, CPU and memory are taken from inside, after the imports: the peers are not charged for Python's start.
"""
import csv
import json
import pathlib
import resource
import sys
import time


def measured(work):
    """Runs `work`, which returns what is to be kept alive until the end and the number of rows."""
    def cpu():
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime
    begin, before = time.perf_counter(), cpu()
    kept, rows = work()
    wall, spent = time.perf_counter() - begin, cpu() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"wall_s": wall, "cpu_s": spent, "max_rss_bytes": peak, "rows": rows}))
    return kept


def floor(table):
    import pyarrow.parquet as parquet
    files = sorted(pathlib.Path(table).rglob("*.parquet"))  # of one writer's first commit: all are current

    def work():
        return None, sum(parquet.ParquetFile(file).read(use_threads=True).num_rows for file in files)
    measured(work)


def hudi_rs(table):
    import pyarrow  # noqa: F401  hudi-rs loads it when it first gives out a batch
    from hudi import HudiTableBuilder

    def work():
        batches = HudiTableBuilder.from_base_uri(str(table)).build().read()
        return batches, sum(batch.num_rows for batch in batches)
    measured(work)


def total(form, first, second, text):
    answer = [0, 0, 0, 0]
    if form == "csv":
        for row in csv.DictReader(sys.stdin):
            for place, value in enumerate((1, int(row[first]), int(row[second]), len(row[text]))):
                answer[place] += value
    else:
        import pyarrow
        import pyarrow.compute as compute
        with pyarrow.ipc.open_stream(sys.stdin.buffer) as batches:
            for batch in batches:
                sums = [compute.sum(batch.column(first)), compute.sum(batch.column(second)),
                        compute.sum(compute.utf8_length(batch.column(text)))]
                for place, value in enumerate((batch.num_rows, *(each.as_py() or 0 for each in sums))):
                    answer[place] += value
    print(json.dumps(answer))


if __name__ == "__main__":
    {"floor": floor, "hudi-rs": hudi_rs, "total": total}[sys.argv[1]](*sys.argv[2:])
