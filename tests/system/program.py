"""Running the built program and keeping what came out."""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import subprocess
import time
from collections.abc import Callable, Mapping

RUN_SECONDS_MAX = 90

# Exit codes (contracts, section 1).
HEALTHY, WARNING, BREACH, UNKNOWN = 0, 1, 2, 3
USAGE, UNREADABLE, UNREACHABLE = 64, 65, 69


@dataclasses.dataclass
class Run:
    """One finished run. `started_ms` and `ended_ms` are wall clock around it."""

    arguments: tuple[str, ...]
    code: int
    out: str
    err: str
    started_ms: int
    ended_ms: int

    @property
    def seconds(self) -> float:
        return (self.ended_ms - self.started_ms) / 1000

    @property
    def json(self) -> dict:
        """Standard output, which must be exactly one JSON object."""
        try:
            found = json.loads(self.out)
        except json.JSONDecodeError as error:
            raise AssertionError(f"not one JSON object: {error}") from error
        assert isinstance(found, dict)
        return found

    @property
    def pipelines(self) -> dict[str, dict]:
        """The reports of `freshness --format json`, by pipeline."""
        report = self.json
        assert report["schema"] == "tidemark.freshness/1"
        found = {each["pipeline"]: each for each in report["pipelines"]}
        assert len(found) == len(report["pipelines"])
        return found

    @property
    def pipeline(self) -> dict:
        """The only one."""
        (found,) = self.pipelines.values()
        return found

    def __str__(self) -> str:
        return (
            f"{' '.join(self.arguments)}\nexit code {self.code} after {self.seconds:.2f} s\n"
            f"--- stdout\n{self.out}\n--- stderr\n{self.err}"
        )


class Program:
    """The binary under test. It sees a small environment of its own: no credentials, no home."""

    def __init__(self, binary: pathlib.Path, home: pathlib.Path) -> None:
        self.binary = binary
        self._home = home
        self.runs: list[Run] = []  # of the present test; shown when it fails

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
        # Sanitizer builds take their options from outside.
        kept.update({name: word for name, word in os.environ.items() if name.endswith("SAN_OPTIONS")})
        fixed = {
            "HOME": str(self._home),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        return {**kept, **fixed, **(extra or {})}

    def __call__(
        self,
        *arguments: object,
        env: Mapping[str, str] | None = None,
        cwd: pathlib.Path | None = None,
        seconds_max: float = RUN_SECONDS_MAX,
        meanwhile: Callable[[subprocess.Popen], None] = lambda _: None,
    ) -> Run:
        """`meanwhile` is called with the process as soon as it has been started."""
        words = tuple(map(str, arguments))
        started = time.time_ns()
        with subprocess.Popen(
            [self.binary, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(env),
            cwd=cwd or self._home,
        ) as process:
            try:
                meanwhile(process)
                out, err = process.communicate(timeout=seconds_max)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise AssertionError(
                    f"still running after {seconds_max} s: tidemark {' '.join(words)}\n"
                    f"--- stdout\n{error.stdout}\n--- stderr\n{error.stderr}"
                ) from error
            except BaseException:
                process.kill()
                raise
        ended = time.time_ns()
        run = Run(
            ("tidemark", *words),
            process.returncode,
            out.decode(),  # UTF-8 or the test fails
            err.decode(),
            started // 1_000_000,
            -(-ended // 1_000_000),
        )
        self.runs.append(run)
        return run

    def start(self, *arguments: object, env: Mapping[str, str] | None = None) -> subprocess.Popen:
        """In the background, for tests that send signals or close pipes."""
        return subprocess.Popen(
            [self.binary, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(env),
            cwd=self._home,
        )
