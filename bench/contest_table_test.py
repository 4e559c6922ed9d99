#!/usr/bin/env python3
"""Tests of the arithmetic behind the bench's table, and of how answers are judged."""
import pathlib
import tempfile
import unittest

import contest_table
import run_bench

MEGABYTE = 1 << 20


def a_run(**changes):
    return {"key": "tidemark", "label": "tidemark", "asked": 10, "answered": 10, "wall_ms": 8.0, "cpu_ms": 4.0,
            "idle_wall_ms": 0.0, "idle_cpu_ms": 0.0,
            "max_rss_bytes": 30 * MEGABYTE, "idle_rss_bytes": 10 * MEGABYTE, "received_bytes": 10 * 2000, "wrong": 0,
            "oldest_error_ms": 0, **changes}


def a_scenario(*runs, batch_bytes=1000):
    rows = [contest_table.summary([run], 10) for run in runs]
    return {"scenario": "some", "partitions": 10, "batch_bytes": batch_bytes, "rows": rows, "load_before": 0,
            "load_after": 0}


class SummaryTest(unittest.TestCase):
    def test_the_median_and_the_worst_of_several_runs(self):
        row = contest_table.summary([a_run(wall_ms=2), a_run(wall_ms=9, answered=7), a_run(wall_ms=4)], 10)
        self.assertEqual((row["wall_ms"], row["wall_ms_min"], row["wall_ms_max"]), (4, 2, 9))
        self.assertEqual((row["decided_share"], row["decided_share_min"]), (1, 0.7))
        self.assertEqual(row["rss_above_idle_bytes"], 20 * MEGABYTE)
        self.assertEqual(row["received_bytes_per_partition"], 2000)

    def test_times_of_a_sample_are_multiplied_and_shares_are_not(self):
        row = contest_table.summary([a_run(asked=5, answered=4, received_bytes=5000)], 10)
        self.assertTrue(row["is_extrapolated"])
        self.assertEqual((row["wall_ms"], row["cpu_ms"]), (16, 8))
        self.assertEqual((row["decided_share"], row["received_bytes_per_partition"]), (0.8, 1000))

    def test_the_start_of_the_client_is_not_multiplied(self):
        row = contest_table.summary([a_run(asked=5, idle_wall_ms=3.0, idle_cpu_ms=4.0)], 10)
        self.assertEqual((row["wall_ms"], row["cpu_ms"]), (3 + 2 * 5, 4))

    def test_one_run_without_any_answer_is_no_answer(self):
        self.assertIsNone(contest_table.summary([a_run(), a_run(oldest_error_ms=None)], 10)["oldest_error_ms"])


class GoalsTest(unittest.TestCase):
    def reached(self, scenario):
        goals = contest_table.goals({"scenarios": [scenario], "start_up_ms": {"freshness": 60, "probe": 10},
                                     "commit_bodies": {}})
        return {what.split(": ")[-1]: is_reached for what, _, _, is_reached in goals}

    def test_all_reached_at_the_edge(self):
        found = self.reached(a_scenario(a_run(max_rss_bytes=60 * MEGABYTE), a_run(key="raw"),
                                        a_run(key="each", wall_ms=160.0)))
        self.assertEqual(set(found.values()), {True})
        self.assertEqual(len(found), 8)

    def test_each_missed_alone(self):
        for what, change in (("decided", {"answered": 9}), ("error of the oldest record", {"oldest_error_ms": 1}),
                             ("error of the oldest record", {"wrong": 1}),
                             ("received against one batch", {"received_bytes": 10 * 2001}),
                             ("memory above the idle client", {"idle_rss_bytes": -21 * MEGABYTE}),
                             ("faster than one by one", {"wall_ms": 8.1})):
            with self.subTest(what=what):
                found = self.reached(a_scenario(a_run(**change), a_run(key="raw"), a_run(key="each", wall_ms=160.0)))
                self.assertEqual([name for name, is_reached in found.items() if not is_reached], [what])

    def test_raw_requests_that_are_much_cheaper_are_a_goal_missed(self):
        for what, change in (("time against raw requests", {"wall_ms": 6.0}),
                             ("CPU against raw requests", {"cpu_ms": 1.9})):
            with self.subTest(what=what):
                found = self.reached(a_scenario(a_run(), a_run(key="raw", **change), a_run(key="each", wall_ms=160.0)))
                self.assertEqual([name for name, is_reached in found.items() if not is_reached], [what])

    def test_time_may_grow_as_partitions_do(self):
        def scenario(partitions, wall_ms):
            return {**a_scenario(a_run(wall_ms=wall_ms), a_run(key="raw")), "partitions": partitions}
        for wall_ms, is_reached in ((1000.0, True), (1001.0, False)):
            found = contest_table.growth([scenario(10_000, 100.0), scenario(100_000, wall_ms)])
            self.assertEqual([reached for *_, reached in found], [is_reached])
        self.assertEqual(contest_table.growth([scenario(1_000, 100.0), scenario(10_000, 2000.0)]), [])

    def test_watermarks_are_compared_with_the_raw_round(self):
        self.assertEqual(self.reached(a_scenario(a_run(), a_run(key="raw", wall_ms=2.0), batch_bytes=None)),
                         {"time against one raw round": False,
                          "freshness on a local table, above what its probe takes alone": True})


class ContradictionsTest(unittest.TestCase):
    def test_only_ours_and_the_limit_must_be_right(self):
        right = a_scenario(a_run(), a_run(key="raw"), a_run(key="once", wrong=3, answered=1, oldest_error_ms=None))
        self.assertEqual(contest_table.contradictions({"scenarios": [right]}), [])
        for change in ({"wrong": 1}, {"answered": 9}, {"oldest_error_ms": 5}):
            with self.subTest(change=change):
                self.assertTrue(contest_table.contradictions({"scenarios": [a_scenario(a_run(key="raw", **change))]}))


class JudgeTest(unittest.TestCase):
    def judged(self, answers):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "asked").write_text("t\t0\t5\nt\t1\t5\n")
            (folder / "truth").write_text("t\t0\t100\nt\t1\t200\nt\t2\t50\n")
            (folder / "answers").write_text(answers)
            return run_bench.judge(folder / "asked", folder / "answers", folder / "truth")

    def test_right_answers(self):
        self.assertEqual(self.judged("t\t0\t100\nt\t1\t200\n"), {"wrong": 0, "oldest_error_ms": 0})

    def test_a_missing_oldest_shows_as_its_error(self):
        self.assertEqual(self.judged("t\t1\t200\n"), {"wrong": 0, "oldest_error_ms": 100})

    def test_a_wrong_stamp_and_a_denied_record_are_wrong(self):
        self.assertEqual(self.judged("t\t0\t101\nt\t1\t-\n"), {"wrong": 2, "oldest_error_ms": 1})

    def test_no_answer(self):
        self.assertEqual(self.judged(""), {"wrong": 0, "oldest_error_ms": None})


if __name__ == "__main__":
    unittest.main()
