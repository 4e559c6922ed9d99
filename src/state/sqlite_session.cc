#include "state/sqlite_session.h"

#include <fmt/core.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"

namespace tidemark::state {

namespace {

namespace fs = std::filesystem;

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

Result<Database> Open(const std::string& file, int flags, int busy_wait_ms) {
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(opened);
  if (code != SQLITE_OK) {
    return Fail(KindOf(code), fmt::format("the state cannot be opened file={} sqlite={}", file,
                                          sqlite3_errstr(code)));
  }
  sqlite3_busy_timeout(database.get(), busy_wait_ms);
  return database;
}

std::unexpected<Error> CannotUse(int code, const std::string& file, sqlite3* database) {
  return Fail(KindOf(code), fmt::format("the state cannot be used file={} sqlite={}", file,
                                        sqlite3_errmsg(database)));
}

Result<Database> OpenToWrite(const std::string& file) {
  TRY_ASSIGN(Database database,
             Open(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, kBusyWaitMs));
  // Exclusive before the first access: no shared memory file, and nobody else gets in.
  for (const char* sql : {"PRAGMA locking_mode = EXCLUSIVE", "PRAGMA journal_mode = WAL",
                          "PRAGMA synchronous = NORMAL", "BEGIN IMMEDIATE", "COMMIT"}) {
    const int code = sqlite3_exec(database.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return CannotUse(code, file, database.get());
  }
  return database;
}

/// So that a database can be made at the path: its folder is there, and no other file. Where one
/// was put aside to, or nothing.
Result<std::string> MakeRoom(const std::string& file) {
  TRY(MakeFolderOf(file));
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return std::string();
  // Whoever holds it goes on with it.
  if (auto found = OpenToWrite(file); !found && found.error().kind != ErrorKind::kCorrupt)
    return std::unexpected(std::move(found.error()));
  return PutAside(file, "replaced");
}

/// A new database at the path, with the content of another one. None is left after an error.
Result<Database> MakeCopy(sqlite3* from, const std::string& file) {
  TRY_ASSIGN(Database to, OpenToWrite(file));
  int code = SQLITE_ERROR;
  if (sqlite3_backup* const copy = sqlite3_backup_init(to.get(), "main", from, "main")) {
    code = sqlite3_backup_step(copy, -1);
    sqlite3_backup_finish(copy);
  }
  if (code == SQLITE_DONE) return to;
  auto failed = CannotUse(code, file, to.get());
  to.reset();
  std::error_code error;
  fs::remove(file, error);
  return failed;
}

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

  Status HoldPlace() override {
    int has_moved = 0;
    sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (has_moved == 0) return {};
    // Its end would delete the log of whatever database is at the path by then.
    int keeps_log = 1;
    sqlite3_file_control(database_.get(), "main", SQLITE_FCNTL_PERSIST_WAL, &keeps_log);
    TRY_ASSIGN(const std::string aside, MakeRoom(file_));
    TRY_ASSIGN(database_, MakeCopy(database_.get(), file_));
    Log(LogLevel::kWarning,
        fmt::format("the state was deleted or replaced while it is in use, and is written anew: "
                    "stop this process before the state is moved file={}{}{}",
                    file_, aside.empty() ? "" : " found_there_kept_as=", aside));
    return {};
  }

 private:
  std::unexpected<Error> Failure(int code) const { return CannotUse(code, file_, database_.get()); }

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

Status CheckWhole(SqlSession& session, const std::string& file) {
  TRY_ASSIGN(const auto check, session.Query("PRAGMA quick_check(1)", {}));
  const auto* verdict =
      check.empty() || check[0].empty() ? nullptr : std::get_if<std::string>(&check[0][0]);
  if (verdict != nullptr && *verdict == "ok") return {};
  return Fail(ErrorKind::kCorrupt, fmt::format("the state is damaged file={} sqlite={}", file,
                                               verdict == nullptr ? "no answer" : *verdict));
}

}  // namespace

Status MakeFolderOf(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error) return {};
  return Fail(ErrorKind::kUnavailable,
              fmt::format("the state's folder cannot be made path={} error={}", folder.string(),
                          error.message()));
}

Result<std::string> PutAside(const std::string& file, std::string_view why) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const std::string aside = fmt::format("{}.{}-{}", file, why, now.count());
  std::error_code error;
  fs::rename(file, aside, error);
  if (error) {
    return Fail(ErrorKind::kUnavailable, fmt::format("a {} state cannot be put aside file={} "
                                                     "error={}",
                                                     why, file, error.message()));
  }
  for (const std::string_view beside : {"-wal", "-shm", "-journal"}) {
    fs::rename(fmt::format("{}{}", file, beside), fmt::format("{}{}", aside, beside),
               error);  // mostly not there
  }
  return aside;
}

Result<std::unique_ptr<SqlSession>> OpenSqlite(const std::string& file) {
  TRY_ASSIGN(Database database, OpenToWrite(file));
  auto session = std::make_unique<SqliteSession>(std::move(database), file);
  TRY(CheckWhole(*session, file));
  return session;
}

Result<std::unique_ptr<SqlSession>> OpenSqliteToRead(const std::string& file) {
  TRY_ASSIGN(Database database, Open(file, SQLITE_OPEN_READONLY, 0));
  auto session = std::make_unique<SqliteSession>(std::move(database), file);
  TRY(CheckWhole(*session, file));
  return session;
}

}  // namespace tidemark::state
