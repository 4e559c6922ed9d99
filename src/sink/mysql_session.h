/// Statements over the MySQL protocol, to StarRocks and Doris. The only place that includes the
/// MariaDB client.
#pragma once

#include <cstdint>
#include <string>

#include "sink/statement.h"

namespace tidemark::sink {

struct MysqlOptions {
  std::string host{};
  uint16_t port = 9030;
  std::string user = "root";
  std::string password{};     ///< never printed
  bool is_encrypted = false;  ///< TLS, and the server's certificate is checked
  std::string ca_file{};      ///< empty: the system's

  friend bool operator==(const MysqlOptions&, const MysqlOptions&) = default;
};

/// A connection for each statement: they are minutes apart. Ends with the budget.
class MysqlSession final : public StatementRunner {
 public:
  explicit MysqlSession(MysqlOptions options);

  Status Run(const std::string& statement, const Budget& budget) override;

 private:
  MysqlOptions options_;
};

/// What an error number of the server means: kDenied, kNotFound, kInvalidArgument (a mistake in the
/// statement), else kUnavailable: StarRocks and Doris give 1064 for nearly everything, and their
/// message alone tells.
ErrorKind KindOfMysqlError(unsigned number, std::string_view message);

}  // namespace tidemark::sink
