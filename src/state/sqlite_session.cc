#include "state/sqlite_session.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <climits>
#include <utility>

namespace tidemark::state {

namespace {

/// A short wait covers a reader such as a backup; another daemon never lets go.
constexpr int kBusyWaitMs = 2'000;

ErrorKind KindOf(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorKind::kCorrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return ErrorKind::kConflict;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return ErrorKind::kDenied;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_NOMEM: return ErrorKind::kUnavailable;
    default: return ErrorKind::kInternal;
  }
}

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close_v2(database); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

class SqliteSession final : public SqlSession {
 public:
  SqliteSession(Database database, std::string file)
      : database_(std::move(database)), file_(std::move(file)) {}

  Result<std::vector<SqlRow>> Query(std::string_view sql, const SqlRow& parameters) override {
    TRY_ASSIGN(const Statement statement, Prepare(sql));
    TRY(Bind(statement.get(), parameters));
    return Step(statement.get());
  }

  Status RunForEach(std::string_view sql, const std::vector<SqlRow>& parameters) override {
    TRY_ASSIGN(const Statement statement, Prepare(sql));
    for (const SqlRow& row : parameters) {
      TRY(Bind(statement.get(), row));
      TRY(Step(statement.get()));
      sqlite3_reset(statement.get());
    }
    return {};
  }

  // The file is ours alone.
  Status LockOut() override { return {}; }

 private:
  std::unexpected<Error> Failure(int code) const {
    return Fail(KindOf(code), fmt::format("the state cannot be used file={} sqlite={}", file_,
                                          sqlite3_errmsg(database_.get())));
  }

  Result<Statement> Prepare(std::string_view sql) const {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        &statement, nullptr);
    Statement owned(statement);
    if (code != SQLITE_OK) return Failure(code);
    return owned;
  }

  Status Bind(sqlite3_stmt* statement, const SqlRow& parameters) const {
    int number = 0;
    for (const SqlValue& value : parameters) {
      const int code = BindOne(statement, ++number, value);
      if (code != SQLITE_OK) return Failure(code);
    }
    return {};
  }

  static int BindOne(sqlite3_stmt* statement, int number, const SqlValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value))
      return sqlite3_bind_int64(statement, number, *integer);
    if (const auto* fraction = std::get_if<double>(&value))
      return sqlite3_bind_double(statement, number, *fraction);
    if (const auto* text = std::get_if<std::string>(&value))
      return sqlite3_bind_text64(statement, number, text->data(), text->size(), SQLITE_TRANSIENT,
                                 SQLITE_UTF8);
    return sqlite3_bind_null(statement, number);
  }

  Result<std::vector<SqlRow>> Step(sqlite3_stmt* statement) const {
    std::vector<SqlRow> rows;
    for (;;) {
      const int code = sqlite3_step(statement);
      if (code == SQLITE_DONE) return rows;
      if (code != SQLITE_ROW) return Failure(code);
      SqlRow& row = rows.emplace_back();
      for (int i = 0; i < sqlite3_column_count(statement); ++i) row.push_back(Column(statement, i));
    }
  }

  static SqlValue Column(sqlite3_stmt* statement, int i) {
    switch (sqlite3_column_type(statement, i)) {
      case SQLITE_INTEGER: return int64_t{sqlite3_column_int64(statement, i)};
      case SQLITE_FLOAT: return sqlite3_column_double(statement, i);
      case SQLITE_NULL: return std::monostate{};
      default: {
        const void* bytes = sqlite3_column_blob(statement, i);
        const auto size = static_cast<size_t>(sqlite3_column_bytes(statement, i));
        return bytes == nullptr ? std::string()
                                : std::string(static_cast<const char*>(bytes), size);
      }
    }
  }

  Database database_;
  std::string file_;
};

Result<std::unique_ptr<SqlSession>> Open(const std::string& file, int flags, int busy_wait_ms) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) {
    return Fail(KindOf(code), fmt::format("the state cannot be opened file={} sqlite={}", file,
                                          sqlite3_errstr(code)));
  }
  sqlite3_busy_timeout(database.get(), busy_wait_ms);
  return std::make_unique<SqliteSession>(std::move(database), file);
}

Status CheckWhole(SqlSession& session, const std::string& file) {
  TRY_ASSIGN(const auto check, session.Query("PRAGMA quick_check(1)", {}));
  const auto* verdict =
      check.empty() || check[0].empty() ? nullptr : std::get_if<std::string>(&check[0][0]);
  if (verdict != nullptr && *verdict == "ok") return {};
  return Fail(ErrorKind::kCorrupt, fmt::format("the state is damaged file={} sqlite={}", file,
                                               verdict == nullptr ? "no answer" : *verdict));
}

}  // namespace

Result<std::unique_ptr<SqlSession>> OpenSqlite(const std::string& file) {
  TRY_ASSIGN(auto session, Open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, kBusyWaitMs));
  // Exclusive before the first access: no shared memory file, and nobody else gets in.
  TRY(session->Run("PRAGMA locking_mode = EXCLUSIVE"));
  TRY(session->Run("PRAGMA journal_mode = WAL"));
  TRY(session->Run("PRAGMA synchronous = NORMAL"));
  TRY(session->Run("BEGIN IMMEDIATE"));
  TRY(session->Run("COMMIT"));
  TRY(CheckWhole(*session, file));
  return session;
}

Result<std::unique_ptr<SqlSession>> OpenSqliteToRead(const std::string& file) {
  TRY_ASSIGN(auto session, Open(file, SQLITE_OPEN_READONLY, 0));
  TRY(CheckWhole(*session, file));
  return session;
}

}  // namespace tidemark::state
