#!/usr/bin/env python3
"""Runs the freshness bench and prints one table: tidemark, its peers and the physical limit, in one run.

Every contestant is a process of its own that is asked the same questions; what it answers is compared here with what
the loader computed. Sizes come from --scale:

  full    10,000 partitions on three real brokers; minutes, wants a quiet machine
  quick   the same with 100 partitions, to see that everything works
  wide    100,000 partitions on six brokers, without the peers: how ours grows; the loading alone takes many minutes
  smoke   16 partitions on the brokers that $BOOTSTRAP names (bench/mock_brokers), for the test suite
"""
import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import contest_table

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREFIX = "bench"
# A table that a real writer left, and the topic its checkpoint names, for the start of the whole program.
TABLE = ROOT / "testdata" / "hudi" / "tables" / "a01_cow_3syncs_v9" / "table"
TABLE_TOPIC, TABLE_PARTITIONS, TABLE_COMMITTED = "a01_cow_3syncs_v9", 3, 7
RECORD_BYTES = 1024
RECORD_OVERHEAD_BYTES, BATCH_OVERHEAD_BYTES = 16, 128  # generous; see doc of the v2 batch format
CONTESTANT_SECONDS_MAX = 900
SLOW = ("once_per_topic", "each", "each_tuned")  # run once: their time is the sum of many equal parts


@dataclasses.dataclass(frozen=True)
class Scale:
    topics: int  # of `partitions` each
    partitions: int
    few_topics: int  # how many of them the smaller scenarios ask for
    repeats: int
    sample: int  # the first partitions, for the contestant that goes one by one
    sample_tuned: int  # the same for its faster setting
    small_batches: int  # batches of one record in each partition
    starts: int  # of the whole program
    scan_seconds: float  # for each commit body
    # One process may hold 20,000 open files on common machines, and a broker has one for each of its partitions.
    brokers: int = 3
    broker_heap: str = "320m"
    is_wide: bool = False  # one load, no peers


SCALES = {
    "full": Scale(100, 100, 10, repeats=5, sample=100, sample_tuned=500, small_batches=8, starts=20, scan_seconds=1),
    "quick": Scale(10, 10, 5, repeats=2, sample=10, sample_tuned=20, small_batches=8, starts=5, scan_seconds=0.1),
    "wide": Scale(100, 1000, 10, repeats=5, sample=0, sample_tuned=0, small_batches=2, starts=1, scan_seconds=0.01,
                  brokers=6, broker_heap="1g", is_wide=True),
    "smoke": Scale(2, 8, 1, repeats=1, sample=1, sample_tuned=1, small_batches=4, starts=1, scan_seconds=0.01),
}


@dataclasses.dataclass(frozen=True)
class Load:
    """Batches appended to the topics before a group of scenarios."""
    name: str
    batch_records: int
    batches: int
    is_few: bool  # into the first topics only, so that the data stays small

    @property
    def batch_bytes(self):
        return self.batch_records * (RECORD_BYTES + RECORD_OVERHEAD_BYTES) + BATCH_OVERHEAD_BYTES


def loads(scale):
    small = Load("one 1 KB record a batch", 1, scale.small_batches, is_few=False)
    if scale.is_wide:
        return [small]
    return [
        small,
        Load("16 KB batches", 16, 4, is_few=False),
        # Three of them in 1,000 partitions are 1.5 GB.
        Load("512 KB batches", 512, 3, is_few=True),
    ]


class Bench:
    def __init__(self, build, scale, bootstrap, may_create, folder):
        self.build = build
        self.scale = scale
        self.bootstrap = bootstrap
        self.may_create = may_create  # topics; the mock brokers come with theirs
        self.folder = folder
        self.end = 0  # offset at which every partition of the topics loaded so far ends

    def program(self, name):
        return str(self.build / "bench" / name)

    def say(self, text):
        print(f"bench: {text}", file=sys.stderr, flush=True)

    # --- loading -----------------------------------------------------------------------------------------------------

    def load(self, load, is_first):
        topics = self.scale.few_topics if load.is_few else self.scale.topics
        self.say(f"loading {load.name} into {topics * self.scale.partitions:,} partitions")
        self.load_topics(self.folder, is_first, prefix=PREFIX, topics=topics, partitions=self.scale.partitions,
                         batches=load.batches, batch_records=load.batch_records, first_offset=self.end)
        self.end += load.batches * load.batch_records

    def load_topics(self, folder, creates, **options):
        command = [self.program("load_topics"), "--bootstrap", self.bootstrap, "--folder", str(folder),
                   "--record-bytes", str(RECORD_BYTES)]
        for name, value in options.items():
            command += ["--" + name.replace("_", "-"), str(value)]
        subprocess.run(command + ([] if creates and self.may_create else ["--no-create"]), check=True)

    def questions(self, name, count=None):
        """The first `count` lines of a file of the loader, as a file of their own."""
        lines = (self.folder / f"{name}.tsv").read_text().splitlines(keepends=True)
        path = self.folder / f"asked-{name}-{count}.tsv"
        path.write_text("".join(lines[:count]))
        return path

    # --- contestants -------------------------------------------------------------------------------------------------

    def contestants(self, load, asked):
        """(key, label, command without the common options, questions)."""
        ours = [
            ("raw", "raw requests (the limit)", ["raw_fetch", "--partition-bytes", str(load.batch_bytes)], asked),
            ("tidemark", "tidemark-wire", ["probe_partitions", "--wire"], asked),
        ]
        if self.scale.is_wide:
            return ours
        # Whole topics, so that what a new topic costs is shared by as many partitions as it has.
        few = self.questions("lagging", self.scale.sample)
        more = self.questions("lagging", self.scale.sample_tuned)
        return [
            *ours,
            ("rdkafka", "tidemark on librdkafka", ["probe_partitions"], asked),
            ("once", "one 500 ms poll", ["poll_once"], asked),
            ("once_per_topic", "one 500 ms poll a topic", ["poll_once", "--per-topic"], asked),
            ("each", "one by one", ["poll_each"], few),
            ("each_tuned", "one by one, fetch wait 10 ms", ["poll_each", "--fetch-wait-ms", "10"], more),
        ]

    def run(self, key, label, command, questions):
        """One run of one contestant: its own JSON, and its answers judged."""
        answers = self.folder / "answers.tsv"
        answers.unlink(missing_ok=True)
        full = [self.program(command[0]), *command[1:], "--bootstrap", self.bootstrap,
                "--questions", str(questions), "--answers", str(answers)]
        done = subprocess.run(full, stdout=subprocess.PIPE, timeout=CONTESTANT_SECONDS_MAX, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{label} ended with code {done.returncode}: {' '.join(full)}")
        outcome = json.loads(done.stdout)
        outcome.update(key=key, label=label)
        return outcome, judge(questions, answers, self.folder / "truth.tsv")

    def scenario(self, name, load, asked):
        """All contestants `repeats` times in turn, so that a change of the machine's load meets all alike."""
        contestants = self.contestants(load, asked)
        runs = {key: [] for key, *_ in contestants}
        before = os.getloadavg()[0]
        self.run(*contestants[0])  # what the brokers read once comes from memory afterwards
        for repeat in range(self.scale.repeats):
            for key, label, command, questions in contestants:
                if key in SLOW and repeat > 0:
                    continue
                self.say(f"{name}: {label} ({repeat + 1} of {self.scale.repeats})")
                outcome, judged = self.run(key, label, command, questions)
                runs[key].append({**outcome, **judged})
        total = len(asked.read_text().splitlines())
        rows = [contest_table.summary(results, total) for results in runs.values() if results]
        return {"scenario": name, "partitions": total, "batch_bytes": load.batch_records * RECORD_BYTES, "rows": rows,
                "load_before": before, "load_after": os.getloadavg()[0]}

    def watermarks(self):
        """Everything caught up: no record to look for, only the ends of the log."""
        asked = self.questions("caught_up")
        contestants = [("raw", "one raw ListOffsets round", ["raw_fetch", "--partition-bytes", "1", "--one-round"]),
                       ("tidemark", "tidemark-wire", ["probe_partitions", "--wire"]),
                       ("tidemark_warm", "tidemark-wire, second time", ["probe_partitions", "--wire", "--warm"])]
        if not self.scale.is_wide:
            contestants += [("rdkafka", "tidemark on librdkafka", ["probe_partitions"]),
                            ("rdkafka_warm", "tidemark on librdkafka, second time", ["probe_partitions", "--warm"])]
        runs = {key: [] for key, *_ in contestants}
        before = os.getloadavg()[0]
        for repeat in range(self.scale.repeats):
            for key, label, command in contestants:
                self.say(f"watermarks: {label} ({repeat + 1} of {self.scale.repeats})")
                outcome, _ = self.run(key, label, command, asked)
                outcome.update(oldest_error_ms=None, wrong=0)
                runs[key].append(outcome)
        total = len(asked.read_text().splitlines())
        return {"scenario": f"watermarks of {total:,} partitions that are caught up", "partitions": total,
                "batch_bytes": None, "load_before": before, "load_after": os.getloadavg()[0],
                "rows": [contest_table.summary(results, total) for results in runs.values()]}

    def start_up(self):
        """The whole program once, as a shell would run it."""
        folder = self.folder / "table"
        folder.mkdir()
        self.load_topics(folder, True, topic=TABLE_TOPIC, partitions=TABLE_PARTITIONS, batches=TABLE_COMMITTED + 3,
                         committed_batches=TABLE_COMMITTED)
        tidemark = str(self.build / "tidemark")
        probe = [self.program("probe_partitions"), "--bootstrap", self.bootstrap,
                 "--questions", str(folder / "lagging.tsv"), "--answers", str(folder / "answers.tsv")]
        commands = {
            "version": [tidemark, "version"],
            "checkpoint": [tidemark, "checkpoint", str(TABLE)],
            "freshness": [tidemark, "freshness", "--table", str(TABLE), "--bootstrap", self.bootstrap],
            "probe": probe,
        }
        walls = {name: [] for name in commands}
        for repeat in range(self.scale.starts):
            for name, command in commands.items():
                begin = time.perf_counter()
                done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
                walls[name].append(1000 * (time.perf_counter() - begin))
                if done.returncode not in (0, 1, 2):  # healthy, warning, breach: the report was whole
                    raise RuntimeError(f"ended with code {done.returncode}: {' '.join(command)}")
        return {name: statistics.median(each) for name, each in walls.items()}

    def commit_bodies(self):
        """Name of the benchmark -> milliseconds and bytes of the body."""
        command = [self.program("commit_metadata_bench"), "--benchmark_format=json",
                   f"--benchmark_min_time={self.scale.scan_seconds}"]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        return {each["name"]: {"ms": each["real_time"], "bytes": each["body_bytes"]}
                for each in json.loads(done.stdout)["benchmarks"]}

    def all_scenarios(self):
        scenarios = []
        for number, load in enumerate(loads(self.scale)):
            self.load(load, number == 0)
            few = self.questions("lagging", self.scale.few_topics * self.scale.partitions)
            for asked in [few] if load.is_few else [few, self.questions("lagging")]:
                count = len(asked.read_text().splitlines())
                scenarios.append(self.scenario(f"{count:,} lagging partitions, {load.name}", load, asked))
            if number == 0:
                scenarios.append(self.watermarks())
        return scenarios


def judge(questions, answers, truth):
    """Compares answers with the truth: how many are wrong, and how far off the oldest of them is."""
    def read(path):
        rows = (line.split("\t") for line in path.read_text().splitlines())
        return {(topic, partition): value for topic, partition, value in rows}
    expected = read(truth)
    given = read(answers)
    asked = {tuple(line.split("\t")[:2]) for line in questions.read_text().splitlines()}
    wrong = sum(value != expected[place] for place, value in given.items())
    stamps = [int(value) for value in given.values() if value != "-"]
    error = abs(min(stamps) - min(int(expected[place]) for place in asked)) if stamps else None
    return {"wrong": wrong, "oldest_error_ms": error}


@contextlib.contextmanager
def real_brokers(folder, scale):
    """The cluster of the system tests, with several nodes."""
    sys.path.insert(0, str(ROOT / "tests" / "system"))
    from kafka_cluster import KafkaCluster
    deps = os.environ.get("TIDEMARK_DEPS") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tidemark")
    # Each partition has a handful of open files.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    # Looking for what is to be deleted twice a second is for tests; over this many partitions it is all a broker does.
    rarely = {"log.retention.check.interval.ms": "300000", "log.cleaner.backoff.ms": "60000"} if scale.is_wide else {}
    with KafkaCluster(folder / "brokers", pathlib.Path(deps) / "kafka-4.4.0", nodes=scale.brokers, settings=rarely,
                      heap=scale.broker_heap) as cluster:
        yield cluster.bootstrap()


def machine():
    with open("/proc/cpuinfo") as info:
        models = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return {"cpus": os.cpu_count(), "cpu": models[0] if models else platform.machine(),
            "kernel": platform.release(), "load": os.getloadavg()}


def commit():
    done = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() or None


def read_arguments(description, scales, add_more=lambda parser: None):
    """The command line of a bench, and the scale that it asks for. `add_more` adds flags of its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", choices=scales, default="full")
    parser.add_argument("--quick", action="store_const", const="quick", dest="scale", help="the same as --scale quick")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="the build folder")
    parser.add_argument("--repeats", type=int, help="how often each contestant runs")
    add_more(parser)
    arguments = parser.parse_args()
    scale = scales[arguments.scale]
    if arguments.repeats:
        scale = dataclasses.replace(scale, repeats=arguments.repeats)
    return arguments, scale


def main():
    arguments, scale = read_arguments(__doc__, SCALES)
    results = {"command": " ".join(["scripts/run-bench", *sys.argv[1:]]), "commit": commit(), "machine": machine(),
               "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "scale": arguments.scale}
    out = arguments.build / "bench"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=out))
    try:
        with contextlib.ExitStack() as stack:
            bootstrap = os.environ["BOOTSTRAP"] if arguments.scale == "smoke" else stack.enter_context(
                real_brokers(folder, scale))
            bench = Bench(arguments.build, scale, bootstrap, arguments.scale != "smoke", folder)
            results["start_up_ms"] = bench.start_up()
            results["commit_bodies"] = bench.commit_bodies()
            results["scenarios"] = bench.all_scenarios()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    path = out / f"results-{arguments.scale}.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(contest_table.text(results))
    print(f"\nresults as JSON: {os.path.relpath(path)}")
    broken = contest_table.contradictions(results)
    for line in broken:
        print(f"bench: {line}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
