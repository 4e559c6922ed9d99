#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "columnar/batch_writer.h"
#include "columnar/row_text_internal.h"
#include "columnar/text_writer_internal.h"

namespace tidemark::columnar {
namespace {

constexpr size_t kFlushBytes = 1 << 16;

// Rows as text, handed on in pieces of some size.
class TextWriter : public BatchWriter {
 public:
  TextWriter(RowType type, ByteSink sink) : type_(std::move(type)), sink_(std::move(sink)) {}

  Status Write(const Batch& batch) final {
    CHECK(batch.type() == type_, "batch of another row type");
    TRY(Begin());
    for (size_t row = 0; row < batch.rows(); ++row) {
      AppendRow(batch, row, text_);
      if (text_.size() >= kFlushBytes) TRY(Flush());
    }
    return Flush();
  }
  Status Close() final {
    TRY(Begin());
    return Flush();
  }

 protected:
  virtual void AppendHead(const RowType& type, std::string& out) = 0;
  virtual void AppendRow(const Batch& batch, size_t row, std::string& out) = 0;

 private:
  Status Begin() {
    if (failed_) return std::unexpected(*failed_);
    if (!std::exchange(has_begun_, true)) AppendHead(type_, text_);
    return {};
  }
  Status Flush() {
    if (text_.empty()) return {};
    Status done = sink_(text_);
    text_.clear();
    if (!done) failed_ = done.error();
    return done;
  }

  RowType type_;
  ByteSink sink_;
  std::string text_;
  bool has_begun_ = false;
  std::optional<Error> failed_;
};

class JsonLinesWriter final : public TextWriter {
 public:
  using TextWriter::TextWriter;

 private:
  void AppendHead(const RowType&, std::string&) override {}
  void AppendRow(const Batch& batch, size_t row, std::string& out) override {
    AppendRowJson(batch, row, out);
    out += '\n';
  }
};

void AppendCsvField(std::string_view text, std::string& out) {
  // An empty text is quoted, because nothing at all is null.
  const bool is_plain = text.find(',') == text.npos &&
                        (IsPlainAscii(text) || text.find_first_of("\"\r\n") == text.npos);
  if (!text.empty() && is_plain) {
    out += text;
    return;
  }
  out += '"';
  for (const char byte : text) {
    if (byte == '"') out += '"';
    out += byte;
  }
  out += '"';
}

class CsvWriter final : public TextWriter {
 public:
  using TextWriter::TextWriter;

 private:
  void AppendHead(const RowType& type, std::string& out) override {
    bool is_first = true;
    for (const size_t i : type.visible()) {
      if (!std::exchange(is_first, false)) out += ',';
      AppendCsvField(ToValidUtf8(type.columns()[i].name), out);
    }
    out += "\r\n";
  }
  void AppendRow(const Batch& batch, size_t row, std::string& out) override {
    bool is_first = true;
    const bool is_only_column = batch.type().visible().size() == 1;
    for (const size_t i : batch.type().visible()) {
      if (!std::exchange(is_first, false)) out += ',';
      const ColumnView& column = batch.column(i);
      if (column.IsNull(row)) {
        // Readers pass over empty lines: better an empty text than no row.
        if (is_only_column) out += "\"\"";
        continue;
      }
      field_.clear();
      AppendValueText(column, row, field_);
      if (column.type->kind == ValueKind::kString && !IsPlainAscii(field_)) {
        field_ = ToValidUtf8(field_);
      }
      AppendCsvField(field_, out);
    }
    out += "\r\n";
  }

  std::string field_;
};

}  // namespace

std::optional<RowFormat> FindRowFormat(std::string_view word) {
  if (word == "jsonl") return RowFormat::kJsonLines;
  if (word == "csv") return RowFormat::kCsv;
  if (word == "parquet") return RowFormat::kParquet;
  if (word == "arrow") return RowFormat::kArrow;
  return std::nullopt;
}

std::unique_ptr<BatchWriter> MakeTextWriter(RowFormat format, const RowType& type, ByteSink sink) {
  if (format == RowFormat::kCsv) return std::make_unique<CsvWriter>(type, std::move(sink));
  return std::make_unique<JsonLinesWriter>(type, std::move(sink));
}

}  // namespace tidemark::columnar
