"""Where the state is not what a daemon hopes for: a PostgreSQL that stops answering, a file that is not there."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable, Iterator

import pytest

from daemon import Daemon
from free_ports import free_ports
from postgres_server import PostgresServer
from program import Program
from waiting import wait_until

MakeTable = Callable[..., pathlib.Path]
PATIENCE_SECONDS = 60
# docs/operations.md: the end of the daemon; with room for a loaded machine.
END_SECONDS_MAX = 25


@pytest.fixture
def postgres(dependencies: pathlib.Path) -> Iterator[PostgresServer]:
    server = PostgresServer(dependencies)
    yield server
    server.stop()


def test_a_frozen_database_holds_up_neither_looks_nor_requests_nor_the_end(
    tidemark: Program, tmp_path: pathlib.Path, make_table: MakeTable, postgres: PostgresServer
) -> None:
    (port,) = free_ports(1)
    config = tmp_path / "tidemark.yaml"
    config.write_text(
        f"""clusters: {{ main: {{ bootstrap_servers: "127.0.0.1:{port}" }} }}
state: {{ url: "{postgres.url()}" }}
pipelines: [ {{ name: orders, table: {make_table("t,0:1")}, topic: t, interval: 1s }} ]
"""
    )
    daemon = Daemon(tidemark, config)
    history = "/api/v1/pipelines/orders/history"

    def looks() -> float:
        return daemon.samples()[("tidemark_looks_total", "")]

    try:
        wait_until(lambda: daemon.get(history)["points"], "a look in the database", PATIENCE_SECONDS)
        postgres.freeze()
        before = looks()
        wait_until(lambda: looks() >= before + 3, "looks that go on", PATIENCE_SECONDS)
        status, text = daemon.ask("GET", history)
        assert status == 503 and "database" in text
        assert daemon.ask("GET", "/healthz")[0] == 200
        postgres.thaw()
        wait_until(lambda: daemon.ask("GET", history)[0] == 200, "history again", PATIENCE_SECONDS)
        postgres.freeze()
        begun = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - begun < END_SECONDS_MAX
    finally:
        daemon.kill()
        postgres.thaw()


def test_a_start_without_a_file_of_the_state_says_so_and_the_next_one_does_not(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    config = tmp_path / "tidemark.yaml"
    config.write_text(
        'clusters: { main: { bootstrap_servers: "127.0.0.1:1" } }\nstate: { path: state }\n'
        "pipelines: [ { name: retired, table: /nowhere, disabled: true } ]\n"
    )
    for is_first in (True, False):
        daemon = Daemon(tidemark, config)
        assert daemon.stop() == 0
        assert (f"begins without memory: there was no file={tmp_path}/state/" in daemon.log()) == is_first
