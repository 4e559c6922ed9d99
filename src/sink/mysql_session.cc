#include "sink/mysql_session.h"

#include <fmt/format.h>
#include <mysql.h>
#include <mysqld_error.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/letter_case.h"
#include "base/utf8.h"

namespace tidemark::sink {

namespace {

/// How long a stop may go unnoticed.
constexpr std::chrono::milliseconds kSliceMax{50};
constexpr unsigned kConnectSecondsMax = 30;
constexpr size_t kQuotedBytesMax = 300;
/// The client's own numbers (errmsg.h): the server was not reached, or was lost.
constexpr unsigned kClientErrorFirst = 2000;
constexpr unsigned kClientErrorLast = 2999;

using Connection = std::unique_ptr<MYSQL, decltype(&::mysql_close)>;

/// Waits for what the client waits for; the state to go on with.
Result<int> WaitFor(MYSQL* connection, int wanted, const Budget& budget) {
  short events = 0;
  if ((wanted & MYSQL_WAIT_READ) != 0) events |= POLLIN;
  if ((wanted & MYSQL_WAIT_WRITE) != 0) events |= POLLOUT;
  if ((wanted & MYSQL_WAIT_EXCEPT) != 0) events |= POLLPRI;
  std::chrono::milliseconds waited{0};
  for (;;) {
    TRY(budget.Check());
    pollfd poll_on{.fd = mysql_get_socket(connection), .events = events, .revents = 0};
    const auto slice = std::min(kSliceMax, budget.Remaining());
    const int ready = ::poll(&poll_on, 1, static_cast<int>(std::max<int64_t>(slice.count(), 1)));
    if (ready > 0) {
      int state = 0;
      if ((poll_on.revents & (POLLIN | POLLHUP | POLLERR)) != 0) state |= MYSQL_WAIT_READ;
      if ((poll_on.revents & POLLOUT) != 0) state |= MYSQL_WAIT_WRITE;
      if ((poll_on.revents & POLLPRI) != 0) state |= MYSQL_WAIT_EXCEPT;
      return state;
    }
    waited += slice;
    const bool times_out = (wanted & MYSQL_WAIT_TIMEOUT) != 0;
    if (times_out && waited.count() >= mysql_get_timeout_value_ms(connection))
      return MYSQL_WAIT_TIMEOUT;
  }
}

std::unexpected<Error> Failed(MYSQL* connection, const MysqlOptions& options) {
  const unsigned number = mysql_errno(connection);
  const std::string message = mysql_error(connection);
  return Fail(KindOfMysqlError(number, message),
              fmt::format("the engine refused: host={}:{} error={} message={}", options.host,
                          options.port, number, Printable(message.substr(0, kQuotedBytesMax))));
}

void SetOptions(MYSQL* connection, const MysqlOptions& options) {
  mysql_optionsv(connection, MYSQL_OPT_NONBLOCK, nullptr);
  mysql_optionsv(connection, MYSQL_OPT_CONNECT_TIMEOUT, &kConnectSecondsMax);
  // A server could else ask for any file of ours.
  const unsigned no = 0;
  mysql_optionsv(connection, MYSQL_OPT_LOCAL_INFILE, &no);
  mysql_optionsv(connection, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  mysql_optionsv(connection, MYSQL_READ_DEFAULT_FILE, "/dev/null");
  const my_bool is_on = options.is_encrypted ? 1 : 0;
  mysql_optionsv(connection, MYSQL_OPT_SSL_ENFORCE, &is_on);
  mysql_optionsv(connection, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &is_on);
  if (!options.ca_file.empty())
    mysql_optionsv(connection, MYSQL_OPT_SSL_CA, options.ca_file.c_str());
}

Status Connect(MYSQL* connection, const MysqlOptions& options, const Budget& budget) {
  SetOptions(connection, options);
  MYSQL* connected = nullptr;
  int wanted =
      mysql_real_connect_start(&connected, connection, options.host.c_str(), options.user.c_str(),
                               options.password.c_str(), nullptr, options.port, nullptr, 0);
  while (wanted != 0) {
    TRY_ASSIGN(const int state, WaitFor(connection, wanted, budget));
    wanted = mysql_real_connect_cont(&connected, connection, state);
  }
  if (connected == nullptr) return Failed(connection, options);
  return {};
}

}  // namespace

ErrorKind KindOfMysqlError(unsigned number, std::string_view message) {
  if (number >= kClientErrorFirst && number <= kClientErrorLast) return ErrorKind::kUnavailable;
  switch (number) {
    case ER_ACCESS_DENIED_ERROR:
    case ER_DBACCESS_DENIED_ERROR:
    case ER_TABLEACCESS_DENIED_ERROR:
    case ER_SPECIFIC_ACCESS_DENIED_ERROR:
    case ER_ACCESS_DENIED_NO_PASSWORD_ERROR: return ErrorKind::kDenied;
    case ER_BAD_DB_ERROR:
    case ER_NO_SUCH_TABLE:
    case ER_BAD_TABLE_ERROR: return ErrorKind::kNotFound;
    default: break;
  }
  if (number == ER_PARSE_ERROR && LowerCase(message).contains("syntax"))
    return ErrorKind::kInvalidArgument;
  return ErrorKind::kUnavailable;
}

MysqlSession::MysqlSession(MysqlOptions options) : options_(std::move(options)) {}

Status MysqlSession::Run(const std::string& statement, const Budget& budget) {
  TRY(budget.Check());
  const Connection connection(mysql_init(nullptr), &::mysql_close);
  if (connection == nullptr) return Fail(ErrorKind::kInternal, "no MySQL client");
  TRY(Connect(connection.get(), options_, budget));
  int error = 0;
  int wanted = mysql_real_query_start(&error, connection.get(), statement.data(),
                                      static_cast<unsigned long>(statement.size()));
  while (wanted != 0) {
    TRY_ASSIGN(const int state, WaitFor(connection.get(), wanted, budget));
    wanted = mysql_real_query_cont(&error, connection.get(), state);
  }
  if (error != 0) return Failed(connection.get(), options_);
  return {};
}

}  // namespace tidemark::sink
