/// Opening the database that the options name, whatever it is.
#pragma once

#include <memory>
#include <string_view>

#include "base/error.h"
#include "state/sql_session.h"
#include "state/state_store.h"

namespace tidemark::state {

/// PostgreSQL where a URL is given, else the SQLite file `file_name` in the folder, which is made
/// when missing. A damaged SQLite file is put aside as "<name>.damaged-<time>" with a warning in
/// the log, and a new one begun. kConflict when another process holds the file.
Result<std::unique_ptr<SqlSession>> OpenSession(const StateOptions& options,
                                                std::string_view file_name);

/// Puts the SQLite file aside because of `why`, and begins a new one. The session on it must have
/// ended.
Result<std::unique_ptr<SqlSession>> OpenSessionAnew(const StateOptions& options,
                                                    std::string_view file_name, const Error& why);

}  // namespace tidemark::state
