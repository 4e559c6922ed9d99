"""A bucket that tells an SQS queue what comes about in it, and a daemon and a publisher that listen there: moto's S3
sends the notifications, moto's SQS keeps them."""

from __future__ import annotations

import hashlib
import json
import pathlib
from collections.abc import Iterator

import pytest

from daemon import Daemon
from feed_lab import FeedLab, Publisher
from hudi_table import Commit, write_table
from kafka_cluster import KafkaCluster
from program import HEALTHY, Program
from s3_server import BUCKET, S3Server
from serve_lab import Lab
from waiting import wait_until


@pytest.fixture
def feed(tidemark: Program, kafka: KafkaCluster, tmp_path: pathlib.Path, topic: str) -> Iterator[FeedLab]:
    lab = FeedLab(tidemark, kafka, tmp_path, topic.replace("_", "-"))
    yield lab
    lab.close()


def queue_of(url: str, **more: str) -> str:
    return f"wake_ups: {json.dumps({'sqs': [{'queue_url': url, **more}]})}\n"


def test_a_commit_in_a_bucket_with_a_queue_is_a_look_now(s3: S3Server, lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    older = write_table(lab.folder / "older", [Commit(f"{topic},0:0")])
    uri = s3.upload(older, "told/orders")
    url = s3.tell("looks")
    lab.pipelines["orders"] = {"table": uri, "cluster": "main", "interval": "1h"}
    lab.more += queue_of(url, match=f"s3://{BUCKET}/*")
    daemon = lab.start(env=s3.environment())
    daemon.await_status("orders", "warning")
    s3.upload(write_table(lab.folder / "newer", [Commit(f"{topic},0:1")]), "told/orders")
    daemon.await_status("orders", "fresh")
    wait_until(lambda: s3.count_messages(url) == 0, "the messages to be gone", 30)
    samples = daemon.samples()
    assert samples["tidemark_queue_up", ""] == 1
    assert samples["tidemark_queue_messages_total", ""] >= 3  # the test event, requested, completed
    assert samples["tidemark_queue_misunderstood_total", ""] == 0
    assert samples["tidemark_queue_failures_total", ""] == 0
    # A request for messages waits 20 s: a stop does not.
    assert daemon.stop() == HEALTHY
    assert "queue=" not in daemon.log()


def test_a_publisher_hears_of_tables_in_a_bucket(s3: S3Server, feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    uri = s3.upload(table.folder, "told/feed")
    uid = hashlib.sha256(uri.encode()).hexdigest()[:16]
    url = s3.tell("feed")
    config = feed.write(tables=[uri], poll="1h", poll_notified="1h")
    config.write_text(config.read_text() + queue_of(url, match=f"s3://{BUCKET}/*"))
    doctor = feed.tidemark("doctor", "--config", config, env=s3.environment())
    assert doctor.code == HEALTHY, doctor
    assert "the queue answers; messages that wait: about 1" in doctor.out
    publisher = Publisher(feed.tidemark, config, s3.environment())
    try:
        reader = feed.reader()
        wait_until(lambda: reader.state(uid)[0] is not None, "the first snapshot", 60)
        for partition in ("dt=2", "dt=3"):
            instant = table.commit(partition)
            s3.upload(table.folder, "told/feed")
            wait_until(lambda i=instant: i in reader.commits(uid), f"the commit {instant}", 30)
        wait_until(lambda: s3.count_messages(url) == 0, "the messages to be gone", 30)
        assert publisher.stop() == HEALTHY
        assert "queue=" not in publisher.log()
    finally:
        publisher.kill()


def test_a_queue_that_refuses_us_costs_nothing_but_its_wake_ups(s3: S3Server, lab: Lab, topic: str) -> None:
    lab.topic(topic, [50])
    lab.add("orders", f"{topic},0:0")
    lab.more += queue_of(s3.tell("refused"))
    environment = s3.environment(s3.stranger)
    daemon = lab.start(env=environment)
    daemon.await_status("orders", "warning")
    wait_until(lambda: daemon.samples().get(("tidemark_queue_failures_total", "")) >= 2, "two refusals", 30)
    assert daemon.samples()["tidemark_queue_up", ""] == 0
    lines = [line for line in daemon.log().splitlines() if "queue=refused" in line]
    assert len(lines) == 1, lines
    assert s3.stranger.secret not in daemon.log()
    doctor = lab.tidemark("doctor", "--config", lab.config, "--format", "json", env=environment)
    [subject] = [each for each in doctor.json["subjects"] if each["subject"] == "(wake-ups)"]
    assert subject["checks"][0]["outcome"] == "failed"
    assert "sqs:GetQueueAttributes" in subject["checks"][0]["cure"]
