#include "storage/small_file.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>

#include "storage/local_file.h"

namespace tidemark::storage {

Result<std::string> ReadSmallFile(const std::string& path) {
  TRY_ASSIGN(const OpenFile file, OpenRegularFile(path, path));
  TRY_ASSIGN(std::string text, ReadAt(file.fd, 0, kSmallFileBytesMax + 1, path, Budget()));
  if (text.size() > kSmallFileBytesMax) {
    return Fail(ErrorKind::kExhausted, fmt::format("the file is too long: file={} bytes_max={}",
                                                   path, kSmallFileBytesMax));
  }
  return text;
}

}  // namespace tidemark::storage
