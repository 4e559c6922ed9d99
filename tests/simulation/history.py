"""What happened, and when: everything the simulator did to a topic or a table, with the moments between which it took
effect. The judge asks it what can have been true in a window of time.

Times are seconds since 1970 on the machine's clock (never the daemon's). Written by the writers' threads, read by the
judge: lists only grow, and a change is appended with one call.
"""

from __future__ import annotations

import bisect
import dataclasses
from collections.abc import Mapping

BEGINNING = float("-inf")
NEVER = float("inf")


class Log:
    """One partition of one incarnation of a topic. Offsets begin at 0 and have no gaps: one idempotent producer, no
    transactions, no compaction."""

    def __init__(self) -> None:
        self.sent: list[float] = []  # by offset: just before the client was given the record
        self.acked: list[float] = []  # by offset: when the broker had said that it has it
        self.stamps_ms: list[int] = []  # by offset: as the broker tells it
        self.starts: list[tuple[float, float, int]] = [(BEGINNING, BEGINNING, 0)]

    def send(self, now: float) -> None:
        self.sent.append(now)

    def ack(self, now: float, offset: int, stamp_ms: int) -> None:
        """In the order of sending, which idempotence promises."""
        if offset != len(self.acked):
            raise RuntimeError(f"the truth is lost: offset {offset} after {len(self.acked)} records")
        self.stamps_ms.append(stamp_ms)
        self.acked.append(now)

    def cut(self, asked: float, done: float, start: int) -> None:
        """Records before `start` went away between the two moments."""
        self.starts.append((asked, done, start))

    @property
    def end(self) -> int:
        return len(self.acked)

    def is_settled(self, until: float) -> bool:
        """Whether nothing sent before is still on its way."""
        return bisect.bisect_right(self.sent, until) <= len(self.acked)

    def ends(self, since: float, until: float) -> tuple[int, int]:
        """Least and greatest end in the window: acknowledged before it began, sent before it ended."""
        return bisect.bisect_right(self.acked, since), bisect.bisect_right(self.sent, until)

    def starts_in(self, since: float, until: float) -> list[int]:
        """Every log start that can have been seen in the window, ascending."""
        sure = max(start for _, done, start in self.starts if done <= since)
        perhaps = [start for asked, _, start in self.starts if asked <= until]
        return sorted({sure, *(start for start in perhaps if start > sure)})


@dataclasses.dataclass
class Incarnation:
    """A topic from its creation to its deletion."""

    logs: list[Log]
    created: tuple[float, float] = (BEGINNING, BEGINNING)
    deleted: tuple[float, float] = (NEVER, NEVER)  # asked, done

    def is_alive(self, since: float, until: float) -> bool:
        return self.created[0] <= until and self.deleted[1] >= since

    def may_be_gone(self, until: float) -> bool:
        return self.deleted[0] <= until


@dataclasses.dataclass(frozen=True)
class TableCommit:
    """A completed commit; it came to be seen between the two moments."""

    instant: str
    asked: float
    done: float
    offsets: Mapping[int, int] | None  # the next offset of each partition; None: another writer's, without a checkpoint
    incarnation: int = 0

    def checkpoint(self, topic: str) -> str:
        return topic + "".join(f",{number}:{offset}" for number, offset in sorted(self.offsets.items()))


class PipelineHistory:
    """A topic's incarnations and a table's commits, oldest first."""

    def __init__(self, partitions: int) -> None:
        self.incarnations = [Incarnation([Log() for _ in range(partitions)])]
        self.commits: list[TableCommit] = []

    @property
    def now(self) -> Incarnation:
        return self.incarnations[-1]

    def is_settled(self, until: float) -> bool:
        return all(log.is_settled(until) for each in self.incarnations for log in each.logs)

    def unsettled(self, now: float) -> str:
        """What was sent and not acknowledged, for people."""
        return ", ".join(
            f"{len(log.sent) - log.end} records of partition {number}.{partition} since {now - log.sent[log.end]:.1f} s"
            for number, each in enumerate(self.incarnations)
            for partition, log in enumerate(each.logs)
            if log.end < len(log.sent)
        )

    def visible_as_newest(self, instant: str) -> tuple[float, float] | None:
        """From when, and until when at the latest, this commit can have been the newest one with a checkpoint."""
        found = None
        for commit in self.commits:
            if commit.offsets is None:
                continue
            if found:
                return found.asked, commit.done
            if commit.instant == instant:
                found = commit
        return (found.asked, NEVER) if found else None

    def find(self, instant: str) -> TableCommit | None:
        return next((each for each in self.commits if each.instant == instant), None)

    def depths(self, instant: str, since: float, until: float) -> tuple[int, int]:
        """Least and greatest number of newer commits that could be seen in the window."""
        newer = [each for each in self.commits if each.instant > instant]
        return sum(each.done <= since for each in newer), sum(each.asked <= until for each in newer)
