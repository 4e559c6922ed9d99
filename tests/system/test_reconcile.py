"""`tidemark reconcile`: tables compared with what the feed told of them, on a real broker."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Iterator

import pytest

from feed_lab import FeedLab
from kafka_cluster import KafkaCluster
from program import BREACH, HEALTHY, UNKNOWN, UNREADABLE, USAGE, WARNING, Program
from waiting import wait_until


@pytest.fixture
def feed(tidemark: Program, kafka: KafkaCluster, tmp_path: pathlib.Path, topic: str) -> Iterator[FeedLab]:
    lab = FeedLab(tidemark, kafka, tmp_path, topic.replace("_", "-"))
    yield lab
    lab.close()


def _reconcile(feed: FeedLab, *tables: object, more: tuple[str, ...] = ()) -> tuple[int, list[dict]]:
    folders = [str(table) for table in tables]
    run = feed.tidemark("reconcile", *folders, "--config", feed.config, "--format", "json", *more)
    if not run.out:
        return run.code, []
    assert run.json["schema"] == "tidemark.reconcile/1"
    return run.code, run.json["tables"]


def test_a_table_that_was_told_whole_is_equal_and_then_behind(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    assert feed.once().code == HEALTHY
    code, (found,) = _reconcile(feed, table.folder)
    assert code == HEALTHY and found["agreement"] == "equal", found
    assert found["told_seq"] == found["applied_seq"] == 1
    instant = table.commit("dt=2")
    code, (found,) = _reconcile(feed, table.folder)
    assert code == WARNING and found["agreement"] == "behind", found
    assert [each["requestedTime"] for each in found["untold"]] == [instant]
    assert found["missing_partitions"] == ["dt=2"]
    assert feed.once().code == HEALTHY
    code, (found,) = _reconcile(feed, table.folder)
    assert code == HEALTHY and found["applied_seq"] == 2, found


def test_files_that_somebody_removed_are_a_difference_that_can_be_repaired(feed: FeedLab) -> None:
    table = feed.table()
    table.commit("dt=1")
    table.commit("dt=2")
    assert feed.once().code == HEALTHY
    shutil.rmtree(table.folder / "dt=2")
    code, (found,) = _reconcile(feed, table.folder)
    assert code == BREACH and found["agreement"] == "different", found
    assert found["surplus_partitions"] == ["dt=2"] and not found["repair_asked"]
    # Nobody publishes at this moment: it is heard all the same.
    code, (found,) = _reconcile(feed, table.folder, more=("--repair",))
    assert (code, found["repair_asked"]) == (BREACH, True), found
    feed.start()
    wait_until(lambda: _reconcile(feed, table.folder)[0] == HEALTHY, "the repair", 60)


def test_a_table_that_was_never_published_is_unknown_beside_one_that_was(feed: FeedLab) -> None:
    told = feed.table("told")
    told.commit("dt=1")
    assert feed.once().code == HEALTHY
    other = feed.table("other")
    other.commit("dt=1")
    code, (first, second) = _reconcile(feed, told.folder, other.folder)
    assert code == UNKNOWN
    assert (first["agreement"], second["agreement"]) == ("equal", "unknown")
    code, (gone,) = _reconcile(feed, feed.lake / "nowhere")
    assert code == UNKNOWN and gone["message"], gone


def test_what_cannot_be_asked_has_its_exit_code(
    tidemark: Program, tmp_path: pathlib.Path
) -> None:
    config = tmp_path / "tidemark.yaml"
    config.write_text("pipelines: []\n")
    assert tidemark("reconcile", "/t", "--config", config).code == USAGE
    assert tidemark("reconcile", "--config", config).code == USAGE
    assert tidemark("reconcile", "", "--config", config).code == USAGE
    assert tidemark("reconcile", "/t", "--config", tmp_path / "none").code in (USAGE, UNREADABLE)
