"""What columns turn into: widened and added columns, flagged and -D rows in base files.
gen_columns.py NAME ..."""
import sys

from common import *

EVENT = {
    "hoodie.datasource.write.precombine.field": "ord",
    "hoodie.payload.ordering.field": "ord",
    "hoodie.datasource.write.payload.class": MODEL + "EventTimeAvroPayload",
}
ORD = {"column": "ord", "type": "long"}
END = ", _hoodie_is_deleted boolean, part string"


def label(name):
    return "cols_%s_%s" % (name, HUDI.replace(".", ""))


def widened(spark, mor=True, compact=False):
    """float to double, int to double, int to long, long to double, an added column; by where a row lies:
    base alone, base that wins over a late log row, logs before and after the change."""
    t = Table(spark, label("widened" + ("" if mor else "_cow") + ("_compacted" if compact else "")), EVENT, mor)
    old = "k string, ord long, f float, i int, g float, n int"
    new = "k string, ord long, f double, i long, g double, n double, extra string"
    events = []

    def put(rows, schema):
        t.write(rows, schema)
        events.append([schema, [[js(v) for v in r] for r in rows]])

    v = (1.1, 7, 16777217.25, 3)
    put([("base", 1) + v + (False, "p1"), ("basewins", 5) + v + (False, "p1"), ("oldlog", 1) + v + (False, "p1"), ("newlog", 1) + v + (False, "p1"), ("null", 1, None, None, None, None, False, "p1")], old + END)
    w = (0.1, 8, 3.3e38, 4)
    put([("oldlog", 2) + w + (False, "p1"), ("oldinsert", 2) + w + (False, "p1"), ("oldwins", 9) + w + (False, "p1")], old + END)
    x = (0.3, 5000000000, 0.7, 4.5)
    put([("newlog", 2) + x + ("e", False, "p1"), ("basewins", 2) + x + ("e", False, "p1"), ("oldwins", 3) + x + ("e", False, "p1"), ("newinsert", 1) + x + (None, False, "p1")], new + END)
    if compact:
        t.compact()
    t.pack(t.fixture(ORD, widened.__doc__.split(";")[0], events))


def flagged(spark):
    """Rows flagged as deleted in a base file, which bulk_insert puts there unasked."""
    t = Table(spark, label("flagged"), EVENT)
    sc = "k string, ord long, v string" + END
    events = []

    def put(rows, op):
        t.write(rows, sc, op)
        events.append([op, [[js(v) for v in r] for r in rows]])

    put([("alone", 3, "base", True, "p1"), ("live", 3, "base", False, "p1"), ("late", 3, "base", True, "p1"), ("newer", 3, "base", True, "p1"), ("tie", 3, "base", True, "p1"), ("late delete", 3, "base", True, "p1")], "bulk_insert")
    put([("late", 2, "log", False, "p1"), ("newer", 4, "log", False, "p1"), ("tie", 3, "log", False, "p1"), ("late delete", 2, "log", True, "p1")], "upsert")
    right = [{"k": "live", "ord": 3, "v": "base"}, {"k": "newer", "ord": 4, "v": "log"}, {"k": "tie", "ord": 3, "v": "log"}]
    t.pack(t.fixture(ORD, flagged.__doc__, events, right))


def operation(spark):
    """Rows with _hoodie_operation in a base file, as Flink's changelog mode compacts them."""
    t = Table(spark, label("operation"), dict(EVENT, **{"hoodie.allow.operation.metadata.field": "true"}))
    sc = "_hoodie_operation string, k string, ord long, v string" + END
    events = []

    def put(rows, op):
        t.write(rows, sc, op)
        events.append([op, [[js(v) for v in r] for r in rows]])

    put([(o, "base " + o, 3, "base", False, "p1") for o in ("I", "D", "-U", "U")], "bulk_insert")
    right = [{"k": "base " + o, "ord": 3, "v": "base"} for o in ("I", "U")]
    t.pack(t.fixture(ORD, operation.__doc__, events, right))


def null_ordering(spark):
    """A base row without an ordering value, which bulk_insert puts there, and logs that have one."""
    for name in ("postgres", "mysql", "default"):
        import gen_payloads as g

        cls, ordering, columns, marker = g.PAYLOADS[name]
        t = Table(spark, label("nullbase_" + name), {"hoodie.datasource.write.precombine.field": ordering, "hoodie.payload.ordering.field": ordering, "hoodie.datasource.write.payload.class": MODEL + cls})
        sc = "k string, %s, v string%s" % (columns.split(",")[0], ", %s string" % marker if marker else "") + END
        one = {"postgres": 1, "mysql": "00000.5", "default": 1}[name]
        m = ("r",) if marker else ()
        u = ("u",) if marker else ()
        d = ("d",) if marker else ()
        rows = [[(k, None, "base") + m + (False, "p1") for k in ("alone", "upsert", "delete")], [("upsert", one, "log") + u + (False, "p1"), ("delete", one, "log") + d + (not marker, "p1")]]
        t.write(rows[0], sc, "bulk_insert")
        t.write(rows[1], sc)
        t.pack(t.fixture({"column": ordering, "type": columns.split(",")[0].split(" ")[1]}, null_ordering.__doc__ + " " + cls, [[[js(v) for v in r] for r in b] for b in rows], [{"k": "alone", "v": "base"}, {"k": "upsert", "v": "log"}]))


def unset_ordering(spark):
    """A compaction by a job that does not set hoodie.payload.ordering.field: the late row is in the base now."""
    for name, cls in (("default", "DefaultHoodieRecordPayload"), ("eventtime", "EventTimeAvroPayload"), ("partial", "PartialUpdateAvroPayload")):
        for is_set in (False, True):
            t = Table(spark, label("compacted_%s_%s" % ("set" if is_set else "unset", name)), dict(EVENT, **{"hoodie.datasource.write.payload.class": MODEL + cls}))
            sc = "k string, ord long, v string" + END
            rows = [[("late", 3, "base", False, "p1"), ("newer", 3, "base", False, "p1"), ("late in log", 1, "base", False, "p1")], [("late", 2, "log", False, "p1"), ("newer", 4, "log", False, "p1"), ("late in log", 5, "log", False, "p1")], [("late in log", 4, "log", False, "p1")]]
            for r in rows:
                t.write(r, sc)
            before, _ = t.tried()
            o = "hoodie.compact.inline.max.delta.commits=1,hoodie.metadata.enable=false,hoodie.index.bloom.num_entries=50"
            if is_set:
                o += ",hoodie.payload.ordering.field=ord"
            for op in ("schedule", "run"):
                spark.sql("call run_compaction(op => '%s', path => '%s', options => '%s')" % (op, t.uri, o)).collect()
            right = [{"k": "late", "ord": 3, "v": "base"}, {"k": "newer", "ord": 4, "v": "log"}, {"k": "late in log", "ord": 5, "v": "log"}]
            t.pack(t.fixture(ORD, unset_ordering.__doc__ + (" (Set here.)" if is_set else ""), rows, right, {"sparkSnapshotBefore": before}))


if __name__ == "__main__":
    spark = session()
    todo = {
        "widened": lambda: widened(spark),
        "widened_cow": lambda: widened(spark, False),
        "widened_compacted": lambda: widened(spark, True, True),
        "flagged": lambda: flagged(spark),
        "operation": lambda: operation(spark),
        "null_ordering": lambda: null_ordering(spark),
        "unset_ordering": lambda: unset_ordering(spark),
    }
    for name in sys.argv[1:] or list(todo):
        try:
            todo[name]()
        except Exception as e:
            print("FAIL", name, why(e), flush=True)
