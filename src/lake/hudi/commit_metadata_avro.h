/// The Avro form of a commit body, which archives hold as a record of its own.
#pragma once

#include <string_view>

#include "base/error.h"
#include "lake/avro/datum.h"
#include "lake/hudi/commit_metadata.h"

namespace tidemark::lake::hudi {

class WriteSink;

/// Reads the container file that a commit body is in layout 2. kCorrupt unless it is whole and
/// holds exactly one record; kUnsupported for a codec or field types we do not read; kExhausted as
/// avro::Container. The write stats go to `writes`; nullptr: they are passed over unread.
Result<CommitMetadata> ParseAvroCommitMetadata(std::string_view body, WriteSink* writes = nullptr);

/// Reads a HoodieCommitMetadata or HoodieReplaceCommitMetadata record of any release: fields are
/// found by name; only extraMetadata must be there. kUnsupported when it is not, or `record` is no
/// record, or a field is of another type.
Result<CommitMetadata> ReadCommitMetadataRecord(const avro::Datum& record,
                                                WriteSink* writes = nullptr);

}  // namespace tidemark::lake::hudi
