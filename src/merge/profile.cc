#include "merge/profile.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace tidemark::merge {
namespace {

constexpr std::string_view kEventTimeStrategy = "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5";
constexpr std::string_view kCommitTimeStrategy = "ce9acb64-bde0-424c-9b91-f6ebba25356d";
constexpr std::string_view kPayloadStrategy = "00000000-0000-0000-0000-000000000000";
constexpr std::string_view kMergePropertyPrefix = "hoodie.record.merge.property.";
constexpr std::string_view kDebeziumUnavailable = "__debezium_unavailable_value";

struct NamedPayload {
  std::string_view name;  // behind the package
  Payload payload;
};
constexpr std::array kPayloads = {
    NamedPayload{"OverwriteWithLatestAvroPayload", Payload::kOverwriteWithLatest},
    NamedPayload{"DefaultHoodieRecordPayload", Payload::kDefault},
    NamedPayload{"EventTimeAvroPayload", Payload::kEventTime},
    NamedPayload{"FirstValueAvroPayload", Payload::kFirstValue},
    NamedPayload{"PartialUpdateAvroPayload", Payload::kPartialUpdate},
    NamedPayload{"OverwriteNonDefaultsWithLatestAvroPayload", Payload::kOverwriteNonDefaults},
    NamedPayload{"debezium.PostgresDebeziumAvroPayload", Payload::kPostgresDebezium},
    NamedPayload{"debezium.MySqlDebeziumAvroPayload", Payload::kMySqlDebezium},
    NamedPayload{"AWSDmsAvroPayload", Payload::kAwsDms},
};

Payload PayloadOf(std::string_view class_name) {
  constexpr std::string_view kPackage = "org.apache.hudi.common.model.";
  // Tables of the first streamers name it by an older package.
  constexpr std::string_view kOldPackage = "org.apache.hudi.payload.";
  if (class_name.empty()) return Payload::kNone;
  for (const std::string_view package : {kPackage, kOldPackage}) {
    if (!class_name.starts_with(package)) continue;
    for (const auto& known : kPayloads) {
      if (class_name.substr(package.size()) == known.name) return known.payload;
    }
  }
  return Payload::kCustom;
}

class Properties {
 public:
  explicit Properties(const std::map<std::string, std::string>& all) : all_(all) {}

  /// The first of the keys that is there and not empty.
  std::string First(std::initializer_list<std::string_view> keys) const {
    for (const std::string_view key : keys) {
      const auto found = all_.find(std::string(key));
      if (found != all_.end() && !found->second.empty()) return found->second;
    }
    return {};
  }

  /// A merge property: with its prefix, or as writers have it.
  std::string Merge(std::string_view key) const {
    return First({fmt::format("{}{}", kMergePropertyPrefix, key), key});
  }

 private:
  const std::map<std::string, std::string>& all_;
};

std::vector<std::string> SplitFields(std::string_view list) {
  std::vector<std::string> fields;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    std::string_view field = list.substr(0, comma);
    while (field.starts_with(' ')) field.remove_prefix(1);
    while (field.ends_with(' ')) field.remove_suffix(1);
    if (!field.empty()) fields.emplace_back(field);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return fields;
}

/// The delete columns that payload classes know by themselves; from version 9 on the table says so.
void SetDeleteMarker(TableSettings& settings) {
  if (!settings.delete_field.empty()) return;
  if (settings.payload == Payload::kAwsDms) {
    settings.delete_field = "Op";
    settings.delete_marker = "D";
  } else if (settings.payload == Payload::kMySqlDebezium ||
             settings.payload == Payload::kPostgresDebezium) {
    settings.delete_field = "_change_operation_type";
    settings.delete_marker = "d";
  }
}

std::optional<MergeMode> ModeOfPayload(Release release, const TableSettings& settings) {
  switch (settings.payload) {
    case Payload::kNone: return std::nullopt;
    case Payload::kDefault: return MergeMode::kEventTime;
    case Payload::kEventTime:
      return release == Release::k1_1 ? MergeMode::kEventTime : MergeMode::kCustom;
    case Payload::kOverwriteWithLatest: return MergeMode::kCommitTime;
    default: return MergeMode::kCustom;
  }
}

std::optional<MergeMode> ModeOfStrategy(const TableSettings& settings) {
  if (settings.strategy_id.empty()) return std::nullopt;
  if (settings.strategy_id == kEventTimeStrategy) return MergeMode::kEventTime;
  if (settings.strategy_id == kCommitTimeStrategy) return MergeMode::kCommitTime;
  return MergeMode::kCustom;
}

/// HoodieTableConfig's inference. From version 8 on a table's mode is written and readers take it;
/// below, the payload decides, and the strategy (the same in every 0.14 table) only without one.
MergeMode ModeOf(Release release, const TableSettings& settings) {
  if (settings.version >= 8 && settings.mode) return *settings.mode;
  const auto by_payload = ModeOfPayload(release, settings);
  const auto by_strategy = ModeOfStrategy(settings);
  if (settings.version >= 8 && by_strategy) return *by_strategy;
  if (by_payload) return *by_payload;
  if (by_strategy) return *by_strategy;
  if (settings.mode) return *settings.mode;
  return settings.ordering_fields.empty() ? MergeMode::kCommitTime : MergeMode::kEventTime;
}

std::unexpected<Error> Unsupported(const TableSettings& settings) {
  return Fail(ErrorKind::kUnsupported,
              fmt::format("merging is the table's own code, which only its engine can run: "
                          "payload_class={} merge_strategy={}; the event-time profile works",
                          settings.payload_class.empty() ? "none" : settings.payload_class,
                          settings.strategy_id.empty() ? "none" : settings.strategy_id));
}

Fill FillOfPayload(Payload payload) {
  switch (payload) {
    case Payload::kPartialUpdate: return Fill::kNulls;
    case Payload::kOverwriteNonDefaults: return Fill::kDefaults;
    case Payload::kPostgresDebezium: return Fill::kUnavailable;
    default: return Fill::kNone;
  }
}

Result<Fill> FillOfTable(const TableSettings& settings) {
  const std::string& mode = settings.partial_update_mode;
  if (mode.empty() || settings.version < 9) return Fill::kNone;
  if (mode == "IGNORE_DEFAULTS") return Fill::kNullDefaults;
  if (mode == "FILL_UNAVAILABLE" || mode == "IGNORE_MARKERS") return Fill::kUnavailable;
  if (mode == "KEEP_VALUES") return Fill::kNone;  // the blocks say which columns they have
  return Fail(ErrorKind::kUnsupported,
              fmt::format("unknown hoodie.table.partial.update.mode={}", mode));
}

}  // namespace

std::string_view PayloadName(Payload payload) {
  for (const auto& known : kPayloads) {
    if (known.payload == payload) return known.name;
  }
  return payload == Payload::kCustom ? "custom" : "none";
}

Result<TableSettings> ReadTableSettings(const std::map<std::string, std::string>& properties) {
  const Properties find(properties);
  TableSettings settings;
  const std::string version = find.First({"hoodie.table.version"});
  const auto [end, error] =
      std::from_chars(version.data(), version.data() + version.size(), settings.version);
  if (!version.empty() && (error != std::errc() || end != version.data() + version.size())) {
    return Fail(ErrorKind::kCorrupt, fmt::format("no number hoodie.table.version={}", version));
  }
  const std::string mode = find.First({"hoodie.record.merge.mode"});
  if (mode == "EVENT_TIME_ORDERING") {
    settings.mode = MergeMode::kEventTime;
  } else if (mode == "COMMIT_TIME_ORDERING" || mode == "OVERWRITE_WITH_LATEST") {
    settings.mode = MergeMode::kCommitTime;
  } else if (mode == "CUSTOM") {
    settings.mode = MergeMode::kCustom;
  } else if (!mode.empty()) {
    return Fail(ErrorKind::kCorrupt, fmt::format("unknown hoodie.record.merge.mode={}", mode));
  }
  settings.strategy_id =
      find.First({"hoodie.record.merge.strategy.id", "hoodie.compaction.record.merger.strategy"});
  settings.payload_class =
      find.First({"hoodie.compaction.payload.class", "hoodie.table.legacy.payload.class"});
  settings.payload = PayloadOf(settings.payload_class);
  settings.ordering_fields =
      SplitFields(find.First({"hoodie.table.ordering.fields", "hoodie.table.precombine.field"}));
  settings.partial_update_mode = find.First({"hoodie.table.partial.update.mode"});
  settings.unavailable_value = find.Merge("hoodie.write.partial.update.unavailable.value");
  if (settings.unavailable_value.empty()) settings.unavailable_value = kDebeziumUnavailable;
  settings.delete_field = find.Merge("hoodie.payload.delete.field");
  settings.delete_marker = find.Merge("hoodie.payload.delete.marker");
  SetDeleteMarker(settings);
  settings.drops_partition_columns =
      find.First({"hoodie.datasource.write.drop.partition.columns"}) == "true" &&
      find.First({"hoodie.table.type"}) == "MERGE_ON_READ";
  return settings;
}

Result<Merging> InferMerging(Release release, const TableSettings& settings) {
  Merging merging;
  if (release <= Release::k0_14) {
    merging.mode = MergeMode::kCustom;  // the payload class is all there is
    merging.payload = settings.payload;
    if (settings.payload == Payload::kNone) {
      const bool is_event_time = settings.mode == MergeMode::kEventTime;
      merging.payload = is_event_time ? Payload::kDefault : Payload::kOverwriteWithLatest;
    }
    if (merging.payload == Payload::kCustom) return Unsupported(settings);
    if (merging.payload == Payload::kFirstValue) {
      return Fail(ErrorKind::kUnsupported, "this release has no FirstValueAvroPayload");
    }
    merging.fill = FillOfPayload(merging.payload);
    return merging;
  }
  merging.mode = ModeOf(release, settings);
  if (merging.mode != MergeMode::kCustom) {
    TRY_ASSIGN(merging.fill, FillOfTable(settings));
    return merging;
  }
  // Below version 8 a payload class goes before the strategy; from 8 on only the payload strategy
  // asks for it.
  const bool is_by_payload = settings.version < 8 || settings.strategy_id.empty() ||
                             settings.strategy_id == kPayloadStrategy;
  if (!is_by_payload || settings.payload == Payload::kNone ||
      settings.payload == Payload::kCustom) {
    return Unsupported(settings);
  }
  if (settings.payload == Payload::kFirstValue && release == Release::k1_1) {
    return Fail(ErrorKind::kUnsupported, "1.1 has no FirstValueAvroPayload any more");
  }
  merging.payload = settings.payload;
  // 1.1 fills by the property of version 9 only; below, the placeholder stays.
  const bool leaves_unavailable =
      release == Release::k1_1 && settings.payload == Payload::kPostgresDebezium;
  merging.fill = leaves_unavailable ? Fill::kNone : FillOfPayload(settings.payload);
  return merging;
}

Fill RightFill(const TableSettings& settings) {
  const auto newest = InferMerging(Release::k1_1, settings);
  if (!newest) return Fill::kNone;  // code we cannot run fills nothing
  return newest->mode == MergeMode::kCustom ? FillOfPayload(newest->payload) : newest->fill;
}

}  // namespace tidemark::merge
