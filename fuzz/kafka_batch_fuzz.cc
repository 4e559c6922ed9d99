#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "kafka/wire/record_batch_internal.h"

/// The first byte says how much of the offsets is wanted and whether a transaction is aborted; the
/// rest are batches. What is found lies where it was looked for.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::kafka;
  if (size == 0) return 0;
  const std::string_view records(reinterpret_cast<const char*>(data) + 1, size - 1);
  const wire::AbortedTransaction aborted{.producer_id = 77, .first_offset = 100};
  const bool is_committed = (data[0] & 1) != 0;
  const wire::RecordQuestion question{
      .isolation = is_committed ? IsolationLevel::kReadCommitted : IsolationLevel::kReadUncommitted,
      .from = 95 + (data[0] >> 4),
      .end = 1000};
  const auto answer =
      wire::FindFirstRecord(records, {&aborted, is_committed ? size_t{1} : size_t{0}}, question);
  if (answer.next < question.from) std::abort();
  if (answer.outcome == wire::RecordAnswer::Outcome::kRecord &&
      (answer.first.offset < question.from || answer.first.offset >= question.end)) {
    std::abort();
  }
  return 0;
}
