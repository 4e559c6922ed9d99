"""The helpers of the system tests are used here too."""

from __future__ import annotations

import os
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system")]


@pytest.fixture
def dependencies() -> pathlib.Path:
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("TIDEMARK_DEPS") or pathlib.Path(cache) / "tidemark")


@pytest.fixture
def binary() -> pathlib.Path:
    return pathlib.Path(os.environ.get("TIDEMARK_BINARY", HERE.parents[1] / "build/release/tidemark")).resolve()
