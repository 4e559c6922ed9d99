"""Breaks things, one after the other, and writes down what it broke, when, and for whom."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from daemon_run import DaemonRun, StepClock
from faults import Fault, Faults
from judge import SAVED_SECONDS, Judge
from kafka_cluster import KafkaCluster
from lake import S3
from waiting import wait_until
from writers import PipelineWriter, Writers

# How far the daemon's clock is set off, one after the other.
STEPS_SECONDS = (7.0, -7.0, 90.0, -60.0, 3600.0, -3600.0)
# From so much on S3 refuses what is signed.
S3_SKEW_SECONDS = 900.0
HALF_LISTINGS = ("cut", "torn", "no_token", "short")


@dataclasses.dataclass(frozen=True)
class Pace:
    hold: float  # how long a fault lasts
    rest: float  # from the end of one to the beginning of the next
    kill_every: float
    victims: int  # pipelines a fault of tables or topics touches
    steps: tuple[float, ...] = STEPS_SECONDS


class Director:
    """Two threads: one that breaks things, one that kills the daemon. `close()` ends both; everything works again."""

    def __init__(
        self,
        kafka: KafkaCluster,
        s3: S3,
        writers: Writers,
        runs: DaemonRun,
        clock: StepClock,
        judge: Judge,
        pace: Pace,
        interval: float,
        seed: int,
    ) -> None:
        self._kafka = kafka
        self._s3 = s3
        self._writers = writers
        self._runs = runs
        self._clock = clock
        self._judge = judge
        self._faults: Faults = judge.faults
        self._pace = pace
        self._interval = interval
        self._chance = random.Random(f"{seed} director")
        self._stop = threading.Event()
        # A clock that is set and a daemon that is killed in the same seconds: see README.md.
        self._leaders: dict[tuple[str, int], int] = {}
        self._began = time.time()
        self.rounds = 0
        self.kills = 0
        self.errors: list[str] = []
        # A broker ends with the thread that started it, so that those who start some again stay until the end.
        self._is_over = threading.Event()
        works = {work: threading.Event() for work in (self._break, self._kill)}
        self._done = list(works.values())
        self._threads = [threading.Thread(target=self._guard, args=each, daemon=True) for each in works.items()]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self, is_round_wanted: bool = False) -> None:
        """`is_round_wanted`: not before every fault was there once."""
        if is_round_wanted:
            wait_until(lambda: self.rounds > 0 or bool(self.errors), "a round of faults", 900, step=0.5)
        self._stop.set()
        for each in self._done:
            each.wait()

    def end(self) -> None:
        """After close(), once nothing needs the brokers any more."""
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _guard(self, work: Callable[[], None], done: threading.Event) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - told at the end of the run: it is no fault of the daemon's
            self.errors.append(f"{work.__name__}: {error!r}")
        done.set()
        self._is_over.wait()

    def _break(self) -> None:
        todo = [self._brokers_die, self._brokers_fall_silent, self._stores_fail]
        todo += [self._topics_change, self._storms, self._clock_steps]
        while not self._stop.is_set():
            self._chance.shuffle(todo)
            for each in todo:
                if self._stop.wait(self._pace.rest):
                    return
                self._say(each.__name__)
                each()
            self.rounds += 1
            self._say(f"round {self.rounds} is over")

    def _kill(self) -> None:
        everybody = list(self._writers.all)
        while not self._stop.wait(self._pace.kill_every):
            fault = self._faults.begin("daemon_killed", everybody, time.time())
            self._judge.daemon_was_killed(self._runs.number, self._runs.kill())
            self._runs.start_again()
            fault.ended = time.time()
            self.kills += 1

    def _say(self, what: str) -> None:
        print(f"{time.time() - self._began:7.1f} s {what}", file=sys.stderr, flush=True)

    @contextlib.contextmanager
    def _fault(self, kind: str, pipelines: Sequence[str], **more: object) -> Iterator[Fault]:
        fault = self._faults.begin(kind, pipelines, time.time(), **more)
        try:
            yield fault
        finally:
            fault.ended = time.time()

    def _some(self, count: int, is_fit: Callable[[PipelineWriter], bool] = lambda _: True) -> list[PipelineWriter]:
        fit = [writer for writer in self._writers.all.values() if is_fit(writer)]
        return self._chance.sample(fit, min(count, len(fit)))

    # --- brokers ----------------------------------------------------------------------------------------------------

    def note_leaders(self) -> None:
        """Of topics with one replica: they do not move, but those that are made anew."""
        for name, writer in self._writers.all.items():
            if writer.plan.replicas == 1:
                for partition, leader in self._kafka.leaders(name).items():
                    if leader >= 0:
                        self._leaders[name, partition] = leader

    def _led_by(self, node: int) -> list[str]:
        return sorted({name for (name, _), leader in self._leaders.items() if leader == node})

    @contextlib.contextmanager
    def _without(self, kind: str, node_id: int) -> Iterator[None]:
        """Nothing is on its way to partitions that only this broker holds, so that the truth stays known. Topics with
        more replicas go on, and choose another leader."""
        self.note_leaders()
        dark = self._led_by(node_id)
        moving = [name for name, writer in self._writers.all.items() if writer.plan.replicas > 1]
        for name in dark:
            self._writers.all[name].is_producing = False
        for name in dark:
            self._writers.all[name].pause()
        with self._fault(kind, [*dark, *moving], blinded=dark, detail=f"broker {node_id}"):
            yield
        for name in dark:
            self._writers.all[name].resume()

    def _brokers_die(self) -> None:
        node = self._chance.choice(self._kafka.nodes)
        with self._without("broker_killed", node.id):
            self._kafka.kill(node)
            self._stop.wait(self._pace.hold)
            self._kafka.start_again(node)

    def _brokers_fall_silent(self) -> None:
        node = self._chance.choice(self._kafka.nodes)
        with self._without("broker_silent", node.id):
            self._kafka.pause(node)
            self._stop.wait(self._pace.hold)
            self._kafka.resume(node)

    # --- topics -----------------------------------------------------------------------------------------------------

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self._kafka.bootstrap(), "log_level": 0})

    def _topics_change(self) -> None:
        """Some topics are made anew, some lose what nobody has read yet."""
        def is_fit(writer: PipelineWriter) -> bool:
            return writer.plan.replicas == 1 and writer.plan.rhythm in ("steady", "sawtooth")

        busy = self._some(2 * self._pace.victims, is_fit)
        anew, cut = busy[: len(busy) // 2], busy[len(busy) // 2 :]
        for writer in busy:
            writer.is_producing = writer.is_committing = False
        for writer in busy:
            writer.pause()
        for writer in cut:
            for partition in range(writer.plan.partitions):
                for _ in range(10):
                    writer.send(partition)
        # Long enough that a look at the last checkpoint is kept: see README.md.
        self._stop.wait(3 * self._interval + SAVED_SECONDS)
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._fault("topic_recreated", [w.plan.name for w in anew]))
            stack.enter_context(self._fault("retention", [w.plan.name for w in cut]))
            for writer in cut:
                self._overtake(writer)
            for writer in anew:
                self._make_anew(writer)
            self._stop.wait(self._pace.hold)
            for writer in busy:
                writer.commit()
        for writer in busy:
            writer.resume()

    def _overtake(self, writer: PipelineWriter) -> None:
        """Deletes what waits, but for the last three records: what retention does when a streamer is too slow."""
        before = {number: max(0, log.end - 3) for number, log in enumerate(writer.history.now.logs)}
        asked = time.time()
        places = [TopicPartition(writer.plan.name, number, start) for number, start in before.items()]
        admin = self._admin()  # the answers come while it lives only
        for future in admin.delete_records(places, request_timeout=30).values():
            future.result(60)
        done = time.time()
        for number, start in before.items():
            writer.history.now.logs[number].cut(asked, done, start)

    def _make_anew(self, writer: PipelineWriter) -> None:
        """Every other one grows past the old checkpoint at once: only the topic's id tells."""
        plan = writer.plan
        ends = [log.end for log in writer.history.now.logs]
        admin = self._admin()
        asked = time.time()
        writer.history.now.deleted = (asked, float("inf"))
        for future in admin.delete_topics([plan.name], operation_timeout=30).values():
            future.result(60)
        wait_until(lambda: plan.name not in admin.list_topics(timeout=30).topics, "the topic to be gone", 60)
        writer.history.now.deleted = (asked, time.time())
        create_topics(admin, [writer])
        writer.begin_incarnation(asked, time.time(), self._writers.make_producer())
        grows = self._chance.random() < 0.5
        for number, end in enumerate(ends):
            for _ in range(end + 3 if grows else 1):
                writer.send(number)

    # --- tables -----------------------------------------------------------------------------------------------------

    def _stores_fail(self) -> None:
        """Each way to fail, of different tables, at the same time."""
        modes = [("s3_503", "503"), ("s3_slow", "slow"), ("s3_silent", "silent")]
        modes += [("s3_half_listing", mode) for mode in HALF_LISTINGS]
        victims = self._some(self._pace.victims * len(modes), lambda w: w.plan.bucket is not None)
        share = max(1, len(victims) // len(modes))
        rules: dict[str, str] = {}
        with contextlib.ExitStack() as stack:
            for number, (kind, mode) in enumerate(modes):
                names = [writer.plan.name for writer in victims[number * share : (number + 1) * share]]
                rules |= dict.fromkeys(names, mode)
                stack.enter_context(self._fault(kind, names, detail=mode))
            self._s3.spoil(rules)
            self._stop.wait(self._pace.hold)
            self._s3.spoil({})

    def _storms(self) -> None:
        """Commits as fast as they can be written, most of them another writer's."""
        writers = self._some(self._pace.victims, lambda w: w.plan.rhythm in ("steady", "bursty"))
        with self._fault("commit_storm", [w.plan.name for w in writers]):
            end = time.monotonic() + self._pace.hold
            while time.monotonic() < end and not self._stop.is_set():
                for writer in writers:
                    writer.commit(with_checkpoint=self._chance.random() < 0.2)

    # --- the clock --------------------------------------------------------------------------------------------------

    def _clock_steps(self) -> None:
        for offset in self._pace.steps:
            self._step(offset)
            if self._stop.is_set():
                return

    def _step(self, offset: float) -> None:
        """Out and back, whether the daemon lives or is being killed."""
        far = abs(offset) > S3_SKEW_SECONDS
        everybody = self._writers.all.values()
        on_s3 = [w.plan.name for w in everybody if w.plan.bucket is not None] if far else []
        others = [w.plan.name for w in everybody if w.plan.name not in set(on_s3)]
        with contextlib.ExitStack() as stack:
            stack.enter_context(self._fault("clock_step", others, detail=f"{offset:+g} s", blinded=()))
            stack.enter_context(self._fault("clock_step_s3", on_s3, detail=f"{offset:+g} s", blinded=on_s3))
            self._clock.set(offset)
            self._stop.wait(self._pace.hold / 2)
            self._clock.set(0.0)
            self._stop.wait(self._pace.hold / 2)


def create_topics(admin: AdminClient, writers: Sequence[PipelineWriter]) -> None:
    """Returns when every partition has a leader."""
    new = []
    for writer in writers:
        plan = writer.plan
        retention = -1 if plan.retention_seconds is None else plan.retention_seconds * 1000
        stamped_by = "LogAppendTime" if plan.stamps == "append" else "CreateTime"
        # Old stamps are old on purpose; only the director deletes.
        config = {"message.timestamp.type": stamped_by, "retention.ms": str(retention)}
        if plan.stamps == "backfill":
            config["retention.ms"] = "-1"
        new.append(NewTopic(plan.name, plan.partitions, plan.replicas, config=config))
    for future in admin.create_topics(new, request_timeout=60, operation_timeout=60).values():
        future.result(120)
    names = {writer.plan.name: writer.plan.partitions for writer in writers}

    def are_led() -> bool:
        known = admin.list_topics(timeout=30).topics
        return all(
            name in known
            and len(known[name].partitions) == count
            and all(each.leader >= 0 for each in known[name].partitions.values())
            for name, count in names.items()
        )

    wait_until(are_led, "the topics to be led", 120, step=0.3)
