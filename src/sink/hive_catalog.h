/// The Hive Metastore over Thrift. The only place that includes Thrift.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "sink/catalog.h"

namespace tidemark::sink {

struct HiveAddress {
  std::string host;
  uint16_t port = 9083;

  friend bool operator==(const HiveAddress&, const HiveAddress&) = default;
};

/// "thrift://host:9083"; without port 9083. kInvalidArgument for what is none.
Result<HiveAddress> ParseHiveAddress(std::string_view text);

struct HiveOptions {
  std::vector<HiveAddress> addresses{};  ///< one server behind several; the first that answers
  std::string user{};                    ///< who owns what is made; with a password: who logs in
  std::string password{};                ///< SASL PLAIN; empty: no SASL. Never printed
  size_t connections = 4;                ///< at once
  size_t batch = 1000;  ///< partitions in a call: one call is one transaction of the server

  friend bool operator==(const HiveOptions&, const HiveOptions&) = default;
};
inline constexpr size_t kHiveConnectionsMax = 32;

/// A catalog whose connections are made when first needed, and anew after an error. No Kerberos, no
/// TLS. Adding partitions lets the server make folders that do not exist, as it always does.
class HiveCatalog final : public Catalog {
 public:
  explicit HiveCatalog(HiveOptions options);
  HiveCatalog(const HiveCatalog&) = delete;
  HiveCatalog& operator=(const HiveCatalog&) = delete;
  ~HiveCatalog() override;

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
  class Connection;
  struct Read;  ///< a table as the server gave it: what we do not know of it is kept

  Result<Connection*> Connected(size_t index, const Budget& budget);
  template <class Work>
  auto OnFirst(const Budget& budget, Work work) -> decltype(work(std::declval<Connection&>()));
  struct Range {
    size_t begin;
    size_t end;
  };
  template <class Send>
  Status SendSome(size_t width, std::deque<Range>& waiting, std::deque<Range>& sent,
                  const Budget& budget, Send send);
  template <class Send, class Receive>
  Status InBatches(size_t count, const Budget& budget, Send send, Receive receive);

  HiveOptions options_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::unique_ptr<Read> read_;
};

}  // namespace tidemark::sink
