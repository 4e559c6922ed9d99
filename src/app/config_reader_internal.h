/// From the YAML of a configuration and its includes to values and mistakes.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"

namespace tidemark::app {

/// Reads the file and what it includes. Appends every mistake; what is given then is not whole.
/// `files` gets all that was read or sought, each as it was before; `Config::files` stays empty.
Config ReadConfigFile(const std::string& path, const ConfigSources& sources,
                      std::vector<ConfigMistake>& mistakes, FileStamps& files);

}  // namespace tidemark::app
