/// Files that readers see whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tidemark::push {

/// Replaces the file, or makes it; for all to read (0644) whatever the umask. Written beside it
/// under a hidden name that does not end like it, then renamed. After an error the old file stays
/// and the hidden one is gone; one that a kill left behind is used again.
Status ReplaceFile(const std::string& path, std::string_view bytes);

/// Whether ReplaceFile could do its work, by the rights that the folder shows. Makes nothing.
Status CheckReplaceable(const std::string& path);

/// Removes the file, and what a kill may have left beside it. Ok when there is none.
Status RemoveFile(const std::string& path);

}  // namespace tidemark::push
