"""What the program has to say, worked out from what was produced. Never from what it printed.

The rules are the table of verdicts in docs/freshness.md, written a second time.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from program import BREACH, HEALTHY, UNKNOWN, WARNING, Run

STREAMING_SLA_SECONDS = 3600.0
WARNING_RATIO, BREACH_RATIO = 0.7, 1.0
ROUNDING_SECONDS = 0.002


@dataclasses.dataclass(frozen=True)
class Stored:
    """One record a reader of the pipeline's isolation level is given."""

    offset: int
    timestamp_ms: int


@dataclasses.dataclass(frozen=True)
class Partition:
    """One partition as it lies in the broker. `end` is exclusive."""

    committed: int | None
    start: int
    end: int
    records: Sequence[Stored]

    @property
    def verdict(self) -> str:
        if (self.committed or 0) > self.end:
            return "AHEAD"
        if (self.committed or 0) < self.start:  # nothing committed: a streamer begins at offset 0
            return "LOST"
        return "FRESH" if self.first is None else "LAGGING"

    @property
    def first(self) -> Stored | None:
        """The first record that is not committed and still there."""
        begin = max(self.committed or 0, self.start)
        waiting = [record for record in self.records if record.offset >= begin]
        return min(waiting, key=lambda record: record.offset, default=None)

    @property
    def uncommitted(self) -> int:
        """An upper bound: markers and what was compacted away count while a record waits."""
        if self.verdict == "FRESH":
            return 0
        return max(0, self.end - max(self.committed or 0, self.start))


def parse_checkpoint(value: str) -> tuple[str, dict[int, int]]:
    """"topic,0:12,1:7" as Hudi's streamer writes it."""
    topic, *parts = value.split(",")
    offsets = {}
    for part in parts:
        number, offset = part.split(":")
        offsets[int(number)] = int(offset)
    return topic, offsets


def of_log(committed: int | None, timestamps: Sequence[int]) -> Partition:
    """A partition nothing was ever deleted from: offset = place in the list."""
    stored = [Stored(offset, stamp) for offset, stamp in enumerate(timestamps)]
    return Partition(committed, 0, len(timestamps), stored)


def exit_code_of(status: str) -> int:
    return {"fresh": HEALTHY, "warning": WARNING, "breach": BREACH, "unknown": UNKNOWN}[status]


def status_of(lag_seconds: float, sla_seconds: float) -> str:
    ratio = lag_seconds / sla_seconds
    if ratio >= BREACH_RATIO:
        return "breach"
    return "warning" if ratio >= WARNING_RATIO else "fresh"


def check_lag(shown: float | None, timestamp_ms: int, run: Run) -> None:
    """`shown` is the age of the stamp at some moment while the program ran."""
    assert shown is not None
    least = max(0.0, (run.started_ms - timestamp_ms) / 1000)
    most = max(0.0, (run.ended_ms - timestamp_ms) / 1000)
    assert least - ROUNDING_SECONDS <= shown <= most + ROUNDING_SECONDS, (
        f"lag {shown} s, but the record was {least} to {most} s old"
    )


def check_partition(shown: dict, expected: Partition, run: Run) -> None:
    """One entry of `partition_detail`."""
    what = f"partition {shown['partition']} of {shown['topic']}, expected {expected}"
    assert shown["verdict"] == expected.verdict, what
    assert shown["committed"] == expected.committed, what
    assert shown["log_start"] == expected.start, what
    assert shown["end"] == expected.end, what
    if expected.first is None or expected.verdict == "AHEAD":
        assert shown["first_uncommitted"] is None, what
        assert shown["timestamp_ms"] is None, what
        assert shown["lag_seconds"] == (0 if expected.verdict == "FRESH" else None), what
    else:
        assert shown["first_uncommitted"] == expected.first.offset, what
        assert shown["timestamp_ms"] == expected.first.timestamp_ms, what
        check_lag(shown["lag_seconds"], expected.first.timestamp_ms, run)


def check_pipeline(
    run: Run, topic: str, partitions: Mapping[int, Partition], sla: float = STREAMING_SLA_SECONDS
) -> None:
    """The whole report of a run with one pipeline and `--partitions`, all partitions of which are
    fresh or lagging and carry plausible stamps."""
    report = run.pipeline
    shown = {(each["topic"], each["partition"]): each for each in report["partition_detail"]}
    assert sorted(shown) == [(topic, number) for number in sorted(partitions)]
    for number, expected in partitions.items():
        check_partition(shown[topic, number], expected, run)

    counts = {"total": len(partitions), "lost": 0, "blocked": 0, "ahead": 0, "unknown": 0}
    for verdict in ("FRESH", "LAGGING"):
        have = [each for each in partitions.values() if each.verdict == verdict]
        counts[verdict.lower()] = len(have)
    assert report["partitions"] == counts
    assert report["uncommitted_records"] == sum(p.uncommitted for p in partitions.values())
    assert report["lost_records"] == 0
    assert report["sla_seconds"] == sla
    assert report["lag_is_lower_bound"] is False

    firsts = [(p.first, number) for number, p in partitions.items() if p.first is not None]
    if not firsts:
        assert report["oldest"] is None
        assert report["lag_seconds"] == 0
    else:
        oldest, number = min(firsts, key=lambda pair: (pair[0].timestamp_ms, pair[1]))
        check_lag(report["lag_seconds"], oldest.timestamp_ms, run)
        assert report["oldest"] == {
            "topic": topic,
            "partition": number,
            "offset": oldest.offset,
            "timestamp_ms": oldest.timestamp_ms,
            "timestamp_type": "create",
        }
    assert abs(report["sla_ratio"] - report["lag_seconds"] / sla) < 1e-3
    assert report["sla_ratio_capped"] <= 1.0
    status = status_of(report["lag_seconds"], sla)
    assert (report["status"], report["reason"]) == (status, "ok")
    assert report["message"]
    assert run.code == exit_code_of(status)
