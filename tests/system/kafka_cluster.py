"""A real Kafka cluster of the tests' own: KRaft nodes on loopback, in a temporary folder."""

from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

import kafka_wire
from free_ports import free_ports
from waiting import wait_until

HOST = "127.0.0.1"
# Users of the secure cluster. None may do anything until a test allows it.
PASSWORDS = {
    "reader": "reader-5ecret-w0rd",
    "describer": "describer-5ecret-w0rd",
    "nobody": "nobody-5ecret-w0rd",
}
_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1
START_SECONDS_MAX = 240
STARTS_MAX = 3  # a port may be taken between choosing and listening

# Topics that are made by a broker itself.
INTERNAL_TOPICS = {
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
}

# The least a node needs; index files are mapped into memory and are large by default.
_SETTINGS = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,"
    "SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,SASL_SSL:SASL_SSL,MISNAMED:SSL",
    "auto.create.topics.enable": "false",
    **INTERNAL_TOPICS,
    "share.coordinator.state.topic.num.partitions": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    "num.network.threads": "2",
    "num.io.threads": "4",
    "log.index.size.max.bytes": "1048576",
    "log.cleaner.dedupe.buffer.size": "16777216",
    # Retention and compaction are waited for, so they look often.
    "log.initial.task.delay.ms": "200",
    "log.retention.check.interval.ms": "500",
    "log.cleaner.backoff.ms": "300",
    # Stored records are replayed with their own stamps, on whatever day the tests run.
    "log.message.timestamp.after.max.ms": "9223372036854775807",
}

_LOGGING = """\
Configuration:
  status: error
  Appenders:
    Console:
      name: OUT
      PatternLayout:
        pattern: "%d %p %m (%c)%n"
  Loggers:
    Root:
      level: warn
      AppenderRef:
        - ref: OUT
"""


@dataclasses.dataclass(frozen=True)
class Record:
    """What is to stand in a partition. A key or value of None is a null."""

    partition: int
    timestamp_ms: int
    key: str | None = None
    value: str | None = "v"


@dataclasses.dataclass
class Security:
    """Listeners beside the plain one. Anybody on the plain and the bare TLS listener is a super
    user; a SASL user may do only what an ACL allows."""

    keystore: pathlib.Path  # PEM: key and certificate of the broker
    misnamed_keystore: pathlib.Path  # the same authority's, for another address
    truststore: pathlib.Path
    users: Mapping[str, str]

    def settings(self) -> dict[str, str]:
        users = " ".join(f'user_{name}="{word}"' for name, word in self.users.items())
        plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
        scram = "org.apache.kafka.common.security.scram.ScramLoginModule"
        bearer = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
        found = {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "allow.everyone.if.no.acl.found": "false",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(self.keystore),
            "listener.name.misnamed.ssl.keystore.location": str(self.misnamed_keystore),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.truststore),
        }
        for listener in ("sasl_plaintext", "sasl_ssl"):
            place = f"listener.name.{listener}"
            found[f"{place}.plain.sasl.jaas.config"] = f"{plain} required {users};"
            # Without more, tokens are taken unsigned: enough to see the exchange.
            found[f"{place}.oauthbearer.sasl.jaas.config"] = (
                f'{bearer} required unsecuredLoginStringClaim_sub="broker";'
            )
            for bits in ("256", "512"):
                found[f"{place}.scram-sha-{bits}.sasl.jaas.config"] = f"{scram} required;"
        return found


@dataclasses.dataclass
class Node:
    id: int
    folder: pathlib.Path
    ports: dict[str, int]  # by listener
    process: subprocess.Popen | None = None

    @property
    def log(self) -> pathlib.Path:
        return self.folder / "log"


class KafkaCluster:
    """Started by `start()`, ended by `stop()`; also a context manager. One thread."""

    def __init__(
        self,
        folder: pathlib.Path,
        jars: pathlib.Path,
        nodes: int = 1,
        security: Security | None = None,
        settings: Mapping[str, str] | None = None,
        heap: str = "320m",
    ) -> None:
        self._folder = folder
        self._jars = jars
        self._node_count = nodes
        self._security = security
        self._extra = dict(settings or {})
        self._heap = heap  # of each node, at most
        self._admin: AdminClient | None = None
        self._producer: Producer | None = None
        self.nodes: list[Node] = []

    # --- life ---------------------------------------------------------------------------------

    def __enter__(self) -> KafkaCluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        for attempt in range(1, STARTS_MAX + 1):
            self._prepare(attempt)
            for node in self.nodes:
                self._launch(node)
            try:
                for node in self.nodes:
                    self._await(node)
                break
            except RuntimeError:
                self.stop()
                if attempt == STARTS_MAX or "Address already in use" not in self.log_tail():
                    raise
        if self._security:
            self._add_scram_users(self._security.users)

    def stop(self) -> None:
        """At once: nothing of the data is wanted any more."""
        self._forget_clients()
        for node in self.nodes:
            self.kill(node)

    def kill(self, node: Node) -> None:
        if node.process is None:
            return
        node.process.send_signal(signal.SIGKILL)
        node.process.wait()
        node.process = None

    def start_again(self, node: Node, alive: int | None = None) -> None:
        """With what it holds, and on the ports it had; `alive` nodes are there then, all by default."""
        self._launch(node)
        self._await(node, alive)
        self._forget_clients()

    def start_dead(self) -> None:
        """Every node that was killed, so that all are there."""
        for node in self.nodes:
            if node.process is None:
                self.start_again(node)

    def pause(self, node: Node) -> None:
        """It keeps its connections, takes new ones, and says nothing."""
        node.process.send_signal(signal.SIGSTOP)

    def resume(self, *nodes: Node) -> None:
        for node in nodes:
            node.process.send_signal(signal.SIGCONT)
        for node in nodes:
            self._await(node)

    def log_tail(self, lines: int = 40) -> str:
        texts = []
        for node in self.nodes:
            with contextlib.suppress(FileNotFoundError):
                tail = node.log.read_text(errors="replace").splitlines()[-lines:]
                texts.append(f"--- node {node.id}\n" + "\n".join(tail))
        return "\n".join(texts)

    def _prepare(self, attempt: int) -> None:
        listeners = ["CONTROLLER", "PLAINTEXT"]
        if self._security:
            listeners += ["SASL_PLAINTEXT", "SSL", "SASL_SSL", "MISNAMED"]
        ports = iter(free_ports(self._node_count * len(listeners)))
        self.nodes = []
        for number in range(1, self._node_count + 1):
            folder = self._folder / f"start{attempt}" / str(number)
            folder.mkdir(parents=True)
            self.nodes.append(Node(number, folder, {name: next(ports) for name in listeners}))
        voters = ",".join(f"{n.id}@{HOST}:{n.ports['CONTROLLER']}" for n in self.nodes)
        formats = []
        for node in self.nodes:
            settings = dict(_SETTINGS)
            everywhere = [f"{name}://{HOST}:{port}" for name, port in node.ports.items()]
            settings["node.id"] = str(node.id)
            settings["controller.quorum.voters"] = voters
            settings["listeners"] = ",".join(everywhere)
            settings["advertised.listeners"] = ",".join(everywhere[1:])
            settings["log.dirs"] = str(node.folder / "data")
            settings.update(self._security.settings() if self._security else {})
            settings.update(self._extra)
            lines = [f"{name}={value}\n" for name, value in settings.items()]
            (node.folder / "server.properties").write_text("".join(lines))
            (node.folder / "log4j2.yaml").write_text(_LOGGING)
            arguments = ["format", "-t", "AAAAAAAAAAAAAAAAAAAAAA", "-c", "server.properties"]
            formats.append(self._java(node, "kafka.tools.StorageTool", arguments))
        for process, node in zip(formats, self.nodes, strict=True):
            if process.wait() != 0:
                raise RuntimeError(f"the data folder was not formatted\n{node.log.read_text()}")

    def _launch(self, node: Node) -> None:
        node.process = self._java(node, "kafka.Kafka", ["server.properties"])

    def _java(self, node: Node, main: str, arguments: Sequence[str]) -> subprocess.Popen:
        java = shutil.which("java")
        if java is None:
            raise RuntimeError("no java in PATH: scripts/bootstrap --tests installs it")
        command = [
            java,
            "-Xms48m",
            f"-Xmx{self._heap}",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dlog4j2.configurationFile=log4j2.yaml",
            "-cp",
            f"{self._jars}/*",
            main,
            *arguments,
        ]
        with node.log.open("ab") as log:
            return subprocess.Popen(
                command,
                cwd=node.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal must not reach it before us
                preexec_fn=_die_with_parent,
                env={**os.environ, "LC_ALL": "C.UTF-8"},
            )

    def _await(self, node: Node, alive: int | None = None) -> None:
        def is_ready() -> bool:
            if node.process.poll() is not None:
                raise RuntimeError(f"a broker ended while it was starting\n{self.log_tail()}")
            return kafka_wire.nodes_known(HOST, node.ports["PLAINTEXT"]) >= (alive or self._node_count)

        wait_until(is_ready, "the broker to answer", START_SECONDS_MAX, step=0.1)

    # --- asking -------------------------------------------------------------------------------

    def bootstrap(self, listener: str = "PLAINTEXT") -> str:
        return ",".join(f"{HOST}:{node.ports[listener]}" for node in self.nodes)

    @property
    def admin(self) -> AdminClient:
        if self._admin is None:
            self._admin = AdminClient({"bootstrap.servers": self.bootstrap(), "log_level": 0})
        return self._admin

    def topics(self) -> set[str]:
        return set(self.admin.list_topics(timeout=30).topics)

    def groups(self) -> set[str]:
        found = self.admin.list_consumer_groups(request_timeout=30).result()
        assert not found.errors, found.errors
        return {group.group_id for group in found.valid}

    def leaders(self, topic: str) -> dict[int, int]:
        """Node by partition; -1 where there is none."""
        partitions = self.admin.list_topics(topic, timeout=30).topics[topic].partitions
        return {number: each.leader for number, each in partitions.items()}

    def in_sync(self, topic: str, partition: int = 0) -> set[int]:
        """Nodes whose copy of the log is whole."""
        return set(self.admin.list_topics(topic, timeout=30).topics[topic].partitions[partition].isrs)

    def log_start(self, topic: str, partition: int = 0) -> int:
        return self._offset(topic, partition, OffsetSpec.earliest())

    def log_end(self, topic: str, partition: int = 0) -> int:
        return self._offset(topic, partition, OffsetSpec.latest())

    def _offset(self, topic: str, partition: int, spec: OffsetSpec) -> int:
        asked = TopicPartition(topic, partition)
        answer = self.admin.list_offsets({asked: spec}, request_timeout=30)
        return answer[asked].result().offset

    def surviving_offsets(self, topic: str, partition: int = 0) -> list[int]:
        """Offsets a consumer that reads everything is given."""
        settings = {
            "bootstrap.servers": self.bootstrap(),
            "group.id": "unused",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "isolation.level": "read_uncommitted",
            "log_level": 0,
        }
        consumer = Consumer(settings)
        try:
            consumer.assign([TopicPartition(topic, partition, 0)])
            offsets = []
            while True:
                message = consumer.poll(30)
                assert message is not None, f"neither record nor end within 30 s: topic={topic}"
                if message.error():
                    return offsets
                offsets.append(message.offset())
        finally:
            consumer.close()

    # --- changing -----------------------------------------------------------------------------

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Returns when every partition has a leader that answers."""
        self.create_topics({name: partitions}, config)

    def create_topics(
        self, partitions: Mapping[str, int], config: Mapping[str, str] | None = None
    ) -> None:
        wanted = {"retention.ms": "-1", **(config or {})}
        new = [NewTopic(name, count, 1, config=wanted) for name, count in partitions.items()]
        for future in self.admin.create_topics(new, request_timeout=60).values():
            future.result()
        for name, count in partitions.items():
            self._await_partitions(name, count)

    def create_copied_topic(self, name: str, nodes: Sequence[int], config: Mapping[str, str]) -> None:
        """One partition with copies on these nodes; the first one leads it."""
        topic = NewTopic(name, 1, replica_assignment=[list(nodes)], config={"retention.ms": "-1", **config})
        for future in self.admin.create_topics([topic], request_timeout=60).values():
            future.result()
        self._await_partitions(name, 1)

    def add_partitions(self, topic: str, total: int) -> None:
        for future in self.admin.create_partitions([NewPartitions(topic, total)]).values():
            future.result()
        self._forget_clients()
        self._await_partitions(topic, total)

    def delete_topic(self, topic: str) -> None:
        for future in self.admin.delete_topics([topic], operation_timeout=30).values():
            future.result()
        wait_until(lambda: topic not in self.topics(), f"the topic {topic} to be gone", 60)
        self._forget_clients()

    def delete_records(self, topic: str, before: Mapping[int, int]) -> None:
        """The first offset kept, by partition."""
        asked = [TopicPartition(topic, number, offset) for number, offset in before.items()]
        for future in self.admin.delete_records(asked, request_timeout=30).values():
            future.result()

    def set_topic_config(self, topic: str, config: Mapping[str, str]) -> None:
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in config.items()
        ]
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=entries)
        for future in self.admin.incremental_alter_configs([resource]).values():
            future.result()

    def produce(self, topic: str, records: Iterable[Record]) -> list[int]:
        """Appends in the order given, a batch each; the offset of each record."""
        if self._producer is None:
            self._producer = Producer(
                {"bootstrap.servers": self.bootstrap(), "linger.ms": 0, "log_level": 0}
            )
        return produce_with(self._producer, topic, records)

    def produce_batch(
        self, topic: str, records: Iterable[Record], compression: str = "none", size_max: int = 10**6
    ) -> None:
        """Appends as few batches as `size_max` bytes allow, compressed."""
        producer = Producer(
            {
                "bootstrap.servers": self.bootstrap(),
                "linger.ms": 500,
                "compression.type": compression,
                "message.max.bytes": 64 * 2**20,
                "batch.size": size_max,
                "batch.num.messages": 10**6,
                "log_level": 0,
            }
        )
        for record in records:
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                partition=record.partition,
                timestamp=record.timestamp_ms,
            )
        assert producer.flush(60) == 0

    def produce_raw(self, topic: str, partition: int, records: list[kafka_wire.RawRecord]) -> int:
        """One batch, stamps as given and even none; the offset of the first record."""
        leader = self.leaders(topic)[partition]
        (node,) = [node for node in self.nodes if node.id == leader]
        return kafka_wire.produce(HOST, node.ports["PLAINTEXT"], topic, partition, records)

    def transactional_producer(self, transactional_id: str) -> Producer:
        producer = Producer(
            {
                "bootstrap.servers": self.bootstrap(),
                "transactional.id": transactional_id,
                "linger.ms": 0,
                "log_level": 0,
            }
        )
        producer.init_transactions(60)
        return producer

    def allow(
        self, user: str, name: str, operation: AclOperation, kind: ResourceType = ResourceType.TOPIC
    ) -> None:
        binding = AclBinding(
            kind,
            name,
            ResourcePatternType.LITERAL,
            f"User:{user}",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        for future in self.admin.create_acls([binding]).values():
            future.result()

    def _forget_clients(self) -> None:
        """Theirs is the picture of a topic that has changed since."""
        self._producer = None
        self._admin = None

    def _await_partitions(self, topic: str, count: int) -> None:
        def is_served() -> bool:
            try:
                return all(self.log_end(topic, number) >= 0 for number in range(count))
            except KafkaException:
                self._forget_clients()  # they keep what they learned a moment too early
                return False

        wait_until(is_served, f"the partitions of {topic} to be served", 120)

    def _add_scram_users(self, users: Mapping[str, str]) -> None:
        # One request a mechanism: a user may be altered once in each.
        for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
            credential = ScramCredentialInfo(mechanism, 4096)
            wanted = [
                UserScramCredentialUpsertion(name, credential, word.encode())
                for name, word in users.items()
            ]
            for future in self.admin.alter_user_scram_credentials(wanted).values():
                future.result()


def _die_with_parent() -> None:
    """In the child: no broker is left behind when the tests are killed."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def produce_with(producer: Producer, topic: str, records: Iterable[Record]) -> list[int]:
    """The same with a producer of one's own, e.g. inside a transaction."""
    offsets: list[int] = []
    failures: list[object] = []

    def delivered(error: object, message: object) -> None:
        if error is not None:
            failures.append(error)
        else:
            offsets.append(message.offset())

    for record in records:
        producer.produce(
            topic,
            value=record.value,
            key=record.key,
            partition=record.partition,
            timestamp=record.timestamp_ms,
            on_delivery=delivered,
        )
        # One at a time where the order across partitions matters to the caller's list.
        producer.flush(30)
    if failures:
        raise RuntimeError(f"the broker refused a record: topic={topic} error={failures[0]}")
    return offsets


def now_ms() -> int:
    return time.time_ns() // 1_000_000
