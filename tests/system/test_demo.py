"""`demo --once`: the whole product on one machine, with no server of anybody else."""

from __future__ import annotations

from program import BREACH, HEALTHY, Program


def test_the_demo_shows_one_pipeline_of_each_kind_and_ends(tidemark: Program) -> None:
    run = tidemark("demo", "--once")
    assert run.code in (HEALTHY, BREACH)
    lines = {line.split()[0]: line for line in run.out.splitlines() if line.split()}
    for word in ("fresh", "breach", "unknown", "LOST"):
        assert any(word in line for line in lines.values()), word
    assert run.seconds < 10


def test_the_demo_needs_no_network(tidemark: Program) -> None:
    nowhere = "http://127.0.0.1:1"
    run = tidemark("demo", "--once", env={"http_proxy": nowhere, "https_proxy": nowhere})
    assert run.code in (HEALTHY, BREACH)
