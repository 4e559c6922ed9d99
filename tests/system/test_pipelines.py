"""Several pipelines from a configuration file against a real broker: each decided on its own, in
every output format, with one exit code for all."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import pathlib
import signal
import socket
import textwrap
import threading
import time
from collections.abc import Callable, Iterator

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from free_ports import free_ports
from kafka_cluster import HOST, KafkaCluster, Record, now_ms
from program import BREACH, HEALTHY, UNKNOWN, UNREACHABLE, USAGE, WARNING, Program, Run
from truth import check_lag

MINUTE = 60_000
MakeTable = Callable[..., pathlib.Path]

# Age of the one waiting record in minutes, by pipeline; nothing waits where there is None.
_AGES = {"calm": None, "nearly": 24, "late": 45}
_SLA_MINUTES = 30


@dataclasses.dataclass
class Lake:
    """Tables and topics of the pipelines; the same for all tests of the file."""

    tables: dict[str, pathlib.Path]
    stamps: dict[str, int]
    bootstrap: str
    dead: str  # an address nobody listens on

    def config(self, *names: str, **sections: object) -> str:
        """YAML with the named pipelines; "dead" is one whose cluster is not there."""
        pipelines = []
        for name in names:
            on = "gone" if name == "dead" else "main"
            table = str(self.tables.get(name, self.tables["calm"]))
            pipelines.append(
                {"name": name, "table": table, "cluster": on, "slaInMinutes": _SLA_MINUTES}
            )
        clusters = {
            "main": {"bootstrap_servers": self.bootstrap},
            "gone": {"bootstrap_servers": self.dead},
        }
        return yaml.safe_dump({"clusters": clusters, "pipelines": pipelines, **sections})


@pytest.fixture(scope="module")
def lake(kafka: KafkaCluster, tmp_path_factory: pytest.TempPathFactory) -> Lake:
    from hudi_table import Commit, write_table

    folder = tmp_path_factory.mktemp("lake")
    now = now_ms()
    tables, stamps = {}, {}
    for name, age in _AGES.items():
        kafka.create_topic(name)
        stamps[name] = now - (age or 90) * MINUTE
        kafka.produce(name, [Record(0, stamps[name])])
        committed = 1 if age is None else 0
        tables[name] = write_table(folder / name, [Commit(f"{name},0:{committed}")])
    (port,) = free_ports(1)
    return Lake(tables, stamps, kafka.bootstrap(), f"{HOST}:{port}")


@pytest.fixture
def freshness(tidemark: Program, tmp_path: pathlib.Path) -> Callable[..., Run]:
    """`freshness(yaml_text, *flags)`"""

    def run(config: str, *flags: str, env: dict[str, str] | None = None) -> Run:
        file = tmp_path / "tidemark.yaml"
        file.write_text(config)
        return tidemark("freshness", "--config", file, *flags, env=env)

    return run


Freshness = Callable[..., Run]


# --- each on its own ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["calm"], HEALTHY),
        (["calm", "nearly"], WARNING),
        (["calm", "nearly", "late"], BREACH),
        (["calm", "dead"], UNKNOWN),
        (["nearly", "dead"], UNKNOWN),
        (["late", "dead"], BREACH),
        (["dead"], UNREACHABLE),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else str(value),
)
def test_the_gravest_pipeline_gives_the_exit_code(
    lake: Lake, freshness: Freshness, names: list[str], code: int
) -> None:
    run = freshness(lake.config(*names), "--format", "json", "--timeout", "3s")
    assert run.code == code
    assert list(run.pipelines) == names


def test_a_dead_cluster_leaves_the_pipelines_of_the_others_decided(
    lake: Lake, freshness: Freshness
) -> None:
    run = freshness(lake.config("dead", "late", "calm"), "--format", "json", "--timeout", "3s")
    dead, late, calm = (run.pipelines[name] for name in ("dead", "late", "calm"))
    assert (dead["status"], dead["reason"]) == ("unknown", "cluster_unreachable")
    assert dead["lag_seconds"] is None
    assert dead["checkpoint"]["value"] == "calm,0:1"
    assert (late["status"], calm["status"]) == ("breach", "fresh")
    check_lag(late["lag_seconds"], lake.stamps["late"], run)
    assert abs(late["sla_ratio"] - late["lag_seconds"] / (_SLA_MINUTES * 60)) < 1e-3
    assert run.seconds < 6


def test_only_the_pipelines_that_are_named_are_looked_at(lake: Lake, freshness: Freshness) -> None:
    run = freshness(lake.config("calm", "nearly", "dead"), "calm", "--format", "json")
    assert list(run.pipelines) == ["calm"]
    assert run.code == HEALTHY


def test_a_pipeline_that_is_not_there_is_a_mistake_with_a_proposal(
    lake: Lake, freshness: Freshness
) -> None:
    run = freshness(lake.config("calm", "nearly"), "clam")
    assert run.code == USAGE
    assert "clam" in run.err and "calm" in run.err
    assert run.out == ""


def test_an_unreadable_table_leaves_the_other_pipelines_decided(
    lake: Lake, freshness: Freshness, tmp_path: pathlib.Path
) -> None:
    spoilt = dataclasses.replace(lake, tables={**lake.tables, "spoilt": tmp_path / "nowhere"})
    run = freshness(spoilt.config("spoilt", "nearly"), "--format", "json")
    assert run.pipelines["spoilt"]["reason"] == "table_unreadable"
    assert run.pipelines["spoilt"]["status"] == "unknown"
    assert run.pipelines["nearly"]["status"] == "warning"
    assert run.code == UNKNOWN


def test_two_pipelines_that_read_one_topic_from_different_offsets_do_not_mix(
    kafka: KafkaCluster, lake: Lake, freshness: Freshness, make_table: MakeTable
) -> None:
    kafka.create_topic("shared")
    now = now_ms()
    kafka.produce("shared", [Record(0, now - 50 * MINUTE), Record(0, now - 20 * MINUTE)])
    tables = {**lake.tables, "first": make_table("shared,0:0"), "second": make_table("shared,0:1")}
    run = freshness(
        dataclasses.replace(lake, tables=tables).config("first", "second"), "--format", "json"
    )
    check_lag(run.pipelines["first"]["lag_seconds"], now - 50 * MINUTE, run)
    check_lag(run.pipelines["second"]["lag_seconds"], now - 20 * MINUTE, run)
    assert run.code == BREACH


def test_a_disabled_pipeline_raises_no_alarm(lake: Lake, freshness: Freshness) -> None:
    config = yaml.safe_load(lake.config("late"))
    config["pipelines"][0]["disabled"] = True
    run = freshness(yaml.safe_dump(config), "--format", "json")
    assert run.pipelines["late"]["status"] == "disabled"
    assert run.code == HEALTHY
    assert "nothing was looked at" in run.err, "0 alone would pass for health"
    both = yaml.safe_load(lake.config("late", "calm"))
    both["pipelines"][0]["disabled"] = True
    run = freshness(yaml.safe_dump(both), "--format", "json")
    assert (run.code, run.err) == (HEALTHY, "")


def test_an_open_maintenance_window_raises_no_alarm_and_says_so(
    lake: Lake, freshness: Freshness
) -> None:
    config = yaml.safe_load(lake.config("late"))
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    config["pipelines"][0]["maintenance"] = [f"{day} 00:00-24:00 UTC" for day in days]
    run = freshness(yaml.safe_dump(config), "--format", "json")
    report = run.pipelines["late"]
    assert (report["status"], report["reason"]) == ("disabled", "maintenance")
    check_lag(report["lag_seconds"], lake.stamps["late"], run)
    assert run.code == HEALTHY


def test_the_lag_cap_caps_the_capped_ratio_only(lake: Lake, freshness: Freshness) -> None:
    config = lake.config("late", defaults={"lag_cap": "10m"})
    run = freshness(config, "--format", "json")
    report = run.pipelines["late"]
    check_lag(report["lag_seconds"], lake.stamps["late"], run)
    assert report["sla_ratio"] > 1.4
    assert abs(report["sla_ratio_capped"] - 10 / _SLA_MINUTES) < 1e-6


def test_labels_defaults_and_included_files_are_applied(
    lake: Lake, freshness: Freshness, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "more").mkdir()
    more = [
        {"name": "nightly", "table": str(lake.tables["late"]), "cluster": "main", "mode": "batch"},
    ]
    (tmp_path / "more" / "a.yaml").write_text(yaml.safe_dump(more))
    config = yaml.safe_load(lake.config("calm", defaults={"sla_minutes": {"batch": 720}}))
    config["pipelines"][0]["labels"] = {"team": "payments"}
    config["pipelines"].append({"include": "more/*.yaml"})
    run = freshness(yaml.safe_dump(config), "--format", "json")
    assert run.pipelines["calm"]["labels"] == {"team": "payments"}
    nightly = run.pipelines["nightly"]
    assert (nightly["mode"], nightly["sla_seconds"]) == ("batch", 720 * 60)
    assert nightly["status"] == "fresh"


# --- formats ------------------------------------------------------------------------------------


def test_the_prometheus_format_is_read_by_prometheus_own_parser_and_says_the_same(
    lake: Lake, freshness: Freshness
) -> None:
    config = yaml.safe_load(lake.config("calm", "late", "dead"))
    config["pipelines"][1]["labels"] = {"team": 'a "quoted\\ name'}
    run = freshness(yaml.safe_dump(config), "--format", "prometheus", "--timeout", "3s")
    assert run.code == BREACH
    families = {family.name: family for family in text_string_to_metric_families(run.out)}
    assert all(family.documentation for family in families.values())

    def samples(name: str) -> dict[str, float]:
        return {
            each.labels["pipeline"]: each.value
            for each in families[f"tidemark_freshness_{name}"].samples
        }

    lag = samples("lag_seconds")
    check_lag(lag["late"], lake.stamps["late"], run)
    assert lag["calm"] == 0
    assert "dead" not in lag, run  # unknown is no sample, never a number
    assert "dead" not in samples("sla_ratio")
    assert samples("sla_seconds")["late"] == _SLA_MINUTES * 60
    assert (samples("breach")["late"], samples("breach")["calm"]) == (1, 0)
    for family in families.values():
        for sample in family.samples:
            assert sample.value == sample.value, run  # not NaN
            assert sample.labels.get("pipeline", "") in ("calm", "late", "dead")
    teams = {each.labels.get("team") for each in families["tidemark_freshness_lag_seconds"].samples}
    assert 'a "quoted\\ name' in teams
    status = families["tidemark_freshness_status"].samples
    (dead,) = [s for s in status if s.labels["pipeline"] == "dead" and s.value == 1]
    assert dead.labels["status"] == "unknown"


def test_the_sources_format_is_what_dbt_calls_sources_json(
    lake: Lake, freshness: Freshness
) -> None:
    run = freshness(lake.config("calm", "nearly", "late", "dead"), "--format", "sources", "--timeout", "3s")
    found = run.json
    assert "sources" in found["metadata"]["dbt_schema_version"]
    assert found["elapsed_time"] >= 0
    by_name = {each["unique_id"].rsplit(".", 1)[-1]: each for each in found["results"]}
    assert sorted(by_name) == ["calm", "dead", "late", "nearly"]
    assert by_name["calm"]["status"] == "pass"
    assert by_name["nearly"]["status"] == "warn"
    assert by_name["late"]["status"] == "error"
    assert by_name["dead"]["status"] == "runtime error"
    check_lag(by_name["late"]["max_loaded_at_time_ago_in_s"], lake.stamps["late"], run)


def test_the_table_format_is_aligned_and_uncoloured_when_nobody_watches(
    lake: Lake, freshness: Freshness
) -> None:
    for env in ({}, {"NO_COLOR": "1"}, {"TERM": "xterm-256color"}):
        run = freshness(lake.config("calm", "nearly", "late"), env=env)
        assert "\x1b" not in run.out + run.err
        lines = run.out.splitlines()
        for name, word in {"calm": "fresh", "nearly": "warning", "late": "breach"}.items():
            (line,) = [each for each in lines if each.split()[:1] == [name]]
            assert word in line.lower()
        assert all(line == line.rstrip() for line in lines)
        assert run.code == BREACH


def test_json_keys_and_times_are_as_the_contract_says(lake: Lake, freshness: Freshness) -> None:
    run = freshness(lake.config("late"), "--format", "json", "--partitions")
    report = run.json
    assert list(report) == ["schema", "generated_at", "duration_seconds", "pipelines"]
    assert report["generated_at"][19] == "." and report["generated_at"].endswith("Z")
    assert len(report["generated_at"]) == 24
    wanted = (
        "pipeline table mode labels status reason message lag_seconds lag_is_lower_bound "
        "sla_seconds sla_ratio sla_ratio_capped checkpoint partitions oldest uncommitted_records "
        "lost_records retention_margin_records retention_margin_seconds clock_skew_seconds "
        "partition_detail"
    ).split()
    shown = list(report["pipelines"][0])
    assert [key for key in shown if key in wanted] == wanted
    assert "partition_detail" not in freshness(lake.config("late"), "--format", "json").pipeline


# --- secrets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["table", "json", "prometheus", "sources"])
def test_a_password_from_the_environment_or_a_file_is_never_printed(
    lake: Lake, freshness: Freshness, tmp_path: pathlib.Path, output: str
) -> None:
    secrets = {"first-5ecret-w0rd", "second-5ecret-w0rd"}
    (tmp_path / "password").write_text("second-5ecret-w0rd\n")
    config = yaml.safe_load(lake.config("calm", "dead"))
    for cluster, source in (("main", "${env:LAB_PASSWORD}"), ("gone", f"${{file:{tmp_path}/password}}")):
        config["clusters"][cluster]["properties"] = {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "somebody",
            "sasl.password": source,
        }
    run = freshness(
        yaml.safe_dump(config), "--format", output, "--timeout", "2s",
        env={"LAB_PASSWORD": "first-5ecret-w0rd"},
    )  # fmt: skip
    # The plain listener does not know what to make of a login: both are unknown.
    assert run.code in (UNKNOWN, UNREACHABLE)
    assert run.out
    assert not [word for word in secrets if word in run.out + run.err]


def test_a_secret_in_a_wrong_place_of_the_configuration_is_not_repeated(
    lake: Lake, freshness: Freshness
) -> None:
    config = yaml.safe_load(lake.config("calm"))
    config["clusters"]["main"]["properties"] = {"sasl.pasword": "5ecret-w0rd"}
    run = freshness(yaml.safe_dump(config))
    assert run.code == USAGE
    assert "sasl.pasword" in run.err
    assert "5ecret-w0rd" not in run.out + run.err


# --- mistakes -------------------------------------------------------------------------------------


def test_every_mistake_of_a_configuration_is_told_at_once_with_its_place(
    freshness: Freshness, tmp_path: pathlib.Path
) -> None:
    config = textwrap.dedent(
        """\
        clusters:
          main: { bootstrap_servers: "broker:9092", properties: { security.protocl: SSL } }
        pipelines:
          - name: orders
            table: /lake/orders
            clusterr: main
            slaInMinutes: soon
          - name: orders
            table: ${env:NOT_SET_ANYWHERE}
            cluster: main
            mode: streeming
        """
    )
    run = freshness(config)
    assert run.code == USAGE
    assert run.out == ""
    file = tmp_path / "tidemark.yaml"
    for line, words in {
        2: ["security.protocl"],
        6: ["clusterr", "cluster"],
        7: ["slaInMinutes"],
        8: ["orders"],
        9: ["NOT_SET_ANYWHERE"],
        11: ["streaming", "batch"],
    }.items():
        told = [each for each in run.err.splitlines() if each.startswith(f"{file}:{line}:")]
        assert told, f"nothing about line {line}"
        assert not [word for word in words if word not in " ".join(told)]
    lines = [int(each.split(":")[1]) for each in run.err.splitlines() if each.startswith(f"{file}:")]
    assert lines == sorted(set(lines)), "in the order of the file, and each mistake once"


@pytest.mark.parametrize(
    ("properties", "named"),
    [
        ({"security.protocol": "SASL_SSL", "sasl.mechanisms": "NTLM"}, "sasl.mechanisms"),
        ({"security.protocol": "SSL", "ssl.ca.location": "/no/such/ca.pem"}, "/no/such/ca.pem"),
        ({"security.protocol": "SSL", "ssl.ca.pem": "5ecret-w0rd"}, "ssl.ca.pem"),
    ],
    ids=["mechanism", "missing file", "broken PEM"],
)
def test_properties_that_do_not_fit_are_a_mistake_of_their_cluster_whatever_the_others_say(
    lake: Lake, freshness: Freshness, tidemark: Program, tmp_path: pathlib.Path,
    properties: dict[str, str], named: str,
) -> None:  # fmt: skip
    config = yaml.safe_load(lake.config("late", "dead"))
    config["clusters"]["gone"]["properties"] = properties
    run = freshness(yaml.safe_dump(config), "--format", "json")
    assert run.code == USAGE
    told = [line for line in run.err.splitlines() if "'gone'" in line and named in line]
    assert len(told) == 1
    late, odd = run.pipelines["late"], run.pipelines["dead"]
    check_lag(late["lag_seconds"], lake.stamps["late"], run)
    assert odd["status"] == "unknown"
    assert named in odd["message"]
    assert "5ecret-w0rd" not in run.out + run.err

    examined = tidemark("doctor", "--config", tmp_path / "tidemark.yaml")
    assert examined.code == USAGE
    # A file that is missing is found while the configuration is read, and has a place there.
    told = [line for line in (examined.out + examined.err).splitlines() if named in line]
    assert told and ("'gone'" in examined.out or ": clusters.gone.properties.ssl.ca.location: " in told[0])
    assert "5ecret-w0rd" not in examined.out + examined.err


@pytest.mark.parametrize(
    "config",
    ["", "pipelines: []\n", "- a list\n", "clusters: [\n", "pipelines: 3\n", "\x00\xff", "a: b\n"],
    ids=["empty", "no pipelines", "list", "torn", "number", "binary", "unknown key"],
)
def test_a_configuration_of_another_shape_is_an_answer_not_a_crash(
    freshness: Freshness, config: str
) -> None:
    run = freshness(config)
    assert run.code == USAGE, "looking at nothing is not healthy"
    assert run.err


def test_a_configuration_that_is_not_there_is_named(tidemark: Program) -> None:
    run = tidemark("freshness", "--config", "/no/such/tidemark.yaml")
    assert run.code == USAGE
    assert "/no/such/tidemark.yaml" in run.err


# --- the process ----------------------------------------------------------------------------------


def test_two_processes_at_once_do_not_disturb_each_other(
    lake: Lake, tidemark: Program, tmp_path: pathlib.Path, kafka: KafkaCluster
) -> None:
    file = tmp_path / "tidemark.yaml"
    file.write_text(lake.config("calm", "nearly", "late"))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(tidemark, "freshness", "--config", file, "--format", "json")
            for _ in range(4)
        ]
        runs = [job.result() for job in jobs]
    for run in runs:
        assert run.code == BREACH
        check_lag(run.pipelines["late"]["lag_seconds"], lake.stamps["late"], run)
    assert kafka.groups() == set()


def test_a_reader_that_goes_away_does_not_make_it_crash(
    lake: Lake, tidemark: Program, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "tidemark.yaml"
    # More output than a pipe holds.
    config = yaml.safe_load(lake.config("calm"))
    config["pipelines"] = [{**config["pipelines"][0], "name": f"calm{n}"} for n in range(300)]
    file.write_text(yaml.safe_dump(config))
    process = tidemark.start("freshness", "--config", file, "--format", "json")
    assert process.stdout.read(1) == b"{"
    process.stdout.close()
    err = process.stderr.read().decode()
    assert process.wait(30) in (HEALTHY, BREACH), err
    assert err == "", err


@pytest.fixture
def mute_port() -> Iterator[int]:
    """Accepts connections and never answers."""
    with socket.create_server((HOST, 0)) as listener:
        held: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    held.append(listener.accept()[0])
                except OSError:
                    return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        for each in held:
            each.close()


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM], ids=lambda sent: sent.name)
def test_an_interrupt_ends_a_waiting_run_at_once_and_prints_no_half_report(
    lake: Lake, tidemark: Program, mute_port: int, sent: signal.Signals
) -> None:
    process = tidemark.start(
        "freshness", "--table", lake.tables["calm"], "--bootstrap", f"{HOST}:{mute_port}",
        "--format", "json", "--timeout", "60s",
    )  # fmt: skip
    time.sleep(1.0)  # it has to be waiting for the broker by then; there is nothing to poll
    assert process.poll() is None
    begin = time.monotonic()
    process.send_signal(sent)
    out, err = process.communicate(timeout=30)
    assert time.monotonic() - begin < 3
    assert process.returncode in (128 + sent, 130), (process.returncode, err)
    assert out == b"", out


def test_a_broker_that_accepts_and_never_answers_costs_the_deadline_and_no_more(
    lake: Lake, tidemark: Program, mute_port: int
) -> None:
    run = tidemark(
        "freshness", "--table", lake.tables["calm"], "--bootstrap", f"{HOST}:{mute_port}",
        "--format", "json", "--timeout", "2s",
    )  # fmt: skip
    assert run.pipeline["status"] == "unknown"
    assert run.pipeline["reason"] in ("cluster_unreachable", "timeout")
    assert run.code == UNREACHABLE
    assert run.seconds < 6
