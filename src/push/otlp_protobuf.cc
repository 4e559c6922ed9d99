#include "push/otlp_protobuf.h"

#include <bit>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/utf8.h"
#include "push/otlp_points_internal.h"

namespace tidemark::push {

namespace {

/// Kinds of values on the wire; the two others are of groups, which nobody uses any more.
enum class Wire : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr int kVarintBytesMax = 10;

/// A message as it grows. Fields that hold the default are left out where proto3 says so.
class Message {
 public:
  void AddVarint(uint32_t field, uint64_t value) {
    if (value == 0) return;
    Tag(field, Wire::kVarint);
    Varint(value);
  }
  void AddFixed64(uint32_t field, uint64_t value) {
    Tag(field, Wire::kFixed64);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>((value >> (8 * i)) & 0xff);
  }
  /// Also when it is zero: the field is one of a choice, and says which.
  void AddDouble(uint32_t field, double value) {
    AddFixed64(field, std::bit_cast<uint64_t>(value));
  }
  void AddText(uint32_t field, std::string_view text) {
    if (!text.empty()) AddBytes(field, ToValidUtf8(text));
  }
  /// Also when it is empty, for the same reason.
  void AddChosenText(uint32_t field, std::string_view text) { AddBytes(field, ToValidUtf8(text)); }
  void AddMessage(uint32_t field, const Message& message) { AddBytes(field, message.bytes_); }

  std::string Take() { return std::move(bytes_); }

 private:
  void Tag(uint32_t field, Wire wire) { Varint(field << 3 | static_cast<uint32_t>(wire)); }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void AddBytes(uint32_t field, std::string_view bytes) {
    Tag(field, Wire::kBytes);
    Varint(bytes.size());
    bytes_ += bytes;
  }

  std::string bytes_;
};

uint64_t NanosOf(WallTime time) {
  return static_cast<uint64_t>(MillisOf(time)) * 1'000'000;
}

/// common.v1.KeyValue, repeated as `field` of `message`.
template <class Pairs>
void AddAttributes(const Pairs& pairs, uint32_t field, Message& message) {
  for (const auto& [key, text] : pairs) {
    Message value;  // common.v1.AnyValue
    value.AddChosenText(1, text);
    Message pair;
    pair.AddText(1, key);
    pair.AddMessage(2, value);
    message.AddMessage(field, pair);
  }
}

Message MetricOf(OtlpMetric points, const Values& values) {
  const metrics::Family& family = *points.front().family;
  const bool is_counter = family.type == metrics::FamilyType::kCounter;
  Message data;  // metrics.v1.Gauge or Sum
  for (const metrics::Point& point : points) {
    double number = 0;
    std::from_chars(point.value.data(), point.value.data() + point.value.size(), number);
    Message data_point;  // metrics.v1.NumberDataPoint
    if (is_counter) data_point.AddFixed64(2, NanosOf(values.counting_since));
    data_point.AddFixed64(3, NanosOf(values.taken_at));
    data_point.AddDouble(4, number);
    AddAttributes(point.labels, 7, data_point);
    data.AddMessage(1, data_point);
  }
  if (is_counter) {
    data.AddVarint(2, kOtlpCumulative);
    data.AddVarint(3, 1);  // is_monotonic
  }
  Message metric;
  metric.AddText(1, family.name);
  metric.AddText(2, family.help);
  metric.AddText(3, OtlpUnit(family));
  metric.AddMessage(is_counter ? 7 : 5, data);
  return metric;
}

/// A reader of one message; nullopt wherever the bytes are none.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool is_at_end() const { return rest_.empty(); }

  struct Field {
    uint64_t number = 0;
    uint64_t value = 0;      ///< of a varint
    std::string_view bytes;  ///< of bytes
  };
  std::optional<Field> Next() {
    const auto tag = Varint();
    if (!tag || *tag >> 3 == 0) return std::nullopt;
    Field field{*tag >> 3, 0, {}};
    switch (static_cast<Wire>(*tag & 7)) {
      case Wire::kVarint: {
        const auto value = Varint();
        if (!value) return std::nullopt;
        field.value = *value;
        return field;
      }
      case Wire::kFixed64: return Skip(8) ? std::optional(field) : std::nullopt;
      case Wire::kFixed32: return Skip(4) ? std::optional(field) : std::nullopt;
      case Wire::kBytes: {
        const auto size = Varint();
        if (!size || *size > rest_.size()) return std::nullopt;
        field.bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return field;
      }
    }
    return std::nullopt;
  }

 private:
  bool Skip(size_t count) {
    if (count > rest_.size()) return false;
    rest_.remove_prefix(count);
    return true;
  }
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int i = 0; i < kVarintBytesMax && !rest_.empty(); ++i) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

}  // namespace

std::vector<std::string> OtlpProtobufRequests(const Values& values, const OtlpResource& resource,
                                              size_t points_max) {
  std::vector<std::string> requests;
  for (const auto& metrics : OtlpMetrics(values.points, points_max)) {
    Message scope;
    scope.AddText(1, kOtlpScope);
    Message scope_metrics;
    scope_metrics.AddMessage(1, scope);
    for (const OtlpMetric points : metrics) scope_metrics.AddMessage(2, MetricOf(points, values));
    Message described;  // resource.v1.Resource
    AddAttributes(resource, 1, described);
    Message resource_metrics;
    resource_metrics.AddMessage(1, described);
    resource_metrics.AddMessage(2, scope_metrics);
    Message request;
    request.AddMessage(1, resource_metrics);
    requests.push_back(request.Take());
  }
  return requests;
}

Result<size_t> OtlpProtobufRejected(std::string_view answer) {
  const auto refuse = [] {
    return Fail(ErrorKind::kCorrupt, "the answer is no ExportMetricsServiceResponse");
  };
  size_t rejected = 0;
  for (Reader reader(answer); !reader.is_at_end();) {
    const auto field = reader.Next();
    if (!field) return refuse();
    if (field->number != 1) continue;
    // partial_success { rejected_data_points, error_message }; the last of its kind counts.
    for (Reader partial(field->bytes); !partial.is_at_end();) {
      const auto member = partial.Next();
      if (!member) return refuse();
      if (member->number == 1) rejected = member->value;
    }
  }
  if (rejected > static_cast<size_t>(INT64_MAX)) return refuse();
  return rejected;
}

}  // namespace tidemark::push
