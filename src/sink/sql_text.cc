#include "sink/sql_text.h"

namespace tidemark::sink {

namespace {

std::string Enclosed(std::string_view text, char mark) {
  std::string enclosed(1, mark);
  for (const char c : text) {
    if (c == '\0') continue;  // no name holds one, and clients would end there
    if (c == mark) enclosed += mark;
    enclosed += c;
  }
  enclosed += mark;
  return enclosed;
}

}  // namespace

std::string SqlName(std::string_view name) {
  return Enclosed(name, '"');
}

std::string SqlText(std::string_view text) {
  return Enclosed(text, '\'');
}

std::string MysqlName(std::string_view name) {
  return Enclosed(name, '`');
}

}  // namespace tidemark::sink
