/// Merge-on-read tables of version 6 with rows, written file by file: deltacommits whose log files
/// hold data and delete blocks, and clusterings whose base files do.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "columnar/batch_writer.h"
#include "columnar/record_decoder.h"
#include "columnar/row_builder.h"
#include "lake/avro/schema.h"
#include "storage/memory_store.h"
#include "support/result_matchers.h"

namespace tidemark::support {

/// One record: a row, or without `name` a delete.
struct RowEvent {
  std::string key;
  int64_t ts = 0;
  std::optional<std::string> name;
  std::string partition = "p";
  std::string file_id = "f1-0";
};

inline RowEvent Put(std::string key, int64_t ts, std::string file_id, std::string partition = "p") {
  return {std::move(key), ts, "at " + std::to_string(ts), std::move(partition), std::move(file_id)};
}
inline RowEvent Delete(std::string key, int64_t ts, std::string file_id,
                       std::string partition = "p") {
  return {std::move(key), ts, std::nullopt, std::move(partition), std::move(file_id)};
}

class RowTable {
 public:
  explicit RowTable(const std::string& properties = "") {
    Write(".hoodie/hoodie.properties",
          "hoodie.table.name=t\nhoodie.table.type=MERGE_ON_READ\nhoodie.table.version=6\n"
          "hoodie.table.checksum=498511606\nhoodie.table.precombine.field=ts\n"
          "hoodie.table.recordkey.fields=key\nhoodie.table.partition.fields=part\n" +
              properties);
  }

  storage::MemoryStore& store() { return store_; }

  /// A deltacommit; each group's records in one log file, its data before its deletes.
  void Commit(const std::vector<RowEvent>& events) {
    const std::string instant = NextInstant();
    std::map<std::pair<std::string, std::string>, std::vector<RowEvent>> groups;
    for (const RowEvent& event : events) groups[{event.partition, event.file_id}].push_back(event);
    for (const auto& [id, of_group] : groups) {
      Group& group = groups_[id];
      if (group.base_instant.empty()) group.base_instant = instant;
      Write(id.first + "/." + id.second + "_" + group.base_instant + ".log." +
                std::to_string(++group.logs) + "_0-1-0",
            LogFile(instant, of_group));
    }
    Complete(instant, "deltacommit",
             R"({"partitionToWriteStats":{},"extraMetadata":{"schema":)" + Quoted(Schema()) +
                 R"(},"operationType":"UPSERT"})");
  }

  /// A clustering that replaces groups of a partition by one whose base file holds `rows`; each
  /// keeps the instant of the commit of that number (from 1).
  struct Kept {
    RowEvent row;
    size_t commit = 0;
  };
  void Cluster(const std::string& partition, const std::vector<std::string>& replaced,
               const std::string& file_id, const std::vector<Kept>& rows) {
    Replace("CLUSTER", partition, replaced, file_id, rows);
  }
  void Overwrite(const std::string& partition, const std::vector<std::string>& replaced,
                 const std::string& file_id, const std::vector<RowEvent>& rows) {
    std::vector<Kept> kept;
    for (const auto& row : rows) kept.push_back({row, instants_.size() + 1});
    Replace("INSERT_OVERWRITE", partition, replaced, file_id, kept);
  }

  const std::string& instant(size_t commit) const { return instants_.at(commit - 1); }

 private:
  struct Group {
    std::string base_instant;
    int logs = 0;
  };

  static std::string Schema() {
    std::string fields;
    for (const char* name : {"_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key",
                             "_hoodie_partition_path", "_hoodie_file_name"}) {
      fields +=
          std::string(R"({"name":")") + name + R"(","type":["null","string"],"default":null},)";
    }
    return R"({"type":"record","name":"row","fields":[)" + fields +
           R"({"name":"key","type":"string"},{"name":"ts","type":"long"},)"
           R"({"name":"name","type":["null","string"],"default":null}]})";
  }

  static std::string Quoted(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\\\"") : std::string(1, c);
    return quoted + "\"";
  }
  template <class T>
  static std::string Big(T value) {
    std::string bytes;
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes += static_cast<char>(static_cast<uint64_t>(value) >> (8 * (sizeof(T) - 1 - i)));
    }
    return bytes;
  }
  static std::string Varint(int64_t value) {
    auto bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
    std::string bytes;
    for (; bits >= 128; bits >>= 7) bytes += static_cast<char>(bits | 128);
    return bytes + static_cast<char>(bits);
  }
  static std::string Text(std::string_view text) {
    return Varint(static_cast<int64_t>(text.size())) + std::string(text);
  }

  static std::string Record(const RowEvent& event, const std::string& instant) {
    std::string record;
    for (const std::string& meta :
         {instant, instant + "_0_0", event.key, event.partition, event.file_id}) {
      record += Varint(1) + Text(meta);
    }
    return record + Text(event.key) + Varint(event.ts) + Varint(1) + Text(*event.name);
  }

  static std::string Block(int32_t kind, const std::string& instant, const std::string& content) {
    const std::string schema = Schema();
    std::string body = Big(int32_t{1}) + Big(kind) + Big(int32_t{2});
    body += Big(int32_t{0}) + Big(static_cast<int32_t>(instant.size())) + instant;
    body += Big(int32_t{2}) + Big(static_cast<int32_t>(schema.size())) + schema;
    body += Big(static_cast<int64_t>(content.size())) + content + Big(int32_t{0});
    const auto size = static_cast<int64_t>(body.size() + 8);
    return "#HUDI#" + Big(size) + body + Big(size + 6);
  }

  static std::string LogFile(const std::string& instant, const std::vector<RowEvent>& events) {
    std::string rows;
    std::string deletes;
    int32_t row_count = 0;
    int64_t delete_count = 0;
    for (const RowEvent& event : events) {
      if (event.name) {
        const std::string record = Record(event, instant);
        rows += Big(static_cast<int32_t>(record.size())) + record;
        ++row_count;
      } else {
        // {key, partition, ordering}: unions, of which branch 3 is a long in a wrapper.
        deletes += Varint(1) + Text(event.key) + Varint(1) + Text(event.partition) + Varint(3) +
                   Varint(event.ts);
        ++delete_count;
      }
    }
    std::string file;
    if (row_count > 0) file += Block(3, instant, Big(int32_t{3}) + Big(row_count) + rows);
    if (delete_count > 0) {
      const std::string list = Varint(delete_count) + deletes + Varint(0);
      file += Block(1, instant, Big(int32_t{3}) + Big(static_cast<int32_t>(list.size())) + list);
    }
    return file;
  }

  std::string BaseFile(const std::vector<Kept>& rows) {
    const auto schema = lake::avro::Schema::Parse(Schema());
    EXPECT_THAT(schema, IsOk());
    const auto type = columnar::RowType::Make(
        *schema, columnar::WantAll(*schema, columnar::MetaColumns::kPutFirst));
    EXPECT_THAT(type, IsOk());
    const auto decoder = columnar::RecordDecoder::Make(*schema, *type, {});
    EXPECT_THAT(decoder, IsOk());
    columnar::RowBuilder builder(*type);
    for (const auto& [row, commit] : rows) {
      EXPECT_THAT(builder.Append(*decoder, Record(row, instant(commit))), IsOk());
    }
    std::string bytes;
    auto writer = columnar::OpenBatchWriter(columnar::RowFormat::kParquet, *type,
                                            [&](std::string_view more) -> Status {
                                              bytes += more;
                                              return {};
                                            });
    EXPECT_THAT(writer, IsOk());
    EXPECT_THAT((*writer)->Write(builder.Finish()), IsOk());
    EXPECT_THAT((*writer)->Close(), IsOk());
    return bytes;
  }

  void Replace(const std::string& operation, const std::string& partition,
               const std::vector<std::string>& replaced, const std::string& file_id,
               const std::vector<Kept>& rows) {
    const std::string instant = NextInstant();
    groups_[{partition, file_id}].base_instant = instant;
    if (!rows.empty()) {
      Write(partition + "/" + file_id + "_0-1-0_" + instant + ".parquet", BaseFile(rows));
    }
    std::string ids;
    for (const auto& id : replaced) ids += (ids.empty() ? "\"" : ",\"") + id + "\"";
    Complete(instant, "replacecommit",
             R"({"partitionToReplaceFileIds":{")" + partition + "\":[" + ids +
                 R"(]},"partitionToWriteStats":{},"extraMetadata":{"schema":)" + Quoted(Schema()) +
                 R"(},"operationType":")" + operation + "\"}");
  }

  std::string NextInstant() {
    instants_.push_back("202601010000" + std::to_string(10000 + instants_.size()));
    return instants_.back();
  }
  void Complete(const std::string& instant, const std::string& action, const std::string& content) {
    const std::string name = ".hoodie/" + instant + "." + action;
    Write(name + ".requested", "");
    Write(name + ".inflight", "");
    Write(name, content);
  }
  void Write(const std::string& key, const std::string& bytes) {
    EXPECT_THAT(store_.Put(key, bytes, Budget()), IsOk());
  }

  storage::MemoryStore store_;
  std::vector<std::string> instants_;
  std::map<std::pair<std::string, std::string>, Group> groups_;
};

}  // namespace tidemark::support
