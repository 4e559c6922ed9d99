"""What a person or a script meets first: help, version, wrong words and their exit codes."""

from __future__ import annotations

import http.client
import json
import pathlib
import signal
import subprocess
import time
import urllib.parse
from collections.abc import Callable

import pytest

from hudi_table import Commit
from program import HEALTHY, UNREACHABLE, UNREADABLE, USAGE, Program
from waiting import wait_until

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
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--format", "sources", "--partitions"],
        ["freshness", "--table", "/t", "--bootstrap", " "],
        ["freshness", "--table", "/t", "--bootstrap", "b:99999"],
        ["freshness", "--table", "/t", "--bootstrap", "a:1,,b:2"],
        ["freshness", "--table", "ftp://host/t", "--bootstrap", "b:1"],
        ["timeline"],
        ["timeline", "/t", "--limit", "many"],
        ["timeline", "/t", "--limit", "-1"],
        ["timeline", "/t", "--limit", "1000001"],
        ["timeline", "/t", "--limit", "99999999999999999999999"],
        ["checkpoint", "/t", "--max-commit-depth", "99999999999999999999999"],
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


@pytest.mark.parametrize(
    "words",
    [
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--sla", ""],
        ["freshness", "--table", "/t", "--bootstrap", "b:1", "--topic", ""],
        ["doctor", "/t", "--bootstrap", "b:1", "--topic", ""],
        ["serve", "--config", "c.yaml", "--listen", ""],
    ],
    ids=lambda words: f"{words[0]} {words[-2]}",
)
def test_an_empty_value_is_not_taken_as_if_none_was_given(
    tidemark: Program, words: list[str]
) -> None:
    run = tidemark(*words)
    assert (run.code, run.out) == (USAGE, "")
    assert f"{words[-2]}: the value is empty" in run.err


@pytest.mark.parametrize("value", ["-1", "1000001", "99999999999999999999999"])
def test_a_number_out_of_range_is_named(tidemark: Program, value: str) -> None:
    for words in [("timeline", "/t", "--limit"), ("checkpoint", "/t", "--max-commit-depth")]:
        run = tidemark(*words, value)
        assert (run.code, run.out) == (USAGE, "")
        assert value in run.err and words[-1] in run.err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["freshnes"], "freshness"),
        (["-v", "timelin", "/t"], "timeline"),
        (["Version"], "version"),
        (["freshness", "--confg", "c.yaml"], "--config"),
        (["doctor", "/t", "--botstrap=b:1"], "--bootstrap"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else value,
)
def test_a_slip_of_the_hand_comes_with_what_was_meant(
    tidemark: Program, words: list[str], meant: str
) -> None:
    run = tidemark(*words)
    assert (run.code, run.out) == (USAGE, "")
    assert f"did you mean '{meant}'?" in run.err


def test_metrics_have_partitions_for_who_asks_for_them(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    flags = ["--bootstrap", "127.0.0.1:1", "--format", "prometheus", "--timeout", "1s"]
    words = ["freshness", "--table", make_table("t,0:1"), *flags]
    alone, apart = tidemark(*words).out, tidemark(*words, "--partitions").out
    family = "tidemark_freshness_partitions_left_out"
    assert "tidemark_freshness_status" in alone and family not in alone
    assert "tidemark_freshness_status" in apart and family in apart


def test_version_is_a_flag_too(tidemark: Program) -> None:
    assert tidemark("--version").out == tidemark("version").out != ""
    assert tidemark("--version").code == HEALTHY


def test_a_value_that_may_be_a_secret_is_not_repeated(tidemark: Program) -> None:
    run = tidemark("freshness", "--table", "/t", "--bootstrap", "b:1", "--propety=a=5ecret-w0rd")
    assert run.code == USAGE
    assert "5ecret-w0rd" not in run.err
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


@pytest.mark.parametrize(
    "words", [["--help"], ["freshness", "--help"], ["version"], ["--version"], ["completion", "man"]],
    ids=" ".join,
)  # fmt: skip
def test_help_that_cannot_be_written_is_not_a_success(tidemark: Program, words: list[str]) -> None:
    env = tidemark.environment()
    command = [tidemark.binary, *words]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=env, check=False)
    assert (done.returncode, b"output" in done.stderr) == (UNREACHABLE, True), done
    closed = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    done = subprocess.run(closed, stderr=subprocess.PIPE, env=env, check=False)
    assert done.returncode == UNREACHABLE, done


def test_without_any_standard_descriptor_the_exit_code_still_tells(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]
    command = [tidemark.binary, "checkpoint", make_table("t,0:1")]
    env = tidemark.environment()
    done = subprocess.run([*closed, *command], env=env, check=False)
    assert done.returncode == UNREACHABLE
    done = subprocess.run([*closed, tidemark.binary, "checkpoint", "/nowhere"], env=env, check=False)
    assert done.returncode == UNREADABLE


def test_no_home_and_nowhere_to_write_do_not_matter(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    table = make_table("t,0:1")
    for env in ({}, {"HOME": "/nowhere", "TMPDIR": "/nowhere"}, {"HOME": "/proc"}, {"HOME": ""}):
        done = subprocess.run(
            [tidemark.binary, "checkpoint", table, "--format", "json"],
            env=env, cwd="/proc", capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (HEALTHY, b"")
        assert json.loads(done.stdout)["value"] == "t,0:1"
        done = subprocess.run(
            [tidemark.binary, "checkpoint", "s3://bucket/t", "--endpoint", "http://127.0.0.1:9",
             "--timeout", "100ms"],
            env={"AWS_EC2_METADATA_DISABLED": "true", **env}, cwd="/proc", capture_output=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == UNREACHABLE, done


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda sent: sent.name)
def test_an_interrupt_gives_its_exit_code_however_early_it_comes(
    tidemark: Program, make_table: Callable[..., pathlib.Path], sent: signal.Signals
) -> None:
    table = make_table("t,0:1")
    codes = set()
    for delay in [each / 4000 for each in range(80)]:
        process = tidemark.start("checkpoint", table)
        time.sleep(delay)
        process.send_signal(sent)
        out, err = process.communicate(timeout=30)
        # The signal itself before the first instruction of ours, or its exit code, or too late.
        assert process.returncode in (-sent, 128 + sent, HEALTHY), (process.returncode, err)
        assert err == b""
        assert out or process.returncode != HEALTHY
        codes.add(process.returncode)
    assert HEALTHY in codes or 128 + sent in codes


def test_a_signal_that_the_caller_ignores_stays_ignored(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    # What `tidemark … &` in a script is given, so that Ctrl-C in the script's terminal spares it.
    script = 'trap "" INT; "$@" & job=$!; sleep 0.3; kill -INT $job; wait $job'
    command = ["checkpoint", "s3://bucket/t", "--endpoint", "http://127.0.0.1:9", "--timeout", "1s"]
    done = subprocess.run(
        ["sh", "-c", script, "sh", tidemark.binary, *command],
        env=tidemark.environment(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == UNREACHABLE, done


def test_an_interrupt_ends_a_run_whose_output_nobody_reads(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    # More than a pipe holds.
    table = make_table([Commit(f"t,0:{n}") for n in range(1500)])
    process = tidemark.start("timeline", table, "--format", "json")
    assert process.stdout.read(1) == b"{"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
    process.stdout.close()
    process.stderr.close()


def test_a_log_that_nobody_reads_holds_up_neither_looks_nor_the_end(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    """Each of the pipelines has a line, and all lines together are longer than a pipe."""
    config = tmp_path / "tidemark.yaml"
    lines = ['clusters: { main: { bootstrap_servers: "127.0.0.1:1" } }', "pipelines:"]
    lines += [
        json.dumps({"name": f"p{i}", "table": str(tmp_path / f"{i}"), "interval": "2s"})
        for i in range(500)
    ]
    config.write_text("\n".join(lines[:2] + ["  - " + line for line in lines[2:]]) + "\n")
    daemon = tidemark.start("serve", "--config", config, "--listen", "127.0.0.1:0")
    try:
        assert daemon.stderr is not None
        said = next(line for line in daemon.stderr if b"answering at" in line)
        place = urllib.parse.urlsplit(said.split()[-1].decode())

        def is_ready() -> bool:
            connection = http.client.HTTPConnection(place.hostname, place.port, timeout=10)
            connection.request("GET", "/readyz")
            return connection.getresponse().status == 200

        wait_until(is_ready, "every pipeline to be looked at", 60)
        daemon.send_signal(signal.SIGTERM)
        assert daemon.wait(timeout=30) == 0
        assert b" status=unknown reason=" in daemon.stderr.read()
    finally:
        daemon.kill()
        daemon.communicate()


def test_a_layout_that_does_not_fit_the_table_is_named(
    tidemark: Program, make_table: Callable[..., pathlib.Path]
) -> None:
    table = make_table("t,0:1")
    file = table / ".hoodie" / "hoodie.properties"
    file.write_text(file.read_text().replace("layout.version=1", "layout.version=2"))
    for command in ("checkpoint", "timeline", "doctor"):
        run = tidemark(command, table)
        assert run.code == UNREADABLE
        assert "layout" in run.out + run.err
        assert "no completed commit" not in run.out + run.err


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


def test_the_completion_for_fish_closes_its_quotes(tidemark: Program) -> None:
    run = tidemark("completion", "fish")
    assert run.code == HEALTHY
    assert "\\'" in run.out, "some description has an apostrophe"
    for line in run.out.replace("\\'", "").splitlines():
        assert line.count("'") % 2 == 0, line


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
