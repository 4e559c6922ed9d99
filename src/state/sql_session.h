/// The little of SQL that the state needs, on any database that has it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::state {

/// NULL, a whole number, a fraction, or text (any bytes but NUL).
using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;
using SqlRow = std::vector<SqlValue>;

/// One connection. Parameters are written $1, $2, … and must first appear in this order. Errors as
/// StateStore's. One caller at a time.
class SqlSession {
 public:
  virtual ~SqlSession() = default;

  /// From here on each call waits for a server within `budget`. A file answers by itself.
  virtual void LimitTo(const Budget& /*budget*/) {}

  /// Runs one statement and gives its rows.
  virtual Result<std::vector<SqlRow>> Query(std::string_view sql, const SqlRow& parameters) = 0;

  /// Runs one statement for each set of parameters.
  virtual Status RunForEach(std::string_view sql, const std::vector<SqlRow>& parameters) = 0;

  /// Inside a transaction: other sessions that call it wait until the transaction ends.
  virtual Status LockOut() = 0;

  /// Outside of a transaction: that what is written next will be found by the next process. A
  /// database that was taken away is made anew with all it held, and a warning says so.
  virtual Status HoldPlace() = 0;

  Status Run(std::string_view sql) {
    TRY(Query(sql, {}));
    return {};
  }
};

/// BEGIN … COMMIT; rolled back when it ends without Commit(). A session runs one at a time.
class Transaction {
 public:
  static Result<Transaction> Begin(SqlSession& session) {
    TRY(session.HoldPlace());
    TRY(session.Run("BEGIN"));
    return Transaction(session);
  }
  Transaction(Transaction&& other) noexcept : session_(std::exchange(other.session_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    // When even this fails, the database rolls back as soon as the connection ends.
    if (session_ != nullptr) static_cast<void>(session_->Run("ROLLBACK"));
  }
  Status Commit() && {
    TRY(session_->Run("COMMIT"));
    session_ = nullptr;
    return {};
  }

 private:
  explicit Transaction(SqlSession& session) : session_(&session) {}
  SqlSession* session_;
};

}  // namespace tidemark::state
