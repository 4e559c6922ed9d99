/// The events of a table's changes as subscribers read them: CloudEvents 1.0 in JSON (change-feed
/// §4.3), the same on Kafka and from `tidemark changes`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "change/group.h"
#include "lake/hudi/properties.h"

namespace tidemark::api {

/// Which table, in the words that its events bear.
struct TableIdentity {
  std::string uid{};        ///< ours, stable: see TableUid
  std::string table_id{};   ///< "database.table", or "table" where the table names no database
  std::string database{};   ///< may be empty
  std::string base_path{};  ///< as configured, without a trailing '/'
};

/// 16 hexadecimal digits of the hash of the base path: Hudi gives its tables no identity of their
/// own, and one that is made anew at the same place is told by its epoch.
std::string TableUid(std::string_view base_path);
TableIdentity IdentityOf(std::string_view base_path, const lake::hudi::TableProperties& properties);

/// The columns as a schema event has them: an array.
std::string SchemaFieldsJson(const change::Schema& schema);

/// How large one event may get. Measured before compression, as Kafka producers do.
struct EventLimits {
  size_t body_size_max = size_t{512} << 10;
  size_t partitions_max = 5000;

  friend bool operator==(const EventLimits&, const EventLimits&) = default;
};

/// One event: what goes into one Kafka record.
struct ChangeEvent {
  std::string id{};    ///< "<uid>/<epoch>/<seq>/<part>"; a snapshot's ends in "/snapshot/<page>"
  std::string type{};  ///< "hudi.metadata.partition.v1"
  std::string body{};  ///< one line without line feed
};

/// The parts of a group in their order, at least one. Partitions are spread over as many as the
/// limits ask for; what cannot be split (a schema) may be larger. The same group gives the same
/// bytes, whenever and by whomever it is rendered.
std::vector<ChangeEvent> ChangeEvents(const TableIdentity& table,
                                      const lake::hudi::TableProperties& properties,
                                      const change::Group& group, const EventLimits& limits);

/// The pages of a snapshot in their order, at least one; the first has the schema.
std::vector<ChangeEvent> SnapshotEvents(const TableIdentity& table,
                                        const lake::hudi::TableProperties& properties,
                                        const change::Snapshot& snapshot,
                                        const EventLimits& limits);

}  // namespace tidemark::api
