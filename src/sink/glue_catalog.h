/// AWS Glue's data catalog.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sink/catalog.h"
#include "sink/glue_client.h"

namespace tidemark::sink {

// What one call takes (Glue's API pages; hudi#9806).
inline constexpr size_t kGlueCreateMax = 100;
inline constexpr size_t kGlueDeleteMax = 25;
inline constexpr int kGlueListMax = 1000;
inline constexpr size_t kGlueSegmentsMax = 10;

/// Lists in segments side by side and without the columns, creates by hundreds and deletes by
/// twenty-fives; of a batch only what failed is tried again. Alterations name the version they
/// follow and archive none.
class GlueCatalog final : public Catalog {
 public:
  explicit GlueCatalog(GlueOptions options) : client_(std::move(options)) {}

  Status Check(const Budget& budget) override;
  Result<std::optional<CatalogTable>> ReadTable(const std::string& database,
                                                const std::string& name,
                                                const Budget& budget) override;
  Status CreateTable(const CatalogTable& table, const Budget& budget) override;
  Status AlterTable(const CatalogTable& before, const CatalogTable& after,
                    const Budget& budget) override;
  Status DropTable(const std::string& database, const std::string& name,
                   const Budget& budget) override;
  Result<std::vector<std::vector<std::string>>> ListPartitions(const CatalogTable& table,
                                                               const Budget& budget) override;
  Status AddPartitions(const CatalogTable& table, std::span<const PartitionView> partitions,
                       const Budget& budget) override;
  Status DropPartitions(const CatalogTable& table, std::span<const PartitionView> partitions,
                        const Budget& budget) override;
  std::string_view cure_of_refusal() const override;

 private:
  enum class BatchKind { kCreate, kDelete };
  Status Batch(BatchKind kind, const CatalogTable& table, std::vector<PartitionView> partitions,
               const Budget& budget);
  Status InBatches(BatchKind kind, const CatalogTable& table,
                   std::span<const PartitionView> partitions, size_t most, const Budget& budget);
  Result<std::vector<std::vector<std::string>>> ListSegment(const CatalogTable& table,
                                                            size_t segment, size_t segments,
                                                            const Budget& budget);

  GlueClient client_;
  std::string read_;  ///< the table that was read last, as JSON: what we do not know of it is kept
};

}  // namespace tidemark::sink
