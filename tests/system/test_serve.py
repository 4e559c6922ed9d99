"""`tidemark serve`: looks that repeat, what is kept over a kill, reloads, and the HTTP resources."""

from __future__ import annotations

import http.client
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.parse

from daemon import Daemon
from hudi_table import Commit, add_commit, write_table
from kafka_cluster import Record, now_ms
from program import USAGE
from serve_lab import MINUTE, Lab
from waiting import wait_until


def test_a_pipeline_is_looked_at_again_and_again(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50, 40])
    lab.add("orders", f"{topic},0:0")
    daemon = lab.start()
    report = daemon.await_status("orders", "warning")
    assert 50 * 60 <= report["lag_seconds"] <= 51 * 60
    assert report["oldest"]["offset"] == 0
    # The table moves on: the next look sees it.
    lab.table("orders", f"{topic},0:2")
    daemon.await_status("orders", "fresh")
    # Another record arrives; whatever its stamp, it waits since now (case 18).
    lab.kafka.produce(topic, [Record(0, now_ms() - 70 * MINUTE)])
    wait_until(lambda: daemon.pipelines()["orders"]["partitions"]["lagging"] == 1, "it", 30)
    report = daemon.pipelines()["orders"]
    assert report["oldest"]["offset"] == 2
    assert report["lag_seconds"] < 120
    assert daemon.stop() == 0


def test_metrics_have_no_number_that_is_not_known(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    lab.add("lost", f"{topic}-nowhere,0:0")
    daemon = lab.start()
    daemon.await_status("orders", "warning")
    daemon.await_status("lost", "unknown")
    samples = daemon.samples()
    assert 3000 <= samples["tidemark_freshness_lag_seconds", "orders"] <= 3100
    assert ("tidemark_freshness_lag_seconds", "lost") not in samples
    assert ("tidemark_freshness_sla_seconds", "lost") in samples
    assert all(value == value and value >= 0 for value in samples.values())
    # A table that goes away takes its numbers along.
    shutil.rmtree(lab.folder / "orders")
    daemon.await_status("orders", "unknown")
    samples = daemon.samples()
    assert ("tidemark_freshness_lag_seconds", "orders") not in samples
    assert ("tidemark_freshness_last_success_timestamp_seconds", "orders") in samples


def test_openmetrics_is_given_to_who_asks_for_it(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    daemon = lab.start()
    status, text = daemon.ask("GET", "/metrics", headers={"Accept": "application/openmetrics-text"})
    assert status == 200
    assert text.endswith("# EOF\n") and text.count("# EOF") == 1


def test_what_was_seen_bounds_ages_after_a_kill(lab: Lab, topic: str) -> None:
    """Records stamped 70 days ago that arrive now wait since now (case 18), and a daemon that was
    killed in between still knows."""
    lab.topic(topic, [1])
    lab.add("orders", f"{topic},0:1")
    daemon = lab.start()
    daemon.await_status("orders", "fresh")
    # The sighting of the log's end is kept within a second or two.
    wait_until(
        lambda: len(daemon.get("/api/v1/pipelines/orders/history")["points"]) > 2, "history", 30
    )
    daemon.kill()
    lab.kafka.produce(topic, [Record(0, now_ms() - 70 * 24 * 60 * MINUTE)])
    again = lab.start()
    wait_until(
        lambda: again.pipelines()["orders"]["partitions"]["lagging"] == 1, "the new record", 30
    )
    report = again.pipelines()["orders"]
    assert report["status"] == "fresh"
    assert report["lag_seconds"] < 120


def test_a_topic_made_anew_is_noticed_even_when_it_has_grown(lab: Lab, topic: str) -> None:
    """Case 5: the offsets fit, but they count another topic's records."""
    lab.topic(topic, [5, 4, 3])
    lab.add("orders", f"{topic},0:2")
    daemon = lab.start()
    daemon.await_status("orders", "fresh")
    # What a look taught is kept within a second; a kill before that may lose it.
    wait_until(
        lambda: daemon.get("/api/v1/pipelines/orders/history")["points"] != [], "history", 30
    )
    lab.kafka.delete_topic(topic)
    lab.kafka.create_topic(topic, 1)
    lab.kafka.produce(topic, [Record(0, now_ms()) for _ in range(10)])
    wait_until(
        lambda: daemon.pipelines()["orders"]["reason"] == "topic_recreated", "the new topic", 60
    )
    assert daemon.pipelines()["orders"]["lag_seconds"] is None
    daemon.kill()
    again = lab.start()
    wait_until(
        lambda: again.pipelines()["orders"]["reason"] == "topic_recreated", "the new topic", 60
    )


def test_a_reload_takes_changes_and_a_broken_file_is_refused(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    daemon = lab.start()
    daemon.await_status("orders", "warning")
    lab.pipelines["orders"]["sla"] = "10m"
    lab.write()  # noticed without a signal
    daemon.await_status("orders", "breach")

    lab.config.write_text(lab.config.read_text().replace("interval", "intervall"))
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "intervall" in daemon.log(), "the mistake in the log", 30)
    assert "'interval'" in daemon.log()
    assert daemon.pipelines()["orders"]["status"] == "breach"

    lab.config.write_text("")  # as an editor leaves it for a moment that writes it anew
    daemon.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "holds no pipeline" in daemon.log(), "the empty file in the log", 30)
    assert daemon.pipelines()["orders"]["status"] == "breach"

    lab.add("payments", f"{topic},0:1")
    del lab.pipelines["orders"]
    lab.write()
    wait_until(lambda: list(daemon.pipelines()) == ["payments"], "the new pipeline", 30)
    daemon.await_status("payments", "fresh")
    assert "after a restart" not in daemon.log()  # --listen is not in the file, and is no change
    status, _ = daemon.ask("GET", "/api/v1/pipelines/orders")
    assert status == 404


def test_a_dead_cluster_and_a_dead_store_leave_the_others_alone(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    lab.add("dead-cluster", f"{topic},0:0", cluster="gone")
    lab.add("dead-store", f"{topic},0:0")
    lab.pipelines["dead-store"]["table"] = "s3://nowhere/table"
    lab.more += (
        'stores: { gone: { match: "s3://*", endpoint: "http://127.0.0.1:9", anonymous: true } }\n'
    )
    lab.write()
    text = lab.config.read_text().replace("clusters: {", 'clusters: { gone: { bootstrap_servers: "127.0.0.1:9" },')
    lab.config.write_text(text)
    daemon = Daemon(lab.tidemark, lab.config)
    try:
        daemon.await_status("orders", "warning", seconds_max=8)
        wait_until(
            lambda: daemon.pipelines()["dead-cluster"]["reason"] == "cluster_unreachable", "it", 60
        )
        wait_until(
            lambda: daemon.pipelines()["dead-store"]["reason"] == "table_unreadable", "it", 60
        )
        first = daemon.pipelines()["orders"]["observed_at"]
        wait_until(lambda: daemon.pipelines()["orders"]["observed_at"] != first, "another look", 8)
    finally:
        daemon.kill()


def test_requests_that_wait_for_a_silent_store_hold_up_no_other(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    lab.add("silent", f"{topic},0:0", interval="1h")
    lab.pipelines["silent"]["table"] = "s3://silent/table"
    # Takes connections, and never answers.
    with socket.create_server(("127.0.0.1", 0), backlog=512) as store:
        endpoint = f"http://127.0.0.1:{store.getsockname()[1]}"
        lab.more += (
            f'stores: {{ silent: {{ match: "s3://*", endpoint: "{endpoint}", anonymous: true }} }}\n'
        )
        daemon = lab.start()
        daemon.await_status("orders", "warning")
        place = urllib.parse.urlsplit(daemon.url)
        waiting = [http.client.HTTPConnection(place.hostname, place.port, timeout=30) for _ in range(40)]
        for connection in waiting:
            connection.request("GET", "/api/v1/timeline?table=s3://silent/table")
        for path in ("/healthz", "/readyz", "/metrics", "/api/v1/pipelines"):
            began = time.monotonic()
            assert daemon.ask("GET", path)[0] in (200, 503), path
            assert time.monotonic() - began < 3, path
        # Four wait for the store, 16 for their turn.
        refused = 0
        while refused < 20:
            ready, _, _ = select.select([each.sock for each in waiting if each.sock], [], [], 20)
            assert ready, f"refused={refused}"
            for connection in [each for each in waiting if each.sock in ready]:
                answer = connection.getresponse()
                text = answer.read().decode()
                assert answer.status == 503, text
                refused += answer.getheader("Retry-After") is not None
                waiting.remove(connection)
                connection.close()
        began = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - began < 15
        for connection in waiting:
            connection.close()


def test_a_commit_callback_is_a_look_now(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0", interval="1h")
    daemon = lab.start()
    daemon.await_status("orders", "warning")
    # A linked file is none that was written: inotify does not tell of it.
    table = lab.folder / "orders"
    newer = write_table(lab.folder / "newer", [Commit(f"{topic},0:1")])
    for file in (newer / ".hoodie").glob("*commit*"):
        os.link(file, table / ".hoodie" / file.name)
    callback = {"commitTime": "20261130030557099", "tableName": "t", "basePath": str(table)}
    status, text = daemon.ask("POST", "/api/v1/wake", json.dumps(callback))
    assert (status, json.loads(text)) == (202, {"woken": 1})
    daemon.await_status("orders", "fresh")
    assert daemon.ask("POST", "/api/v1/pipelines/orders/wake")[0] == 202
    assert daemon.ask("POST", "/api/v1/pipelines/nobody/wake")[0] == 404
    assert daemon.ask("POST", "/api/v1/wake", "nonsense")[0] == 400


def test_a_commit_in_a_local_folder_is_a_look_now(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0", interval="1h")
    lab.add("later", f"{topic},0:0", interval="1h")
    shutil.rmtree(lab.folder / "later")
    daemon = lab.start()
    daemon.await_status("orders", "warning")
    daemon.await_status("later", "unknown")
    add_commit(lab.folder / "orders", Commit(f"{topic},0:1"))
    daemon.await_status("orders", "fresh")
    # A table that comes about is seen as well.
    lab.table("later", f"{topic},0:1")
    daemon.await_status("later", "fresh")


def test_the_resources(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    daemon = lab.start()
    daemon.await_status("orders", "warning")
    assert daemon.get("/healthz") == {"status": "ok"}
    assert daemon.get("/readyz")["status"] == "ok"
    (report,) = daemon.get("/api/v1/pipelines/orders")["pipelines"]
    assert "partition_detail" not in report
    (report,) = daemon.get("/api/v1/pipelines/orders/partitions")["pipelines"]
    assert report["partition_detail"][0]["first_uncommitted"] == 0
    assert daemon.get("/api/v1/pipelines?status=fresh")["pipelines"] == []
    table = lab.pipelines["orders"]["table"]
    assert daemon.get(f"/api/v1/timeline?table={table}")["instants"][-1]["action"] == "commit"
    assert daemon.ask("GET", "/api/v1/timeline?table=/etc")[0] == 404
    wait_until(lambda: daemon.get("/api/v1/incidents")["incidents"] != [], "the incident", 30)
    (incident,) = daemon.get("/api/v1/incidents?pipeline=orders")["incidents"]
    assert (incident["status"], incident["closed_at"]) == ("warning", None)
    for path in ("/", "/api/v1", "/api/v1/pipelines/no%2Fone"):
        assert daemon.ask("GET", path)[0] == 404, path
    assert daemon.ask("DELETE", "/api/v1/pipelines")[0] == 405
    for query in ("from=yesterday", "to=2026", "from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"):
        assert daemon.ask("GET", f"/api/v1/pipelines/orders/history?{query}")[0] == 400, query
    assert daemon.ask("GET", "/api/v1/pipelines?statsu=fresh")[0] == 400
    for query in ("limit=0", "limit=x", "limit=-1", "limit=99999999999999999999"):
        status, text = daemon.ask("GET", f"/api/v1/incidents?{query}")
        assert (status, query[len("limit=") :] in text) == (400, True), query
    status, text = daemon.ask("GET", "/api/v1/pipelines?status=fresch")
    assert (status, "'fresch'" in text) == (400, True)


def test_bearer_tokens(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    (lab.folder / "tokens").write_text("s3cr3t-token\n")
    lab.more += "http: { auth: { bearer_tokens_file: tokens } }\n"
    daemon = lab.start()
    assert daemon.ask("GET", "/healthz")[0] == 200
    assert daemon.ask("GET", "/metrics")[0] == 401
    assert daemon.ask("GET", "/metrics", headers={"Authorization": "Bearer wrong"})[0] == 401
    good = {"Authorization": "Bearer s3cr3t-token"}
    assert daemon.ask("GET", "/metrics", headers=good)[0] == 200
    assert "s3cr3t-token" not in daemon.log()


def test_two_daemons_do_not_share_a_state(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    daemon = lab.start()
    second = lab.tidemark("serve", "--config", lab.config, "--listen", "127.0.0.1:0")
    assert second.code != 0
    assert "state" in second.err
    assert daemon.stop() == 0


def test_a_daemon_that_cannot_begin_says_why(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    daemon = lab.start()
    port = daemon.url.rsplit(":", 1)[1]
    lab.more = ""
    lab.write()
    taken = lab.tidemark("serve", "--config", lab.config, "--listen", f"127.0.0.1:{port}")
    assert taken.code != 0 and f"port={port}" in taken.err
    wrong = lab.tidemark("serve", "--config", lab.config, "--listen", "nowhere")
    assert wrong.code == USAGE and "nowhere" in wrong.err
    lab.more = "state: { paht: x }\nhttp: { listen: 8080 }\n"
    lab.write()
    mistaken = lab.tidemark("serve", "--config", lab.config)
    assert mistaken.code == USAGE
    assert "'path'" in mistaken.err and "127.0.0.1:8080" in mistaken.err


def test_it_is_killed_again_and_again_and_its_state_stays_whole(lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    for number in range(20):
        lab.add(f"p{number}", f"{topic},0:0", interval="200ms")
    for _ in range(5):
        daemon = lab.start()
        daemon.await_status("p0", "warning")
        daemon.kill()
        assert "damaged" not in daemon.log()
    daemon = lab.start()
    daemon.await_status("p19", "warning")
    wait_until(lambda: len(daemon.get("/api/v1/incidents")["incidents"]) == 20, "incidents", 30)
    # One incident each, however often the daemon was killed meanwhile.
    opened = [each["pipeline"] for each in daemon.get("/api/v1/incidents")["incidents"]]
    assert len(set(opened)) == 20


def test_the_api_keeps_to_its_document(lab: Lab, topic: str) -> None:
    """Somebody else's tester reads the OpenAPI document and asks whatever it allows, and what it
    does not."""
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    daemon = lab.start("--quiet")
    daemon.await_status("orders", "warning")
    tester = pathlib.Path(sys.executable).with_name("schemathesis")
    # The stream of events never ends, which the tester cannot know.
    run = subprocess.run(
        [
            tester, "run", f"{daemon.url}/api/v1/openapi.json", "--exclude-path", "/api/v1/events",
            "--max-examples", "30", "--seed", "1", "--no-color", "--workers", "1",
            "--generation-database", "none", "--generation-with-security-parameters", "false",
        ],
        capture_output=True, text=True, timeout=240, cwd=lab.folder, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]
