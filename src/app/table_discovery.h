/// Which tables a pattern of the configuration stands for now.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "storage/object_store.h"

namespace tidemark::app {

/// A pattern that stands for more folders is not followed (kExhausted).
inline constexpr size_t kFoundTablesMax = 100'000;

using OpenStoreAt =
    std::function<Result<std::shared_ptr<storage::ObjectStore>>(const std::string& uri)>;

/// "s3://lake/a*/b*" -> every folder of that shape that holds a `.hoodie` folder, ascending; a text
/// without '*' stands for itself, be it there or not. `is_known`: tables that need no look. An
/// error of the store is one of the whole: a shorter list would look like tables that are gone.
/// Cost: one listing for each folder above the last part and for each that is not known.
Result<std::vector<std::string>> FindTables(
    const std::string& pattern, const OpenStoreAt& open,
    const std::function<bool(const std::string& uri)>& is_known, const Budget& budget);

/// The folder above a table; empty where there is none ("s3://bucket").
std::string ParentOf(std::string_view uri);

}  // namespace tidemark::app
