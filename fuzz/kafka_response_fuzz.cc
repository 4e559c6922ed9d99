#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kafka/wire/config_messages_internal.h"
#include "kafka/wire/fetch_messages_internal.h"
#include "kafka/wire/frame_internal.h"
#include "kafka/wire/login_messages_internal.h"
#include "kafka/wire/messages_internal.h"

namespace tidemark::kafka::wire {
namespace {

// What was read is written, and read again: both directions come from one list of fields.
template <class Request>
void Check(std::string_view body, int16_t version) {
  if (version < Request::kApi.min || version > Request::kApi.max) return;
  const auto response = DecodeResponse<Request>(body, version);
  if (!response) {
    if (response.error().kind != ErrorKind::kCorrupt) std::abort();
    return;
  }
  std::string written;
  Encoder encoder(written, version, Request::kApi.is_flexible(version));
  Request::Response::Fields(encoder, *response);
  encoder.PutTags();
  if (!DecodeResponse<Request>(written, version)) std::abort();
}

}  // namespace
}  // namespace tidemark::kafka::wire

/// The kind of response and its version, then its body.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark::kafka::wire;
  if (size < 2) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto version = static_cast<int16_t>(data[1]);
  switch (data[0]) {
    case 0: Check<ApiVersionsRequest>(body, version); break;
    case 1: Check<SaslHandshakeRequest>(body, version); break;
    case 2: Check<SaslAuthenticateRequest>(body, version); break;
    case 3: Check<MetadataRequest>(body, version); break;
    case 4: Check<ListOffsetsRequest>(body, version); break;
    case 5: Check<OffsetForLeaderEpochRequest>(body, version); break;
    case 6: Check<FetchRequest>(body, version); break;
    case 7: Check<DescribeConfigsRequest>(body, version); break;
    default: break;
  }
  return 0;
}
