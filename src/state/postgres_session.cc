#include "state/postgres_session.h"

#include <fmt/core.h>
#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace tidemark::state {

namespace {

// Type numbers of the server (pg_type); every other column is read as text.
constexpr Oid kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701, kNumeric = 1700;
/// Any number that no other program on the same database is likely to take.
constexpr int64_t kAdvisoryLock = 0x7469'6465'6d61'726b;
/// Seconds until a server that does not answer counts as unavailable.
constexpr const char* kConnectTimeout = "10";
/// Milliseconds a statement may take before the server ends it.
constexpr const char* kStatementTimeout = "-c statement_timeout=30000";

struct CloseConnection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ClearResult {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, ClearResult>;

/// The server's words on one line.
std::string Words(const char* message) {
  std::string words(message == nullptr ? "" : message);
  std::ranges::replace(words, '\n', ' ');
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words;
}

/// By the class of the SQLSTATE.
ErrorKind KindOf(std::string_view state) {
  const std::string_view kind = state.substr(0, 2);
  if (kind == "28") return ErrorKind::kDenied;  // invalid authorization
  if (state == "42501") return ErrorKind::kDenied;
  if (kind == "40" || kind == "55") return ErrorKind::kConflict;  // rolled back, object in use
  if (kind == "08" || kind == "53" || kind == "57" || kind == "58" || kind.empty())
    return ErrorKind::kUnavailable;  // connection, resources, operator, system
  if (kind == "XX") return ErrorKind::kCorrupt;
  return ErrorKind::kInternal;
}

/// Parameters as the protocol's texts; they live as long as this.
class Parameters {
 public:
  explicit Parameters(const SqlRow& row) {
    texts_.reserve(row.size());
    for (const SqlValue& value : row) texts_.push_back(TextOf(value));
    for (size_t i = 0; i < row.size(); ++i) {
      const bool is_null = std::holds_alternative<std::monostate>(row[i]);
      pointers_.push_back(is_null ? nullptr : texts_[i].c_str());
    }
  }
  int count() const { return static_cast<int>(pointers_.size()); }
  const char* const* pointers() const { return pointers_.data(); }

 private:
  static std::string TextOf(const SqlValue& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
    if (const auto* fraction = std::get_if<double>(&value)) return fmt::format("{}", *fraction);
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    return "";
  }
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
};

bool HasNul(const SqlRow& row) {
  return std::ranges::any_of(row, [](const SqlValue& value) {
    const auto* text = std::get_if<std::string>(&value);
    return text != nullptr && text->find('\0') != std::string::npos;
  });
}

class PostgresSession final : public SqlSession {
 public:
  explicit PostgresSession(std::string url) : url_(std::move(url)) {}

  Status Connect() {
    // Words after the URL's own win, so these stand before it only in effect for what it lacks.
    const char* names[] = {"connect_timeout", "options", "application_name", "dbname", nullptr};
    const char* values[] = {kConnectTimeout, kStatementTimeout, "tidemark", url_.c_str(), nullptr};
    connection_.reset(PQconnectdbParams(names, values, /*expand_dbname=*/1));
    if (PQstatus(connection_.get()) == CONNECTION_OK) {
      PQsetNoticeProcessor(connection_.get(), [](void*, const char*) {}, nullptr);
      return {};
    }
    const std::string words = Words(PQerrorMessage(connection_.get()));
    const bool is_denied = PQconnectionNeedsPassword(connection_.get()) != 0 ||
                           PQconnectionUsedPassword(connection_.get()) != 0;
    connection_.reset();
    return Fail(is_denied ? ErrorKind::kDenied : ErrorKind::kUnavailable,
                fmt::format("the state's database cannot be reached postgresql={}", words));
  }

  Result<std::vector<SqlRow>> Query(std::string_view sql, const SqlRow& parameters) override {
    TRY(Ready(parameters));
    const Parameters texts(parameters);
    const Answer answer(PQexecParams(connection_.get(), std::string(sql).c_str(), texts.count(),
                                     nullptr, texts.pointers(), nullptr, nullptr, 0));
    TRY(Check(answer.get()));
    return RowsOf(answer.get());
  }

  Status RunForEach(std::string_view sql, const std::vector<SqlRow>& parameters) override {
    if (parameters.empty()) return {};
    TRY(Ready(parameters.front()));
    const Answer prepared(PQprepare(connection_.get(), "", std::string(sql).c_str(), 0, nullptr));
    TRY(Check(prepared.get()));
    for (const SqlRow& row : parameters) {
      TRY(Ready(row));
      const Parameters texts(row);
      const Answer answer(PQexecPrepared(connection_.get(), "", texts.count(), texts.pointers(),
                                         nullptr, nullptr, 0));
      TRY(Check(answer.get()));
    }
    return {};
  }

  Status LockOut() override {
    return Run(fmt::format("SELECT pg_advisory_xact_lock({})", kAdvisoryLock));
  }

  // A database that was dropped does not answer.
  Status HoldPlace() override { return {}; }

 private:
  Status Ready(const SqlRow& parameters) {
    if (HasNul(parameters)) {
      return Fail(ErrorKind::kInvalidArgument, "a text with a NUL cannot be kept in PostgreSQL");
    }
    if (connection_ == nullptr || PQstatus(connection_.get()) != CONNECTION_OK) return Connect();
    return {};
  }

  Status Check(const PGresult* answer) {
    const ExecStatusType status = PQresultStatus(answer);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return {};
    const char* state = answer == nullptr ? nullptr : PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    const std::string words = Words(PQerrorMessage(connection_.get()));
    if (PQstatus(connection_.get()) != CONNECTION_OK) connection_.reset();
    return Fail(KindOf(state == nullptr ? "" : state),
                fmt::format("the state's database refuses postgresql={}", words));
  }

  static Result<std::vector<SqlRow>> RowsOf(const PGresult* answer) {
    std::vector<SqlRow> rows(static_cast<size_t>(PQntuples(answer)));
    for (int row = 0; row < PQntuples(answer); ++row) {
      for (int column = 0; column < PQnfields(answer); ++column) {
        TRY_ASSIGN(SqlValue value, ValueOf(answer, row, column));
        rows[static_cast<size_t>(row)].push_back(std::move(value));
      }
    }
    return rows;
  }

  static Result<SqlValue> ValueOf(const PGresult* answer, int row, int column) {
    if (PQgetisnull(answer, row, column) != 0) return std::monostate{};
    const std::string_view text(PQgetvalue(answer, row, column),
                                static_cast<size_t>(PQgetlength(answer, row, column)));
    switch (PQftype(answer, column)) {
      case kInt2:
      case kInt4:
      case kInt8: return Number<int64_t>(text);
      case kFloat4:
      case kFloat8:
      case kNumeric: return Number<double>(text);
      default: return std::string(text);
    }
  }

  template <class T>
  static Result<SqlValue> Number(std::string_view text) {
    T number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size())
      return Fail(ErrorKind::kCorrupt, fmt::format("not a number in the state value={}", text));
    return number;
  }

  std::string url_;
  std::unique_ptr<PGconn, CloseConnection> connection_;
};

}  // namespace

Result<std::unique_ptr<SqlSession>> OpenPostgres(const std::string& url) {
  auto session = std::make_unique<PostgresSession>(url);
  TRY(session->Connect());
  return session;
}

}  // namespace tidemark::state
