#include "app/config_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "app/config_sections_internal.h"
#include "app/named_files_internal.h"
#include "base/nearest_word.h"
#include "state/postgres_session.h"
#include "storage/http_client.h"

namespace tidemark::app {

namespace {

constexpr std::string_view kListenWanted = "an address and a port such as 127.0.0.1:8080";

// Below the first a busy broker looks dead; over the second nobody waits for a hand-over.
constexpr Milliseconds kSessionMin = std::chrono::seconds(2);
constexpr Milliseconds kSessionMax = std::chrono::minutes(30);
// A day of a thousand pipelines at 60 s are 1.4 million raw samples, and a year's points 105
// million.
constexpr Milliseconds kRawHistoryMin = std::chrono::hours(1);
constexpr Milliseconds kRawHistoryMax = std::chrono::days(30);
constexpr Milliseconds kHistoryMax = std::chrono::days(1830);
// A topic's name (org.apache.kafka.common.internals.Topic). Groups take more; what is good enough
// for topics needs no quoting anywhere.
constexpr size_t kNameMax = 249;

bool IsKafkaName(std::string_view name) {
  return !name.empty() && name.size() <= kNameMax && name != "." && name != ".." &&
         std::ranges::all_of(name, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

void CheckKafkaName(YamlMap& map, const std::string& key, const ConfigText& name) {
  if (IsKafkaName(name.value)) return;
  map.Complain(key, name.Mistake("'" + name.value + "' is no name for Kafka",
                                 "a name of letters, digits, '.', '_' and '-'"));
}

NamedFile NeededFile(YamlMap& map, const std::string& key, std::string wanted) {
  ConfigText text = map.TakeNeededText(key, std::move(wanted));
  std::string path = PathIn(map.file(), text.value);
  return {key, std::move(text), std::move(path)};
}

}  // namespace

std::string PathIn(const std::string& file, const std::string& path) {
  if (path.empty()) return path;
  return (std::filesystem::path(file).parent_path() / path).string();
}

Status ParseListen(const std::string& text, HttpConfig& http) {
  const auto refuse = [&] {
    return Fail(ErrorKind::kInvalidArgument, fmt::format("'{}' is not {}", text, kListenWanted));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) return refuse();
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') != address.ends_with(']')) return refuse();
  if (address.starts_with('[')) {
    address = address.substr(1, address.size() - 2);
  } else if (address.find(':') != std::string::npos) {
    return refuse();
  }
  if (address == "localhost") address = "127.0.0.1";
  const char* begin = text.data() + colon + 1;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, http.port);
  if (error != std::errc{} || rest != end || begin == end) return refuse();
  http.address = address;
  return {};
}

HttpConfig ReadHttp(ConfigContext& context, const std::string& file, const YAML::Node& node) {
  HttpConfig http;
  YamlMap map(context, file, node, "http");
  if (const auto listen = map.TakeText("listen")) {
    if (const auto parsed = ParseListen(listen->value, http); !parsed)
      map.Complain("listen", listen->Mistake(parsed.error().message, kListenWanted));
  }
  if (const YAML::Node tls = map.Take("tls"); tls.IsDefined()) {
    YamlMap files(context, file, tls, "http.tls");
    const NamedFile certificate = NeededFile(files, "certificate", "a PEM file is wanted");
    const NamedFile key = NeededFile(files, "key", "a PEM file is wanted");
    if (!key.path.empty()) CheckIdentity(context, files, certificate, key);
    http.tls = http::TlsFiles{.certificate = certificate.path, .key = key.path};
    files.Finish();
  }
  if (const YAML::Node auth = map.Take("auth"); auth.IsDefined()) {
    YamlMap tokens(context, file, auth, "http.auth");
    const NamedFile named =
        NeededFile(tokens, "bearer_tokens_file", "a file with one token a line is wanted");
    CheckFile(context, tokens, named, FileUse::kTokens);
    http.bearer_tokens_file = named.path;
    tokens.Finish();
  }
  map.Finish();
  return http;
}

namespace {

state::Retention ReadRetention(ConfigContext& context, const std::string& file,
                               const YAML::Node& node) {
  state::Retention retention;
  YamlMap map(context, file, node, "state.history");
  retention.raw =
      map.TakeDurationWithin("raw", kRawHistoryMin, kRawHistoryMax).value_or(retention.raw);
  retention.rolled_up =
      map.TakeDuration("points").value_or(std::max(retention.rolled_up, retention.raw));
  if (retention.rolled_up < retention.raw || retention.rolled_up > kHistoryMax)
    map.Complain("points", fmt::format("at least as long as raw, and at most 1830d is wanted, not "
                                       "'{}'",
                                       map.TakeText("points").value_or(ConfigText{}).Shown()));
  map.Finish();
  return retention;
}

}  // namespace

state::StateOptions ReadState(ConfigContext& context, const std::string& file,
                              const YAML::Node& node, HiddenValues& hidden) {
  state::StateOptions state;
  YamlMap map(context, file, node, "state");
  state.path = PathIn(file, map.TakeValue("path").value_or(""));
  if (const auto url = map.TakeText("url")) {
    state.url = url->value;
    for (const auto& part : url->looked_up) hidden.Add(part.value, part.reference);
    const bool is_postgres =
        state.url.starts_with("postgresql://") || state.url.starts_with("postgres://");
    if (!is_postgres)
      map.Complain("url", "a URL that begins with postgresql:// is wanted");
    else if (const auto checked = state::CheckPostgresUrl(state.url); !checked)
      map.Complain("url", checked.error().message);
    else if (!state.path.empty())
      map.Complain("url", "either path or url may be given");
  } else if (state.path.empty()) {
    map.Complain("path", "a folder (path) or a database (url) is wanted");
  }
  if (const YAML::Node history = map.Take("history"); history.IsDefined())
    state.retention = ReadRetention(context, file, history);
  map.Finish();
  return state;
}

std::optional<std::string> TakeKind(ConfigContext& context, const std::string& file,
                                    const YAML::Node& entry, const std::string& path,
                                    std::span<const std::string_view> kinds,
                                    std::string_view what) {
  YamlMap map(context, file, entry, path);
  std::vector<std::string> given;
  for (const std::string_view kind : kinds) {
    const std::string name(kind);
    (void)map.Take(name);
    if (map.Has(name)) given.push_back(name);
  }
  map.Finish();
  if (!entry.IsMap()) return std::nullopt;
  if (given.size() > 1)
    context.Add(file, entry.Mark(),
                fmt::format("{}: {} and {} are two {}s, and each is an entry of its own", path,
                            given[0], given[1], what));
  if (given.empty() && entry.size() == 0)
    context.Add(file, entry.Mark(), fmt::format("{}: the kind of {} is wanted", path, what));
  if (given.size() != 1) return std::nullopt;
  return given[0];
}

void HideLookedUp(const ConfigText& text, HiddenValues& hidden) {
  for (const auto& [value, reference] : text.looked_up) {
    hidden.Add(value, reference);
    // Messages name the host of a URL alone.
    hidden.Add(storage::HostOfUrl(value), reference);
  }
}

void CheckCluster(YamlMap& map, const ConfigText& name, const std::set<std::string>& known) {
  if (known.contains(name.value)) return;
  map.Complain("cluster", fmt::format("there is no cluster '{}'{}", name.Shown(),
                                      DidYouMean(name.value, known)));
}

std::string TakeCluster(YamlMap& map, const std::set<std::string>& known) {
  const auto name = map.TakeText("cluster");
  if (!name) {
    if (map.Has("cluster")) return "";  // reported already
    if (known.size() == 1) return *known.begin();
    map.Complain("cluster", "the name of one of the clusters is wanted");
    return "";
  }
  CheckCluster(map, *name, known);
  return name->value;
}

CoordinationConfig ReadCoordination(ConfigContext& context, const std::string& file,
                                    const YAML::Node& node, const std::set<std::string>& clusters) {
  CoordinationConfig coordination;
  YamlMap map(context, file, node, "coordination");
  // No default: two fleets on one cluster would share their pipelines by accident.
  const ConfigText group = map.TakeNeededText("group", "a name that all instances share is wanted");
  coordination.group = group.value;
  if (!group.value.empty()) CheckKafkaName(map, "group", group);
  coordination.cluster = TakeCluster(map, clusters);
  if (const auto topic = map.TakeText("topic")) {
    coordination.topic = topic->value;
    CheckKafkaName(map, "topic", *topic);
  }
  coordination.creates_topic = map.TakeBool("create_topic").value_or(true);
  coordination.session = map.TakeDurationWithin("session_timeout", kSessionMin, kSessionMax)
                             .value_or(coordination.session);
  map.Finish();
  return coordination;
}

}  // namespace tidemark::app
