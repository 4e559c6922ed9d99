// Versions folded per second on one core: what the merge itself costs beside reading and decoding.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <vector>

#include "merge/judge.h"
#include "merge/profile.h"

namespace tidemark::merge {
namespace {

constexpr size_t kKeys = 100'000;
constexpr size_t kVersionsPerKey = 5;

/// One in eight versions is a delete, one in four comes late.
struct Slice {
  std::vector<std::string> texts;
  std::vector<Version> versions;
  std::vector<uint32_t> keys;
};

Slice MakeSlice(ColumnType type) {
  Slice slice;
  slice.texts.reserve(kKeys * kVersionsPerKey);
  uint64_t random = 0x9E3779B97F4A7C15;
  const auto next = [&random] {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    return random;
  };
  const OrderingColumn column{type, 0};
  for (uint32_t round = 0; round < kVersionsPerKey; ++round) {
    for (size_t i = 0; i < kKeys; ++i) {
      Version version;
      version.row = slice.versions.size();
      version.op = next() % 8 == 0 ? Op::kDelete : Op::kUpsert;
      version.place = {round + 1, round + 1, version.op == Op::kDelete, static_cast<uint32_t>(i)};
      const bool is_late = next() % 4 == 0;
      const auto value =
          static_cast<int64_t>(1'700'000'000'000 + (is_late ? 0 : round * 1000) + next() % 1000);
      const bool is_delete = version.op == Op::kDelete;
      if (type == ColumnType::kLong) {
        version.ordering = is_delete
                               ? OrderingValue::DeletedInteger(DeleteBranch::kLong, value, column)
                               : OrderingValue::OfInteger(column, value);
      } else {
        const std::string& text = slice.texts.emplace_back("2025-12-02 " + std::to_string(value));
        version.ordering = is_delete
                               ? *OrderingValue::DeletedBytes(DeleteBranch::kString, text, column)
                               : *OrderingValue::OfBytes(column, text);
      }
      slice.versions.push_back(version);
      slice.keys.push_back(static_cast<uint32_t>(next() % kKeys));
    }
  }
  return slice;
}

void FoldVersions(benchmark::State& state, std::string_view profile_name, ColumnType type) {
  TableSettings settings;
  settings.version = 6;
  settings.payload = Payload::kEventTime;
  const auto profile = MakeProfile(profile_name, settings);
  if (!profile) {
    state.SkipWithError(profile.error().message.c_str());
    return;
  }
  const Slice slice = MakeSlice(type);
  for (auto _ : state) {
    std::vector<KeyState> keys(kKeys);
    for (size_t i = 0; i < slice.versions.size(); ++i) {
      FoldLog(profile->read, keys[slice.keys[i]], slice.versions[i]);
    }
    size_t live = 0;
    for (const KeyState& key : keys) live += MergeBase(profile->read, nullptr, &key).is_live();
    benchmark::DoNotOptimize(live);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(slice.versions.size()));
}

/// All keys under event time and every profile, versions collected first: an audit without files.
void JudgeKeys(benchmark::State& state, ColumnType type) {
  TableSettings settings;
  settings.version = 6;
  settings.payload = Payload::kEventTime;
  std::vector<Profile> readers;
  for (const std::string_view name : ProfileNames()) {
    auto profile = MakeProfile(name, settings);
    if (profile && name != "event-time") readers.push_back(*std::move(profile));
  }
  const KeyJudge judge(*MakeProfile("event-time", settings), readers);
  const Slice slice = MakeSlice(type);
  for (auto _ : state) {
    VersionStore store(std::vector<VersionStore::Slice>(1));
    for (size_t i = 0; i < slice.versions.size(); ++i) {
      benchmark::DoNotOptimize(store.Add(slice.keys[i], 0, slice.versions[i]));
    }
    size_t found = 0;
    std::vector<MergeFinding> findings;
    for (uint32_t key = 0; key < store.key_count(); ++key) {
      findings.clear();
      judge.Judge(store.Of(key), findings);
      found += findings.size();
    }
    state.counters["findings"] = static_cast<double>(found);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(slice.versions.size()));
}

BENCHMARK_CAPTURE(FoldVersions, event_time_long, "event-time", ColumnType::kLong);
BENCHMARK_CAPTURE(FoldVersions, event_time_string, "event-time", ColumnType::kString);
BENCHMARK_CAPTURE(FoldVersions, hudi_0_14_long, "hudi-0.14", ColumnType::kLong);
BENCHMARK_CAPTURE(FoldVersions, hudi_0_14_string, "hudi-0.14", ColumnType::kString);
BENCHMARK_CAPTURE(FoldVersions, hudi_1_1_long, "hudi-1.1", ColumnType::kLong);
BENCHMARK_CAPTURE(FoldVersions, hudi_1_1_string, "hudi-1.1", ColumnType::kString);

BENCHMARK_CAPTURE(JudgeKeys, by_long, ColumnType::kLong);
BENCHMARK_CAPTURE(JudgeKeys, by_string, ColumnType::kString);

}  // namespace
}  // namespace tidemark::merge

BENCHMARK_MAIN();
