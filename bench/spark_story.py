#!/usr/bin/env python3
"""A table written by real Spark 3.4.3 and Hudi 0.14.0 while others watch it. Runs in Spark's own venv.

    spark_story.py TABLE JARS ROUNDS

Waits for a line on stdin before each step, then makes it, and prints what Spark and Hudi's own reader then say of the
table as a line of JSON: step, completed instants of the active timeline, partitions with rows, columns of data.
"""
import json
import pathlib
import shutil
import sys

from big_table import WRITING, session

# Small files, cleaning and archiving after a few commits, so that all of it happens within one story.
OPTIONS = {
    **{key: value for key, value in WRITING.items() if not key.startswith(("hoodie.bucket", "hoodie.storage.layout"))},
    "hoodie.table.name": "story",
    "hoodie.database.name": "lake",
    "hoodie.index.type": "BLOOM",
    "hoodie.datasource.write.partitionpath.field": "dt",
    "hoodie.datasource.write.hive_style_partitioning": "true",
    "hoodie.datasource.write.reconcile.schema": "false",
    "hoodie.clean.automatic": "true",
    "hoodie.cleaner.commits.retained": "3",
    "hoodie.archive.automatic": "true",
    "hoodie.keep.min.commits": "5",
    "hoodie.keep.max.commits": "7",
    "hoodie.bulkinsert.shuffle.parallelism": "2",
    "hoodie.upsert.shuffle.parallelism": "2",
}


class Story:
    def __init__(self, spark, table):
        self.spark = spark
        self.table = table
        self.number = 0
        self.columns = ["id", "ord", "dt", "a"]

    def frame(self, first, count=20, day=None):
        """A record of a number is always of the same day, of one of three for each hundred."""
        self.number += 1
        rows = []
        for number in range(first, first + count):
            row = dict.fromkeys(self.columns, f"v{self.number}")
            dt = f"2026-01-{day or (number // 100 + number % 3) % 8 + 1:02d}"
            rows.append({**row, "id": f"k{number:05d}", "ord": self.number, "dt": dt})
        # A column that comes later has to be one that may be null.
        types = ", ".join(f"{name} {'bigint' if name == 'ord' else 'string'}" for name in self.columns)
        return self.spark.createDataFrame([[row[name] for name in self.columns] for row in rows], types)

    def commit(self, frame, operation, **more):
        options = {**OPTIONS, "hoodie.datasource.write.operation": operation, **more}
        frame.write.format("hudi").options(**options).mode("append").save(self.table)

    def call(self, words):
        self.spark.sql(f"CALL {words}").collect()

    def step(self, number):
        """Its name."""
        kind = number % 8
        if number == 0 or kind in (1, 4):
            self.commit(self.frame(100 * number), "insert")
            return "insert"
        if kind == 2:
            self.columns.append(f"c{number}")
            self.commit(self.frame(100 * (number - 1)), "upsert")
            return "upsert with a new column"
        if kind == 3:
            self.commit(self.frame(90_000, day=9), "insert_overwrite")
            return "insert_overwrite"
        if kind == 5:
            self.commit(self.frame(90_000, count=1, day=9), "delete_partition",
                        **{"hoodie.datasource.write.partitions.to.delete": "dt=2026-01-09"})
            return "delete_partition"
        if kind == 6:
            # Hudi counts delta commits since the last commit or replacecommit.
            self.commit(self.frame(100 * (number - 2)), "upsert")
            options = "options => 'hoodie.compact.inline.max.delta.commits=1'"
            self.call(f"run_compaction(op => 'schedule', path => '{self.table}', {options})")
            self.call(f"run_compaction(op => 'run', path => '{self.table}')")
            return "upsert and compaction"
        if kind == 7:
            self.call(f"run_clustering(path => '{self.table}', op => 'scheduleAndExecute')")
            return "clustering"
        self.commit(self.frame(100 * (number - 4)), "upsert")
        return "upsert"

    def state(self):
        meta = (self.spark._jvm.org.apache.hudi.common.table.HoodieTableMetaClient.builder()
                .setConf(self.spark._jsc.hadoopConfiguration()).setBasePath(self.table).build())
        instants = meta.getActiveTimeline().filterCompletedInstants().getInstantsAsStream().toArray()
        rows = self.spark.read.format("hudi").option("hoodie.metadata.enable", "false").load(self.table)
        found = [row["dt"] for row in rows.select("dt").distinct().collect()]
        return {
            "instants": [[each.getTimestamp(), each.getAction()] for each in instants],
            "partitions": sorted(f"dt={each}" for each in found),
            "columns": [name for name in rows.columns if not name.startswith("_hoodie_")],
        }


def main():
    table, jars, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    scratch = f"{table}.scratch"
    spark = session(pathlib.Path(jars), scratch)
    try:
        story = Story(spark, table)
        for number in range(rounds):
            if not sys.stdin.readline():
                return
            name = story.step(number)
            print(json.dumps({"step": name, **story.state()}), flush=True)
    finally:
        spark.stop()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
