#include "app/counted_edges.h"

#include <string>
#include <string_view>
#include <utility>

namespace tidemark::app {

namespace {

class CountedStore final : public storage::ObjectStore {
 public:
  CountedStore(std::unique_ptr<storage::ObjectStore> store, std::shared_ptr<EdgeCounts> counts)
      : store_(std::move(store)), counts_(std::move(counts)) {}

  const std::string& uri() const override { return store_->uri(); }
  bool is_local() const override { return store_->is_local(); }

  Result<storage::Listing> List(std::string_view folder, const storage::ListOptions& options,
                                const Budget& budget) const override {
    ++counts_->listings;
    return store_->List(folder, options, budget);
  }
  Result<std::string> Read(std::string_view key, const Budget& budget) const override {
    ++counts_->reads;
    return store_->Read(key, budget);
  }
  Result<std::string> ReadUpTo(std::string_view key, uint64_t bytes_max,
                               const Budget& budget) const override {
    ++counts_->reads;
    return store_->ReadUpTo(key, bytes_max, budget);
  }
  Result<std::string> ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                const Budget& budget) const override {
    ++counts_->reads;
    return store_->ReadRange(key, offset, length, budget);
  }
  Result<size_t> ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                          storage::ObjectState& state, const Budget& budget) const override {
    ++counts_->reads;
    return store_->ReadInto(key, offset, into, state, budget);
  }
  Result<storage::ObjectInfo> Stat(std::string_view key, const Budget& budget) const override {
    ++counts_->reads;
    return store_->Stat(key, budget);
  }
  Status Put(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_->Put(key, bytes, budget);
  }
  Status PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) override {
    return store_->PutIfAbsent(key, bytes, budget);
  }
  Status Remove(std::string_view key, const Budget& budget) override {
    return store_->Remove(key, budget);
  }

 private:
  const std::unique_ptr<storage::ObjectStore> store_;
  const std::shared_ptr<EdgeCounts> counts_;
};

class CountedProbe final : public kafka::PartitionProbe {
 public:
  CountedProbe(std::unique_ptr<kafka::PartitionProbe> probe, std::shared_ptr<EdgeCounts> counts)
      : probe_(std::move(probe)), counts_(std::move(counts)) {}

  Result<kafka::ProbeResult> Probe(const kafka::ProbeRequest& request,
                                   const Budget& budget) override {
    ++counts_->probes;
    auto result = probe_->Probe(request, budget);
    if (result) counts_->bytes_fetched += result->bytes_fetched;
    return result;
  }

 private:
  const std::unique_ptr<kafka::PartitionProbe> probe_;
  const std::shared_ptr<EdgeCounts> counts_;
};

}  // namespace

FreshnessEdges CountedEdges(FreshnessEdges edges, std::shared_ptr<EdgeCounts> counts) {
  FreshnessEdges counted = edges;
  counted.open_store =
      [open = edges.open_store, counts](
          const std::string& uri,
          const storage::StoreOptions& options) -> Result<std::unique_ptr<storage::ObjectStore>> {
    TRY_ASSIGN(auto store, open(uri, options));
    return std::make_unique<CountedStore>(std::move(store), counts);
  };
  counted.open_probe =
      [open = edges.open_probe,
       counts](const ClusterConfig& cluster) -> Result<std::unique_ptr<kafka::PartitionProbe>> {
    TRY_ASSIGN(auto probe, open(cluster));
    return std::make_unique<CountedProbe>(std::move(probe), counts);
  };
  return counted;
}

}  // namespace tidemark::app
