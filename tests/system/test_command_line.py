"""What a person or a script meets first: help, version, wrong words and their exit codes."""

from __future__ import annotations

import json
import pathlib
import subprocess
import urllib.parse
from collections.abc import Callable

import pytest

from program import HEALTHY, UNREACHABLE, UNREADABLE, USAGE, Program

_COMMANDS = ["freshness", "timeline", "checkpoint", "doctor", "demo", "version"]


def test_help_names_every_command_and_the_exit_codes(tidemark: Program) -> None:
    run = tidemark("--help")
    assert run.code == HEALTHY
    for word in [*_COMMANDS, "64", "65", "69"]:
        assert word in run.out
    assert run.err == ""


@pytest.mark.parametrize("command", _COMMANDS)
def test_every_command_has_help_of_its_own(tidemark: Program, command: str) -> None:
    run = tidemark(command, "--help")
    assert run.code == HEALTHY
    assert command in run.out
    assert run.err == ""


def test_version_says_its_name_and_number(tidemark: Program) -> None:
    run = tidemark("version")
    assert run.code == HEALTHY
    name, number = run.out.split()[:2]
    assert name == "tidemark"
    assert len(number.split(".")) == 3


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["freshnes"],
        ["freshness"],
        ["freshness", "--nonsense"],
        ["freshness", "--format", "xml", "--table", "/t", "--bootstrap", "b:1"],
        ["freshness", "--table", "/t"],
        ["freshness", "--bootstrap", "b:1"],
        ["freshness", "--config"],
        ["freshness", "--config", "c.yaml", "--table", "/t"],
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--sla", "soon"],
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--sla", "0m"],
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--mode", "hourly"],
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--property", "no-equals-sign"],
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--property", "no.such.property=1"],
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--timeout", "-3s"],
        ["freshness", "--table", "/t", "--bootstrap", " "],
        ["freshness", "--table", "/t", "--bootstrap", "b:99999"],
        ["freshness", "--table", "/t", "--bootstrap", "a:1,,b:2"],
        ["freshness", "--table", "ftp://host/t", "--bootstrap", "b:1"],
        ["timeline"],
        ["timeline", "/t", "--limit", "many"],
        ["checkpoint"],
        ["checkpoint", "/t", "--max-commit-depth", "-1"],
        ["doctor"],
        ["version", "too", "much"],
    ],
    ids=" ".join,
)
def test_wrong_words_end_with_a_sentence_and_exit_code_64(
    tidemark: Program, words: list[str]
) -> None:
    run = tidemark(*words)
    assert run.code == USAGE
    assert run.out == ""
    assert len(run.err.strip()) > 10


def test_a_value_that_may_be_a_secret_is_not_repeated(tidemark: Program) -> None:
    for words in ["sasl.pasword=5ecret-w0rd", "5ecret-w0rd"]:
        run = tidemark("freshness", "--table", "/t", "--bootstrap", "b:1", "--property", words)
        assert run.code == USAGE
        assert "5ecret-w0rd" not in run.err


@pytest.mark.parametrize("command", ["timeline", "checkpoint"])
def test_a_folder_that_is_no_table_is_told_by_name(
    tidemark: Program, tmp_path: pathlib.Path, command: str
) -> None:
    for folder in (tmp_path, tmp_path / "nothing"):
        run = tidemark(command, folder)
        assert run.code == UNREADABLE
        assert str(folder) in run.err
        assert run.out == ""


def test_names_from_a_table_cannot_drive_the_terminal(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    table = make_table("topic\x1b[2J\x07,0:1")
    for command in ("checkpoint", "timeline"):
        run = tidemark(command, table)
        assert "\x1b" not in run.out + run.err, repr(run.out)
        assert "\x07" not in run.out + run.err, repr(run.out)
    found = tidemark("checkpoint", table, "--format", "json")
    assert json.loads(found.out)["value"] == "topic\x1b[2J\x07,0:1"


def test_output_that_cannot_be_written_is_not_a_success(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    command = [tidemark.binary, "checkpoint", make_table("t,0:1")]
    env = tidemark.environment()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env, check=False)
    assert done.returncode == UNREACHABLE, done
    assert b"output" in done.stderr, done
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(closed, stderr=subprocess.PIPE, env=env, check=False)
    assert done.returncode == UNREACHABLE, done


def test_a_table_may_be_given_in_every_way_a_path_is_written(
    tidemark: Program, make_table: Callable[..., pathlib.Path], tmp_path: pathlib.Path
) -> None:
    table = tmp_path / "a lake" / "täble"
    table.parent.mkdir()
    make_table("t,0:1").rename(table)
    (tmp_path / "link").symlink_to(table)
    ways = [table, f"{table}/", f"file://{table}", f"file://{urllib.parse.quote(str(table))}"]
    ways += [tmp_path / "link", "a lake/täble", "./a lake/../a lake/täble"]
    for way in ways:
        run = tidemark("checkpoint", way, "--format", "json", cwd=tmp_path)
        assert (run.code, run.json["value"]) == (HEALTHY, "t,0:1")


@pytest.mark.parametrize("shell", ["bash"])
def test_the_completion_is_a_script_its_shell_understands(tidemark: Program, shell: str) -> None:
    run = tidemark("completion", shell)
    assert run.code == HEALTHY
    script = run.out + (
        "\nCOMP_WORDS=(tidemark freshness --for); COMP_CWORD=2; _tidemark; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run([shell, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["--format"], done
    assert done.stderr == "", done
