/// The tables of the state, as the steps that make them.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "state/sql_session.h"

namespace tidemark::state {

/// Runs the steps that the database lacks, all in one transaction. kUnsupported when it has more
/// steps than this release knows: it is left as it is.
Status Migrate(SqlSession& session);

/// kUnsupported when the database, which has such tables already, has more steps than this release
/// knows. Writes nothing.
Status CheckSteps(SqlSession& session);

}  // namespace tidemark::state
