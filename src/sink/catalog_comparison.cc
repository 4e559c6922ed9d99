#include "sink/catalog_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sink/catalog_table.h"

namespace tidemark::sink {

namespace {

using change::Agreement;

std::vector<std::string> NamesOf(const CatalogTable& table,
                                 const std::vector<PartitionView>& partitions) {
  std::vector<std::string> names;
  names.reserve(partitions.size());
  for (const auto& partition : partitions)
    names.push_back(PartitionName(table.partition_keys, CatalogValues(partition)));
  return names;
}

/// A partition that was told by the time of the stamp, not named since, and is not there.
bool HasLost(const std::vector<PartitionView>& missing, const SinkStamp& stamp,
             const TableTruth& truth) {
  if (!truth.told || stamp.epoch != truth.told->epoch) return false;
  return std::ranges::any_of(missing, [&](const PartitionView& partition) {
    const auto it = truth.named.find(partition.path);
    return it != truth.named.end() && it->second <= stamp.seq;
  });
}

/// Of a table that bears a stamp, no newer than what was told.
Agreement JudgeStamped(const CatalogComparison& found, bool has_lost, const TableTruth& truth,
                       Stamping stamping) {
  const bool differs =
      !found.missing.empty() || !found.surplus.empty() || !found.differences.empty();
  if (has_lost) return Agreement::kDifferent;
  if (!truth.is_told_whole) return Agreement::kBehind;
  if (found.stamp == truth.told) return differs ? Agreement::kDifferent : Agreement::kEqual;
  const bool may_be_whole = stamping == Stamping::kWithChanges;
  return may_be_whole && !differs ? Agreement::kEqual : Agreement::kBehind;
}

void Judge(CatalogComparison& found, bool has_lost, const TableTruth& truth, Stamping stamping) {
  if (!truth.told) {
    found.message = "the table was never published";
  } else if (!found.stamp) {
    found.message = "the table in the catalog bears no stamp of a sink";
  } else if (*found.stamp > *truth.told) {
    found.agreement = Agreement::kDifferent;
    found.message = fmt::format("the catalog is further than what was told: catalog={} told={}",
                                StampText(*found.stamp), StampText(*truth.told));
  } else {
    found.agreement = JudgeStamped(found, has_lost, truth, stamping);
    const bool is_doubtful = found.agreement == Agreement::kBehind && truth.is_told_whole &&
                             stamping == Stamping::kWithChanges;
    if (is_doubtful)
      found.message =
          "the stamp moves with the table itself alone, so whether this is on its way or was done "
          "by others is not known";
  }
}

/// What a sink would refuse to touch. Under a stamp it is a difference that stays; without one the
/// table is somebody else's.
void Refuse(CatalogComparison& found, const TableTruth& truth, std::string reason) {
  found.message = std::move(reason);
  if (truth.told && found.stamp) found.agreement = Agreement::kDifferent;
}

CatalogComparison Missing(CatalogComparison found, const TableTruth& truth, std::string message) {
  found.message = std::move(message);
  if (truth.told) found.agreement = Agreement::kDifferent;
  return found;
}

Result<CatalogAnswer> Ask(Catalog& catalog, const CatalogTable& wanted, const Budget& budget) {
  CatalogAnswer answer;
  TRY_ASSIGN(answer.table, catalog.ReadTable(wanted.database, wanted.name, budget));
  const bool lists = answer.table && !answer.table->is_view && !wanted.partition_keys.empty();
  if (lists) {
    TRY_ASSIGN(answer.partitions, catalog.ListPartitions(*answer.table, budget));
  }
  return answer;
}

}  // namespace

CatalogComparison CompareTable(const CatalogTable& wanted, const CatalogAnswer& there,
                               const TableTruth& truth, Stamping stamping) {
  CatalogComparison found{.database = wanted.database, .table = wanted.name};
  if (!there.table) return Missing(std::move(found), truth, "the table is not in the catalog");
  found.is_there = true;
  found.stamp = StampOf(*there.table);
  auto changed = ChangedTable(*there.table, wanted);
  if (!changed) {
    Refuse(found, truth, std::move(changed).error().message);
    return found;
  }
  found.differences = ShapeDifferences(*there.table, *changed);
  bool has_lost = false;
  if (!wanted.partition_keys.empty()) {
    auto partitions = ComparePartitions(wanted, truth.partitions, there.partitions);
    if (!partitions) {
      Refuse(found, truth, std::move(partitions).error().message);
      return found;
    }
    found.missing = NamesOf(wanted, partitions->missing);
    found.surplus = NamesOf(wanted, partitions->surplus);
    has_lost = found.stamp && HasLost(partitions->missing, *found.stamp, truth);
  }
  Judge(found, has_lost, truth, stamping);
  return found;
}

Result<std::vector<CatalogComparison>> CompareCatalog(Catalog& catalog,
                                                      const CatalogSinkOptions& options,
                                                      const TableTruth& truth,
                                                      const Budget& budget) {
  TRY_ASSIGN(const auto tables, CatalogTables(truth.view, options.naming));
  std::vector<CatalogComparison> comparisons;
  for (const auto& wanted : tables) {
    const auto answer = Ask(catalog, wanted, budget);
    if (answer) {
      comparisons.push_back(CompareTable(wanted, *answer, truth, options.stamping));
      continue;
    }
    CatalogComparison found{.database = wanted.database, .table = wanted.name};
    // No such database is an answer too.
    if (answer.error().kind == ErrorKind::kNotFound) {
      found = Missing(std::move(found), truth, answer.error().message);
    } else {
      found.message = answer.error().message;
    }
    comparisons.push_back(std::move(found));
  }
  return comparisons;
}

}  // namespace tidemark::sink
