"""Logging in, encryption and access lists of a real broker: let in where it should be, and a reason
of its own for each way of being kept out. A password is never printed."""

from __future__ import annotations

import contextlib
import pathlib
import socket
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from confluent_kafka.admin import AclOperation

import certificates
from free_ports import free_ports
from kafka_cluster import HOST, PASSWORDS, KafkaCluster, Record, now_ms
from program import BREACH, HEALTHY, UNKNOWN, UNREACHABLE, USAGE, WARNING, Program, Run
from truth import check_partition, check_pipeline, of_log

MINUTE = 60_000
TOPIC = "guarded"
TIMEOUT_SECONDS = 6.0


@pytest.fixture(scope="module")
def guarded(secure_kafka: KafkaCluster) -> Iterator[dict[int, list[int]]]:
    """The topic's stamps by partition: `reader` may read it, `describer` only look at it."""
    secure_kafka.create_topic(TOPIC, 2)
    now = now_ms()
    logs = {0: [now - 40 * MINUTE, now - 30 * MINUTE], 1: [now - 20 * MINUTE]}
    secure_kafka.produce(TOPIC, [Record(n, stamp) for n, when in logs.items() for stamp in when])
    secure_kafka.allow("reader", TOPIC, AclOperation.READ)
    secure_kafka.allow("reader", TOPIC, AclOperation.DESCRIBE)
    secure_kafka.allow("describer", TOPIC, AclOperation.DESCRIBE)
    yield logs
    assert secure_kafka.topics() == {TOPIC}
    assert secure_kafka.groups() == set()


Look = Callable[..., Run]


@pytest.fixture
def look(
    tidemark: Program, secure_kafka: KafkaCluster, make_table: Callable[..., pathlib.Path]
) -> Look:
    """Runs `freshness` on the guarded topic through one listener of the broker."""

    def run(
        listener: str,
        *properties: str,
        checkpoint: str = f"{TOPIC},0:1,1:1",
        bootstrap: str = "",
        flags: Sequence[str] = (),
    ) -> Run:
        words = [word for each in properties for word in ("--property", each)]
        done = tidemark(
            "freshness", "--table", make_table(checkpoint),
            "--bootstrap", bootstrap or secure_kafka.bootstrap(listener),
            "--format", "json", "--partitions", "--timeout", f"{TIMEOUT_SECONDS:g}s", *words, *flags,
        )  # fmt: skip
        for word in PASSWORDS.values():
            assert word not in done.out + done.err
        return done

    return run


def login(user: str, mechanism: str = "PLAIN", password: str | None = None) -> list[str]:
    return [
        "security.protocol=SASL_PLAINTEXT",
        f"sasl.mechanism={mechanism}",
        f"sasl.username={user}",
        f"sasl.password={password or PASSWORDS[user]}",
    ]


def check_refused(run: Run, reason: str, *words: str) -> None:
    """No number; the sentence tells the reader what is wrong."""
    report = run.pipeline
    assert (report["status"], report["reason"]) == ("unknown", reason)
    assert report["lag_seconds"] is None
    assert report["oldest"] is None
    for word in words:
        assert word.lower() in report["message"].lower()


# --- let in -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_who_may_read_gets_the_whole_answer(
    guarded: dict[int, list[int]], look: Look, mechanism: str
) -> None:
    run = look("SASL_PLAINTEXT", *login("reader", mechanism))
    check_pipeline(run, TOPIC, {n: of_log(1, when) for n, when in guarded.items()})


def test_a_broker_with_a_certificate_of_a_known_authority_is_trusted(
    guarded: dict[int, list[int]], look: Look, authority: certificates.Authority
) -> None:
    run = look("SSL", "security.protocol=SSL", f"ssl.ca.location={authority.certificate}")
    check_pipeline(run, TOPIC, {n: of_log(1, when) for n, when in guarded.items()})


def test_a_password_may_travel_through_an_encrypted_connection(
    guarded: dict[int, list[int]], look: Look, authority: certificates.Authority
) -> None:
    run = look(
        "SASL_SSL",
        *login("reader", "SCRAM-SHA-512")[1:],
        "security.protocol=SASL_SSL",
        f"ssl.ca.location={authority.certificate}",
    )
    check_pipeline(run, TOPIC, {n: of_log(1, when) for n, when in guarded.items()})


def test_a_token_is_presented_instead_of_a_password(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look(
        "SASL_PLAINTEXT",
        "security.protocol=SASL_PLAINTEXT",
        "sasl.mechanism=OAUTHBEARER",
        "enable.sasl.oauthbearer.unsecure.jwt=true",
        "sasl.oauthbearer.config=principal=reader",
    )
    check_pipeline(run, TOPIC, {n: of_log(1, when) for n, when in guarded.items()})


# --- kept out by the access list ----------------------------------------------------------------


def test_without_the_describe_right_the_report_is_unknown_for_lack_of_rights(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("SASL_PLAINTEXT", *login("nobody"))
    check_refused(run, "auth", TOPIC)
    assert run.code == UNKNOWN
    assert run.seconds < TIMEOUT_SECONDS


def test_with_describe_alone_the_age_is_estimated_from_look_ups_by_time(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("SASL_PLAINTEXT", *login("describer"))
    report = run.pipeline
    assert (report["status"], report["reason"]) == ("fresh", "ok")
    assert "records were not read" in report["message"]
    lagging, fresh = report["partition_detail"]
    assert (lagging["verdict"], lagging["reason"]) == ("LAGGING", "estimated")
    # The stamp is the highest of its log, so the broker names the record itself.
    assert (lagging["first_uncommitted"], lagging["timestamp_ms"]) == (1, guarded[0][1])
    assert 30 * 60 <= lagging["lag_seconds"] < 30 * 60 + 120
    assert not report["lag_is_lower_bound"]
    check_partition(fresh, of_log(1, guarded[1]), run)
    assert run.code == HEALTHY
    assert run.seconds < TIMEOUT_SECONDS


def test_with_describe_alone_a_breach_is_proved(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("SASL_PLAINTEXT", *login("describer"), flags=["--sla", "10m"])
    assert (run.pipeline["status"], run.pipeline["reason"]) == ("breach", "ok")
    assert run.code == BREACH


def test_what_is_not_to_be_read_is_not_read_though_it_may_be(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("SASL_PLAINTEXT", *login("reader"), flags=["--record-access", "describe"])
    lagging, fresh = run.pipeline["partition_detail"]
    assert (lagging["reason"], lagging["timestamp_ms"]) == ("estimated", guarded[0][1])
    check_partition(fresh, of_log(1, guarded[1]), run)


def test_with_describe_alone_and_no_estimates_wanted_no_age_is_invented(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("SASL_PLAINTEXT", *login("describer"), flags=["--record-access", "fetch"])
    check_refused(run, "auth", "read", TOPIC)
    lagging, fresh = run.pipeline["partition_detail"]
    assert lagging["verdict"] == "UNKNOWN"
    assert (lagging["committed"], lagging["log_start"], lagging["end"]) == (1, 0, 2)
    assert lagging["lag_seconds"] is None
    check_partition(fresh, of_log(1, guarded[1]), run)
    assert run.code == UNKNOWN
    assert run.seconds < TIMEOUT_SECONDS


def test_describe_alone_is_enough_to_prove_that_everything_was_read(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("SASL_PLAINTEXT", *login("describer"), checkpoint=f"{TOPIC},0:2,1:1")
    check_pipeline(run, TOPIC, {0: of_log(2, guarded[0]), 1: of_log(1, guarded[1])})
    assert run.code == HEALTHY


# --- kept out at the door -----------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_wrong_password_is_told_as_such_and_at_once(
    guarded: dict[int, list[int]], look: Look, mechanism: str
) -> None:
    secret = "not-the-5ecret-w0rd"
    run = look("SASL_PLAINTEXT", *login("reader", mechanism, secret))
    check_refused(run, "auth")
    assert secret not in run.out + run.err
    assert run.code == UNKNOWN
    assert run.seconds < TIMEOUT_SECONDS


def test_a_broker_whose_authority_is_not_known_is_not_trusted(
    guarded: dict[int, list[int]], look: Look, tmp_path: pathlib.Path
) -> None:
    stranger = certificates.make_authority(tmp_path, "stranger")
    run = look("SSL", "security.protocol=SSL", f"ssl.ca.location={stranger.certificate}")
    check_refused(run, "auth", "certificate")
    assert run.code == UNKNOWN
    assert run.seconds < TIMEOUT_SECONDS


def test_a_broker_that_shows_the_certificate_of_another_host_is_not_trusted(
    guarded: dict[int, list[int]], look: Look, authority: certificates.Authority
) -> None:
    run = look("MISNAMED", "security.protocol=SSL", f"ssl.ca.location={authority.certificate}")
    check_refused(run, "auth", "certificate")
    assert run.code == UNKNOWN
    assert run.seconds < TIMEOUT_SECONDS


def test_speaking_plainly_to_an_encrypted_port_ends_at_the_deadline_without_a_number(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("SSL")
    check_refused(run, "cluster_unreachable", "security.protocol")
    assert run.code == UNREACHABLE
    assert run.seconds < TIMEOUT_SECONDS + 3


def test_encrypting_towards_a_plain_port_ends_at_the_deadline_without_a_number(
    guarded: dict[int, list[int]], look: Look, authority: certificates.Authority
) -> None:
    run = look("PLAINTEXT", "security.protocol=SSL", f"ssl.ca.location={authority.certificate}")
    check_refused(run, "cluster_unreachable", "no TLS", "security.protocol")
    assert run.code == UNREACHABLE
    assert run.seconds < TIMEOUT_SECONDS + 1


def test_logging_in_where_there_are_no_logins_is_refused_at_once(
    guarded: dict[int, list[int]], look: Look
) -> None:
    run = look("PLAINTEXT", *login("reader"))
    check_refused(run, "auth", "security.protocol")
    assert run.code == UNKNOWN
    assert run.seconds < TIMEOUT_SECONDS


@pytest.mark.parametrize(
    ("listener", "properties", "code"),
    [
        # Somebody is there and says no.
        ("SASL_PLAINTEXT", login("reader", password="not-the-5ecret"), UNKNOWN),
        ("PLAINTEXT", login("reader"), UNKNOWN),
        ("MISNAMED", ["security.protocol=SSL", "ssl.ca.location={ca}"], UNKNOWN),
        # Nobody speaks Kafka there as far as we can tell.
        ("SSL", [], UNREACHABLE),
        ("SASL_PLAINTEXT", [], UNREACHABLE),
        ("PLAINTEXT", ["security.protocol=SSL", "ssl.ca.location={ca}"], UNREACHABLE),
        ("SSL", login("reader"), UNREACHABLE),
        # Nobody was asked.
        ("SSL", ["security.protocol=SSL", "ssl.ca.location=/no/such/ca.pem"], USAGE),
        ("SASL_PLAINTEXT", ["security.protocol=SASL_PLAINTEXT"], USAGE),
    ],
    ids=lambda value: "-".join(value)[:40] if isinstance(value, list) else str(value),
)
def test_doctor_ends_as_freshness_does(
    guarded: dict[int, list[int]],
    tidemark: Program,
    look: Look,
    secure_kafka: KafkaCluster,
    make_table: Callable[..., pathlib.Path],
    authority: certificates.Authority,
    listener: str,
    properties: list[str],
    code: int,
) -> None:
    given = [each.format(ca=authority.certificate) for each in properties]
    run = look(listener, *given)
    assert run.code == code
    flags = [word for each in given for word in ("--property", each)]
    examined = tidemark(
        "doctor", make_table(f"{TOPIC},0:1,1:1"), "--bootstrap", secure_kafka.bootstrap(listener),
        "--timeout", f"{TIMEOUT_SECONDS:g}s", *flags,
    )  # fmt: skip
    assert examined.code == code
    assert "->" in examined.out
    for text in (run.out, examined.out):
        assert "in state" not in text
        assert "suppressed" not in text


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        ([], WARNING, ["not read", "grant READ"]),
        (["--record-access", "describe"], HEALTHY, ["not read", "as record_access asks"]),
        (["--record-access", "fetch"], UNKNOWN, ["grant READ and DESCRIBE"]),
    ],
    ids=["by itself", "as asked", "not wanted"],
)
def test_doctor_tells_what_the_missing_right_to_read_costs(
    guarded: dict[int, list[int]],
    tidemark: Program,
    secure_kafka: KafkaCluster,
    make_table: Callable[..., pathlib.Path],
    flags: list[str],
    code: int,
    words: list[str],
) -> None:
    given = [word for each in login("describer") for word in ("--property", each)]
    run = tidemark(
        "doctor", make_table(f"{TOPIC},0:1,1:1"),
        "--bootstrap", secure_kafka.bootstrap("SASL_PLAINTEXT"), *given, *flags,
    )  # fmt: skip
    assert run.code == code
    for word in words:
        assert word in run.out


def test_properties_that_do_not_fit_together_are_a_mistake_not_a_dead_cluster(look: Look) -> None:
    # The mechanism librdkafka takes when none is named is Kerberos, which needs a library of its own.
    run = look("SASL_PLAINTEXT", "security.protocol=SASL_PLAINTEXT")
    check_refused(run, run.pipeline["reason"], "properties", "sasl.mechanisms")
    assert "sasl.mechanisms" in run.err
    assert run.code == USAGE
    assert run.seconds < TIMEOUT_SECONDS


@pytest.mark.parametrize(
    "words",
    [b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n", b"SSH-2.0-OpenSSH_9.2\r\n"],
    ids=["http", "ssh"],
)
def test_a_server_of_another_kind_is_told_and_no_larger_answers_are_asked_for(
    look: Look, words: bytes
) -> None:
    with socket.create_server((HOST, 0)) as server:

        def answer() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection:
                        connection.recv(1000)
                        connection.sendall(words)

        threading.Thread(target=answer, daemon=True).start()
        run = look("", bootstrap=f"{HOST}:{server.getsockname()[1]}")
    check_refused(run, "cluster_unreachable", "does not speak Kafka's protocol")
    assert "receive.message.max.bytes" not in run.out
    assert run.code == UNREACHABLE


def test_a_port_nobody_listens_on_is_an_unreachable_cluster(look: Look) -> None:
    (port,) = free_ports(1)
    run = look("", bootstrap=f"{HOST}:{port}")
    check_refused(run, "cluster_unreachable", f"{HOST}:{port}")
    assert run.code == UNREACHABLE
    assert run.seconds < TIMEOUT_SECONDS + 3
