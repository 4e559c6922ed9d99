#!/usr/bin/env python3
"""Tests of tools/tidy: for every rule a tree that breaks it and one that does not."""
import importlib.machinery
import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
loader = importlib.machinery.SourceFileLoader("tidy", os.path.join(HERE, "tidy"))
spec = importlib.util.spec_from_loader("tidy", loader)
tidy = importlib.util.module_from_spec(spec)
sys.modules["tidy"] = tidy
loader.exec_module(tidy)


def run(check, files, **options):
    """The problems of one check on a tree given as path -> text, as strings."""
    tree = tidy.Tree({path: text if isinstance(text, bytes) else text.encode() for path, text in files.items()})
    return [str(problem) for problem in check(tree, **options)]


class RuleTest(unittest.TestCase):
    def breaks(self, check, files, *expected, **options):
        """Exactly one problem, and each of `expected` is in it."""
        problems = run(check, files, **options)
        self.assertEqual(len(problems), 1, problems)
        for part in expected:
            self.assertIn(part, problems[0])

    def keeps(self, check, files, **options):
        self.assertEqual(run(check, files, **options), [])


class LayersTest(RuleTest):
    def test_including_to_the_right_is_a_problem(self):
        self.breaks(tidy.check_layers, {"src/base/a.cc": '#include "lake/finding.h"\n'},
                    "src/base/a.cc:1:", "base must not include lake")

    def test_including_a_neighbour_is_a_problem(self):
        self.breaks(tidy.check_layers, {"src/lake/a.cc": '#include "storage/object_store.h"\n'},
                    "lake must not include storage")

    def test_including_to_the_left_is_fine(self):
        self.keeps(tidy.check_layers, {"src/lake/hudi/a.cc": '#include "storage/object_store.h"\n'
                                                             '#include "lake/avro/value.h"\n#include "base/error.h"\n'
                                                             '#include "lake/hudi/table.h"\n#include <lake>\n'})

    def test_a_folder_inside_a_module_belongs_to_it(self):
        self.keeps(tidy.check_layers, {"src/storage/s3/a.cc": '#include "storage/object_store.h"\n'})
        self.breaks(tidy.check_layers, {"src/storage/s3/a.cc": '#include "http/router.h"\n'}, "storage must not")

    def test_judges_see_only_values(self):
        for judge in ("freshness", "merge"):
            for target in ("storage/a.h", "lake/hudi/a.h", "lake/avro/a.h", "kafka/client/a.h", "columnar/a.h"):
                with self.subTest(judge=judge, target=target):
                    self.breaks(tidy.check_layers, {f"src/{judge}/a.cc": f'#include "{target}"\n'}, "must not include")
            self.keeps(tidy.check_layers, {f"src/{judge}/a.cc": '#include "lake/commit_point.h"\n'
                                                                '#include "kafka/positions.h"\n'})

    def test_an_unknown_module_is_a_problem(self):
        self.breaks(tidy.check_layers, {"src/misplaced/a.cc": ""}, "no module of this name")

    def test_outside_src_everything_may_be_included(self):
        self.keeps(tidy.check_layers, {"tests/acceptance/a.cc": '#include "cli/a.h"\n#include "base/error.h"\n'})

    def test_an_internal_header_stays_in_its_module(self):
        line = '#include "base/clock_internal.h"\n'
        self.breaks(tidy.check_layers, {"src/lake/a.cc": line}, "internal to base")
        self.breaks(tidy.check_layers, {"tests/a.cc": line}, "internal to base")
        self.keeps(tidy.check_layers, {"src/base/a_test.cc": line, "fuzz/a.cc": line})


class IncludesTest(RuleTest):
    def test_a_quoted_path_starts_at_an_include_root(self):
        self.breaks(tidy.check_include_paths, {"src/base/a.h": "", "src/base/a.cc": '#include "a.h"\n'}, '"a.h"')
        self.keeps(tidy.check_include_paths, {"src/base/a.h": "", "src/base/a.cc": '#include "base/a.h"\n',
                                              "tests/support/b.h": "", "tests/b.cc": '#include "support/b.h"\n'})

    def test_a_configured_header_exists(self):
        self.keeps(tidy.check_include_paths, {"src/cli/version.h.in": "", "src/cli/a.cc": '#include "cli/version.h"\n'})

    def test_a_wrapped_library_is_included_by_its_wrapper_only(self):
        for path, allowed, forbidden in (("librdkafka/rdkafka.h", "src/kafka/client/a.cc", "src/kafka/a.cc"),
                                         ("arrow/api.h", "src/columnar/a.cc", "src/lake/hudi/a.cc"),
                                         ("parquet/arrow/reader.h", "src/columnar/a.cc", "tests/a.cc"),
                                         ("curl/curl.h", "src/storage/s3/a.cc", "src/app/a.cc")):
            with self.subTest(path=path):
                self.keeps(tidy.check_libraries, {allowed: f"#include <{path}>\n"})
                self.breaks(tidy.check_libraries, {forbidden: f"#include <{path}>\n"}, f"{forbidden}:1:", "only; use")

    def test_the_bench_may_use_librdkafka(self):
        self.keeps(tidy.check_libraries, {"bench/a.cc": "#include <librdkafka/rdkafka.h>\n"})

    def test_a_heavy_header_is_not_included_by_a_header(self):
        for path in ("nlohmann/json.hpp", "simdjson.h", "httplib.h"):
            with self.subTest(path=path):
                self.breaks(tidy.check_libraries, {"src/api/a.h": f"#include <{path}>\n"}, "too heavy")
                self.keeps(tidy.check_libraries, {"src/api/a.cc": f"#include <{path}>\n"})


class BannedTest(RuleTest):
    def test_banned_names_are_found_in_code(self):
        for line in ("std::cout << 1;", "sprintf(b, f);", "strcpy(a, b);", "n = atoi(s);", "strtol(s, 0, 10);",
                     "auto p = new Foo(1);", "auto p = new (place) Foo;", "delete p;", "delete[] p;", "std::stoi(s);",
                     "std::this_thread::sleep_for(1s);", "assert(x);", "std::expected<int, E> f();",
                     "throw Bad();", "  GTEST_SKIP();", "TEST(A, DISABLED_B) {"):
            with self.subTest(line=line):
                self.breaks(tidy.check_banned, {"src/lake/a.cc": f"int x;\n{line}\n"}, "src/lake/a.cc:2:")

    def test_alike_names_are_fine(self):
        for line in ("static_assert(true);", "snprintf(b, n, f);", "Foo(const Foo&) = delete;",
                     "void operator delete(void*);", "void* operator new(size_t);", "int new_size = renew(1);",
                     "// a new assert( of ours, throw nothing", 'Log("new");', "R\"(throw new x)\";", "char c = '\"';",
                     "my_strcpy(a);", "std::from_chars(a, b, c);", "auto Throws();", "noexcept(true);"):
            with self.subTest(line=line):
                self.keeps(tidy.check_banned, {"src/lake/a.cc": line + "\n"})

    def test_the_place_that_owns_a_name_may_use_it(self):
        self.keeps(tidy.check_banned, {"src/cli/a.cc": "std::cout << 1;", "src/base/error.h": "std::expected<T, Error>",
                                       "bench/a.cc": "std::this_thread::sleep_for(1s);"})

    def test_a_header_opens_no_namespace(self):
        self.breaks(tidy.check_banned, {"src/base/a.h": "using namespace std;"}, "using namespace")
        self.keeps(tidy.check_banned, {"src/base/a.cc": "using namespace std::chrono_literals;"})

    def test_leftovers_are_found_in_every_text_file(self):
        for text in ("// TODO(x): y", "# FIXME", "XXX", "HACK:", "pytest.skip('x')", "@pytest.mark.xfail"):
            with self.subTest(text=text):
                self.breaks(tidy.check_leftovers, {"tests/a.py": text}, "tests/a.py:1:")
        self.keeps(tidy.check_leftovers, {"tests/a.py": "mktemp /tmp/a.XXXXXX; hackney", "testdata/a": "TODO"})


class NamesTest(RuleTest):
    def test_empty_file_names(self):
        for path in ("src/base/string_utils.cc", "src/lake/common.h", "src/app/manager.cc", "tests/helpers/a.cc",
                     "src/lake/data.h", "src/lake/info.h"):
            with self.subTest(path=path):
                self.breaks(tidy.check_names, {path: ""}, f"{path}:1:", "says nothing")

    def test_empty_class_names(self):
        for line in ("class StoreManager {", "struct Data {", "class LocalStoreImpl final {", "struct Info;"):
            with self.subTest(line=line):
                self.breaks(tidy.check_names, {"src/lake/a.h": line}, "says nothing")

    def test_names_that_say_something(self):
        self.keeps(tidy.check_names, {"src/lake/metadata.h": "struct ObjectInfo {};\nclass Database;", "testdata/a": "",
                                      "testdata/data/common.json": "", "src/base/commons.h": ""})


class ForeignTest(RuleTest):
    def test_paths_of_a_machine(self):
        for path in ("/work/main", "/root/.cache", "file:///home/u/x", "/farm/1"):
            with self.subTest(path=path):
                self.breaks(tidy.check_foreign, {"a.md": f"see {path}"}, "path of one machine")

    def test_paths_in_bytes_count(self):
        self.breaks(tidy.check_foreign, {"testdata/a.parquet": b"\0\0 /work/x"}, "path of one machine")

    def test_other_paths(self):
        self.keeps(tidy.check_foreign, {"a.md": "$HOME/x ~/root/ s3://lake/work/x build/home/ /tmp/x https://a.b/home"})

    def test_registries(self):
        self.breaks(tidy.check_foreign, {"scripts/a": "curl https://pypi.org/simple"}, "registry")
        self.breaks(tidy.check_foreign, {"scripts/a": "pip install --index-url x y"}, "registry")
        self.keeps(tidy.check_foreign, {"scripts/a": "pip install moto; npm pack x; https://kafka.apache.org/"})


class LinesTest(RuleTest):
    def test_long_lines(self):
        self.breaks(tidy.check_lines, {"src/a.cc": "x " * 50 + "x\n"}, "101 columns")
        self.breaks(tidy.check_lines, {"a.py": "x " * 60 + "x\n"}, "121 columns")
        self.keeps(tidy.check_lines, {"src/a.cc": "x " * 49 + "xx\n", "a.py": "x " * 59 + "xx\n"})

    def test_columns_are_characters(self):
        self.keeps(tidy.check_lines, {"src/a.cc": "é " * 49 + "éé\n"})

    def test_a_url_cannot_be_broken(self):
        self.keeps(tidy.check_lines, {"src/a.cc": "// https://example.org/" + "x" * 90 + "\n",
                                      "a.md": "| a table row | " + "x " * 80 + "|\n", "testdata/a.json": "x " * 99})

    def test_trailing_blanks(self):
        self.breaks(tidy.check_lines, {"a.md": "text  \n"}, "a.md:1:", "blanks at the end")
        self.breaks(tidy.check_lines, {"a.sh": "\t\n"}, "blanks at the end")
        self.keeps(tidy.check_lines, {"a.md": "text\n\n", "fuzz/corpus/x/1": "a \n"})


class SizesTest(RuleTest):
    def test_sizes_of_headers_and_sources(self):
        self.breaks(tidy.check_sizes, {"src/a.h": "\n" * 151}, "warning: 151 lines")
        self.breaks(tidy.check_sizes, {"src/a.h": "\n" * 301}, "src/a.h:1: 301 lines")
        self.breaks(tidy.check_sizes, {"src/a.cc": "\n" * 401}, "warning: 401 lines")
        self.breaks(tidy.check_sizes, {"src/a.cc": "\n" * 801}, "src/a.cc:1: 801 lines")
        self.keeps(tidy.check_sizes, {"src/a.h": "\n" * 150, "src/a.cc": "\n" * 400, "a.md": "\n" * 2000})

    def test_big_files(self):
        self.breaks(tidy.check_sizes, {"testdata/a.bin": b"\0" * ((1 << 20) + 1)}, "1048577 bytes")
        self.keeps(tidy.check_sizes, {"testdata/a.bin": b"\0" * (1 << 20)})


class FunctionsTest(RuleTest):
    @staticmethod
    def body(lines):
        return "{\n" + "  Step();\n" * (lines - 2) + "}\n"

    def names(self, text):
        return [(name, line, count) for name, line, count in tidy.functions(tidy.blanked(text))]

    def test_long_functions(self):
        for head in ("int Foo::Bar(int a) const ", "template <class T>\nResult<T> Read(Span<T> s) ",
                     "TEST_F(ATest, DoesIt) ", "Foo::Foo() : a_(1), b_{2} ", "auto f() -> std::vector<int> ",
                     "struct stat Look(const char* path) ", "bool operator==(A a, A b) ",
                     "static void F(Opts o = {}, int x = 1) noexcept "):
            with self.subTest(head=head):
                extra = head.count("\n")
                self.breaks(tidy.check_functions, {"src/a.cc": head + self.body(71)}, f"has {71 + extra} lines")
                self.keeps(tidy.check_functions, {"src/a.cc": head + self.body(70 - extra)})

    def test_tables_and_scopes_are_no_functions(self):
        for head in ("namespace tidemark::lake ", "class A final : public B<int> ", "const Case kCases[] = ",
                     "enum class E : int ", 'extern "C" ', "template <class T>\nstruct Tag "):
            with self.subTest(head=head):
                self.keeps(tidy.check_functions, {"src/a.cc": head + self.body(99)})

    def test_functions_are_found_inside_scopes(self):
        text = ("namespace a {\nclass B {\n public:\n  B() : x_{1} {}\n  int F() {\n    if (x) {\n      g();\n    }\n"
                "    return 1;\n  }\n  int x_ = 1;\n};\n#define M(x) \\\n  if (x) {\nint G(int y) {\n"
                "  auto l = [&](int z) { return z; };\n  return l(y);\n}\n}\n")
        self.assertEqual(self.names(text), [("B", 4, 1), ("F", 5, 6), ("G", 15, 4)])

    def test_braces_in_literals_and_comments_do_not_count(self):
        text = 'int F() {\n  // {\n  Log("{", \'{\', R"({)", 1\'000);\n}\nint G() {\n}\n'
        self.assertEqual([name for name, _, _ in self.names(text)], ["F", "G"])

    def test_the_ratchet_only_shrinks(self):
        files = {"src/a.cc": "int F() " + self.body(80)}
        self.keeps(tidy.check_functions, files, ratchet={"src/a.cc:F": 80})
        self.breaks(tidy.check_functions, files, "grew from 79 to 80", ratchet={"src/a.cc:F": 79})
        self.breaks(tidy.check_functions, files, "lower its number", ratchet={"src/a.cc:F": 81})
        self.breaks(tidy.check_functions, {"src/a.cc": ""}, "delete its entry", ratchet={"src/a.cc:F": 80})


class OrphansTest(RuleTest):
    CMAKE = "tidemark_library(base\n  SRCS a.cc  # b.cc\n  HDRS a.h\n  DEPS fmt::fmt\n  TESTS a_test.cc)\n"

    def test_listed_files(self):
        self.keeps(tidy.check_orphans, {"src/base/CMakeLists.txt": self.CMAKE, "src/base/a.h": "", "src/base/a.cc": "",
                                        "src/base/a_test.cc": "", "bench/CMakeLists.txt": "add_executable(b b.cc)",
                                        "bench/b.cc": '#include "b.h"', "bench/b.h": ""})

    def test_unlisted_files(self):
        for path, what in (("src/base/b.h", "no module owns"), ("src/base/b.cc", "nobody builds"),
                           ("tests/support/b.h", "nobody includes"), ("bench/b.cc", "nobody builds")):
            with self.subTest(path=path):
                self.breaks(tidy.check_orphans, {"src/base/CMakeLists.txt": self.CMAKE, path: ""}, path, what)

    def test_a_header_under_srcs_is_not_owned(self):
        self.breaks(tidy.check_orphans, {"src/base/CMakeLists.txt": "tidemark_library(base SRCS b.h)",
                                         "src/base/b.h": ""}, "under HDRS")


class FoldersTest(RuleTest):
    def test_a_module_has_its_two_files(self):
        self.breaks(tidy.check_folders, {"src/base/a.cc": "", "src/base/CMakeLists.txt": ""},
                    "src/base/README.md:1: missing")
        self.breaks(tidy.check_folders, {"src/base/a.cc": "", "src/base/README.md": ""},
                    "src/base/CMakeLists.txt:1: missing")
        self.breaks(tidy.check_folders, {"src/base/a.h": "", "src/base/CMakeLists.txt": ""}, "missing")
        self.keeps(tidy.check_folders, {"src/base/a.cc": "", "src/base/README.md": "", "src/base/CMakeLists.txt": ""})


class HeaderFormTest(RuleTest):
    GOOD = "/// What it is for,\n/// in a sentence.\n#pragma once\n"

    def test_good_forms(self):
        self.keeps(tidy.check_header_form, {"src/base/a.h": self.GOOD, "src/base/b_internal.h": "#pragma once\n"})

    def test_bad_forms(self):
        self.breaks(tidy.check_header_form, {"src/base/a.h": "/// Text.\n"}, "#pragma once")
        for text in ("#pragma once\n", "// Text.\n#pragma once\n", "/// No stop\n#pragma once\n",
                     "///\n#pragma once\n"):
            with self.subTest(text=text):
                self.breaks(tidy.check_header_form, {"src/base/a.h": text}, "`///` sentence")


class ProgramTest(unittest.TestCase):
    def test_reads_new_files_and_not_ignored_ones(self):
        with tempfile.TemporaryDirectory() as root:
            subprocess.run(["git", "init", "-q", root], check=True)
            for path, text in ((".gitignore", "build/\n"), ("a.md", "x \n"), ("build/b.md", "x \n")):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w") as file:
                    file.write(text)
            done = subprocess.run([sys.executable, os.path.join(HERE, "tidy"), root], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertEqual(done.stdout.splitlines()[0], "a.md:1: blanks at the end of the line; remove them")
            self.assertEqual(done.stdout.splitlines()[-1], "tidy: 2 files, 1 problems, 0 warnings")
            os.remove(os.path.join(root, "a.md"))
            done = subprocess.run([sys.executable, os.path.join(HERE, "tidy"), root], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
