"""`tidemark serve` (or `mirror`) as a child, and what it answers over HTTP."""

from __future__ import annotations

import http.client
import json
import pathlib
import re
import signal
import subprocess
import threading
import urllib.parse
from collections.abc import Mapping
from typing import IO

from prometheus_client.parser import text_string_to_metric_families

from program import Program
from waiting import wait_until

START_SECONDS_MAX = 60


class Daemon:
    """Runs from construction until stop() or kill()."""

    def __init__(
        self,
        tidemark: Program,
        config: pathlib.Path,
        *flags: str,
        env: Mapping[str, str] | None = None,
        command: str = "serve",
    ) -> None:
        words = (command, "--config", config, "--listen", "127.0.0.1:0", *flags)
        self.process = tidemark.start(*words, env=env)
        self._lines: list[str] = []
        self._printed: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=ends, daemon=True)
            for ends in ((self.process.stderr, self._lines), (self.process.stdout, self._printed))
        ]
        for reader in self._readers:
            reader.start()
        self.url = ""
        wait_until(self._has_answered, "the daemon to answer", START_SECONDS_MAX)

    @staticmethod
    def _read(stream: IO[bytes], lines: list[str]) -> None:
        for line in stream:
            lines.append(line.decode())

    def _has_answered(self) -> bool:
        assert self.process.poll() is None, f"the daemon ended: {self.log()}"
        found = re.search(r"answering at (\S+)", self.log())
        if found:
            self.url = found[1]
        return bool(found)

    def log(self) -> str:
        return "".join(self._lines)

    def printed(self) -> list[str]:
        """Lines of standard output."""
        return list(self._printed)

    def ask(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str]:
        place = urllib.parse.urlsplit(self.url)
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def get(self, path: str) -> dict:
        status, text = self.ask("GET", path)
        assert status == 200, (status, text)
        return json.loads(text)

    def pipelines(self) -> dict[str, dict]:
        return {each["pipeline"]: each for each in self.get("/api/v1/pipelines")["pipelines"]}

    def await_status(self, pipeline: str, status: str, seconds_max: float = 30) -> dict:
        wait_until(
            lambda: self.pipelines()[pipeline]["status"] == status,
            f"{pipeline} to be {status}",
            seconds_max,
        )
        return self.pipelines()[pipeline]

    def samples(self) -> dict[tuple[str, str], float]:
        """By name and pipeline; of a series with more labels, the last."""
        status, text = self.ask("GET", "/metrics")
        assert status == 200
        return {
            (sample.name, sample.labels.get("pipeline", "")): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self._end()

    def kill(self) -> None:
        self.process.kill()
        self._end()

    def _end(self) -> int:
        try:
            code = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        for reader in self._readers:
            reader.join(timeout=10)
        return code
