"""A feed on a real broker: tables that a writer of our own goes on writing, publishers, and a reader of committed
records that notices a hole, a repeat or a change of bytes."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping

from confluent_kafka import Consumer, TopicPartition

from kafka_cluster import KafkaCluster
from program import Program
from waiting import wait_until

TOPICS = ("events", "state", "cursor", "control", "dlq")


def uid_of(folder: pathlib.Path) -> str:
    """As docs/feed.md says: the first 16 hex digits of SHA-256 of the base path."""
    return hashlib.sha256(f"file://{folder}".encode()).hexdigest()[:16]


class LiveTable:
    """Table version 6, layout 1, partitioned by `dt`: what a copy-on-write writer of Hudi 0.x leaves. Its instants are
    counted from `first`, or are the present time where `is_dated`, in UTC as the table then says."""

    def __init__(self, folder: pathlib.Path, first: int = 1, is_dated: bool = False) -> None:
        self.folder = folder
        self._is_dated = is_dated
        self.columns = ["id", "name"]
        self.instants: list[str] = []  # completed
        self._next = first
        (folder / ".hoodie").mkdir(parents=True)
        (folder / ".hoodie/hoodie.properties").write_text(
            f"hoodie.table.name={folder.name}\nhoodie.database.name=lake\nhoodie.table.type=COPY_ON_WRITE\n"
            "hoodie.table.version=6\nhoodie.timeline.layout.version=1\nhoodie.table.partition.fields=dt\n"
            "hoodie.datasource.write.hive_style_partitioning=true\n"
            + ("hoodie.table.timeline.timezone=UTC\n" if is_dated else "")
        )

    @property
    def uid(self) -> str:
        return uid_of(self.folder)

    @property
    def partitions(self) -> set[str]:
        found = self.folder.glob("*/.hoodie_partition_metadata")
        return {str(each.parent.relative_to(self.folder)) for each in found}

    def commit(self, *partitions: str) -> str:
        """One file into each; visible at once, as Hudi 1.x does it with a rename."""
        instant, body = self.prepare(*partitions)
        self.finish(instant, body)
        return instant

    def prepare(self, *partitions: str) -> tuple[str, bytes]:
        now = datetime.datetime.now(datetime.UTC)
        instant = now.strftime("%Y%m%d%H%M%S%f")[:17] if self._is_dated else f"20240101{self._next:09d}"
        self._next += 1
        (self.folder / ".hoodie" / f"{instant}.commit.requested").touch()
        stats = {}
        for partition in partitions:
            (self.folder / partition).mkdir(exist_ok=True)
            (self.folder / partition / ".hoodie_partition_metadata").write_text("depth=1\n")
            name = f"f{instant}_0-1-1_{instant}.parquet"
            (self.folder / partition / name).write_bytes(b"PAR1")
            stats[partition] = [
                {"fileId": f"f{instant}", "path": f"{partition}/{name}", "prevCommit": "null", "numWrites": 1,
                 "numInserts": 1, "fileSizeInBytes": 4}
            ]  # fmt: skip
        fields = [{"name": name, "type": ["null", "string"], "default": None} for name in self.columns]
        schema = json.dumps({"type": "record", "name": "r", "fields": fields})
        body = {"partitionToWriteStats": stats, "compacted": False, "extraMetadata": {"schema": schema},
                "operationType": "UPSERT"}  # fmt: skip
        return instant, json.dumps(body).encode()

    def finish(self, instant: str, body: bytes) -> None:
        hidden = self.folder / ".hoodie" / f".{instant}.tmp"
        hidden.write_bytes(body)
        hidden.rename(self.folder / ".hoodie" / f"{instant}.commit")
        self.instants.append(instant)


class Reader:
    """Everything that can be read of a feed's topics with committed records only."""

    def __init__(self, kafka: KafkaCluster, prefix: str, partitions: int) -> None:
        self._kafka = kafka
        self._prefix = prefix
        self._partitions = partitions
        self.bodies: dict[str, bytes] = {}  # by event id

    def read(self, topic: str) -> list:
        """The messages, by partition and offset."""
        consumer = Consumer({
            "bootstrap.servers": self._kafka.bootstrap(), "group.id": "unused", "enable.auto.commit": False,
            "enable.partition.eof": True, "isolation.level": "read_committed", "log_level": 0,
        })  # fmt: skip
        try:
            name = f"{self._prefix}.{topic}"
            consumer.assign([TopicPartition(name, number, 0) for number in range(self._partitions)])
            messages, ended = [], set()
            deadline = time.monotonic() + 60
            while len(ended) < self._partitions:
                message = consumer.poll(1)
                assert time.monotonic() < deadline, f"no end of {name}"
                if message is None:
                    continue
                if message.error():
                    ended.add(message.partition())
                    continue
                messages.append(message)
            return sorted(messages, key=lambda each: (each.partition(), each.offset()))
        finally:
            consumer.close()

    def events(self, uid: str) -> list[dict]:
        """Of one table, in order; anything wrong with the order is an error."""
        events, place, part = [], (0, 0), 0
        for message in self.read("events"):
            if message.key() is None or message.key().decode() != uid:
                continue
            event = json.loads(message.value())
            data = event["data"]
            known = self.bodies.setdefault(event["id"], message.value())
            assert known == message.value(), f"the bytes of {event['id']} have changed"
            here = (data["epoch"], data["seq"])
            if data["part"]["index"] == 0:
                assert part == 0, f"a group was left open before {event['id']}"
                follows = here == (place[0], place[1] + 1) or here == (place[0] + 1, 1)
                assert follows, f"a hole or a repeat: {here} after {place}"
                place = here
            assert here == place, event["id"]
            assert data["part"]["index"] == part, event["id"]
            part = 0 if part + 1 == data["part"]["count"] else part + 1
            headers = dict(message.headers())
            assert headers["ce_id"].decode() == event["id"]
            assert b"T" in headers["ce_publishedat"]
            assert data["publishedAt"] is None
            events.append(event)
        return events

    def commits(self, uid: str) -> list[str]:
        """Instants in the order they were told."""
        return [each["data"]["instantTime"] for each in self.events(uid) if each["data"]["changeType"] == "COMMIT"]

    def state(self, uid: str) -> tuple[dict | None, list[dict]]:
        """Head and pages that a reader of the compacted topic finds."""
        latest: dict[str, bytes | None] = {}
        for message in self.read("state"):
            latest[message.key().decode()] = message.value()
        head = latest.get(f"{uid}/head")
        pages = [value for key, value in sorted(latest.items()) if key.startswith(f"{uid}/p/") and value]
        return (json.loads(head) if head else None), [json.loads(page) for page in pages]

    def record(self, uid: str) -> dict:
        """What the publisher remembers of the table."""
        *_, last = (each for each in self.read("cursor") if each.key().decode() == uid)
        return json.loads(last.value())["table"]

    def partitions(self, uid: str) -> set[str]:
        """The table's partitions as a subscriber has them: the newest snapshot, and what followed."""
        head, pages = self.state(uid)
        assert head, "no snapshot"
        data = [page["data"] for page in pages]
        assert {(each["epoch"], each["seq"]) for each in data} == {(head["epoch"], head["asOfSeq"])}
        assert len(data) == head["pages"]
        held = {entry["path"] for each in data for entry in each["changeDetail"]["partitions"]}
        for event in self.events(uid):
            data = event["data"]
            if data["epoch"] != head["epoch"] or data["seq"] <= head["asOfSeq"]:
                continue
            if data["changeType"] != "PARTITION":
                continue
            for entry in data["changeDetail"]["partitions"]:
                if entry["op"] == "DROP":
                    held.discard(entry["path"])
                else:
                    held.add(entry["path"])
        return held


class FeedLab:
    def __init__(self, tidemark: Program, kafka: KafkaCluster, folder: pathlib.Path, prefix: str) -> None:
        self.tidemark = tidemark
        self.kafka = kafka
        self.folder = folder
        self.lake = folder / "lake"
        self.lake.mkdir()
        self.prefix = prefix
        self.partitions = 2
        self.keys: dict[str, object] = {"discover_every": "1s", "poll_notified": "1s"}
        self.config = folder / "feed.yaml"
        self._running: list[Publisher] = []

    def write(self, **more: object) -> pathlib.Path:
        feed = {
            "cluster": "main",
            "topics": {name: f"{self.prefix}.{name}" for name in TOPICS},
            "partitions": self.partitions,
            "tables": [f"{self.lake}/*"],
            "group": f"{self.prefix}-publishers",
            **self.keys,
            **more,
        }
        self.config.write_text(
            f'clusters: {{ main: {{ bootstrap_servers: "{self.kafka.bootstrap()}" }} }}\n'
            f"feed: {json.dumps(feed)}\n"
        )
        return self.config

    def table(self, name: str = "orders", is_dated: bool = False) -> LiveTable:
        return LiveTable(self.lake / name, is_dated=is_dated)

    def once(self, **more: object):
        return self.tidemark("publish", "--config", self.write(**more), "--once", "--timeout", "60s")

    def reader(self) -> Reader:
        return Reader(self.kafka, self.prefix, self.partitions)

    def start(self, **more: object) -> Publisher:
        publisher = Publisher(self.tidemark, self.write(**more))
        self._running.append(publisher)
        return publisher

    def await_commits(self, table: LiveTable, seconds_max: float = 60) -> None:
        reader = self.reader()
        wait_until(lambda: set(reader.commits(table.uid)) >= set(table.instants[1:]),
                   f"all commits of {table.folder.name}", seconds_max)  # fmt: skip

    def close(self) -> None:
        for publisher in self._running:
            publisher.kill()


class Publisher:
    """`tidemark publish` as a child."""

    def __init__(self, tidemark: Program, config: pathlib.Path, env: Mapping[str, str] | None = None) -> None:
        self.process = tidemark.start("publish", "--config", config, env=env)
        self._lines: list[str] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        wait_until(lambda: self._is_up(), "the publisher to begin", 60)

    def _read(self) -> None:
        for line in self.process.stderr:
            self._lines.append(line.decode())

    def _is_up(self) -> bool:
        assert self.process.poll() is None, self.log()
        return "publishing" in self.log()

    def log(self) -> str:
        return "".join(self._lines)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)


def kill_after(seconds: float) -> Callable[[subprocess.Popen], None]:
    """For Program(meanwhile=…)."""

    def wait_and_kill(process: subprocess.Popen) -> None:
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()

    return wait_and_kill


def instant_files(table: pathlib.Path) -> list[pathlib.Path]:
    """Timeline files of a stored table in the order in which its writer made them: requested time, then state; the
    completed file of an instant that completed late comes late."""
    timeline = table / ".hoodie/timeline"
    folder = timeline if timeline.is_dir() else table / ".hoodie"
    files = [each for each in folder.iterdir() if each.is_file() and each.name[:14].isdigit()]

    def when(file: pathlib.Path) -> tuple[str, int, str]:
        stem = file.name.split(".", 1)[0]
        requested, _, completed = stem.partition("_")
        state = 0 if file.name.endswith(".requested") else 1 if file.name.endswith(".inflight") else 2
        return (completed or requested).ljust(17, "9"), state, file.name

    return sorted(files, key=when)


def copy_without_timeline(source: pathlib.Path, target: pathlib.Path) -> list[pathlib.Path]:
    """The table as its writer's files made it, but no instant of the active timeline; those, in order."""
    files = instant_files(source)
    shutil.copytree(source, target)
    for file in files:
        os.remove(target / file.relative_to(source))
    return files


def move_into_place(file: pathlib.Path, place: pathlib.Path) -> None:
    """Visible at once, with all its bytes."""
    hidden = place.with_name("." + place.name)
    shutil.copyfile(file, hidden)
    hidden.rename(place)
