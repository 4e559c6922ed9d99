"""The fleet at work: producers that fill the topics and streamers that commit what they read to the tables.

| rhythm | records | commits |
|---|---|---|
| steady | a few now and then | every few seconds, all there is |
| sawtooth | the same | about once an SLA, so that it warns and breaches again and again |
| bursty | many at once, then none | as steady |
| idle | some at the beginning | the same checkpoint again and again |
| stuck | a few now and then | one at the beginning |
"""

from __future__ import annotations

import concurrent.futures
import functools
import pathlib
import random
import threading
import time
from collections.abc import Callable, Iterable

from confluent_kafka import Producer

from fleet import Plan
from history import Incarnation, Log, PipelineHistory, TableCommit
from lake import S3, TableWriter

TICK_SECONDS = 0.05
COMMITTERS = 6
BURST = 15
BURST_SECONDS = 15.0
WITHOUT_CHECKPOINT = 0.12  # share of commits that another writer makes
BACKFILL_HOURS = (1, 48)


class PipelineWriter:
    """One pipeline. Records are sent by the ticking thread, or by a director that has paused it."""

    def __init__(self, plan: Plan, table: TableWriter, producer: Producer, seed: int) -> None:
        self.plan = plan
        self.history = PipelineHistory(plan.partitions)
        self.table = table
        self.producer = producer
        self.is_producing = True
        self.is_committing = True
        self._chance = random.Random(f"{seed} {plan.name}")
        self._commit_lock = threading.Lock()
        self._next_send = 0.0
        self._next_commit = 0.0
        self._is_commit_under_way = False
        self.failures: list[str] = []

    def tick(self, now: float, submit: Callable[[Callable[[], None]], object]) -> None:
        if self.is_producing and now >= self._next_send:
            self._send_some()
            self._next_send = now + self._pause()
        if self.is_committing and now >= self._next_commit and not self._is_commit_under_way:
            self._is_commit_under_way = True
            submit(self._commit_in_turn)
            self._next_commit = now + self.plan.commit_seconds * self._chance.uniform(0.6, 1.4)

    def _pause(self) -> float:
        if self.plan.rhythm == "idle":
            return float("inf")
        if self.plan.rhythm == "bursty":
            return BURST_SECONDS * self._chance.uniform(0.7, 1.3)
        return self._chance.expovariate(self.plan.records_per_second)

    def _send_some(self) -> None:
        count = BURST if self.plan.rhythm in ("bursty", "idle") else 1
        for _ in range(count):
            self.send(self._chance.randrange(self.plan.partitions))

    def send(self, partition: int) -> None:
        log = self.history.now.logs[partition]
        now = time.time()
        stamp = now
        if self.plan.stamps == "backfill" and self._chance.random() < 0.7:
            stamp = now - 3600 * self._chance.uniform(*BACKFILL_HOURS)
        log.send(now)
        self.producer.produce(
            self.plan.name,
            value=b"x",
            partition=partition,
            timestamp=int(stamp * 1000),
            on_delivery=functools.partial(self._delivered, log),
        )

    def _delivered(self, log: Log, error: object, message: object) -> None:
        if error is not None:
            self.failures.append(f"{self.plan.name}: {error}")
        else:
            log.ack(time.time(), message.offset(), message.timestamp()[1])

    def _commit_in_turn(self) -> None:
        try:
            self.commit(self._chance.random() >= WITHOUT_CHECKPOINT or not self.history.commits)
        except Exception as error:  # noqa: BLE001 - told at the end of the run: the truth is lost
            self.failures.append(f"{self.plan.name}: commit: {error!r}")
        finally:
            self._is_commit_under_way = False

    def commit(self, with_checkpoint: bool = True) -> None:
        """Whatever the broker has acknowledged until now."""
        with self._commit_lock:
            offsets = {number: log.end for number, log in enumerate(self.history.now.logs)}
            incarnation = len(self.history.incarnations) - 1
            if not with_checkpoint:
                instant, asked, done = self.table.commit(None)
                self.history.commits.append(TableCommit(instant, asked, done, None))
                return
            value = TableCommit("", 0, 0, offsets).checkpoint(self.plan.name)
            instant, asked, done = self.table.commit(value)
            self.history.commits.append(TableCommit(instant, asked, done, offsets, incarnation))

    def pause(self) -> None:
        """Neither sends nor commits any more when it returns; what was sent has arrived."""
        self.is_producing = self.is_committing = False
        end = time.monotonic() + 60
        while self._is_commit_under_way or not self.history.is_settled(time.time()):
            if time.monotonic() > end:
                raise TimeoutError(f"{self.plan.name} does not come to rest")
            time.sleep(0.02)

    def resume(self) -> None:
        self.is_producing = True
        self.is_committing = self.plan.rhythm != "stuck"

    def begin_incarnation(self, asked: float, done: float, producer: Producer) -> None:
        """The topic was made anew."""
        logs = [Log() for _ in range(self.plan.partitions)]
        self.producer = producer
        self.history.incarnations.append(Incarnation(logs, created=(asked, done)))


class Writers:
    """All of them, on one thread that sends, one that hears the broker, and a few that commit."""

    def __init__(self, plans: Iterable[Plan], bootstrap: str, s3: S3, folder: pathlib.Path, seed: int) -> None:
        self._bootstrap = bootstrap
        self._producers = [self.make_producer()]
        plans = list(plans)
        with concurrent.futures.ThreadPoolExecutor(COMMITTERS) as pool:
            tables = list(pool.map(lambda plan: _make_table(plan, s3, folder), plans))
        self.all = {
            plan.name: PipelineWriter(plan, table, self._producers[0], seed)
            for plan, table in zip(plans, tables, strict=True)
        }
        self._stop = threading.Event()
        self._committers = concurrent.futures.ThreadPoolExecutor(COMMITTERS)
        self._threads = [
            threading.Thread(target=self._tick, daemon=True),
            threading.Thread(target=self._poll, daemon=True),
        ]

    def make_producer(self) -> Producer:
        """A new topic of an old name wants a client that never knew the old one."""
        made = Producer(
            {
                "bootstrap.servers": self._bootstrap,
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 2,
                "log_level": 0,
                "topic.metadata.refresh.interval.ms": 2000,
            }
        )
        if hasattr(self, "_producers"):
            self._producers.append(made)
        return made

    def start(self) -> None:
        """Every table has a commit when it returns."""
        list(self._committers.map(lambda writer: writer.commit(), self.all.values()))
        for writer in self.all.values():
            writer.is_committing = writer.plan.rhythm != "stuck"
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._committers.shutdown()
        for producer in self._producers:
            producer.flush(20)
        for thread in self._threads:
            thread.join()

    def failures(self) -> list[str]:
        return [text for writer in self.all.values() for text in writer.failures]

    def _tick(self) -> None:
        while not self._stop.wait(TICK_SECONDS):
            now = time.monotonic()
            for writer in self.all.values():
                writer.tick(now, self._committers.submit)

    def _poll(self) -> None:
        while not self._stop.is_set():
            for producer in list(self._producers):
                producer.poll(0.02)


def _make_table(plan: Plan, s3: S3, folder: pathlib.Path) -> TableWriter:
    (folder / plan.name).mkdir(parents=True)
    return TableWriter(plan, s3, folder)
