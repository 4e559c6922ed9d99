#include "columnar/loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "columnar/module.h"

namespace tidemark::columnar {
namespace {

constexpr std::string_view kModuleName = "libtidemark_columnar.so";

std::vector<std::string> ModulePaths() {
  std::vector<std::string> paths;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) {
    const auto folder = program.parent_path();
    paths.push_back((folder / kModuleName).string());
    paths.push_back((folder.parent_path() / "lib/tidemark" / kModuleName).string());
  }
#ifdef TIDEMARK_COLUMNAR_BUILT
  paths.emplace_back(TIDEMARK_COLUMNAR_BUILT);
#endif
  return paths;
}

Result<const Module*> LoadFrom(const std::string& path) {
  // Local: what Arrow brings along stays out of the program's symbols. Now: a missing library shows
  // here and not in the middle of a file.
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return Fail(ErrorKind::kUnavailable, dlerror());
  void* const symbol = dlsym(module, kFactoryName);
  if (symbol == nullptr) return Fail(ErrorKind::kUnavailable, dlerror());
  return reinterpret_cast<Factory>(symbol)();
}

Result<const Module*> LoadFromAnywhere() {
  std::vector<std::string> reasons;
  for (const auto& path : ModulePaths()) {
    auto module = LoadFrom(path);
    if (module) return module;
    reasons.push_back(std::move(module).error().message);
  }
  return Fail(ErrorKind::kUnavailable, fmt::format("the Parquet module cannot be loaded, tried: {}",
                                                   fmt::join(reasons, "; ")));
}

}  // namespace

Result<const Module*> LoadModule() {
  static std::mutex mutex;
  static const Module* loaded = nullptr;
  const std::lock_guard lock(mutex);
  if (loaded == nullptr) {
    TRY_ASSIGN(loaded, LoadFromAnywhere());
  }
  return loaded;
}

Result<const lake::ColumnReader*> LoadColumnReader() {
  TRY_ASSIGN(const Module* module, LoadModule());
  return &module->column_reader();
}

}  // namespace tidemark::columnar
