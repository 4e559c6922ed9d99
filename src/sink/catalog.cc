#include "sink/catalog.h"

#include <fmt/format.h>

namespace tidemark::sink {

namespace {

/// FileUtils.charToEscape (Hive 4.0): control characters and these.
constexpr std::string_view kEscaped = "\"#%'*/:=?\\{[]^\x7F";

std::string EscapedName(std::string_view text) {
  if (text.empty()) return std::string(kNullPartition);
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || kEscaped.contains(c))
      escaped += fmt::format("%{:02X}", byte);
    else
      escaped += c;
  }
  return escaped;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// FileUtils.unescapePathName: what is no escape stays.
std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        plain += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    plain += text[i];
  }
  return plain;
}

}  // namespace

std::vector<std::string> CatalogValues(const PartitionView& partition) {
  std::vector<std::string> values;
  values.reserve(partition.values.size());
  for (const auto& value : partition.values)
    values.push_back(value && !value->empty() ? *value : std::string(kNullPartition));
  return values;
}

std::string PartitionName(std::span<const CatalogColumn> keys,
                          std::span<const std::string> values) {
  std::string name;
  for (size_t i = 0; i < keys.size() && i < values.size(); ++i)
    name += fmt::format("{}{}={}", i == 0 ? "" : "/", EscapedName(keys[i].name),
                        EscapedName(values[i]));
  return name;
}

Result<std::vector<std::string>> ValuesOfName(std::string_view name, size_t count) {
  std::vector<std::string> values;
  const std::string_view whole = name;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('/'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) break;
    values.push_back(Unescaped(part.substr(equals + 1)));
  }
  if (values.size() != count || !name.empty())
    return Fail(ErrorKind::kCorrupt,
                fmt::format("a partition's name is not of the table's partition columns: name={} "
                            "columns={}",
                            whole, count));
  return values;
}

std::string PartitionLocation(const CatalogTable& table, const PartitionView& partition) {
  if (partition.path.empty()) return table.location;
  return fmt::format("{}/{}", table.location, partition.path);
}

}  // namespace tidemark::sink
