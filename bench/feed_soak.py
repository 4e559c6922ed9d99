#!/usr/bin/env python3
"""bench/feed_soak.py [KILLS]: kills the publisher (SIGKILL) at random moments of its work, over a real broker, while
tables are written; then and in between, a reader of committed records must find every commit once, in order, with the
bytes it had, and the tables' partitions. 1,000 kills by default; prints what it found."""

from __future__ import annotations

import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from feed_bench import _REPOSITORY, dependencies  # noqa: E402

from feed_lab import FeedLab, kill_after  # noqa: E402
from kafka_cluster import KafkaCluster  # noqa: E402
from program import Program  # noqa: E402


def main() -> None:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    binary = _REPOSITORY / "build/release/tidemark"
    rolls = random.Random(int(time.time()))
    with tempfile.TemporaryDirectory() as folder:
        home = pathlib.Path(folder)
        with KafkaCluster(home / "kafka", dependencies() / "kafka-4.4.0") as kafka:
            (home / "work").mkdir()
            lab = FeedLab(Program(binary, home), kafka, home / "work", "soak")
            tables = [lab.table(f"t{number}") for number in range(3)]
            for table in tables:
                table.commit("dt=0")
            began = time.monotonic()
            assert lab.once().code == 0
            usual = time.monotonic() - began
            reader = lab.reader()
            killed = 0
            while killed < kills:
                for table in tables:
                    if rolls.random() < 0.4:
                        if rolls.random() < 0.1:
                            table.columns.append(f"c{len(table.columns)}")
                        table.commit(*{f"dt={rolls.randrange(20)}" for _ in range(rolls.randrange(1, 5))})
                run = lab.tidemark("publish", "--config", lab.config, "--once",
                                   meanwhile=kill_after(rolls.random() * usual * 1.1))  # fmt: skip
                lab.tidemark.runs.clear()
                killed += run.code == -9
                if killed % 100 == 0 and run.code == -9:
                    for table in tables:
                        reader.events(table.uid)
                    print(f"{killed} kills, {time.monotonic() - began:.0f} s", flush=True)
            assert lab.once().code == 0
            for table in tables:
                assert reader.commits(table.uid) == table.instants[1:], table.folder.name
                assert reader.partitions(table.uid) == table.partitions, table.folder.name
            commits = sum(len(table.instants) for table in tables)
            print(f"{killed} kills, {commits} commits: no hole, no repeat, no changed byte, partitions as listed")


if __name__ == "__main__":
    main()
