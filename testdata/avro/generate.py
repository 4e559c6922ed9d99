#!/usr/bin/env python3
"""Writes the test vectors of this folder with fastavro: random schemas, random values, their bytes, and their text.

    pip install fastavro==1.13.1 cramjam==2.14.0 backports.zstd==1.8.0
    python3 generate.py
"""
import io
import json
import os
import random
import struct

import fastavro

HERE = os.path.dirname(os.path.abspath(__file__))
PRIMITIVES = ["null", "boolean", "int", "long", "float", "double", "bytes", "string"]
LOGICALS = [
    {"type": "int", "logicalType": "date"},
    {"type": "int", "logicalType": "time-millis"},
    {"type": "long", "logicalType": "time-micros"},
    {"type": "long", "logicalType": "timestamp-millis"},
    {"type": "long", "logicalType": "timestamp-micros"},
    {"type": "long", "logicalType": "local-timestamp-micros"},
    {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 3},
    {"type": "string", "logicalType": "something-of-ours"},
]


class Maker:
    """One random schema. `named` holds full name -> definition."""

    def __init__(self, rng):
        self.rng = rng
        self.named = {}
        self.count = 0

    def name(self):
        self.count += 1
        space = self.rng.choice([None, "a.b", "org.example"])
        short = f"N{self.count}"
        written = {"name": short} if space is None else {"name": short, "namespace": space}
        if space is not None and self.rng.random() < 0.5:
            written = {"name": f"{space}.{short}"}
        return written, space, short

    def full(self, space, short, enclosing):
        space = space if space is not None else enclosing
        return f"{space}.{short}" if space else short

    def schema(self, depth, enclosing="", in_union=False):
        rng = self.rng
        options = ["primitive"] * 4 + ["logical", "enum", "fixed"]
        known = sorted(name for name in self.named if "." in name or not enclosing)
        if known:
            options.append("reference")
        if depth > 0:
            options += ["array", "map", "record", "record"]
            if not in_union:
                options += ["union", "union"]
        kind = rng.choice(options)
        if kind == "primitive":
            word = rng.choice(PRIMITIVES)
            return word if rng.random() < 0.7 else {"type": word, "doc": "ignored"}
        if kind == "logical":
            return dict(rng.choice(LOGICALS))
        if kind == "reference":
            return rng.choice(known)
        if kind == "array":
            return {"type": "array", "items": self.schema(depth - 1, enclosing)}
        if kind == "map":
            return {"type": "map", "values": self.schema(depth - 1, enclosing)}
        if kind == "union":
            return self.union(depth, enclosing)
        written, space, short = self.name()
        full = self.full(space, short, enclosing)
        if kind == "fixed":
            made = {"type": "fixed", "size": rng.choice([0, 1, 4, 16]), **written}
            self.named[full] = made
            return made
        if kind == "enum":
            made = {"type": "enum", "symbols": [f"S{i}" for i in range(rng.randint(1, 5))], **written}
            self.named[full] = made
            return made
        made = {"type": "record", "fields": [], **written}
        inner = full.rpartition(".")[0]
        for i in range(rng.randint(0, 6)):
            if rng.random() < 0.15:
                made["fields"].append({"name": f"f{i}", "type": ["null", full], "default": None})
            else:
                made["fields"].append({"name": f"f{i}", "type": self.schema(depth - 1, inner)})
        self.named[full] = made
        made["__full"] = full
        return made

    def union(self, depth, enclosing):
        """Branches that fastavro can tell apart by the value alone."""
        rng = self.rng
        words = ["null", "boolean", rng.choice(["long", "double"]), "string", "bytes"]
        if depth > 0:
            words.append("map")
        if depth > 0 and rng.random() < 0.5:
            words.remove("bytes")  # to fastavro they are a list of ints
            words.append("array")
        chosen = [word for word in words if rng.random() < 0.5] or ["null"]
        rng.shuffle(chosen)
        branches = []
        for word in chosen:
            if word in ("array", "map"):
                key = "items" if word == "array" else "values"
                branches.append({"type": word, key: self.schema(depth - 1, enclosing)})
            else:
                branches.append(word)
        return branches


def strip(schema):
    if isinstance(schema, dict):
        return {k: strip(v) for k, v in schema.items() if k != "__full"}
    if isinstance(schema, list):
        return [strip(s) for s in schema]
    return schema


def integer(rng, bits):
    edge = rng.choice([0, -1, 1, 63, 64, -64, -65, 8191, 8192, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)])
    if rng.random() < 0.5 and -(2 ** (bits - 1)) <= edge < 2 ** (bits - 1):
        return edge
    return rng.randint(-(2 ** rng.randint(0, bits - 1)), 2 ** rng.randint(0, bits - 1) - 1)


def value(rng, schema, named, depth):
    """(what fastavro gets, its text). Text: integers in decimal, floats as the hex of their bits, bytes as b:hex,
    strings as s:hex, enums as e:symbol, unions as index|value, records as {name=value,…}, arrays as [value,…], maps
    as <key-hex=value,…>."""
    if isinstance(schema, list):
        index = rng.randrange(len(schema))
        if depth > 4 and "null" in schema:
            index = schema.index("null")
        given, text = value(rng, schema[index], named, depth + 1)
        return given, f"{index}|{text}"
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, str) and kind in named:
        return value(rng, named[kind], named, depth)
    few = rng.choice([0, 1, 2, 3]) if depth < 4 else rng.choice([0, 0, 1])
    if kind == "null":
        return None, "null"
    if kind == "boolean":
        given = rng.random() < 0.5
        return given, "true" if given else "false"
    if kind in ("int", "long"):
        given = integer(rng, 32 if kind == "int" else 64)
        return given, str(given)
    if kind == "float":
        raw = struct.pack("<f", rng.choice([0.0, -0.0, 1.5, float("inf"), rng.uniform(-1e9, 1e9)]))
        return struct.unpack("<f", raw)[0], "f:" + raw[::-1].hex()
    if kind == "double":
        given = rng.choice([0.0, -0.0, 1.5, float("-inf"), rng.uniform(-1e300, 1e300)])
        return given, "d:" + struct.pack(">d", given).hex()
    if kind == "bytes":
        given = rng.randbytes(rng.choice([0, 1, 5, 70]))
        return given, "b:" + given.hex()
    if kind == "string":
        given = rng.choice(["", "a", "topic,0:6,1:3", "ü€𝄞", "x" * 100])
        return given, "s:" + given.encode().hex()
    if kind == "fixed":
        given = rng.randbytes(schema["size"])
        return given, "b:" + given.hex()
    if kind == "enum":
        given = rng.choice(schema["symbols"])
        return given, "e:" + given
    if kind == "array":
        parts = [value(rng, schema["items"], named, depth + 1) for _ in range(few)]
        return [p[0] for p in parts], "[" + ",".join(p[1] for p in parts) + "]"
    if kind == "map":
        parts = {f"k{i}": value(rng, schema["values"], named, depth + 1) for i in range(few)}
        return ({k: p[0] for k, p in parts.items()},
                "<" + ",".join(k.encode().hex() + "=" + p[1] for k, p in parts.items()) + ">")
    parts = [(f["name"], value(rng, f["type"], named, depth + 1)) for f in schema["fields"]]
    return {n: p[0] for n, p in parts}, "{" + ",".join(n + "=" + p[1] for n, p in parts) + "}"


def datums(rng, count):
    with open(os.path.join(HERE, "datums.jsonl"), "w") as out:
        for _ in range(count):
            maker = Maker(rng)
            schema = maker.schema(3)
            while isinstance(schema, str) or (len(json.dumps(schema)) < 150 and rng.random() < 0.8):
                maker = Maker(rng)
                schema = maker.schema(3)
            written = strip(schema)
            parsed = fastavro.parse_schema(json.loads(json.dumps(written)))
            rows = []
            for _ in range(3):
                given, text = value(rng, schema, maker.named, 0)
                buffer = io.BytesIO()
                fastavro.schemaless_writer(buffer, parsed, given)
                if len(buffer.getvalue()) < 1500:
                    rows.append([buffer.getvalue().hex(), text])
            out.write(json.dumps({"schema": json.dumps(written), "datums": rows}, separators=(",", ":")) + "\n")


def containers(rng):
    schema = {"type": "record", "name": "Row", "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"]},
        {"name": "tags", "type": {"type": "map", "values": {"type": "array", "items": "int"}}},
    ]}
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
    for codec in ("null", "deflate", "snappy", "zstandard"):
        rows = [value(rng, schema, {}, 0) for _ in range(60)]
        with open(os.path.join(HERE, f"{codec}.avro"), "wb") as out:
            fastavro.writer(out, parsed, [r[0] for r in rows], codec=codec, sync_interval=500,
                            metadata={"written.by": "fastavro"}, sync_marker=bytes(range(16)))
        with open(os.path.join(HERE, f"{codec}.txt"), "w") as out:
            out.writelines(r[1] + "\n" for r in rows)
    with open(os.path.join(HERE, "empty.avro"), "wb") as out:
        fastavro.writer(out, parsed, [], sync_marker=bytes(range(16)))
    with open(os.path.join(HERE, "bzip2.avro"), "wb") as out:
        fastavro.writer(out, parsed, [], codec="bzip2", sync_marker=bytes(range(16)))


class Evolver:
    """Changes a schema as writers of tables do: fields come with defaults, go, move, get a new name; types widen."""

    def __init__(self, rng):
        self.rng = rng
        self.seen = {}  # the evolved form of each named type, by full name

    def evolve(self, schema, in_union=False):
        rng = self.rng
        if isinstance(schema, list):
            branches = [self.evolve(s, True) for s in schema]
            if rng.random() < 0.3:
                rng.shuffle(branches)
            if "null" not in branches and rng.random() < 0.3:
                branches.insert(0, "null")
            return branches
        kind = schema["type"] if isinstance(schema, dict) else schema
        if not isinstance(kind, str):
            return schema
        if kind in WIDER and not in_union and not (isinstance(schema, dict) and "logicalType" in schema):
            wider = rng.choice(WIDER[kind] + [kind])
            return ["null", wider] if rng.random() < 0.2 else wider
        if kind == "array":
            return {"type": "array", "items": self.evolve(schema["items"])}
        if kind == "map":
            return {"type": "map", "values": self.evolve(schema["values"])}
        if kind == "enum":
            return dict(schema, symbols=schema["symbols"] + ["More"])
        if kind != "record":
            return schema
        fields = []
        for field in schema["fields"]:
            if rng.random() < 0.15:
                continue
            new = {"name": field["name"], "type": self.evolve(field["type"])}
            if rng.random() < 0.15:
                new["aliases"] = [new["name"]]
                new["name"] += "_new"
            fields.append(new)
        for i in range(rng.randint(0, 2)):
            kind, default = rng.choice(DEFAULTS)
            fields.append({"name": f"added{i}", "type": kind, "default": default})
        rng.shuffle(fields)
        return dict(schema, fields=fields)


WIDER = {"int": ["long", "double"], "long": ["double"], "float": ["double"], "string": ["bytes"], "bytes": []}
DEFAULTS = [
    ("int", -7), ("long", 2**40), ("double", 2.5), ("string", "dü"), ("boolean", True), (["null", "string"], None),
    (["string", "null"], "x"), ({"type": "array", "items": "int"}, [1, 2]), ({"type": "map", "values": "long"}, {"k": 3}),
    ({"type": "record", "name": "Added", "fields": [{"name": "a", "type": "int"}]}, {"a": 5}),
]


def bare(schema, value, named):
    """The text of a value that was read, as value() writes it but without the branches of unions."""
    if isinstance(schema, list):
        for branch in schema:
            if fits(branch, value, named):
                return bare(branch, value, named)
        raise ValueError((schema, value))
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, str) and kind in named:
        return bare(named[kind], value, named)
    if isinstance(kind, (list, dict)):
        return bare(kind, value, named)
    if kind == "null":
        return "null"
    if kind == "boolean":
        return "true" if value else "false"
    if kind in ("int", "long"):
        return str(value)
    if kind == "double":
        return "d:" + struct.pack(">d", float(value)).hex()
    if kind == "float":
        return "f:" + struct.pack(">f", value).hex()
    if kind in ("bytes", "fixed"):
        return "b:" + (value.encode() if isinstance(value, str) else value).hex()
    if kind == "string":
        return "s:" + value.encode().hex()
    if kind == "enum":
        return "e:" + value
    if kind == "array":
        return "[" + ",".join(bare(schema["items"], v, named) for v in value) + "]"
    if kind == "map":
        return "<" + ",".join(k.encode().hex() + "=" + bare(schema["values"], v, named) for k, v in value.items()) + ">"
    return "{" + ",".join(f["name"] + "=" + bare(f["type"], value[f["name"]], named) for f in schema["fields"]) + "}"


def fits(schema, value, named):
    kind = schema["type"] if isinstance(schema, dict) else schema
    if kind in named:
        return fits(named[kind], value, named)
    python = {"null": type(None), "boolean": bool, "int": int, "long": int, "float": float, "double": (int, float),
              "bytes": bytes, "string": str, "fixed": bytes, "enum": str, "array": list, "map": dict, "record": dict}
    return isinstance(value, python[kind]) and not (isinstance(value, bool) and kind != "boolean")


def plain(schema):
    """Without logical types, which fastavro would turn into objects of its own."""
    if isinstance(schema, dict):
        return {k: plain(v) for k, v in schema.items() if k not in ("logicalType", "__full")}
    if isinstance(schema, list):
        return [plain(s) for s in schema]
    return schema


def collect(schema, enclosing, named):
    if isinstance(schema, list):
        for branch in schema:
            collect(branch, enclosing, named)
    elif isinstance(schema, dict):
        if "name" in schema:
            space = schema.get("namespace", enclosing)
            full = schema["name"] if "." in schema["name"] else (f"{space}.{schema['name']}" if space else schema["name"])
            named[full] = schema
            enclosing = full.rpartition(".")[0]
        for key in ("items", "values"):
            if key in schema:
                collect(schema[key], enclosing, named)
        for field in schema.get("fields", []):
            collect(field["type"], enclosing, named)


def has_text_and_bytes(schema):
    """Whether a union has both: fastavro then takes the first that a string can be promoted to, Java the very type."""
    if isinstance(schema, list):
        return {"string", "bytes"} <= {s for s in schema if isinstance(s, str)} or any(map(has_text_and_bytes, schema))
    if isinstance(schema, dict):
        return any(has_text_and_bytes(v) for k, v in schema.items() if k in ("type", "items", "values", "fields"))
    return False


def resolutions(rng, count):
    with open(os.path.join(HERE, "resolve.jsonl"), "w") as out:
        made = 0
        while made < count:
            maker = Maker(rng)
            writer = plain(maker.schema(3))
            reader = Evolver(rng).evolve(json.loads(json.dumps(writer)))
            if not isinstance(writer, dict) or json.dumps(reader).count('"Added"') > 1 or has_text_and_bytes(reader):
                continue
            named = {}
            collect(writer, "", named)
            given, _ = value(rng, writer, named, 0)
            buffer = io.BytesIO()
            try:
                # A dropped definition leaves references behind: no schema then.
                parsed = fastavro.parse_schema(json.loads(json.dumps(reader)))
                fastavro.schemaless_writer(buffer, fastavro.parse_schema(json.loads(json.dumps(writer))), given)
                read = fastavro.schemaless_reader(io.BytesIO(buffer.getvalue()), writer, parsed)
            except (fastavro.schema.UnknownType, fastavro.schema.SchemaParseException):
                continue
            if len(buffer.getvalue()) > 1500:
                continue
            named = {}
            collect(reader, "", named)
            row = {"writer": json.dumps(writer), "reader": json.dumps(reader), "datum": buffer.getvalue().hex(),
                   "text": bare(reader, read, named)}
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
            made += 1


if __name__ == "__main__":
    datums(random.Random(20240101), 160)
    containers(random.Random(20240102))
    resolutions(random.Random(20240104), 150)
