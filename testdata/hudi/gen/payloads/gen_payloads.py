"""Payload classes: one table for each, one key for each story. gen_payloads.py [VERSION:]PAYLOAD ...
A story is words: the event's kind (B in the base file, I and U upserts, D a delete as the payload has
it, F a flagged delete, X a delete by key), its rank in event time, and n (a is null), m (b is null),
x (a is unavailable). The first commit makes the base file; each later word is in a commit of its own."""
import sys

from common import *

STORIES = """
B1 U2; B3 U2; B2 U2; B1 U3 U2; B1 U2 U3; B1 U2 U2; B4 U3 U2; B3 U4 U2; I3 U2; I2 U3; I2 U2; I1 U3 U2;
B1 D2; B3 D2; B2 D2; B1 U3 D2; B1 D3 U2; B1 U2 D2; B1 D2 U2; B1 U2 D3; B1 D2 U3; B4 D2 U3; B3 D4 U2; B4 D3 U2;
B3 D1 U2; I3 D2; I2 D2; I1 D3 U2; D3 U2; B1 D3 D2; B3 F2; B1 U3 F2; B1 F3 U2; I3 F2; B3 X U2; B1 U3 X; I3 X U2; B1 X U2;
B1n U2m; B1 U2n; B1 U2n U3m; B1 U3n U2m; B3n U2; B3 U2n; B1 U3n U2; B3n U4m U2; I1n U2m; I2n U1m; I3n U1m U2; B2n U2m;
B1 U4n U3n U2; B1 U2x; B3x U2; B1 U3x U2; I1 U2x; B1x U2; I2x U1; B1 D2 U3n; B1 D3 U2n; B1 U2x U3x; B3n D4 U5m; I2 D3 U4n
""".replace("\n", " ").split(";")
STORIES = [s.strip() for s in STORIES if s.strip()]
# Kinds that the release cannot read; one such key and there are no rows at all.
SKIP = os.environ.get("SKIP", "")
STORIES = [s for s in STORIES if not any(w[0] in SKIP for w in s.split())]
UNAVAILABLE = "__debezium_unavailable_value"
SEQS = ["00000.5", "00000.23", "00000.123", "00001.5", "00001.40", "00002.7"]

PAYLOADS = {
    "postgres": ("debezium.PostgresDebeziumAvroPayload", "_event_lsn", "_event_lsn long", "_change_operation_type"),
    "mysql": ("debezium.MySqlDebeziumAvroPayload", "_event_seq", "_event_seq string, _event_bin_file string, _event_pos long", "_change_operation_type"),
    "dms": ("AWSDmsAvroPayload", "ord", "ord long", "Op"),
    "first": ("FirstValueAvroPayload", "ord", "ord long", None),
    "partial": ("PartialUpdateAvroPayload", "ord", "ord long", None),
    "nondefaults": ("OverwriteNonDefaultsWithLatestAvroPayload", "ord", "ord long", None),
    "default": ("DefaultHoodieRecordPayload", "ord", "ord long", None),
    "eventtime": ("EventTimeAvroPayload", "ord", "ord long", None),
    "overwrite": ("OverwriteWithLatestAvroPayload", "ord", "ord long", None),
    "partial_string": ("PartialUpdateAvroPayload", "ord", "ord string", None),
    "partial_date": ("PartialUpdateAvroPayload", "ord", "ord date", None),
    "partial_decimal": ("PartialUpdateAvroPayload", "ord", "ord decimal(20,6)", None),
    "partial_int": ("PartialUpdateAvroPayload", "ord", "ord int", None),
    "first_string": ("FirstValueAvroPayload", "ord", "ord string", None),
    "dms_string": ("AWSDmsAvroPayload", "ord", "ord string", "Op"),
}


def ordering_values(name, rank):
    if name == "mysql":
        file, pos = SEQS[rank].split(".")
        return (SEQS[rank], "mysql-bin.0" + file, int(pos))
    kind = PAYLOADS[name][2].split(" ")[1]
    if kind == "string":
        return ("2025-01-0%d" % rank,)
    if kind == "date":
        return (datetime.date(2025, 1, rank),)
    if kind.startswith("decimal"):
        return (decimal.Decimal("%d.500000" % (rank - 3)),)
    return (rank,)


def parse(word):
    kind = word[0]
    rank = int(word[1]) if len(word) > 1 else None
    return kind, rank, word[2:]


def row(name, story, at, word):
    marker = PAYLOADS[name][3]
    kind, rank, tags = parse(word)
    a = None if "n" in tags else UNAVAILABLE if "x" in tags else "a%d:%s" % (at, word)
    b = None if "m" in tags else "b%d:%s" % (at, word)
    r = (story.replace(" ", ""),) + ordering_values(name, rank or 1) + (a, b, at)
    if marker:
        letter = {"B": "I", "F": "U", "X": "U"}.get(kind, kind)
        r += (letter if marker == "Op" else {"I": "c", "U": "u", "D": "d"}[letter],)
    flagged = kind == "F" or (kind == "D" and not marker)
    return r + (flagged, "p1")


def schema(name):
    marker = PAYLOADS[name][3]
    return "k string, %s, a string, b string, n int, %s_hoodie_is_deleted boolean, part string" % (
        PAYLOADS[name][2],
        marker + " string, " if marker else "",
    )


def batches(name):
    """[(operation, rows)]: the base, then three commits, each with its deletes by key behind it."""
    out = [("upsert", [row(name, "seed", 0, "B1")])]
    later = [([], []) for _ in range(3)]
    for story in STORIES:
        words = story.split()
        at = 0
        for word in words:
            kind = word[0]
            if kind == "B":
                out[0][1].append(row(name, story, 0, word))
                continue
            at += 1
            later[at - 1][1 if kind == "X" else 0].append(row(name, story, at, word))
    for ups, dels in later:
        if ups:
            out.append(("upsert", ups))
        if dels:
            out.append(("delete", dels))
    return out


def merged(name, story, fill, is_commit_time):
    """What is right, by ranks: R1-R7 and, for what counts as not there, the next version below."""
    versions = []  # (rank, arrival, event)
    for i, word in enumerate(story.split()):
        kind, rank, _ = parse(word)
        if kind == "X" or (is_commit_time and kind in "DF"):
            versions = [] if kind == "X" or is_commit_time else versions
            continue
        at = i if story[0] == "B" else i + 1
        versions.append((at if is_commit_time else rank, i, kind, row(name, story, at, word)))
    versions.sort(key=lambda v: (v[0], v[1]), reverse=True)
    names = [c.strip().split(" ")[0] for c in schema(name).replace("decimal(20,6)", "decimal").split(",")]
    top = None
    for _, _, kind, r in versions:
        if kind in "DF":
            break
        values = dict(zip(names, r))
        if top is None:
            top = values
        elif fill:
            for c in names:
                if top[c] is None and fill == "null" or top[c] == UNAVAILABLE and fill == "unavailable":
                    top[c] = values[c]
    return {c: js(v) for c, v in top.items()} if top else None


def fill_of(t, name):
    mode = t.properties().get("hoodie.table.partial.update.mode")
    if t.version() >= 9 and mode:
        return "null" if mode == "IGNORE_DEFAULTS" else "unavailable"
    if t.version() >= 9:
        return None
    plain = name.split("_")[0]
    return {"partial": "null", "nondefaults": "null", "postgres": "unavailable"}.get(plain)


def make(spark, name, version=None, mor=True):
    cls, ordering, columns, marker = PAYLOADS[name]
    o = {
        "hoodie.datasource.write.precombine.field": ordering,
        "hoodie.payload.ordering.field": ordering,
        "hoodie.datasource.write.payload.class": MODEL + cls,
    }
    if name == "mysql" and HUDI == "1.1.1" and version is None:
        o["hoodie.datasource.write.precombine.field"] = "_event_bin_file,_event_pos"
        del o["hoodie.payload.ordering.field"]
    if IS_1X and version:
        o["hoodie.write.table.version"] = str(version)
        o["hoodie.write.auto.upgrade"] = "false"
    label = "pay_%s_%s" % (name, HUDI.replace(".", "")) + ("_v%d" % version if version else "") + ("" if mor else "_cow") + os.environ.get("SUFFIX", "")
    t = Table(spark, label, o, mor)
    for op, rows in batches(name):
        t.write(rows, schema(name), op)
    is_commit_time = t.properties().get("hoodie.record.merge.mode") == "COMMIT_TIME_ORDERING"
    right = [merged(name, s, fill_of(t, name), is_commit_time) for s in ["B1"] + STORIES]
    right[0]["k"] = "seed"
    right = [r for r in right if r]
    f = t.fixture(
        {"column": ordering, "type": columns.split(" ")[1].strip(",")},
        "payload %s; each key is a story of its own, told by its name (gen/payloads)" % cls,
        None,
        right,
        {"payload": MODEL + cls, "columns": schema(name)},
    )
    t.pack(f)
    if mor and f["sparkSnapshot"] is not None:
        try:
            t.compact()
            rows, error = t.tried()
            strip = lambda rs: [{k: v for k, v in r.items() if not k.startswith("_hoodie_file")} for r in rs]
            f["sparkSnapshotCompacted"] = "as before" if rows and strip(rows) == strip(f["sparkSnapshot"]) else rows
            print("COMPACTED", label, f["sparkSnapshotCompacted"] == "as before", error, flush=True)
        except Exception as e:
            f["sparkSnapshotCompacted"] = {"error": why(e)}
            print("COMPACTED", label, why(e), flush=True)
        t.save(f)


if __name__ == "__main__":
    spark = session()
    for word in sys.argv[1:]:
        version, _, name = word.rpartition(":")
        mor = not name.endswith("/cow")
        try:
            make(spark, name.removesuffix("/cow"), int(version) if version else None, mor)
        except Exception as e:
            print("FAIL", word, why(e), flush=True)
