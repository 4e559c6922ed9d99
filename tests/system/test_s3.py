"""Tables in an object store: an S3 server that is not ours checks every signature."""

from __future__ import annotations

import datetime
import json
import pathlib

import pytest

import truth
from hudi_table import Commit, instant_of, write_table
from kafka_cluster import KafkaCluster
from program import HEALTHY, UNREADABLE, UNREACHABLE, USAGE, Program, Run
from s3_server import BUCKET, REGION, Credentials, FaultProxy, S3Server
from stored_tables import load_table

# Both layouts of the timeline, and a table whose checkpoint is in the archive only.
_STORED = ["fresh_a1_cow_streamer", "a01_cow_3syncs_v9", "fresh_a8_archived"]


@pytest.fixture(scope="module")
def uris(s3: S3Server) -> dict[str, str]:
    return {name: s3.upload(load_table(name).folder, f"warehouse/{name}") for name in _STORED}


def read_checkpoint(tidemark: Program, uri: str, env: dict[str, str], *flags: str) -> Run:
    return tidemark("checkpoint", uri, "--format", "json", *flags, env=env)


def check_complaint(run: Run, code: int, *words: str) -> None:
    """Ended by itself, said nothing that could be taken for an answer, and named the trouble."""
    assert run.code == code
    assert run.out == ""
    assert run.err.startswith("tidemark: ")
    for word in words:
        assert word.lower() in run.err.lower()


@pytest.mark.parametrize("name", _STORED)
def test_a_table_in_the_store_reads_as_it_does_on_disk(
    s3: S3Server, uris: dict[str, str], tidemark: Program, name: str
) -> None:
    for command in (["checkpoint"], ["timeline"], ["timeline", "--archived"]):
        stored = tidemark(*command, uris[name], "--format", "json", env=s3.environment())
        local = tidemark(*command, load_table(name).folder, "--format", "json")
        assert (stored.code, local.code) == (HEALTHY, HEALTHY)
        assert {**stored.json, "table": ""} == {**local.json, "table": ""}
    assert not [line for line in s3.names() if not line.startswith("warehouse/")]


def test_freshness_of_a_table_in_the_store_is_exact(
    s3: S3Server, uris: dict[str, str], kafka: KafkaCluster, tidemark: Program
) -> None:
    name = "a01_cow_3syncs_v9"
    table = load_table(name)
    topic, committed = truth.parse_checkpoint(table.checkpoint)
    kafka.create_topic(topic, table.partition_count)
    kafka.produce(topic, table.records)
    before = s3.names()

    run = tidemark(
        "freshness", "--table", uris[name], "--bootstrap", kafka.bootstrap(),
        "--format", "json", "--partitions", env=s3.environment(),
    )  # fmt: skip

    logs = table.logs()
    truth.check_pipeline(run, topic, {n: truth.of_log(committed[n], logs[n]) for n in logs})
    assert s3.names() == before


def test_a_table_without_a_trailing_or_with_one_slash_is_the_same(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    uri = uris["fresh_a1_cow_streamer"]
    found = [read_checkpoint(tidemark, each, s3.environment()) for each in (uri, uri + "/")]
    assert [run.code for run in found] == [HEALTHY, HEALTHY]
    assert found[0].json["value"] == found[1].json["value"]


def test_a_name_with_any_characters_is_found(s3: S3Server, tidemark: Program) -> None:
    folder = "ware house/dt=2024-01-01/a+b&c/ä%20~'(x)!*,;:@$"
    uri = s3.upload(load_table("fresh_a1_cow_streamer").folder, folder)
    run = read_checkpoint(tidemark, uri, s3.environment())
    assert run.code == HEALTHY
    assert run.json["value"] == load_table("fresh_a1_cow_streamer").checkpoint


def test_a_timeline_of_several_pages_is_read_to_its_end(
    s3: S3Server, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    count = 380  # three files each: more than the thousand names of a page
    start = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    instants = [instant_of(start + datetime.timedelta(minutes=n)) for n in range(count)]
    commits = [Commit("t,0:7" if n == 0 else None, instant=each) for n, each in enumerate(instants)]
    uri = s3.upload(write_table(tmp_path / "t", commits), "pages")
    listed = tidemark("timeline", uri, "--format", "json", env=s3.environment())
    assert [each["requested"] for each in listed.json["instants"]] == instants
    found = read_checkpoint(tidemark, uri, s3.environment(), "--max-commit-depth", "1000")
    assert (found.json["value"], found.json["commit_depth"]) == ("t,0:7", count - 1)


def test_temporary_credentials_bring_their_session_token(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    env = s3.environment(s3.session)
    assert "AWS_SESSION_TOKEN" in env
    assert read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env).code == HEALTHY
    env["AWS_SESSION_TOKEN"] = "another"
    run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env)
    check_complaint(run, UNREACHABLE)


def test_credentials_from_the_shared_file_are_used(
    s3: S3Server, uris: dict[str, str], tidemark: Program, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "credentials"
    file.write_text(
        "[default]\naws_access_key_id = AKIAWRONG\naws_secret_access_key = wrong\n"
        f"[lab]\naws_access_key_id = {s3.reader.key_id}\n"
        f"aws_secret_access_key = {s3.reader.secret}\n"
    )
    env = {
        name: word for name, word in s3.environment().items() if not name.startswith("AWS_ACCESS")
    }
    del env["AWS_SECRET_ACCESS_KEY"]
    env |= {"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "lab"}
    run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env)
    assert run.code == HEALTHY


@pytest.mark.parametrize("way", ["role", "role of a program", "program"])
def test_a_profile_gets_its_credentials_as_awscli_would(
    s3: S3Server, uris: dict[str, str], tidemark: Program, tmp_path: pathlib.Path, way: str
) -> None:
    (tmp_path / "keys.json").write_text(
        json.dumps({"Version": 1, "AccessKeyId": s3.reader.key_id, "SecretAccessKey": s3.reader.secret})
    )
    program = f"credential_process = /bin/cat '{tmp_path}/keys.json'\n"
    keys = f"aws_access_key_id = {s3.reader.key_id}\naws_secret_access_key = {s3.reader.secret}\n"
    config = {
        "role": f"[default]\nrole_arn = {s3.role}\nsource_profile = base\n[profile base]\n{keys}",
        "role of a program": f"[default]\nrole_arn = {s3.role}\nsource_profile = base\n[profile base]\n{program}",
        "program": f"[default]\n{program}",
    }[way]
    (tmp_path / "config").write_text(config)
    env = {"AWS_ENDPOINT_URL": s3.endpoint, "AWS_REGION": REGION, "AWS_CONFIG_FILE": str(tmp_path / "config")}
    assert read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env).code == HEALTHY
    (tmp_path / "config").write_text(config.replace(s3.reader.secret, "5ecret-w0rd").replace("keys.json", "no.json"))
    run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env)
    check_complaint(run, UNREACHABLE, "profile=base" if way == "role of a program" else "profile=default")
    assert "5ecret-w0rd" not in run.err


def test_a_default_profile_that_is_passed_over_is_named_when_nothing_is_found(
    s3: S3Server, uris: dict[str, str], tidemark: Program, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "config").write_text("[default]\nsso_session = corp\n")
    env = {"AWS_ENDPOINT_URL": s3.endpoint, "AWS_REGION": REGION, "AWS_CONFIG_FILE": str(tmp_path / "config")}
    run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env)
    check_complaint(run, UNREACHABLE, "no credentials found", "profile=default", "way=sso_session")


def test_missing_credentials_are_told_before_anything_is_asked(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    env = {"AWS_REGION": "eu-west-1"}
    with FaultProxy(s3, lambda number, path: 403) as proxy:
        run = read_checkpoint(
            tidemark, uris["fresh_a1_cow_streamer"], {**env, "AWS_ENDPOINT_URL": proxy.endpoint}
        )
        assert proxy.requests == []
    check_complaint(run, UNREACHABLE, "credentials")


@pytest.mark.parametrize("who", ["unknown key", "wrong secret", "no rights"])
def test_credentials_that_are_refused_are_told_as_such_and_never_shown(
    s3: S3Server, uris: dict[str, str], tidemark: Program, who: str
) -> None:
    used = {
        "unknown key": Credentials("AKIAUNKNOWNKEY", "5ecret-w0rd"),
        "wrong secret": Credentials(s3.reader.key_id, "5ecret-w0rd"),
        "no rights": s3.stranger,
    }[who]
    run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], s3.environment(used))
    check_complaint(run, UNREACHABLE, "fresh_a1_cow_streamer")
    assert used.secret not in run.err


def test_a_missing_bucket_is_named(s3: S3Server, tidemark: Program) -> None:
    run = read_checkpoint(tidemark, "s3://no-such-bucket/t", s3.environment())
    check_complaint(run, UNREADABLE, "no-such-bucket")


def test_a_folder_that_is_no_table_is_named(s3: S3Server, tidemark: Program) -> None:
    run = read_checkpoint(tidemark, f"s3://{BUCKET}/no/such/table", s3.environment())
    check_complaint(run, UNREADABLE, "no/such/table")


def test_a_missing_table_is_unknown_in_a_freshness_report(s3: S3Server, tidemark: Program) -> None:
    run = tidemark(
        "freshness", "--table", f"s3://{BUCKET}/no/such/table", "--bootstrap", "127.0.0.1:1",
        "--format", "json", env=s3.environment(),
    )  # fmt: skip
    report = run.pipeline
    assert (report["status"], report["reason"]) == ("unknown", "table_unreadable")
    assert report["lag_seconds"] is None
    assert run.code == UNREADABLE


def test_a_store_that_is_busy_for_a_moment_is_asked_again(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    with FaultProxy(s3, lambda number, path: 503 if number in (1, 2, 4) else None) as proxy:
        env = {**s3.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}
        run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env)
    assert run.code == HEALTHY
    assert run.json["value"] == load_table("fresh_a1_cow_streamer").checkpoint


def test_a_store_that_stays_busy_is_given_up_and_never_taken_for_an_empty_table(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    with FaultProxy(s3, lambda number, path: 503) as proxy:
        env = {**s3.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}
        run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env, "--timeout", "10s")
        asked = len(proxy.requests)
    check_complaint(run, UNREACHABLE, "503")
    assert 2 <= asked <= 12, "a busy store must be asked again, but not hammered"


@pytest.mark.parametrize("spoilt", ["the listing", "a commit"])
def test_a_table_of_which_a_part_cannot_be_read_is_not_taken_for_the_whole(
    s3: S3Server, uris: dict[str, str], tidemark: Program, spoilt: str
) -> None:
    def rule(_: int, path: str) -> int | None:
        if spoilt == "the listing":
            return 503 if "list-type=2" in path else None
        return 503 if path.split("?")[0].endswith(".commit") else None

    with FaultProxy(s3, rule) as proxy:
        env = {**s3.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}
        run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env, "--timeout", "5s")
    check_complaint(run, UNREACHABLE)


def test_a_store_that_does_not_answer_is_left_at_the_deadline(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    with FaultProxy(s3, lambda number, path: None, delay_seconds=60) as proxy:
        env = {**s3.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}
        run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env, "--timeout", "2s")
    check_complaint(run, UNREACHABLE)
    assert 1.5 < run.seconds < 6


def test_a_slow_store_is_waited_for_within_the_deadline(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    with FaultProxy(s3, lambda number, path: None, delay_seconds=0.3) as proxy:
        env = {**s3.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}
        run = read_checkpoint(tidemark, uris["fresh_a1_cow_streamer"], env)
    assert run.code == HEALTHY


def test_a_store_nobody_serves_is_unreachable(tidemark: Program, s3: S3Server) -> None:
    env = {**s3.environment(), "AWS_ENDPOINT_URL": "http://127.0.0.1:1"}
    run = read_checkpoint(tidemark, f"s3://{BUCKET}/t", env, "--timeout", "3s")
    check_complaint(run, UNREACHABLE, "127.0.0.1:1")
    assert run.seconds < 6


def test_a_bucket_that_answers_elsewhere_is_a_mistake_whichever_command_meets_it(
    s3: S3Server, uris: dict[str, str], tidemark: Program
) -> None:
    with FaultProxy(s3, lambda number, path: 307) as proxy:
        env = {**s3.environment(), "AWS_ENDPOINT_URL": proxy.endpoint}
        table = uris["fresh_a1_cow_streamer"]
        check_complaint(read_checkpoint(tidemark, table, env), USAGE, "region or the endpoint")
        run = tidemark(
            "freshness", "--table", table, "--bootstrap", "127.0.0.1:1", "--format", "json", env=env
        )
    assert run.code == USAGE
    assert "region or the endpoint" in run.err
    assert run.pipeline["reason"] == "table_unreadable"


def test_properties_that_do_not_end_are_refused_without_being_kept(
    s3: S3Server, tidemark: Program
) -> None:
    s3.put("endless/.hoodie/hoodie.properties", b"hoodie.table.name=t\n" + b"#" * (17 << 20))
    run = read_checkpoint(tidemark, f"s3://{BUCKET}/endless", s3.environment())
    check_complaint(run, UNREADABLE, "hoodie.properties", "bytes_max=16777216")
