/// A table as sinks are shown it.
#pragma once

#include "lake/hudi/properties.h"
#include "sink/table_now.h"

namespace tidemark::app {

/// Fills in what events do not say of a table: its names, its type, its partition columns, and the
/// values of the partitions that `now` has by their paths. `now.view.identity.base_path` is given.
void FillFromProperties(const lake::hudi::TableProperties& properties, sink::TableNow& now);

}  // namespace tidemark::app
