/// Names and text as parts of SQL statements, so that none can end what it stands in.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::sink {

/// "a""b": standard SQL (Trino, Presto).
std::string SqlName(std::string_view name);
/// 'it''s': standard SQL; a backslash is a character like others.
std::string SqlText(std::string_view text);
/// `a``b`: MySQL and those who speak its language.
std::string MysqlName(std::string_view name);

}  // namespace tidemark::sink
