"""Several daemons share the pipelines through a consumer group: each is reported by exactly one."""

from __future__ import annotations

import collections
import pathlib
import signal
import time
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AclOperation, ResourceType

from daemon import Daemon
from kafka_cluster import PASSWORDS, KafkaCluster, Record, now_ms
from postgres_server import PostgresServer
from program import Program
from serve_lab import MINUTE, Lab
from waiting import wait_until

COUNT = 60
INTERVAL = 2
SESSION = 6
STATUS = "tidemark_freshness_status"


@pytest.fixture(scope="module")
def postgres(dependencies: pathlib.Path) -> Iterator[PostgresServer]:
    server = PostgresServer(dependencies)
    yield server
    server.stop()


class Fleet:
    """Daemons of one group."""

    def __init__(self, lab: Lab, group: str, state: str, **keys: object) -> None:
        self.lab = lab
        lab.more = (
            f'coordination: {{ group: "{group}", session_timeout: {SESSION}s }}\n'
            f"state: {{ {state} }}\n"
        )
        self.daemons: list[Daemon] = []

    def start(self, count: int) -> list[Daemon]:
        self.daemons += [self.lab.start() for _ in range(count)]
        return self.daemons

    def owners(self) -> dict[str, list[int]]:
        """Who reports what: by pipeline, the daemons that have series of it."""
        found: dict[str, list[int]] = {name: [] for name in self.lab.pipelines}
        for number, daemon in enumerate(self.daemons):
            if daemon.process.poll() is not None:
                continue
            for name, pipeline in daemon.samples():
                if name == STATUS:
                    found[pipeline].append(number)
        return found

    def is_settled(self) -> bool:
        """Each pipeline has one owner, and the shares are even: nothing will move any more."""
        owners = list(self.owners().values())
        shares = collections.Counter(each[0] for each in owners if len(each) == 1)
        living = [n for n, daemon in enumerate(self.daemons) if daemon.process.poll() is None]
        least = len(owners) // (2 * len(living))
        return sum(shares.values()) == len(owners) and all(shares[n] >= least for n in living)

    def await_settled(self, seconds_max: float) -> float:
        begun = time.monotonic()
        wait_until(self.is_settled, "each pipeline to have one owner", seconds_max)
        return time.monotonic() - begun

    def check_for(self, seconds: float) -> dict[str, list[int]]:
        """At every sample each pipeline has one owner, wherever one looks, and nothing is stale."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            owners = self.owners()
            assert all(len(each) == 1 for each in owners.values()), owners
            for number, daemon in enumerate(self.daemons):
                if daemon.process.poll() is not None:
                    continue
                reported = daemon.pipelines()
                assert sorted(reported) == sorted(p for p, o in owners.items() if o == [number])
                assert {each["status"] for each in reported.values()} <= {"warning"}
                said = daemon.samples()["tidemark_coordination_owned_pipelines", ""]
                assert said == len(reported)
            time.sleep(0.2)
        return owners


def many(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    for number in range(COUNT):
        lab.add(f"pipe{number:02}", f"{topic},0:0", interval=f"{INTERVAL}s")


def test_each_pipeline_is_reported_by_exactly_one(lab: Lab, topic: str, postgres: PostgresServer) -> None:
    many(lab, topic)
    fleet = Fleet(lab, topic, f'url: "{postgres.url()}"')
    fleet.start(3)
    fleet.await_settled(60)
    owners = fleet.check_for(2 * INTERVAL)
    shares = collections.Counter(each[0] for each in owners.values())
    assert sorted(shares) == [0, 1, 2]
    # Nothing was written for it, no offset committed.
    assert lab.kafka.log_end("tidemark.coordination") == 0

    # What a daemon does not have it says to be elsewhere.
    elsewhere = next(name for name, each in owners.items() if each == [1])
    status, text = fleet.daemons[0].ask("GET", f"/api/v1/pipelines/{elsewhere}")
    assert status == 404
    assert "another instance of the group" in text
    shared = fleet.daemons[0].get("/api/v1/coordination")
    assert shared["member"] is True
    here = {each["pipeline"]: each["reported_here"] for each in shared["pipelines"]}
    assert here == {name: each == [0] for name, each in owners.items()}
    assert fleet.daemons[0].ask("GET", "/readyz")[0] == 200

    # One dies: all are owned again within the session and two intervals.
    fleet.daemons[0].kill()
    took = fleet.await_settled(60)
    assert took <= SESSION + 2 * INTERVAL, took
    kept = {name: each for name, each in owners.items() if each != [0]}
    after = fleet.check_for(2 * INTERVAL)
    assert {name: after[name] for name in kept} == kept, "what need not move stays"

    # One stops: its share is handed over at once.
    assert fleet.daemons[1].stop() == 0
    took = fleet.await_settled(60)
    assert took <= 2 * INTERVAL, took
    # One more joins.
    fleet.start(1)
    fleet.await_settled(60)
    fleet.check_for(INTERVAL)


def test_who_cannot_reach_the_group_reports_nothing(
    kafka_jars: pathlib.Path, tidemark: Program, tmp_path: pathlib.Path, topic: str, postgres: PostgresServer
) -> None:
    with KafkaCluster(tmp_path / "kafka", kafka_jars) as kafka:
        lab = Lab(tidemark, kafka, tmp_path)
        try:
            many(lab, topic)
            fleet = Fleet(lab, topic, f'url: "{postgres.url()}"')
            fleet.start(2)
            fleet.await_settled(60)
            before = fleet.check_for(INTERVAL)
            (node,) = kafka.nodes
            stopped = time.monotonic()
            kafka.kill(node)
            while any(fleet.owners().values()):
                now = {name: each for name, each in fleet.owners().items() if each}
                assert all(each == before[name] for name, each in now.items()), now
                assert time.monotonic() - stopped < SESSION + 3
            for daemon in fleet.daemons:
                assert daemon.pipelines() == {}
                assert daemon.samples()["tidemark_coordination_member", ""] == 0
                assert daemon.ask("GET", "/readyz")[0] == 503
                wait_until(lambda: daemon.get("/api/v1/coordination")["message"], "the reason", 30)
            kafka.start_again(node)
            fleet.await_settled(90)
            fleet.check_for(2 * INTERVAL)
        finally:
            lab.close()


def test_a_daemon_that_slept_through_its_session_wakes_up_with_nothing(
    lab: Lab, topic: str, postgres: PostgresServer
) -> None:
    many(lab, topic)
    fleet = Fleet(lab, topic, f'url: "{postgres.url()}"')
    sleeper, other = fleet.start(2)
    fleet.await_settled(60)
    sleeper.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: len(other.pipelines()) == COUNT, "the other to have all", 60)
    sleeper.process.send_signal(signal.SIGCONT)
    # Until it is a member again it has nothing; after that each has one owner.
    first = sleeper.samples()
    assert first["tidemark_coordination_owned_pipelines", ""] == 0
    assert not [name for name, _ in first if name == STATUS]
    wait_until(lambda: sleeper.pipelines() != {}, "its share", 60)
    fleet.await_settled(60)
    fleet.check_for(INTERVAL)


def test_what_was_known_goes_with_the_pipeline(lab: Lab, topic: str, postgres: PostgresServer) -> None:
    """Incidents go on under the next owner, and what an owner saw bounds ages for the next one."""
    lab.topic(topic, [1])
    lab.add("orders", f"{topic},0:1", interval="1s")
    lab.add("lost", f"{topic}-nowhere,0:0", interval="1s")
    fleet = Fleet(lab, topic, f'url: "{postgres.url()}"')
    (first,) = fleet.start(1)
    wait_until(lambda: set(first.pipelines()) == {"orders", "lost"}, "both", 60)
    first.await_status("orders", "fresh")
    first.await_status("lost", "unknown")
    wait_until(lambda: first.get("/api/v1/incidents?pipeline=lost")["incidents"] != [], "it", 30)
    opened = first.get("/api/v1/incidents?pipeline=lost")["incidents"]
    (second,) = fleet.start(1)[1:]
    assert first.stop() == 0
    # A record stamped 70 days ago arrives only now: it waits since now (case 18).
    lab.kafka.produce(topic, [Record(0, now_ms() - 70 * 24 * 60 * MINUTE)])
    wait_until(lambda: set(second.pipelines()) == {"orders", "lost"}, "both", 60)
    wait_until(lambda: second.pipelines()["orders"]["partitions"]["lagging"] == 1, "the record", 30)
    assert second.pipelines()["orders"]["status"] == "fresh"
    second.await_status("lost", "unknown")
    assert second.get("/api/v1/incidents?pipeline=lost")["incidents"] == opened


def test_doctor_says_whether_the_group_may_be_joined(
    secure_kafka: KafkaCluster, tidemark: Program, tmp_path: pathlib.Path, topic: str
) -> None:
    secure_kafka.create_topic(topic, 64)
    config = tmp_path / "tidemark.yaml"
    config.write_text(
        f"""
clusters:
  main:
    bootstrap_servers: "{secure_kafka.bootstrap("SASL_PLAINTEXT")}"
    properties:
      security.protocol: SASL_PLAINTEXT
      sasl.mechanism: PLAIN
      sasl.username: describer
      sasl.password: {PASSWORDS["describer"]}
coordination: {{ group: "{topic}", topic: "{topic}" }}
state: {{ path: ./state }}
pipelines: [ {{ name: off, table: {tmp_path}, disabled: true }} ]
"""
    )

    def diagnose() -> str:
        return tidemark("doctor", "--config", config, "--timeout", "5s").out

    said = diagnose()
    assert "grant DESCRIBE on it" in said
    assert "grant READ on the group" in said
    assert "use one PostgreSQL for all instances" in said
    secure_kafka.allow("describer", topic, AclOperation.DESCRIBE)
    wait_until(lambda: "has 64 partitions" in diagnose(), "the topic to be seen", 30)
    secure_kafka.allow("describer", topic, AclOperation.DESCRIBE, ResourceType.GROUP)
    daemon = Daemon(tidemark, config)
    try:
        wait_until(lambda: "Group authorization failed" in daemon.log(), "the refusal", 60)
        assert daemon.ask("GET", "/readyz")[0] == 503
        secure_kafka.allow("describer", topic, AclOperation.READ, ResourceType.GROUP)
        wait_until(lambda: f"a member of group={topic}" in daemon.log(), "it to join", 60)
        assert f"{topic} may be joined" in diagnose()
    finally:
        daemon.kill()
