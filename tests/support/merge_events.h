/// The events of the truth tables ("I1", "U3", "U3'", "D2", "D∅", "N") as versions of one key, in
/// any ordering type.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merge/fold.h"
#include "merge/profile.h"

namespace tidemark::support {

/// The ordering types that tables are tried with; the first two spell the class trouble of 0.14
/// out.
inline constexpr merge::ColumnType kSevenTypes[] = {
    merge::ColumnType::kString,          merge::ColumnType::kLong, merge::ColumnType::kInt,
    merge::ColumnType::kDouble,          merge::ColumnType::kDate, merge::ColumnType::kDecimalFixed,
    merge::ColumnType::kTimestampMicros,
};

/// How a writer stores the date of a delete: 0.14 as DateWrapper, Flink with 1.1 as IntWrapper (and
/// Spark with 1.1 cannot).
enum class DateDeletes { kAsDate, kAsInt };

/// A value of the type for a rank, rising with it; ranks from 0 to 9. What a writer puts into a
/// delete block for it, too.
class OrderingOf {
 public:
  explicit OrderingOf(merge::ColumnType type, DateDeletes dates = DateDeletes::kAsDate)
      : column_{type, kScale}, dates_(dates) {}

  merge::OrderingColumn column() const { return column_; }
  merge::OrderingValue Data(int rank) {
    using merge::OrderingValue;
    switch (column_.type) {
      case merge::ColumnType::kString: return *OrderingValue::OfBytes(column_, Text(rank));
      case merge::ColumnType::kDouble: return OrderingValue::OfReal(column_, 1.5 * (rank + 1));
      case merge::ColumnType::kDecimalFixed:
        return *OrderingValue::OfBytes(column_, Bytes(Number(rank), 9));
      default: return OrderingValue::OfInteger(column_, Number(rank));
    }
  }
  merge::OrderingValue Deleted(int rank) {
    using merge::DeleteBranch;
    using merge::OrderingValue;
    switch (column_.type) {
      case merge::ColumnType::kString:
        return *OrderingValue::DeletedBytes(DeleteBranch::kString, Text(rank), column_);
      case merge::ColumnType::kDouble:
        return OrderingValue::DeletedReal(DeleteBranch::kDouble, 1.5 * (rank + 1), column_);
      case merge::ColumnType::kDecimalFixed:
        return *OrderingValue::DeletedBytes(DeleteBranch::kDecimal,
                                            Bytes(Number(rank) * 1'000'000'000, 9), column_);
      case merge::ColumnType::kDate:
        return OrderingValue::DeletedInteger(
            dates_ == DateDeletes::kAsDate ? DeleteBranch::kDate : DeleteBranch::kInt, Number(rank),
            column_);
      case merge::ColumnType::kInt:
        return OrderingValue::DeletedInteger(DeleteBranch::kInt, Number(rank), column_);
      default: return OrderingValue::DeletedInteger(DeleteBranch::kLong, Number(rank), column_);
    }
  }
  merge::OrderingValue Sentinel() const {
    return merge::OrderingValue::DeletedInteger(merge::DeleteBranch::kInt, 0, column_);
  }
  merge::OrderingValue Null() const { return merge::OrderingValue::Null(column_); }

 private:
  static constexpr uint8_t kScale = 6;

  int64_t Number(int rank) const {
    switch (column_.type) {
      case merge::ColumnType::kInt: return 10 * (rank + 1);
      case merge::ColumnType::kDate: return 20'000 + rank;
      case merge::ColumnType::kDecimalFixed: return 1'250'000 + 1'000'000 * rank;
      case merge::ColumnType::kTimestampMicros: return 1'756'713'600'100'000 + rank;
      default: return 1000 * (rank + 1);
    }
  }
  /// Sorts as text and not as a number: "1", "10", "100", …
  static std::string_view Text(int rank) {
    static const std::vector<std::string> kTexts = [] {
      std::vector<std::string> texts;
      for (int i = 0; i < 10; ++i) texts.push_back("1" + std::string(static_cast<size_t>(i), '0'));
      return texts;
    }();
    return kTexts[static_cast<size_t>(rank)];
  }
  std::string_view Bytes(int64_t value, size_t size) {
    std::string bytes(size, value < 0 ? '\xff' : '\0');
    for (size_t i = 0; i < size && i < 8; ++i) {
      bytes[size - 1 - i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
    }
    return *stored_.insert(std::move(bytes)).first;
  }

  merge::OrderingColumn column_;
  DateDeletes dates_;
  std::set<std::string> stored_;
};

/// Turns event names into versions. A name is I, U or D with a digit (and marks that tell events of
/// one value apart), "D∅" for a delete without ordering value, "N" for data with a null one, or "L"
/// for data below all others.
class Events {
 public:
  explicit Events(merge::ColumnType type, merge::Op delete_op = merge::Op::kDelete,
                  DateDeletes dates = DateDeletes::kAsDate)
      : ordering_(type, dates), delete_op_(delete_op) {}

  merge::Version Of(const std::string& name, uint32_t commit) {
    merge::Version version;
    version.place = {commit, commit, 0, 0};
    version.row = names_.emplace(name, names_.size()).first->second;
    if (name == "D∅") {
      version.op = merge::Op::kDelete;
      version.ordering = ordering_.Sentinel();
    } else if (name == "N") {
      version.ordering = ordering_.Null();
    } else if (name == "L") {
      version.ordering = ordering_.Data(0);
    } else {
      const int rank = name[1] - '0' + 1;
      const bool is_delete = name[0] == 'D';
      if (is_delete) version.op = delete_op_;
      version.ordering = is_delete && delete_op_ == merge::Op::kDelete ? ordering_.Deleted(rank)
                                                                       : ordering_.Data(rank);
    }
    return version;
  }

  /// The event a version came from.
  std::string NameOf(const merge::Version& version) const {
    for (const auto& [name, row] : names_) {
      if (row == version.row) return name;
    }
    return "?";
  }

  /// What is shown: the event's name, "gone", or "error" when the reader throws.
  std::string Shown(const merge::Merged& merged) const {
    switch (merged.outcome) {
      case merge::Merged::Outcome::kLive: return NameOf(merged.winner);
      case merge::Merged::Outcome::kReaderFails: return "error";
      default: return "gone";
    }
  }

 private:
  OrderingOf ordering_;
  merge::Op delete_op_;
  std::map<std::string, merge::RowHandle> names_;
};

/// "I1 → U3" and "I1,U3" alike.
inline std::vector<std::string> SplitEvents(std::string_view text) {
  std::vector<std::string> names;
  std::string name;
  for (size_t i = 0; i <= text.size(); ++i) {
    const bool is_arrow = text.substr(i).starts_with("→");
    if (i < text.size() && text[i] != ',' && text[i] != ' ' && !is_arrow) {
      name += text[i];
      continue;
    }
    if (is_arrow) i += std::string_view("→").size() - 1;
    if (!name.empty()) names.push_back(std::move(name));
    name.clear();
  }
  return names;
}

/// A table that asks for event time with the given payload, as 0.14 writes it, or by mode.
inline merge::TableSettings EventTimeSettings(merge::Payload payload = merge::Payload::kEventTime,
                                              int version = 6) {
  merge::TableSettings settings;
  settings.version = version;
  settings.ordering_fields = {"ts"};
  if (version < 8) {
    settings.payload = payload;
    settings.payload_class = "org.apache.hudi.common.model." + std::string(PayloadName(payload));
  } else {
    settings.mode = merge::MergeMode::kEventTime;
  }
  return settings;
}

}  // namespace tidemark::support
