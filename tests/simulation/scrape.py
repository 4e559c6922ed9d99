"""What a scrape of /metrics has to show for a report, after docs/metrics.md, and whether it does."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from prometheus_client.parser import text_string_to_metric_families

from judge import Look, Violation, seconds_of

Series = dict[tuple[str, str], float]  # by name after the prefix and by the one label of its own

PREFIX = "tidemark_freshness_"
STATUSES = ("fresh", "warning", "breach", "unknown", "disabled")
# Which number of a report a family shows; absent where that is null.
NUMBERS = {
    "lag_seconds": "lag_seconds",
    "sla_seconds": "sla_seconds",
    "sla_ratio": "sla_ratio",
    "sla_ratio_capped": "sla_ratio_capped",
    "uncommitted_records": "uncommitted_records",
    "lost_records": "lost_records",
    "retention_margin_records": "retention_margin_records",
    "retention_margin_seconds": "retention_margin_seconds",
    "clock_skew_seconds": "clock_skew_seconds",
}
OF_CHECKPOINT = {
    "commit_depth": "commit_depth",
    "commit_age_seconds": "commit_age_seconds",
    "offsets_age_seconds": "last_change_age_seconds",
}
# Series that a report alone does not decide: a record whose age is not its stamp's has no stamp shown, and the time of
# the last success outlives its report.
FREE = {"oldest_message_timestamp_seconds", "last_success_timestamp_seconds", "probe_duration_seconds"}


def read_scrape(text: str) -> tuple[dict[str, Series], list[str]]:
    """By pipeline, and what is wrong with the text."""
    found: dict[str, Series] = {}
    wrong = []
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if math.isnan(sample.value) or math.isinf(sample.value) or sample.value < 0:
                wrong.append(f"{sample.name}{sample.labels}={sample.value}")
            if not sample.name.startswith(PREFIX) or "pipeline" not in sample.labels:
                continue
            series = found.setdefault(sample.labels["pipeline"], {})
            own = [word for label, word in sample.labels.items() if label in ("status", "reason", "verdict")]
            key = (sample.name.removeprefix(PREFIX), own[0] if own else "")
            if key in series:
                wrong.append(f"{sample.name} is there twice: {sample.labels}")
            series[key] = sample.value
    return found, wrong


def expected_series(report: Mapping) -> Series:
    """All but the FREE ones."""
    series: Series = {("status", status): float(report["status"] == status) for status in STATUSES}
    series["reason", report["reason"]] = 1.0
    if report["status"] != "unknown":
        series["breach", ""] = float(report["status"] == "breach")
    for name, key in NUMBERS.items():
        if report[key] is not None:
            series[name, ""] = report[key]
    if report["lag_seconds"] is not None:
        series["lag_lower_bound", ""] = float(report["lag_is_lower_bound"])
    for name, key in OF_CHECKPOINT.items():
        if report["checkpoint"] is not None and report["checkpoint"][key] is not None:
            series[name, ""] = report["checkpoint"][key]
    if report["partitions"]["total"] > 0:
        for verdict in ("fresh", "lagging", "lost", "blocked", "ahead", "unknown"):
            series["partitions", verdict] = report["partitions"][verdict]
    return series


def difference(shown: Series, report: Mapping) -> str:
    """Empty when the scrape shows this report and nothing of another one."""
    expected = expected_series(report)
    bound = {key: number for key, number in shown.items() if key[0] not in FREE}
    if bound.keys() != expected.keys():
        more, less = sorted(bound.keys() - expected.keys()), sorted(expected.keys() - bound.keys())
        return f"more={more} less={less}"
    for key, number in expected.items():
        if abs(bound[key] - number) > 1e-3:
            return f"{key}={bound[key]}, the report says {number}"
    observed = seconds_of(report["observed_at"])
    stamp = shown.get(("oldest_message_timestamp_seconds", ""))
    if stamp is not None:
        oldest = report["oldest"]
        if oldest is None or abs(stamp - oldest["timestamp_ms"] / 1000) > 1e-3:
            return f"oldest stamp {stamp}, the report says {oldest}"
    success = shown.get(("last_success_timestamp_seconds", ""))
    if report["status"] != "unknown" and (success is None or abs(success - observed) > 1e-3):
        return f"last success {success}, the report is of {observed}"
    return ""


def check_scrape(text: str, reports: Mapping[str, Iterable[Mapping]], pipelines: Iterable[str]) -> list[Violation]:
    """`reports`: of each pipeline, those that were current at some moment of the scrape."""
    found, wrong = read_scrape(text)
    violations = [Violation("nan" if "nan" in each else "negative", "", each) for each in wrong]
    for name in pipelines:
        if name not in found:
            violations.append(Violation("missing_series", name, "no series at all"))
            continue
        differences = [difference(found[name], report) for report in reports[name]]
        if all(differences):
            violations.append(Violation("stale_series", name, f"shows none of its reports: {differences[-1]}"))
    return violations


def check_age(look: Look, real_moment: float, seconds_max: float) -> list[Violation]:
    """A number that is shown must come from a look of late."""
    age = look.received - real_moment
    if look.report["status"] != "unknown" and age > seconds_max:
        return [Violation("stale_series", look.report["pipeline"], f"the report is {age:.1f} s old")]
    return []
