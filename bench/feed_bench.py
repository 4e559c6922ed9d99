#!/usr/bin/env python3
"""bench/feed_bench.py [--quick] [PART…]: what the feed's publisher takes, on a real broker of its own on this machine.

Parts: latency (a commit's file becomes visible -> a reader of committed records has its event, so a little more than
the acknowledgement), mirror (the same until a mirror in a process of its own says that it has applied it), hive (until
a real metastore lists its partitions), throughput, cold (1,000 tables that were published before), wide (a table of
100,000 partitions), idle (10,000 tables). Needs scripts/bootstrap --tests and a built program (TIDEMARK_BINARY, else
build/release/tidemark).
"""

from __future__ import annotations

import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable

_REPOSITORY = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_REPOSITORY / "tests/system"))

from confluent_kafka import Consumer, TopicPartition  # noqa: E402

from feed_lab import FeedLab, LiveTable  # noqa: E402
from hive_metastore import HiveMetastore  # noqa: E402
from kafka_cluster import KafkaCluster  # noqa: E402
from mirror_lab import EventStream, MirrorLab, await_in_step, partitions_of  # noqa: E402
from program import Program  # noqa: E402
from waiting import wait_until  # noqa: E402


def dependencies() -> pathlib.Path:
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("TIDEMARK_DEPS") or pathlib.Path(cache) / "tidemark")


class Arrivals:
    """When the commit event of each instant came to a reader of committed records."""

    def __init__(self, lab: FeedLab) -> None:
        self.seen: dict[tuple[str, str], float] = {}
        self.events = 0
        self._stop = threading.Event()
        self._consumer = Consumer({
            "bootstrap.servers": lab.kafka.bootstrap(), "group.id": "unused", "enable.auto.commit": False,
            "isolation.level": "read_committed", "fetch.wait.max.ms": 50, "log_level": 0,
        })  # fmt: skip
        name = f"{lab.prefix}.events"
        self._consumer.assign([TopicPartition(name, number, 0) for number in range(lab.partitions)])
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            for message in self._consumer.consume(500, 0.02):
                if message.error() or message.key() is None:
                    continue
                now = time.time()
                self.events += 1
                data = json.loads(message.value())["data"]
                if data["changeType"] == "COMMIT":
                    self.seen.setdefault((data["uid"], data["instantTime"]), now)

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._consumer.close()


def quantile(values: list[float], share: float) -> float:
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def line(what: str, values: list[float], target: str) -> None:
    text = f"p50 {quantile(values, 0.5) * 1000:7.1f} ms  p99 {quantile(values, 0.99) * 1000:7.1f} ms"
    print(f"{what:<44} {text}  n={len(values)}  (target {target}; load {os.getloadavg()[0]:.1f})", flush=True)


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def stock(lab: FeedLab, count: int, first_commits: int = 1) -> list[LiveTable]:
    tables = []
    for number in range(count):
        table = lab.table(f"t{number:05d}")
        for commit in range(first_commits):
            table.commit(f"dt={commit % 5}")
        tables.append(table)
    return tables


WAYS = (
    ("inotify", {}, "50 / 250 ms", 300, 0.15),
    ("polling every 1 s", {"local_wake_ups": False}, "700 / 1500 ms", 100, 1.7),
)


def waits_of(table: LiveTable, count: int, pause: float, came: Callable[[str], float | None]) -> list[float]:
    """Seconds from the moment a commit's file was visible to the one that `came` says of its instant, for each of
    `count` commits with pauses of `pause` seconds, more or less; it says None before."""
    waits = []
    for number in range(count):
        instant, body = table.prepare(f"dt={number % 5}")
        began = time.time()
        table.finish(instant, body)
        wait_until(lambda i=instant: came(i) is not None, f"the commit {instant}", 30, step=0.002)
        waits.append(came(instant) - began)
        time.sleep(pause * (0.5 + random.random()))
    return waits


def latency(lab: FeedLab, quick: bool) -> None:
    table = lab.table()
    table.commit("dt=0")
    for how, keys, target, count, pause in WAYS:
        publisher = lab.start(**keys)
        arrivals = Arrivals(lab)
        reader = lab.reader()
        wait_until(lambda: reader.state(table.uid)[0] is not None, "the first snapshot", 60)
        time.sleep(3)
        waits = waits_of(table, 20 if quick else count, pause, lambda i: arrivals.seen.get((table.uid, i)))
        line(f"commit visible -> read, {how}", waits, target)
        arrivals.close()
        publisher.stop()


def mirror(lab: MirrorLab, quick: bool) -> None:
    table = lab.table()
    table.commit("dt=0")
    for how, keys, target, count, pause in WAYS:
        publisher = lab.start(**keys)
        daemon = lab.mirror()
        await_in_step(daemon, table)
        news = EventStream(daemon.url)
        time.sleep(3)
        waits = waits_of(table, 20 if quick else count, pause, news.came.get)
        line(f"commit visible -> in a mirror, {how}", waits, target)
        assert partitions_of(daemon, table) == table.partitions
        daemon.stop()
        publisher.stop()


def hive(lab: MirrorLab, quick: bool) -> None:
    """Until a real metastore lists the partitions of a commit."""
    table = lab.table()
    table.commit("dt=0")
    metastore = HiveMetastore(dependencies(), lab.folder / "metastore")
    try:
        publisher = lab.start()
        mirror = lab.mirror(sinks=[{"hive": {"uris": [metastore.uri()], "database": "default"}}])

        def is_there(wanted: int) -> bool:
            return len(metastore.partitions("default", "orders") or ()) == wanted

        wait_until(lambda: is_there(1), "the table", 60)
        for size in (1, 100, 1000):
            waits = []
            for number in range(3 if quick else 20 if size < 1000 else 10):
                instant, body = table.prepare(*(f"dt={size}-{number}-{each}" for each in range(size)))
                wanted = len(table.partitions)
                began = time.time()
                table.finish(instant, body)
                wait_until(lambda w=wanted: is_there(w), "the partitions in the metastore", 60, step=0.02)
                waits.append(time.time() - began)
            line(f"commit of {size} new partitions -> in the metastore", waits, "500 / 2000 ms")
        mirror.stop()
        publisher.stop()
    finally:
        metastore.stop()


def throughput(lab: FeedLab, quick: bool) -> None:
    count, each = (50, 4) if quick else (1000, 20)
    tables = stock(lab, count)
    assert lab.once().code == 0
    for table in tables:
        for commit in range(each):
            table.commit(f"dt={commit % 5}")
    arrivals = Arrivals(lab)
    time.sleep(2)
    before, began = arrivals.events, time.time()
    publisher = lab.start()
    wait_until(lambda: len(arrivals.seen) >= count * each, "all commits", 600, step=0.05)
    seconds = time.time() - began
    events = arrivals.events - before
    first = min(arrivals.seen.values())
    flow = max(arrivals.seen.values()) - first
    print(f"{count} tables, {each} commits each behind: {events} events in {seconds:.1f} s from the start, "
          f"{events / max(flow, 0.001):.0f} events/s from the first to the last (target 5,000; the reader included; "
          f"load {os.getloadavg()[0]:.1f})", flush=True)  # fmt: skip
    arrivals.close()
    publisher.stop()


def cold(lab: FeedLab, quick: bool) -> None:
    count = 100 if quick else 1000
    tables = stock(lab, count)
    began = time.time()
    assert lab.once().code == 0
    print(f"{count} tables published for the first time: {time.time() - began:.1f} s", flush=True)
    began = time.time()
    run = lab.once()
    assert run.code == 0
    assert f"{count} of {count}" in run.err, run.err
    print(f"{count} tables, cold start until all heads were checked: {time.time() - began:.1f} s "
          f"(target 30 s; load {os.getloadavg()[0]:.1f})", flush=True)  # fmt: skip
    assert tables


def wide(lab: MirrorLab, quick: bool) -> None:
    """A table of 100,000 partitions: told as a whole, held by a mirror, compared with a listing."""
    count, each = (5_000, 1_000) if quick else (100_000, 10_000)
    table = lab.table()
    for begin in range(0, count, each):
        table.commit(*(f"dt={begin + number:06d}" for number in range(each)))
    began = time.time()
    assert lab.once().code == 0
    load = os.getloadavg()[0]
    print(f"{count} partitions published for the first time, listing and start included: {time.time() - began:.1f} s "
          f"(target of the snapshot 5 s; load {load:.1f})", flush=True)  # fmt: skip
    daemon = lab.mirror()
    began = time.time()
    path = f"/api/v1/tables/{table.uid}"
    wait_until(lambda: '"following"' in daemon.ask("GET", path)[1], "the mirror", 60, step=0.02)
    print(f"{count} partitions in a mirror that answers already: {time.time() - began:.1f} s more (target 2 s), "
          f"{resident_mb(daemon.process.pid):.0f} MB in all", flush=True)  # fmt: skip
    began = time.time()
    run = lab.tidemark("reconcile", str(table.folder), "--config", lab.config)
    assert run.code == 0, run
    print(f"{count} partitions compared with a listing, everything read: {time.time() - began:.1f} s", flush=True)


def idle(lab: FeedLab, quick: bool) -> None:
    count = 500 if quick else 10_000
    stock(lab, count)
    publisher = lab.start(discover_every="60s", poll_notified="30s")
    reader = lab.reader()
    wait_until(lambda: len({m.key() for m in reader.read("cursor")}) >= count, "all tables", 900, step=5)
    time.sleep(20 if quick else 60)
    pid = publisher.process.pid
    began, used = time.time(), cpu_seconds(pid)
    time.sleep(20 if quick else 90)
    share = (cpu_seconds(pid) - used) / (time.time() - began)
    print(f"{count} idle tables: {share * 100:.1f} % of a core, {resident_mb(pid):.0f} MB "
          f"(target 5 %; load {os.getloadavg()[0]:.1f})", flush=True)  # fmt: skip
    publisher.stop()


PARTS = {part.__name__: part for part in (latency, mirror, hive, throughput, cold, wide, idle)}


def main() -> None:
    quick = "--quick" in sys.argv
    wanted = [word for word in sys.argv[1:] if not word.startswith("-")] or list(PARTS)
    binary = pathlib.Path(os.environ.get("TIDEMARK_BINARY", _REPOSITORY / "build/release/tidemark")).resolve()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        with KafkaCluster(home / "kafka", dependencies() / "kafka-4.4.0", heap="1g") as kafka:
            for name in wanted:
                (home / name).mkdir()
                lab = MirrorLab(Program(binary, home), kafka, home / name, f"bench-{name}")
                lab.partitions = 2 if name in ("latency", "mirror") else 16
                lab.keys = {}
                try:
                    PARTS[name](lab, quick)
                finally:
                    lab.close()


if __name__ == "__main__":
    main()
