/// Columns of one layout as columns of another: what a file has, as what the table has now.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "columnar/batch.h"
#include "columnar/cells_internal.h"
#include "columnar/record_decoder.h"
#include "columnar/record_plan_internal.h"
#include "columnar/value_type.h"

namespace tidemark::columnar {

enum class ConvertOp : uint8_t {
  kSame,          ///< the bytes are the same, whatever they are called
  kNumber,        ///< to a wider one
  kPrintedFloat,  ///< to the double it is printed as
  kText,
  kDecimal,
  kTime,
  kStruct,
  kItems,
  kMissing,
};

/// Made once for a column of a file. The target type must outlive it and its views.
struct ColumnConverter {
  /// kUnsupported, with the path: no value of `from` is one of `to`.
  static Result<ColumnConverter> Make(const ValueField& from, const ValueField& to,
                                      const std::string& path, const DecodeOptions& options);
  /// For a column that the file does not have.
  static Result<ColumnConverter> MakeMissing(const ValueField& to, const std::string& path,
                                             const DecodeOptions& options);

  /// The same rows; new memory is kept in `owner`, the rest is the view's. kUnsupported: a value
  /// does not fit.
  Result<ColumnView> Convert(const ColumnView& from, BatchOwner& owner) const;
  /// A missing column. REQUIRES: made by MakeMissing.
  Result<ColumnView> MakeRows(size_t rows, BatchOwner& owner) const;

  ConvertOp op = ConvertOp::kSame;
  const ValueType* to = nullptr;
  std::string path;
  std::vector<ColumnConverter> inner;  ///< struct: per field; items: per child
  std::vector<size_t> places;          ///< struct: of each field in the file's; kMissing: any
  DecodeMissing missing;
};

}  // namespace tidemark::columnar
