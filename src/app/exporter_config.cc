#include "app/exporter_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "app/build_info.h"
#include "app/config_sections_internal.h"
#include "app/named_files_internal.h"
#include "metrics/point.h"
#include "push/emf_lines.h"
#include "storage/http_client.h"

namespace tidemark::app {

namespace {

constexpr size_t kExportersMax = 100;
constexpr Milliseconds kIntervalMin = std::chrono::seconds(1);
constexpr Milliseconds kIntervalMax = std::chrono::hours(24);
constexpr Milliseconds kTimeoutMin = std::chrono::milliseconds(100);
constexpr Milliseconds kTimeoutMax = std::chrono::minutes(5);
constexpr std::array<std::string_view, 8> kKinds = {
    "prometheus", "textfile", "sources", "pushgateway", "otlp", "statsd", "emf", "webhook"};
constexpr const char* kUrlWanted = "a URL such as http://localhost:9091";

/// One entry of the list, and what is said about it.
class ExporterReader {
 public:
  ExporterReader(ConfigContext& context, const std::string& file, ExportersConfig& config)
      : context_(context), file_(file), config_(config) {}

  void Read(const YAML::Node& entry, const std::string& path) {
    const auto kind = TakeKind(context_, file_, entry, path, kKinds, "exporter");
    if (!kind) return;
    // Not by Take: what is null has a place too.
    YamlMap map(context_, file_, entry[*kind], path + "." + *kind);
    if (*kind == "prometheus")
      ReadEndpoint(map);
    else
      ReadSender(map, *kind, entry.Mark());
    map.Finish();
  }

 private:
  static SeriesChoice TakeSeries(YamlMap& map) {
    return {.with_partitions = map.TakeBool("partitions").value_or(false),
            .with_compatibility = map.TakeBool("kafka_lag_exporter_names").value_or(false)};
  }

  void ReadEndpoint(YamlMap& map) {
    if (std::exchange(has_endpoint_, true))
      context_.Add(file_, map.mark(), map.path() + ": there is one GET /metrics, and it is given");
    config_.endpoint = TakeSeries(map);
  }

  void ReadSender(YamlMap& map, const std::string& kind, const YAML::Mark& mark) {
    ExporterConfig exporter;
    exporter.name = map.TakeValue("name").value_or(kind);
    if (exporter.name.empty()) map.Complain("name", "a name is wanted");
    if (!names_.insert(exporter.name).second) {
      context_.Add(file_, mark,
                   fmt::format("{}: there is an exporter '{}' already, give this one a name",
                               map.path(), exporter.name));
    }
    exporter.timeout =
        map.TakeDurationWithin("timeout", kTimeoutMin, kTimeoutMax).value_or(exporter.timeout);
    exporter.receiver = ReadReceiver(map, kind);
    if (kind != "webhook")
      exporter.interval = map.TakeDurationWithin("interval", kIntervalMin, kIntervalMax)
                              .value_or(exporter.interval);
    if (kind != "webhook" && kind != "sources") exporter.series = TakeSeries(map);
    config_.senders.push_back(std::move(exporter));
  }

  ReceiverOptions ReadReceiver(YamlMap& map, const std::string& kind) {
    if (kind == "textfile") return TextfileOptions{TakeFile(map, ".prom")};
    if (kind == "sources") return SourcesOptions{TakeFile(map, "")};
    if (kind == "pushgateway") return ReadPushgateway(map);
    if (kind == "otlp") return ReadOtlp(map);
    if (kind == "statsd") return ReadStatsd(map);
    if (kind == "emf") return ReadEmf(map);
    return ReadWebhook(map);
  }

  push::PushgatewayOptions ReadPushgateway(YamlMap& map) {
    push::PushgatewayOptions options;
    options.url = TakeUrl(map, "url");
    options.headers = TakeHeaders(map);
    options.tls = TakeTls(map, options.url);
    if (const auto job = map.TakeText("job")) {
      options.job = job->value;
      if (options.job.empty()) map.Complain("job", "a name is wanted");
    }
    for (const auto& [name, value] : TakeTexts(map, "grouping")) {
      if (name == "job" || metrics::LabelName(name) != name)
        map.Complain("grouping", fmt::format("'{}' is no label of a group", name));
      options.grouping.emplace(name, value.value);
    }
    options.deletes_on_stop = map.TakeBool("delete_on_stop").value_or(false);
    return options;
  }

  push::OtlpOptions ReadOtlp(YamlMap& map) {
    push::OtlpOptions options;
    options.endpoint = TakeUrl(map, "endpoint");
    options.headers = TakeHeaders(map);
    options.tls = TakeTls(map, options.endpoint);
    if (map.TakeWord("encoding", {"json", "protobuf"}) == "protobuf")
      options.encoding = push::OtlpEncoding::kProtobuf;
    options.resource = {{"service.name", "tidemark"},
                        {"service.version", std::string(GetBuildInfo().version)}};
    for (const auto& [name, value] : TakeTexts(map, "resource"))
      options.resource.insert_or_assign(name, value.value);
    return options;
  }

  push::StatsdOptions ReadStatsd(YamlMap& map) {
    constexpr const char* kWanted = "an address such as localhost:8125";
    push::StatsdOptions options;
    if (const auto address = TakeText(map, "address")) {
      if (!ParseAddress(address->value, options))
        map.Complain("address",
                     address->Mistake(
                         fmt::format("{} is wanted, not '{}'", kWanted, address->value), kWanted));
    }
    const bool is_dog = map.TakeWord("dialect", {"statsd", "dogstatsd"}) == "dogstatsd";
    options.format.dialect =
        is_dog ? push::StatsdDialect::kDogstatsd : push::StatsdDialect::kStatsd;
    if (const auto prefix = TakeText(map, "prefix")) {
      options.format.prefix = prefix->value;
      const std::string_view odd = ":|@#\n ";
      if (prefix->value.find_first_of(odd) != std::string::npos)
        map.Complain("prefix", "a name cannot hold blanks, : | @ or #");
    }
    const auto tags = TakeTexts(map, "tags");
    if (!tags.empty() && !is_dog)
      map.Complain("tags", "StatsD has none; give dialect: dogstatsd, or leave them out");
    for (const auto& [name, value] : tags) {
      if (metrics::LabelName(name) != name)
        map.Complain("tags", fmt::format("'{}' is no name of a tag (letters, digits, _)", name));
      options.format.tags.emplace_back(name, value.value);
    }
    constexpr auto kMost = static_cast<int64_t>(push::kDatagramBytesMax);
    if (const auto bytes = map.TakeInteger("datagram_bytes_max", 512, kMost))
      options.format.datagram_bytes_max = static_cast<size_t>(*bytes);
    return options;
  }

  push::EmfOptions ReadEmf(YamlMap& map) {
    push::EmfOptions options;
    if (const auto path = TakeText(map, "path"); path && path->value != "-")
      options.path = OwnFile(map, path->value);
    if (const auto name = TakeText(map, "namespace")) {
      options.name_space = name->value;
      if (const auto status = push::CheckEmfNamespace(name->value); !status)
        map.Complain("namespace", status.error().message);
    }
    return options;
  }

  push::WebhookOptions ReadWebhook(YamlMap& map) {
    push::WebhookOptions options;
    options.url = TakeUrl(map, "url");
    options.headers = TakeHeaders(map);
    options.tls = TakeTls(map, options.url);
    options.give_up_after =
        map.TakeDurationWithin("give_up_after", std::chrono::seconds(1), std::chrono::hours(24))
            .value_or(options.give_up_after);
    const YAML::Node statuses = map.Take("statuses");
    if (!statuses.IsDefined()) return options;
    options.statuses.clear();
    if (statuses.IsSequence()) {
      for (const auto& node : statuses) ReadStatus(map, node, options);
    }
    if (!statuses.IsSequence() || statuses.size() == 0)
      map.Complain("statuses", "a list of warning, breach, unknown is wanted");
    return options;
  }

  void ReadStatus(YamlMap& map, const YAML::Node& node, push::WebhookOptions& options) {
    using enum freshness::PipelineStatus;
    const auto text = context_.Resolve(file_, node, map.path() + ".statuses");
    if (!text) return;
    for (const auto status : {kWarning, kBreach, kUnknown}) {
      if (text->value == freshness::PipelineStatusName(status))
        return options.statuses.push_back(status);
    }
    context_.Add(file_, node.Mark(),
                 fmt::format("{}.statuses: one of warning, breach, unknown is wanted, not '{}'",
                             map.path(), text->Shown()));
  }

  // --- values ---------------------------------------------------------------------------------

  void Hide(const ConfigText& text) { HideLookedUp(text, config_.hidden); }

  std::optional<ConfigText> TakeText(YamlMap& map, const std::string& key) {
    auto text = map.TakeText(key);
    if (text) Hide(*text);
    return text;
  }

  std::map<std::string, ConfigText> TakeTexts(YamlMap& map, const std::string& key) {
    auto texts = map.TakeTexts(key);
    for (const auto& [name, text] : texts) Hide(text);
    return texts;
  }

  std::string TakeUrl(YamlMap& map, const std::string& key) {
    const ConfigText text = map.TakeNeededText(key, fmt::format("{} is wanted", kUrlWanted));
    Hide(text);
    if (text.value.empty()) return {};
    if (const auto status = push::CheckHttpUrl(text.value); !status)
      map.Complain(key, text.Mistake(status.error().message, kUrlWanted));
    return text.value;
  }

  push::HttpHeaders TakeHeaders(YamlMap& map) {
    push::HttpHeaders headers;
    for (const auto& [name, text] : TakeTexts(map, "headers")) {
      if (const auto status = push::CheckHttpHeader(name, text.value); !status)
        map.Complain("headers", fmt::format("'{}' {}", name, status.error().message));
      headers.emplace_back(name, text.value);
    }
    return headers;
  }

  storage::HttpTls TakeTls(YamlMap& map, std::string_view url) {
    storage::HttpTls tls;
    const YAML::Node node = map.Take("tls");
    if (!node.IsDefined()) return tls;
    YamlMap files(context_, file_, node, map.path() + ".tls");
    NamedFile ca{"ca"}, certificate{"certificate"}, secret{"key"};
    for (const auto& [named, value] :
         {std::pair(&ca, &tls.ca_file), std::pair(&certificate, &tls.certificate_file),
          std::pair(&secret, &tls.key_file)}) {
      named->text = TakeText(files, named->key).value_or(ConfigText{});
      *value = named->path = PathIn(file_, named->text.value);
    }
    CheckFile(context_, files, ca, FileUse::kAuthorities);
    CheckIdentity(context_, files, certificate, secret);
    if (!tls.key_file.empty() && tls.certificate_file.empty())
      files.Complain("key", "a key without its certificate");
    if (url.starts_with("http://")) map.Complain("tls", "the URL is one without TLS");
    files.Finish();
    return tls;
  }

  std::string TakeFile(YamlMap& map, std::string_view suffix) {
    const ConfigText text = map.TakeNeededText("path", "the path of a file is wanted");
    Hide(text);
    if (text.value.empty()) return {};
    if (!text.value.ends_with(suffix) || text.value.ends_with('/'))
      map.Complain("path", fmt::format("a file that ends in {} is wanted", suffix));
    return OwnFile(map, text.value);
  }

  /// Two that write one file would take turns in destroying it.
  std::string OwnFile(YamlMap& map, const std::string& path) {
    std::string whole = PathIn(file_, path);
    if (!files_.insert(whole).second)
      map.Complain("path", "another exporter writes this file already");
    return whole;
  }

  static bool ParseAddress(const std::string& text, push::StatsdOptions& options) {
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0) return false;
    std::string host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']'))
      host = host.substr(1, host.size() - 2);
    else if (host.contains(':'))
      return false;
    const char* const begin = text.data() + colon + 1;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, options.port);
    options.host = host;
    return error == std::errc{} && rest == end && options.port != 0 && !host.empty();
  }

  ConfigContext& context_;
  const std::string& file_;
  ExportersConfig& config_;
  std::set<std::string> names_;
  std::set<std::string> files_;
  bool has_endpoint_ = false;
};

}  // namespace

ExportersConfig ReadExporters(ConfigContext& context, const std::string& file,
                              const YAML::Node& node) {
  ExportersConfig config;
  if (!node.IsSequence()) {
    context.Add(file, node.Mark(), "exporters: a list of exporters is wanted here");
    return config;
  }
  if (node.size() > kExportersMax) {
    context.Add(file, node.Mark(), fmt::format("exporters: more than {}", kExportersMax));
    return config;
  }
  ExporterReader reader(context, file, config);
  size_t index = 0;
  for (const auto& entry : node) reader.Read(entry, fmt::format("exporters[{}]", index++));
  return config;
}

}  // namespace tidemark::app
