#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "base/letter_case.h"
#include "kafka/client/misfit_internal.h"
#include "kafka/cluster_error.h"

namespace tidemark::kafka::client {

namespace {

constexpr std::string_view kMechanism = "sasl.mechanisms";
constexpr const char* kMechanisms =
    "one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 and OAUTHBEARER is wanted";

// What librdkafka says without naming the property.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kUnnamed = {{
    {"SASL mechanism", kMechanism},
    {"OpenSSL provider", "ssl.providers"},
    {"OpenSSL engine", "ssl.engine.location"},
    {"Private key check", "ssl.key.location"},
}};

// The names of properties in a sentence, in order.
std::vector<std::string> NamesIn(std::string_view words) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789._";
  std::vector<std::string> names;
  while (!words.empty()) {
    const size_t begin = std::min(words.find_first_of(kLetters), words.size());
    const size_t end = std::min(words.find_first_not_of(kLetters, begin), words.size());
    std::string name(words.substr(begin, end - begin));
    while (name.ends_with('.')) name.pop_back();
    if (name.contains('.') && IsKnownProperty(name)) names.push_back(std::move(name));
    words.remove_prefix(end);
  }
  return names;
}

// The property to correct; empty when the sentence does not tell.
std::string NameOf(const Properties& properties, std::string_view words) {
  const std::vector<std::string> names = NamesIn(words);
  const bool is_missing = words.contains("must be set") || words.contains("mandatory");
  if (is_missing) {
    const auto unset = std::ranges::find_if(
        names, [&](const std::string& name) { return ValueOf(properties, name) == nullptr; });
    if (unset != names.end()) return *unset;
  }
  if (!names.empty()) return names.front();
  for (const auto& [said, name] : kUnnamed) {
    if (words.contains(said)) return std::string(name);
  }
  return "";
}

bool IsPath(std::string_view name) {
  return name.ends_with(".location") || name.ends_with(".file");
}

// Of a file that is not there OpenSSL has nothing to say but "system lib".
std::string CauseFor(const std::string& name, const std::string* value, std::string_view words) {
  if (name == kMechanism) return kMechanisms;
  if (value != nullptr && IsPath(name)) {
    errno = 0;
    if (!std::ifstream(*value) && errno != 0) {
      return fmt::format("the file cannot be opened: {}", std::strerror(errno));
    }
  }
  return std::string(words);
}

}  // namespace

Error Misfit(const Properties& properties, std::string_view words) {
  const std::string name = NameOf(properties, words);
  if (name.empty()) {
    return {ErrorKind::kInvalidArgument, fmt::format("kafka properties do not fit: {}", words)};
  }
  const std::string mechanism = MechanismOf(properties);
  const std::string* value = name == kMechanism ? &mechanism : ValueOf(properties, name);
  const bool is_shown = value != nullptr && !IsSecretProperty(name);
  return {ErrorKind::kInvalidArgument,
          fmt::format("kafka properties do not fit name={}{}: {}", name,
                      is_shown ? " value=" + *value : "", CauseFor(name, value, words))};
}

Status CheckTokenSource(const Properties& properties) {
  if (!ProtocolOf(properties).starts_with("sasl_")) return {};
  if (LowerCase(MechanismOf(properties)) != "oauthbearer") return {};
  const std::string* method = ValueOf(properties, "sasl.oauthbearer.method");
  const std::string* unsigned_token = ValueOf(properties, "enable.sasl.oauthbearer.unsecure.jwt");
  if (method != nullptr && LowerCase(*method) == "oidc") return {};
  if (unsigned_token != nullptr && LowerCase(*unsigned_token) == "true") return {};
  return Fail(ErrorKind::kInvalidArgument,
              "kafka properties do not fit name=sasl.oauthbearer.method: OAUTHBEARER needs oidc "
              "here, or enable.sasl.oauthbearer.unsecure.jwt=true, else there are no tokens");
}

}  // namespace tidemark::kafka::client
