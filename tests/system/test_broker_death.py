"""One of two brokers dies, or falls silent, while it is being asked: what it did not say is unknown,
what the other one holds is decided, and all that in time."""

from __future__ import annotations

import os
import pathlib
import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from kafka_cluster import KafkaCluster, Node, Record, now_ms
from program import HEALTHY, UNKNOWN, Program, Run
from truth import Partition, check_partition, check_pipeline, of_log
from waiting import wait_until

MINUTE = 60_000
TOPIC = "halves"
PARTITIONS = 8
TIMEOUT_SECONDS = 3.0
REASONS = ("no_leader", "broker_unreachable", "timeout")

Meanwhile = Callable[[subprocess.Popen], None]
Look = Callable[..., Run]


class Pair:
    """Two brokers, each the leader of half the partitions; all that waits is young, so that the
    whole answer is "fresh"."""

    def __init__(self, kafka: KafkaCluster) -> None:
        self.kafka = kafka
        kafka.create_topic(TOPIC, PARTITIONS)
        now = now_ms()
        stamps = {number: [now - 20 * MINUTE, now - MINUTE] for number in range(PARTITIONS)}
        kafka.produce(TOPIC, [Record(n, stamp) for n, when in stamps.items() for stamp in when])
        # Read to the end, or up to the last record.
        self.truth: dict[int, Partition] = {
            number: of_log(2 if number % 4 < 2 else 1, when) for number, when in stamps.items()
        }
        self.leaders = kafka.leaders(TOPIC)
        assert set(self.leaders.values()) == {1, 2}

    @property
    def checkpoint(self) -> str:
        return TOPIC + "".join(f",{n}:{p.committed}" for n, p in self.truth.items())

    def await_leaders(self) -> None:
        """Who was paused or killed leads again, so that every test begins alike."""
        wait_until(lambda: self.kafka.leaders(TOPIC) == self.leaders, "the leaders of old", 90)

    def led_by(self, node: Node) -> list[int]:
        return [number for number, leader in self.leaders.items() if leader == node.id]


@pytest.fixture(scope="module")
def pair(kafka_jars: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("pair")
    with KafkaCluster(folder, kafka_jars, nodes=2) as kafka:
        yield Pair(kafka)


@pytest.fixture(params=[0, 1], ids=["first", "second"])
def victim(request: pytest.FixtureRequest, pair: Pair) -> Iterator[Node]:
    """The broker that a test may pause; awake again afterwards."""
    node = pair.kafka.nodes[request.param]
    yield node
    pair.kafka.resume(node)
    pair.await_leaders()


@pytest.fixture
def look(tidemark: Program, pair: Pair, make_table: Callable[..., pathlib.Path]) -> Look:
    def run(meanwhile: Meanwhile = lambda _: None) -> Run:
        return tidemark(
            "freshness", "--table", make_table(pair.checkpoint),
            "--bootstrap", pair.kafka.bootstrap(), "--format", "json", "--partitions",
            "--timeout", f"{TIMEOUT_SECONDS:g}s", meanwhile=meanwhile,
        )  # fmt: skip

    return run


def check_half(run: Run, pair: Pair, victim: Node, *, may_be_whole: bool = False) -> None:
    """The survivor's partitions are decided, the victim's are unknown with a reason, or right where
    it had answered already."""
    assert run.seconds < TIMEOUT_SECONDS + 1
    report = run.pipeline
    shown = {each["partition"]: each for each in report["partition_detail"]}
    assert sorted(shown) == sorted(pair.truth)
    unknown = []
    for number, expected in pair.truth.items():
        if number in pair.led_by(victim) and shown[number]["verdict"] == "UNKNOWN":
            assert shown[number]["reason"] in REASONS
            assert shown[number]["lag_seconds"] is None
            unknown.append(number)
        else:
            check_partition(shown[number], expected, run)
    if may_be_whole and not unknown:
        check_pipeline(run, TOPIC, pair.truth)
        return
    assert unknown
    assert report["partitions"]["unknown"] == len(unknown)
    assert report["status"] == "unknown"
    assert report["lag_seconds"] is None
    assert report["message"]
    assert "in state" not in report["message"]
    assert run.code == UNKNOWN


def has_connection(process: subprocess.Popen, port: int) -> bool:
    """Whether the process has an established connection to this port."""
    sockets = set()
    for each in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            sockets.add(os.readlink(each))
        except FileNotFoundError:
            continue  # closed since
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        remote, state, inode = words[2], words[3], words[9]
        is_it = int(remote.split(":")[1], 16) == port and state == "01"
        if is_it and f"socket:[{inode}]" in sockets:
            return True
    return False


def await_connection(process: subprocess.Popen, node: Node) -> None:
    port = node.ports["PLAINTEXT"]
    wait_until(
        lambda: process.poll() is not None or has_connection(process, port),
        "the program to connect", 30, step=0,
    )  # fmt: skip


def test_the_answer_is_whole_while_both_are_alive(pair: Pair, look: Look) -> None:
    run = look()
    check_pipeline(run, TOPIC, pair.truth)
    assert run.code == HEALTHY


def test_a_broker_that_is_silent_from_the_beginning(pair: Pair, victim: Node, look: Look) -> None:
    pair.kafka.pause(victim)
    check_half(look(), pair, victim)


@pytest.mark.parametrize("delay_ms", [0, 5, 12])
def test_a_broker_that_falls_silent_while_it_is_asked(
    pair: Pair, victim: Node, look: Look, delay_ms: int
) -> None:
    def pause(process: subprocess.Popen) -> None:
        await_connection(process, victim)
        time.sleep(delay_ms / 1000)
        pair.kafka.pause(victim)

    check_half(look(pause), pair, victim, may_be_whole=True)


def test_two_brokers_that_are_silent_are_no_answer_at_all(pair: Pair, look: Look) -> None:
    for node in pair.kafka.nodes:
        pair.kafka.pause(node)
    try:
        run = look()
    finally:
        pair.kafka.resume(*pair.kafka.nodes)
        pair.await_leaders()
    assert run.seconds < TIMEOUT_SECONDS + 1
    assert run.pipeline["status"] == "unknown"
    assert run.pipeline["lag_seconds"] is None
    assert run.code != HEALTHY


class TestOneBrokerIsKilled:
    """In this order: a broker takes long to start again, so it stays dead after the second test."""

    @pytest.fixture
    def mortal(self, pair: Pair) -> Node:
        return pair.kafka.nodes[1]

    def test_after_it_was_silent(self, pair: Pair, mortal: Node, look: Look) -> None:
        pair.kafka.pause(mortal)

        def kill(process: subprocess.Popen) -> None:
            await_connection(process, mortal)
            time.sleep(0.3)
            pair.kafka.kill(mortal)

        check_half(look(kill), pair, mortal)
        pair.kafka.start_again(mortal)
        pair.await_leaders()

    def test_while_it_is_asked(self, pair: Pair, mortal: Node, look: Look) -> None:
        def kill(process: subprocess.Popen) -> None:
            await_connection(process, mortal)
            pair.kafka.kill(mortal)

        check_half(look(kill), pair, mortal, may_be_whole=True)

    def test_before_it_was_asked(self, pair: Pair, mortal: Node, look: Look) -> None:
        pair.kafka.kill(mortal)
        check_half(look(), pair, mortal)
