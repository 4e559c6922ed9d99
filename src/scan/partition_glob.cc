#include "scan/partition_glob.h"

#include "base/glob.h"

namespace tidemark::scan {

bool MatchesGlob(std::string_view glob, std::string_view text) {
  return tidemark::MatchesGlob(glob, text, '?');
}

}  // namespace tidemark::scan
