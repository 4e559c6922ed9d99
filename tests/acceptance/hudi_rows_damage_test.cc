// Real tables whose log files are cut off or changed at every byte, read under several profiles: no
// crash, no hang, and no rows that are silently fewer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "columnar/batch_writer.h"
#include "columnar/loader.h"
#include "scan/table_scan.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"
#include "support/testdata.h"

namespace tidemark::scan {
namespace {

using support::IsOk;

struct Reading {
  std::multiset<std::string> rows;
  std::multiset<std::string> findings;
  bool failed = false;
};

/// A table in memory, one of whose files is changed.
class DamagedTable {
 public:
  explicit DamagedTable(const std::string& name) {
    const std::string root = std::string(TIDEMARK_TESTDATA) + "/hudi/rows/" + name + "/table";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (!entry.is_regular_file()) continue;
      const std::string key = entry.path().string().substr(root.size() + 1);
      const std::string bytes = support::ReadTestdata("hudi/rows/" + name + "/table/" + key);
      EXPECT_THAT(store_.Put(key, bytes, Budget()), IsOk());
      const std::string file = entry.path().filename();
      if (file.starts_with('.') && file.find(".log.") != file.npos) logs_[key] = bytes;
      if (!key.starts_with(".hoodie")) data_[key] = bytes;
    }
  }

  const std::map<std::string, std::string>& logs() const { return logs_; }
  const std::map<std::string, std::string>& data() const { return data_; }
  void Remove(const std::string& key) { EXPECT_THAT(store_.Remove(key, Budget()), IsOk()); }
  void Put(const std::string& key, const std::string& bytes) {
    EXPECT_THAT(store_.Put(key, bytes, Budget()), IsOk());
  }

  Reading Read(const std::string& profile) const {
    Reading reading;
    ScanOptions options;
    options.profile = profile;
    const auto scan = TableScan::Open(
        store_, columnar::LoadColumnReader, std::move(options),
        [&](const lake::Finding& finding) { reading.findings.insert(finding.kind); }, Budget());
    if (!scan) {
      reading.failed = true;
      return reading;
    }
    const auto counts = scan->Run([&](const columnar::Batch& batch) -> Status {
      for (size_t i = 0; i < batch.rows(); ++i) reading.rows.insert(RowJson(batch, i));
      return {};
    });
    reading.failed = !counts.has_value();
    return reading;
  }

 private:
  storage::MemoryStore store_;
  std::map<std::string, std::string> logs_;
  std::map<std::string, std::string> data_;  // logs too
};

class HudiRowsDamageTest : public testing::TestWithParam<std::string> {};

TEST_P(HudiRowsDamageTest, RowsThatACutHidesAreSaidToBeMissing) {
  DamagedTable table(GetParam());
  const Reading whole = table.Read("event-time");
  ASSERT_FALSE(whole.failed);
  for (const auto& [key, bytes] : table.logs()) {
    for (size_t length = 0; length < bytes.size(); ++length) {
      table.Put(key, bytes.substr(0, length));
      const Reading cut = table.Read("event-time");
      EXPECT_TRUE(cut.failed || !cut.findings.empty()) << key << " cut at " << length;
    }
    table.Put(key, bytes);
  }
}

/// Any file of the data, and commits that others built upon.
TEST_P(HudiRowsDamageTest, RowsOfAFileThatIsGoneAreSaidToBeMissing) {
  DamagedTable table(GetParam());
  const Reading whole = table.Read("event-time");
  for (const auto& [key, bytes] : table.data()) {
    table.Remove(key);
    const Reading less = table.Read("event-time");
    EXPECT_TRUE(less.failed || !less.findings.empty() || less.rows == whole.rows) << key;
    table.Put(key, bytes);
  }
}

TEST_P(HudiRowsDamageTest, AChangedByteIsNoCrash) {
  DamagedTable table(GetParam());
  for (const auto& [key, bytes] : table.logs()) {
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (at % 2 == 0 ? 0xff : 0x01));
      table.Put(key, changed);
      for (const char* profile : {"event-time", "hudi-0.14", "hudi-1.1"}) table.Read(profile);
    }
    table.Put(key, bytes);
  }
}

/// Nothing in a Parquet file protects its footer.
TEST_P(HudiRowsDamageTest, AFooterThatLiesIsSaid) {
  DamagedTable table(GetParam());
  const Reading whole = table.Read("event-time");
  for (const auto& [key, bytes] : table.data()) {
    if (!key.ends_with(".parquet")) continue;
    uint32_t length = 0;
    bytes.copy(reinterpret_cast<char*>(&length), sizeof(length), bytes.size() - 8);
    for (size_t at = bytes.size() - 8 - length; at < bytes.size(); at += 5) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
      table.Put(key, changed);
      const Reading read = table.Read("event-time");
      EXPECT_TRUE(read.failed || read.rows == whole.rows) << key << " changed at " << at;
    }
    table.Put(key, bytes);
  }
}

/// The stored table with a line of its properties replaced.
DamagedTable WithProperty(const std::string& name, const std::string& key,
                          const std::string& line) {
  DamagedTable table(name);
  std::istringstream lines(
      support::ReadTestdata("hudi/rows/" + name + "/table/.hoodie/hoodie.properties"));
  std::string changed;
  bool is_found = false;
  for (std::string each; std::getline(lines, each);) {
    const bool is_it = each.starts_with(key + "=");
    is_found = is_found || is_it;
    // The checksum is of the name, which stays.
    changed += (is_it ? line : each) + "\n";
  }
  EXPECT_TRUE(is_found) << key;
  table.Put(".hoodie/hoodie.properties", changed);
  return table;
}

/// All rows count as without a value then, and deletes beat them all.
TEST(WrongPropertiesTest, AnOrderingFieldThatIsNoColumnIsSaid) {
  const std::string name = "b_loglog_int_event_v9", key = "hoodie.table.ordering.fields";
  for (const std::string field : {"ORD", "nope", "ord,nope", ""}) {
    const Reading read = WithProperty(name, key, key + "=" + field).Read("event-time");
    EXPECT_TRUE(read.failed || read.findings.contains("no_ordering_column")) << field;
  }
  EXPECT_THAT(DamagedTable(name).Read("event-time").findings, testing::IsEmpty());
}

TEST(WrongPropertiesTest, LogsOfATableThatSaysItHasNoneAreSaid) {
  const std::string name = "b_loglog_int_event_v9", key = "hoodie.table.type";
  for (const std::string& line : {key + "=COPY_ON_WRITE", std::string()}) {
    const Reading read = WithProperty(name, key, line).Read("event-time");
    EXPECT_THAT(read.findings, testing::Contains("table_type_mismatch")) << line;
    EXPECT_EQ(read.rows, DamagedTable(name).Read("event-time").rows);
  }
}

INSTANTIATE_TEST_SUITE_P(Tables, HudiRowsDamageTest,
                         testing::Values("f014_x_bug17642", "f111_x_bug17642",
                                         "same_commit_combine_true"),
                         [](const auto& table) { return table.param; });

}  // namespace
}  // namespace tidemark::scan
