"""Files that the configuration names (tokens, certificates, keys, authorities): one that is not there is a mistake as
any other, told with its place before anything starts; at a reload the old configuration stays."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable

import pytest
import yaml

import certificates
from daemon import Daemon
from program import HEALTHY, USAGE, Program
from waiting import wait_until

_BASE = """clusters: { main: { bootstrap_servers: "127.0.0.1:1" } }
pipelines: [ { name: retired, table: /nowhere, disabled: true } ]
"""
_HTTP = """http:
  tls: { certificate: cert.pem, key: key.pem }
  auth: { bearer_tokens_file: tokens }
"""


@pytest.fixture
def write(tmp_path: pathlib.Path) -> Callable[[str], pathlib.Path]:
    def written(more: str) -> pathlib.Path:
        file = tmp_path / "tidemark.yaml"
        file.write_text(_BASE + more)
        return file

    return written


@pytest.mark.parametrize("command", ["serve", "mirror", "doctor"])
def test_all_that_are_missing_are_told_with_their_places_before_anything_starts(
    tidemark: Program, write: Callable[[str], pathlib.Path], tmp_path: pathlib.Path, command: str
) -> None:
    file = write(_HTTP + "state: { path: state }\n")
    run = tidemark(command, "--config", file)
    assert run.code == USAGE, run
    places = re.findall(rf"^{re.escape(str(file))}:(\d+):\d+: (http\.\S+): '.*' cannot be read: No such", run.err, re.M)
    assert places == [("4", "http.tls.certificate"), ("4", "http.tls.key"), ("5", "http.auth.bearer_tokens_file")]
    assert "status=" not in run.err and not (tmp_path / "state").exists()


def test_who_publishes_wants_the_authorities_of_brokers_and_not_the_daemons_tokens(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    config = yaml.safe_load(_BASE + _HTTP + 'feed: { cluster: main, tables: [ "s3://lake/*" ] }\n')
    config["clusters"]["main"]["properties"] = {"security.protocol": "SSL", "ssl.ca.location": "/no/such/ca.pem"}
    file = tmp_path / "tidemark.yaml"
    file.write_text(yaml.safe_dump(config))
    run = tidemark("publish", "--config", file)
    assert run.code == USAGE
    assert ": clusters.main.properties.ssl.ca.location: '/no/such/ca.pem' cannot be read: " in run.err
    assert "cert.pem" not in run.err


def test_the_rules_are_made_where_the_files_are_not(tidemark: Program, write: Callable[[str], pathlib.Path]) -> None:
    file = write(_HTTP)
    file.write_text(file.read_text().replace("disabled: true", "cluster: main"))
    assert tidemark("rules", "--config", file, "--kind", "prometheus").code == HEALTHY


def test_a_reload_that_names_what_is_not_there_is_refused_until_it_is(
    tidemark: Program, tmp_path: pathlib.Path, write: Callable[[str], pathlib.Path]
) -> None:
    made = certificates.make_authority(tmp_path, "daemon")
    daemon = Daemon(tidemark, write(""))
    try:
        write(_HTTP)
        wait_until(lambda: "the old one stays" in daemon.log(), "the reload to be refused", 20)
        assert "tidemark.yaml:5:31: http.auth.bearer_tokens_file: " in daemon.log()
        assert daemon.ask("GET", "/healthz")[0] == 200
        (tmp_path / "tokens").write_text("one\n")
        made.key.rename(tmp_path / "key.pem")
        made.certificate.rename(tmp_path / "cert.pem")
        wait_until(lambda: "configuration read again" in daemon.log(), "the mended files to be seen", 20)
    finally:
        assert daemon.stop() == 0


def test_a_daemon_answers_with_the_certificate_that_was_found_good(
    tidemark: Program, tmp_path: pathlib.Path, write: Callable[[str], pathlib.Path]
) -> None:
    made, other = (certificates.make_authority(tmp_path, name) for name in ("daemon", "other"))
    (tmp_path / "tokens").write_text("one\n")
    file = write(_HTTP.replace("cert.pem", made.certificate.name).replace("key.pem", made.key.name))
    daemon = Daemon(tidemark, file)
    assert daemon.url.startswith("https://")
    assert daemon.stop() == 0
    write(_HTTP.replace("cert.pem", made.certificate.name).replace("key.pem", other.key.name))
    run = tidemark("serve", "--config", file)
    assert run.code == USAGE and "tidemark.yaml:4:" in run.err
    assert "http.tls.key" in run.err and "is not the key of the certificate" in run.err


def test_a_changed_mirror_is_warned_of(tidemark: Program, write: Callable[[str], pathlib.Path]) -> None:
    daemon = Daemon(tidemark, write(""))
    try:
        write("mirror: { cluster: main }\n")
        wait_until(lambda: "configuration read again" in daemon.log(), "the reload", 20)
        assert "changes of 'mirror' count after a restart" in daemon.log()
    finally:
        daemon.stop()
