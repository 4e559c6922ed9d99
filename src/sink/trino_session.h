/// Statements to Trino and Presto over HTTP.
#pragma once

#include <string>

#include "push/http_receiver.h"
#include "sink/statement.h"

namespace tidemark::sink {

enum class TrinoDialect { kTrino, kPresto };

struct TrinoOptions {
  TrinoDialect dialect = TrinoDialect::kTrino;
  std::string url{};  ///< of the coordinator: "https://trino:8443"
  std::string user = "tidemark";
  push::HttpHeaders headers{};  ///< with every request; may be secret

  friend bool operator==(const TrinoOptions&, const TrinoOptions&) = default;
};

/// The statement protocol: POST /v1/statement, then GET each answer's nextUri until there is none.
/// A nextUri on another host is not followed: our headers would go there.
class TrinoSession final : public StatementRunner {
 public:
  explicit TrinoSession(const TrinoOptions& options);

  Status Run(const std::string& statement, const Budget& budget) override;

 private:
  /// Tries again what a busy coordinator or gateway refused.
  Result<std::string> Ask(const push::HttpMessage& message, const Budget& budget);

  std::string url_;
  push::HttpReceiver receiver_;
};

}  // namespace tidemark::sink
