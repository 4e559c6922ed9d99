#!/usr/bin/env python3
"""bench/feed_spark.py [STEPS]: real Spark writes a Hudi table while a publisher and a mirror follow it over a real
broker. After each step the mirror must hold the partitions and columns that Spark reads, and at the end each instant
that Hudi's own timeline ever showed must have been told once. Fetches Spark once (read_parts.py)."""

from __future__ import annotations

import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import read_parts  # noqa: E402
from feed_bench import _REPOSITORY, dependencies  # noqa: E402

from feed_lab import uid_of  # noqa: E402
from kafka_cluster import KafkaCluster  # noqa: E402
from mirror_lab import MirrorLab  # noqa: E402
from program import Program  # noqa: E402
from waiting import wait_until  # noqa: E402


def held(mirror, uid: str) -> tuple[list[str], list[str]]:
    status, text = mirror.ask("GET", f"/api/v1/tables/{uid}/partitions?limit=1000")
    if status != 200:
        return [], []
    schema = mirror.get(f"/api/v1/tables/{uid}/schema")
    columns = [each["name"] for each in schema["fields"] if not each["name"].startswith("_hoodie_")]
    return [each["path"] for each in json.loads(text)["partitions"]], columns


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    python, jars = read_parts.spark()
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        with KafkaCluster(home / "kafka", dependencies() / "kafka-4.4.0") as kafka:
            (home / "work").mkdir()
            lab = MirrorLab(Program(_REPOSITORY / "build/release/tidemark", home), kafka, home / "work", "spark")
            table = lab.lake / "story"
            uid = uid_of(table)
            words = [str(python), str(pathlib.Path(__file__).with_name("spark_story.py")), str(table), str(jars)]
            with open(home / "spark.log", "wb") as log:
                pipe = subprocess.PIPE
                spark = subprocess.Popen([*words, str(steps)], stdin=pipe, stdout=pipe, stderr=log)
            try:
                lab.start()
                mirror = lab.mirror()
                seen: dict[tuple[str, str], str] = {}
                waits = []
                for number in range(steps):
                    spark.stdin.write(b"\n")
                    spark.stdin.flush()
                    # Hudi's logger writes there too.
                    line = next((each for each in spark.stdout if each.startswith(b"{")), None)
                    assert line, (home / "spark.log").read_text()[-4000:]
                    truth = json.loads(line)
                    for instant, action in truth["instants"]:
                        seen.setdefault((instant, action), truth["step"])
                    began = time.monotonic()
                    wanted = (truth["partitions"], truth["columns"])
                    try:
                        wait_until(lambda w=wanted: held(mirror, uid) == w, truth["step"], 20)
                    except TimeoutError:
                        raise AssertionError(f"step {number}: {truth}, but the mirror has {held(mirror, uid)}")
                    waits.append(time.monotonic() - began)
                    counts = ", ".join(f"{len(truth[each])} {each}" for each in ("partitions", "columns", "instants"))
                    print(f"{number:3} {truth['step']:<26} {counts}", flush=True)
                told = collections.Counter(
                    (each["data"]["instantTime"], each["data"]["action"])
                    for each in lab.reader().events(uid)
                    if each["data"]["changeType"] == "COMMIT"
                )
                assert set(told.values()) == {1}, told
                missing = {key: step for key, step in seen.items() if key not in told}
                assert not missing, missing
                relists = [line for line in mirror.ask("GET", "/metrics")[1].splitlines() if "_gap_total" in line]
                actions = collections.Counter(action for _, action in told)
                print(", ".join(f"{count} {action}" for action, count in sorted(actions.items())))
                print(f"{steps} steps, {len(told)} instants told once each, {len(seen)} of them seen at a step's end; "
                      f"{relists[-1]}; the longest wait after a step {max(waits):.2f} s")  # fmt: skip
            finally:
                spark.kill()
                spark.wait()
                lab.close()


if __name__ == "__main__":
    main()
