"""Mirrors of a feed on a real broker, and what they answer."""

from __future__ import annotations

import http.client
import json
import pathlib
import threading
import time
import urllib.parse

from daemon import Daemon
from feed_lab import TOPICS, FeedLab, LiveTable
from kafka_cluster import KafkaCluster
from program import Program
from waiting import wait_until


class MirrorLab(FeedLab):
    """A feed, and mirrors of it."""

    def __init__(self, tidemark: Program, kafka: KafkaCluster, folder: pathlib.Path, prefix: str) -> None:
        super().__init__(tidemark, kafka, folder, prefix)
        self.keys |= {"bookmark_every": "1s"}
        self._mirrors: list[Daemon] = []

    def write_mirror(self, **more: object) -> pathlib.Path:
        mirror = {
            "cluster": "main",
            "topics": {name: f"{self.prefix}.{name}" for name in TOPICS},
            "partitions": self.partitions,
            **more,
        }
        file = self.folder / "mirror.yaml"
        file.write_text(
            f'clusters: {{ main: {{ bootstrap_servers: "{self.kafka.bootstrap()}" }} }}\n'
            f"state: {{ path: {json.dumps(str(self.folder / 'state'))} }}\n"
            f"mirror: {json.dumps(mirror)}\n"
        )
        return file

    def mirror(self, **more: object) -> Daemon:
        mirror = Daemon(self.tidemark, self.write_mirror(**more), command="mirror")
        self._mirrors.append(mirror)
        return mirror

    def serve(self, **mirror: object) -> Daemon:
        """Publisher and mirror in one process."""
        config = self.write()
        config.write_text(
            config.read_text()
            + f"state: {{ path: {json.dumps(str(self.folder / 'state'))} }}\nmirror: {json.dumps(mirror)}\n"
        )
        daemon = Daemon(self.tidemark, config)
        self._mirrors.append(daemon)
        return daemon

    def close(self) -> None:
        for mirror in self._mirrors:
            mirror.kill()
        super().close()


def status_of(mirror: Daemon, table: LiveTable) -> dict | None:
    status, text = mirror.ask("GET", f"/api/v1/tables/{table.uid}")
    return json.loads(text) if status == 200 else None


def partitions_of(mirror: Daemon, table: LiveTable) -> set[str]:
    answer = mirror.get(f"/api/v1/tables/{table.uid}/partitions")
    return {entry["path"] for entry in answer["partitions"]}


def columns_of(mirror: Daemon, table: LiveTable) -> list[str]:
    return [field["name"] for field in mirror.get(f"/api/v1/tables/{table.uid}/schema")["fields"]]


def await_commit(mirror: Daemon, table: LiveTable, instant: str, seconds_max: float = 60) -> None:
    await_instant(mirror, table.uid, instant, seconds_max)


def await_instant(mirror: Daemon, uid: str, instant: str, seconds_max: float = 60) -> None:
    def is_applied() -> bool:
        path = f"/api/v1/tables/{uid}/wait?instant={instant}&timeout=5s"
        status, text = mirror.ask("GET", path)
        return status == 200 and json.loads(text)["reached"]

    wait_until(is_applied, f"the commit {instant} in the mirror", seconds_max)


def await_in_step(mirror: Daemon, table: LiveTable, seconds_max: float = 60) -> None:
    """The mirror holds what is in the table."""

    def is_in_step() -> bool:
        status = status_of(mirror, table)
        return (
            status is not None
            and status["status"] == "following"
            and partitions_of(mirror, table) == table.partitions
            and columns_of(mirror, table) == table.columns
        )

    wait_until(is_in_step, f"{table.folder.name} in step", seconds_max)


def value_of(mirror: Daemon, name: str, **labels: str) -> float:
    for line in mirror.ask("GET", "/metrics")[1].splitlines():
        if line.startswith(name) and all(f'{key}="{word}"' in line for key, word in labels.items()):
            return float(line.rsplit(" ", 1)[1])
    raise AssertionError(f"no {name} {labels}")


class EventStream:
    """Reads /api/v1/events in the background."""

    def __init__(self, url: str) -> None:
        place = urllib.parse.urlsplit(url)
        self.connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        self.connection.request("GET", "/api/v1/events")
        self._answer = self.connection.getresponse()
        self.told: list[dict] = []
        self.came: dict[str, float] = {}  # by requested time of what was told, on the machine's clock
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        kind = ""
        try:
            for line in self._answer:
                if line.startswith(b"event:"):
                    kind = line[6:].strip().decode()
                elif line.startswith(b"data:") and kind == "table":
                    self._take(json.loads(line[5:]))
        except (OSError, ValueError):
            return

    def _take(self, news: dict) -> None:
        if news["instant"]:
            self.came.setdefault(news["instant"]["requestedTime"], time.time())
        self.told.append(news)
