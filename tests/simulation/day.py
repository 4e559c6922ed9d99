"""A day in an hour: a simulated fleet, faults, and a judge that compares every number with the truth.

    python tests/simulation/day.py --minutes 60 --pipelines 200 --interval 5 --seed 1 [--summary FILE]

needs what `scripts/bootstrap --tests` installs, and a built program (--binary, else build/release/tidemark). Exit code
1 when anything was wrong. See README.md.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterable

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system")]

from confluent_kafka.admin import AdminClient  # noqa: E402

from daemon_run import DaemonRun, StepClock  # noqa: E402
from director import Director, Pace, create_topics  # noqa: E402
from faults import Faults  # noqa: E402
from fleet import Plan, make_fleet  # noqa: E402
from judge import Judge, Look, Violation, seconds_of  # noqa: E402
from kafka_cluster import KafkaCluster  # noqa: E402
from lake import S3  # noqa: E402
from program import Program  # noqa: E402
from scrape import check_age, check_scrape  # noqa: E402
from writers import Writers  # noqa: E402

SETTLING_SECONDS = 1.5  # looks are judged so long after they came in: events of their time have come in too
SILENCE_SECONDS = 20.0  # beside three intervals, docs/serve.md: the time-outs of table and cluster
LATE_SECONDS = 5.0  # beside three intervals, for pipelines that no fault touches
TEXTS_MAX = 100  # of violations of one kind that are shown
CONTEXTS_MAX = 20  # violations whose looks before are shown


@dataclasses.dataclass(frozen=True)
class Size:
    seconds: float
    pipelines: int
    brokers: int
    interval: float
    scrape_every: float
    pace: Pace


@dataclasses.dataclass
class Outcome:
    """What a run showed."""

    looks: int = 0
    scrapes: int = 0
    series: int = 0
    kills: int = 0
    rounds: int = 0
    violations: dict[str, list[Violation]] = dataclasses.field(default_factory=dict)
    counts: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    contexts: list[str] = dataclasses.field(default_factory=list)  # what the judge knew at a violation
    ages: list[float] = dataclasses.field(default_factory=list)  # of reports of untouched pipelines at a scrape
    ages_beside: dict[str, list[float]] = dataclasses.field(default_factory=dict)  # by the fault that touched others
    statuses: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    faults: Faults | None = None
    broken: list[str] = dataclasses.field(default_factory=list)  # of the simulator itself
    load: tuple[float, ...] = ()

    def add(self, found: Iterable[Violation]) -> None:
        for each in found:
            self.counts[each.kind] += 1
            texts = self.violations.setdefault(each.kind, [])
            if len(texts) < TEXTS_MAX:
                texts.append(each)


class Day:
    """The judge's side of a run: reads what comes in, holds it against the truth."""

    def __init__(self, runs: DaemonRun, judge: Judge, writers: Writers, size: Size) -> None:
        self._runs = runs
        self._judge = judge
        self._writers = writers
        self._size = size
        self._waiting: dict[str, collections.deque[Look]] = {name: collections.deque() for name in writers.all}
        self._recent: dict[str, collections.deque[Look]] = {
            name: collections.deque(maxlen=40) for name in writers.all
        }
        self._judged: dict[str, collections.deque[tuple]] = {
            name: collections.deque(maxlen=60) for name in writers.all
        }
        self._scrapes: collections.deque[tuple] = collections.deque()
        self.outcome = Outcome(faults=judge.faults)

    def watch(self, until: float) -> None:
        next_scrape = time.monotonic()
        while time.monotonic() < until:
            self._take_looks()
            if time.monotonic() >= next_scrape:
                next_scrape = time.monotonic() + self._size.scrape_every
                self._scrape()
            self._judge_settled()
            time.sleep(0.02)

    def finish(self) -> None:
        end = time.monotonic() + 30
        while (self._scrapes or any(self._waiting.values())) and time.monotonic() < end:
            self._take_looks()
            self._judge_settled()
            time.sleep(0.05)
        for name, waiting in self._waiting.items():
            if waiting:
                sent = self._writers.all[name].history.unsettled(time.time())
                self.outcome.broken.append(f"{name}: {len(waiting)} looks not judged, never acknowledged: {sent}")

    def _take_looks(self) -> None:
        while self._runs.looks:
            self._add(self._runs.looks.popleft())

    def _add(self, look: Look) -> None:
        name = look.report["pipeline"]
        if name not in self._waiting:
            self.outcome.add([Violation("wrong_pipeline", name, "nobody asked for it")])
            return
        self._recent[name].append(look)
        report = look.report
        fields = ("observed_at", "probe_duration_seconds", "status", "lag_seconds")
        key = (look.daemon, *(report[field] for field in fields))
        if key in self._judged[name]:
            return
        self._judged[name].append(key)
        self._waiting[name].append(look)

    def _reports(self) -> list[Look] | None:
        """As /api/v1/pipelines gives them; None while the daemon is dead."""
        number = self._runs.number
        try:
            status, text = self._runs.daemon.ask("GET", "/api/v1/pipelines")
        except (OSError, AssertionError):
            return None
        received = time.time()
        if status != 200 or number != self._runs.number:
            return None
        return [Look(report, received, number) for report in json.loads(text)["pipelines"]]

    def _scrape(self) -> None:
        begun = time.time()
        before = self._reports()
        if before is None:
            return
        number = self._runs.number
        try:
            _, text = self._runs.daemon.ask("GET", "/metrics")
        except OSError:
            return
        after = self._reports()
        if after is None or number != self._runs.number:
            return
        for look in (*before, *after):
            self._add(look)
        self._scrapes.append((begun, time.time(), text, before, after))

    def _judge_settled(self) -> None:
        horizon = time.time() - SETTLING_SECONDS
        for name, waiting in self._waiting.items():
            history = self._writers.all[name].history
            while waiting and waiting[0].received < horizon and history.is_settled(waiting[0].received):
                look = waiting.popleft()
                self.outcome.looks += 1
                self.outcome.statuses[look.report["status"]] += 1
                found = self._judge.judge(look)
                self.outcome.add(found)
                if found and len(self.outcome.contexts) < CONTEXTS_MAX:
                    self.outcome.contexts.append(self._context(look))
        while self._scrapes and self._scrapes[0][1] < horizon:
            self._check_scrape(*self._scrapes.popleft())

    def _context(self, wrong: Look) -> str:
        """The looks that led to it, for whoever has to find out."""
        name = wrong.report["pipeline"]
        lines = [f"{name}, look received {wrong.received:.3f}"]
        for look in self._recent[name]:
            if look.received > wrong.received:
                continue
            report = look.report
            shown = {key: report[key] for key in ("status", "reason", "lag_seconds", "lag_is_lower_bound", "oldest")}
            counts = {key: count for key, count in report["partitions"].items() if count}
            lines.append(
                f"  daemon {look.daemon} received {look.received:.3f} observed {seconds_of(report['observed_at']):.3f} "
                f"took {report['probe_duration_seconds']} {shown} {counts} "
                f"{report['checkpoint'] and report['checkpoint']['value']}"
            )
        lines += [f"  {text}" for text in self._judge.events_since(name, wrong.received - 300)]
        return "\n".join(lines)

    def _check_scrape(self, begun: float, ended: float, text: str, before: list[Look], after: list[Look]) -> None:
        reports = {look.report["pipeline"]: [look.report] for look in before}
        for look in after:
            reports.setdefault(look.report["pipeline"], []).append(look.report)
        for name, recent in self._recent.items():
            reports.setdefault(name, [])
            reports[name] += [look.report for look in recent if begun - 2 <= look.received <= ended + 2]
        self.outcome.scrapes += 1
        self.outcome.series += text.count("\n")
        self.outcome.add(check_scrape(text, reports, self._waiting))
        for look in before:
            self._check_age(look)

    def _check_age(self, look: Look) -> None:
        moments = self._judge.clock.real_moments(seconds_of(look.report["observed_at"]), look.received)
        if not moments:
            return  # told by the judge
        moment = moments[-1][0]
        three = 3 * self._size.interval
        self.outcome.add(check_age(look, moment, three + SILENCE_SECONDS))
        name = look.report["pipeline"]
        late = three + LATE_SECONDS
        if look.received - self._runs.started < late:
            return
        since = look.received - late
        if self._judge.faults.may_be_late(name, since, look.received):
            return
        age = look.received - moment
        self.outcome.ages.append(age)
        for kind in self._judge.faults.running(since, look.received):
            self.outcome.ages_beside.setdefault(kind, []).append(age)
        if age > late:
            self.outcome.add([Violation("late", name, f"nothing touches it, and its report is {age:.1f} s old")])


def write_config(
    path: pathlib.Path, plans: Iterable[Plan], writers: Writers, kafka: KafkaCluster, s3: S3, size: Size
) -> None:
    store = {"match": "s3://lake*", "endpoint": s3.endpoint, "region": "eu-west-1"}
    lines = [
        f'clusters: {{ main: {{ bootstrap_servers: "{kafka.bootstrap()}" }} }}',
        f"stores: {{ lake: {json.dumps(store)} }}",
        "state: { path: ./state }",
        "pipelines:",
    ]
    for plan in plans:
        keys = {
            "name": plan.name,
            "table": writers.all[plan.name].table.uri,
            "cluster": "main",
            "topic": plan.name,
            "interval": f"{round(size.interval * 1000)}ms",
            "sla": f"{round(plan.sla_seconds * 1000)}ms",
        }
        lines.append("  - " + json.dumps(keys))
    path.write_text("\n".join(lines) + "\n")


def run_day(
    binary: pathlib.Path, dependencies: pathlib.Path, folder: pathlib.Path, size: Size, seed: int
) -> Outcome:
    plans = make_fleet(size.pipelines, seed, size.interval, size.brokers)
    settings = {
        "default.replication.factor": str(min(3, size.brokers)),
        # Retention deletes nothing by itself: when it did could only be guessed.
        "log.retention.check.interval.ms": "86400000",
        "log.initial.task.delay.ms": "86400000",
        "log.message.timestamp.before.max.ms": "9223372036854775807",
    }
    for each in ("lake", "kafka", "tables", "daemon", "home"):
        (folder / each).mkdir(parents=True)
    s3 = S3(dependencies, folder / "lake")
    runs = None
    try:
        jars = dependencies / "kafka-4.4.0"
        with KafkaCluster(folder / "kafka", jars, nodes=size.brokers, settings=settings) as kafka:
            writers = Writers(plans, kafka.bootstrap(), s3, folder / "tables", seed)
            admin = AdminClient({"bootstrap.servers": kafka.bootstrap(), "log_level": 0})
            create_topics(admin, list(writers.all.values()))
            config = folder / "daemon/tidemark.yaml"
            write_config(config, plans, writers, kafka, s3, size)
            clock = StepClock(folder / "daemon")
            judge = Judge(
                {plan.name: plan for plan in plans},
                {name: writer.history for name, writer in writers.all.items()},
                clock.history,
                Faults(recovery_seconds_max=60),
            )
            writers.start()
            everybody = list(writers.all)
            # Until each was looked at for the first time.
            first = judge.faults.begin("daemon_killed", everybody, time.time(), detail="the first start")
            program = Program(binary, folder / "home")
            runs = DaemonRun(program, config, {**s3.environment(), **clock.environment()})
            first.ended = time.time()
            day = Day(runs, judge, writers, size)
            director = Director(kafka, s3, writers, runs, clock, judge, size.pace, size.interval, seed)
            director.start()
            _watch_until_over(day, director, size)
            outcome = day.outcome
            outcome.kills, outcome.rounds = director.kills, director.rounds
            writers.stop()
            runs.stop()
            day.finish()
            outcome.broken += director.errors + writers.failures()
            outcome.load = os.getloadavg()
            director.end()
            return outcome
    finally:
        if runs:
            runs.end()
        s3.stop()


def _watch_until_over(day: Day, director: Director, size: Size) -> None:
    day.watch(time.monotonic() + size.seconds)
    # Every fault has to have been there once, and its end to be seen.
    closing = threading.Thread(target=director.close, args=(True,), daemon=True)
    closing.start()
    while closing.is_alive():
        day.watch(time.monotonic() + 0.5)
    day.watch(time.monotonic() + 4 * size.interval)


def summary(outcome: Outcome, size: Size, seed: int) -> str:
    ages = sorted(outcome.ages) or [0.0]
    lines = [
        f"{size.pipelines} pipelines, {size.brokers} brokers, interval {size.interval:g} s, {size.seconds / 60:g} min, "
        f"seed {seed}; load at the end {outcome.load[0]:.1f}",
        f"looks judged {outcome.looks}, scrapes {outcome.scrapes} of {outcome.series} lines, "
        f"kills {outcome.kills}, rounds of faults {outcome.rounds}",
        "looks by status: " + ", ".join(f"{word} {count}" for word, count in sorted(outcome.statuses.items())),
        f"age of the report of an untouched pipeline at a scrape: median {statistics.median(ages):.1f} s, "
        f"99 % {ages[int(len(ages) * 0.99)]:.1f} s, most {ages[-1]:.1f} s, of {len(outcome.ages)}",
        "",
        "violations: " + (", ".join(f"{kind} {count}" for kind, count in sorted(outcome.counts.items())) or "0"),
    ]
    for texts in outcome.violations.values():
        lines += [f"  {each.kind} {each.pipeline} {each.text}" for each in texts]
    lines += outcome.contexts
    lines += [f"simulator: {text}" for text in outcome.broken[:20]]
    heads = ["fault", "times", "blinded pipelines", "unknown after", "back after", "age of the others' reports"]
    lines += ["", "Median / most (of how many):", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += fault_rows(outcome)
    return "\n".join(lines) + "\n"


def fault_rows(outcome: Outcome) -> list[str]:
    kinds: dict[str, list] = {}
    for fault in outcome.faults:
        if fault.pipelines:
            kinds.setdefault(fault.kind, []).append(fault)
    rows = []
    for kind, these in sorted(kinds.items()):
        wanted = (lambda fault: fault.pipelines) if kind == "retention" else (lambda fault: fault.blinded)
        noticed = [fault.noticed[n] for fault in these for n in wanted(fault) if n in fault.noticed]
        back = [
            fault.recovered[n] - fault.ended
            for fault in these
            for n in (wanted(fault) or fault.pipelines)
            if n in fault.recovered
        ]
        dark = sum(len(wanted(fault)) for fault in these)
        proved = sum(len(fault.kept_proof & fault.blinded) for fault in these)
        note = f"{dark}" + (f" ({proved} kept a proved breach)" if proved else "")
        beside = _spread(outcome.ages_beside.get(kind, []))
        rows.append(f"| {kind} | {len(these)} | {note} | {_spread(noticed)} | {_spread(back)} | {beside} |")
    return rows


def _spread(seconds: list[float]) -> str:
    if not seconds:
        return "-"
    return f"{statistics.median(seconds):.1f} s / {max(seconds):.1f} s ({len(seconds)})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tidemark"
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--pipelines", type=int, default=200)
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--interval", type=float, default=5.0, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--binary", type=pathlib.Path, default=HERE.parents[1] / "build/release/tidemark")
    parser.add_argument("--dependencies", type=pathlib.Path, default=os.environ.get("TIDEMARK_DEPS", cache))
    parser.add_argument("--summary", type=pathlib.Path, help="also write the summary there")
    arguments = parser.parse_args()
    pace = Pace(hold=25.0, rest=10.0, kill_every=60.0, victims=max(1, arguments.pipelines // 50))
    size = Size(60 * arguments.minutes, arguments.pipelines, arguments.brokers, arguments.interval, 5.0, pace)
    with tempfile.TemporaryDirectory(prefix="tidemark-day-") as folder:
        dependencies = pathlib.Path(arguments.dependencies)
        outcome = run_day(arguments.binary.resolve(), dependencies, pathlib.Path(folder), size, arguments.seed)
    text = summary(outcome, size, arguments.seed)
    print(text, end="")
    if arguments.summary:
        arguments.summary.write_text(text)
    return 1 if outcome.counts or outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
