#include "scan/text_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "columnar/row_type.h"

namespace tidemark::scan {
namespace {

using columnar::Batch;
using columnar::ColumnView;
using ::testing::HasSubstr;

/// Outlives its batches. A batch of one string column, or of a list of strings, and the record keys
/// k0, k1, … hidden.
class Texts {
 public:
  explicit Texts(const std::vector<std::string>& values, const std::string& type = R"("string")",
                 const std::vector<int32_t>& lists = {}) {
    auto schema = lake::avro::Schema::Parse(
        R"({"type":"record","name":"r","fields":[{"name":"t","type":)" + type + "}]}");
    EXPECT_TRUE(schema.has_value());
    const std::vector<columnar::WantedColumn> wanted = {{"t", true}, {"_hoodie_record_key", false}};
    auto made = columnar::RowType::Make(*schema, wanted);
    EXPECT_TRUE(made.has_value());
    storage_ = std::make_shared<Batch::Storage>(Batch::Storage{*made, 0, {}, nullptr, 0});
    Fill(values, bytes_, offsets_);
    ColumnView text{};
    text.rows = values.size();
    text.values = reinterpret_cast<const uint8_t*>(bytes_.data());
    text.offsets = offsets_.data();
    storage_->rows = lists.empty() ? values.size() : lists.size() - 1;
    lists_ = lists;
    const auto& columns = storage_->type.columns();
    if (lists_.empty()) {
      text.type = &columns[0].type;
      storage_->columns.push_back(text);
    } else {
      ColumnView list{};
      list.type = &columns[0].type;
      list.rows = storage_->rows;
      list.offsets = lists_.data();
      text.type = &columns[0].type.fields.at(0).type;
      list.children.push_back(text);
      storage_->columns.push_back(list);
    }
    std::vector<std::string> keys;
    for (size_t i = 0; i < storage_->rows; ++i) keys.push_back("k" + std::to_string(i));
    Fill(keys, key_bytes_, key_offsets_);
    ColumnView key{};
    key.type = &columns[1].type;
    key.rows = storage_->rows;
    key.values = reinterpret_cast<const uint8_t*>(key_bytes_.data());
    key.offsets = key_offsets_.data();
    storage_->columns.push_back(key);
  }

  /// The first column's rows that are null.
  Texts& WithNulls(uint8_t validity) {
    validity_ = validity;
    storage_->columns[0].validity = &validity_;
    return *this;
  }
  Batch batch() const { return Batch(storage_); }

 private:
  static void Fill(const std::vector<std::string>& values, std::string& bytes,
                   std::vector<int32_t>& offsets) {
    offsets.push_back(0);
    for (const auto& value : values) {
      bytes += value;
      offsets.push_back(static_cast<int32_t>(bytes.size()));
    }
  }

  std::shared_ptr<Batch::Storage> storage_;
  std::string bytes_, key_bytes_;
  std::vector<int32_t> offsets_, key_offsets_, lists_;
  uint8_t validity_ = 0;
};

std::string Told(const Batch& batch) {
  TextCheck check;
  check.Look(batch);
  const auto finding = check.Found("p/f-0");
  return finding ? finding->kind + " " + finding->place + " " + finding->message : "";
}

TEST(TextCheckTest, ValidTextIsNotTold) {
  EXPECT_EQ(Told(Texts({"", "a", "\xC3\xA9", "\xF0\x9F\x8C\x8A", ""}).batch()), "");
  EXPECT_EQ(Told(Texts({}).batch()), "");
}

TEST(TextCheckTest, TheFirstIsNamedAndAllAreCounted) {
  const std::string told = Told(Texts({"a", "\xFF", "b\xC3", "c"}).batch());
  EXPECT_THAT(told, HasSubstr("invalid_text p/f-0 "));
  EXPECT_THAT(told, HasSubstr("values=2 column=t key=k1"));
}

TEST(TextCheckTest, HalvesOfACharacterInTwoValuesAreBothInvalid) {
  EXPECT_THAT(Told(Texts({"\xC3", "\xA9"}).batch()), HasSubstr("values=2 column=t key=k0"));
  EXPECT_THAT(Told(Texts({"\xC3", "", "\xA9"}).batch()), HasSubstr("values=2"));
}

TEST(TextCheckTest, WhatANullHoldsIsNoText) {
  Texts texts({"a", "\xFF", "b"}, R"(["null","string"])");
  EXPECT_EQ(Told(texts.WithNulls(0b101).batch()), "");
}

TEST(TextCheckTest, ItemsOfListsAreText) {
  const std::string told = Told(
      Texts({"a", "b", "\xFF", "c"}, R"({"type":"array","items":"string"})", {0, 2, 2, 4}).batch());
  EXPECT_THAT(told, HasSubstr("values=1 column=t key=k2"));
}

TEST(TextCheckTest, SlicesAreLookedAtAlone) {
  const Texts texts({"\xFF", "a", "b"});
  EXPECT_THAT(Told(texts.batch().Slice(0, 1)), HasSubstr("values=1"));
  EXPECT_EQ(Told(texts.batch().Slice(1, 2)), "");
}

TEST(TextCheckTest, BytesAreNoText) {
  EXPECT_EQ(Told(Texts({"\xFF"}, R"("bytes")").batch()), "");
}

}  // namespace
}  // namespace tidemark::scan
