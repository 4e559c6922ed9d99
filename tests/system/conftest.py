"""What the system tests share: the binary, a broker, an S3 server, synthetic tables.

Servers are started on first use and serve all tests of the process.
"""

from __future__ import annotations

import itertools
import os
import pathlib
from collections.abc import Callable, Iterator

import pytest

import certificates
import kafka_cluster
from hudi_table import Commit, write_table
from kafka_cluster import KafkaCluster, Security
from program import Program

_REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
# What is alive; shown when a test fails.
_clusters: list[KafkaCluster] = []
_programs: list[Program] = []


def _dependencies() -> pathlib.Path:
    """Where scripts/bootstrap puts what is not a Debian package."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("TIDEMARK_DEPS") or pathlib.Path(cache) / "tidemark")


def _running(cluster: KafkaCluster) -> Iterator[KafkaCluster]:
    _clusters.append(cluster)
    try:
        with cluster:
            yield cluster
    finally:
        _clusters.remove(cluster)


def pytest_runtest_setup() -> None:
    for program in _programs:
        program.runs.clear()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        for program in _programs:
            report.sections += [("what ran", str(run)) for run in program.runs]
        for cluster in _clusters:
            report.sections.append(("broker log", cluster.log_tail()))


@pytest.fixture(scope="session")
def tidemark(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """`tidemark("freshness", "--table", …)` runs the binary under test."""
    built = os.environ.get("TIDEMARK_BINARY", _REPOSITORY / "build/release/tidemark")
    binary = pathlib.Path(built).resolve()
    assert binary.is_file(), f"TIDEMARK_BINARY names no file: {binary}"
    program = Program(binary, tmp_path_factory.mktemp("home"))
    _programs.append(program)
    return program


@pytest.fixture(scope="session")
def dependencies() -> pathlib.Path:
    return _dependencies()


@pytest.fixture(scope="session")
def kafka_jars() -> pathlib.Path:
    jars = _dependencies() / "kafka-4.4.0"
    assert (jars / ".complete").is_file(), f"no broker in {jars}: run scripts/bootstrap --tests"
    return jars


@pytest.fixture(scope="session")
def statsd_exporter(dependencies: pathlib.Path) -> pathlib.Path:
    program = dependencies / "statsd-exporter-0.22.8/statsd_exporter"
    assert program.is_file(), f"no {program}: run scripts/bootstrap --tests"
    return program


@pytest.fixture(scope="session")
def statsd_server(dependencies: pathlib.Path) -> pathlib.Path:
    folder = dependencies / "statsd-0.9.0"
    assert (folder / ".complete").is_file(), f"nothing in {folder}: run scripts/bootstrap --tests"
    return folder


@pytest.fixture(scope="session")
def kafka(kafka_jars: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """One node, everything allowed."""
    yield from _running(KafkaCluster(tmp_path_factory.mktemp("kafka"), kafka_jars))


@pytest.fixture(scope="session")
def kafka_of_three(
    kafka_jars: pathlib.Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KafkaCluster]:
    yield from _running(KafkaCluster(tmp_path_factory.mktemp("kafka3"), kafka_jars, nodes=3))


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> certificates.Authority:
    """The one that signed the certificate of the secure broker."""
    return certificates.make_authority(tmp_path_factory.mktemp("authority"), "authority")


@pytest.fixture(scope="session")
def secure_kafka(
    kafka_jars: pathlib.Path,
    authority: certificates.Authority,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[KafkaCluster]:
    """One node with TLS, SASL and access lists, and the users of kafka_cluster.PASSWORDS."""
    folder = tmp_path_factory.mktemp("secure")
    keystore = certificates.make_server_keystore(folder, authority, kafka_cluster.HOST)
    misnamed = certificates.make_server_keystore(folder, authority, "127.9.9.9")
    security = Security(keystore, misnamed, authority.certificate, kafka_cluster.PASSWORDS)
    yield from _running(KafkaCluster(folder, kafka_jars, security=security))


@pytest.fixture(scope="session")
def s3() -> Iterator:
    from s3_server import S3Server  # slow to import, and most files need none of it

    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def make_table(tmp_path: pathlib.Path) -> Callable[..., pathlib.Path]:
    """`make_table("topic,0:5")`: a new local table whose newest commit carries this checkpoint.
    Also takes a list of commits."""
    numbers = itertools.count(1)

    def make(what: str | list[Commit], **options: str) -> pathlib.Path:
        commits = [Commit(what)] if isinstance(what, str) else what
        return write_table(tmp_path / f"table{next(numbers)}", commits, **options)

    return make


@pytest.fixture
def lab(tidemark: Program, kafka: KafkaCluster, tmp_path: pathlib.Path) -> Iterator:
    from serve_lab import Lab

    made = Lab(tidemark, kafka, tmp_path)
    yield made
    made.close()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A name for this test's topic, which does not exist yet."""
    name = "".join(c if c.isalnum() else "-" for c in request.node.name)
    return name[:200]
