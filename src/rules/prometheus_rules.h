/// Alerts and recordings for Prometheus.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "rules/watched.h"

namespace tidemark::rules {

/// The alerts, in the order of docs/rules.md, which explains each.
namespace alerts {
inline constexpr std::string_view kExporterDown = "TidemarkExporterDown";
inline constexpr std::string_view kExporterAbsent = "TidemarkExporterAbsent";
inline constexpr std::string_view kDeliveryFailing = "TidemarkDeliveryFailing";
inline constexpr std::string_view kPipelineAbsent = "TidemarkPipelineAbsent";
inline constexpr std::string_view kReportFrozen = "TidemarkReportFrozen";
inline constexpr std::string_view kRecordsLost = "TidemarkRecordsLost";
inline constexpr std::string_view kRetentionMargin = "TidemarkRetentionMarginLow";
inline constexpr std::string_view kBreach = "TidemarkPipelineBreach";
inline constexpr std::string_view kWarning = "TidemarkPipelineWarning";
inline constexpr std::string_view kUnknown = "TidemarkPipelineUnknown";
inline constexpr std::string_view kBlind = "TidemarkPipelineBlind";
inline constexpr std::string_view kBudgetBurn = "TidemarkErrorBudgetBurn";
inline constexpr std::string_view kFeedUnowned = "TidemarkFeedUnowned";
inline constexpr std::string_view kFeedClosed = "TidemarkFeedClosed";
inline constexpr std::string_view kFeedBehind = "TidemarkFeedBehind";
inline constexpr std::string_view kFeedParked = "TidemarkFeedParked";
inline constexpr std::string_view kFeedFailing = "TidemarkFeedFailing";
inline constexpr std::string_view kFeedSlow = "TidemarkFeedSlow";
inline constexpr std::string_view kFeedBlind = "TidemarkFeedBlind";
}  // namespace alerts

/// Series that the rules record.
namespace records {
/// 1 for each pipeline of the configuration, whatever is reported of it.
inline constexpr std::string_view kExpected = "tidemark:freshness_expected";
/// 1 while the SLA is kept, 0 while it is not; no sample while that is not known.
inline constexpr std::string_view kWithinSla = "tidemark:freshness_within_sla";
/// Followed by a window: share of the samples in it that were a breach.
inline constexpr std::string_view kBreachAverage = "tidemark:freshness_breach:avg";
}  // namespace records

/// A rule file. Pipelines that share interval, objective and margin share their rules; the classes
/// come in that order, pipelines within one by name. The same pipelines give the same bytes.
std::string PrometheusRules(std::span<const WatchedPipeline> pipelines, const RuleOptions& options);

}  // namespace tidemark::rules
