"""Waiting for something that another process will do."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(
    is_so: Callable[[], bool], what: str, seconds_max: float, step: float = 0.05
) -> None:
    end = time.monotonic() + seconds_max
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds_max} s for {what}")
        time.sleep(step)
