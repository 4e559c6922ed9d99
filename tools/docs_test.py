#!/usr/bin/env python3
"""What pages say of the repository is true: the tests that docs/complaints.md names exist."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMPLAINTS = 61


def rows_of(page):
    """The numbered rows of all tables of a page, as lists of cells."""
    rows = []
    for line in (ROOT / page).read_text().split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0].isdigit():
            rows.append(cells)
    return rows


class Tests:
    """Names of all tests in the tree."""

    def __init__(self):
        self.cpp, self.cases, self.python = set(), set(), set()
        for folder in ("src", "tests", "bench"):
            for file in (ROOT / folder).rglob("*.cc"):
                text = file.read_text()
                found = re.findall(r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|RC_GTEST_PROP)\(\s*(\w+),\s*(\w+)", text, re.M)
                self.cpp |= {".".join(pair) for pair in found}
                self.cases |= set(re.findall(r'\{"(Case\d\d\w+)"', text))
        for file in (ROOT / "tests").rglob("test_*.py"):
            self.python |= {f"{file.name}::{name}" for name in re.findall(r"^def (\w+)", file.read_text(), re.M)}

    def __contains__(self, name):
        return name in self.cpp or name in self.cases or name in self.python


class ComplaintsTest(unittest.TestCase):
    def test_every_complaint_has_a_row(self):
        self.assertEqual([int(row[0]) for row in rows_of("docs/complaints.md")], list(range(1, COMPLAINTS + 1)))

    def test_every_test_that_is_named_exists(self):
        tests = Tests()
        for number, _, _, shown in rows_of("docs/complaints.md"):
            for name in re.findall(r"`([^`]+)`", shown):
                self.assertIn(name, tests, f"complaint {number}")

    def test_a_row_without_a_test_says_that_it_is_not_answered(self):
        for number, _, answer, shown in rows_of("docs/complaints.md"):
            if "`" not in shown:
                self.assertRegex(answer, r"\*\*not answered\*\*|nothing is learned", f"complaint {number}")

    def test_a_name_that_is_no_test_would_be_found(self):
        tests = Tests()
        for name in ("PipelineStatusTest.NoSuchTest", "Case99NoSuchCase", "test_rules.py::test_no_such_test"):
            self.assertNotIn(name, tests)


class OperationsTest(unittest.TestCase):
    def test_every_alert_has_a_row_of_what_to_do(self):
        alerts = re.findall(r"^### (Tidemark\w+)$", (ROOT / "docs/rules.md").read_text(), re.M)
        self.assertGreater(len(alerts), 5)
        page = (ROOT / "docs/operations.md").read_text()
        for alert in alerts:
            self.assertRegex(page, rf"(?m)^\| .*`{alert}`")

    def test_every_reason_has_a_row_of_what_to_do(self):
        names = (ROOT / "src/freshness/report.cc").read_text()
        reasons = set(re.findall(r'case Reason::k\w+:\s*return "(\w+)"', names)) - {"ok"}
        self.assertGreater(len(reasons), 10)
        page = (ROOT / "docs/operations.md").read_text()
        for reason in sorted(reasons):
            self.assertRegex(page, rf"(?m)^\| .*`{reason}`")

    def test_links_between_pages_lead_somewhere(self):
        for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "packaging").rglob("*.md")]:
            for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")


if __name__ == "__main__":
    sys.exit(unittest.main())
