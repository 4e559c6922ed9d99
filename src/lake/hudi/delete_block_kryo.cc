#include <fmt/core.h>

#include <bit>
#include <chrono>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "lake/hudi/delete_block_kryo_internal.h"

namespace tidemark::lake::hudi {
namespace {

constexpr std::string_view kKeysName = "[Lorg.apache.hudi.common.model.HoodieKey;";
constexpr std::string_view kDeletesName = "[Lorg.apache.hudi.common.model.DeleteRecord;";
constexpr std::string_view kKeyName = "org.apache.hudi.common.model.HoodieKey";
constexpr std::string_view kDeleteName = "org.apache.hudi.common.model.DeleteRecord";
constexpr std::string_view kUtf8Name = "org.apache.avro.util.Utf8";
constexpr std::string_view kStringName = "java.lang.String";
constexpr std::string_view kDecimalName = "java.math.BigDecimal";
constexpr std::string_view kSqlDateName = "java.sql.Date";
constexpr std::string_view kSqlTimestampName = "java.sql.Timestamp";
constexpr std::string_view kLocalDateName = "java.time.LocalDate";

// Class tags: a number given to a class by registration, plus two.
constexpr uint64_t kTagNull = 0;
constexpr uint64_t kTagNamed = 1;
constexpr uint64_t kTagInteger = 2;
constexpr uint64_t kTagString = 3;
constexpr uint64_t kTagFloat = 4;
constexpr uint64_t kTagBoolean = 5;
constexpr uint64_t kTagLong = 9;
constexpr uint64_t kTagDouble = 10;
// Release 0.13 registers Utf8, with a serializer that writes its bytes only (HUDI-4959).
constexpr uint64_t kTagUtf8Of013 = 29;

constexpr int64_t kMillisOfDay = 86'400'000;

/// The fields that Kryo finds in Utf8 and writes by name, in alphabetical order: Avro 1.9 added
/// `hash`.
enum class Utf8Fields { kWithHash, kWithoutHash };

enum class ObjectKind : uint8_t { kOther, kText, kOrdering, kKey, kDelete };

/// An object that later ones may refer to by its number.
struct Object {
  ObjectKind kind = ObjectKind::kOther;
  std::string_view text;  // kText
  size_t place = 0;       // in the list of ordering values, or that of deletes
};

/// Reads what Kryo 4.0.2 writes with references on. The first flaw ends it.
class KryoReader {
 public:
  KryoReader(std::string_view payload, uint64_t offset, Utf8Fields utf8_fields)
      : cursor_(payload), offset_(offset), utf8_fields_(utf8_fields) {}

  Result<KryoDeletes> Read(int32_t version) {
    const bool has_orderings = version == 2;
    TRY_ASSIGN(const auto array, ReadClass());
    if (array != (has_orderings ? kDeletesName : kKeysName))
      return Unsupported(fmt::format("array class={}", array));
    TRY(ReadNewObject());
    TRY_ASSIGN(const uint64_t length, ReadVarint());
    if (length == 0) return Damaged("array is null");
    const uint64_t count = length - 1;
    if (count > kKryoDeletesMax) {
      return Fail(ErrorKind::kExhausted,
                  fmt::format("delete block: too many deletes={} max={}", count, kKryoDeletesMax));
    }
    // A delete takes more bytes than that, a claim beyond it is not worth memory.
    if (count > cursor_.remaining()) return Damaged("it claims more than can be there");
    for (uint64_t i = 0; i < count; ++i) TRY(ReadElement(has_orderings));
    if (!cursor_.at_end()) return Damaged("bytes follow its last delete");
    return std::move(deletes_);
  }

 private:
  std::unexpected<Error> Damaged(std::string_view what) const {
    return Fail(ErrorKind::kCorrupt, fmt::format("delete block (Kryo): {} offset={}", what,
                                                 offset_ + cursor_.position()));
  }
  std::unexpected<Error> Unsupported(std::string_view what) const {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("delete block (Kryo) holds what is not read: {} offset={}", what,
                            offset_ + cursor_.position()));
  }

  Result<uint8_t> ReadByte() {
    const auto byte = cursor_.TakeBig<uint8_t>();
    if (!byte) return Damaged("it ends early");
    return *byte;
  }
  template <class T>
  Result<T> ReadBig() {
    const auto value = cursor_.TakeBig<T>();
    if (!value) return Damaged("it ends early");
    return *value;
  }
  Result<std::string_view> ReadBytes(uint64_t size) {
    const auto bytes = cursor_.Take(size);
    if (!bytes) return Damaged("it ends early");
    return *bytes;
  }

  /// 7 bits a byte, the least first; the ninth byte has eight.
  Result<uint64_t> ReadVarint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 56; shift += 7) {
      TRY_ASSIGN(const uint8_t byte, ReadByte());
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    TRY_ASSIGN(const uint8_t last, ReadByte());
    return value | static_cast<uint64_t>(last) << 56;
  }
  Result<int64_t> ReadZigZag() {
    TRY_ASSIGN(const uint64_t raw, ReadVarint());
    return static_cast<int64_t>((raw >> 1) ^ (0 - (raw & 1)));
  }

  /// A string without reference; nullopt for null.
  Result<std::optional<std::string_view>> ReadText() {
    TRY_ASSIGN(uint8_t byte, ReadByte());
    if ((byte & 0x80) == 0) return ReadAscii(byte);
    uint64_t length = byte & 0x3f;
    bool has_more = (byte & 0x40) != 0;
    for (int shift = 6; has_more; shift += 7) {
      if (shift > 27) return Damaged("a text's length is too long");
      TRY_ASSIGN(byte, ReadByte());
      length |= static_cast<uint64_t>(byte & 0x7f) << shift;
      has_more = (byte & 0x80) != 0;
    }
    if (length == 0) return std::nullopt;
    return ReadUnits(length - 1);
  }

  /// ASCII up to the byte with the high bit.
  Result<std::optional<std::string_view>> ReadAscii(uint8_t byte) {
    std::string text(1, static_cast<char>(byte));
    do {
      TRY_ASSIGN(byte, ReadByte());
      text += static_cast<char>(byte & 0x7f);
    } while ((byte & 0x80) == 0);
    return Keep(std::move(text));
  }

  /// `count` UTF-16 units, each of one to three bytes; pairs of surrogates become one character.
  Result<std::optional<std::string_view>> ReadUnits(uint64_t count) {
    if (count > cursor_.remaining()) return Damaged("a text ends behind the block");
    std::string text;
    uint32_t high = 0;
    for (uint64_t i = 0; i < count; ++i) {
      TRY_ASSIGN(const uint32_t unit, ReadUnit());
      const bool is_high = unit >= 0xd800 && unit < 0xdc00;
      if (high != 0 && unit >= 0xdc00 && unit < 0xe000) {
        Append(text, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
        high = 0;
        continue;
      }
      if (high != 0) Append(text, high);
      high = is_high ? unit : 0;
      if (!is_high) Append(text, unit);
    }
    if (high != 0) Append(text, high);
    return Keep(std::move(text));
  }

  Result<uint32_t> ReadUnit() {
    TRY_ASSIGN(const uint8_t first, ReadByte());
    if (first < 0x80) return first;
    const bool is_long = (first & 0xf0) == 0xe0;
    if (!is_long && (first & 0xe0) != 0xc0) return Damaged("a text has a bad character");
    uint32_t unit = first & (is_long ? 0x0f : 0x1f);
    for (int i = 0; i < (is_long ? 2 : 1); ++i) {
      TRY_ASSIGN(const uint8_t next, ReadByte());
      unit = unit << 6 | (next & 0x3f);
    }
    return unit;
  }

  static void Append(std::string& text, uint32_t code) {
    const auto put = [&text](uint32_t byte) { text += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) {
      put(0xc0 | code >> 6);
    } else {
      if (code < 0x10000) {
        put(0xe0 | code >> 12);
      } else {
        put(0xf0 | code >> 18);
        put(0x80 | (code >> 12 & 0x3f));
      }
      put(0x80 | (code >> 6 & 0x3f));
    }
    put(0x80 | (code & 0x3f));
  }

  std::string_view Keep(std::string text) { return deletes_.texts.emplace_back(std::move(text)); }

  /// Number of a class, and its name when it is new.
  Result<std::string_view> ReadNamedClass() {
    TRY_ASSIGN(const uint64_t number, ReadVarint());
    if (number < classes_.size()) return classes_[number];
    if (number > classes_.size()) return Damaged("a class has no name");
    TRY_ASSIGN(const auto name, ReadText());
    if (!name) return Damaged("a class has no name");
    classes_.push_back(*name);
    return *name;
  }

  /// A class that must be there and named.
  Result<std::string_view> ReadClass() {
    TRY_ASSIGN(const uint64_t tag, ReadVarint());
    if (tag == kTagNull) return Damaged("an object is null");
    if (tag != kTagNamed) return Unsupported(fmt::format("class number={}", tag - 2));
    return ReadNamedClass();
  }

  /// The number of an object seen before; nullopt for a new one, which gets the next number.
  Result<std::optional<size_t>> ReadReference() {
    TRY_ASSIGN(const uint64_t reference, ReadVarint());
    if (reference == 0) return Damaged("an object is null");
    if (reference == 1) {
      objects_.emplace_back();
      return std::nullopt;
    }
    if (reference - 2 >= objects_.size()) return Damaged("a reference leads nowhere");
    return static_cast<size_t>(reference - 2);
  }
  Status ReadNewObject() {
    TRY_ASSIGN(const auto known, ReadReference());
    if (known) return Unsupported("object twice");
    return {};
  }

  /// A string field: null, a known string or a new one.
  Result<std::optional<std::string_view>> ReadTextField() {
    TRY_ASSIGN(const uint64_t reference, ReadVarint());
    if (reference == 0) return std::nullopt;
    if (reference > 1) {
      if (reference - 2 >= objects_.size() || objects_[reference - 2].kind != ObjectKind::kText)
        return Damaged("a reference leads to no text");
      return objects_[reference - 2].text;
    }
    const size_t number = objects_.size();
    objects_.emplace_back();
    TRY_ASSIGN(const auto text, ReadText());
    objects_[number] = {ObjectKind::kText, text.value_or(""), 0};
    return text;
  }

  /// The place of a delete that has the object at hand already, when it is not a new one.
  Result<std::optional<size_t>> ReadObjectOf(std::string_view class_name, ObjectKind kind) {
    TRY_ASSIGN(const auto name, ReadClass());
    if (name != class_name) return Unsupported(fmt::format("class={}", name));
    TRY_ASSIGN(const auto known, ReadReference());
    if (!known) {
      objects_.back() = {kind, {}, deletes_.records.size()};
      return std::nullopt;
    }
    if (objects_[*known].kind != kind || objects_[*known].place >= deletes_.records.size())
      return Damaged("a reference leads to another object");
    return objects_[*known].place;
  }

  Status ReadElement(bool has_ordering) {
    DeleteRecord record;
    if (has_ordering) {
      TRY_ASSIGN(const auto same, ReadObjectOf(kDeleteName, ObjectKind::kDelete));
      if (same) {
        deletes_.records.push_back(DeleteRecord(deletes_.records[*same]));
        return {};
      }
    }
    TRY_ASSIGN(const auto same, ReadObjectOf(kKeyName, ObjectKind::kKey));
    if (same) {
      record.partition = deletes_.records[*same].partition;
      record.key = deletes_.records[*same].key;
    } else {
      TRY_ASSIGN(record.partition, ReadTextField());
      TRY_ASSIGN(record.key, ReadTextField());
    }
    if (has_ordering) {
      TRY(ReadOrdering(record.ordering));
    } else {
      record.ordering.branch = DeleteBranch::kInt;
      record.ordering.is_stored = false;
    }
    deletes_.records.push_back(record);
    return {};
  }

  Status ReadOrdering(DeleteOrdering& ordering) {
    TRY_ASSIGN(const uint64_t tag, ReadVarint());
    switch (tag) {
      case kTagNull: return {};
      case kTagInteger:
        ordering = {.branch = DeleteBranch::kInt, .java_class = "java.lang.Integer"};
        return ReadInteger(ordering);
      case kTagLong:
        ordering = {.branch = DeleteBranch::kLong, .java_class = "java.lang.Long"};
        return ReadInteger(ordering);
      case kTagBoolean: {
        ordering = {.branch = DeleteBranch::kBoolean, .java_class = "java.lang.Boolean"};
        TRY_ASSIGN(ordering.integer, ReadByte());
        if (ordering.integer > 1) return Damaged("a boolean is neither");
        return {};
      }
      case kTagFloat: {
        ordering = {.branch = DeleteBranch::kFloat, .java_class = "java.lang.Float"};
        TRY_ASSIGN(const auto bits, ReadBig<uint32_t>());
        ordering.real = static_cast<double>(std::bit_cast<float>(bits));
        return {};
      }
      case kTagDouble: {
        ordering = {.branch = DeleteBranch::kDouble, .java_class = "java.lang.Double"};
        TRY_ASSIGN(const auto bits, ReadBig<uint64_t>());
        ordering.real = std::bit_cast<double>(bits);
        return {};
      }
      case kTagString: {
        ordering = {.branch = DeleteBranch::kString, .java_class = kStringName};
        TRY_ASSIGN(const auto text, ReadTextField());
        if (!text) return Damaged("a text is null");
        ordering.bytes = *text;
        return {};
      }
      case kTagUtf8Of013: return ReadObject(kUtf8Name, true, ordering);
      case kTagNamed: {
        TRY_ASSIGN(const auto name, ReadNamedClass());
        return ReadObject(name, false, ordering);
      }
      default: return Unsupported(fmt::format("ordering value of class number={}", tag - 2));
    }
  }

  Status ReadInteger(DeleteOrdering& ordering) {
    TRY_ASSIGN(ordering.integer, ReadZigZag());
    if (ordering.branch == DeleteBranch::kInt &&
        ordering.integer != static_cast<int32_t>(ordering.integer)) {
      return Damaged("an int is too large");
    }
    return {};
  }

  /// An ordering value that is an object, which may be the same one as before.
  Status ReadObject(std::string_view name, bool is_registered, DeleteOrdering& ordering) {
    TRY_ASSIGN(const auto known, ReadReference());
    if (known) {
      if (objects_[*known].kind != ObjectKind::kOrdering)
        return Damaged("a reference leads to no ordering value");
      ordering = orderings_[objects_[*known].place];
      return {};
    }
    const size_t number = objects_.size() - 1;
    ordering.java_class = name;
    TRY(ReadObjectBody(name, is_registered, ordering));
    objects_[number] = {ObjectKind::kOrdering, {}, orderings_.size()};
    orderings_.push_back(ordering);
    return {};
  }

  Status ReadObjectBody(std::string_view name, bool is_registered, DeleteOrdering& ordering) {
    if (name == kUtf8Name) return ReadUtf8(is_registered, ordering);
    if (name == kDecimalName) return ReadDecimal(ordering);
    if (name == kLocalDateName) return ReadLocalDate(ordering);
    if (name != kSqlDateName && name != kSqlTimestampName)
      return Unsupported(fmt::format("ordering value of class={}", name));
    TRY_ASSIGN(const uint64_t raw, ReadVarint());
    const auto millis = static_cast<int64_t>(raw);
    if (millis > INT64_MAX / 1000 || millis < INT64_MIN / 1000)
      return Damaged("a time is out of range");
    if (name == kSqlTimestampName) {
      ordering.branch = DeleteBranch::kTimestampMicros;
      ordering.integer = millis * 1000;
      return {};
    }
    // Midnight somewhere: the nearest one in UTC.
    ordering.branch = DeleteBranch::kDate;
    const int64_t shifted = millis + kMillisOfDay / 2;
    ordering.integer = shifted / kMillisOfDay - (shifted % kMillisOfDay < 0 ? 1 : 0);
    return {};
  }

  /// Length plus one, and the bytes.
  Result<std::string_view> ReadByteArray() {
    TRY_ASSIGN(const uint64_t length, ReadVarint());
    if (length == 0) return Damaged("an array is null");
    return ReadBytes(length - 1);
  }

  Status ReadUtf8(bool is_registered, DeleteOrdering& ordering) {
    ordering.branch = DeleteBranch::kString;
    if (is_registered) {
      TRY_ASSIGN(ordering.bytes, ReadByteArray());
      return {};
    }
    TRY(ReadNewObject());
    TRY_ASSIGN(const auto bytes, ReadByteArray());
    if (utf8_fields_ == Utf8Fields::kWithHash) TRY(ReadZigZag());
    TRY_ASSIGN(const int64_t length, ReadZigZag());
    if (length < 0 || static_cast<uint64_t>(length) > bytes.size())
      return Damaged("a text is longer than its bytes");
    ordering.bytes = bytes.substr(0, static_cast<size_t>(length));
    TRY(ReadTextField());
    return {};
  }

  Status ReadDecimal(DeleteOrdering& ordering) {
    ordering.branch = DeleteBranch::kDecimal;
    TRY_ASSIGN(ordering.bytes, ReadByteArray());
    if (ordering.bytes.empty()) return Damaged("a decimal has no bytes");
    TRY_ASSIGN(const int64_t scale, ReadZigZag());
    if (scale != static_cast<int32_t>(scale)) return Damaged("a decimal's scale is too large");
    ordering.scale = static_cast<int32_t>(scale);
    return {};
  }

  Status ReadLocalDate(DeleteOrdering& ordering) {
    ordering.branch = DeleteBranch::kDate;
    TRY_ASSIGN(const uint64_t year, ReadVarint());
    TRY_ASSIGN(const uint8_t month, ReadByte());
    TRY_ASSIGN(const uint8_t day, ReadByte());
    constexpr uint64_t kYearMax = 9999;  // beyond it no table has dates
    const std::chrono::year_month_day date(
        std::chrono::year(static_cast<int>(year > kYearMax ? 0 : year)), std::chrono::month(month),
        std::chrono::day(day));
    if (year > kYearMax || !date.ok()) return Damaged("a date is none");
    ordering.integer = std::chrono::sys_days(date).time_since_epoch().count();
    return {};
  }

  ByteCursor cursor_;
  uint64_t offset_;
  Utf8Fields utf8_fields_;
  KryoDeletes deletes_;
  std::vector<std::string_view> classes_;
  std::vector<Object> objects_;
  std::vector<DeleteOrdering> orderings_;
};

}  // namespace

Result<KryoDeletes> ReadKryoDeletes(std::string_view payload, int32_t version, uint64_t offset) {
  auto deletes = KryoReader(payload, offset, Utf8Fields::kWithHash).Read(version);
  // The bytes do not say which Avro their writer had.
  if (!deletes && payload.contains(kUtf8Name.substr(0, kUtf8Name.size() - 1))) {
    auto other = KryoReader(payload, offset, Utf8Fields::kWithoutHash).Read(version);
    if (other) return other;
  }
  return deletes;
}

}  // namespace tidemark::lake::hudi
