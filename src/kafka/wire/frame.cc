#include "kafka/wire/frame_internal.h"
#include "kafka/wire/login_messages_internal.h"

namespace tidemark::kafka::wire {

namespace {

struct HeaderFields {
  const RequestHeader& header;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.header.key);
    c(0, m.header.version);
    c(0, m.header.correlation_id);
    c(0, m.header.client_id);
  }
};

}  // namespace

void BeginFrame(const RequestHeader& header, bool is_flexible, std::string& out) {
  out.append(kFrameLengthSize, '\0');
  Encoder old(out, 0, false);
  const HeaderFields fields{header};
  HeaderFields::Fields(old, fields);
  Encoder(out, 0, is_flexible).PutTags();
}

void EndFrame(size_t begin, std::string& out) {
  const auto length = FromBig(static_cast<int32_t>(out.size() - begin - kFrameLengthSize));
  std::memcpy(out.data() + begin, &length, sizeof length);
}

std::optional<std::string_view> BodyOf(std::string_view response, const Api& api, int16_t version) {
  const bool has_tags = api.is_flexible(version) && api.key != ApiVersionsRequest::kApi.key;
  Decoder decoder(response, 0, has_tags);
  decoder.Skip<int32_t>(0);  // correlation id
  decoder.TakeTags();
  if (decoder.is_broken()) return std::nullopt;
  return response.substr(response.size() - decoder.remaining());
}

}  // namespace tidemark::kafka::wire
