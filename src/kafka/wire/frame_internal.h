/// Requests and responses with their headers, as they stand on a connection behind a length of 32
/// bits.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "kafka/wire/codec_internal.h"

namespace tidemark::kafka::wire {

inline constexpr size_t kFrameLengthSize = sizeof(int32_t);

struct RequestHeader {
  int16_t key = 0;
  int16_t version = 0;
  int32_t correlation_id = 0;
  std::string_view client_id;
};

/// Appends the length and the header; `EndFrame` completes the length.
/// The client id keeps its old form in flexible versions.
void BeginFrame(const RequestHeader& header, bool is_flexible, std::string& out);
void EndFrame(size_t begin, std::string& out);

/// Appends one whole request.
template <class Request>
void EncodeRequest(const Request& request, int16_t version, int32_t correlation_id,
                   std::string_view client_id, std::string& out) {
  const Api& api = Request::kApi;
  const bool is_flexible = api.is_flexible(version);
  const size_t begin = out.size();
  BeginFrame({api.key, version, correlation_id, client_id}, is_flexible, out);
  Encoder encoder(out, version, is_flexible);
  Request::Fields(encoder, request);
  encoder.PutTags();
  EndFrame(begin, out);
}

/// The body of a response, behind the header. Views in it point into `body`. kCorrupt when it ends
/// early or goes on behind its last field: then it is not what we took it for. One empty section of
/// tagged fields too many is let pass: librdkafka's mock brokers end Metadata with two.
template <class Request>
Result<typename Request::Response> DecodeResponse(std::string_view body, int16_t version) {
  const Api& api = Request::kApi;
  Decoder decoder(body, version, api.is_flexible(version));
  typename Request::Response response;
  Request::Response::Fields(decoder, response);
  decoder.TakeTags();
  if (decoder.remaining() == 1) decoder.TakeTags();
  if (!decoder.is_broken() && decoder.remaining() == 0) return response;
  const char* what = decoder.is_broken() ? "is cut short" : "is longer than its fields";
  return Fail(ErrorKind::kCorrupt,
              fmt::format("a response {} request={} version={}", what, api.name, version));
}

/// The part of a response behind its header; nullopt when the header is cut short. Responses to
/// ApiVersions keep the old header: whoever asks does not know yet what the broker speaks.
std::optional<std::string_view> BodyOf(std::string_view response, const Api& api, int16_t version);

}  // namespace tidemark::kafka::wire
