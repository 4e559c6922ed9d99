"""Shared by the payload generators: the session, the stories, what is right, packing.
Environment: HUDI_JAR (the Spark bundle), HUDI_VERSION, LAB (work folder), OUT (where tables go)."""
import datetime
import decimal
import json
import os
import shutil

HUDI = os.environ["HUDI_VERSION"]
LAB = os.environ["LAB"]
OUT = os.environ["OUT"]
IS_1X = HUDI.startswith("1.")
MODEL = "org.apache.hudi.common.model."
OPENS = " ".join(
    "--add-opens=java.base/%s=ALL-UNNAMED" % p
    for p in (
        "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util "
        "java.util.concurrent java.util.concurrent.atomic sun.nio.ch sun.nio.cs "
        "sun.security.action sun.util.calendar"
    ).split()
)


def session(jar=None, conf=None):
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    opts = OPENS + (
        " -Duser.timezone=UTC -XX:+UseSerialGC -XX:TieredStopAtLevel=1"
        " -Djol.skipHotspotSAAttach=true -Djol.skipDynamicAttach=true -XX:-UsePerfData"
    )
    b = (
        SparkSession.builder.master("local[1]")
        .appName("payloads")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.memory", "1500m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.extraClassPath", jar or os.environ["HUDI_JAR"])
        .config("spark.driver.extraJavaOptions", opts)
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.default.parallelism", "1")
        .config("spark.serializer", "org.apache.spark.serializer.KryoSerializer")
        .config("spark.kryo.registrator", "org.apache.spark.HoodieSparkKryoRegistrar")
        .config("spark.sql.extensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.hudi.catalog.HoodieCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.warehouse.dir", LAB + "/wh")
        .config("spark.local.dir", LAB + "/local")
    )
    for k, v in (conf or {}).items():
        b = b.config(k, v)
    s = b.getOrCreate()
    s.sparkContext.setLogLevel(os.environ.get("LOG", "OFF"))
    for k in ("hoodie.metadata.enable", "hoodie.embed.timeline.server", "hoodie.index.bloom.num_entries"):
        s.conf.set(k, BASE[k])  # procedures read these
    return s


BASE = {
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    "hoodie.compact.inline": "false",
    "hoodie.compact.schedule.inline": "false",
    "hoodie.datasource.compaction.async.enable": "false",
    "hoodie.upsert.shuffle.parallelism": "1",
    "hoodie.insert.shuffle.parallelism": "1",
    "hoodie.bulkinsert.shuffle.parallelism": "1",
    "hoodie.delete.shuffle.parallelism": "1",
    "hoodie.index.bloom.num_entries": "50",
    "hoodie.bloom.index.filter.type": "SIMPLE",
    "hoodie.datasource.write.recordkey.field": "k",
    "hoodie.datasource.write.partitionpath.field": "part",
    "hoodie.datasource.hive_sync.enable": "false",
    "hoodie.parquet.compression.codec": "gzip",
    "hoodie.metrics.on": "false",
    "hoodie.index.type": "BUCKET",
    "hoodie.bucket.index.num.buckets": "1",
    "hoodie.bucket.index.hash.field": "k",
    "hoodie.memory.merge.max.size": "67108864",
}
if not IS_1X:
    BASE["hoodie.storage.layout.type"] = "BUCKET"
    BASE["hoodie.storage.layout.partitioner.class"] = (
        "org.apache.hudi.table.action.commit.SparkBucketIndexPartitioner"
    )


def js(v):
    if isinstance(v, datetime.datetime):
        return v.strftime("%Y-%m-%dT%H:%M:%S.%f")
    if isinstance(v, (datetime.date, decimal.Decimal)):
        return str(v)
    if isinstance(v, (bytes, bytearray)):
        return v.hex()
    if isinstance(v, float):
        return repr(v)
    return v


def why(e):
    """The chain of Java causes, or the text."""
    j = getattr(e, "java_exception", None)
    out = []
    while j is not None and len(out) < 6:
        out.append(j.toString().split("\n")[0][:300].replace(LAB, "LAB"))
        if os.environ.get("STACK"):
            print("  STACK", j.toString().split("\n")[0][:80], " < ".join(str(x) for x in list(j.getStackTrace())[:9]))
        j = j.getCause()
    return out or [str(e).split("\n")[0][:300].replace(LAB, "LAB")]


class Table:
    def __init__(self, spark, name, options, mor=True):
        self.spark, self.name, self.mor = spark, name, mor
        self.path = "%s/tables/%s" % (LAB, name)
        self.uri = "file://" + self.path
        shutil.rmtree(self.path, ignore_errors=True)
        self.options = dict(BASE)
        self.options["hoodie.table.name"] = "t"
        kind = "MERGE_ON_READ" if mor else "COPY_ON_WRITE"
        self.options["hoodie.datasource.write.table.type"] = kind
        self.options.update(options)
        self.fresh = True

    def write(self, rows, schema, op="upsert", **more):
        df = self.spark.createDataFrame(rows, schema)
        o = dict(self.options)
        o["hoodie.datasource.write.operation"] = op
        o.update(more)
        mode = "overwrite" if self.fresh else "append"
        self.fresh = False
        df.write.format("hudi").options(**o).mode(mode).save(self.uri)

    def read(self, query="snapshot"):
        df = (
            self.spark.read.format("hudi")
            .option("hoodie.datasource.query.type", query)
            .option("hoodie.metadata.enable", "false")
            .load(self.uri)
        )
        skip = {"_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path"}
        rows = [
            {k: js(v) for k, v in r.asDict(True).items() if k not in skip}
            for r in df.collect()
        ]
        return sorted(rows, key=lambda r: (r["k"], json.dumps(r, sort_keys=True)))

    def tried(self, query="snapshot"):
        """Rows and no error, or null and the error."""
        try:
            return self.read(query), None
        except Exception as e:
            return None, why(e)

    def compact(self):
        """One compaction of all file groups, by the same options."""
        n = "c%s" % abs(hash(self.path))
        opts = "hoodie.compact.inline.max.delta.commits=1,hoodie.metadata.enable=false,hoodie.index.bloom.num_entries=50"
        self.spark.sql("call run_compaction(op => 'schedule', path => '%s', options => '%s')" % (self.uri, opts))
        self.spark.sql("call run_compaction(op => 'run', path => '%s', options => '%s')" % (self.uri, opts)).collect()

    def properties(self):
        lines = open(self.path + "/.hoodie/hoodie.properties").read().split("\n")
        return dict(l.split("=", 1) for l in lines if "=" in l and not l.startswith("#"))

    def version(self):
        return int(self.properties()["hoodie.table.version"])

    def pack(self, fixture, name=None):
        name = name or self.name
        dst = OUT + "/" + name
        shutil.rmtree(dst, ignore_errors=True)
        shutil.copytree(self.path, dst + "/table", ignore=lambda d, ns: [n for n in ns if n.endswith(".crc")])
        self.save(fixture, name)
        size = sum(os.path.getsize(os.path.join(a, f)) for a, _, fs in os.walk(dst) for f in fs)
        print("TABLE %s %dKB rows=%s %s" % (name, size // 1024, len(fixture.get("sparkSnapshot") or []), fixture.get("sparkSnapshotError") or ""), flush=True)

    def save(self, fixture, name=None):
        """One row a line."""

        def text(v):
            return json.dumps(v, default=str)

        lines = []
        for key, value in fixture.items():
            if isinstance(value, list) and value and isinstance(value[0], (dict, list)):
                value = "[" + ",".join("\n  " + text(v) for v in value) + "]"
            else:
                value = text(value)
            lines.append(' %s: %s' % (text(key), value))
        body = "{\n" + ",\n".join(lines) + "\n}\n"
        body = body.replace("file://" + self.path, "").replace(LAB, "LAB")
        open("%s/%s/fixture.json" % (OUT, name or self.name), "w").write(body)

    def fixture(self, ordering, story, events, right=None, more=None):
        f = {
            "name": self.name,
            "writer": {
                "engine": "Spark %s datasource" % self.spark.version,
                "version": HUDI,
                "hudi": HUDI,
                "tableVersion": self.version(),
                "type": "MOR" if self.mor else "COW",
            },
            "ordering": ordering,
            "story": story,
        }
        if events is not None:
            f["events"] = events
        f["sparkSnapshot"], error = self.tried()
        if error:
            f["sparkSnapshotError"] = error
        if right is not None:
            f["expectedEventTime"] = right
        f.update(more or {})
        return f
