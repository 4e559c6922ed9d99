/// The door to Parquet: loads the module that holds Arrow when a table first needs it, because
/// loading it costs a cold start 50 ms and most runs read no Parquet at all.
#pragma once

#include "base/error.h"
#include "lake/column_reader.h"

namespace tidemark::columnar {

class Module;  // module.h

/// The one reader of this process, which lives until its end. The first call loads
/// libtidemark_columnar.so from the folder of the running program or from ../lib/tidemark beside
/// it; a build with tests also looks where it was built. kUnavailable when it cannot be loaded: the
/// message has the places and the reasons; the next call tries again. Any thread.
Result<const lake::ColumnReader*> LoadColumnReader();

/// What the reader is a part of, for this library's own use.
Result<const Module*> LoadModule();

}  // namespace tidemark::columnar
