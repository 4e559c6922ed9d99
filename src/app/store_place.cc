#include "app/store_place.h"

#include <fstream>
#include <sstream>

#include "storage/store_uri.h"

namespace tidemark::app {

namespace {

/// Blanks, tabs, newlines and backslashes are written as three octal digits.
std::string WithoutEscapes(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) && is_octal(text[i + 2]) &&
        is_octal(text[i + 3])) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                 (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

StorePlaces::StorePlaces() {
  std::ifstream mountinfo("/proc/self/mountinfo");
  *this = StorePlaces(mountinfo);
}

StorePlaces::StorePlaces(std::istream& mountinfo) {
  for (std::string line; std::getline(mountinfo, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, mount;
    if (fields >> id >> parent >> device >> root >> mount) mounts_.push_back(WithoutEscapes(mount));
  }
}

std::string StorePlaces::MountPointOf(std::string_view path) const {
  std::string_view best = "/";
  for (const std::string& mount : mounts_)
    if (storage::LiesIn(path, mount) && mount.size() > best.size()) best = mount;
  return std::string(best);
}

std::string StorePlaces::Of(std::string_view uri) const {
  constexpr std::string_view kLocal = "file://";
  const std::string place = storage::ComparableUri(uri);
  if (!place.starts_with(kLocal)) return place.substr(0, place.find('/', place.find("://") + 3));
  return "file:" + MountPointOf(std::string_view(place).substr(kLocal.size()));
}

}  // namespace tidemark::app
