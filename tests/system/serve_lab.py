"""A configuration of one cluster, and daemons on it."""

from __future__ import annotations

import json
import pathlib
import shutil
from collections.abc import Mapping

from daemon import Daemon
from hudi_table import Commit, write_table
from kafka_cluster import KafkaCluster, Record, now_ms
from program import Program

MINUTE = 60_000


class Lab:
    """A configuration of one cluster, and daemons on it."""

    def __init__(self, tidemark: Program, kafka: KafkaCluster, folder: pathlib.Path) -> None:
        self.tidemark = tidemark
        self.kafka = kafka
        self.folder = folder
        self.config = folder / "tidemark.yaml"
        self.pipelines: dict[str, dict] = {}
        self.more = "state: { path: ./state }\n"
        self._daemons: list[Daemon] = []

    def table(self, name: str, checkpoint: str) -> pathlib.Path:
        """(Over)writes the table's timeline with one commit."""
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        return write_table(folder, [Commit(checkpoint)])

    def topic(self, name: str, ages_minutes: list[int]) -> str:
        self.kafka.create_topic(name, 1)
        self.kafka.produce(name, [Record(0, now_ms() - age * MINUTE) for age in ages_minutes])
        return name

    def add(self, name: str, checkpoint: str, **keys: object) -> None:
        table = self.table(name, checkpoint)
        self.pipelines[name] = {"table": str(table), "cluster": "main", "interval": "1s", **keys}

    def write(self) -> None:
        lines = [f'clusters: {{ main: {{ bootstrap_servers: "{self.kafka.bootstrap()}" }} }}', self.more]
        lines.append("pipelines:")
        for name, keys in self.pipelines.items():
            lines.append("  - " + json.dumps({"name": name, **keys}))
        self.config.write_text("\n".join(lines) + "\n")

    def start(self, *flags: str, env: Mapping[str, str] | None = None) -> Daemon:
        self.write()
        daemon = Daemon(self.tidemark, self.config, *flags, env=env)
        self._daemons.append(daemon)
        return daemon

    def close(self) -> None:
        for daemon in self._daemons:
            if daemon.process.poll() is None:
                daemon.kill()
