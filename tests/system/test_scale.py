"""Thousands of pipelines in one configuration: the cost grows with their number and no faster, and
no mistake is lost among them."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import tempfile
from collections.abc import Callable

import pytest

from free_ports import free_ports
from kafka_cluster import HOST
from program import UNREACHABLE, USAGE, Program

MakeTable = Callable[..., pathlib.Path]
Measured = Callable[..., "Cost"]


@dataclasses.dataclass
class Cost:
    code: int
    out: str
    err: str
    cpu_seconds: float
    peak_bytes: int


@pytest.fixture
def freshness(tidemark: Program) -> Measured:
    def run(config: pathlib.Path) -> Cost:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            words = ["freshness", "--config", str(config), "--format", "json", "--timeout", "2s"]
            descriptors = [(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, err.fileno(), 2)]
            pid = os.posix_spawn(
                tidemark.binary, [str(tidemark.binary), *words], tidemark.environment(),
                file_actions=descriptors,
            )  # fmt: skip
            _, status, usage = os.wait4(pid, 0)
            out.seek(0)
            err.seek(0)
            return Cost(
                os.waitstatus_to_exitcode(status),
                out.read().decode(),
                err.read().decode(),
                usage.ru_utime + usage.ru_stime,
                usage.ru_maxrss * 1024,
            )

    return run


@pytest.fixture
def config_of(tmp_path: pathlib.Path, make_table: MakeTable) -> Callable[[int], pathlib.Path]:
    """`config_of(n)`: n pipelines over 50 tables; their cluster is not there."""
    tables = [make_table(f"topic{n},0:1,1:2") for n in range(50)]
    (port,) = free_ports(1)

    def make(count: int, key: str = "cluster") -> pathlib.Path:
        file = tmp_path / f"config{count}.yaml"
        lines = [f"clusters: {{ main: {{ bootstrap_servers: '{HOST}:{port}' }} }}", "pipelines:"]
        lines += [
            f"- {{ name: p{n}, table: {tables[n % len(tables)]}, {key}: main, labels: {{ n: x{n} }} }}"
            for n in range(count)
        ]
        file.write_text("\n".join(lines) + "\n")
        return file

    return make


def test_time_and_memory_grow_with_the_pipelines_and_no_faster(
    freshness: Measured, config_of: Callable[[int], pathlib.Path]
) -> None:
    few, many = freshness(config_of(1000)), freshness(config_of(10_000))
    assert (few.code, many.code) == (UNREACHABLE, UNREACHABLE), many.err
    assert len(json.loads(many.out)["pipelines"]) == 10_000
    assert many.cpu_seconds < 20 * few.cpu_seconds, (few.cpu_seconds, many.cpu_seconds)
    assert many.peak_bytes < 400 << 20


def test_every_one_of_thousands_of_mistakes_is_told(
    freshness: Measured, config_of: Callable[..., pathlib.Path]
) -> None:
    told = freshness(config_of(10_000, "clustr"))
    assert told.code == USAGE
    mistakes = [line for line in told.err.splitlines() if "unknown key 'clustr'" in line]
    assert len(mistakes) == 10_000
    assert told.cpu_seconds < 30
