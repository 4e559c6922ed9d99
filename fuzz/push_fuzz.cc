#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "metrics/text_exposition.h"
#include "push/emf_lines.h"
#include "push/http_receiver.h"
#include "push/otlp_json.h"
#include "push/otlp_protobuf.h"
#include "push/statsd_lines.h"

/// Any bytes: of a header, an answer, or a label. What is sent stays whole whatever a label holds:
/// one line, no tag that was not meant, no JSON that ends early.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)metrics::FormatFor(text);
  (void)push::OtlpRejected(text);
  (void)push::OtlpProtobufRejected(text);
  (void)push::CheckHttpUrl(text);
  if (push::CheckHttpHeader("a", text) && text.find_first_of("\r\n") != std::string_view::npos)
    std::abort();
  if (push::PathSegment(text).find_first_of("/?# \r\n") != std::string::npos) std::abort();

  static constexpr metrics::Family kFamily{"t_age_seconds", "seconds", "An age.", "", ""};
  push::Values values;
  values.points = {{&kFamily, {{"a", std::string(text)}}, "1"}};
  const auto requests = push::OtlpRequests(values, {});
  // Read as an answer it has no count of refused points, but it must be an object.
  if (requests.size() != 1 || !push::OtlpRejected(requests[0])) std::abort();
  const auto messages = push::OtlpProtobufRequests(values, {});
  // Its only field is a message, as that of an answer is.
  if (messages.size() != 1 || !push::OtlpProtobufRejected(messages[0])) std::abort();
  const std::string line = push::EmfLines(values.points, "t", {});
  if (line.find('\n') != line.size() - 1 || !push::OtlpRejected(line)) std::abort();
  for (const auto dialect : {push::StatsdDialect::kStatsd, push::StatsdDialect::kDogstatsd}) {
    push::StatsdFormat format;
    format.dialect = dialect;
    format.datagram_bytes_max = push::kDatagramBytesMax;
    for (const std::string& datagram : push::StatsdLines(values.points, format).datagrams) {
      if (datagram.contains('\n') || datagram.contains(',')) std::abort();
    }
  }
  return 0;
}
