#!/usr/bin/env python3
"""Writes, or queries, the big table of read_bench.py with real Spark 3.4.3 and Hudi 0.14.0. Runs in Spark's own venv.

    big_table.py write TABLE JARS ROWS   makes it anew
    big_table.py query TABLE JARS        the aggregate, in one session for each line on stdin: a line of JSON each

A merge-on-read table of 12 columns in four buckets. Every fifth key meets one more record in the logs, in two commits:
of eight, six are newer updates, one is a newer delete and one an older update that came late.
"""
import json
import os
import pathlib
import shutil
import sys
import time

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

OPENED = ("java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent "
          "java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar").split()
WRITING = {
    "hoodie.table.name": "mor",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.precombine.field": "ord",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.DefaultHoodieRecordPayload",
    "hoodie.payload.ordering.field": "ord",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "4",
    "hoodie.bucket.index.hash.field": "id",
    "hoodie.storage.layout.type": "BUCKET",
    "hoodie.storage.layout.partitioner.class": "org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner",
    "hoodie.compact.inline": "false",
    "hoodie.combine.before.upsert": "true",
    "hoodie.combine.before.insert": "false",
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.bulkinsert.shuffle.parallelism": "4",
    "hoodie.upsert.shuffle.parallelism": "4",
    "hoodie.index.bloom.num_entries": "60000",
    "hoodie.bloom.index.filter.type": "SIMPLE",
    "hoodie.parquet.compression.codec": "gzip",
    "hoodie.parquet.max.file.size": str(1 << 30),
    "hoodie.logfile.max.size": str(1 << 30),
    "hoodie.memory.merge.max.size": str(1 << 26),
    "hoodie.datasource.hive_sync.enable": "false",
}


def session(jars, scratch):
    options = " ".join(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED)
    # Hudi's size estimator would attach a second JVM again and again.
    options += " -Duser.timezone=UTC -Djol.skipHotspotSAAttach=true -Djol.skipDynamicAttach=true"
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": options,
        "spark.driver.extraClassPath": ":".join(str(jar) for jar in sorted(pathlib.Path(jars).glob("*.jar"))),
        "spark.sql.shuffle.partitions": "4",
        "spark.default.parallelism": "4",
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
        "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": f"{scratch}/warehouse",
        "spark.local.dir": f"{scratch}/local",
    }
    builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").appName("big table")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def rows(numbers, shift, is_deleted):
    """The record of each number `n`; `shift` moves its ordering and changes its values."""
    n = F.col("n")
    return numbers.select(
        F.format_string("k%09d", n).alias("id"),
        (F.lit(1700000000000) + n % 1000003 + shift).alias("ord"),
        F.md5((n + shift).cast("string")).alias("c1"),
        F.md5((n * 31 + shift).cast("string")).alias("c2"),
        (F.xxhash64(n, F.lit(shift)) / F.lit(1.0e12)).alias("c3"),
        F.xxhash64(n + shift).alias("c4"),
        (n % 100000).cast("int").alias("c5"),
        F.timestamp_seconds(F.lit(1700000000) + n * 0.037).alias("c6"),
        (n % 10000000 / 100).cast("decimal(20,6)").alias("c7"),
        F.concat(F.lit("cat-"), (n % 50).cast("string")).alias("c8"),
        F.lit("p0").alias("part"),
        F.lit(is_deleted).alias("_hoodie_is_deleted"))


def write(spark, table, count):
    def commit(frame, operation, mode):
        options = {**WRITING, "hoodie.datasource.write.operation": operation}
        frame.write.format("hudi").options(**options).mode(mode).save(table)
        print(f"big_table: {operation} done", file=sys.stderr, flush=True)
    commit(rows(spark.range(count).withColumnRenamed("id", "n"), 0, False), "bulk_insert", "overwrite")
    for remainder in (0, 1):
        every_fifth = spark.range(count // 5).select((F.col("id") * 5 + 2).alias("n"))
        half = every_fifth.where(F.col("n") % 2 == remainder)
        kind = (F.col("n") / 5).cast("long") % 8
        changes = rows(half.where(kind < 6), 5000000, False)
        changes = changes.unionByName(rows(half.where(kind == 6), 6000000, True))
        changes = changes.unionByName(rows(half.where(kind == 7), -7000000, False))
        commit(changes, "upsert", "append")


def query(spark, table):
    jvm = pathlib.Path("/proc") / str(spark._jvm.java.lang.ProcessHandle.current().pid())

    def cpu():
        ticks = (jvm / "stat").read_text().rsplit(")", 1)[1].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
    for _ in sys.stdin:
        begin, before = time.perf_counter(), cpu()
        frame = spark.read.format("hudi").option("hoodie.metadata.enable", "false").load(table)
        answer = frame.agg(F.count(F.lit(1)), F.sum("ord"), F.sum("c5"), F.sum(F.length("c1"))).collect()[0]
        wall, spent = time.perf_counter() - begin, cpu() - before
        peak = [line for line in (jvm / "status").read_text().splitlines() if line.startswith("VmHWM")][0].split()[1]
        print(json.dumps({"wall_s": wall, "cpu_s": spent, "max_rss_bytes": int(peak) * 1024,
                          "answer": [int(value) for value in answer]}), flush=True)


def main():
    action, table, jars, *count = sys.argv[1:]
    scratch = f"{table}.scratch-{os.getpid()}"
    spark = session(jars, scratch)
    try:
        if action == "write":
            write(spark, table, int(count[0]))
        else:
            query(spark, table)
    finally:
        spark.stop()
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
