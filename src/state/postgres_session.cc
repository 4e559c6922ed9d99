#include "state/postgres_session.h"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/held.h"
#include "state/state_store.h"

namespace tidemark::state {

namespace {

// Type numbers of the server (pg_type); every other column is read as text.
constexpr Oid kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701, kNumeric = 1700;
/// Any number that no other program on the same database is likely to take.
constexpr int64_t kAdvisoryLock = 0x7469'6465'6d61'726b;
/// Until a server that does not take the connection counts as unavailable; all its addresses.
constexpr Milliseconds kConnectMax = std::chrono::seconds(10);
/// How soon a stop is noticed.
constexpr Milliseconds kStopNoticedAfter{50};

using Answer = Held<PGresult, PQclear>;

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

  void LimitTo(const Budget& budget) override { budget_ = budget; }

  Status Connect() {
    const Budget budget = budget_.Within(kConnectMax);
    // Words after the URL's own win, so these stand before it only in effect for what it lacks.
    // A connection that was given up must not keep its locks until the server notices.
    const std::string options =
        fmt::format("-c statement_timeout={0} -c idle_in_transaction_session_timeout={0}",
                    kStatementMax.count());
    const std::string unacknowledged = fmt::format("{}", kAnswerMax.count());
    const char* names[] = {"options",         "application_name", "tcp_user_timeout",
                           "keepalives_idle", "dbname",           nullptr};
    const char* values[] = {options.c_str(), "tidemark", unacknowledged.c_str(), "30",
                            url_.c_str(),    nullptr};
    connection_.reset(PQconnectStartParams(names, values, /*expand_dbname=*/1));
    const bool is_begun = connection_ && PQstatus(connection_.get()) != CONNECTION_BAD;
    auto step = is_begun ? PGRES_POLLING_WRITING : PGRES_POLLING_FAILED;
    while (step == PGRES_POLLING_READING || step == PGRES_POLLING_WRITING) {
      TRY(AwaitSocket(step == PGRES_POLLING_READING ? POLLIN : POLLOUT, budget));
      step = PQconnectPoll(connection_.get());
    }
    if (step == PGRES_POLLING_OK && PQsetnonblocking(connection_.get(), 1) == 0) {
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
    TRY_ASSIGN(const Answer answer,
               Ask(PQsendQueryParams(connection_.get(), std::string(sql).c_str(), texts.count(),
                                     nullptr, texts.pointers(), nullptr, nullptr, 0)));
    TRY(Check(answer.get()));
    return RowsOf(answer.get());
  }

  Status RunForEach(std::string_view sql, const std::vector<SqlRow>& parameters) override {
    if (parameters.empty()) return {};
    TRY(Ready(parameters.front()));
    TRY_ASSIGN(const Answer prepared,
               Ask(PQsendPrepare(connection_.get(), "", std::string(sql).c_str(), 0, nullptr)));
    TRY(Check(prepared.get()));
    for (const SqlRow& row : parameters) {
      TRY(Ready(row));
      const Parameters texts(row);
      TRY_ASSIGN(const Answer answer,
                 Ask(PQsendQueryPrepared(connection_.get(), "", texts.count(), texts.pointers(),
                                         nullptr, nullptr, 0)));
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
  /// Until the socket is ready for one of `events`. What was not answered in time is not waited for
  /// any more: the connection is given up.
  Status AwaitSocket(short events, const Budget& budget) {
    for (;;) {
      const Milliseconds left = budget.Remaining();
      if (budget.is_stopped() || left.count() == 0) break;
      pollfd waited{.fd = PQsocket(connection_.get()), .events = events, .revents = 0};
      const int ready =
          poll(&waited, 1, static_cast<int>(std::min(left, kStopNoticedAfter).count()));
      if (ready > 0) return {};
      if (ready < 0 && errno != EINTR) break;
    }
    connection_.reset();
    return Fail(ErrorKind::kUnavailable, "the state's database does not answer");
  }

  /// The answer to what was just sent, unless `is_sent` says that it was not. May be null: then
  /// PQerrorMessage says why.
  Result<Answer> Ask(int is_sent) {
    const Budget budget = budget_.Within(kAnswerMax);
    if (is_sent == 0) return Answer();
    for (int unsent = PQflush(connection_.get()); unsent != 0;
         unsent = PQflush(connection_.get())) {
      if (unsent < 0) return Answer();
      TRY(AwaitSocket(POLLIN | POLLOUT, budget));
      if (PQconsumeInput(connection_.get()) == 0) return Answer();
    }
    // As PQexec: the last answer counts, and all are taken.
    Answer last;
    for (;;) {
      while (PQisBusy(connection_.get()) != 0) {
        TRY(AwaitSocket(POLLIN, budget));
        if (PQconsumeInput(connection_.get()) == 0) return Answer();
      }
      Answer next(PQgetResult(connection_.get()));
      if (!next) return last;
      last = std::move(next);
    }
  }

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
  Budget budget_;
  Held<PGconn, PQfinish> connection_;
};

}  // namespace

/// libpq's own words would name the piece that it stumbles over, which may be one of the password.
Status CheckPostgresUrl(const std::string& url) {
  const auto refuse = [] {
    return Fail(ErrorKind::kInvalidArgument,
                "the state's url is none of PostgreSQL, postgresql://USER:PASSWORD@HOST:PORT/NAME; "
                "in user and password / is written %2F, : %3A, @ %40, ? %3F, % %25");
  };
  char* words = nullptr;
  const Held<PQconninfoOption, PQconninfoFree> options(PQconninfoParse(url.c_str(), &words));
  if (words != nullptr) PQfreemem(words);
  if (!options) return refuse();
  const auto is_port = [](char c) { return (c >= '0' && c <= '9') || c == ','; };
  for (const PQconninfoOption* each = options.get(); each->keyword != nullptr; ++each) {
    const std::string_view name = each->keyword, value = each->val == nullptr ? "" : each->val;
    if (name == "port" && !std::ranges::all_of(value, is_port)) return refuse();
    if ((name == "dbname" || name == "host") && value.contains('@')) return refuse();
  }
  return {};
}

Result<std::unique_ptr<SqlSession>> OpenPostgres(const std::string& url) {
  TRY(CheckPostgresUrl(url));
  auto session = std::make_unique<PostgresSession>(url);
  TRY(session->Connect());
  return session;
}

}  // namespace tidemark::state
