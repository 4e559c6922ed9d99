"""Compares what the daemon reported with what can have been true when it looked.

The rule: a report describes a moment inside its own look, which lies between `observed_at - probe_duration_seconds` and
`observed_at`. Everything the simulator did has a moment before which it had no effect and one after which it had it
(history.py). A number is right when some order of events inside those two windows gives it, and wrong otherwise.

Pure: no clock, no socket. Every looseness beyond the rule stands in README.md.
"""

from __future__ import annotations

import bisect
import dataclasses
import datetime
import math
from collections.abc import Iterator, Mapping

from faults import Faults
from fleet import Plan
from history import Log, PipelineHistory, TableCommit

NEVER = float("inf")
TOLERANCE = 0.0025  # a millisecond each of the stamp, of observed_at and of the number
STEP_TOLERANCE = 0.001  # how far a clock was set is measured in whole milliseconds, each time
CLOCKS_APART = 1.0  # stamps that its looks contradict by no more are believed: docs/freshness.md
WARNING_RATIO = 0.7
SAVED_SECONDS = 3.0  # looks this close before a kill may be forgotten: the state is kept every second
DELIVERY_SECONDS = 3.0  # from the end of a look to its arrival here
FILE_TIME_SECONDS = 1.0  # S3 tells the time of an object in whole seconds


@dataclasses.dataclass(frozen=True)
class Violation:
    kind: str
    pipeline: str
    text: str


@dataclasses.dataclass(frozen=True)
class Look:
    """A report as it came in."""

    report: Mapping
    received: float
    daemon: int  # which process said it


class DaemonClock:
    """How far the daemon's clock was set off the machine's, and when."""

    def __init__(self) -> None:
        self._steps: list[tuple[float, float, float]] = [(-NEVER, -NEVER, 0.0)]  # asked, done, offset

    def step(self, asked: float, done: float, offset: float) -> None:
        self._steps.append((asked, done, offset))

    def steps_since(self, since: float) -> Iterator[str]:
        for asked, done, offset in self._steps[1:]:
            if done >= since:
                yield f"{asked:.3f}..{done:.3f} the daemon's clock was set to {offset:+g} s"

    def times_set_between(self, since: float, until: float) -> int:
        return sum(since <= done and asked <= until for asked, done, _ in self._steps[1:])

    def real_moments(self, observed_at: float, received: float) -> list[tuple[float, float]]:
        """(moment on the machine's clock, offset then), for each setting under which the daemon's clock can have
        shown this; more than one only around a step."""
        found = []
        for number, (asked, _, offset) in enumerate(self._steps):
            until = self._steps[number + 1][1] if number + 1 < len(self._steps) else NEVER
            moment = observed_at - offset
            if asked - TOLERANCE <= moment <= min(until, received) + TOLERANCE:
                found.append((moment, offset))
        return found


@dataclasses.dataclass(frozen=True)
class _Sighting:
    at: float
    begun: float
    daemon: int


class Sightings:
    """The looks that saw every end of a pipeline's logs: they bound when a record can have arrived."""

    def __init__(self) -> None:
        self._all: list[_Sighting] = []
        self._kills: dict[int, float] = {}

    def killed(self, daemon: int, at: float) -> None:
        self._kills[daemon] = at

    def events_since(self, since: float) -> Iterator[str]:
        for daemon, at in self._kills.items():
            if at >= since:
                yield f"{at:.3f} daemon {daemon} was killed"
        for each in self._all:
            if each.at >= since:
                yield f"{each.begun:.3f}..{each.at:.3f} daemon {each.daemon} saw every end"

    def add(self, at: float, begun: float, daemon: int) -> None:
        if not self._all or at > self._all[-1].at:
            self._all.append(_Sighting(at, begun, daemon))

    def _counts(self, each: _Sighting, daemon: int) -> bool:
        return each.daemon == daemon or each.at < self._kills.get(each.daemon, NEVER) - SAVED_SECONDS

    def last_before(self, moment: float, daemon: int) -> float | None:
        """When the last look began that was over by then: it saw the ends at some moment of its own."""
        place = bisect.bisect_right(self._all, moment, key=lambda each: each.at)
        for each in reversed(self._all[:place]):
            if self._counts(each, daemon):
                return each.begun
        return None

    def first_after(self, moment: float, daemon: int, until: float) -> float | None:
        place = bisect.bisect_left(self._all, moment, key=lambda each: each.at)
        for each in self._all[place:]:
            if each.at >= until:
                return None
            if each.begun >= moment and self._counts(each, daemon):
                return each.at
        return None


def seconds_of(text: str) -> float:
    return datetime.datetime.fromisoformat(text).timestamp()


def bad_numbers(value: object, where: str = "") -> Iterator[str]:
    """Numbers that are none, infinite or negative, anywhere in a JSON value."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from bad_numbers(each, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from bad_numbers(each, f"{where}[{number}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if math.isnan(value) or math.isinf(value) or value < 0:
            yield f"{where}={value}"


class _Window:
    """One look of one pipeline under one reading of the daemon's clock."""

    def __init__(self, judge: Judge, look: Look, moment: float, offset: float) -> None:
        self.judge = judge
        self.look = look
        self.report = look.report
        self.plan = judge.plans[look.report["pipeline"]]
        self.history = judge.histories[self.plan.name]
        self.at = moment
        self.offset = offset
        self.begun = moment - look.report["probe_duration_seconds"]
        self.found: list[Violation] = []

    def wrong(self, kind: str, text: str) -> None:
        self.found.append(Violation(kind, self.plan.name, text))

    # --- what can have been true ----------------------------------------------------------------------------------

    def wait_of(self, log: Log, offset: int) -> tuple[float, float]:
        """Least and greatest time that the record has waited at `self.at`."""
        sightings = self.judge.sightings[self.plan.name]
        daemon = self.look.daemon
        shortest = self.at - log.acked[offset]
        by_stamp = self.at - log.stamps_ms[offset] / 1000
        seen = sightings.last_before(log.sent[offset], daemon)
        by_sighting = self.at - seen if seen is not None else NEVER
        times_set = self.times_clock_set(log, offset)
        if self.offset == 0 and times_set == 0:
            # A stamp of long ago says nothing of the wait when an earlier look did not see the record yet.
            return shortest, min(by_stamp, by_sighting)
        # The daemon's clock says nothing of the stamp: only its own looks bound the wait.
        first = sightings.first_after(log.acked[offset], daemon, self.at)
        more = STEP_TOLERANCE * times_set
        shortest = self.at - first - more if first is not None else 0.0
        by_own_clock = by_stamp + self.offset
        if shortest - CLOCKS_APART <= by_own_clock < shortest:
            shortest = by_own_clock
        return max(0.0, shortest), by_sighting + more

    def times_clock_set(self, log: Log, offset: int) -> int:
        """While the record can have waited, for all that the daemon saw."""
        if offset >= len(log.sent):
            return 0
        seen = self.judge.sightings[self.plan.name].last_before(log.sent[offset], self.look.daemon)
        return self.judge.clock.times_set_between(log.sent[offset] if seen is None else seen, self.at)

    def is_age_in_doubt(self) -> bool:
        """Whether something waits since before the daemon's clock was set for the last time."""
        shown = self.report["checkpoint"]
        commit = self.history.find(shown["instant"]) if shown else None
        if commit is None or commit.offsets is None:
            return False
        logs = self.history.incarnations[commit.incarnation].logs
        return any(
            self.times_clock_set(log, max(commit.offsets[number], start)) > 0
            for number, log in enumerate(logs)
            for start in log.starts_in(self.begun, self.at)
        )

    def partition(self, log: Log, committed: int) -> _PartitionTruth:
        since = max(self.begun, self.visible_since)
        end_least, end_most = log.ends(since, self.at)
        # The log's start is taken after its end.
        starts = log.starts_in(since, self.at + self.report["probe_duration_seconds"])
        truth = _PartitionTruth(committed, (end_least, end_most), starts)
        for start in starts:
            first = max(committed, start)
            if first < end_most:
                truth.waits.append(self.wait_of(log, first))
            if first >= end_least:
                truth.waits.append((0.0, 0.0))
        return truth

    # --- checks -----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        report = self.report
        for bad in bad_numbers(report):
            self.wrong("negative" if "=-" in bad else "nan", bad)
        if report["status"] == "unknown":
            self._check_unknown()
        self._check_status()
        if report["checkpoint"] is None:
            if report["status"] != "unknown":
                self.wrong("wrong_checkpoint", "decided without a checkpoint")
            return
        commit = self._check_checkpoint()
        if commit is None:
            return
        self._check_commit(commit)
        if report["partitions"]["total"] == 0:
            return  # the cluster was not heard
        incarnation = self.history.incarnations[commit.incarnation]
        if not incarnation.is_alive(self.begun, self.at):
            self._check_replaced()
            return
        if report["status"] == "unknown" and incarnation.may_be_gone(self.at):
            return  # counts of either topic
        self._check_numbers(incarnation.logs, commit)

    def _check_unknown(self) -> None:
        report = self.report
        for name in ("lag_seconds", "sla_ratio", "sla_ratio_capped", "oldest"):
            if report[name] is not None:
                self.wrong("number_of_unknown", f"{name}={report[name]}")
        if report["reason"] == "no_timestamp" and self.is_age_in_doubt():
            return
        if not self.judge.faults.may_be_unknown(self.plan.name, report["reason"], self.begun, self.at):
            self.wrong("false_unknown", f"reason={report['reason']} {report['message']}")

    def _check_status(self) -> None:
        """The words that follow from the report's own numbers."""
        report = self.report
        if report["sla_seconds"] != self.plan.sla_seconds:
            self.wrong("wrong_sla", f"{report['sla_seconds']}")
        lag, status = report["lag_seconds"], report["status"]
        if lag is None:
            if status != "unknown" and not (status == "breach" and report["reason"] == "data_lost"):
                self.wrong("wrong_status", f"{status} without a lag")
            return
        if report["sla_ratio"] is None or report["sla_ratio_capped"] is None:
            self.wrong("missing_number", "sla_ratio")
            return
        ratio = lag / self.plan.sla_seconds
        if abs(report["sla_ratio"] - ratio) > 1e-3:
            self.wrong("wrong_ratio", f"{report['sla_ratio']} of lag {lag}")
        if abs(report["sla_ratio_capped"] - min(1.0, ratio)) > 1e-3:
            self.wrong("wrong_ratio", f"capped {report['sla_ratio_capped']} of lag {lag}")
        right = "breach" if ratio >= 1 else "warning" if ratio >= WARNING_RATIO else "fresh"
        if status != right and not (status == "breach" and report["reason"] == "data_lost"):
            self.wrong("wrong_status", f"{status} with ratio {ratio:.4f}")

    def _check_checkpoint(self) -> TableCommit | None:
        shown = self.report["checkpoint"]
        commit = self.history.find(shown["instant"])
        if commit is None or commit.offsets is None:
            self.wrong("wrong_checkpoint", f"no commit {shown['instant']} with a checkpoint was made")
            return None
        if shown["value"] != commit.checkpoint(self.plan.name):
            self.wrong("wrong_checkpoint", f"{shown['value']} of {shown['instant']}")
            return None
        since, until = self.history.visible_as_newest(shown["instant"])
        if since > self.at or until < self.begun:
            late = self.begun - until
            self.wrong("old_checkpoint", f"{shown['instant']} was not the newest one, by {late:.3f} s")
            return None
        self.visible_since = commit.asked
        return commit

    def _check_commit(self, commit: TableCommit) -> None:
        shown = self.report["checkpoint"]
        least, most = self.history.depths(commit.instant, self.begun, self.at)
        if not least <= shown["commit_depth"] <= most:
            self.wrong("wrong_depth", f"{shown['commit_depth']} not in {least}..{most}")
        now = self.at + self.offset
        youngest = max(0.0, now - commit.done) - TOLERANCE
        oldest = max(0.0, now - commit.asked) + FILE_TIME_SECONDS + TOLERANCE
        if shown["commit_age_seconds"] is None:
            self.wrong("missing_number", "commit_age_seconds")
        elif not youngest <= shown["commit_age_seconds"] <= oldest:
            self.wrong("wrong_commit_age", f"{shown['commit_age_seconds']} not in {youngest:.3f}..{oldest:.3f}")

    def _check_replaced(self) -> None:
        """The checkpoint's topic is gone: no number about it can be known."""
        report = self.report
        if report["status"] != "unknown":
            kind = "false_fresh" if report["status"] == "fresh" else "number_of_replaced_topic"
            self.wrong(kind, f"{report['status']} although the topic is another one")

    def _check_numbers(self, logs: list[Log], commit: TableCommit) -> None:
        report = self.report
        truths = [self.partition(log, commit.offsets[number]) for number, log in enumerate(logs)]
        counts = report["partitions"]
        if counts["total"] != len(logs):
            self.wrong("wrong_counts", f"{counts}")
        is_partial = counts["unknown"] + counts["ahead"] > 0
        if counts["ahead"]:
            self.wrong("wrong_counts", "nothing is ahead")
        self._check_counts(truths, counts)
        self._check_sums(truths, is_partial)
        self._check_lag(truths, is_partial)
        if report["oldest"] is not None:
            self._check_oldest(logs, truths)

    def _check_counts(self, truths: list[_PartitionTruth], counts: Mapping) -> None:
        unknown = counts["unknown"]
        possible = {
            "fresh": sum(t.may_be_fresh for t in truths),
            "lagging": sum(t.may_lag for t in truths),
            "lost": sum(t.may_be_lost for t in truths),
            "blocked": 0,
        }
        for name, most in possible.items():
            if counts[name] > most:
                self.wrong("wrong_counts", f"{name}={counts[name]}, at most {most}")
        surely_lost = sum(t.is_lost for t in truths)
        if counts["lost"] + unknown < surely_lost:
            self.wrong("false_fresh", f"lost={counts['lost']}, at least {surely_lost}")

    def _check_sums(self, truths: list[_PartitionTruth], is_partial: bool) -> None:
        report = self.report
        uncommitted = report["uncommitted_records"]
        if uncommitted is not None:
            least = sum(t.uncommitted[0] for t in truths)
            most = sum(t.uncommitted[1] for t in truths)
            if not least <= uncommitted <= most:
                self.wrong("wrong_uncommitted", f"{uncommitted} not in {least}..{most}")
        elif not is_partial:
            self.wrong("missing_number", "uncommitted_records")
        lost = report["lost_records"]
        if lost is not None:
            least = 0 if is_partial else sum(t.lost[0] for t in truths)
            most = sum(t.lost[1] for t in truths)
            if not least <= lost <= most:
                self.wrong("wrong_lost", f"{lost} not in {least}..{most}")
        elif not is_partial:
            self.wrong("missing_number", "lost_records")
        self._check_margins(truths, is_partial)

    def _check_margins(self, truths: list[_PartitionTruth], is_partial: bool) -> None:
        report = self.report
        records = report["retention_margin_records"]
        if records is not None:
            possible = [margin for t in truths for margin in t.margins]
            if not any(least <= records <= most for least, most in possible):
                self.wrong("wrong_margin", f"{records} records, possible {possible}")
        elif not is_partial and all(not t.may_be_fresh for t in truths):
            self.wrong("missing_number", "retention_margin_records")
        margin = report["retention_margin_seconds"]
        if margin is None:
            return
        if report["partitions"]["lost"]:
            if margin != 0:
                self.wrong("wrong_margin", f"{margin} s after a loss")
        elif self.plan.retention_seconds is None or margin > self.plan.retention_seconds + abs(self.offset) + TOLERANCE:
            self.wrong("wrong_margin", f"{margin} s of {self.plan.retention_seconds}")

    def _check_lag(self, truths: list[_PartitionTruth], is_partial: bool) -> None:
        report = self.report
        lag, status, sla = report["lag_seconds"], report["status"], self.plan.sla_seconds
        least = max(min(wait[0] for wait in t.waits) for t in truths)
        most = max(max(wait[1] for wait in t.waits) for t in truths)
        is_lost = any(t.is_lost for t in truths)
        if status in ("fresh", "warning") and (least >= sla or is_lost):
            self.wrong("false_fresh", f"{status}; waited {least:.3f} s of {sla}, lost={is_lost}")
        elif status == "fresh" and least - TOLERANCE >= WARNING_RATIO * sla:
            self.wrong("false_fresh", f"no warning; waited {least:.3f} s of {sla}")
        if status == "breach" and report["reason"] == "data_lost":
            if not any(t.may_be_lost for t in truths):
                self.wrong("false_breach", "nothing was lost")
        elif status == "breach" and most + TOLERANCE < sla:
            self.wrong("false_breach", f"waited {most:.3f} s of {sla}")
        if lag is None:
            return
        lost = report["partitions"]["lost"]
        if report["lag_is_lower_bound"]:
            if not (is_partial or lost or self.is_age_in_doubt()):
                self.wrong("wrong_lag", "a lower bound although everything is decided")
            if lost:
                # Of what is gone the simulator knows how long it had waited.
                most = max(most, *(self.lost_wait(log_truth) for log_truth in truths))
            if lag > most + TOLERANCE:
                self.wrong("wrong_lag", f"at least {lag}, in truth at most {most:.3f}")
            return
        if is_partial:
            self.wrong("wrong_lag", "given as exact although partitions are unknown")
        waits = [wait for t in truths for wait in t.waits]
        if lost:
            waits += [(0.0, self.lost_wait(t)) for t in truths]
        inside = any(low - TOLERANCE <= lag <= high + TOLERANCE for low, high in waits)
        if not inside or lag < least - TOLERANCE:
            near = ", ".join(f"{low:.3f}..{high:.3f}" for low, high in sorted(set(waits)))
            self.wrong("wrong_lag", f"{lag} not in {near}, at least {least:.3f}")

    def lost_wait(self, truth: _PartitionTruth) -> float:
        """How long the record at the checkpoint would have waited by now, had it not been deleted."""
        if not truth.may_be_lost:
            return 0.0
        stamps = [
            log.stamps_ms[truth.committed]
            for each in self.history.incarnations
            for log in each.logs
            if truth.committed < len(log.stamps_ms)
        ]
        return max((self.at + self.offset - stamp / 1000 for stamp in stamps), default=0.0)

    def _check_oldest(self, logs: list[Log], truths: list[_PartitionTruth]) -> None:
        oldest = self.report["oldest"]
        number, offset = oldest["partition"], oldest["offset"]
        if oldest["topic"] != self.plan.name or not 0 <= number < len(logs):
            self.wrong("wrong_oldest", f"{oldest}")
        elif not truths[number].committed <= offset < len(logs[number].stamps_ms):
            self.wrong("wrong_oldest", f"{oldest}")
        elif oldest["timestamp_ms"] != logs[number].stamps_ms[offset]:
            self.wrong("wrong_oldest", f"{oldest}, stamped {logs[number].stamps_ms[offset]}")


class _PartitionTruth:
    """What can have been seen of a partition in one look."""

    def __init__(self, committed: int, ends: tuple[int, int], starts: list[int]) -> None:
        self.committed = committed
        self.waits: list[tuple[float, float]] = []
        least, most = ends
        self.may_be_lost = starts[-1] > committed
        self.is_lost = starts[0] > committed
        self.may_be_fresh = committed >= least and not self.is_lost
        self.may_lag = committed < most and not self.is_lost
        self.lost = (max(0, starts[0] - committed), max(0, starts[-1] - committed))
        self.uncommitted = (
            max(0, least - max(committed, starts[-1])),
            max(0, most - max(committed, starts[0])),
        )
        # While something waits, from the log's start to the checkpoint.
        self.margins = [(max(0, committed - start), max(0, committed - start)) for start in starts]


class Judge:
    """Fed with every look in the order it came in, each once nothing of its time is on its way any more."""

    def __init__(
        self,
        plans: Mapping[str, Plan],
        histories: Mapping[str, PipelineHistory],
        clock: DaemonClock,
        faults: Faults,
    ) -> None:
        self.plans = plans
        self.histories = histories
        self.clock = clock
        self.faults = faults
        self.sightings = {name: Sightings() for name in plans}

    def daemon_was_killed(self, daemon: int, at: float) -> None:
        for each in self.sightings.values():
            each.killed(daemon, at)

    def events_since(self, pipeline: str, since: float) -> Iterator[str]:
        """What a number of this pipeline may rest on, for people."""
        yield from self.clock.steps_since(since)
        yield from self.sightings[pipeline].events_since(since)
        incarnation = self.histories[pipeline].now
        for number, log in enumerate(incarnation.logs):
            for offset, (sent, acked) in enumerate(zip(log.sent, log.acked, strict=False)):
                if sent >= since:
                    stamp = log.stamps_ms[offset] / 1000
                    yield f"{sent:.3f}..{acked:.3f} partition {number} offset {offset} stamped {stamp:.3f}"

    def check(self, look: Look) -> tuple[list[Violation], float | None]:
        """What is wrong with it, and when it was taken, on the machine's clock; nothing is learned from it."""
        report = look.report
        name = report["pipeline"]
        if name not in self.plans:
            return [Violation("wrong_pipeline", name, "nobody asked for it")], None
        moments = self.clock.real_moments(seconds_of(report["observed_at"]), look.received)
        if len(moments) > 1:
            # Around a step: a look is told of as soon as it is over.
            earliest = look.received - report["probe_duration_seconds"] - DELIVERY_SECONDS
            moments = [each for each in moments if each[0] >= earliest] or moments
        if not moments:
            text = f"observed_at={report['observed_at']} is none of the daemon's times"
            return [Violation("wrong_time", name, text)], None
        windows = [_Window(self, look, moment, offset) for moment, offset in moments]
        for window in windows:
            window.check()
        best = min(windows, key=lambda window: len(window.found))
        shown = {key: report[key] for key in ("status", "reason", "lag_seconds", "lag_is_lower_bound", "partitions")}
        more = f"; clock {best.offset:+g}, look of {report['probe_duration_seconds']} s, daemon {look.daemon}, {shown}"
        return [dataclasses.replace(each, text=each.text + more) for each in best.found], best.at

    def judge(self, look: Look) -> list[Violation]:
        """The same, and remembers the look for those to come."""
        found, moment = self.check(look)
        if moment is None:
            return found
        report = look.report
        name, counts = report["pipeline"], report["partitions"]
        is_partial = counts["unknown"] + counts["ahead"] > 0
        if counts["total"] > 0 and not is_partial:
            self.sightings[name].add(moment, moment - report["probe_duration_seconds"], look.daemon)
        self.faults.note(name, report["status"], is_partial, moment, look.received)
        return found
