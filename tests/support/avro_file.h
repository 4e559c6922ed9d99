/// Avro container files of one record, put together by hand.
#pragma once

#include <string>
#include <vector>

namespace tidemark::support {

/// Avro's long, of a number that is not negative; also a count, and the branch of a union.
inline std::string AvroNumber(size_t value) {
  std::string bytes;
  for (value *= 2; value >= 128; value >>= 7) bytes += static_cast<char>(value | 128);
  return bytes + static_cast<char>(value);
}

inline std::string AvroText(const std::string& text) {
  return AvroNumber(text.size()) + text;
}

/// An array of strings.
inline std::string AvroTexts(const std::vector<std::string>& texts) {
  std::string bytes = texts.empty() ? "" : AvroNumber(texts.size());
  for (const auto& text : texts) bytes += AvroText(text);
  return bytes + AvroNumber(0);
}

/// A whole file with one encoded record.
inline std::string AvroFile(const std::string& schema, const std::string& record) {
  const std::string sync(16, 's');
  return std::string("Obj\x01") + AvroNumber(1) + AvroText("avro.schema") + AvroText(schema) +
         AvroNumber(0) + sync + AvroNumber(1) + AvroText(record) + sync;
}

/// The body of a completed clean that removed `files` of one partition.
inline std::string CleanBody(const std::string& partition, const std::vector<std::string>& files,
                             const std::string& earliest_to_retain) {
  return AvroFile(
      R"({"type":"record","name":"HoodieCleanMetadata","fields":[
      {"name":"earliestCommitToRetain","type":"string"},
      {"name":"lastCompletedCommitTimestamp","type":"string"},
      {"name":"partitionMetadata","type":{"type":"map","values":{"type":"record","name":"p","fields":[
        {"name":"deletePathPatterns","type":{"type":"array","items":"string"}}]}}}]})",
      AvroText(earliest_to_retain) + AvroText("") + AvroNumber(1) + AvroText(partition) +
          AvroTexts(files) + AvroNumber(0));
}

}  // namespace tidemark::support
