"""A broker of the oldest release that is supported (1.0.2), with the ZooKeeper it needs, on free ports of loopback."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Iterable, Mapping

from confluent_kafka import KafkaException, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from free_ports import free_ports
from kafka_cluster import HOST, INTERNAL_TOPICS, Record, produce_with
from waiting import wait_until

START_SECONDS_MAX = 120


class OldKafka:
    """Runs from construction until stop()."""

    def __init__(self, jars: pathlib.Path, folder: pathlib.Path) -> None:
        assert (jars / ".complete").is_file(), f"no broker in {jars}: run scripts/bootstrap --tests"
        self._folder = folder
        zookeeper, self._port = free_ports(2)
        ensemble = {"dataDir": f"{folder}/zookeeper", "clientPortAddress": HOST, "clientPort": zookeeper}
        (folder / "zoo.cfg").write_text("".join(f"{k}={v}\n" for k, v in ensemble.items()))
        settings = {
            "broker.id": "1",
            "zookeeper.connect": f"{HOST}:{zookeeper}",
            "listeners": f"PLAINTEXT://{HOST}:{self._port}",
            "log.dirs": f"{folder}/data",
            "auto.create.topics.enable": "false",
            **INTERNAL_TOPICS,
            "log.cleaner.dedupe.buffer.size": "16777216",
        }
        (folder / "server.properties").write_text("".join(f"{k}={v}\n" for k, v in settings.items()))
        self._processes = [
            self._java(jars, "org.apache.zookeeper.server.quorum.QuorumPeerMain", "zoo.cfg"),
            self._java(jars, "kafka.Kafka", "server.properties"),  # which waits for the former
        ]
        self.admin = AdminClient({"bootstrap.servers": self.bootstrap(), "log_level": 0})
        try:
            wait_until(self._is_ready, "the old broker to answer", START_SECONDS_MAX, step=0.2)
        except BaseException:
            self.stop()
            raise

    def _java(self, jars: pathlib.Path, main: str, argument: str) -> subprocess.Popen:
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{jars}/*", main, argument],
                cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def _is_ready(self) -> bool:
        for process in self._processes:
            assert process.poll() is None, (self._folder / "log").read_text()[-4000:]
        try:
            return bool(self.admin.list_topics(timeout=1).brokers)
        except KafkaException:
            return False

    def bootstrap(self) -> str:
        return f"{HOST}:{self._port}"

    def create_topic(self, name: str, config: Mapping[str, str]) -> None:
        self.admin.create_topics([NewTopic(name, 1, 1, config={"retention.ms": "-1", **config})])[name].result()

        def is_served() -> bool:
            topic = self.admin.list_topics(name, timeout=5).topics[name]
            return [each.leader for each in topic.partitions.values()] == [1]

        wait_until(is_served, f"the topic {name}", 30, step=0.1)

    def produce(self, topic: str, records: Iterable[Record]) -> list[int]:
        """As KafkaCluster.produce."""
        producer = Producer({"bootstrap.servers": self.bootstrap(), "linger.ms": 0, "log_level": 0})
        return produce_with(producer, topic, records)

    def stop(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()
