"""A PostgreSQL server of the tests' own, on a free port of loopback."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from free_ports import free_ports
from waiting import wait_until

START_SECONDS_MAX = 120
_NOBODY = 65534  # the server refuses to run as root


class PostgresServer:
    """Runs from construction until stop()."""

    def __init__(self, dependencies: pathlib.Path) -> None:
        server = dependencies / "postgresql-15.13.0"
        assert (server / ".complete").is_file(), f"no {server}: run scripts/bootstrap --tests"
        # The folders of the dependencies and of the tests may be closed to the other user.
        self._folder = folder = pathlib.Path(tempfile.mkdtemp(prefix="tidemark-postgres-"))
        folder.chmod(0o705)
        self._bin = shutil.copytree(server, folder / "server", symlinks=True) / "bin"
        self._data = folder / "data"
        self._data.mkdir()
        if os.getuid() == 0:
            os.chown(self._data, _NOBODY, _NOBODY)
        subprocess.run(
            self._unprivileged("initdb", "-D", self._data, "-U", "tidemark", "-A", "trust", "-E", "UTF8",
                               "--no-locale", "--no-sync"),
            cwd="/", check=True, capture_output=True,
        )
        (self.port,) = free_ports(1)
        self._log = folder / "log"
        self._process = subprocess.Popen(
            self._unprivileged("postgres", "-D", self._data, "-p", self.port, "-h", "127.0.0.1", "-k", "",
                               "-c", "fsync=off"),
            cwd="/", stdout=self._log.open("wb"), stderr=subprocess.STDOUT,
        )
        wait_until(self._is_ready, "PostgreSQL", START_SECONDS_MAX)

    def _unprivileged(self, program: str, *arguments: object) -> list[str]:
        command = [str(self._bin / program), *map(str, arguments)]
        if os.getuid() != 0:
            return command
        return ["setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups", "--pdeathsig=INT",
                "--", *command]

    def _is_ready(self) -> bool:
        assert self._process.poll() is None, self._log.read_text()
        return "database system is ready to accept connections" in self._log.read_text()

    def url(self) -> str:
        return f"postgresql://tidemark@127.0.0.1:{self.port}/postgres"

    def freeze(self) -> None:
        """Connections stay, and nothing answers."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number: int) -> None:
        # Those that serve connections have process groups of their own; the parent first, lest it makes others.
        pid = self._process.pid
        os.kill(pid, number)
        for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            os.kill(int(child), number)

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)
