"""`tidemark rules`: promtool evaluates the alerts on series that must and must not fire, and the objectives and the
dashboard are held against what Sloth, Pyrra, OpenSLO and Grafana publish."""

from __future__ import annotations

import json
import pathlib
import subprocess
from collections.abc import Callable

import jsonschema
import pytest
import referencing
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from program import USAGE, Program

_SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "testdata/schemas"

CONFIG = """
clusters: { main: { bootstrap_servers: "127.0.0.1:1" } }
defaults: { interval: 60s }
pipelines:
  - { name: orders, table: /t/orders, sla: 30m }
  - { name: payments, table: /t/payments, sla: 30m }
  - { name: history, table: /t/history, mode: batch, interval: 15m, objective: 95 }
  - { name: retired, table: /t/retired, disabled: true }
"""

STATUSES = ("fresh", "warning", "breach", "unknown", "disabled")


@pytest.fixture
def config(tmp_path: pathlib.Path) -> pathlib.Path:
    file = tmp_path / "tidemark.yaml"
    file.write_text(CONFIG)
    return file


@pytest.fixture
def promtool(dependencies: pathlib.Path, tmp_path: pathlib.Path) -> Callable[..., None]:
    tool = dependencies / "prometheus-2.42.0/promtool"
    assert tool.is_file(), f"{tool} is missing: run scripts/bootstrap --tests"

    def run(*arguments: object) -> None:
        done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr

    return run


def made(tidemark: Program, config: pathlib.Path, kind: str, *flags: str) -> str:
    run = tidemark("rules", "--config", config, "--kind", kind, *flags)
    assert run.code == 0, run.err
    assert run.err == ""
    return run.out


# --- Prometheus -------------------------------------------------------------------------------------------------------


def selector(labels: dict[str, str]) -> str:
    return "{" + ",".join(f'{key}="{value}"' for key, value in labels.items()) + "}"


class Fleet:
    """Series of one sample a minute, in promtool's notation. Each pipeline is healthy until told otherwise."""

    def __init__(self, minutes: int) -> None:
        self.minutes = minutes
        self.series: dict[str, str] = {'up{job="tidemark",instance="a"}': self.always(1)}
        for pipeline in ("orders", "payments", "history"):
            self.healthy(pipeline)

    def always(self, value: float) -> str:
        return f"{value}x{self.minutes}"

    @staticmethod
    def name(metric: str, pipeline: str, **labels: str) -> str:
        words = {"cluster": "main", "pipeline": pipeline, "table": f"/t/{pipeline}", **labels}
        return metric + selector(words)

    def put(self, metric: str, pipeline: str, values: str, **labels: str) -> Fleet:
        self.series[self.name("tidemark_freshness_" + metric, pipeline, **labels)] = values
        return self

    def healthy(self, pipeline: str) -> None:
        sla = 86400 if pipeline == "history" else 1800
        self.put("breach", pipeline, self.always(0))
        self.put("sla_seconds", pipeline, self.always(sla))
        self.put("lost_records", pipeline, self.always(0))
        self.put("last_success_timestamp_seconds", pipeline, f"0+60x{self.minutes}")
        self.status(pipeline, [("fresh", self.minutes + 1)])

    def status(self, pipeline: str, runs: list[tuple[str, int]]) -> Fleet:
        """The status of each minute as (status, minutes) after one another."""
        for status in STATUSES:
            words = [f"{int(status == now)}x{count - 1}" for now, count in runs]
            self.put("status", pipeline, " ".join(words), status=status)
        return self

    def breach(self, pipeline: str, runs: list[tuple[int, int]]) -> Fleet:
        """(is a breach, minutes) after one another, and the status that goes with it."""
        self.put("breach", pipeline, " ".join(f"{now}x{count - 1}" for now, count in runs))
        return self.status(pipeline, [("breach" if now else "fresh", count) for now, count in runs])

    def drop(self, pipeline: str) -> Fleet:
        self.series = {name: values for name, values in self.series.items() if f'"{pipeline}"' not in name}
        return self


def fires(fleet: Fleet, expected: dict[int, set[str]]) -> dict:
    """A promtool test: at each minute exactly these alerts fire, as "alert pipeline window"."""
    query = 'sum by (alertname, pipeline, window) (ALERTS{alertstate="firing"})'
    checks = []
    for minute, alerts in expected.items():
        samples = []
        for alert in alerts:
            words = dict(zip(("alertname", "pipeline", "window"), alert.split()))
            samples.append({"labels": selector(words), "value": 1})
        checks.append({"expr": query, "eval_time": f"{minute}m", "exp_samples": samples})
    inputs = [{"series": name, "values": values} for name, values in fleet.series.items()]
    return {"interval": "1m", "input_series": inputs, "promql_expr_test": checks}


def healthy() -> dict:
    return fires(Fleet(120), {0: set(), 30: set(), 120: set()})


def switched_off() -> dict:
    fleet = Fleet(60).status("orders", [("disabled", 61)]).put("breach", "orders", "_x60")
    return fires(fleet.put("last_success_timestamp_seconds", "orders", "_x60"), {60: set()})


def breach_at_the_second_look() -> dict:
    fleet = Fleet(60).breach("orders", [(0, 10), (1, 20), (0, 31)])
    breach = {"TidemarkPipelineBreach orders"}
    return fires(fleet, {11: set(), 12: breach, 29: breach, 30: set()})


def breach_of_a_slow_pipeline() -> dict:
    """Looked at each 15 minutes: one bad look is not told, two are."""
    fleet = Fleet(200).breach("history", [(0, 15), (1, 15), (0, 30), (1, 45), (0, 96)])
    return fires(fleet, {29: set(), 89: set(), 90: {"TidemarkPipelineBreach history"}, 105: set()})


def warning() -> dict:
    fleet = Fleet(60).status("orders", [("fresh", 10), ("warning", 20), ("fresh", 31)])
    return fires(fleet, {11: set(), 12: {"TidemarkPipelineWarning orders"}, 30: set()})


def unknown() -> dict:
    """A broker that comes back within ten minutes is nobody's business; after the SLA it is urgent."""
    fleet = Fleet(90).status("orders", [("fresh", 10), ("unknown", 10), ("fresh", 10), ("unknown", 61)])
    fleet.put("last_success_timestamp_seconds", "orders", "0+60x9 540x9 1200+60x9 1740x60")
    fleet.put("breach", "orders", "0x9 stale _x8 0x9 stale _x59")
    told = {"TidemarkPipelineUnknown orders"}
    return fires(fleet, {19: set(), 39: set(), 40: told, 59: told, 60: told | {"TidemarkPipelineBlind orders"}})


def loss_at_once() -> dict:
    fleet = Fleet(20).put("lost_records", "orders", "0x9 7x4 0x5")
    lost = {"TidemarkRecordsLost orders"}
    return fires(fleet, {9: set(), 10: lost, 14: lost, 15: set()})


def retention_margin() -> dict:
    """Six hours where the SLA is shorter, the SLA where it is longer."""
    fleet = Fleet(40).put("retention_margin_seconds", "orders", "21600x9 21599x9 stale _x19")
    fleet.put("retention_margin_seconds", "payments", "604800x40")
    fleet.put("retention_margin_seconds", "history", "86399x40")
    slow = {"TidemarkRetentionMarginLow history"}
    fast = {"TidemarkRetentionMarginLow orders"}
    return fires(fleet, {9: set(), 11: set(), 12: fast, 19: fast, 20: set(), 29: set(), 30: slow})


def dead_exporter() -> dict:
    """One alert, not one for each pipeline."""
    fleet = Fleet(60)
    fleet.series = {name: f"{values.split('x')[0]}x9 stale _x49" for name, values in fleet.series.items()}
    fleet.series['up{job="tidemark",instance="a"}'] = "1x9 0x50"
    down = {"TidemarkExporterDown"}
    return fires(fleet, {14: set(), 15: down, 60: down})


def no_exporter() -> dict:
    fleet = Fleet(60)
    fleet.series = {name: f"{values.split('x')[0]}x9 stale _x49" for name, values in fleet.series.items()}
    return fires(fleet, {14: set(), 15: {"TidemarkExporterAbsent"}, 60: {"TidemarkExporterAbsent"}})


def receiver_that_takes_nothing() -> dict:
    """One that misses a round or two is nobody's business; neither is one that was never told anything."""
    fleet, name = Fleet(60), 'tidemark_exporter_up{job="tidemark",instance="a",exporter="%s"}'
    fleet.series[name % "otlp"] = "1x9 0x3 1x6 0x19 1x20"
    fleet.series[name % "webhook"] = "_x60"
    fleet.series[name % "textfile"] = fleet.always(1)
    fleet.series['tidemark_exporter_up{job="another",instance="b",exporter="otlp"}'] = fleet.always(0)
    failing = {"TidemarkDeliveryFailing"}
    return fires(fleet, {14: set(), 25: set(), 26: failing, 40: failing, 41: set()})


def absent_pipeline() -> dict:
    return fires(Fleet(30).drop("orders"), {9: set(), 10: {"TidemarkPipelineAbsent orders"}})


def frozen_report() -> dict:
    """A file that is not renewed goes on to say fresh. Five steps and five minutes later it is told."""
    fleet = Fleet(30).put("last_success_timestamp_seconds", "orders", "0+60x10 600x20")
    return fires(fleet, {20: set(), 21: {"TidemarkReportFrozen orders"}})


def fast_burn() -> dict:
    """14.4 % of the last hour are nine samples of 61; what is watched for 70 minutes says nothing of six hours."""
    fleet = Fleet(130).breach("orders", [(0, 70), (1, 10), (0, 51)])
    breach, burn = "TidemarkPipelineBreach orders", "TidemarkErrorBudgetBurn orders 1h"
    return fires(fleet, {77: {breach}, 78: {breach, burn}, 80: {burn}, 84: {burn}, 85: set(), 130: set()})


def slow_burn() -> dict:
    """Four bad minutes each six hours are 1.1 % of three days, and too little for any other window."""
    cycles = 13
    fleet = Fleet(cycles * 360).breach("orders", [(0, 356), (1, 4)] * cycles + [(0, 1)])
    fleet.drop("payments").drop("history")
    burn = {"TidemarkErrorBudgetBurn orders 3d"}
    absent = {"TidemarkPipelineAbsent payments", "TidemarkPipelineAbsent history"}
    end = cycles * 360
    return fires(fleet, {end - 360: burn | absent, end: burn | absent}) | {"evaluation_interval": "10m"}


def no_burn() -> dict:
    """Three bad minutes each six hours are less than 1 %."""
    cycles = 13
    fleet = Fleet(cycles * 360).breach("orders", [(0, 357), (1, 3)] * cycles + [(0, 1)])
    fleet.drop("payments").drop("history")
    absent = {"TidemarkPipelineAbsent payments", "TidemarkPipelineAbsent history"}
    end = cycles * 360
    return fires(fleet, {end - 360: absent, end: absent}) | {"evaluation_interval": "10m"}


def burn_of_a_young_pipeline() -> dict:
    """One bad sample among ten is a tenth of every window, and says nothing about an hour."""
    fleet = Fleet(50).breach("orders", [(0, 10), (1, 2), (0, 39)])
    return fires(fleet, {10: set(), 11: set(), 12: set(), 50: set()})


SCENARIOS = [
    healthy, switched_off, breach_at_the_second_look, breach_of_a_slow_pipeline, warning, unknown, loss_at_once,
    retention_margin, dead_exporter, no_exporter, receiver_that_takes_nothing, absent_pipeline, frozen_report,
    fast_burn, slow_burn, no_burn, burn_of_a_young_pipeline,
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_alerts_fire_when_they_must_and_never_else(
    tidemark: Program, config: pathlib.Path, promtool: Callable[..., None], tmp_path: pathlib.Path, scenario
) -> None:
    (tmp_path / "rules.yaml").write_text(made(tidemark, config, "prometheus"))
    test = scenario()
    every = test.pop("evaluation_interval", "1m")
    whole = {"rule_files": ["rules.yaml"], "evaluation_interval": every, "tests": [test]}
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(whole))
    promtool("test", "rules", "test.yaml")


FEED = """
clusters: { main: { bootstrap_servers: "127.0.0.1:1" } }
feed: { cluster: main, tables: [ "/t/*" ], partitions: 8 }
"""


def feed_series(**changed: str) -> dict[str, str]:
    """One sample a minute of two publishers that share a feed, in which all is well but for what is changed."""
    table = '{table="s3://lake/a",instance="a"}'
    series = {
        'up{job="tidemark",instance="a"}': "1x60",
        'up{job="tidemark",instance="b"}': "1x60",
        'metadata_sync_partitions_held{instance="a"}': "4x60",
        'metadata_sync_partitions_held{instance="b"}': "4x60",
        'metadata_sync_partitions_closed{instance="a"}': "0x60",
        'metadata_sync_tables_parked{instance="a"}': "0x60",
        f"metadata_sync_send_success_rate{table}": "1x60",
        f"metadata_sync_send_latency_p99{table}": "0.2x60",
        f"metadata_sync_unpublished_instants{table}": "0x60",
        f"metadata_sync_oldest_unpublished_seconds{table}": "_x60",
        f"metadata_sync_timeline_check_age_seconds{table}": "1x60",
    }
    for metric, values in changed.items():
        (name,) = [each for each in series if each.startswith(f"metadata_sync_{metric}{{") and 'instance="a"' in each]
        series[name] = values
    return series


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, {0: set(), 30: set(), 60: set()}),
        ({"partitions_held": "4x9 3x50"}, {14: set(), 20: {"TidemarkFeedUnowned"}}),
        ({"partitions_closed": "0x9 1x9 0x40"}, {14: set(), 17: {"TidemarkFeedClosed"}, 21: set()}),
        ({"tables_parked": "0x9 1x50"}, {14: set(), 20: {"TidemarkFeedParked"}}),
        ({"send_success_rate": "0.99x60"}, {60: set()}),
        ({"send_success_rate": "0.98x60"}, {4: set(), 6: {"TidemarkFeedFailing"}}),
        ({"send_latency_p99": "5x60"}, {60: set()}),
        ({"send_latency_p99": "6x60"}, {9: set(), 11: {"TidemarkFeedSlow"}}),
        # One retry after another keeps a commit for some seconds: no alert. Nor is an old age that belongs to nothing.
        ({"unpublished_instants": "3x60", "oldest_unpublished_seconds": "59x60"}, {60: set()}),
        ({"unpublished_instants": "0x60", "oldest_unpublished_seconds": "900x60"}, {60: set()}),
        ({"unpublished_instants": "3x60", "oldest_unpublished_seconds": "0+60x60"},
         {1: set(), 5: {"TidemarkFeedBehind"}}),
        ({"timeline_check_age_seconds": "0+60x60"}, {5: set(), 9: {"TidemarkFeedBlind"}}),
    ],
)  # fmt: skip
def test_alerts_on_the_feed_fire_when_they_must_and_never_else(
    changed: dict[str, str], expected: dict[int, set[str]], tidemark: Program, tmp_path: pathlib.Path,
    promtool: Callable[..., None],
) -> None:  # fmt: skip
    config = tmp_path / "tidemark.yaml"
    config.write_text(FEED)
    (tmp_path / "rules.yaml").write_text(made(tidemark, config, "prometheus"))
    promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
    checks = [
        {
            "expr": 'sum by (alertname) (ALERTS{alertstate="firing"})',
            "eval_time": f"{minute}m",
            "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts],
        }
        for minute, alerts in expected.items()
    ]
    series = [{"series": name, "values": values} for name, values in feed_series(**changed).items()]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": checks}
    (tmp_path / "test.yaml").write_text(json.dumps({"rule_files": ["rules.yaml"], "tests": [test]}))
    promtool("test", "rules", "test.yaml")


def test_promtool_finds_nothing_to_complain_about(
    tidemark: Program, config: pathlib.Path, promtool: Callable[..., None], tmp_path: pathlib.Path
) -> None:
    choices = [], ["--job", ""], ["--scrape-interval", "15m"], ["--runbook-url", "https://wiki/x"]
    for number, flags in enumerate(choices):
        (tmp_path / f"{number}.yaml").write_text(made(tidemark, config, "prometheus", *flags))
        promtool("check", "rules", "--lint=all", "--lint-fatal", f"{number}.yaml")


def test_odd_names_of_pipelines_are_rules_too(
    tidemark: Program, promtool: Callable[..., None], tmp_path: pathlib.Path
) -> None:
    names = ["a.b|c", 'say "so"', "back\\slash", "{{ $value }}", "größe", "tab\there", "1e3", "true", "x: y #z"]
    config = tmp_path / "tidemark.yaml"
    pipelines = [{"name": name, "table": f"/t/{number}"} for number, name in enumerate(names)]
    config.write_text(json.dumps({"clusters": {"main": {"bootstrap_servers": "h:1"}}, "pipelines": pipelines}))
    (tmp_path / "rules.yaml").write_text(made(tidemark, config, "prometheus"))
    promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml")
    record = yaml.safe_load((tmp_path / "rules.yaml").read_text())["groups"][1]["rules"]
    assert {rule["labels"]["pipeline"] for rule in record if rule.get("expr") == "vector(1)"} == set(names)


def test_rules_are_the_same_bytes_each_time(tidemark: Program, config: pathlib.Path) -> None:
    for kind in ("prometheus", "sloth", "pyrra", "openslo", "grafana"):
        assert made(tidemark, config, kind) == made(tidemark, config, kind)


def test_what_cannot_be_made_into_rules_is_refused(tidemark: Program, config: pathlib.Path) -> None:
    for words in (["--kind", "nagios"], ["--kind", "prometheus", "--scrape-interval", "0s"], []):
        run = tidemark("rules", "--config", config, *words)
        assert (run.code, run.out) == (USAGE, "")
    config.write_text(CONFIG.replace("objective: 95", "objective: 100"))
    run = tidemark("rules", "--config", config, "--kind", "prometheus")
    assert (run.code, run.out) == (USAGE, "")
    assert "tidemark.yaml:7:" in run.err and "percentage" in run.err


# --- Objectives -------------------------------------------------------------------------------------------------------


def closed(schema: object) -> object:
    """The schema with every object that lists its keys closed against others: a cluster would drop them silently."""
    if isinstance(schema, list):
        return [closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: closed(value) for key, value in schema.items()}
    if isinstance(made.get("properties"), dict) and schema.get("type") == "object":
        made.setdefault("additionalProperties", False)
    return made


def check_against_definition(document: dict, name: str) -> None:
    definition = yaml.safe_load((_SCHEMAS / f"{name}.yaml").read_text())
    names, group = definition["spec"]["names"], definition["spec"]["group"]
    (version,) = definition["spec"]["versions"]
    assert document["apiVersion"] == f"{group}/{version['name']}"
    assert document["kind"] == names["kind"]
    jsonschema.validate(document, closed(version["schema"]["openAPIV3Schema"]))


def test_sloth_takes_the_objectives(
    tidemark: Program, config: pathlib.Path, promtool: Callable[..., None], tmp_path: pathlib.Path
) -> None:
    document = yaml.safe_load(made(tidemark, config, "sloth"))
    check_against_definition(document, "sloth.slok.dev_prometheusservicelevels")
    queries = [slo["sli"]["raw"]["errorRatioQuery"] for slo in document["spec"]["slos"]]
    assert len(queries) == 3
    assert all("{{.window}}" in query for query in queries)
    # As Sloth will put them into rules.
    rules = [{"record": f"r{i}", "expr": query.replace("{{.window}}", "5m")} for i, query in enumerate(queries)]
    (tmp_path / "sloth.yaml").write_text(yaml.safe_dump({"groups": [{"name": "g", "rules": rules}]}))
    promtool("check", "rules", "sloth.yaml")


def test_pyrra_takes_the_objectives(tidemark: Program, config: pathlib.Path) -> None:
    documents = list(yaml.safe_load_all(made(tidemark, config, "pyrra")))
    assert len(documents) == 3
    for document in documents:
        check_against_definition(document, "pyrra.dev_servicelevelobjectives")
    # The series it reads is one that the rules record.
    metric = documents[0]["spec"]["indicator"]["bool_gauge"]["metric"].split("{")[0]
    assert f"record: {metric}\n" in made(tidemark, config, "prometheus")


def test_openslo_takes_the_objectives(tidemark: Program, config: pathlib.Path) -> None:
    schemas = [json.loads(file.read_text()) for file in sorted((_SCHEMAS / "openslo").glob("*.json"))]
    resources = [(each["$id"], referencing.Resource.from_contents(each)) for each in schemas]
    registry = referencing.Registry().with_resources(resources)
    whole = {"$ref": "https://openslo.com/schemas/v1/openslo.schema.json"}
    validator = jsonschema.Draft7Validator(whole, registry=registry)
    documents = list(yaml.safe_load_all(made(tidemark, config, "openslo")))
    assert [each["kind"] for each in documents] == ["Service", "SLO", "SLO", "SLO"]
    for document in documents:
        validator.validate(document)
        assert len(document["metadata"]["name"]) <= 63


# --- Grafana ----------------------------------------------------------------------------------------------------------


def known_part(given: object, kept: object) -> object:
    """`kept` without what `given` does not have: defaults that the model adds."""
    if isinstance(given, dict) and isinstance(kept, dict):
        return {key: known_part(value, kept[key]) for key, value in given.items() if key in kept}
    if isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        return [known_part(one, other) for one, other in zip(given, kept)]
    return kept


def test_grafana_knows_every_key_of_the_dashboard(tidemark: Program, config: pathlib.Path) -> None:
    """Grafana's own model of a dashboard, read and written again, loses nothing."""
    given = json.loads(made(tidemark, config, "grafana"))
    kept = json.loads(JSONEncoder(sort_keys=True).encode(Dashboard.from_json(given)))
    assert known_part(given, kept) == given


def test_the_queries_of_the_dashboard_are_queries(
    tidemark: Program, config: pathlib.Path, promtool: Callable[..., None], tmp_path: pathlib.Path
) -> None:
    panels = json.loads(made(tidemark, config, "grafana"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert len(queries) > 20
    rules = [{"record": f"r{i}", "expr": query} for i, query in enumerate(queries)]
    (tmp_path / "board.yaml").write_text(yaml.safe_dump({"groups": [{"name": "g", "rules": rules}]}))
    promtool("check", "rules", "board.yaml")
