/// Everything to read, build and write rows with.
#pragma once

#include "columnar/batch.h"           // IWYU pragma: export
#include "columnar/batch_reader.h"    // IWYU pragma: export
#include "columnar/batch_writer.h"    // IWYU pragma: export
#include "columnar/record_decoder.h"  // IWYU pragma: export
#include "columnar/row_builder.h"     // IWYU pragma: export
#include "columnar/row_type.h"        // IWYU pragma: export
#include "columnar/value_type.h"      // IWYU pragma: export
