/// Rows that are put together from several versions: partial updates, and payloads that fill what
/// the newer version does not have.
#pragma once

#include <cstddef>
#include <vector>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/row_builder.h"
#include "merge/fold.h"
#include "merge/profile.h"
#include "scan/log_versions.h"
#include "scan/row_store.h"

namespace tidemark::scan {

/// Stands for the base row at hand, which is in no store.
inline constexpr merge::RowHandle kBaseRow = merge::kNoRow - 1;

/// The base row that layers may refer to.
struct BaseRow {
  const columnar::Batch* batch = nullptr;
  size_t row = 0;
};

/// Appends the row that `merged.layers` make, from the top: each column comes from the first layer
/// that has it. Errors as RowStore::Append.
Status AppendLayers(const merge::Merged& merged, const merge::TableSettings& settings,
                    const LogVersions& logs, RowStore& rows, const BaseRow& base,
                    columnar::RowBuilder& builder);

}  // namespace tidemark::scan
