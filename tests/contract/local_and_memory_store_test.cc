#include <unistd.h>

#include <filesystem>
#include <string>

#include "contract/object_store_contract.h"

namespace tidemark::storage {
namespace {

/// A folder that ends with the program.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tidemark-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

Result<std::unique_ptr<ObjectStore>> OpenLocal(const std::string& root) {
  static const TestFolder folder;
  std::filesystem::create_directories(folder.path() + "/local/" + root);
  return OpenStore(folder.path() + "/local/" + root, {});
}

Result<std::unique_ptr<ObjectStore>> OpenFileUri(const std::string& root) {
  static const TestFolder folder;
  std::filesystem::create_directories(folder.path() + "/100% file/" + root);
  return OpenStore("file://" + folder.path() + "/100%25%20file/" + root + "/", {});
}

/// A table is often reached through a symbolic link to its folder.
Result<std::unique_ptr<ObjectStore>> OpenLinked(const std::string& root) {
  static const TestFolder folder;
  const std::string link = folder.path() + "/" + root;
  if (!std::filesystem::exists(link)) {
    std::filesystem::create_directories(folder.path() + "/real/" + root);
    std::filesystem::create_symlink(folder.path() + "/real/" + root, link);
  }
  return OpenStore(link, {});
}

Result<std::unique_ptr<ObjectStore>> OpenMemory(const std::string& root) {
  return OpenStore("memory://contract-" + root, {});
}

INSTANTIATE_TEST_SUITE_P(Stores, ObjectStoreContract,
                         ::testing::Values(StoreUnderTest{"Memory", OpenMemory, {}},
                                           StoreUnderTest{"Local", OpenLocal, {}},
                                           StoreUnderTest{"FileUri", OpenFileUri, {}},
                                           StoreUnderTest{"LinkedRoot", OpenLinked, {}}),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace tidemark::storage
