#include "app/config_sections.h"

#include <fmt/core.h>

#include <charconv>
#include <filesystem>
#include <string_view>

#include "app/config_sections_internal.h"

namespace tidemark::app {

namespace {

constexpr std::string_view kListenWanted = "an address and a port such as 127.0.0.1:8080";

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
    http::TlsFiles given;
    given.certificate =
        PathIn(file, files.TakeNeededText("certificate", "a PEM file is wanted").value);
    given.key = PathIn(file, files.TakeNeededText("key", "a PEM file is wanted").value);
    http.tls = given;
    files.Finish();
  }
  if (const YAML::Node auth = map.Take("auth"); auth.IsDefined()) {
    YamlMap tokens(context, file, auth, "http.auth");
    http.bearer_tokens_file = PathIn(
        file, tokens.TakeNeededText("bearer_tokens_file", "a file with one token a line is wanted")
                  .value);
    tokens.Finish();
  }
  map.Finish();
  return http;
}

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
    else if (!state.path.empty())
      map.Complain("url", "either path or url may be given");
  } else if (state.path.empty()) {
    map.Complain("path", "a folder (path) or a database (url) is wanted");
  }
  map.Finish();
  return state;
}

}  // namespace tidemark::app
