/// A catalog in memory that can fail at any call.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sink/catalog.h"

namespace tidemark::support {

class MemoryCatalog final : public sink::Catalog {
 public:
  struct Entry {
    sink::CatalogTable table;
    std::set<std::vector<std::string>> partitions{};
  };
  struct Tables {
    std::map<std::string, Entry> entries;
    std::vector<std::string> calls;
    int fails_at = -1;  ///< the call with this number fails before it does anything; from 0
    bool does_it_first = false;  ///< or after it has done it
    Error failure{ErrorKind::kUnavailable, "the catalog is away"};
    bool refuses_alterations = false;
  };

  explicit MemoryCatalog(Tables& tables) : tables_(tables) {}

  Status Check(const Budget&) override { return {}; }

  Result<std::optional<sink::CatalogTable>> ReadTable(const std::string& database,
                                                      const std::string& name,
                                                      const Budget&) override {
    std::optional<sink::CatalogTable> read;
    TRY(Call("read " + name, [&] {
      const auto it = tables_.entries.find(database + "." + name);
      if (it != tables_.entries.end()) read = it->second.table;
    }));
    return read;
  }

  Status CreateTable(const sink::CatalogTable& table, const Budget&) override {
    return Call("create " + table.name, [&] {
      tables_.entries.try_emplace(table.database + "." + table.name, Entry{table});
    });
  }

  Status AlterTable(const sink::CatalogTable& before, const sink::CatalogTable& after,
                    const Budget&) override {
    if (tables_.refuses_alterations && before.columns != after.columns)
      return Fail(ErrorKind::kInvalidArgument, "types incompatible");
    return Call("alter " + before.name, [&] { At(before).table = after; });
  }

  Status DropTable(const std::string& database, const std::string& name, const Budget&) override {
    return Call("drop " + name, [&] { tables_.entries.erase(database + "." + name); });
  }

  Result<std::vector<std::vector<std::string>>> ListPartitions(const sink::CatalogTable& table,
                                                               const Budget&) override {
    std::vector<std::vector<std::string>> list;
    TRY(Call("list " + table.name,
             [&] { list.assign(At(table).partitions.begin(), At(table).partitions.end()); }));
    return list;
  }

  Status AddPartitions(const sink::CatalogTable& table,
                       std::span<const sink::PartitionView> partitions, const Budget&) override {
    return Call("add " + std::to_string(partitions.size()), [&] {
      for (const auto& each : partitions) At(table).partitions.insert(sink::CatalogValues(each));
    });
  }

  Status DropPartitions(const sink::CatalogTable& table,
                        std::span<const sink::PartitionView> partitions, const Budget&) override {
    return Call("remove " + std::to_string(partitions.size()), [&] {
      for (const auto& each : partitions) At(table).partitions.erase(sink::CatalogValues(each));
    });
  }

  std::string_view cure_of_refusal() const override { return "see the manual"; }

 private:
  Entry& At(const sink::CatalogTable& table) {
    return tables_.entries.at(table.database + "." + table.name);
  }

  template <class Work>
  Status Call(std::string name, Work work) {
    const bool fails = static_cast<int>(tables_.calls.size()) == tables_.fails_at;
    tables_.calls.push_back(std::move(name));
    if (!fails || tables_.does_it_first) work();
    if (fails) return std::unexpected(tables_.failure);
    return {};
  }

  Tables& tables_;
};

}  // namespace tidemark::support
