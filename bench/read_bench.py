#!/usr/bin/env python3
"""Reads one big Hudi table with tidemark and with its peers, in turn in one run, and prints one table.

Every contestant is a process of its own on the same files, which are read once before, so that they come from memory.
Every answer is compared with what the generator of the table must have left. Sizes come from --scale:

  full    2 million base rows, 400,000 log records; the first run writes the table with Spark, which takes minutes
  quick   a tenth of it, to see that everything works
  smoke   a tiny table of testdata, with tidemark alone, for the test suite
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import read_parts
import read_report
from run_bench import commit, machine, read_arguments

ROOT = pathlib.Path(__file__).resolve().parent.parent
PEERS = str(ROOT / "bench" / "read_peers.py")
SECONDS_MAX = 900
SPARK_WARM_UPS = 2


@dataclasses.dataclass(frozen=True)
class Scale:
    rows: int  # in base files; 0: of testdata
    repeats: int
    columns: tuple  # two to sum, one to sum the lengths of
    truth: dict  # profile -> count and the sums, by hand from what was written
    has_peers: bool = True
    log_rounds: int = 5


def generated(rows):
    """What big_table.py's records add up to: by both profiles the late updates lose and the newer deletes count."""
    answer = [0, 0, 0, 0]
    for n in range(rows):
        kind = n // 5 % 8 if n % 5 == 2 else 7  # 7: the base row stays
        if kind == 6:
            continue
        for place, value in enumerate((1, 1700000000000 + n % 1000003 + (5000000 if kind < 6 else 0), n % 100000, 32)):
            answer[place] += value
    return answer


BIG = {profile: [1950000, 3315002474998475009, 97498400000, 62400000] for profile in ("event-time", "hudi-0.14")}
SMOKE = ROOT / "testdata" / "hudi" / "rows" / "f014_bigint_sep_d" / "table"
SCALES = {
    "full": Scale(2000000, 5, ("ord", "c5", "c1"), BIG),
    "quick": Scale(200000, 2, ("ord", "c5", "c1"), {}),
    # Six keys whose last version has ts 3000 and whose names are n1 to n6.
    "smoke": Scale(0, 1, ("ts", "id", "name"), {"event-time": [6, 18000, 21, 12]}, has_peers=False, log_rounds=1),
}


def run(*commands):
    """Runs commands as one pipeline: wall time, CPU of all, the greatest resident size, what the last one printed.
    A child's peak begins with ours, so this process loads nothing large."""
    begin = time.perf_counter()
    children, source = [], None
    for command in commands:
        child = subprocess.Popen(command, stdin=source, stdout=subprocess.PIPE)
        if source is not None:
            source.close()
        source = child.stdout
        children.append(child)
    with source:
        printed = source.read().decode()
    outcome = {"cpu_s": 0, "max_rss_bytes": 0, "codes": [], "printed": printed}
    for child in children:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        outcome["codes"].append(child.returncode)
        outcome["cpu_s"] += usage.ru_utime + usage.ru_stime
        outcome["max_rss_bytes"] = max(outcome["max_rss_bytes"], usage.ru_maxrss * 1024)
    return {"wall_s": time.perf_counter() - begin, **outcome}


def done(outcome, *allowed):
    if any(code not in (0, *allowed) for code in outcome["codes"]):
        raise RuntimeError(f"a contestant ended with codes {outcome['codes']}")
    return outcome


class Spark:
    """One session for the whole run, so that its JVM is warm; idle while others run."""

    def __init__(self, table):
        python, jars = read_parts.spark()
        self.child = subprocess.Popen([python, ROOT / "bench" / "big_table.py", "query", table, jars],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL, text=True)
        self.first = self.query()
        for _ in range(SPARK_WARM_UPS - 1):
            self.query()

    def query(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        for line in self.child.stdout:
            if line.startswith("{"):  # Java prints warnings there as well
                return json.loads(line)
        raise RuntimeError("Spark ended without an answer")

    def close(self):
        self.child.stdin.close()
        self.child.wait(SECONDS_MAX)


class Bench:
    def __init__(self, build, scale, stack):
        self.tidemark = str(build / "tidemark")
        self.programs = build / "bench"
        self.scale = scale
        self.truth = scale.truth or dict.fromkeys(BIG, generated(scale.rows))
        self.python = read_parts.readers() if scale.has_peers else sys.executable
        self.table = read_parts.table(scale.rows) if scale.rows else SMOKE
        self.tenth = read_parts.table(scale.rows // 10) if scale.has_peers else None
        self.spark = None
        if scale.has_peers:
            self.spark = Spark(self.table)
            stack.callback(self.spark.close)

    # --- contestants -------------------------------------------------------------------------------------------------

    def peer(self, *arguments):
        return [self.python, PEERS, *map(str, arguments)]

    def read(self, table, profile, *more):
        # Spark is absent from the smoke test, and Python's own library knows no Arrow.
        form = "arrow" if self.scale.has_peers else "csv"
        return [self.tidemark, "read", str(table), "--profile", profile, "--format", form, *more]

    def all_columns(self, table, profile, *more):
        return done(run(self.read(table, profile, *more, "--output", "/dev/null")))

    def from_peer(self, name):
        """What a peer measured of itself, without Python's start."""
        return json.loads(done(run(self.peer(name, self.table)))["printed"])

    def sums(self, table, profile, *more):
        """The whole pipeline, the start of its Python included."""
        total = self.peer("total", "arrow" if self.scale.has_peers else "csv", *self.scale.columns)
        outcome = done(run(self.read(table, profile, *more), total))
        return {**outcome, "answer": json.loads(outcome["printed"])}

    def projected(self, table, profile):
        return self.sums(table, profile, "--columns", ",".join(self.scale.columns))

    def audit(self):
        # Code 1 and 2: it found something.
        return done(run([self.tidemark, "audit", str(self.table)]), 1, 2)

    def has_audit(self):
        shown = subprocess.run([self.tidemark, "audit", "--help"], capture_output=True, check=False)
        return shown.returncode == 0

    def contestants(self):
        """key -> (label, what runs it once)."""
        found = {}
        if self.scale.has_peers:
            found["floor"] = ("pyarrow, base files alone (the floor)", lambda: self.from_peer("floor"))
        for profile in self.truth:
            found[f"all {profile}"] = (f"tidemark, {profile}", lambda p=profile: self.all_columns(
                self.table, p, "--meta"))
        found["all, no meta"] = ("tidemark, event-time, no meta columns", lambda: self.all_columns(
            self.table, "event-time"))
        if self.scale.has_peers:
            found["hudi-rs"] = ("hudi-rs 0.5.0 into Arrow", lambda: self.from_peer("hudi-rs"))
        for profile in self.truth:
            found[f"sums {profile}"] = (f"tidemark, {profile}: count, three sums", lambda p=profile: self.projected(
                self.table, p))
        if self.spark:
            found["spark"] = ("Spark 3.4.3, Hudi 0.14.0, warm: the same", self.spark.query)
        if self.tenth:
            found["tenth"] = ("tidemark, event-time, a tenth of the table", lambda: self.all_columns(
                self.tenth, "event-time", "--meta"))
            found["tenth sums"] = ("tidemark, a tenth: count, three sums", lambda: self.projected(
                self.tenth, "event-time"))
        if self.has_audit():
            found["audit"] = ("tidemark audit, all profiles", self.audit)
        return found

    # --- runs --------------------------------------------------------------------------------------------------------

    def check(self):
        """What is wrong with the rows themselves, of all columns, before anything is timed."""
        wrong = []
        for profile, truth in self.truth.items():
            read_parts.say(f"checking the rows, {profile}")
            for more in ((), ("--meta",)):
                answer = self.sums(self.table, profile, *more)["answer"]
                if answer != truth:
                    wrong.append(f"tidemark, {profile} {' '.join(more)}: {answer}, expected {truth}")
        return wrong

    def judge(self, key, outcome):
        """Answers that are given are right: None, or what is wrong. What hudi-rs gives is told, not judged."""
        profile = key.removeprefix("sums ") if key.startswith("sums ") else "event-time"
        truth = self.truth[profile] if key != "tenth sums" else generated(self.scale.rows // 10)
        if "answer" in outcome and outcome["answer"] != truth:
            return f"{key}: {outcome['answer']}, expected {truth}"
        return None

    def contest(self):
        contestants = self.contestants()
        runs, wrong = {key: [] for key in contestants}, self.check()
        for path in self.table.rglob("*"):
            if path.is_file():
                path.read_bytes()
        before = os.getloadavg()[0]
        for repeat in range(self.scale.repeats):
            for key, (label, work) in contestants.items():
                read_parts.say(f"{label} ({repeat + 1} of {self.scale.repeats})")
                outcome = work()
                outcome["load"] = os.getloadavg()[0]
                runs[key].append(outcome)
                wrong += filter(None, [self.judge(key, outcome)])
        rows = {key: summary(contestants[key][0], each) for key, each in runs.items()}
        return {"rows": rows, "wrong": sorted(set(wrong)), "load_before": before, "load_after": os.getloadavg()[0]}

    def log_rates(self):
        """Megabytes of Avro blocks a second of CPU: what is decoded -> rate."""
        logs = sorted(path for path in self.table.rglob(".*.log.*") if path.suffix != ".crc")
        rounds = ["--rounds", str(self.scale.log_rounds)]
        decode = [str(self.programs / "rows_bench"), *rounds]
        for path in logs:
            decode += ["--log", str(path)]
        fold = [str(self.programs / "log_scan_bench"), *rounds, "--table", str(self.table), *map(str, logs)]
        printed = done(run(decode))["printed"] + done(run(fold))["printed"]
        return {what: float(rate) for what, rate in re.findall(r"^(?:avro )?([^:\n]+):.* MB/s=(\S+)", printed,
                                                               re.MULTILINE)}


def summary(label, runs):
    walls = [each["wall_s"] for each in runs]
    return {"label": label, "runs": len(runs), "wall_s": statistics.median(walls), "wall_s_min": min(walls),
            "wall_s_max": max(walls), "cpu_s": statistics.median(each["cpu_s"] for each in runs),
            "max_rss_bytes": max(each["max_rss_bytes"] for each in runs), "read_rows": runs[0].get("rows")}


def main():
    arguments, scale = read_arguments(__doc__, SCALES)
    results = {"command": " ".join(["bench/read_bench.py", *sys.argv[1:]]), "commit": commit(),
               "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "scale": arguments.scale}
    with contextlib.ExitStack() as stack:
        bench = Bench(arguments.build, scale, stack)
        results["machine"] = machine()
        results["log_rates"] = bench.log_rates()
        results.update(bench.contest())
        if bench.spark:
            results["spark_first_s"] = bench.spark.first["wall_s"]
    path = arguments.build / "bench" / f"read-results-{arguments.scale}.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(read_report.text(results))
    print(f"\nresults as JSON: {os.path.relpath(path)}")
    for line in results["wrong"]:
        print(f"bench: wrong: {line}", file=sys.stderr)
    return 1 if results["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
