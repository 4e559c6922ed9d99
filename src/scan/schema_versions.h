/// What a table's columns were called over time, where schema-on-read evolution keeps field ids.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "columnar/record_decoder.h"
#include "lake/hudi/committed_instants.h"
#include "storage/object_store.h"

namespace tidemark::scan {

/// Every version of a table's internal schema. A value.
class SchemaVersions {
 public:
  SchemaVersions() = default;
  /// `current`: a commit's latest_schema; `history`: a file of .hoodie/.schema, or empty. kCorrupt:
  /// not what writers put there.
  static Result<SchemaVersions> Parse(std::string_view current, std::string_view history);

  /// Columns whose name in a file written at `instant` is not the current one, with what they were
  /// called; nullopt for those that came later, if the file may have another column of the name.
  std::vector<columnar::FileColumnName> NamesAt(std::string_view instant) const;
  /// Whether any file may need it.
  bool has_renames() const { return has_renames_; }

 private:
  struct Field {
    std::string path;  // of names: "a.b", "tags.element.x", "m.value.x"
    std::string name;

    friend bool operator==(const Field&, const Field&) = default;
  };
  using Fields = std::map<int64_t, Field>;  // by id

  std::map<std::string, Fields> versions_;  // by the instant they begin with, padded to 17 digits
  Fields current_;
  bool has_renames_ = false;
};

/// The newest committed file of .hoodie/.schema; empty without one. Cost: a listing and a read.
Result<std::string> ReadSchemaHistory(const storage::ObjectStore& store,
                                      const lake::hudi::CommittedInstants& instants,
                                      const Budget& budget);

}  // namespace tidemark::scan
