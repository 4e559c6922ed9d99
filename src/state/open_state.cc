#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "state/postgres_session.h"
#include "state/sql_store.h"
#include "state/sqlite_session.h"
#include "state/state_store.h"

namespace tidemark::state {

namespace {

namespace fs = std::filesystem;

/// Puts a damaged file out of the way, with what SQLite keeps beside it.
Status PutAside(const fs::path& file, const Error& why) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  const std::string aside = fmt::format("{}.damaged-{}", file.string(), now.count());
  std::error_code error;
  fs::rename(file, aside, error);
  if (error) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("a damaged state cannot be put aside file={} error={}", file.string(),
                            error.message()));
  }
  for (const std::string_view beside : {"-wal", "-shm", "-journal"}) {
    fs::rename(fmt::format("{}{}", file.string(), beside), fmt::format("{}{}", aside, beside),
               error);  // mostly not there
  }
  Log(LogLevel::kWarning,
      fmt::format("the state is begun anew, and the damaged one is kept as {}: {}", aside,
                  why.message));
  return {};
}

Result<std::unique_ptr<StateStore>> OpenFile(const fs::path& file) {
  TRY_ASSIGN(auto session, OpenSqlite(file.string()));
  return OpenSqlStore(std::move(session));
}

}  // namespace

Result<std::unique_ptr<StateStore>> OpenState(const StateOptions& options) {
  if (!options.url.empty()) {
    TRY_ASSIGN(auto session, OpenPostgres(options.url));
    return OpenSqlStore(std::move(session));
  }
  const fs::path folder = options.path;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the state's folder cannot be made path={} error={}", folder.string(),
                            error.message()));
  }
  const fs::path file = folder / kSqliteFileName;
  auto store = OpenFile(file);
  if (store || store.error().kind != ErrorKind::kCorrupt) return store;
  TRY(PutAside(file, store.error()));
  return OpenFile(file);
}

}  // namespace tidemark::state
