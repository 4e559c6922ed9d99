#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "kafka/cluster_error.h"
#include "kafka/wire/faults_internal.h"

namespace tidemark::kafka::wire {

namespace {

struct Meaning {
  int16_t code;
  FaultOfCode fault;
  const char* words;
};

// https://kafka.apache.org/protocol.html#protocol_error_codes. A partition that the metadata names
// and its broker does not know will be known in a moment.
constexpr auto kMeanings = std::to_array<Meaning>({
    // What a broker says of anything it did not expect, of tiered storage out of its reach too.
    {-1, {ProbeFault::kOther, true}, "unknown server error"},
    {0, {ProbeFault::kNone, false}, "no error"},
    {1, {ProbeFault::kOther, false}, "offset out of range"},
    {2, {ProbeFault::kUndecodable, false}, "corrupt message"},
    {3, {ProbeFault::kPartitionMissing, true}, "unknown topic or partition"},
    {5, {ProbeFault::kNoLeader, true}, "leader not available"},
    {6, {ProbeFault::kNoLeader, true}, "not leader for partition"},
    {7, {ProbeFault::kTimeout, true}, "request timed out"},
    {8, {ProbeFault::kBrokerUnreachable, true}, "broker not available"},
    {9, {ProbeFault::kNoLeader, true}, "replica not available"},
    {10, {ProbeFault::kTooLarge, false}, "message too large"},
    {13, {ProbeFault::kBrokerUnreachable, true}, "broker disconnected"},
    {17, {ProbeFault::kTopicMissing, false}, "invalid topic"},
    {29, {ProbeFault::kTopicDenied, false}, "topic authorization failed"},
    {31, {ProbeFault::kTopicDenied, false}, "cluster authorization failed"},
    {33, {ProbeFault::kAuthentication, false}, "unsupported SASL mechanism"},
    {34, {ProbeFault::kAuthentication, false}, kNoLoginsHere},
    {35, {ProbeFault::kOther, false}, "unsupported version of a request"},
    {43, {ProbeFault::kOther, false}, "unsupported message format"},
    {56, {ProbeFault::kNoLeader, true}, "storage error on the broker"},
    {58, {ProbeFault::kAuthentication, false}, "SASL authentication failed"},
    {74, {ProbeFault::kNoLeader, true}, "leader epoch is older than the broker's"},
    {75, {ProbeFault::kNoLeader, true}, "leader epoch is newer than the broker's"},
    {76, {ProbeFault::kUndecodable, false}, "unsupported compression type"},
    {78, {ProbeFault::kNoLeader, true}, "offset not available yet"},
    {100, {ProbeFault::kPartitionMissing, true}, "unknown topic id"},
    {103, {ProbeFault::kPartitionMissing, true}, "topic id does not match the topic"},
});

const Meaning* Find(int16_t code) {
  const auto* found = std::ranges::find(kMeanings, code, &Meaning::code);
  return found == kMeanings.end() ? nullptr : found;
}

}  // namespace

FaultOfCode FaultOf(int16_t code) {
  const Meaning* meaning = Find(code);
  return meaning == nullptr ? FaultOfCode{} : meaning->fault;
}

std::string WordsOf(int16_t code) {
  const Meaning* meaning = Find(code);
  return fmt::format("broker: {}", meaning != nullptr ? std::string(meaning->words)
                                                      : fmt::format("error code={}", code));
}

}  // namespace tidemark::kafka::wire
