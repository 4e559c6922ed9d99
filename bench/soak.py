#!/usr/bin/env python3
"""Runs the daemon at scale under a sanitizer, with tables that change, and fails on any report or growing memory.

  cmake --preset dev && cmake --build build/dev --target tidemark       # AddressSanitizer, UndefinedBehaviorSanitizer
  cmake --preset tsan && cmake --build build/tsan --target tidemark     # ThreadSanitizer
  bench/soak.py --sanitizer address --minutes 30
  bench/soak.py --sanitizer thread --minutes 30

The set-up is that of serve_bench.py. Meanwhile tables get commits, clients ask every resource and stay for events,
pipelines are woken up, the configuration is read again, and come and go in it. The programs that load the topics
are those of build/release.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import serve_bench
from run_bench import ROOT, commit, machine, real_brokers

BUILDS = {"address": "dev", "thread": "tsan"}
# The first third warms caches up; after it memory may breathe, and must not grow.
GROWTH_MAX, GROWTH_MB_MAX = 0.05, 20
SAMPLE_SECONDS = 5
RESOURCES = ("/metrics", "/readyz", "/api/v1/pipelines", "/api/v1/pipelines?status=warning", "/api/v1/incidents",
             "/api/v1/openapi.json", "/api/v1/pipelines/{name}", "/api/v1/pipelines/{name}/partitions",
             "/api/v1/pipelines/{name}/history", "/api/v1/timeline?table={table}")


def sanitizer_environment(folder):
    """Reports go to files of their own. The quarantine is bounded, so that memory settles within minutes."""
    return {
        "ASAN_OPTIONS": f"log_path={folder}/report,detect_leaks=1,quarantine_size_mb=32,malloc_context_size=8",
        "LSAN_OPTIONS": f"log_path={folder}/report",
        "UBSAN_OPTIONS": f"log_path={folder}/report,print_stacktrace=1",
        "TSAN_OPTIONS": f"log_path={folder}/report,suppressions={ROOT}/tools/tsan.supp,exitcode=66",
    }


class Churn:
    """What happens to a daemon in a week, in a hurry. Threads of its own until stop()."""

    def __init__(self, daemon, fleet, seed=1):
        self._daemon = daemon
        self._fleet = fleet
        self._random = random.Random(seed)
        self._stop = threading.Event()
        self.done = {"commits": 0, "requests": 0, "wake_ups": 0, "reloads": 0, "events": 0}
        self.surprises = []
        works = (self._commit, self._ask, self._wake_up, self._reload, self._listen)
        self._threads = [threading.Thread(target=self._guard, args=(work,), daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=60)

    def _guard(self, work):
        try:
            work()
        except Exception as surprise:  # shown at the end, whatever it was
            if not self._stop.is_set():
                self.surprises.append(f"{work.__name__}: {surprise!r}")

    def _table(self):
        return self._random.choice(sorted(self._fleet.oldest))

    def _commit(self):
        """The same checkpoint once more: the truth stays what it is."""
        import hudi_table
        while not self._stop.wait(0.5):
            name = self._table()
            hudi_table.add_commit(self._fleet.folder / "tables" / name, hudi_table.Commit(self._fleet.checkpoint(name)))
            self.done["commits"] += 1

    def _ask(self):
        while not self._stop.wait(0.3):
            name = self._table()
            path = self._random.choice(RESOURCES).format(name=name, table=self._fleet.folder / "tables" / name)
            try:
                self._daemon.get(path)
            except urllib.error.HTTPError as refusal:
                if refusal.code not in (404, 503):  # while it is away for a reload
                    raise
            self.done["requests"] += 1

    def _wake_up(self):
        while not self._stop.wait(1):
            body = json.dumps({"uri": str(self._fleet.folder / "tables" / self._table())}).encode()
            with urllib.request.urlopen(urllib.request.Request(self._daemon.url + "/api/v1/wake", body), timeout=120):
                self.done["wake_ups"] += 1

    def _reload(self):
        """Every other time without the last pipeline."""
        whole = self._fleet.config.read_text()
        short = whole.rstrip("\n").rsplit("\n", 1)[0] + "\n"
        while not self._stop.wait(20):
            self.done["reloads"] += 1
            self._fleet.config.write_text(short if self.done["reloads"] % 2 else whole)
            self._daemon.process.send_signal(signal.SIGHUP)
        self._fleet.config.write_text(whole)
        self._daemon.process.send_signal(signal.SIGHUP)

    def _listen(self):
        while not self._stop.is_set():
            with urllib.request.urlopen(self._daemon.url + "/api/v1/events", timeout=300) as stream:
                for count, _ in enumerate((line for line in stream if line.startswith(b"event:")), start=1):
                    self.done["events"] += 1
                    if self._stop.is_set() or count == 500:
                        break


def growth(samples):
    """(share, MB) by which the last third's median is above that of the third before."""
    third = len(samples) // 3
    before, after = statistics.median(samples[third:2 * third]), statistics.median(samples[-third:])
    return (after - before) / before, after - before


def soak(daemon, fleet, minutes, say):
    daemon.await_ready()
    say("all looked at")
    churn = Churn(daemon, fleet)
    samples = []
    end = time.monotonic() + 60 * minutes
    while time.monotonic() < end and daemon.process.poll() is None:
        samples.append(daemon.memory_mb())
        if len(samples) % 12 == 0:
            say(f"RSS {samples[-1]:.0f} MB, {churn.done}")
        time.sleep(SAMPLE_SECONDS)
    churn.stop()
    return samples, churn


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sanitizer", choices=BUILDS, required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--scale", choices=("full", "quick"), default="full")
    parser.add_argument("--daemon", type=pathlib.Path, help="the binary, when it is not in its usual place")
    arguments = parser.parse_args()
    scale = serve_bench.SCALES[arguments.scale]
    release = ROOT / "build" / "release"
    binary = arguments.daemon or ROOT / "build" / BUILDS[arguments.sanitizer] / "tidemark"
    kept = release / "bench" / f"soak-{arguments.sanitizer}"
    kept.mkdir(exist_ok=True)
    for old in kept.glob("report*"):
        old.unlink()

    def say(words):
        print(f"soak: {words}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="soak-", dir=release / "bench") as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        bootstrap = stack.enter_context(real_brokers(folder, scale))
        say(f"loading {scale.pipelines * scale.partitions:,} partitions")
        fleet = serve_bench.Fleet(release, scale, bootstrap, True, folder)
        daemon = serve_bench.Daemon(binary, fleet.config, sanitizer_environment(kept))
        stack.callback(daemon.kill)
        samples, churn = soak(daemon, fleet, arguments.minutes, say)
        failures = list(churn.surprises)
        if daemon.process.poll() is None:
            time.sleep(2 * SAMPLE_SECONDS)
            failures += serve_bench.wrong_reports(daemon, fleet.oldest)
            code = daemon.stop()
        else:
            code = daemon.process.returncode
        (kept / "log").write_text("".join(daemon.lines))
    share, megabytes = growth(samples)
    if code != 0:
        failures.append(f"the daemon ended with code {code}")
    failures += [f"a report: {path}" for path in sorted(kept.glob("report*"))]
    if share > GROWTH_MAX and megabytes > GROWTH_MB_MAX:
        failures.append(f"memory grew by {megabytes:.0f} MB ({share:.1%}) in the last third")
    results = {"sanitizer": arguments.sanitizer, "commit": commit(), "machine": machine(), "minutes": arguments.minutes,
               "scale": arguments.scale, "rss_mb": [round(mb, 1) for mb in samples], "done": churn.done,
               "growth_mb": megabytes, "growth_share": share, "failures": failures}
    (kept / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    print(f"{arguments.sanitizer}: {arguments.minutes:g} minutes, RSS {min(samples):.0f}-{max(samples):.0f} MB, "
          f"last third {megabytes:+.1f} MB ({share:+.1%}); {churn.done}; load {os.getloadavg()[0]:.1f}")
    for failure in failures[:30]:
        print(f"soak: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
