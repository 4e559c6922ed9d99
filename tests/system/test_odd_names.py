"""Names with control characters, line ends and bytes that are no UTF-8: every output stays what it
claims to be, and nothing drives the reader's terminal."""

from __future__ import annotations

import json
import os
import pathlib
import unicodedata
from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from free_ports import free_ports
from kafka_cluster import HOST
from program import UNKNOWN, Program, Run

MakeTable = Callable[..., pathlib.Path]

_NAME = 'or\x1b[2Jders\r\n"quoted\\ \x9b\u202e'
_LABEL = 'two\nlines\\ "and" \x1b]0;title\x07'
_TOPIC = "to\x1b[31mpic\n"


@pytest.fixture
def config(tmp_path: pathlib.Path, make_table: MakeTable) -> pathlib.Path:
    """One pipeline whose every name is odd and whose cluster is not there."""
    odd = os.fsencode(tmp_path) + b"/ta\x1b[2Jble\n\xff"
    os.rename(make_table(f"{_TOPIC},0:1"), odd)
    (tmp_path / "table").write_bytes(odd)
    (tmp_path / "label").write_bytes(_LABEL.encode() + b"\xff\xc3")
    (port,) = free_ports(1)
    file = tmp_path / "tidemark.yaml"
    file.write_text(
        f"clusters: {{ main: {{ bootstrap_servers: '{HOST}:{port}' }} }}\n"
        "pipelines:\n"
        f"  - name: {json.dumps(_NAME)}\n"
        "    table: ${file:table}\n"
        "    labels: { team: '${file:label}' }\n"
    )
    return file


def check_for_people(run: Run) -> None:
    """Only line ends and printable text."""
    for character in (run.out + run.err).replace("\n", ""):
        assert unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp"), run
    assert "\\x1b" in run.out, "written out where everybody sees it"


@pytest.mark.parametrize("command", ["freshness", "doctor"])
def test_text_for_people_is_printable(
    tidemark: Program, config: pathlib.Path, command: str
) -> None:
    run = tidemark("--verbose", command, "--config", config, "--timeout", "300ms")
    check_for_people(run)
    assert not any(line.startswith("ders") for line in run.out.splitlines()), "no forged line"


@pytest.mark.parametrize("command", ["checkpoint", "timeline"])
def test_a_table_of_an_odd_name_is_shown_printably(
    tidemark: Program, config: pathlib.Path, command: str
) -> None:
    table = os.fsdecode((config.parent / "table").read_bytes())
    run = tidemark(command, table)
    check_for_people(run)
    assert "\\xff" in run.out
    shown = tidemark(command, table, "--format", "json").json
    assert shown["table"].endswith("/ta\x1b[2Jble\n\ufffd")


def test_a_mistake_about_an_odd_name_is_one_line(tidemark: Program, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text(f"clusters: {{}}\n{json.dumps(_NAME)}: 1\n")
    run = tidemark("freshness", "--config", file)
    assert len(run.err.splitlines()) == 2
    assert "\x1b" not in run.err and "\x9b" not in run.err


def test_json_keeps_every_character_and_replaces_what_is_none(
    tidemark: Program, config: pathlib.Path
) -> None:
    run = tidemark("freshness", "--config", config, "--format", "json", "--timeout", "300ms")
    assert run.code == UNKNOWN  # no topic has such a name
    report = run.pipeline
    assert report["pipeline"] == _NAME
    assert report["labels"] == {"team": _LABEL + "\ufffd\ufffd"}
    assert report["table"].endswith("/ta\x1b[2Jble\n\ufffd")
    assert report["checkpoint"]["value"] == f"{_TOPIC},0:1"
    sources = tidemark("freshness", "--config", config, "--format", "sources", "--timeout", "300ms")
    assert sources.json["results"][0]["unique_id"].endswith(_NAME)
    doctor = tidemark("doctor", "--config", config, "--format", "json", "--timeout", "300ms")
    assert doctor.json["subjects"][0]["subject"] == _NAME


def test_metrics_are_escaped_as_the_format_says(tidemark: Program, config: pathlib.Path) -> None:
    run = tidemark("freshness", "--config", config, "--format", "prometheus", "--timeout", "300ms")
    found = [
        sample.labels
        for family in text_string_to_metric_families(run.out)
        for sample in family.samples
    ]
    assert found
    for labels in found:
        assert labels["pipeline"] == _NAME
        assert labels["team"] == _LABEL + "\ufffd\ufffd"
        assert labels["table"].endswith("/ta\x1b[2Jble\n\ufffd")
