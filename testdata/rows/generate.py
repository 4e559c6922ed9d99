#!/usr/bin/env python3
"""Writes the rows of this folder: the same values as Parquet by pyarrow and as Avro by fastavro, and their JSON.

    pip install pyarrow==26.0.1 fastavro==1.13.1
    python3 generate.py

The JSON comes from what pyarrow and fastavro read back, which must agree.
"""
import base64
import datetime as dt
import decimal
import io
import json
import os
import random
import uuid

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
D = decimal.Decimal
decimal.getcontext().prec = 100
EPOCH = dt.datetime(1970, 1, 1)
UTC = dt.timezone.utc


def logical(kind, name, **more):
    return {"type": kind, "logicalType": name, **more}


def nullable(kind, first=True):
    return ["null", kind] if first else [kind, "null"]


INNER = {"type": "record", "name": "inner", "fields": [
    {"name": "z", "type": nullable("double")}, {"name": "when", "type": nullable(logical("int", "date"))}]}
STRUCT = {"type": "record", "name": "st", "fields": [
    {"name": "a", "type": nullable("int")}, {"name": "b", "type": "string"}, {"name": "in", "type": nullable(INNER)}]}
ENUM = {"type": "enum", "name": "en", "symbols": ["RED", "GREEN", "BLUE"]}
# name, Avro type, Arrow type
COLUMNS = [
    ("flag", nullable("boolean"), pa.bool_()),
    ("i", "int", pa.int32()),
    ("l", nullable("long", False), pa.int64()),
    ("f", nullable("float"), pa.float32()),
    ("d", nullable("double"), pa.float64()),
    ("s", nullable("string"), pa.string()),
    ("b", nullable("bytes"), pa.binary()),
    ("x", nullable({"type": "fixed", "name": "fx", "size": 3}), pa.binary(3)),
    ("e", nullable(ENUM), pa.string()),
    ("u", nullable(logical("string", "uuid")), pa.string()),
    ("dec", nullable(logical("bytes", "decimal", precision=10, scale=2)), pa.decimal128(10, 2)),
    ("decf", nullable({"type": "fixed", "name": "df", "size": 9, "logicalType": "decimal", "precision": 20, "scale": 6}),
     pa.decimal128(20, 6)),
    ("big", nullable(logical("bytes", "decimal", precision=45, scale=3)), pa.decimal256(45, 3)),
    ("day", nullable(logical("int", "date")), pa.date32()),
    ("tms", nullable(logical("int", "time-millis")), pa.time32("ms")),
    ("tus", nullable(logical("long", "time-micros")), pa.time64("us")),
    ("ts_ms", nullable(logical("long", "timestamp-millis")), pa.timestamp("ms", "UTC")),
    ("ts_us", nullable(logical("long", "timestamp-micros")), pa.timestamp("us", "UTC")),
    ("ts_ns", nullable(logical("long", "timestamp-nanos")), pa.timestamp("ns", "UTC")),
    ("lts_ms", nullable(logical("long", "local-timestamp-millis")), pa.timestamp("ms")),
    ("lts_us", nullable(logical("long", "local-timestamp-micros")), pa.timestamp("us")),
    ("st", nullable(STRUCT), pa.struct([("a", pa.int32()), pa.field("b", pa.string(), False), ("in", pa.struct(
        [("z", pa.float64()), ("when", pa.date32())]))])),
    ("li", nullable({"type": "array", "items": nullable("int")}), pa.list_(pa.int32())),
    ("ls", {"type": "array", "items": {"type": "record", "name": "lsr", "fields": [
        {"name": "k", "type": "string"}, {"name": "v", "type": nullable("long")}]}},
     pa.list_(pa.struct([pa.field("k", pa.string(), False), ("v", pa.int64())]))),
    ("m", nullable({"type": "map", "values": nullable("long")}), pa.map_(pa.string(), pa.int64())),
    ("mm", nullable({"type": "map", "values": {"type": "array", "items": "string"}}),
     pa.map_(pa.string(), pa.list_(pa.string()))),
]


def some_text(rng):
    return rng.choice(["", "a", "ü€𝄞", 'quo"te\\', "tab\tline\nend\r", "comma, \x01", "x" * 70, f"k{rng.randrange(99)}"])


def some_digits(rng, digits, scale):
    top = 10 ** digits - 1
    return D(rng.choice([0, 1, -1, top, -top, rng.randint(-top, top), rng.randint(-999, 999)])).scaleb(-scale)


def row_of(rng):
    r = rng.random
    small = dt.date(1970, 1, 1) + dt.timedelta(days=rng.choice([0, -1, 19782, rng.randint(-700000, 2900000)]))
    micros = rng.choice([0, -1, 1, 1700000000123456, rng.randint(-10**16, 10**16)])
    row = {
        "flag": r() < 0.5, "i": rng.choice([0, -1, 2**31 - 1, -2**31, rng.randint(-1000, 1000)]),
        "l": rng.choice([0, 2**63 - 1, -2**63, rng.randint(-10**12, 10**12)]),
        "f": rng.randint(-10**6, 10**6) / 8,
        "d": rng.choice([0.1, -0.0, 1e300, 5e-324, float("nan"), float("inf"), float("-inf"), rng.uniform(-1, 1)]),
        "s": some_text(rng), "b": rng.randbytes(rng.randrange(5)), "x": rng.randbytes(3),
        "e": rng.choice(ENUM["symbols"]), "u": str(uuid.UUID(int=rng.getrandbits(128))),
        "dec": some_digits(rng, 10, 2), "decf": some_digits(rng, 20, 6), "big": some_digits(rng, 45, 3), "day": small,
        "tms": (dt.datetime(1, 1, 1) + dt.timedelta(milliseconds=rng.randrange(86400000))).time(),
        "tus": (dt.datetime(1, 1, 1) + dt.timedelta(microseconds=rng.randrange(86400000000))).time(),
        "ts_ms": micros // 1000, "ts_us": micros, "ts_ns": micros * 100 + 7, "lts_ms": -micros // 1000, "lts_us": -micros,
        "st": {"a": None if r() < 0.3 else rng.randint(-9, 9), "b": some_text(rng),
               "in": None if r() < 0.4 else {"z": None if r() < 0.3 else r(), "when": None if r() < 0.3 else small}},
        "li": [None if r() < 0.2 else rng.randint(-5, 5) for _ in range(rng.randrange(4))],
        "ls": [{"k": some_text(rng), "v": None if r() < 0.3 else rng.randint(0, 9)} for _ in range(rng.randrange(3))],
        "m": {f"k{i}": None if r() < 0.2 else rng.randint(0, 9) for i in range(rng.randrange(4))},
        "mm": {f"k{i}": [some_text(rng) for _ in range(rng.randrange(3))] for i in range(rng.randrange(3))},
    }
    for name, avro, _ in COLUMNS:
        if isinstance(avro, list) and r() < 0.15:
            row[name] = None
    return row


UNITS = {"ms": 3, "us": 6, "ns": 9}


def stamp_text(value, unit, is_local):
    digits = UNITS[unit]
    seconds, fraction = divmod(value, 10 ** digits)
    moment = EPOCH + dt.timedelta(seconds=seconds)
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}.{fraction:0{digits}d}" + ("" if is_local else "Z")


def to_json(value, kind):
    """A value that pyarrow read, of an Arrow type, as tidemark writes it."""
    if value is None:
        return None
    if pa.types.is_timestamp(kind):
        return stamp_text(value, kind.unit, kind.tz is None)
    if pa.types.is_date(kind):
        return value.isoformat()
    if pa.types.is_time(kind):
        return value.isoformat(timespec="milliseconds" if kind.unit == "ms" else "microseconds")
    if pa.types.is_decimal(kind):
        return f"{value:f}"
    if pa.types.is_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return base64.b64encode(value).decode()
    if pa.types.is_floating(kind):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if pa.types.is_struct(kind):
        return {f.name: to_json(value[f.name], f.type) for f in kind}
    if pa.types.is_map(kind):
        return {k: to_json(v, kind.item_type) for k, v in value}
    if pa.types.is_list(kind):
        return [to_json(v, kind.value_type) for v in value]
    return value


def table_of(columns, rows):
    fields = [pa.field(name, kind, isinstance(avro, list)) for name, avro, kind in columns]
    arrays = []
    for name, _, kind in columns:
        values = [list(r[name].items()) if pa.types.is_map(kind) and r[name] is not None else r[name] for r in rows]
        if pa.types.is_timestamp(kind):
            arrays.append(pa.array(values, pa.int64()).cast(kind))
        else:
            arrays.append(pa.array(values, kind))
    return pa.table(arrays, schema=pa.schema(fields))


def rows_json(table):
    columns = []
    for field in table.schema:
        column = table[field.name]
        if pa.types.is_timestamp(field.type):
            column = column.cast(pa.int64())
        columns.append([to_json(v, field.type) for v in column.to_pylist()])
    names = table.schema.names
    return [dict(zip(names, row)) for row in zip(*columns)]


def avro_schema(columns):
    return {"type": "record", "name": "row", "namespace": "test",
            "fields": [{"name": n, "type": a, **({"default": None} if isinstance(a, list) and a[0] == "null" else {})}
                       for n, a, _ in columns]}


def plain(schema):
    """Without the logical types that fastavro would turn into something coarser."""
    if isinstance(schema, dict):
        drop = str(schema.get("logicalType")).replace("local-", "").startswith("timestamp")
        return {k: plain(v) for k, v in schema.items() if not (drop and k == "logicalType")}
    return [plain(s) for s in schema] if isinstance(schema, list) else schema


def encode(columns, rows):
    parsed = fastavro.parse_schema(plain(json.loads(json.dumps(avro_schema(columns)))))
    out = []
    for row in rows:
        buffer = io.BytesIO()
        fastavro.schemaless_writer(buffer, parsed, row)
        read = fastavro.schemaless_reader(io.BytesIO(buffer.getvalue()), parsed)
        for name in ("s", "i", "dec", "st", "day"):
            assert name not in row or read[name] == row[name], (name, read[name], row[name])
        out.append(buffer.getvalue().hex())
    return out


def write(name, value):
    with open(os.path.join(HERE, name), "w") as out:
        out.write(value)


def lines(rows):
    return "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows)


def types():
    rng = random.Random(20240201)
    rows = [row_of(rng) for _ in range(150)]
    table = table_of(COLUMNS, rows)
    path = lambda name: os.path.join(HERE, name + ".parquet")
    pq.write_table(table, path("types_plain"), compression="none", use_dictionary=False, store_schema=False)
    pq.write_table(table, path("types_zstd_groups"), compression="zstd", row_group_size=40, data_page_version="2.0",
                   data_page_size=300, store_schema=False, write_page_checksum=True)
    pq.write_table(table, path("types_integers"), compression="snappy", store_schema=False,
                   store_decimal_as_integer=True, use_compliant_nested_type=False)
    read = pq.read_table(path("types_plain"))
    odd = table.set_column(5, "s", table["s"].dictionary_encode()).set_column(
        6, "b", table["b"].cast(pa.large_binary())).set_column(9, "u", table["u"].cast(pa.large_string()))
    pq.write_table(odd, path("types_arrow_schema"), compression="snappy")
    few = table.select(["i", "ts_us", "lts_us"])
    pq.write_table(few, path("types_int96"), use_deprecated_int96_timestamps=True, store_schema=False)
    five = table.select(["i", "s", "dec", "st", "li"])
    pq.write_table(five.slice(0, 3), path("small"), compression="snappy", write_page_checksum=True, store_schema=False)
    for version in "1.0", "2.0":
        pq.write_table(five.slice(0, 40), path("small_gzip_v" + version[0]), compression="gzip", data_page_size=64,
                       data_page_version=version, use_dictionary=["i", "s"], write_batch_size=10, store_schema=False)
        pq.write_table(table, path("types_gzip_v" + version[0]), compression="gzip", data_page_version=version,
                       data_page_size=400, write_batch_size=50, row_group_size=70, store_schema=False)
    write("types.avsc", json.dumps(avro_schema(COLUMNS), indent=1) + "\n")
    write("types.jsonl", lines(rows_json(read)))
    write("types_avro.txt", "\n".join(encode(COLUMNS, rows)) + "\n")


# name, type then, Arrow type then, type now, Arrow type now, the value now
NOW_STRUCT = {"type": "record", "name": "st", "fields": [
    {"name": "added", "type": nullable("string")}, {"name": "b", "type": "double"},
    {"name": "renamed", "type": nullable("long")}, {"name": "known", "type": "int", "default": 7}]}
OLD_STRUCT = {"type": "record", "name": "st", "fields": [
    {"name": "a", "type": nullable("int")}, {"name": "b", "type": "float"}, {"name": "gone", "type": nullable("string")}]}
EVOLVED = [
    ("i_l", "int", pa.int32(), "long", lambda v: v),
    ("i_f", "int", pa.int32(), "float", lambda v: float(v)),
    ("i_d", nullable("int"), pa.int32(), nullable("double"), lambda v: float(v)),
    ("i_s", nullable("int"), pa.int32(), nullable("string"), str),
    ("l_f", "long", pa.int64(), "float", lambda v: float(v)),
    ("l_d", "long", pa.int64(), nullable("double"), lambda v: float(v)),
    ("l_s", nullable("long"), pa.int64(), nullable("string"), str),
    ("f_d", nullable("float"), pa.float32(), nullable("double"), lambda v: v),
    ("f_s", nullable("float"), pa.float32(), nullable("string"), lambda v: str(v)),
    ("d_s", "double", pa.float64(), "string", lambda v: str(v)),
    ("t_s", nullable("boolean"), pa.bool_(), nullable("string"), lambda v: "true" if v else "false"),
    ("day_s", nullable(logical("int", "date")), pa.date32(), nullable("string"), lambda v: v.isoformat()),
    ("dec_w", nullable(logical("bytes", "decimal", precision=8, scale=2)), pa.decimal128(8, 2),
     nullable(logical("bytes", "decimal", precision=50, scale=4)), lambda v: f"{v:.4f}"),
    ("dec_s", nullable(logical("bytes", "decimal", precision=8, scale=2)), pa.decimal128(8, 2), nullable("string"),
     lambda v: f"{v:f}"),
    ("i_dec", nullable("int"), pa.int32(), nullable(logical("bytes", "decimal", precision=20, scale=3)),
     lambda v: f"{v}.000"),
    ("b_s", nullable("bytes"), pa.binary(), nullable("string"), lambda v: v.decode()),
    ("s_b", nullable("string"), pa.string(), nullable("bytes"), lambda v: base64.b64encode(v.encode()).decode()),
    ("ms_us", nullable(logical("long", "timestamp-millis")), pa.timestamp("ms", "UTC"),
     nullable(logical("long", "timestamp-micros")), lambda v: stamp_text(v * 1000, "us", False)),
    ("li", nullable({"type": "array", "items": "int"}), pa.list_(pa.int32()),
     nullable({"type": "array", "items": nullable("string")}), lambda v: [str(x) for x in v]),
    ("m", nullable({"type": "map", "values": OLD_STRUCT}),
     pa.map_(pa.string(), pa.struct([("a", pa.int32()), pa.field("b", pa.float32(), False), ("gone", pa.string())])),
     nullable({"type": "map", "values": NOW_STRUCT}),
     lambda v: {k: {"added": None, "b": float(x["b"]), "renamed": x["a"], "known": 7} for k, x in v.items()}),
    ("old_name", nullable("string"), pa.string(), None, None),
    ("dropped", nullable("string"), pa.string(), None, None),
]


def old_row(rng):
    f = lambda: rng.randint(-8000, 8000) / 8
    small = dt.date(1970, 1, 1) + dt.timedelta(days=rng.randint(-700000, 2900000))
    row = {
        "i_l": rng.randint(-2**31, 2**31 - 1), "i_f": rng.randint(-9999, 9999), "i_d": rng.randint(-2**31, 2**31 - 1),
        "i_s": rng.randint(-2**31, 2**31 - 1), "l_f": rng.randint(-2**20, 2**20), "l_d": rng.randint(-2**50, 2**50),
        "l_s": rng.choice([-2**63, 2**63 - 1, 0]), "f_d": f(), "f_s": f(), "d_s": f(), "t_s": rng.random() < 0.5,
        "day_s": small, "dec_w": some_digits(rng, 8, 2), "dec_s": some_digits(rng, 8, 2),
        "i_dec": rng.randint(-2**31, 2**31 - 1), "b_s": some_text(rng).encode(), "s_b": some_text(rng),
        "ms_us": rng.randint(-10**12, 10**12), "li": [rng.randint(-9, 9) for _ in range(rng.randrange(4))],
        "m": {f"k{i}": {"a": rng.choice([None, 3]), "b": f(), "gone": "x"} for i in range(rng.randrange(3))},
        "old_name": some_text(rng), "dropped": "x",
    }
    for name, avro, *_ in EVOLVED:
        if isinstance(avro, list) and rng.random() < 0.2:
            row[name] = None
    return row


def evolution():
    rng = random.Random(20240202)
    rows = [old_row(rng) for _ in range(60)]
    old = [(name, avro, kind) for name, avro, kind, *_ in EVOLVED]
    table = table_of(old, rows)
    pq.write_table(table, os.path.join(HERE, "old.parquet"), compression="zstd", row_group_size=25, store_schema=False)
    read = pq.read_table(os.path.join(HERE, "old.parquet")).to_pylist()
    fields = [{"name": n, "type": now} for n, _, _, now, _ in EVOLVED if now is not None]
    fields += [{"name": "new_name", "type": nullable("string"), "default": None},
               {"name": "dropped", "type": nullable("long"), "default": None},
               {"name": "added", "type": nullable("int"), "default": None},
               {"name": "known", "type": "string", "default": "dü"},
               {"name": "known_list", "type": {"type": "array", "items": "int"}, "default": [1, 2]}]
    expected = []
    for row, back in zip(rows, read):
        assert row["i_l"] == back["i_l"] and row["old_name"] == back["old_name"] and row["dec_w"] == back["dec_w"]
        now = {n: None if row[n] is None else how(row[n]) for n, _, _, kind, how in EVOLVED if kind is not None}
        now |= {"new_name": row["old_name"], "dropped": None, "added": None, "known": "dü", "known_list": [1, 2]}
        expected.append(now)
    write("old.avsc", json.dumps(avro_schema(old), indent=1) + "\n")
    write("evolved.avsc", json.dumps({"type": "record", "name": "row", "namespace": "test", "fields": fields},
                                     indent=1) + "\n")
    write("evolved.jsonl", lines(expected))
    write("old_avro.txt", "\n".join(encode(old, rows)) + "\n")


if __name__ == "__main__":
    types()
    evolution()
