#include "change/schema_diff.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "support/result_matchers.h"

namespace tidemark::change {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

std::string Show(const SchemaDiff& diff) {
  return fmt::format("{} {} {}->{}", SchemaOpName(diff.op), diff.path, diff.from, diff.to);
}
std::vector<std::string> Show(const std::vector<SchemaDiff>& diffs) {
  std::vector<std::string> lines;
  for (const auto& diff : diffs) lines.push_back(Show(diff));
  return lines;
}

const std::string kOuterName = "outer";
std::string Struct(const std::string& fields) {
  return R"({"type":"record","name":")" + kOuterName + R"(","fields":[)" + fields + "]}";
}

/// A column as a test writes it: "a int", "a int!" for one that is not null, "a int =7" with a
/// default, "a int #note" with a comment; nested types as Avro. `ids`: one for each column, or
/// none.
Schema Make(const std::vector<std::string>& columns, const std::vector<int>& ids = {}) {
  std::string avro;
  std::string internal;
  for (size_t i = 0; i < columns.size(); ++i) {
    std::string text = columns[i];
    const auto cut = [&](const std::string& mark) {
      const size_t at = text.find(mark);
      std::string rest = at == text.npos ? "" : text.substr(at + mark.size());
      text = text.substr(0, at);
      return rest;
    };
    const std::string comment = cut(" #");
    const std::string fallback = cut(" =");
    const size_t blank = text.find(' ');
    const std::string name = text.substr(0, blank);
    std::string type = text.substr(blank + 1);
    const bool is_required = type.ends_with('!');
    if (is_required) type.pop_back();
    if (type[0] != '{') type = "\"" + type + "\"";
    // Each record has a name of its own.
    if (const size_t at = type.find(kOuterName); at != type.npos)
      type.replace(at, kOuterName.size(), "record_of_" + name);
    if (i > 0) {
      avro += ",";
      internal += ",";
    }
    avro += fmt::format(R"({{"name":"{}","type":{},"doc":"{}"{}}})", name,
                        is_required ? type : "[\"null\"," + type + "]", comment,
                        fallback.empty() ? "" : ",\"default\":" + fallback);
    if (!ids.empty()) {
      internal += fmt::format(R"({{"id":{},"name":"{}","optional":{},"type":{},"doc":"{}"}})",
                              ids[i], name, !is_required, type, comment);
    }
  }
  const std::string record = R"({"type":"record","name":"t","fields":[)" + avro + "]}";
  auto schema = ids.empty() ? ParseAvroColumns(record)
                            : ParseInternalColumns(
                                  R"({"type":"record","fields":[)" + internal + "]}", record);
  EXPECT_TRUE(schema) << record << internal;
  return schema ? *std::move(schema) : Schema();
}

std::string Leaf(const std::string& name, const std::string& type) {
  return R"({"name":")" + name + R"(","type":")" + type + "\"}";
}

struct Case {
  std::string name;
  Schema from;
  Schema to;
  std::vector<std::string> diffs;
};

std::vector<Case> ColumnCases() {
  return {
      {"nothing", Make({"a int"}), Make({"a int"}), {}},
      {"from nothing", Make({}), Make({"a int", "b long"}), {"ADD a ->int", "ADD b ->bigint"}},
      {"to nothing", Make({"a int", "b long"}), Make({}), {"DROP a int->", "DROP b bigint->"}},
      {"added at the end", Make({"a int"}), Make({"a int", "b int"}), {"ADD b ->int"}},
      {"added in the middle moves nobody",
       Make({"a int", "c int"}),
       Make({"a int", "b int", "c int"}),
       {"ADD b ->int"}},
      {"dropped in the middle",
       Make({"a int", "b int", "c int"}),
       Make({"a int", "c int"}),
       {"DROP b int->"}},
      {"promoted", Make({"a int"}), Make({"a long"}), {"TYPE a int->bigint"}},
      {"made optional", Make({"a int!"}), Make({"a int"}), {"NULLABILITY a NOT NULL->NULL"}},
      {"made required", Make({"a int"}), Make({"a int!"}), {"NULLABILITY a NULL->NOT NULL"}},
      {"default given", Make({"a int!"}), Make({"a int! =7"}), {"DEFAULT a ->7"}},
      {"default changed", Make({"a int! =7"}), Make({"a int! =8"}), {"DEFAULT a 7->8"}},
      {"null is no default", Make({"a int"}), Make({"a int =null"}), {}},
      {"commented", Make({"a int"}), Make({"a int #x"}), {"COMMENT a ->x"}},
      {"everything of one column",
       Make({"a int! =7 #x"}),
       Make({"a long =null #y"}),
       {"TYPE a int->bigint", "NULLABILITY a NOT NULL->NULL", "DEFAULT a 7->", "COMMENT a x->y"}},
      {"the last moved to the front",
       Make({"a int", "b int", "c int"}),
       Make({"c int", "a int", "b int"}),
       {"REORDER c 2->0"}},
      {"the first moved to the end",
       Make({"a int", "b int", "c int"}),
       Make({"b int", "c int", "a int"}),
       {"REORDER a 0->2"}},
      {"two swapped", Make({"a int", "b int"}), Make({"b int", "a int"}), {"REORDER b 1->0"}},
  };
}

std::vector<Case> IdCases() {
  return {
      {"renamed without ids is dropped and added",
       Make({"a int", "b int"}),
       Make({"z int", "b int"}),
       {"DROP a int->", "ADD z ->int"}},
      {"renamed with ids",
       Make({"a int", "b int"}, {5, 6}),
       Make({"z int", "b int"}, {5, 6}),
       {"RENAME z a->z"}},
      {"renamed, widened and moved",
       Make({"a int", "b int"}, {5, 6}),
       Make({"b int", "z long"}, {6, 5}),
       {"REORDER b 1->0", "RENAME z a->z", "TYPE z int->bigint"}},
      {"ids on one side only",
       Make({"a int"}, {5}),
       Make({"z int"}),
       {"DROP a int->", "ADD z ->int"}},
      {"ids that came into being change nothing", Make({"a int"}), Make({"a int"}, {5}), {}},
      {"ids that came into being with a rename",
       Make({"a int", "b int"}),
       Make({"z int", "b int"}, {5, 6}),
       {"RENAME z a->z"}},
      {"ids that came into being otherwise tell nothing",
       Make({"a int", "b int", "c int"}),
       Make({"z int", "b int", "c int"}, {5, 6, 8}),
       {"DROP a int->", "ADD z ->int"}},
      {"no column is left to tell how they were counted",
       Make({"a int"}),
       Make({"z int"}, {5}),
       {"DROP a int->", "ADD z ->int"}},
      {"ids given again, with a rename",
       Make({"a int", "b int"}, {5, 7}),
       Make({"a int", "z int"}, {5, 6}),
       {"RENAME z b->z"}},
      {"dropped and made anew",
       Make({"a int", "b int"}, {5, 6}),
       Make({"b int", "c int"}, {6, 7}),
       {"DROP a int->", "ADD c ->int"}},
      // Lost after a writer without them, then given from 0: c has b's old one.
      {"ids counted anew",
       Make({"a int", "b int"}, {5, 7}),
       Make({"a int", "b int", "c int"}, {5, 6, 7}),
       {"ADD c ->int"}},
  };
}

std::vector<Case> NestedCases() {
  return {
      {"inside a struct",
       Make({"s " + Struct(Leaf("x", "int") + "," + Leaf("y", "int"))}),
       Make({"s " + Struct(Leaf("y", "long") + "," + Leaf("z", "int"))}),
       {"DROP s.x int->", "TYPE s.y int->bigint", "ADD s.z ->int"}},
      {"inside an array",
       Make({R"(a {"type":"array","items":)" + Struct(Leaf("x", "int")) + "}"}),
       Make({R"(a {"type":"array","items":)" + Struct(Leaf("x", "long")) + "}"}),
       {"TYPE a.element.x int->bigint"}},
      {"inside a map",
       Make({R"(m {"type":"map","values":"int"})"}),
       Make({R"(m {"type":"map","values":["null","long"]})"}),
       {"TYPE m.value int->bigint", "NULLABILITY m.value NOT NULL->NULL"}},
      {"another kind is another type, without its inside",
       Make({"s " + Struct(Leaf("x", "int"))}),
       Make({R"(s {"type":"map","values":"int"})"}),
       {"TYPE s struct<x:int>->map<string,int>"}},
      {"a struct is added whole",
       Make({}),
       Make({"s " + Struct(Leaf("x", "int"))}),
       {"ADD s ->struct<x:int>"}},
      {"drops come first",
       Make({"a int", "b int", "c int"}),
       Make({"n int", "b long"}),
       {"DROP a int->", "DROP c int->", "ADD n ->int", "TYPE b int->bigint"}},
  };
}

std::vector<Case> Cases() {
  std::vector<Case> cases = ColumnCases();
  std::ranges::move(IdCases(), std::back_inserter(cases));
  std::ranges::move(NestedCases(), std::back_inserter(cases));
  return cases;
}

TEST(SchemaDiffTest, EachChangeIsToldOnce) {
  for (const Case& each : Cases())
    EXPECT_THAT(Show(DiffSchemas(each.from, each.to)), ElementsAreArray(each.diffs)) << each.name;
}

TEST(SchemaDiffTest, ThereAreNoneExactlyWhenFingerprintsAreEqual) {
  for (const Case& each : Cases()) {
    EXPECT_EQ(DiffSchemas(each.from, each.to).empty(), each.from.fingerprint == each.to.fingerprint)
        << each.name;
    EXPECT_EQ(DiffSchemas(each.to, each.from).empty(), each.from.fingerprint == each.to.fingerprint)
        << each.name;
    for (const Schema& schema : {each.from, each.to})
      EXPECT_THAT(Show(DiffSchemas(schema, schema)), IsEmpty()) << each.name;
  }
}

/// Random columns of few names and types, so that many are equal.
Schema MakeRandom(std::mt19937& random) {
  const auto below = [&](int end) {
    return std::uniform_int_distribution<int>(0, end - 1)(random);
  };
  std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  std::ranges::shuffle(names, random);
  names.resize(static_cast<size_t>(below(5)));
  std::vector<std::string> columns;
  std::vector<int> ids;
  for (const auto& name : names) {
    const std::vector<std::string> types = {"int", "long!", "string", Struct(Leaf("x", "int")),
                                            Struct(Leaf("y", "int"))};
    columns.push_back(name + " " + types[static_cast<size_t>(below(5))] +
                      (below(4) == 0 ? " #x" : ""));
    ids.push_back(5 + below(6));
  }
  std::vector<int> distinct = ids;
  std::ranges::sort(distinct);
  const bool has_ids = std::ranges::adjacent_find(distinct) == distinct.end() && below(2) == 0 &&
                       std::ranges::none_of(columns, [](const auto& c) { return c.contains('{'); });
  return Make(columns, has_ids ? ids : std::vector<int>());
}

TEST(SchemaDiffTest, RandomSchemasDifferExactlyWhenTheirFingerprintsDo) {
  std::mt19937 random(20240131);
  size_t equal = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Schema from = MakeRandom(random);
    const Schema to = MakeRandom(random);
    const auto diffs = DiffSchemas(from, to);
    ASSERT_EQ(diffs.empty(), from.fingerprint == to.fingerprint)
        << CanonicalText(from.columns) << CanonicalText(to.columns)
        << (diffs.empty() ? "" : Show(diffs.front()));
    if (diffs.empty()) ++equal;
  }
  EXPECT_GT(equal, 100U);
}

}  // namespace
}  // namespace tidemark::change
