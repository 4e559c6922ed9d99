"""A cluster of three brokers that loses one: what the others hold is decided, what they have not got is told."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator

import pytest

from daemon import Daemon
from kafka_cluster import KafkaCluster, Node, Record, now_ms
from program import BREACH, UNKNOWN, Program, Run
from serve_lab import Lab
from truth import check_lag, check_partition, check_pipeline, of_log
from waiting import wait_until

MINUTE = 60_000
TOPIC = "spread"
TIMEOUT_SECONDS = 5.0


@pytest.fixture(scope="module")
def logs(kafka_of_three: KafkaCluster) -> dict[int, list[int]]:
    """Stamps by partition; the partitions are spread over the brokers, one copy each."""
    kafka_of_three.create_topic(TOPIC, 6)
    assert set(kafka_of_three.leaders(TOPIC).values()) == {1, 2, 3}
    now = now_ms()
    stamps = {number: [now - (50 - number) * MINUTE, now - MINUTE] for number in range(6)}
    records = [Record(number, stamp) for number, when in stamps.items() for stamp in when]
    kafka_of_three.produce(TOPIC, records)
    return stamps


def checkpoint(committed: dict[int, int]) -> str:
    return TOPIC + "".join(f",{number}:{offset}" for number, offset in committed.items())


@pytest.fixture
def look(
    tidemark: Program, kafka_of_three: KafkaCluster, make_table: Callable[..., pathlib.Path]
) -> Callable[..., Run]:
    def run(committed: dict[int, int], *flags: str) -> Run:
        return tidemark(
            "freshness", "--table", make_table(checkpoint(committed)),
            "--bootstrap", kafka_of_three.bootstrap(), "--format", "json", "--partitions",
            "--timeout", f"{TIMEOUT_SECONDS:g}s", *flags,
        )  # fmt: skip

    return run


def test_all_partitions_are_decided_while_all_brokers_are_up(
    logs: dict[int, list[int]], look: Callable[..., Run]
) -> None:
    run = look(dict.fromkeys(logs, 1))
    check_pipeline(run, TOPIC, {number: of_log(1, when) for number, when in logs.items()})


class TestOneBrokerIsDead:
    """In this order: at first the cluster still names the dead broker as leader, then nobody."""

    @pytest.fixture(scope="class")
    def dead(self, logs: dict[int, list[int]], kafka_of_three: KafkaCluster) -> Iterator[Node]:
        node = kafka_of_three.nodes[2]
        kafka_of_three.kill(node)
        yield node

    def check_others(
        self, run: Run, logs: dict[int, list[int]], committed: dict[int, int], gone: list[int]
    ) -> None:
        shown = {each["partition"]: each for each in run.pipeline["partition_detail"]}
        assert sorted(shown) == sorted(logs)
        for number, when in logs.items():
            if number in gone:
                assert shown[number]["verdict"] == "UNKNOWN"
                assert shown[number]["reason"] in ("no_leader", "broker_unreachable", "timeout")
                assert shown[number]["lag_seconds"] is None
            else:
                check_partition(shown[number], of_log(committed[number], when), run)
        assert run.pipeline["partitions"]["unknown"] == len(gone)
        assert run.seconds < TIMEOUT_SECONDS + 3

    @pytest.mark.parametrize("moment", ["still named as leader", "no leader any more"])
    def test_its_partitions_are_unknown_and_the_others_decided(
        self,
        moment: str,
        dead: Node,
        logs: dict[int, list[int]],
        kafka_of_three: KafkaCluster,
        look: Callable[..., Run],
    ) -> None:
        if moment == "no leader any more":
            wait_until(
                lambda: -1 in kafka_of_three.leaders(TOPIC).values(), "the leader to be missed", 60
            )
            gone = [n for n, leader in kafka_of_three.leaders(TOPIC).items() if leader == -1]
        else:
            leaders = kafka_of_three.leaders(TOPIC)
            gone = [number for number, leader in leaders.items() if leader in (dead.id, -1)]
        assert len(gone) == 2
        committed = dict.fromkeys(logs, 2)  # everything read: nothing proves a breach

        run = look(committed)
        self.check_others(run, logs, committed, gone)
        assert run.pipeline["status"] == "unknown"
        assert run.pipeline["lag_seconds"] is None
        assert run.code == UNKNOWN

    def test_a_breach_in_the_others_stands(
        self, dead: Node, logs: dict[int, list[int]], look: Callable[..., Run]
    ) -> None:
        committed = dict.fromkeys(logs, 0)
        run = look(committed, "--sla", "10m")
        report = run.pipeline
        assert report["status"] == "breach"
        assert report["lag_is_lower_bound"] is True
        shown = report["oldest"]
        check_lag(report["lag_seconds"], logs[shown["partition"]][0], run)
        assert run.code == BREACH


class TestALogIsCutByAnUncleanElection:
    """The replica that is made leader has not got the last five records. Then other ones take their offsets."""

    CUT_AT = 5
    CHECKPOINT = 8  # what the table has read

    @pytest.fixture
    def lab(
        self, tidemark: Program, kafka_of_three: KafkaCluster, tmp_path: pathlib.Path
    ) -> Iterator[Lab]:
        kafka_of_three.start_dead()
        made = Lab(tidemark, kafka_of_three, tmp_path)
        yield made
        made.close()
        kafka_of_three.start_dead()

    @staticmethod
    def append(kafka: KafkaCluster, topic: str, count: int) -> None:
        kafka.produce(topic, [Record(0, now_ms()) for _ in range(count)])

    def test_it_is_told_even_when_the_log_has_grown_again(self, lab: Lab) -> None:
        topic = "cut"
        kafka = lab.kafka
        leader, follower, _ = kafka.nodes
        settings = {"unclean.leader.election.enable": "true", "min.insync.replicas": "1"}
        kafka.create_copied_topic(topic, [leader.id, follower.id], settings)
        wait_until(lambda: len(kafka.in_sync(topic)) == 2, "both copies", 60)
        self.append(kafka, topic, self.CUT_AT)
        kafka.kill(follower)
        wait_until(lambda: kafka.in_sync(topic) == {leader.id}, "the follower to be missed", 60)
        self.append(kafka, topic, 5)
        lab.add("orders", f"{topic},0:{self.CHECKPOINT}", sla="1h")
        daemon = lab.start()
        daemon.await_status("orders", "fresh")
        assert daemon.pipelines()["orders"]["uncommitted_records"] == 2
        wait_until(
            lambda: daemon.get("/api/v1/pipelines/orders/history")["points"] != [], "history", 30
        )

        kafka.kill(leader)
        kafka.start_again(follower, alive=2)
        wait_until(lambda: kafka.leaders(topic)[0] == follower.id, "the unclean election", 60)
        assert kafka.log_end(topic) == self.CUT_AT
        self.append(kafka, topic, 10)

        wait_until(
            lambda: daemon.pipelines()["orders"]["reason"] == "offset_ahead", "the cut to be told", 60
        )
        self.check(daemon)
        daemon.kill()
        again = lab.start()
        wait_until(
            lambda: again.pipelines()["orders"]["reason"] == "offset_ahead", "the cut to be told", 60
        )
        self.check(again)

        # Whoever has seen to it commits another position, and that counts.
        lab.table("orders", f"{topic},0:9")
        again.await_status("orders", "fresh")
        assert again.pipelines()["orders"]["uncommitted_records"] == self.CUT_AT + 10 - 9

        # Back again: where the logs part, the old leader has records that nobody has seen since.
        kafka.kill(follower)
        kafka.start_again(leader, alive=2)
        wait_until(lambda: kafka.leaders(topic)[0] == leader.id, "the second unclean election", 60)
        assert kafka.log_end(topic) == self.CUT_AT + 5
        wait_until(
            lambda: again.pipelines()["orders"]["reason"] == "offset_ahead", "the second cut to be told", 60
        )
        self.check(again)

    def check(self, daemon: Daemon) -> None:
        report = daemon.pipelines()["orders"]
        assert report["status"] == "unknown"
        assert report["lag_seconds"] is None
        assert report["lost_records"] is None
        assert f"the log was cut at {self.CUT_AT} since" in report["message"]
        (detailed,) = daemon.get("/api/v1/pipelines/orders/partitions")["pipelines"]
        (shown,) = detailed["partition_detail"]
        assert (shown["verdict"], shown["reason"]) == ("AHEAD", "log_truncated")
