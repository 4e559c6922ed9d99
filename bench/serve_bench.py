#!/usr/bin/env python3
"""Runs the daemon at scale and prints what it costs: `tidemark serve` on local tables and a real Kafka cluster.

Every partition has a record that waits, and nothing changes: the steady state, in which a look costs one listing of the
table and no fetch. What the daemon says is compared with what the loader wrote. Sizes come from --scale:

  full    1,000 pipelines on 10,000 partitions of three brokers, an interval of 60 s, 10 minutes
  quick   the same with 50 pipelines, an interval of 5 s, one minute, to see that everything works
  smoke   4 pipelines on the brokers that $BOOTSTRAP names (bench/mock_brokers), seconds, for the test suite
"""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from run_bench import ROOT, commit, machine, read_arguments, real_brokers

PREFIX = "serve"
COMMITTED_BATCHES, BATCHES = 1, 2  # one record before the checkpoint, one that waits
SAMPLE_SECONDS = 5  # of memory; /metrics are asked for three times as rarely, as a scraper would
START_SECONDS_MAX = 900
GOAL_CORES, GOAL_RSS_MB = 0.5, 150


@dataclasses.dataclass(frozen=True)
class Scale:
    pipelines: int  # each with a topic and a table of its own
    partitions: int  # of each topic
    interval: int  # seconds
    commits: int  # in the timeline of each table
    warm_up: int  # seconds after everything was looked at once
    seconds: int  # measured
    repeats: int = 1
    # For run_bench.real_brokers: that many partitions are looked after rarely.
    brokers: int = 3
    broker_heap: str = "400m"
    is_wide: bool = True


SCALES = {
    "full": Scale(1000, 10, interval=60, commits=30, warm_up=180, seconds=600),
    "quick": Scale(50, 4, interval=5, commits=30, warm_up=10, seconds=60),
    "smoke": Scale(4, 8, interval=1, commits=3, warm_up=2, seconds=3),
}


class Fleet:
    """Tables, topics and a configuration."""

    def __init__(self, build, scale, bootstrap, may_create, folder, more=""):
        self.scale = scale
        self.folder = folder
        self.config = folder / "tidemark.yaml"
        command = [str(build / "bench" / "load_topics"), "--bootstrap", bootstrap, "--folder", str(folder),
                   "--record-bytes", "100", "--prefix", PREFIX, "--topics", str(scale.pipelines),
                   "--partitions", str(scale.partitions), "--batches", str(BATCHES),
                   "--committed-batches", str(COMMITTED_BATCHES), "--batch-records", "1"]
        subprocess.run(command + ([] if may_create else ["--no-create"]), check=True)
        self.oldest = self._oldest()
        sys.path.insert(0, str(ROOT / "tests" / "system"))
        import hudi_table
        lines = [f'clusters: {{ main: {{ bootstrap_servers: "{bootstrap}" }} }}', "state: { path: ./state }",
                 f"defaults: {{ interval: {scale.interval}s }}", more, "pipelines:"]
        for topic in self.oldest:
            commits = [hudi_table.Commit(self.checkpoint(topic))] * scale.commits
            hudi_table.write_table(folder / "tables" / topic, commits)
            lines.append(f'  - {{ name: {topic}, table: "{folder / "tables" / topic}", sla: 1d }}')
        self.config.write_text("\n".join(lines) + "\n")

    def checkpoint(self, topic):
        return ",".join([topic] + [f"{p}:{COMMITTED_BATCHES}" for p in range(self.scale.partitions)])

    def _oldest(self):
        """The stamp of each topic's oldest record that waits, by topic."""
        oldest = {}
        for line in (self.folder / "truth.tsv").read_text().splitlines():
            topic, _, stamp = line.split("\t")
            oldest[topic] = min(oldest.get(topic, int(stamp)), int(stamp))
        return oldest


class Daemon:
    """`tidemark serve` as a child, and what the kernel and it itself say about it."""

    def __init__(self, binary, config, env=None):
        self.process = subprocess.Popen(
            [str(binary), "serve", "--config", str(config), "--listen", "127.0.0.1:0", "--quiet"],
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env={**os.environ, **(env or {})})
        self.lines = []
        self.url = None
        self._heard = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._heard.wait(START_SECONDS_MAX) or self.url is None:
            raise RuntimeError("the daemon does not answer: " + "".join(self.lines[-20:]))

    def _read(self):
        for line in self.process.stderr:
            self.lines.append(line)
            found = re.search(r"answering at (\S+)", line)
            if found:
                self.url = found[1]
                self._heard.set()
        self._heard.set()

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=120) as answer:
            return answer.read().decode()

    def is_ready(self):
        try:
            self.get("/readyz")
            return True
        except urllib.error.HTTPError:
            return False

    def await_ready(self):
        end = time.monotonic() + START_SECONDS_MAX
        while not self.is_ready():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("not everything was looked at: " + "".join(self.lines[-20:]))
            time.sleep(0.2)

    def counts(self):
        """Its own counters, by name."""
        found = re.findall(r"^(tidemark_(?:looks|store|kafka)\w*_total) (\d+)$", self.get("/metrics"), re.MULTILINE)
        return {name: int(value) for name, value in found}

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self, what="VmRSS"):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(rf"^{what}:\s+(\d+) kB", status, re.MULTILINE)[1]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def wrong_reports(daemon, oldest):
    """Pipelines whose lag is not what the loader's stamps say, with what was said instead."""
    wrong = []
    reports = json.loads(daemon.get("/api/v1/pipelines"))["pipelines"]
    for report in reports:
        seen_at = report["oldest"] and report["oldest"]["timestamp_ms"]
        if seen_at != oldest[report["pipeline"]] or report["partitions"]["unknown"] > 0:
            wrong.append(f"{report['pipeline']}: {report['status']} {report['reason']} oldest={seen_at}")
    missing = set(oldest) - {report["pipeline"] for report in reports}
    return wrong + [f"{name}: not there" for name in sorted(missing)]


def slope_mb_an_hour(samples):
    """By least squares, of (seconds, MB)."""
    if len(samples) < 2:
        return 0.0
    fit = statistics.linear_regression([when for when, _ in samples], [mb for _, mb in samples])
    return fit.slope * 3600


def measure(daemon, scale, say):
    """Waits for the warm-up and then watches for as long as the scale says."""
    begun = time.monotonic()
    daemon.await_ready()
    first_round = time.monotonic() - begun
    say(f"all looked at after {first_round:.1f} s; warming up for {scale.warm_up} s")
    time.sleep(scale.warm_up)
    say(f"measuring for {scale.seconds} s")
    before, cpu_before, start = daemon.counts(), daemon.cpu_seconds(), time.monotonic()
    samples = []
    scrapes = 0
    while (passed := time.monotonic() - start) < scale.seconds:
        samples.append((passed, daemon.memory_mb()))
        if len(samples) % 3 == 0:
            daemon.get("/metrics")
            scrapes += 1
        time.sleep(min(SAMPLE_SECONDS, max(0.1, scale.seconds - passed)))
    cpu, seconds, after = daemon.cpu_seconds() - cpu_before, time.monotonic() - start, daemon.counts()
    done = {name: after[name] - before[name] for name in after}
    looks = done["tidemark_looks_total"]
    return {
        "first_round_seconds": first_round, "seconds": seconds, "scrapes": scrapes, "looks": looks,
        "looks_expected": scale.pipelines * seconds / scale.interval,
        "looks_left_out": done["tidemark_looks_left_out_total"],
        "listings_per_look": done["tidemark_store_listings_total"] / max(1, looks),
        "reads_per_look": done["tidemark_store_reads_total"] / max(1, looks),
        "fetched_bytes": done["tidemark_kafka_fetched_bytes_total"],
        "fetched_bytes_before": before["tidemark_kafka_fetched_bytes_total"],
        "probes": done["tidemark_kafka_probes_total"],
        "cores": cpu / seconds, "rss_max_mb": daemon.memory_mb("VmHWM"),
        "rss_mb": [round(mb, 1) for _, mb in samples], "rss_slope_mb_an_hour": slope_mb_an_hour(samples),
    }


def text(results):
    found = results["found"]
    def goal(is_met):
        return "met" if is_met else "MISSED"
    rows = [
        ("CPU, cores", f"{found['cores']:.3f}", f"<= {GOAL_CORES}", goal(found["cores"] <= GOAL_CORES)),
        ("RSS at most, MB", f"{found['rss_max_mb']:.0f}", f"<= {GOAL_RSS_MB}",
         goal(found["rss_max_mb"] <= GOAL_RSS_MB)),
        ("RSS, MB an hour after warm-up", f"{found['rss_slope_mb_an_hour']:+.1f}", "flat", ""),
        ("listings a look", f"{found['listings_per_look']:.3f}", "1", goal(abs(found["listings_per_look"] - 1) < 0.01)),
        ("reads a look", f"{found['reads_per_look']:.3f}", "0", goal(found["reads_per_look"] == 0)),
        ("bytes fetched", f"{found['fetched_bytes']:,}", "0", goal(found["fetched_bytes"] == 0)),
        ("looks", f"{found['looks']:,} of {found['looks_expected']:,.0f}", "", ""),
        ("looks left out", f"{found['looks_left_out']:,}", "0", goal(found["looks_left_out"] == 0)),
        ("first round, s", f"{found['first_round_seconds']:.1f}", "", ""),
    ]
    lines = [f"{results['pipelines']:,} pipelines, {results['partitions']:,} partitions, "
             f"every {results['interval']} s, for {found['seconds']:.0f} s; "
             f"load before {results['machine']['load'][0]:.1f}, after {results['load_after']:.1f}, "
             f"{results['machine']['cpus']} CPUs"]
    lines += [f"  {name:<30} {value:>18}   {wanted:<7} {met}".rstrip() for name, value, wanted, met in rows]
    return "\n".join(lines)


def main():
    arguments, scale = read_arguments(__doc__, SCALES, lambda parser: parser.add_argument(
        "--minutes", type=float, help="how long is measured"))
    if arguments.minutes:
        scale = dataclasses.replace(scale, seconds=60 * arguments.minutes)
    results = {"command": " ".join(["bench/serve_bench.py", *sys.argv[1:]]), "commit": commit(), "machine": machine(),
               "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "scale": arguments.scale,
               "pipelines": scale.pipelines, "partitions": scale.pipelines * scale.partitions,
               "interval": scale.interval}

    def say(words):
        print(f"bench: {words}", file=sys.stderr, flush=True)

    out = arguments.build / "bench"
    folder = pathlib.Path(tempfile.mkdtemp(prefix="serve-", dir=out))
    try:
        with contextlib.ExitStack() as stack:
            is_smoke = arguments.scale == "smoke"
            bootstrap = os.environ["BOOTSTRAP"] if is_smoke else stack.enter_context(real_brokers(folder, scale))
            say(f"loading {results['partitions']:,} partitions")
            fleet = Fleet(arguments.build, scale, bootstrap, not is_smoke, folder)
            daemon = Daemon(arguments.build / "tidemark", fleet.config)
            stack.callback(daemon.kill)
            results["found"] = measure(daemon, scale, say)
            wrong = wrong_reports(daemon, fleet.oldest)
            code = daemon.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    results["load_after"] = os.getloadavg()[0]
    path = out / f"serve-results-{arguments.scale}.json"
    path.write_text(json.dumps(results, indent=1) + "\n")
    print(text(results))
    print(f"\nresults as JSON: {os.path.relpath(path)}")
    for line in wrong[:20]:
        print(f"bench: wrong: {line}", file=sys.stderr)
    if code != 0:
        print(f"bench: the daemon ended with code {code}", file=sys.stderr)
    return 1 if wrong or code != 0 else 0


if __name__ == "__main__":
    sys.exit(main())
