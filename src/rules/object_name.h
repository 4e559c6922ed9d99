/// Names of objects in Kubernetes and in OpenSLO, made from names of pipelines.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::rules {

/// Longest name that every implementation takes (RFC 1123).
inline constexpr size_t kObjectNameBytesMax = 63;

/// "freshness-" and the pipeline: "freshness-orders". Lower-case letters, digits and '-', at most
/// kObjectNameBytesMax. A name that does not survive that as it is ends in twelve digits of its
/// hash, so that two pipelines never share an object and none changes when others come or go.
std::string ObjectNameOf(std::string_view pipeline);

}  // namespace tidemark::rules
