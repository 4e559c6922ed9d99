"""How far `read` and `audit` say they are: on terminals, and never among what they print."""

from __future__ import annotations

import os
import pathlib
import pty
import subprocess
import time
from collections.abc import Iterator

import pytest

from program import BREACH, HEALTHY, Program
from s3_server import FaultProxy, S3Server

_TABLE = pathlib.Path(__file__).resolve().parents[2] / "testdata/hudi/rows/f014_string_oneflush_d/table"
_TAKEN_AWAY = b"\r\x1b[K"


@pytest.mark.parametrize("words", [("read",), ("read", "--history"), ("audit",)])
def test_nothing_is_told_in_a_pipe_unless_asked_for(tidemark: Program, words: tuple[str, ...]) -> None:
    quiet = tidemark(*words, _TABLE)
    assert quiet.err == ""
    told = tidemark(*words, _TABLE, "--progress")
    assert told.err.startswith("100%, "), told.err
    assert len(told.err.splitlines()) == 1
    if words[0] == "read":
        assert told.out == quiet.out


@pytest.fixture(scope="module")
def slow(s3: S3Server) -> Iterator[tuple[str, dict[str, str]]]:
    """A table whose data files take longer than a progress line waits, and how to reach it."""
    uri = s3.upload(_TABLE, "slow")

    def wait_for_data(_: int, path: str) -> None:
        if ".log." in path or ".parquet" in path:
            time.sleep(0.5)

    with FaultProxy(s3, wait_for_data) as proxy:
        yield uri, {**s3.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}


def _on_terminal(tidemark: Program, env: dict[str, str], *words: object) -> tuple[int, bytes]:
    """Runs with stdout and stderr on one terminal: the exit code and what it showed."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [tidemark.binary, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env=tidemark.environment(env),
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while some := os.read(ours, 65536):
                shown += some
        except OSError:
            pass  # the other end is closed
        code = process.wait(timeout=60)
    os.close(ours)
    return code, shown


def test_a_terminal_shows_it_and_has_it_taken_away(
    tidemark: Program, slow: tuple[str, dict[str, str]], tmp_path: pathlib.Path
) -> None:
    uri, env = slow
    code, shown = _on_terminal(tidemark, env, "read", uri, "--output", tmp_path / "rows")
    assert code == HEALTHY, shown
    assert b" of 1 file groups" in shown or b" of 4 file groups" in shown
    assert shown.endswith(_TAKEN_AWAY)
    code, shown = _on_terminal(tidemark, env, "audit", uri, "--format", "json")
    assert code == BREACH, shown
    before, _, behind = shown.rpartition(_TAKEN_AWAY)
    assert b" file groups" in before
    assert behind.startswith(b"{")


def test_a_terminal_with_rows_on_it_shows_rows_alone(
    tidemark: Program, slow: tuple[str, dict[str, str]]
) -> None:
    uri, env = slow
    code, shown = _on_terminal(tidemark, env, "read", uri)
    assert code == HEALTHY, shown
    assert b"file groups" not in shown
    assert all(line.startswith(b"{") for line in shown.splitlines())
