#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "state/postgres_session.h"
#include "state/schema.h"
#include "state/sqlite_session.h"
#include "state/state_store.h"

namespace tidemark::state {

namespace {

namespace fs = std::filesystem;

/// The folder itself, or the nearest one above that is there.
fs::path Existing(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error).lexically_normal();
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  return folder;
}

Result<StateCondition> CheckFile(const fs::path& folder) {
  const fs::path existing = Existing(folder);
  std::error_code error;
  if (!fs::is_directory(existing, error)) {
    return Fail(ErrorKind::kUnavailable, fmt::format("no folder path={}", existing.string()));
  }
  if (::access(existing.c_str(), W_OK | X_OK) != 0) {
    return Fail(ErrorKind::kDenied,
                fmt::format("the folder cannot be written path={}", existing.string()));
  }
  const fs::path file = folder / kSqliteFileName;
  if (!fs::exists(file, error)) return StateCondition::kAbsent;
  auto session = OpenSqliteToRead(file.string());
  if (!session && session.error().kind == ErrorKind::kConflict) return StateCondition::kHeld;
  if (!session) return std::unexpected(std::move(session).error());
  TRY_ASSIGN(
      const auto tables,
      (*session)->Query("SELECT name FROM sqlite_master WHERE name = 'tidemark_schema'", {}));
  if (!tables.empty()) TRY(CheckSteps(**session));
  return StateCondition::kUsable;
}

}  // namespace

Result<StateCondition> CheckState(const StateOptions& options) {
  if (options.url.empty()) return CheckFile(options.path);
  TRY_ASSIGN(const auto session, OpenPostgres(options.url));
  TRY(session->Run("SELECT 1"));
  return StateCondition::kUsable;
}

}  // namespace tidemark::state
