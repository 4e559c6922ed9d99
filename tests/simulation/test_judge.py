"""A judge that cannot fail is no judge: right reports pass, and each wrong one is found out for what it is."""

from __future__ import annotations

import copy
import datetime
import math
from collections.abc import Callable

import pytest

from faults import Faults
from fleet import Plan, make_fleet
from history import Incarnation, Log, PipelineHistory, TableCommit
from judge import DaemonClock, Judge, Look
from scrape import PREFIX, check_age, check_scrape, expected_series

NOW = 1_800_000_000.0
PLAN = Plan("t001", 2, 1, None, 40.0, "steady", "create", 1.0, 10.0, None)


def log_of(*ages: float, backfill: float = 0.0) -> Log:
    """Records that were sent so many seconds ago, each acknowledged 10 ms later."""
    log = Log()
    for offset, age in enumerate(ages):
        log.send(NOW - age)
        log.ack(NOW - age + 0.01, offset, round((NOW - age - backfill) * 1000))
    return log


class World:
    """Two partitions: of the first, one record waits since 30 s; of the second nothing does."""

    def __init__(self) -> None:
        self.history = PipelineHistory(2)
        self.history.incarnations = [Incarnation([log_of(90, 60, 30, 20), log_of(80)])]
        self.history.commits = [
            TableCommit("20270115075900000", NOW - 100, NOW - 99.9, {0: 1, 1: 0}),
            TableCommit("20270115075910000", NOW - 50, NOW - 49.9, {0: 2, 1: 1}),
        ]
        self.clock = DaemonClock()
        self.faults = Faults(recovery_seconds_max=30)
        self.judge = Judge({"t001": PLAN}, {"t001": self.history}, self.clock, self.faults)
        self.report = {
            "pipeline": "t001",
            "status": "warning",
            "reason": "ok",
            "message": "",
            "lag_seconds": 30.0,
            "lag_is_lower_bound": False,
            "sla_seconds": 40,
            "sla_ratio": 0.75,
            "sla_ratio_capped": 0.75,
            "checkpoint": {
                "instant": "20270115075910000",
                "value": "t001,0:2,1:1",
                "commit_depth": 0,
                "commit_age_seconds": 49.95,
                "last_change_age_seconds": 49.95,
            },
            "partitions": {"total": 2, "fresh": 1, "lagging": 1, "lost": 0, "blocked": 0, "ahead": 0, "unknown": 0},
            "oldest": {"topic": "t001", "partition": 0, "offset": 2, "timestamp_ms": round((NOW - 30) * 1000)},
            "uncommitted_records": 2,
            "lost_records": 0,
            "retention_margin_records": 2,
            "retention_margin_seconds": None,
            "clock_skew_seconds": 0.0,
            "observed_at": at(NOW),
            "probe_duration_seconds": 0.2,
        }

    def kinds(self, **changes: object) -> set[str]:
        """Of the violations in the report with these fields; `checkpoint__value` is one inside `checkpoint`."""
        report = copy.deepcopy(self.report)
        for name, value in changes.items():
            *outer, inner = name.split("__")
            (report[outer[0]] if outer else report)[inner] = value
        found, _ = self.judge.check(Look(report, NOW + 0.5, 1))
        return {each.kind for each in found}

    def unknown(self, reason: str, **changes: object) -> set[str]:
        nothing = dict.fromkeys(("lag_seconds", "sla_ratio", "sla_ratio_capped", "oldest"))
        return self.kinds(status="unknown", reason=reason, **{**nothing, **changes})


def at(moment: float) -> str:
    text = datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


@pytest.fixture
def world() -> World:
    return World()


def test_a_right_report_passes(world: World) -> None:
    assert world.kinds() == set()


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("nan", {"lag_seconds": math.nan}),
        ("negative", {"lag_seconds": -0.001}),
        ("negative", {"checkpoint__commit_age_seconds": -1.0}),
        # The record at the checkpoint waits since 30 s, give or take the 10 ms it was on its way.
        ("wrong_lag", {"lag_seconds": 29.98, "sla_ratio": 0.7495}),
        ("wrong_lag", {"lag_seconds": 30.01, "sla_ratio": 0.75025}),
        ("wrong_lag", {"lag_seconds": 20.0, "sla_ratio": 0.5, "sla_ratio_capped": 0.5, "status": "fresh"}),
        ("false_fresh", {"lag_seconds": 0.0, "sla_ratio": 0.0, "sla_ratio_capped": 0.0, "status": "fresh"}),
        ("false_fresh", {"status": "fresh"}),
        ("false_breach", {"status": "breach"}),
        ("false_breach", {"status": "breach", "reason": "data_lost"}),
        ("false_breach", {"lag_seconds": 60.0, "sla_ratio": 1.5, "sla_ratio_capped": 1.0, "status": "breach"}),
        ("wrong_status", {"status": "breach"}),
        ("wrong_ratio", {"sla_ratio": 0.8}),
        ("wrong_sla", {"sla_seconds": 41}),
        ("wrong_uncommitted", {"uncommitted_records": 1}),
        ("wrong_uncommitted", {"uncommitted_records": 3}),
        ("wrong_lost", {"lost_records": 1}),
        ("missing_number", {"uncommitted_records": None}),
        ("wrong_margin", {"retention_margin_records": 7}),
        ("wrong_margin", {"retention_margin_seconds": 5.0}),
        ("wrong_counts", {"partitions__fresh": 2, "partitions__lagging": 0}),
        ("wrong_counts", {"partitions__total": 1}),
        ("wrong_depth", {"checkpoint__commit_depth": 1}),
        ("wrong_commit_age", {"checkpoint__commit_age_seconds": 10.0}),
        ("wrong_checkpoint", {"checkpoint__value": "t001,0:3,1:1"}),
        ("wrong_checkpoint", {"checkpoint__instant": "20270115075911111"}),
        ("old_checkpoint", {"checkpoint__instant": "20270115075900000", "checkpoint__value": "t001,0:1,1:0"}),
        ("wrong_oldest", {"oldest__offset": 3}),
        ("wrong_oldest", {"oldest__timestamp_ms": 5}),
        ("wrong_oldest", {"oldest__topic": "t002"}),
        ("wrong_lag", {"lag_is_lower_bound": True}),
        # A frozen report: the same numbers, said to be of ten seconds later.
        ("wrong_lag", {"observed_at": at(NOW + 0.4)}),
        ("wrong_time", {"observed_at": at(NOW + 10)}),
        ("wrong_pipeline", {"pipeline": "t999"}),
    ],
)
def test_a_wrong_report_is_found_out(world: World, kind: str, changes: dict) -> None:
    assert kind in world.kinds(**changes)


def test_a_commit_of_the_last_moment_may_be_seen_or_not(world: World) -> None:
    world.history.commits.append(TableCommit("20270115075955000", NOW - 0.15, NOW - 0.05, {0: 4, 1: 1}))
    assert world.kinds() == set()
    seen = {"checkpoint__instant": "20270115075955000", "checkpoint__value": "t001,0:4,1:1"}
    fresh = {"lag_seconds": 0.0, "sla_ratio": 0.0, "sla_ratio_capped": 0.0, "status": "fresh", "oldest": None}
    sums = {"uncommitted_records": 0, "partitions__fresh": 2, "partitions__lagging": 0}
    margin = {"checkpoint__commit_age_seconds": 0.1, "retention_margin_records": None}
    assert world.kinds(**seen, **fresh, **sums, **margin) == set()
    # One that was there before the look began has to be seen.
    world.history.commits[-1] = TableCommit("20270115075955000", NOW - 0.45, NOW - 0.35, {0: 4, 1: 1})
    assert "old_checkpoint" in world.kinds()


def test_a_record_of_the_last_moment_may_be_seen_or_not(world: World) -> None:
    log = world.history.now.logs[1]
    log.send(NOW - 0.1)
    log.ack(NOW - 0.09, 1, round((NOW - 0.1) * 1000))
    assert world.kinds() == set()
    seen = {"uncommitted_records": 3, "partitions__fresh": 0, "partitions__lagging": 2, "retention_margin_records": 1}
    assert world.kinds(**seen) == set()
    # One of before the look has to be.
    log.sent[1], log.acked[1] = NOW - 1.0, NOW - 0.9
    assert world.kinds(**seen) == set()
    assert world.kinds() >= {"wrong_uncommitted", "wrong_counts"}


def test_a_look_before_that_one_is_remembered(world: World) -> None:
    assert world.judge.judge(Look(world.report, NOW + 0.5, 1)) == []
    assert world.judge.sightings["t001"].last_before(NOW, 1) == pytest.approx(NOW - 0.2)
    assert world.judge.sightings["t001"].last_before(NOW - 1, 1) is None


def test_unknown_wants_a_fault_that_explains_it(world: World) -> None:
    assert world.unknown("table_unreadable") == {"false_unknown"}
    fault = world.faults.begin("s3_503", ["t001"], NOW - 5)
    assert world.unknown("table_unreadable") == set()
    assert world.unknown("offset_ahead") == {"false_unknown"}
    assert world.unknown("table_unreadable", lag_seconds=30.0) >= {"number_of_unknown"}
    # It is over, and a look after it was good: no more excuse.
    fault.ended = NOW - 3
    assert world.unknown("table_unreadable") == set()
    fault.recovered["t001"] = NOW - 2
    assert world.unknown("table_unreadable") == {"false_unknown"}


def test_somebody_elses_fault_is_no_excuse(world: World) -> None:
    world.faults.begin("s3_503", ["t002"], NOW - 5)
    assert world.unknown("table_unreadable") == {"false_unknown"}


def test_numbers_of_a_replaced_topic_are_wrong_however_right_they_look(world: World) -> None:
    world.history.now.deleted = (NOW - 20, NOW - 19)
    world.history.incarnations.append(Incarnation([log_of(90, 60, 30, 20), log_of(80)], created=(NOW - 18, NOW - 17)))
    assert world.kinds() == {"number_of_replaced_topic"}
    assert "false_fresh" in world.kinds(status="fresh", lag_seconds=0.0, sla_ratio=0.0, sla_ratio_capped=0.0)
    world.faults.begin("topic_recreated", ["t001"], NOW - 20)
    assert world.unknown("topic_recreated") == set()


def test_a_look_while_a_topic_is_made_anew_may_be_of_either(world: World) -> None:
    world.faults.begin("topic_recreated", ["t001"], NOW - 1)
    counts = {"partitions__lagging": 0, "partitions__fresh": 0, "partitions__ahead": 2}
    assert world.unknown("topic_recreated", **counts) == {"wrong_counts"}
    world.history.now.deleted = (NOW - 0.2, NOW - 0.1)
    world.history.incarnations.append(Incarnation([Log(), Log()], created=(NOW - 0.1, NOW)))
    assert world.unknown("topic_recreated", **counts) == set()
    assert world.kinds() == set()


def test_a_loss_that_is_not_told_is_false_fresh(world: World) -> None:
    world.history.now.logs[0].cut(NOW - 10, NOW - 9, 3)
    assert "false_fresh" in world.kinds(uncommitted_records=1)
    told = {"status": "breach", "reason": "data_lost", "lost_records": 1, "uncommitted_records": 1}
    counts = {"partitions__lost": 1, "partitions__lagging": 0, "retention_margin_records": 0}
    # The stamp of what is gone was remembered; or it waited at least as long as what is left.
    assert world.kinds(**told, **counts) == set()
    bound = {"lag_seconds": 20.0, "sla_ratio": 0.5, "sla_ratio_capped": 0.5, "lag_is_lower_bound": True}
    left = {"oldest__offset": 3, "oldest__timestamp_ms": round((NOW - 20) * 1000)}
    assert world.kinds(**told, **counts, **bound, **left) == set()
    assert "wrong_lag" in world.kinds(**told, **counts, lag_seconds=33.0, sla_ratio=0.825, sla_ratio_capped=0.825)
    assert "wrong_lost" in world.kinds(**{**told, "lost_records": 2}, **counts)


def test_what_is_known_may_prove_a_breach_and_nothing_else(world: World) -> None:
    world.faults.begin("broker_killed", ["t001"], NOW - 5)
    half = {"partitions__fresh": 0, "partitions__unknown": 1, "uncommitted_records": None, "lost_records": None}
    assert "wrong_lag" in world.kinds(**half)
    assert world.unknown("partitions_unknown", **half) == set()
    too_much = {"lag_seconds": 44.0, "sla_ratio": 1.1, "sla_ratio_capped": 1.0, "lag_is_lower_bound": True}
    kinds = world.kinds(status="breach", reason="partitions_unknown", **too_much, **half)
    assert kinds == {"false_breach", "wrong_lag"}


def test_old_stamps_that_came_just_now_wait_since_now(world: World) -> None:
    world.history.now.logs[0] = log_of(90, 60, 30, 20, backfill=86_400)
    stamp = {"oldest__timestamp_ms": round((NOW - 30 - 86_400) * 1000)}
    day = {"lag_seconds": 86_430.0, "sla_ratio": 2160.75, "sla_ratio_capped": 1.0, "status": "breach"}
    # Nobody had looked before: the stamp is all there is.
    assert world.kinds(**stamp, **day) == set()
    world.judge.sightings["t001"].add(NOW - 32, NOW - 32.1, 1)
    assert world.kinds(**stamp, **day) == {"false_breach", "wrong_lag"}
    assert world.kinds(**stamp, lag_seconds=31.9, sla_ratio=0.7975, sla_ratio_capped=0.7975) == set()
    # That look saw the end at any moment from its begin on.
    assert world.kinds(**stamp, lag_seconds=32.1, sla_ratio=0.8025, sla_ratio_capped=0.8025) == set()
    assert world.kinds(**stamp, lag_seconds=32.2, sla_ratio=0.805, sla_ratio_capped=0.805) == {"wrong_lag"}


def test_looks_just_before_a_kill_may_be_forgotten(world: World) -> None:
    world.history.now.logs[0] = log_of(90, 60, 30, 20, backfill=86_400)
    stamp = {"oldest__timestamp_ms": round((NOW - 30 - 86_400) * 1000)}
    world.judge.sightings["t001"].add(NOW - 38, NOW - 38.1, 0)
    world.judge.sightings["t001"].add(NOW - 32, NOW - 32.1, 0)
    world.judge.daemon_was_killed(0, NOW - 31)
    assert world.kinds(**stamp, lag_seconds=38.0, sla_ratio=0.95, sla_ratio_capped=0.95) == set()
    day = {"lag_seconds": 86_430.0, "sla_ratio": 2160.75, "sla_ratio_capped": 1.0, "status": "breach"}
    assert world.kinds(**stamp, **day) == {"false_breach", "wrong_lag"}


@pytest.mark.parametrize("offset", [3600.0, -3600.0, 20.0, -20.0])
def test_a_stepped_clock_moves_no_wait(world: World, offset: float) -> None:
    """The daemon shows the time of its own clock; what it says of waiting must be true all the same."""
    sightings = world.judge.sightings["t001"]
    sightings.add(NOW - 31, NOW - 31.1, 1)
    sightings.add(NOW - 29, NOW - 29.1, 1)
    world.clock.step(NOW - 10, NOW - 9.9, offset)
    age = {"checkpoint__commit_age_seconds": max(0.0, 49.95 + offset)}
    shown = {"observed_at": at(NOW + offset), **age}
    for lag in (29.0, 30.0, 31.0, 31.1):
        assert world.kinds(**shown, lag_seconds=lag, sla_ratio=lag / 40, sla_ratio_capped=lag / 40) == set()
    wrong = 30.0 + offset
    if wrong > 0:
        status = "breach" if wrong >= 40 else "fresh"
        ratio = {"sla_ratio": wrong / 40, "sla_ratio_capped": min(1.0, wrong / 40)}
        assert "wrong_lag" in world.kinds(**shown, lag_seconds=wrong, status=status, **ratio)


def test_each_setting_of_the_clock_is_measured_to_the_millisecond(world: World) -> None:
    sightings = world.judge.sightings["t001"]
    sightings.add(NOW - 31, NOW - 31.1, 1)
    sightings.add(NOW - 29, NOW - 29.1, 1)
    for number in range(3):
        world.clock.step(NOW - 10 + number, NOW - 9.9 + number, 20.0 * (number + 1))
    shown = {"observed_at": at(NOW + 60), "checkpoint__commit_age_seconds": 109.95}
    for lag, kinds in ((28.996, set()), (28.99, {"wrong_lag"}), (31.105, set()), (31.11, {"wrong_lag"})):
        assert world.kinds(**shown, lag_seconds=lag, sla_ratio=lag / 40, sla_ratio_capped=lag / 40) == kinds


def test_a_stamp_that_the_looks_contradict_is_believed_up_to_a_second(world: World) -> None:
    sightings = world.judge.sightings["t001"]
    sightings.add(NOW - 31, NOW - 31.1, 1)
    sightings.add(NOW - 27, NOW - 27.1, 1)
    for offset, lag, kinds in (
        (-3.9, 26.1, set()),  # the record's own age by that clock
        (-3.9, 25.9, {"wrong_lag"}),  # nobody's
        (-4.1, 25.9, {"wrong_lag"}),  # the record's own age, and more than a second off
        (-4.1, 27.5, set()),
    ):
        world.clock.step(NOW - 5, NOW - 4.9, offset)
        shown = {"observed_at": at(NOW + offset), "checkpoint__commit_age_seconds": 49.95 + offset}
        ratio = {"sla_ratio": lag / 40, "sla_ratio_capped": lag / 40}
        assert world.kinds(**shown, lag_seconds=lag, status="fresh", **ratio) == kinds


def scrape_of(report: dict) -> str:
    lines = []
    for (name, word), number in expected_series(report).items():
        label = "status" if name == "status" else "reason" if name == "reason" else "verdict"
        more = f',{label}="{word}"' if word else ""
        lines.append(f'{PREFIX}{name}{{pipeline="t001"{more}}} {number}')
    if report["status"] != "unknown":
        lines.append(f'{PREFIX}last_success_timestamp_seconds{{pipeline="t001"}} {NOW}')
    return "\n".join(lines) + "\n"


def scrape_kinds(text: str, *reports: dict) -> set[str]:
    return {each.kind for each in check_scrape(text, {"t001": reports}, ["t001"])}


def test_a_scrape_shows_one_report_and_nothing_of_another(world: World) -> None:
    report = world.report
    unknown = {**report, "status": "unknown", "reason": "timeout"}
    for name in ("lag_seconds", "sla_ratio", "sla_ratio_capped", "oldest", "uncommitted_records"):
        unknown[name] = None
    assert scrape_kinds(scrape_of(report), report) == set()
    assert scrape_kinds(scrape_of(report), unknown, report) == set()
    assert scrape_kinds(scrape_of(report), unknown) == {"stale_series"}
    left_over = scrape_of(unknown) + f'{PREFIX}lag_seconds{{pipeline="t001"}} 30\n'
    assert scrape_kinds(left_over, unknown) == {"stale_series"}
    without = "\n".join(line for line in scrape_of(report).splitlines() if "_sla_ratio{" not in line) + "\n"
    assert scrape_kinds(without, report) == {"stale_series"}
    assert scrape_kinds("", report) == {"missing_series"}
    assert "nan" in scrape_kinds(scrape_of(report).replace(" 30.0", " NaN"), report)
    assert "negative" in scrape_kinds(scrape_of(report).replace(" 30.0", " -30"), report)


def test_a_report_that_is_too_old_is_a_stale_series(world: World) -> None:
    look = Look(world.report, NOW + 25, 1)
    assert check_age(look, NOW, 26) == []
    assert [each.kind for each in check_age(look, NOW, 24)] == ["stale_series"]


@pytest.mark.parametrize("size", [40, 200])
def test_the_fleet_has_every_kind_and_depends_on_the_seed_alone(size: int) -> None:
    fleet = make_fleet(size, 7, 2.0, 3)
    assert fleet == make_fleet(size, 7, 2.0, 3) != make_fleet(size, 8, 2.0, 3)
    assert len({plan.name for plan in fleet}) == size
    kinds: dict[str, Callable[[Plan], object]] = {
        "rhythm": lambda plan: plan.rhythm,
        "stamps": lambda plan: plan.stamps,
        "store": lambda plan: plan.bucket is None,
        "replicas": lambda plan: plan.replicas,
    }
    counts = {"rhythm": 5, "stamps": 3, "store": 2, "replicas": 2}
    assert {name: len({kind(plan) for plan in fleet}) for name, kind in kinds.items()} == counts
