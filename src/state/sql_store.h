/// The state on any database that speaks SQL.
#pragma once

#include <memory>

#include "base/error.h"
#include "state/sql_session.h"
#include "state/state_store.h"

namespace tidemark::state {

/// Brings the tables up to date and takes the session. kUnsupported when they are from a newer
/// release.
Result<std::unique_ptr<StateStore>> OpenSqlStore(std::unique_ptr<SqlSession> session);

}  // namespace tidemark::state
