"""What a configuration takes from the environment is never printed, whichever key it stands under
and whatever is wrong with it."""

from __future__ import annotations

import concurrent.futures
import copy
import pathlib
import re
from collections.abc import Callable, Iterator

import pytest
import yaml

from free_ports import free_ports
from kafka_cluster import HOST
from program import USAGE, Program

MakeTable = Callable[..., pathlib.Path]
Path = tuple  # of keys and indexes that lead to a scalar

_SECRET = "5ecret-w0rd"
# What the reports are about: they name it when the configuration is accepted.
_NAMES = {"name", "table", "topic", "labels"}


def full_config(table: pathlib.Path, dead: str) -> dict:
    """Every key there is, with values that are accepted; no server answers."""
    return {
        "clusters": {
            "main": {
                "bootstrap_servers": dead,
                "client": "auto",
                "record_access": "auto",
                "properties": {
                    "security.protocol": "SASL_PLAINTEXT",
                    "sasl.mechanism": "PLAIN",
                    "sasl.username": "somebody",
                    "sasl.password": "something",
                    "client.id": "watch",
                },
            }
        },
        "stores": {
            "lake": {
                "match": "s3://*",
                "endpoint": f"http://{dead}",
                "region": "eu-west-1",
                "anonymous": "true",
                "path_style": "true",
                "credentials_file": "key.json",
                "account_key": "YQ==",
                "sas_token": "sv=1&sig=x",
            },
            "azure": {"match": "abfss://*", "account_key": "YQ=="},
        },
        "defaults": {
            "sla_minutes": {"streaming": "60", "batch": "1440"},
            "max_commit_depth": "100",
            "lag_cap": "7d",
            "interval": "60s",
            "objective": "99",
            "retention_margin": "6h",
        },
        "pipelines": [
            {
                "name": "orders",
                "table": str(table),
                "cluster": "main",
                "topic": "t",
                "mode": "streaming",
                "slaInMinutes": "30",
                "isolation": "read_uncommitted",
                "labels": {"team": "payments"},
                "maintenance": ["Sat 02:00-04:00 Europe/Berlin"],
                "disabled": "false",
                "lag_cap": "7d",
                "interval": "60s",
                "objective": "99.9",
                "retention_margin": "12h",
                "max_commit_depth": "100",
            },
            {"name": "clicks", "table": "s3://lake/clicks", "sla": "30m"},
            {"include": "more.yaml"},
        ],
        **daemon_sections(dead),
    }


def daemon_sections(dead: str) -> dict:
    """What `serve` alone reads, and `doctor` asks about."""
    series = {"partitions": "false", "kafka_lag_exporter_names": "false", "interval": "60s", "timeout": "1s"}
    url = f"http://{dead}/services/path?key=of-it"
    headers = {"X-Token": "of-nobody"}
    sink = {"name": "sink", "tables": ["*"]}
    return {
        "http": {"listen": "127.0.0.1:0"},
        "state": {"url": f"postgresql://somebody:something@{dead}/db", "history": {"raw": "48h", "points": "30d"}},
        "exporters": [
            {"prometheus": {"partitions": "false", "kafka_lag_exporter_names": "false"}},
            {"textfile": {"name": "text", "path": "t.prom", **series}},
            {"pushgateway": {"url": url, "job": "j", "grouping": {"instance": "i"}, "headers": headers, **series}},
            {"otlp": {"endpoint": url, "headers": headers, "resource": {"env": "prod"}, "encoding": "json", **series}},
            {
                "statsd": {
                    "address": dead,
                    "dialect": "dogstatsd",
                    "prefix": "p",
                    "tags": {"env": "prod"},
                    "datagram_bytes_max": "1432",
                    **series,
                }
            },
            {"emf": {"path": "emf.json", "namespace": "n", **series}},
            {"sources": {"path": "sources.json", "interval": "60s", "timeout": "1s"}},
            {
                "webhook": {
                    "name": "hook",
                    "url": url,
                    "headers": headers,
                    "statuses": ["breach"],
                    "give_up_after": "1h",
                    "timeout": "1s",
                }
            },
        ],
        "coordination": {
            "group": "freshness",
            "cluster": "main",
            "topic": "t",
            "create_topic": "false",
            "session_timeout": "30s",
        },
        "wake_ups": {
            "sqs": [
                {
                    "name": "queue",
                    "queue_url": f"http://{dead}/123456789012/queue",
                    "endpoint": f"http://{dead}",
                    "region": "eu-west-1",
                    "match": "s3://lake*",
                }
            ]
        },
        "feed": {"cluster": "main", "tables": ["s3://lake/clicks"]},
        "mirror": {
            "cluster": "main",
            "tables": ["*"],
            "sinks": [
                {"trino": {"url": f"http://{dead}", "catalog": "lake", "headers": headers, **sink}},
                {"starrocks": {"host": "127.0.0.1", "port": "1", "user": "u", "password": "something", "catalog": "c"}},
                {"webhook": {"name": "changes", "url": url, "headers": headers}},
            ],
        },
    }


def scalars(node: object, path: Path = ()) -> Iterator[Path]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from scalars(value, (*path, key))
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from scalars(value, (*path, index))
    else:
        yield path


def with_value(config: dict, path: Path, change: Callable[[str], str]) -> str:
    config = copy.deepcopy(config)
    node = config
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = change(node[path[-1]])
    return yaml.safe_dump(config)


@pytest.fixture
def config(tmp_path: pathlib.Path, make_table: MakeTable) -> dict:
    (tmp_path / "more.yaml").write_text("[]\n")
    (tmp_path / "key.json").write_text("{}\n")
    (port,) = free_ports(1)
    return full_config(make_table("t,0:1"), f"{HOST}:{port}")


def commands(file: pathlib.Path) -> list[list[object]]:
    common = ["--config", file, "--timeout", "200ms"]
    return [
        ["freshness", *common],
        ["--verbose", "freshness", *common, "--format", "json", "--partitions"],
        ["freshness", *common, "--format", "prometheus"],
        ["freshness", *common, "--format", "sources"],
        ["freshness", *common, "5ecret-w0rds"],
        ["doctor", *common],
        ["doctor", *common, "--format", "json"],
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda value: "${env:SECRET}",
        lambda value: value + "${env:SECRET}",
        lambda value: "${env:SECRET} " + value + " ${env:SECRET}/../?#",
    ],
    ids=["alone", "behind a good value", "around a good value"],
)
def test_no_key_lets_a_secret_out(
    tidemark: Program, tmp_path: pathlib.Path, config: dict, change: Callable[[str], str]
) -> None:
    tasks = []
    for number, path in enumerate(scalars(config)):
        file = tmp_path / f"config{number}.yaml"
        file.write_text(with_value(config, path, change))
        # Of what serve alone reads, the other formats say nothing more.
        told = commands(file)[-3:] if path[0] in daemon_sections("") else commands(file)
        tasks += [(path, command) for command in told]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        runs = list(
            pool.map(lambda task: tidemark(*task[1], env={"SECRET": _SECRET}), tasks)
        )
    refused = 0
    for (path, command), run in zip(tasks, runs, strict=True):
        is_asked_by_name = "5ecret-w0rds" in command
        if _NAMES & set(path) and (run.code != USAGE or is_asked_by_name):
            continue
        shown = (run.out + run.err).replace("5ecret-w0rds", "")
        assert _SECRET not in shown, (path, command, run)
        refused += run.code == USAGE
    assert refused > 0


@pytest.mark.parametrize("password", ["Xk3secretpart/tail9", "50%secretpart", "a:secretpart?b", "a b=secretpart"])
def test_no_part_of_a_password_comes_out_of_a_url_that_it_breaks(
    tidemark: Program, tmp_path: pathlib.Path, config: dict, password: str
) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text(with_value(config, ("state", "url"), lambda url: url.replace("something", "${env:SECRET}")))
    run = tidemark("doctor", "--config", file, "--timeout", "1s", env={"SECRET": password})
    assert "secretpart" not in run.out + run.err, run
    assert "state" in run.out + run.err, run


def test_the_configuration_of_this_test_has_every_key_there_is(
    tidemark: Program, tmp_path: pathlib.Path, config: dict
) -> None:
    file = tmp_path / "tidemark.yaml"
    for path in [("clusters", "main"), ("stores", "lake"), ("defaults",), ("pipelines", 0)]:
        asked = copy.deepcopy(config)
        node = asked
        for key in path:
            node = node[key]
        node["zzzzzzzzzzzz"] = 1
        file.write_text(yaml.safe_dump(asked))
        run = tidemark("freshness", "--config", file)
        known = re.search(r"unknown key 'zzzzzzzzzzzz' \(known: (.*)\)", run.err)
        assert known, run
        # `sla` and `slaInMinutes` exclude each other: one of them is in the second pipeline.
        told = set(node)
        if path[0] == "stores":  # each kind of store has keys of its own
            told = set().union(*config["stores"].values())
        missing = set(known[1].split(", ")) - told - {"sla"}
        assert not missing, path


def test_a_secret_file_that_cannot_be_read_is_named_and_says_why(
    tidemark: Program, tmp_path: pathlib.Path, config: dict
) -> None:
    file = tmp_path / "tidemark.yaml"
    path = ("clusters", "main", "properties", "sasl.password")
    file.write_text(with_value(config, path, lambda value: "${file:password}"))
    run = tidemark("freshness", "--config", file)
    assert run.code == USAGE
    assert "password' cannot be read: No such file or directory" in run.err
