"""A short day: every fault once, forty pipelines on three brokers. No number may be wrong; how fast things are seen is
shown and not asserted, the machine decides it."""

from __future__ import annotations

import pathlib

from day import Size, run_day, summary
from director import Pace
from faults import BLINDING

SIZE = Size(
    seconds=60,
    pipelines=40,
    brokers=3,
    interval=2.0,
    scrape_every=2.0,
    # Each step is taken back, so both ways are there twice.
    pace=Pace(hold=14.0, rest=2.0, kill_every=30.0, victims=2, steps=(-3600.0, -40.0)),
)
SEED = 1


def test_every_number_is_true_whatever_breaks(
    binary: pathlib.Path, dependencies: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    outcome = run_day(binary, dependencies, tmp_path, SIZE, SEED)
    text = summary(outcome, SIZE, SEED)
    print(text)
    assert not outcome.broken, text
    wrong = [kind for kind in outcome.counts if kind != "late"]
    assert not wrong, text
    assert outcome.looks > 500 and outcome.scrapes > 20 and outcome.kills > 1, text
    # A fault that nobody noticed was none, or was not looked at.
    unseen = [fault for fault in outcome.faults if fault.kind in BLINDING and fault.blinded and not fault.noticed]
    assert not unseen, (unseen, text)
