#include "lake/hudi/delete_block.h"

#include <fmt/core.h>

#include <array>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "lake/avro/wire.h"
#include "lake/hudi/delete_block_kryo_internal.h"

namespace tidemark::lake::hudi {
namespace {

constexpr int32_t kKeysVersion = 1;
constexpr int32_t kAvroVersion = 3;
constexpr std::array<std::string_view, 14> kBranchNames = {
    "null",         "BooleanWrapper",  "IntWrapper",        "LongWrapper",
    "FloatWrapper", "DoubleWrapper",   "BytesWrapper",      "StringWrapper",
    "DateWrapper",  "DecimalWrapper",  "TimeMicrosWrapper", "TimestampMicrosWrapper",
    "ArrayWrapper", "LocalDateWrapper"};
constexpr int64_t kLastBranch = static_cast<int64_t>(DeleteBranch::kArray);
constexpr int32_t kDecimalScale = 15;
// Key, partition and ordering value take a byte each at least.
constexpr size_t kRecordSizeMin = 3;

std::unexpected<Error> Damaged(std::string_view what, uint64_t offset) {
  return Fail(ErrorKind::kCorrupt, fmt::format("delete block: {} offset={}", what, offset));
}

std::unexpected<Error> OfWire(const avro::Wire& wire) {
  return std::unexpected(wire.ToError().With("delete block"));
}

/// The body of every branch but kNull and kArray.
void ReadBody(avro::Wire& wire, DeleteOrdering& ordering) {
  switch (ordering.branch) {
    case DeleteBranch::kBoolean: ordering.integer = wire.ReadBoolean() ? 1 : 0; return;
    case DeleteBranch::kInt:
    case DeleteBranch::kDate:
    case DeleteBranch::kLocalDate: ordering.integer = wire.ReadInt(); return;
    case DeleteBranch::kLong:
    case DeleteBranch::kTimeMicros:
    case DeleteBranch::kTimestampMicros: ordering.integer = wire.ReadLong(); return;
    case DeleteBranch::kFloat: ordering.real = static_cast<double>(wire.ReadFloat()); return;
    case DeleteBranch::kDouble: ordering.real = wire.ReadDouble(); return;
    case DeleteBranch::kDecimal:
      ordering.scale = kDecimalScale;
      ordering.bytes = wire.ReadBytes();
      return;
    case DeleteBranch::kBytes:
    case DeleteBranch::kString: ordering.bytes = wire.ReadBytes(); return;
    case DeleteBranch::kNull:
    case DeleteBranch::kArray: return;
  }
}

/// Walks a version 3 block: HoodieDeleteRecordList without its schema, so that the branches are
/// known by number only.
class AvroDeletes {
 public:
  AvroDeletes() : wire_(std::string_view()) {}
  AvroDeletes(std::string_view payload, uint64_t offset) : wire_(payload, offset) {}

  Result<std::optional<DeleteRecord>> Next() {
    while (left_ == 0 && !is_done_) TRY(OpenItems(kRecordSizeMin, left_, is_done_));
    if (is_done_) {
      if (wire_.at_end()) return std::nullopt;
      return Damaged("bytes follow its last delete", wire_.offset());
    }
    --left_;
    DeleteRecord record;
    record.key = ReadText();
    record.partition = ReadText();
    TRY(ReadOrdering(record.ordering));
    if (!wire_.ok()) return OfWire(wire_);
    return record;
  }

 private:
  /// The head of a run of array items; `is_last` when there is none.
  Status OpenItems(size_t size_min, uint64_t& count, bool& is_last) {
    int64_t items = wire_.ReadLong();
    if (items < 0) {
      wire_.ReadLength();  // the run's bytes, for who wants to skip it
      items = items == INT64_MIN ? INT64_MAX : -items;
    }
    if (!wire_.ok()) return OfWire(wire_);
    count = static_cast<uint64_t>(items);
    is_last = count == 0;
    if (count > wire_.remaining() / size_min)
      return Damaged(fmt::format("it claims more than can be there, items={}", count),
                     wire_.offset());
    return {};
  }

  std::optional<std::string_view> ReadText() {
    if (wire_.ReadIndex(2, avro::Flaw::kBadBranch) == 0) return std::nullopt;
    return wire_.ReadBytes();
  }

  Result<DeleteBranch> ReadBranch(int64_t last) {
    const uint64_t at = wire_.offset();
    const int64_t branch = wire_.ReadLong();
    if (!wire_.ok()) return OfWire(wire_);
    if (branch < 0 || branch > last) {
      return Fail(
          ErrorKind::kUnsupported,
          fmt::format("delete block: ordering value of an unknown type, branch={} offset={}",
                      branch, at));
    }
    return static_cast<DeleteBranch>(branch);
  }

  Status ReadOrdering(DeleteOrdering& ordering) {
    if (!wire_.ok()) return OfWire(wire_);
    TRY_ASSIGN(ordering.branch, ReadBranch(kLastBranch));
    if (ordering.branch == DeleteBranch::kArray) return ReadItems(ordering);
    ReadBody(wire_, ordering);
    return {};
  }

  Status ReadItems(DeleteOrdering& array) {
    items_.clear();
    if (wire_.ReadIndex(2, avro::Flaw::kBadBranch) == 0) return {};
    while (wire_.ok()) {
      uint64_t count = 0;
      bool is_last = false;
      TRY(OpenItems(1, count, is_last));
      if (is_last) break;
      if (items_.size() + count > kDeleteItemsMax) {
        return Fail(ErrorKind::kExhausted,
                    fmt::format("delete block: too many ordering fields, fields={} max={}",
                                items_.size() + count, kDeleteItemsMax));
      }
      for (; count > 0 && wire_.ok(); --count) {
        DeleteOrdering item;
        TRY_ASSIGN(item.branch, ReadBranch(kLastBranch));
        if (item.branch == DeleteBranch::kArray) item.branch = DeleteBranch::kLocalDate;
        ReadBody(wire_, item);
        items_.push_back(item);
      }
    }
    array.items = items_;
    return {};
  }

  avro::Wire wire_;
  uint64_t left_ = 0;
  bool is_done_ = false;
  std::vector<DeleteOrdering> items_;
};

}  // namespace

struct DeleteRecords::State {
  int32_t version = 0;
  AvroDeletes avro;
  KryoDeletes kryo;
  size_t next = 0;  // of kryo
  std::optional<Error> error;
};

DeleteRecords::DeleteRecords(std::unique_ptr<State> state) : state_(std::move(state)) {}
DeleteRecords::DeleteRecords(DeleteRecords&&) noexcept = default;
DeleteRecords& DeleteRecords::operator=(DeleteRecords&&) noexcept = default;
DeleteRecords::~DeleteRecords() = default;

int32_t DeleteRecords::version() const {
  return state_->version;
}

Result<DeleteRecords> DeleteRecords::Open(const LogBlock& block) {
  if (block.kind != LogBlockKind::kDelete) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("log block holds no deletes, kind={} offset={}",
                            LogBlockKindName(block.kind), block.offset));
  }
  ByteCursor cursor(block.content);
  const auto version = cursor.TakeBig<int32_t>();
  const auto size = cursor.TakeBig<int32_t>();
  if (!version || !size) return Damaged("it ends in its head", block.content_offset);
  const uint64_t offset = block.content_offset + cursor.position();
  if (*version < kKeysVersion || *version > kAvroVersion) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("delete block of an unknown version, version={} offset={}", *version,
                            block.content_offset));
  }
  if (*size < 0 || static_cast<size_t>(*size) != cursor.remaining()) {
    return Damaged(
        fmt::format("its length is wrong, length={} bytes={}", *size, cursor.remaining()),
        block.content_offset);
  }
  const auto payload = cursor.Take(cursor.remaining()).value_or("");
  auto state = std::make_unique<State>();
  state->version = *version;
  if (*version == kAvroVersion) {
    state->avro = AvroDeletes(payload, offset);
  } else {
    TRY_ASSIGN(state->kryo, ReadKryoDeletes(payload, *version, offset));
  }
  return DeleteRecords(std::move(state));
}

Result<std::optional<DeleteRecord>> DeleteRecords::Next() {
  if (state_->version != kAvroVersion) {
    if (state_->next == state_->kryo.records.size()) return std::nullopt;
    return state_->kryo.records[state_->next++];
  }
  if (state_->error) return std::unexpected(*state_->error);
  auto record = state_->avro.Next();
  if (!record) state_->error = record.error();
  return record;
}

std::string_view DeleteBranchName(DeleteBranch branch) {
  return kBranchNames.at(static_cast<size_t>(branch));
}

}  // namespace tidemark::lake::hudi
