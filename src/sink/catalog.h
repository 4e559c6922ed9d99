/// A catalog of tables in Hive's model, as the Hive Metastore and AWS Glue are: what tidemark asks
/// of one, and which table it wants there.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "sink/sink.h"

namespace tidemark::sink {

struct CatalogColumn {
  std::string name{};  ///< in lower case
  std::string type{};  ///< Hive's word
  std::string comment{};

  friend bool operator==(const CatalogColumn&, const CatalogColumn&) = default;
};

/// What a catalog says of a table, or is to say.
struct CatalogTable {
  std::string database{};
  std::string name{};
  std::string location{};
  std::vector<CatalogColumn> columns{};         ///< without partition columns
  std::vector<CatalogColumn> partition_keys{};  ///< in their order
  std::string input_format{};
  std::string output_format{};
  std::string serde{};
  std::map<std::string, std::string> serde_properties{};
  std::map<std::string, std::string> properties{};
  bool is_view = false;
  /// The catalog's own mark of this version of the table, where it has one.
  std::string version{};
};

/// One connection, or some. Single-threaded. Errors: kUnavailable, kDenied; kConflict where the
/// table changed since it was read; kInvalidArgument, kUnsupported: refused for good.
class Catalog {
 public:
  virtual ~Catalog() = default;

  /// Answers, and lets us in.
  virtual Status Check(const Budget& budget) = 0;

  /// nullopt: no such table. kNotFound: no such database.
  virtual Result<std::optional<CatalogTable>> ReadTable(const std::string& database,
                                                        const std::string& name,
                                                        const Budget& budget) = 0;

  /// One that exists already is no error: whoever wants to know reads it.
  virtual Status CreateTable(const CatalogTable& table, const Budget& budget) = 0;

  /// Makes `before`, as ReadTable gave it, into `after`. Nothing that `before` did not show is
  /// lost. Where the catalog can, only if the table is still `before` by its version, or by the seq
  /// it bears; else kConflict.
  virtual Status AlterTable(const CatalogTable& before, const CatalogTable& after,
                            const Budget& budget) = 0;

  /// One that is gone is no error. Data stays.
  virtual Status DropTable(const std::string& database, const std::string& name,
                           const Budget& budget) = 0;

  /// The values of all partitions, in no order.
  virtual Result<std::vector<std::vector<std::string>>> ListPartitions(const CatalogTable& table,
                                                                       const Budget& budget) = 0;

  /// Those that exist already, or are gone already, are no error. Data stays.
  virtual Status AddPartitions(const CatalogTable& table, std::span<const PartitionView> partitions,
                               const Budget& budget) = 0;
  virtual Status DropPartitions(const CatalogTable& table,
                                std::span<const PartitionView> partitions,
                                const Budget& budget) = 0;

  /// What to do about a table, or a change of its types, that it refuses.
  virtual std::string_view cure_of_refusal() const = 0;
};

/// How Hive writes null as the value of a partition.
inline constexpr std::string_view kNullPartition = "__HIVE_DEFAULT_PARTITION__";

/// The values as a catalog keeps them; what is empty is null to Hive.
std::vector<std::string> CatalogValues(const PartitionView& partition);

/// Hive's name of a partition, "dt=2026-01-31/hour=01": what the metastore lists and drops by.
/// Escaped as Hive's FileUtils.escapePathName.
std::string PartitionName(std::span<const CatalogColumn> keys, std::span<const std::string> values);
/// The values in a name; kCorrupt when it has not `count` of them.
Result<std::vector<std::string>> ValuesOfName(std::string_view name, size_t count);

/// The folder of a partition.
std::string PartitionLocation(const CatalogTable& table, const PartitionView& partition);

}  // namespace tidemark::sink
