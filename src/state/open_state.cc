#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "state/open_session.h"
#include "state/postgres_session.h"
#include "state/sql_store.h"
#include "state/sqlite_session.h"
#include "state/state_store.h"

namespace tidemark::state {

namespace {

namespace fs = std::filesystem;

Status PutDamagedAside(const std::string& file, const Error& why) {
  TRY_ASSIGN(const std::string aside, PutAside(file, "damaged"));
  Log(LogLevel::kWarning,
      fmt::format("the state is begun anew, and the damaged one is kept as {}: {}", aside,
                  why.message));
  return {};
}

}  // namespace

Result<std::unique_ptr<SqlSession>> OpenSession(const StateOptions& options,
                                                std::string_view file_name) {
  if (!options.url.empty()) return OpenPostgres(options.url);
  const std::string file = (fs::path(options.path) / file_name).string();
  TRY(MakeFolderOf(file));
  std::error_code error;
  const bool is_new = !fs::exists(fs::symlink_status(file, error));
  auto session = OpenSqlite(file);
  if (session && is_new)
    Log(LogLevel::kInfo,
        fmt::format("the state begins without memory: there was no file={}", file));
  if (session || session.error().kind != ErrorKind::kCorrupt) return session;
  return OpenSessionAnew(options, file_name, session.error());
}

Result<std::unique_ptr<SqlSession>> OpenSessionAnew(const StateOptions& options,
                                                    std::string_view file_name, const Error& why) {
  const fs::path file = fs::path(options.path) / file_name;
  TRY(PutDamagedAside(file.string(), why));
  return OpenSqlite(file.string());
}

Result<std::unique_ptr<StateStore>> OpenState(const StateOptions& options) {
  TRY_ASSIGN(auto session, OpenSession(options, kSqliteFileName));
  auto store = OpenSqlStore(std::move(session));
  const bool is_damaged = !store && store.error().kind == ErrorKind::kCorrupt;
  if (!is_damaged || !options.url.empty()) return store;
  TRY_ASSIGN(auto anew, OpenSessionAnew(options, kSqliteFileName, store.error()));
  return OpenSqlStore(std::move(anew));
}

}  // namespace tidemark::state
