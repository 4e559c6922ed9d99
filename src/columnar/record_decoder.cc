#include "columnar/record_decoder.h"

#include <fmt/format.h>

#include <cstring>

#include "columnar/record_plan_internal.h"
#include "columnar/value_text_internal.h"
#include "columnar/wide_decimal_internal.h"
#include "lake/avro/wire.h"

namespace tidemark::columnar {
namespace {

using lake::avro::Flaw;
using lake::avro::Wire;

// One record on its way into cells. The first mistake ends it: of the bytes in the wire, of a value
// in `error`, and then in the wire too, so that only the wire need be looked at.
class Decoding {
 public:
  Decoding(std::string_view record, uint64_t offset, const bool& is_full)
      : wire_(record, offset), is_full_(is_full) {}

  void RunRecord(const DecodeStep& step, std::span<const std::unique_ptr<Cells>> cells);
  void RunMissing(const DecodeMissing& missing, Cells& cells);
  Status Finish() {
    if (error_) return std::unexpected(*std::move(error_));
    if (!wire_.ok()) return std::unexpected(wire_.ToError());
    return {};
  }

 private:
  void Run(const DecodeStep& step, Cells& cells);
  void RunText(const DecodeStep& step, TextCells& cells);
  void RunItems(const DecodeStep& step, ListCells& cells);
  void RunScaledTime(const DecodeStep& step, Cells& cells);
  void RunDecimal(const DecodeStep& step, Cells& cells);
  std::string_view TakeDecimal(const DecodeStep& step) {
    return step.writer->kind == lake::avro::Kind::kFixed ? wire_.Take(step.writer->fixed_size)
                                                         : wire_.ReadBytes();
  }
  void Refuse(const DecodeStep& step, std::string_view why) {
    if (!wire_.ok()) return;
    error_ = Error{ErrorKind::kUnsupported,
                   fmt::format("avro value cannot be read as the column's: {} {} offset={}", why,
                               step.path, wire_.offset())};
    wire_.Fail(Flaw::kBytesLeft);
  }

  Wire wire_;
  const bool& is_full_;
  std::optional<Error> error_;
};

void Decoding::RunRecord(const DecodeStep& step, std::span<const std::unique_ptr<Cells>> cells) {
  for (const DecodeField& field : step.fields) {
    if (field.step) {
      Run(*field.step, *cells[field.cell]);
    } else {
      wire_.Skip(*field.type);
    }
  }
  for (const DecodeMissing& missing : step.missing) RunMissing(missing, *cells[missing.cell]);
}

void Decoding::RunMissing(const DecodeMissing& missing, Cells& cells) {
  if (!missing.step) return cells.AppendNull();
  Decoding value(missing.bytes, 0, is_full_);
  value.Run(*missing.step, cells);
  if (auto done = value.Finish(); !done && wire_.ok()) {
    error_ = std::move(done).error();
    wire_.Fail(Flaw::kBytesLeft);
  }
}

void Decoding::Run(const DecodeStep& step, Cells& cells) {
  switch (step.op) {
    case DecodeOp::kNullable: {
      const size_t branch = wire_.ReadIndex(2, Flaw::kBadBranch);
      if (branch == step.null_branch) return cells.AppendNull();
      return Run(step.inner[0], cells);
    }
    case DecodeOp::kUnion: {
      const size_t branch = wire_.ReadIndex(step.inner.size(), Flaw::kBadBranch);
      return Run(step.inner[branch], cells);
    }
    case DecodeOp::kNull: return cells.AppendNull();
    case DecodeOp::kImpossible: return Refuse(step, "no such type there");
    case DecodeOp::kBoolean: return static_cast<BooleanCells&>(cells).Append(wire_.ReadBoolean());
    case DecodeOp::kInt: return static_cast<Int32Cells&>(cells).Append(wire_.ReadInt());
    case DecodeOp::kLong: return static_cast<Int64Cells&>(cells).Append(wire_.ReadLong());
    case DecodeOp::kIntToLong: return static_cast<Int64Cells&>(cells).Append(wire_.ReadInt());
    case DecodeOp::kFloat: return static_cast<FloatCells&>(cells).Append(wire_.ReadFloat());
    case DecodeOp::kDouble: return static_cast<DoubleCells&>(cells).Append(wire_.ReadDouble());
    case DecodeOp::kIntToFloat:
      return static_cast<FloatCells&>(cells).Append(static_cast<float>(wire_.ReadInt()));
    case DecodeOp::kLongToFloat:
      return static_cast<FloatCells&>(cells).Append(static_cast<float>(wire_.ReadLong()));
    case DecodeOp::kFloatToDouble:
      return static_cast<DoubleCells&>(cells).Append(static_cast<double>(wire_.ReadFloat()));
    case DecodeOp::kPrintedFloatToDouble:
      return static_cast<DoubleCells&>(cells).Append(AsPrinted(wire_.ReadFloat()));
    case DecodeOp::kIntToDouble:
      return static_cast<DoubleCells&>(cells).Append(static_cast<double>(wire_.ReadInt()));
    case DecodeOp::kLongToDouble:
      return static_cast<DoubleCells&>(cells).Append(static_cast<double>(wire_.ReadLong()));
    case DecodeOp::kText: return static_cast<TextCells&>(cells).Append(wire_.ReadBytes());
    case DecodeOp::kFixed:
      return static_cast<FixedCells&>(cells).Append(wire_.Take(step.writer->fixed_size));
    case DecodeOp::kDecimal:
    case DecodeOp::kIntToDecimal:
    case DecodeOp::kLongToDecimal: return RunDecimal(step, cells);
    case DecodeOp::kScaledTime: return RunScaledTime(step, cells);
    case DecodeOp::kRecord: {
      auto& fields = static_cast<StructCells&>(cells);
      RunRecord(step, fields.fields());
      return fields.EndRow();
    }
    case DecodeOp::kItems: return RunItems(step, static_cast<ListCells&>(cells));
    default: return RunText(step, static_cast<TextCells&>(cells));
  }
}

void Decoding::RunText(const DecodeStep& step, TextCells& cells) {
  std::string text;
  switch (step.op) {
    case DecodeOp::kEnum: {
      const size_t symbol = wire_.ReadIndex(step.texts.size(), Flaw::kBadSymbol);
      if (!wire_.ok()) return;
      if (!step.texts[symbol]) return Refuse(step, "unknown enum symbol");
      return cells.Append(*step.texts[symbol]);
    }
    case DecodeOp::kBooleanText: text = wire_.ReadBoolean() ? "true" : "false"; break;
    case DecodeOp::kIntText: AppendInteger(wire_.ReadInt(), text); break;
    case DecodeOp::kLongText: AppendInteger(wire_.ReadLong(), text); break;
    case DecodeOp::kFloatText: AppendJavaFloat(wire_.ReadFloat(), text); break;
    case DecodeOp::kDoubleText: AppendJavaDouble(wire_.ReadDouble(), text); break;
    case DecodeOp::kDateText: AppendDate(wire_.ReadInt(), text); break;
    case DecodeOp::kUuidText: AppendUuid(wire_.Take(16), text); break;
    default: {
      const auto value = WideDecimal::FromBigEndian(TakeDecimal(step));
      if (!value) return Refuse(step, "decimal of more than 256 bits");
      value->AppendText(step.digits, text);
    }
  }
  cells.Append(text);
}

void Decoding::RunDecimal(const DecodeStep& step, Cells& cells) {
  std::optional<WideDecimal> value;
  switch (step.op) {
    case DecodeOp::kIntToDecimal: value = WideDecimal::Of(wire_.ReadInt()); break;
    case DecodeOp::kLongToDecimal: value = WideDecimal::Of(wire_.ReadLong()); break;
    default: value = WideDecimal::FromBigEndian(TakeDecimal(step));
  }
  if (!value || !value->Rescale(step.digits) || !value->FitsIn(step.width)) {
    return Refuse(step, "decimal does not fit");
  }
  const auto& words = value->words();
  if (step.width == 16) return static_cast<Decimal128Cells&>(cells).Append({words[0], words[1]});
  static_cast<Decimal256Cells&>(cells).Append(words);
}

void Decoding::RunScaledTime(const DecodeStep& step, Cells& cells) {
  const int64_t written = step.is_from_int ? wire_.ReadInt() : wire_.ReadLong();
  int64_t value = 0;
  const bool is_lost = written % step.divisor != 0 ||
                       __builtin_mul_overflow(written / step.divisor, step.multiplier, &value) ||
                       (step.width == 4 && value != static_cast<int32_t>(value));
  if (is_lost) return Refuse(step, "time does not fit its unit");
  if (step.width == 4) return static_cast<Int32Cells&>(cells).Append(static_cast<int32_t>(value));
  static_cast<Int64Cells&>(cells).Append(value);
}

void Decoding::RunItems(const DecodeStep& step, ListCells& cells) {
  const bool is_map = step.writer->kind == lake::avro::Kind::kMap;
  const auto& type = *step.writer->items;
  Cells& items = cells.field(is_map ? 1 : 0);
  uint64_t empty_items = 0;
  for (int64_t count = wire_.ReadLong(); count != 0; count = wire_.ReadLong()) {
    std::optional<size_t> end;
    if (count < 0) {
      const uint64_t size = wire_.ReadLength();
      if (size > wire_.remaining()) return wire_.Fail(Flaw::kEndsEarly);
      end = wire_.position() + size;
    }
    const uint64_t more =
        count < 0 ? 0 - static_cast<uint64_t>(count) : static_cast<uint64_t>(count);
    if (more > wire_.ItemsMax(type, is_map ? 1 : 0)) return wire_.Fail(Flaw::kTooManyItems);
    if (!is_map && type.is_empty && (empty_items += more) > lake::avro::kEmptyItemsMax) {
      return wire_.Fail(Flaw::kTooManyItems);
    }
    for (uint64_t i = 0; i < more && wire_.ok() && !is_full_; ++i) {
      if (is_map) static_cast<TextCells&>(cells.field(0)).Append(wire_.ReadBytes());
      Run(step.inner[0], items);
    }
    if (is_full_) return;  // the row is taken back
    if (wire_.ok() && end && *end != wire_.position()) return wire_.Fail(Flaw::kBlockSizeWrong);
  }
  cells.EndRow();
}

}  // namespace

Status AppendMissing(const DecodeMissing& missing, Cells& cells, const bool& is_full) {
  Decoding decoding({}, 0, is_full);
  decoding.RunMissing(missing, cells);
  return decoding.Finish();
}

Status DecodeRecord(const RecordDecoder::Plan& plan, std::string_view record, uint64_t offset,
                    std::span<const std::unique_ptr<Cells>> cells, const bool& is_full) {
  Decoding decoding(record, offset, is_full);
  decoding.RunRecord(plan.root, cells);
  return decoding.Finish();
}

Result<RecordDecoder> RecordDecoder::Make(const lake::avro::Schema& writer, const RowType& type,
                                          const DecodeOptions& options) {
  TRY_ASSIGN(DecodeStep root, PlanRecord(writer.root(), type, options));
  return RecordDecoder(type, std::make_shared<const Plan>(Plan{writer, std::move(root)}));
}

bool RecordDecoder::HasColumn(size_t column) const {
  for (const auto& missing : plan_->root.missing) {
    if (missing.cell == column) return false;
  }
  return column < type_.size();
}

}  // namespace tidemark::columnar
