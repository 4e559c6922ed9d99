"""Exporters of `tidemark serve`, each with a receiver that is not ours."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import time

import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

import receivers
from receivers import Hook, fetch, query, samples_of
from serve_lab import Lab
from waiting import wait_until

LAG = "tidemark_freshness_lag_seconds"
SLA = "tidemark_freshness_sla_seconds"


def export(lab: Lab, topic: str, *exporters: dict) -> None:
    """One pipeline that is 50 minutes late, and these exporters."""
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    lab.more += f"exporters: {json.dumps(list(exporters))}\n"


def lose_the_table(lab: Lab) -> None:
    shutil.rmtree(lab.folder / "orders")


def test_node_exporter_collects_the_textfile_as_long_as_it_is_true(
    lab: Lab, topic: str, dependencies: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    collected = tmp_path / "collected"
    collected.mkdir()
    export(lab, topic, {"textfile": {"path": str(collected / "tidemark.prom"), "interval": "1s"}})
    with receivers.node_exporter(dependencies, tmp_path, collected) as url:
        daemon = lab.start()
        now = lambda: samples_of(fetch(url + "/metrics"))
        wait_until(lambda: (LAG, "orders") in now(), "the lag", 60)
        values = now()
        assert 3000 <= values[LAG, "orders"] <= 3100
        assert values["node_textfile_scrape_error", ""] == 0
        lose_the_table(lab)
        wait_until(lambda: (LAG, "orders") not in now(), "the lag to go", 60)
        assert (SLA, "orders") in now()
        assert [each.name for each in collected.iterdir()] == ["tidemark.prom"]
        assert daemon.stop() == 0
        assert list(collected.iterdir()) == []
        assert not any(name.startswith("tidemark_") for name, _ in now())


def test_promtool_finds_nothing_to_say(
    lab: Lab, topic: str, dependencies: pathlib.Path
) -> None:
    everything = {"partitions": True, "kafka_lag_exporter_names": True}
    export(lab, topic, {"prometheus": everything})
    daemon = lab.start()
    daemon.await_status("orders", "warning")
    _, text = daemon.ask("GET", "/metrics")
    assert "tidemark_freshness_partition_lag_seconds" in text
    assert "tidemark_freshness_partitions_left_out 0" in text
    assert f'kafka_consumergroup_group_lag_seconds{{cluster_name="main",group="orders"' in text
    promtool = [dependencies / "prometheus-2.42.0/promtool", "check", "metrics"]
    checked = subprocess.run(promtool, input=text, capture_output=True, text=True, check=False)
    found = [line for line in checked.stderr.splitlines() if line.startswith("tidemark_")]
    assert found == [], checked.stderr


def test_prometheus_takes_openmetrics_and_forgets_at_once(
    lab: Lab, topic: str, dependencies: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    export(lab, topic, {"textfile": {"path": str(tmp_path / "t.prom")}})
    daemon = lab.start()
    daemon.await_status("orders", "warning")
    with receivers.prometheus(dependencies, tmp_path, daemon.url.split("//")[1]) as url:
        wait_until(lambda: query(url, LAG), "the first scrape", 60)
        assert 3000 <= float(query(url, LAG)[0]["value"][1]) <= 3100
        assert query(url, "up")[0]["value"][1] == "1"
        # Counters come under the names that OpenMetrics gives their samples.
        assert query(url, "tidemark_exporter_failures_total")[0]["value"][1] == "0"
        lose_the_table(lab)
        daemon.await_status("orders", "unknown")
        # Two scrapes, not the five minutes that Prometheus looks back.
        wait_until(lambda: not query(url, LAG), "the lag to go", 10)
        assert query(url, SLA)


def test_the_pushgateway_has_what_is_known_now(
    lab: Lab, topic: str, dependencies: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with receivers.pushgateway(dependencies, tmp_path) as url:
        gateway = {"url": url, "interval": "1s", "grouping": {"instance": "a/b"}}
        export(lab, topic, {"pushgateway": {**gateway, "delete_on_stop": True}})
        daemon = lab.start()

        def now() -> dict:
            return samples_of(fetch(url + "/metrics"))

        wait_until(lambda: (LAG, "orders") in now(), "the lag", 60)
        text = fetch(url + "/metrics")
        assert 3000 <= samples_of(text)[LAG, "orders"] <= 3100
        assert 'instance="a/b",job="tidemark"' in text
        lose_the_table(lab)
        wait_until(lambda: (LAG, "orders") not in now(), "the lag to go", 60)
        assert (SLA, "orders") in now()
        wait_until(
            lambda: daemon.samples().get(("tidemark_exporter_deliveries_total", ""), 0) >= 2, "it", 30
        )
        assert daemon.stop() == 0
        assert not any(name.startswith("tidemark_") for name, _ in now())


def otlp_points(request: ExportMetricsServiceRequest) -> dict[str, list]:
    """Data points by the name of their metric."""
    (resource,) = request.resource_metrics
    (scope,) = resource.scope_metrics
    return {
        metric.name: list((metric.gauge if metric.HasField("gauge") else metric.sum).data_points)
        for metric in scope.metrics
    }


def test_otlp_is_as_its_schema_wants_it(lab: Lab, topic: str) -> None:
    with Hook() as hook:
        hook.answer = b"{}"
        collector = {"endpoint": hook.url, "interval": "1s", "resource": {"env": "prod"}}
        export(lab, topic, {"otlp": {**collector, "headers": {"X-Key": "${env:OTLP_KEY}"}}})
        daemon = lab.start(env={"OTLP_KEY": "otlp-s3cr3t"})

        def last() -> ExportMetricsServiceRequest:
            # Refuses every field that the schema does not have.
            return json_format.Parse(hook.requests[-1][3], ExportMetricsServiceRequest())

        wait_until(lambda: hook.requests and LAG in otlp_points(last()), "the lag", 60)
        before = time.time_ns()
        request = last()
        method, path, headers, _ = hook.requests[-1]
        assert (method, path) == ("POST", "/v1/metrics")
        assert headers["content-type"] == "application/json"
        assert headers["x-key"] == "otlp-s3cr3t"
        resource = {
            each.key: each.value.string_value for each in request.resource_metrics[0].resource.attributes
        }
        assert resource["service.name"] == "tidemark" and resource["env"] == "prod"
        (lag,) = otlp_points(request)[LAG]
        assert 3000 <= lag.as_double <= 3100
        assert {"pipeline": "orders", "cluster": "main"}.items() <= {
            each.key: each.value.string_value for each in lag.attributes
        }.items()
        assert abs(before - lag.time_unix_nano) < 60e9
        counters = [
            metric
            for metric in request.resource_metrics[0].scope_metrics[0].metrics
            if metric.HasField("sum")
        ]
        assert counters and all(
            each.sum.is_monotonic
            and each.sum.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE
            and 0 < each.sum.data_points[0].start_time_unix_nano <= each.sum.data_points[0].time_unix_nano
            for each in counters
        )
        lose_the_table(lab)
        wait_until(lambda: LAG not in otlp_points(last()), "the lag to go", 60)
        assert SLA in otlp_points(last())
        assert "otlp-s3cr3t" not in daemon.log()


def test_a_dead_receiver_delays_nobody_and_is_said_once(
    lab: Lab, topic: str, tmp_path: pathlib.Path
) -> None:
    with Hook() as silent, Hook() as broken:
        silent.status = None
        broken.status = 500
        broken.answer = b"because of s3cr3t-header"
        export(
            lab,
            topic,
            {"otlp": {"endpoint": silent.url, "interval": "1s", "timeout": "1s"}},
            {"pushgateway": {"url": broken.url, "interval": "1s", "headers": {"A": "${env:KEY}"}}},
            {"textfile": {"path": str(tmp_path / "t.prom"), "interval": "1s"}},
        )
        daemon = lab.start(env={"KEY": "s3cr3t-header"})

        def counted(name: str) -> dict[str, float]:
            _, text = daemon.ask("GET", "/metrics")
            return {
                line.split('"')[1]: float(line.split()[-1])
                for line in text.splitlines()
                if line.startswith(name + "{")
            }

        wait_until(
            lambda: counted("tidemark_exporter_failures_total").get("otlp", 0) >= 3
            and counted("tidemark_exporter_failures_total").get("pushgateway", 0) >= 3,
            "failures",
            90,
        )
        assert counted("tidemark_exporter_deliveries_total")["textfile"] >= 3
        assert counted("tidemark_exporter_up") == {"otlp": 0, "pushgateway": 0, "textfile": 1}
        assert daemon.pipelines()["orders"]["status"] == "warning"
        broken.status = 200
        wait_until(lambda: counted("tidemark_exporter_up")["pushgateway"] == 1, "it", 60)
        log = daemon.log()
        assert log.count("exporter=otlp does not deliver") == 1, log
        assert log.count("exporter=pushgateway does not deliver") == 1, log
        assert log.count("exporter=pushgateway delivers again") == 1, log
        assert "s3cr3t-header" not in log
        assert daemon.stop() == 0


def test_a_reload_takes_exporters_away_and_adds_them(
    lab: Lab, topic: str, tmp_path: pathlib.Path
) -> None:
    first, second = tmp_path / "first.prom", tmp_path / "second.prom"
    before = lab.more
    export(lab, topic, {"textfile": {"path": str(first), "interval": "1s"}})
    lab.start()
    wait_until(first.exists, "the first file", 60)
    lab.more = before + f'exporters: [ {{ textfile: {{ path: "{second}", interval: 1s }} }} ]\n'
    lab.write()
    wait_until(lambda: second.exists() and not first.exists(), "the second file", 60)


def test_dogstatsd_lines_become_the_series_they_were(
    lab: Lab, topic: str, statsd_exporter: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with receivers.statsd_exporter(statsd_exporter, tmp_path) as (url, port):
        agent = {"address": f"127.0.0.1:{port}", "dialect": "dogstatsd", "tags": {"env": "prod"}}
        export(lab, topic, {"statsd": {**agent, "interval": "1s", "datagram_bytes_max": 512}})
        daemon = lab.start()
        wait_until(lambda: (LAG, "orders") in samples_of(fetch(url + "/metrics")), "the lag", 60)
        sent = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in receivers.text_string_to_metric_families(fetch(url + "/metrics"))
            for sample in family.samples
            if sample.name.startswith("tidemark_")
        }
        assert all(dict(labels)["env"] == "prod" for _, labels in sent)
        # Every pipeline series of the endpoint is there under its labels.
        _, text = daemon.ask("GET", "/metrics")
        asked = {
            (sample.name, tuple(sorted({**sample.labels, "env": "prod"}.items())))
            for family in receivers.text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name.startswith("tidemark_freshness_")
        }
        assert asked <= set(sent), asked - set(sent)
        assert "statsd_exporter_sample_errors_total{" not in fetch(url + "/metrics")
        lag = sent[LAG, next(labels for name, labels in sent if name == LAG)]
        assert 3000 <= lag <= 3100


def test_a_statsd_server_knows_series_by_their_names(
    lab: Lab, topic: str, statsd_server: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    with receivers.statsd_server(statsd_server, tmp_path) as (gauges, port):
        server = {"address": f"127.0.0.1:{port}", "prefix": "lake."}
        export(lab, topic, {"statsd": {**server, "interval": "1s"}})
        lab.start()
        name = f"lake.{LAG}.orders"
        wait_until(lambda: name in gauges(), "the lag", 60)
        now = gauges()
        assert 3000 <= now[name] <= 3100
        assert now["lake.tidemark_freshness_status.orders.warning"] == 1
        assert now["lake.tidemark_freshness_status.orders.breach"] == 0
        assert not any("_reason" in each for each in now)


# The published schema's required members, types and limits, and what it says in words: each member
# that is referred to is there.
EMF_UNITS = {"Seconds", "Bytes", "None"}


def check_emf(line: dict) -> None:
    assert isinstance(line["_aws"]["Timestamp"], int)
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    assert directive["Namespace"] == "Lake/Prod"
    (dimensions,) = directive["Dimensions"]
    assert len(dimensions) <= 30 and len(set(dimensions)) == len(dimensions)
    for name in dimensions:
        assert 1 <= len(name) <= 250
        assert isinstance(line[name], str) and 1 <= len(line[name]) <= 1024 and line[name].isascii()
    assert 1 <= len(directive["Metrics"]) <= 100
    for metric in directive["Metrics"]:
        assert 1 <= len(metric["Name"]) <= 1024 and metric["Unit"] in EMF_UNITS
        assert type(line[metric["Name"]]) in (int, float)
    assert set(line) == {"_aws", *dimensions, *(each["Name"] for each in directive["Metrics"])}


@pytest.mark.parametrize("place", ["standard output", "a file"])
def test_emf_lines_are_what_cloudwatch_takes(
    lab: Lab, topic: str, tmp_path: pathlib.Path, place: str
) -> None:
    path = tmp_path / "metrics.log"
    to = {} if place == "standard output" else {"path": str(path)}
    export(lab, topic, {"emf": {**to, "namespace": "Lake/Prod", "interval": "1s"}})
    daemon = lab.start()

    def lines() -> list[dict]:
        text = daemon.printed() if not to else path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in text]

    wait_until(lambda: any(LAG in line for line in lines()), "the lag", 60)
    for line in lines():
        check_emf(line)
    lag = next(line for line in lines() if LAG in line)
    assert lag["pipeline"] == "orders" and 3000 <= lag[LAG] <= 3100
    lose_the_table(lab)
    daemon.await_status("orders", "unknown")
    wait_until(
        lambda: lines()[-1]["_aws"]["Timestamp"] > time.time_ns() // 1_000_000 - 1000, "a round", 30
    )
    seen = len(lines())
    wait_until(lambda: len(lines()) > seen + 10, "rounds without the lag", 60)
    assert not any(LAG in line for line in lines()[seen + 10 :])


def test_sources_json_is_read_by_dbts_schema(
    lab: Lab, topic: str, tmp_path: pathlib.Path
) -> None:
    from dbt_artifacts_parser.parser import parse_sources_v3

    path = tmp_path / "sources.json"
    export(lab, topic, {"sources": {"path": str(path), "interval": "1s"}})
    daemon = lab.start()
    wait_until(lambda: path.exists() and json.loads(path.read_text())["results"], "a result", 60)
    (result,) = parse_sources_v3(json.loads(path.read_text())).results
    assert result.unique_id == "source.tidemark.main.orders"
    assert result.status.value == "warn"
    assert 3000 <= result.max_loaded_at_time_ago_in_s <= 3100
    assert result.criteria.error_after.count == 1 and result.criteria.error_after.period.value == "hour"
    lose_the_table(lab)

    def status() -> str:
        (now,) = parse_sources_v3(json.loads(path.read_text())).results
        return str(getattr(now.status, "value", now.status))

    wait_until(lambda: status() == "runtime error", "the error", 60)
    assert daemon.stop() == 0
    assert status() == "runtime error"


def test_a_webhook_hears_of_an_incident_that_outlives_a_kill(lab: Lab, topic: str) -> None:
    with Hook() as hook:
        hook.status = 503
        alert = {"url": "${env:ALERT_URL}", "headers": {"X-Token": "${env:ALERT_TOKEN}"}}
        export(lab, topic, {"webhook": {**alert, "statuses": ["warning"]}})
        env = {"ALERT_URL": f"{hook.url}/path-s3cr3t", "ALERT_TOKEN": "token-s3cr3t"}
        daemon = lab.start(env=env)
        wait_until(lambda: len(hook.requests) >= 2, "tries", 60)
        hook.status = 200
        tried = len(hook.requests)
        wait_until(lambda: len(hook.requests) > tried, "the message", 90)
        _, path, headers, _ = hook.requests[-1]
        assert path == "/path-s3cr3t" and headers["x-token"] == "token-s3cr3t"
        opened = hook.bodies()[-1]
        assert opened["schema"] == "tidemark.incident/1"
        assert (opened["event"], opened["pipeline"], opened["status"]) == ("open", "orders", "warning")
        assert opened["closed_at"] is None and opened["message"]
        # All tries were one message.
        assert {body["id"] for body in hook.bodies()} == {opened["id"]}
        wait_until(lambda: len(daemon.get("/api/v1/incidents")["incidents"]) == 1, "the state", 30)
        daemon.kill()
        # While nobody looks, the table catches up.
        lab.table("orders", f"{topic},0:1")
        later = lab.start(env=env)
        wait_until(lambda: hook.bodies()[-1]["event"] == "close", "the close", 60)
        closed = hook.bodies()[-1]
        assert closed["id"] == opened["id"]
        assert closed["opened_at"] == opened["opened_at"] and closed["closed_at"] > opened["opened_at"]
        assert later.stop() == 0
        assert "s3cr3t" not in daemon.log() + later.log()
