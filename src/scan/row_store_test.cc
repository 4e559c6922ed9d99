#include "scan/row_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "columnar/batch_writer.h"
#include "support/result_matchers.h"

namespace tidemark::scan {
namespace {

/// A string as Avro writes it.
std::string Encoded(const std::string& text) {
  return std::string(1, static_cast<char>(2 * text.size())) + text;
}

/// More writers than are remembered, met in turns: each record is decoded as its own wrote it.
TEST(RowStoreTest, RecordsOfManyWritersAreDecodedAsEachWroteThem) {
  constexpr size_t kWriters = 600;
  const std::string a = R"({"name":"a","type":"string"})";
  const std::string b = R"({"name":"b","type":"string"})";
  ASSERT_OK_ASSIGN(const auto table, lake::avro::Schema::Parse(
                                         R"({"type":"record","name":"t","fields":[)" + a + "]}"));
  ASSERT_OK_ASSIGN(
      auto type, columnar::RowType::Make(table, std::vector<columnar::WantedColumn>{{"a"}}));
  RowStore rows(type);
  std::deque<std::string> kept;
  std::vector<merge::RowHandle> handles;
  for (size_t i = 0; i < kWriters; ++i) {
    const std::string fields = i % 2 == 0 ? a : b + "," + a;
    kept.push_back(R"({"type":"record","namespace":"n)" + std::to_string(i) +
                   R"(","name":"t","fields":[)" + fields + "]}");
    const auto source = rows.AddRecords(kept.back(), {});
    const std::string value = Encoded("v" + std::to_string(i));
    kept.push_back(i % 2 == 0 ? value : Encoded("other") + value);
    handles.push_back(rows.AddRecord(source, kept.back()));
  }
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < kWriters; ++i) {
      ASSERT_OK_ASSIGN(const auto row, rows.Decode(handles[i]));
      EXPECT_EQ(columnar::RowJson(row, 0), R"({"a":"v)" + std::to_string(i) + "\"}");
    }
  }
}

}  // namespace
}  // namespace tidemark::scan
