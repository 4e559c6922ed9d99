#include "scan/key_table.h"

#include <gtest/gtest.h>

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark::scan {
namespace {

uint32_t Add(KeyTable& table, std::string_view key) {
  return table.FindOrAdd(key, KeyTable::Hash(key));
}

TEST(KeyTableTest, NumbersKeysInTheOrderTheyCome) {
  KeyTable table;
  EXPECT_EQ(Add(table, "b"), 0u);
  EXPECT_EQ(Add(table, "a"), 1u);
  EXPECT_EQ(Add(table, "b"), 0u);
  EXPECT_EQ(Add(table, ""), 2u);
  EXPECT_EQ(table.size(), 3u);
  EXPECT_EQ(table.key(1), "a");
}

TEST(KeyTableTest, AnEmptyTableFindsNothing) {
  const KeyTable table;
  EXPECT_EQ(table.Find("a", KeyTable::Hash("a")), std::nullopt);
}

TEST(KeyTableTest, FindsEveryKeyAfterGrowing) {
  KeyTable table;
  std::deque<std::string> keys;
  for (int i = 0; i < 20'000; ++i) {
    keys.push_back("key-" + std::to_string(i * 7919));
    ASSERT_EQ(Add(table, keys.back()), static_cast<uint32_t>(i));
  }
  for (uint32_t i = 0; i < keys.size(); ++i) {
    ASSERT_EQ(table.Find(keys[i], KeyTable::Hash(keys[i])), i);
  }
  EXPECT_EQ(table.Find("key-1", KeyTable::Hash("key-1")), std::nullopt);
}

TEST(KeyTableTest, KeysOfOneHashStayApart) {
  KeyTable table;
  EXPECT_EQ(table.FindOrAdd("a", 42), 0u);
  EXPECT_EQ(table.FindOrAdd("b", 42), 1u);
  EXPECT_EQ(table.Find("a", 42), 0u);
  EXPECT_EQ(table.Find("b", 42), 1u);
}

TEST(KeyTableTest, HashesDifferInEveryByteAndInLength) {
  std::set<uint64_t> hashes;
  const std::string key(40, 'x');
  for (size_t length = 0; length <= key.size(); ++length) {
    hashes.insert(KeyTable::Hash(key.substr(0, length)));
    for (size_t at = 0; at < length; ++at) {
      std::string changed = key.substr(0, length);
      changed[at] = 'y';
      hashes.insert(KeyTable::Hash(changed));
    }
  }
  EXPECT_EQ(hashes.size(), 41u + 40u * 41u / 2u);
}

TEST(KeyTableTest, ManyKeysAreFoundAsOneByOne) {
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back("key" + std::to_string(i));
  KeyTable table;
  // Sixteen hashes: many keys look alike before they are compared.
  const auto hash = [](std::string_view key) { return KeyTable::Hash(key) & 15; };
  std::vector<KeyTable::Lookup> lookups;
  for (const auto& key : keys) lookups.push_back({key, hash(key), 7});
  table.FindMany(lookups);
  for (const auto& lookup : lookups) EXPECT_EQ(lookup.number, std::nullopt);
  for (size_t i = 0; i < keys.size() && table.size() < 200; i += 3) {
    table.FindOrAdd(keys[i], hash(keys[i]));
  }
  table.FindMany(lookups);
  for (const auto& lookup : lookups) {
    EXPECT_EQ(lookup.number, table.Find(lookup.key, lookup.hash)) << lookup.key;
  }
  EXPECT_EQ(lookups[3].number, 1U);
}

}  // namespace
}  // namespace tidemark::scan
