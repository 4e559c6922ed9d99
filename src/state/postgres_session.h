/// SQL on a PostgreSQL server.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "state/sql_session.h"

namespace tidemark::state {

/// kInvalidArgument, with a sentence that holds nothing of it, for what is no URL of a database.
Status CheckPostgresUrl(const std::string& url);

/// Connects to postgresql://…, whose password appears in no message. When the connection is lost,
/// or the server does not answer in time (SqlSession::LimitTo, kAnswerMax), the call that notices
/// gives kUnavailable, and the next one connects anew; looking up the host's name alone takes as
/// long as the system's resolver does. kInvalidArgument for what is no such URL.
Result<std::unique_ptr<SqlSession>> OpenPostgres(const std::string& url);

}  // namespace tidemark::state
