/// The same requests in protobuf, which most collectors take first and which is a third as long.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "push/exporter.h"
#include "push/otlp_json.h"

namespace tidemark::push {

/// As OtlpRequests: the same points, cut at the same places. Field numbers are those of
/// opentelemetry-proto 1.x (collector/metrics/v1, metrics/v1, resource/v1, common/v1).
std::vector<std::string> OtlpProtobufRequests(const Values& values, const OtlpResource& resource,
                                              size_t points_max = kOtlpPointsMax);

/// As OtlpRejected, of an ExportMetricsServiceResponse in protobuf.
Result<size_t> OtlpProtobufRejected(std::string_view answer);

}  // namespace tidemark::push
