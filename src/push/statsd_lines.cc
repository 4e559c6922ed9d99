#include "push/statsd_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/utf8.h"

namespace tidemark::push {

namespace {

/// Labels that tell series of one family apart; the others follow from these.
constexpr std::array<std::string_view, 10> kTelling = {
    "pipeline", "group",     "status",   "reason", "verdict",
    "topic",    "partition", "exporter", "queue",  "version"};

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_';
}

/// FNV-1a, 32 bits.
uint32_t HashOf(std::string_view text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::string NamePart(std::string_view value) {
  std::string part(value);
  std::ranges::replace_if(part, [](char c) { return !IsPlain(c); }, '_');
  return part == value && !part.empty() ? part : fmt::format("{}_{:08x}", part, HashOf(value));
}

std::string PlainLine(const metrics::Point& point, const StatsdFormat& format) {
  std::string line = format.prefix + std::string(point.family->name);
  for (const auto& [name, value] : point.labels) {
    if (std::ranges::find(kTelling, name) != kTelling.end()) line += "." + NamePart(value);
  }
  return line + ":" + point.value + "|g";
}

/// What separates tags, fields and lines cannot be part of a value.
std::string TagValue(std::string_view value) {
  std::string text = ToValidUtf8(value);
  std::ranges::replace_if(
      text, [](char c) { return c == ',' || c == '|' || static_cast<unsigned char>(c) < ' '; },
      '_');
  return text;
}

std::string TaggedLine(const metrics::Point& point, const StatsdFormat& format) {
  std::string line =
      fmt::format("{}{}:{}|g", format.prefix, std::string(point.family->name), point.value);
  std::string_view separator = "|#";
  for (const metrics::Labels* labels : {&format.tags, &point.labels}) {
    for (const auto& [name, value] : *labels) {
      if (value.empty()) continue;
      line.append(separator).append(name).append(":").append(TagValue(value));
      separator = ",";
    }
  }
  return line;
}

}  // namespace

StatsdDatagrams StatsdLines(std::span<const metrics::Point> points, const StatsdFormat& format) {
  StatsdDatagrams result;
  const bool is_plain = format.dialect == StatsdDialect::kStatsd;
  for (const metrics::Point& point : points) {
    if (is_plain && point.family->name.ends_with("_reason")) continue;
    const std::string line = is_plain ? PlainLine(point, format) : TaggedLine(point, format);
    if (line.size() > format.datagram_bytes_max) {
      ++result.left_out;
      continue;
    }
    auto& datagrams = result.datagrams;
    if (datagrams.empty() ||
        datagrams.back().size() + 1 + line.size() > format.datagram_bytes_max) {
      datagrams.push_back(line);
    } else {
      datagrams.back().append("\n").append(line);
    }
  }
  return result;
}

}  // namespace tidemark::push
