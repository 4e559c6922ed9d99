/// Work side by side.
#pragma once

#include <cstddef>
#include <functional>

#include "base/error.h"

namespace tidemark {

/// Runs `work(i)` for all i below `count`, handed out in ascending order to some threads, this one
/// among them; the error of the lowest i. After an error no more is handed out.
Status InParallel(size_t count, unsigned threads, const std::function<Status(size_t)>& work);

}  // namespace tidemark
