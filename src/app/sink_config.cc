#include "app/sink_config.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "app/build_info.h"
#include "app/config_sections_internal.h"
#include "app/named_files_internal.h"
#include "push/http_receiver.h"

namespace tidemark::app {

namespace {

constexpr size_t kSinksMax = 100;
constexpr Milliseconds kTimeoutMin = std::chrono::milliseconds(100);
constexpr Milliseconds kTimeoutMax = std::chrono::hours(24);
constexpr Milliseconds kRetryMin = std::chrono::milliseconds(10);
constexpr Milliseconds kRetryMax = std::chrono::hours(24);
constexpr std::array<std::string_view, 8> kKinds = {"hive",      "glue",  "trino",   "presto",
                                                    "starrocks", "doris", "webhook", "openlineage"};

/// One entry of the list, and what is said about it.
class SinkReader {
 public:
  SinkReader(ConfigContext& context, const std::string& file, SinksConfig& config)
      : context_(context), file_(file), config_(config) {}

  void Read(const YAML::Node& entry, const std::string& path) {
    const auto kind = TakeKind(context_, file_, entry, path, kKinds, "sink");
    if (!kind) return;
    YamlMap map(context_, file_, entry[*kind], path + "." + *kind);
    ReadSink(map, *kind, entry.Mark());
    map.Finish();
  }

 private:
  void ReadSink(YamlMap& map, const std::string& kind, const YAML::Mark& mark) {
    SinkConfig sink;
    sink.kind = kind;
    sink.name = map.TakeValue("name").value_or(kind);
    if (sink.name.empty()) map.Complain("name", "a name is wanted");
    if (!names_.insert(sink.name).second)
      context_.Add(file_, mark,
                   fmt::format("{}: there is a sink '{}' already, give this one a name", map.path(),
                               sink.name));
    sink.tables = TakeList(map, "tables", "table ids or paths");
    sink.timeout =
        map.TakeDurationWithin("timeout", kTimeoutMin, kTimeoutMax).value_or(sink.timeout);
    sink.back_off.first =
        map.TakeDurationWithin("retry_first", kRetryMin, kRetryMax).value_or(sink.back_off.first);
    sink.back_off.most =
        map.TakeDurationWithin("retry_most", kRetryMin, kRetryMax).value_or(sink.back_off.most);
    if (sink.back_off.most < sink.back_off.first)
      map.Complain("retry_most", "is less than retry_first");
    sink.target = ReadTarget(map, kind);
    config_.sinks.push_back(std::move(sink));
  }

  sink::SinkTarget ReadTarget(YamlMap& map, const std::string& kind) {
    if (kind == "hive") return ReadHive(map);
    if (kind == "glue") return ReadGlue(map);
    if (kind == "trino" || kind == "presto") return ReadTrino(map, kind == "presto");
    if (kind == "starrocks" || kind == "doris") return ReadMysql(map, kind == "doris");
    if (kind == "webhook") return ReadWebhook(map);
    return ReadLineage(map);
  }

  sink::HiveSinkOptions ReadHive(YamlMap& map) {
    constexpr const char* kWanted = "an address such as thrift://metastore:9083";
    sink::HiveSinkOptions options;
    for (const auto& uri : TakeList(map, "uris", kWanted)) {
      if (auto address = sink::ParseHiveAddress(uri))
        options.hive.addresses.push_back(*std::move(address));
      else
        map.Complain("uris", address.error().message);
    }
    if (!map.Has("uris")) map.Complain("uris", fmt::format("{} is wanted", kWanted));
    options.hive.user = TakeValue(map, "user");
    options.hive.password = TakeValue(map, "password");
    if (!options.hive.password.empty() && options.hive.user.empty())
      map.Complain("password", "a user is wanted beside it");
    options.hive.connections =
        TakeCount(map, "connections", sink::kHiveConnectionsMax, options.hive.connections);
    options.hive.batch = TakeCount(map, "batch", 10'000, options.hive.batch);
    ReadCatalog(map, options.catalog);
    return options;
  }

  sink::GlueSinkOptions ReadGlue(YamlMap& map) {
    sink::GlueSinkOptions options;
    options.glue.endpoint = TakeUrl(map, "endpoint", /*is_needed=*/false);
    options.glue.region = TakeValue(map, "region");
    options.glue.catalog_id = TakeValue(map, "catalog_id");
    options.glue.at_once =
        static_cast<unsigned>(TakeCount(map, "at_once", 32, options.glue.at_once));
    const size_t rate = TakeCount(map, "requests_per_second", 1000, 10);
    options.glue.rate.most = static_cast<double>(rate);
    options.glue.rate.burst = static_cast<double>(rate);
    ReadCatalog(map, options.catalog);
    return options;
  }

  sink::TrinoSinkOptions ReadTrino(YamlMap& map, bool is_presto) {
    sink::TrinoSinkOptions options;
    options.trino.dialect = is_presto ? sink::TrinoDialect::kPresto : sink::TrinoDialect::kTrino;
    options.trino.url = TakeUrl(map, "url", /*is_needed=*/true);
    if (const auto user = map.TakeText("user")) options.trino.user = Hidden(*user);
    options.trino.headers = TakeHeaders(map);
    options.refresh.dialect =
        is_presto ? sink::RefreshDialect::kPresto : sink::RefreshDialect::kTrino;
    ReadRefresh(map, options.refresh);
    return options;
  }

  sink::MysqlSinkOptions ReadMysql(YamlMap& map, bool is_doris) {
    sink::MysqlSinkOptions options;
    options.mysql.host = Hidden(map.TakeNeededText("host", "the name of a host is wanted"));
    options.mysql.port = static_cast<uint16_t>(TakeCount(map, "port", 65'535, options.mysql.port));
    if (const auto user = map.TakeText("user")) options.mysql.user = Hidden(*user);
    options.mysql.password = TakeValue(map, "password");
    options.mysql.is_encrypted = map.TakeBool("tls").value_or(false);
    if (const auto file = map.TakeText("ca_file")) {
      options.mysql.ca_file = PathIn(file_, file->value);
      CheckFile(context_, map, {"ca_file", *file, options.mysql.ca_file}, FileUse::kAuthorities);
    }
    if (!options.mysql.ca_file.empty() && !options.mysql.is_encrypted)
      map.Complain("ca_file", "says nothing without tls: true");
    options.refresh.dialect =
        is_doris ? sink::RefreshDialect::kDoris : sink::RefreshDialect::kStarRocks;
    ReadRefresh(map, options.refresh);
    return options;
  }

  sink::EventSinkOptions ReadWebhook(YamlMap& map) {
    sink::EventSinkOptions options;
    options.url = TakeUrl(map, "url", /*is_needed=*/true);
    options.headers = TakeHeaders(map);
    options.batch = TakeCount(map, "batch", sink::kEventBatchMax, options.batch);
    return options;
  }

  sink::LineageOptions ReadLineage(YamlMap& map) {
    sink::LineageOptions options;
    options.url = TakeUrl(map, "url", /*is_needed=*/true);
    options.headers = TakeHeaders(map);
    options.producer = fmt::format("urn:tidemark:{}", GetBuildInfo().version);
    return options;
  }

  void ReadNaming(YamlMap& map, sink::CatalogNaming& naming) {
    naming.database = TakeValue(map, "database");
    naming.prefix = TakeValue(map, "prefix");
    const auto word = map.TakeWord("merge_on_read", {"both", "snapshot", "read_optimized"});
    if (word == "snapshot") naming.merge_on_read = sink::MergeOnReadTables::kSnapshot;
    if (word == "read_optimized") naming.merge_on_read = sink::MergeOnReadTables::kOptimized;
  }

  void ReadCatalog(YamlMap& map, sink::CatalogSinkOptions& options) {
    ReadNaming(map, options.naming);
    options.naming.with_meta_columns = map.TakeBool("meta_columns").value_or(true);
    if (map.TakeWord("when_dropped", {"keep", "drop"}) == "drop")
      options.when_dropped = sink::WhenDropped::kDrop;
    if (map.TakeWord("when_refused", {"quarantine", "recreate"}) == "recreate")
      options.when_refused = sink::WhenRefused::kRecreate;
  }

  void ReadRefresh(YamlMap& map, sink::RefreshOptions& options) {
    options.catalog =
        Hidden(map.TakeNeededText("catalog", "the engine's name of a catalog is wanted"));
    ReadNaming(map, options.naming);
  }

  // --- values ---------------------------------------------------------------------------------

  std::string Hidden(const ConfigText& text) {
    HideLookedUp(text, config_.hidden);
    return text.value;
  }

  std::string TakeValue(YamlMap& map, const std::string& key) {
    const auto text = map.TakeText(key);
    return text ? Hidden(*text) : std::string();
  }

  std::string TakeUrl(YamlMap& map, const std::string& key, bool is_needed) {
    constexpr const char* kWanted = "a URL such as https://host:8443";
    std::optional<ConfigText> text;
    if (is_needed)
      text = map.TakeNeededText(key, fmt::format("{} is wanted", kWanted));
    else
      text = map.TakeText(key);
    if (!text || text->value.empty()) return {};
    Hidden(*text);
    if (const auto status = push::CheckHttpUrl(text->value); !status)
      map.Complain(key, text->Mistake(status.error().message, kWanted));
    return text->value;
  }

  push::HttpHeaders TakeHeaders(YamlMap& map) {
    push::HttpHeaders headers;
    for (const auto& [name, text] : map.TakeTexts("headers")) {
      Hidden(text);
      if (const auto status = push::CheckHttpHeader(name, text.value); !status)
        map.Complain("headers", fmt::format("'{}' {}", name, status.error().message));
      headers.emplace_back(name, text.value);
    }
    return headers;
  }

  /// A list of texts, or one.
  std::vector<std::string> TakeList(YamlMap& map, const std::string& key, std::string_view wanted) {
    std::vector<std::string> list;
    const YAML::Node node = map.Take(key);
    if (!node.IsDefined()) return list;
    const auto take = [&](const YAML::Node& entry) {
      if (const auto text = context_.Resolve(file_, entry, map.path() + "." + key))
        list.push_back(Hidden(*text));
    };
    if (node.IsScalar()) take(node);
    if (node.IsSequence())
      for (const auto& entry : node) take(entry);
    if (list.empty() && !(node.IsSequence() && node.size() > 0))
      map.Complain(key, fmt::format("a list of {} is wanted", wanted));
    return list;
  }

  static size_t TakeCount(YamlMap& map, const std::string& key, size_t most, size_t otherwise) {
    const auto count = map.TakeInteger(key, 1, static_cast<int64_t>(most));
    return count ? static_cast<size_t>(*count) : otherwise;
  }

  ConfigContext& context_;
  const std::string& file_;
  SinksConfig& config_;
  std::set<std::string> names_;
};

}  // namespace

SinksConfig ReadSinks(ConfigContext& context, const std::string& file, const YAML::Node& node,
                      const std::string& path) {
  SinksConfig config;
  if (!node.IsSequence()) {
    context.Add(file, node.Mark(), path + ": a list of sinks is wanted here");
    return config;
  }
  if (node.size() > kSinksMax) {
    context.Add(file, node.Mark(), fmt::format("{}: more than {}", path, kSinksMax));
    return config;
  }
  SinkReader reader(context, file, config);
  size_t index = 0;
  for (const auto& entry : node) reader.Read(entry, fmt::format("{}[{}]", path, index++));
  return config;
}

}  // namespace tidemark::app
