"""Tables whose files lack their partition columns (hoodie.datasource.write.drop.partition.columns).
gen_partitions.py NAME ...
Base rows, then logs (merge-on-read): `newer` is updated, `late` gets an older update, `gone` is deleted.
0.14.0 shows rows that come from logs without partition columns, and every partition column as a string.
1.0.2 and 1.1.1 refuse the second write of a merge-on-read table made by the datasource: its properties
say false whatever was asked for. Their tables are copy-on-write or made by SQL."""
import sys

from common import *

ORDERING = {
    "hoodie.datasource.write.precombine.field": "ord",
    "hoodie.payload.ordering.field": "ord",
    "hoodie.datasource.write.payload.class": MODEL + "DefaultHoodieRecordPayload",
    "hoodie.datasource.write.drop.partition.columns": "true",
}
if IS_1X:  # the mode says it, and a class given as well is a conflict
    del ORDERING["hoodie.datasource.write.payload.class"]
ORD = {"column": "ord", "type": "long"}
HIVE = {"hoodie.datasource.write.hive_style_partitioning": "true"}
ENCODED = {"hoodie.datasource.write.partitionpath.urlencode": "true"}
KEYS = "org.apache.hudi.keygen."
DAYS = (datetime.date(2025, 1, 31), datetime.date(2025, 2, 1))


def label(name):
    return "drop_%s_%s" % (name, HUDI.replace(".", ""))


def make(spark, name, columns, values, options, mor=True):
    """Files without partition columns: base rows, updates, deletes."""
    names = [c.split(" ")[0] for c in columns.split(", ")]
    o = dict(ORDERING)
    o["hoodie.datasource.write.partitionpath.field"] = ",".join(names)
    o.update(options)
    t = Table(spark, label(name), o, mor)
    schema = "k string, ord long, v string, _hoodie_is_deleted boolean, " + columns
    events = []

    def put(rows):
        t.write(rows, schema)
        events.append([[js(v) for v in r] for r in rows])

    put([("%s %d" % (k, i), 5, "base", False) + v for i, v in enumerate(values) for k in ("alone", "newer", "late", "gone")])
    put([("newer 0", 6, "update", False) + values[0], ("late 0", 4, "update", False) + values[0], ("gone 0", 7, "", True) + values[0]])
    last = len(values) - 1
    if last:
        put([("newer %d" % last, 6, "update", False) + values[last], ("new %d" % last, 1, "insert", False) + values[last]])
    # Without the partition columns: what these are is in the events.
    right = {}
    for row in sorted((r for commit in events for r in commit), key=lambda r: r[1]):
        right[row[0]] = row
    right = [{"k": r[0], "ord": r[1], "v": r[2]} for r in right.values() if not r[3]]
    df = spark.read.format("hudi").option("hoodie.metadata.enable", "false").load(t.uri)
    f = t.fixture(ORD, make.__doc__, events, right if mor else None, {"partitionColumns": names, "sparkSchema": df.schema.simpleString()})
    t.pack(f)


def by_sql(spark):
    """Files without partition columns, by SQL: the catalog knows the column as an int."""
    name = label("sql_int")
    t = Table(spark, name, {}, True)
    spark.sql(
        "create table %s (k string, ord bigint, v string, part int) using hudi tblproperties (type = 'mor', primaryKey = 'k', preCombineField = 'ord', "
        "'hoodie.datasource.write.drop.partition.columns' = 'true') partitioned by (part) location '%s'" % (name, t.uri)
    )
    put = lambda rows: spark.sql("insert into %s values %s" % (name, ", ".join(str(r) for r in rows)))
    events = [[("alone", 5, "base", 7), ("newer", 5, "base", 7), ("alone too", 5, "base", 31)], [("newer", 6, "update", 7)]]
    for rows in events:
        put(rows)
    df = spark.read.format("hudi").option("hoodie.metadata.enable", "false").load(t.uri)
    try:
        shown = [{k: js(v) for k, v in r.asDict().items() if not k.startswith("_hoodie")} for r in sorted(spark.sql("select * from " + name).collect(), key=lambda r: r["k"])]
    except Exception as e:
        shown = why(e)
    t.pack(t.fixture(ORD, by_sql.__doc__, events, [{"k": "alone", "ord": 5}, {"k": "newer", "ord": 6}, {"k": "alone too", "ord": 5}], {"partitionColumns": ["part"], "sparkSchema": df.schema.simpleString(), "sparkSqlSnapshot": shown}))


TABLES = {
    "sql_int": by_sql,
    "plain": lambda s: make(s, "plain", "part string", [("p1",), ("p2",)], {}),
    "cow": lambda s: make(s, "cow", "part string", [("p1",), ("p2",)], HIVE, False),
    "hive": lambda s: make(s, "hive", "part string", [("p1",), ("p%2",), (None,)], HIVE),
    "encoded": lambda s: make(s, "encoded", "part string", [("a/b",), ("d:e=f%20",), ("\u00e9\u4e2d",)], dict(HIVE, **ENCODED)),
    "encoded_plain": lambda s: make(s, "encoded_plain", "part string", [("a/b",), ("d:e=f%20",)], ENCODED),
    "slash": lambda s: make(s, "slash", "part string", [("2025/01/31",), ("2025/02/01",)], {}),
    "two": lambda s: make(s, "two", "region string, day int", [("north", 7), ("south", 31)], {"hoodie.datasource.write.keygenerator.class": KEYS + "ComplexKeyGenerator"}),
    "two_hive": lambda s: make(s, "two_hive", "region string, day int", [("north", 7), ("south", 31)], dict(HIVE, **{"hoodie.datasource.write.keygenerator.class": KEYS + "ComplexKeyGenerator"})),
    "int": lambda s: make(s, "int", "part int", [(7,), (31,)], HIVE),
    "int_plain": lambda s: make(s, "int_plain", "part int", [(7,), (31,)], {}),
    "date": lambda s: make(s, "date", "part date", [(d,) for d in DAYS], HIVE),
    "timekeys": lambda s: make(s, "timekeys", "part long", [(1738281600,), (1738368000,)], {
        "hoodie.datasource.write.keygenerator.class": KEYS + "TimestampBasedKeyGenerator",
        "hoodie.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
        "hoodie.keygen.timebased.output.dateformat": "yyyy/MM/dd",
        "hoodie.keygen.timebased.timezone": "UTC",
        "hoodie.deltastreamer.keygen.timebased.timestamp.type": "UNIX_TIMESTAMP",
        "hoodie.deltastreamer.keygen.timebased.output.dateformat": "yyyy/MM/dd",
        "hoodie.deltastreamer.keygen.timebased.timezone": "UTC",
    }),
}

if __name__ == "__main__":
    spark = session()
    for k, v in BASE.items():
        if k.startswith("hoodie.") and ".datasource.write." not in k and k != "hoodie.metrics.on":
            spark.conf.set(k, v)
    spark.conf.set("hoodie.spark.sql.insert.into.operation", "upsert")
    for name in sys.argv[1:] or list(TABLES):
        try:
            TABLES[name](spark)
        except Exception as e:
            print("FAIL", label(name), why(e), flush=True)
