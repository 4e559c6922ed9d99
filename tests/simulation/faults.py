"""What was done to the fleet, to whom, and what may be said because of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

NEVER = float("inf")

# What a pipeline may give as its reason for being unknown while a fault of this kind touches it. A kind that is not
# here excuses nothing.
REASONS = {
    "broker_killed": {"partitions_unknown", "cluster_unreachable", "timeout"},
    "broker_silent": {"partitions_unknown", "cluster_unreachable", "timeout"},
    "topic_recreated": {"topic_missing", "topic_recreated", "offset_ahead", "partitions_unknown"},
    "retention": set(),
    "s3_503": {"table_unreadable", "timeout"},
    "s3_slow": {"table_unreadable", "timeout"},
    "s3_silent": {"table_unreadable", "timeout"},
    "s3_half_listing": {"table_unreadable"},
    "commit_storm": set(),
    # What waits while the clock is set is looked into by the judge itself.
    "clock_step": set(),
    # A quarter of an hour and more: S3 refuses requests that are signed for another time.
    "clock_step_s3": {"table_unreadable"},
    "daemon_killed": {"timeout"},
}
# Faults whose truth cannot be known to a monitor: it has to become unknown.
BLINDING = {"broker_killed", "broker_silent", "topic_recreated", "s3_503", "s3_silent", "s3_half_listing"}
# Faults that may keep a pipeline they touch from being looked at in time.
DELAYING = BLINDING | {"s3_slow", "daemon_killed", "clock_step_s3"}


@dataclasses.dataclass
class Fault:
    kind: str
    pipelines: frozenset[str]
    began: float
    detail: str = ""
    blinded: frozenset[str] = frozenset()  # those of them that cannot be judged meanwhile
    ended: float = NEVER
    # By pipeline: first look that said so, after the beginning; first one that was decided, after the end.
    noticed: dict[str, float] = dataclasses.field(default_factory=dict)
    recovered: dict[str, float] = dataclasses.field(default_factory=dict)
    kept_proof: set[str] = dataclasses.field(default_factory=set)  # a breach proved by what was left


class Faults:
    """All of them, the running ones included. Added by the director's thread, read by the judge's."""

    def __init__(self, recovery_seconds_max: float) -> None:
        self._all: list[Fault] = []
        self._recovery = recovery_seconds_max

    def begin(
        self,
        kind: str,
        pipelines: Iterable[str],
        now: float,
        detail: str = "",
        blinded: Iterable[str] | None = None,
    ) -> Fault:
        touched = frozenset(pipelines)
        dark = frozenset(blinded) if blinded is not None else touched if kind in BLINDING else frozenset()
        fault = Fault(kind, touched, now, detail, dark)
        self._all.append(fault)
        return fault

    def __iter__(self):
        return iter(list(self._all))

    def touching(self, pipeline: str, since: float, until: float) -> list[Fault]:
        """Those that ran in the window, or had ended before and may still be felt."""
        return [
            fault
            for fault in list(self._all)
            if pipeline in fault.pipelines and fault.began <= until and since <= fault.ended + self._recovery
        ]

    def may_be_late(self, pipeline: str, since: float, until: float) -> bool:
        return any(
            fault.kind in DELAYING and pipeline in fault.pipelines and fault.began <= until and since <= fault.ended
            for fault in list(self._all)
        )

    def running(self, since: float, until: float) -> set[str]:
        """Kinds of faults, whomever they touch."""
        return {fault.kind for fault in list(self._all) if fault.began <= until and since <= fault.ended}

    def may_be_unknown(self, pipeline: str, reason: str, since: float, until: float) -> bool:
        """A fault that is over excuses no more once the pipeline has recovered from it."""
        for fault in self.touching(pipeline, since, until):
            if reason not in REASONS[fault.kind]:
                continue
            if since <= fault.recovered.get(pipeline, NEVER):
                return True
        return False

    def note(self, pipeline: str, status: str, is_partial: bool, at: float, received: float) -> None:
        """A look of the pipeline, taken at `at`, for the times to unknown and back."""
        for fault in list(self._all):
            if pipeline not in fault.pipelines or at < fault.began:
                continue
            says_so = status == "unknown" or (fault.kind == "retention" and status == "breach")
            if at <= fault.ended and says_so:
                fault.noticed.setdefault(pipeline, received - fault.began)
            if at <= fault.ended and status == "breach" and is_partial:
                fault.kept_proof.add(pipeline)
            if at > fault.ended and status != "unknown" and not is_partial:
                fault.recovered.setdefault(pipeline, received)
