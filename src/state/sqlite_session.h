/// SQL on one SQLite file.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "state/sql_session.h"

namespace tidemark::state {

/// Opens or makes the file, and holds it until the session ends: kConflict when another process
/// does. kCorrupt when it is no SQLite file or its pages contradict each other (checked in full;
/// cost: one reading of the file). Transactions survive the end of the process at any point. A file
/// that is deleted or replaced meanwhile is written anew when the next transaction begins; what is
/// found in its place is put aside as "<name>.replaced-<time>", or is kConflict while another
/// process holds it.
Result<std::unique_ptr<SqlSession>> OpenSqlite(const std::string& file);

/// Makes the folder that the file is to be in, where there is none.
Status MakeFolderOf(const std::string& file);

/// Puts the file out of the way as "<name>.<why>-<time>", with what SQLite keeps beside it, and
/// gives that name.
Result<std::string> PutAside(const std::string& file, std::string_view why);

/// The file in the state's folder.
inline constexpr std::string_view kSqliteFileName = "tidemark.db";

/// Opens a file that is there, to read it only: kConflict when another process holds it. Checked as
/// by OpenSqlite.
Result<std::unique_ptr<SqlSession>> OpenSqliteToRead(const std::string& file);

}  // namespace tidemark::state
