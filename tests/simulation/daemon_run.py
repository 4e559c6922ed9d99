"""`tidemark serve` under a clock that can be set, killed and started again; and what it says, as it says it."""

from __future__ import annotations

import collections
import http.client
import json
import os
import pathlib
import threading
import time
import urllib.parse
from collections.abc import Mapping

from daemon import Daemon
from judge import DaemonClock, Look
from program import Program

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


class StepClock:
    """The wall clock of the daemon: the machine's, moved by an offset in a file that libfaketime reads at each call.
    Its steady clock and the times of files stay the machine's."""

    def __init__(self, folder: pathlib.Path) -> None:
        assert pathlib.Path(FAKETIME).is_file(), "no libfaketime: run scripts/bootstrap --tests"
        self._file = folder / "clock"
        self.history = DaemonClock()
        self.offset = 0.0
        self._write(0.0)

    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": FAKETIME,
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def set(self, offset: float) -> None:
        asked = time.time()
        self._write(offset)
        self.history.step(asked, time.time(), offset)
        self.offset = offset

    def _write(self, offset: float) -> None:
        unfinished = self._file.with_suffix(".new")
        unfinished.write_text(f"{offset:+.3f}\n")
        os.replace(unfinished, self._file)


class DaemonRun:
    """One process after the other on one configuration and state, each with a number."""

    def __init__(self, tidemark: Program, config: pathlib.Path, environment: Mapping[str, str]) -> None:
        self._tidemark = tidemark
        self._config = config
        self._environment = dict(environment)
        self.number = 0
        self.started = 0.0
        self.logs: list[str] = []
        self.looks: collections.deque[Look] = collections.deque()  # in the order they came in; the reader takes them
        self.daemon = self._start()

    def _start(self) -> Daemon:
        self.number += 1
        daemon = Daemon(self._tidemark, self._config, env=self._environment)
        self.started = time.time()
        threading.Thread(target=self._listen, args=(daemon, self.number), daemon=True).start()
        return daemon

    def kill(self) -> float:
        """Returns when; nothing it says later is believed."""
        killed = time.time()
        self.daemon.kill()
        self.logs.append(self.daemon.log())
        return killed

    def start_again(self) -> None:
        self.daemon = self._start()

    def stop(self) -> None:
        assert self.daemon.stop() == 0, self.daemon.log()
        self.logs.append(self.daemon.log())

    def end(self) -> None:
        """Whatever state things are in."""
        if self.daemon.process.poll() is None:
            self.daemon.kill()

    def _listen(self, daemon: Daemon, number: int) -> None:
        """Every look, as the daemon tells it: server-sent events."""
        place = urllib.parse.urlsplit(daemon.url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        try:
            connection.request("GET", "/api/v1/events")
            answer = connection.getresponse()
            while line := answer.fp.readline():
                if line.startswith(b"data: "):
                    received = time.time()
                    for report in json.loads(line[6:]).get("pipelines", ()):
                        self.looks.append(Look(report, received, number))
        except (OSError, http.client.HTTPException, ValueError):
            pass  # it was killed
        finally:
            connection.close()
