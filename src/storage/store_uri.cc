#include "storage/store_uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "base/letter_case.h"
#include "storage/object_key.h"

namespace tidemark::storage {

namespace {

constexpr size_t kUriBytesMax = 4096;
constexpr size_t kBucketBytesMax = 255;
constexpr std::array<std::string_view, 3> kS3Schemes = {"s3", "s3a", "s3n"};
constexpr std::array<std::string_view, 2> kGcsSchemes = {"gs", "gcs"};
constexpr std::array<std::string_view, 5> kAzureSchemes = {"abfs", "abfss", "wasb", "wasbs", "az"};
constexpr std::array<std::string_view, 3> kUnsupportedSchemes = {"adl", "hdfs", "viewfs"};
/// Where blobs are when only the account is named.
constexpr std::string_view kAzureBlobSuffix = ".blob.core.windows.net";

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsOneOf(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::optional<unsigned> HexDigit(char c) {
  if (IsDigit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

std::string_view WithoutTrailingSlashes(std::string_view text) {
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  return text;
}

std::unexpected<Error> Bad(std::string_view why, std::string_view uri) {
  return Fail(ErrorKind::kInvalidArgument, fmt::format("{}: uri='{}'", why, Printable(uri)));
}

Result<StoreUri> ParseFileUri(std::string_view uri) {
  std::string_view rest = uri.substr(uri.find(':') + 1);
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const std::string_view host = rest.substr(0, rest.find('/'));
    if (!host.empty() && host != "localhost")
      return Bad("a file: URI of another host cannot be read", uri);
    rest.remove_prefix(host.size());
  }
  if (rest.find_first_of("?#") != std::string_view::npos)
    return Bad("a file: URI with '?' or '#' is ambiguous (write %3F or %23, or a plain path)", uri);
  if (rest.empty()) return Bad("a file: URI needs a path", uri);
  StoreUri parsed;
  auto path = PercentDecoded(WithoutTrailingSlashes(rest));
  if (!path)
    return std::unexpected(std::move(path).error().With(fmt::format("uri='{}'", Printable(uri))));
  parsed.path = *std::move(path);
  parsed.text = parsed.path == "/" ? uri : WithoutTrailingSlashes(uri);
  return parsed;
}

bool IsBucketName(std::string_view bucket) {
  const bool is_spelled_well = std::ranges::all_of(
      bucket, [](char c) { return IsLetter(c) || IsDigit(c) || c == '-' || c == '.' || c == '_'; });
  return is_spelled_well && bucket.size() <= kBucketBytesMax && bucket != "." && bucket != "..";
}

Status TakePrefix(std::string_view prefix, std::string_view uri, StoreUri& parsed) {
  while (prefix.ends_with('/')) prefix.remove_suffix(1);
  if (!prefix.empty() && !IsKey(prefix))
    return Bad("a path in a bucket has no empty, '.' or '..' part", uri);
  parsed.prefix = prefix;
  parsed.text = WithoutTrailingSlashes(uri);
  return {};
}

/// "bucket/a/b" behind "s3://" or "gs://".
Result<StoreUri> ParseBucketUri(StoreKind kind, std::string_view uri, std::string_view rest) {
  StoreUri parsed;
  parsed.kind = kind;
  const size_t slash = rest.find('/');
  const std::string_view bucket = rest.substr(0, slash);
  const std::string_view scheme = kind == StoreKind::kS3 ? "s3" : "gs";
  if (bucket.contains('@')) {
    // Hadoop once allowed s3n://KEY:SECRET@bucket; the text must not reach a log.
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a URI of a bucket must not hold credentials: bucket='{}'",
                            Printable(bucket.substr(bucket.rfind('@') + 1))));
  }
  if (bucket.empty())
    return Bad(fmt::format("a bucket is needed, as in {}://bucket/path", scheme), uri);
  if (!IsBucketName(bucket))
    return Bad("not a name of a bucket (letters, digits, '-', '.' and '_')", uri);
  parsed.bucket = bucket;
  TRY(TakePrefix(slash == std::string_view::npos ? "" : rest.substr(slash + 1), uri, parsed));
  return parsed;
}

/// Where the blobs of "lake.dfs.core.windows.net" are: the same data has both addresses.
std::string BlobHost(std::string_view host) {
  std::string blob = LowerCase(host);
  constexpr std::string_view kDfs = ".dfs.";
  if (!blob.contains('.')) return blob + std::string(kAzureBlobSuffix);
  if (const size_t at = blob.find(kDfs); at != std::string::npos)
    blob.replace(at, kDfs.size(), ".blob.");
  return blob;
}

/// "container@account.dfs.core.windows.net/a/b" behind "abfs://", "container/a/b" behind "az://".
Result<StoreUri> ParseAzureUri(std::string_view uri, std::string_view rest) {
  StoreUri parsed;
  parsed.kind = StoreKind::kAzure;
  const size_t slash = rest.find('/');
  const std::string_view authority = rest.substr(0, slash);
  const size_t at = authority.find('@');
  const std::string_view container = authority.substr(0, at);
  if (container.contains(':') || std::ranges::count(authority, '@') > 1) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a URI of a container must not hold credentials: host='{}'",
                            Printable(authority.substr(authority.rfind('@') + 1))));
  }
  const bool names_account = at != std::string_view::npos;
  if (container.empty() || (!names_account && SchemeOf(uri) != "az")) {
    return Bad("an account is needed, as in abfs://container@account.dfs.core.windows.net/path",
               uri);
  }
  // "$web", "$root" and "$logs" are containers.
  if (!IsBucketName(container.starts_with('$') ? container.substr(1) : container))
    return Bad("not a name of a container", uri);
  if (names_account) {
    const std::string_view host = authority.substr(at + 1);
    if (host.empty() || !IsBucketName(host) || host.starts_with('.'))
      return Bad("not the host of an account", uri);
    parsed.host = BlobHost(host);
  }
  parsed.bucket = container;
  TRY(TakePrefix(slash == std::string_view::npos ? "" : rest.substr(slash + 1), uri, parsed));
  return parsed;
}

std::string ComparablePath(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  const std::string text =
      (error ? std::filesystem::path(path) : absolute).lexically_normal().string();
  return "file://" + std::string(WithoutTrailingSlashes(text));
}

}  // namespace

std::string ComparableUri(std::string_view uri) {
  const auto place = ParseStoreUri(uri);
  if (!place) return std::string(uri);
  const std::string inside = place->prefix.empty() ? "" : "/" + place->prefix;
  switch (place->kind) {
    case StoreKind::kLocal: return ComparablePath(place->path);
    case StoreKind::kS3: return "s3://" + place->bucket + inside;
    case StoreKind::kGcs: return "gs://" + place->bucket + inside;
    case StoreKind::kAzure: return "az://" + place->bucket + "@" + place->host + inside;
    case StoreKind::kMemory: return place->text;
  }
  std::unreachable();
}

bool LiesIn(std::string_view place, std::string_view outer) {
  if (!place.starts_with(outer)) return false;
  return place.size() == outer.size() || outer.ends_with('/') || place[outer.size()] == '/';
}

std::string SchemeOf(std::string_view uri) {
  const size_t colon = uri.find(':');
  if (colon == std::string_view::npos || colon == 0 || !IsLetter(uri[0])) return "";
  const std::string scheme = LowerCase(uri.substr(0, colon));
  for (const char c : scheme)
    if (!IsLetter(c) && !IsDigit(c) && c != '+' && c != '-' && c != '.') return "";
  // "file:/x" is how Java prints a local path; anything else needs "//" to be told from a path.
  const std::string_view rest = uri.substr(colon + 1);
  if (rest.starts_with("//") || (scheme == "file" && rest.starts_with('/'))) return scheme;
  return "";
}

Result<std::string> PercentDecoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    const auto high = i + 1 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? HexDigit(text[i + 2]) : std::nullopt;
    if (!high || !low || (*high == 0 && *low == 0)) {
      return Fail(ErrorKind::kInvalidArgument,
                  fmt::format("'%' without two hex digits other than 00: at={}", i));
    }
    decoded += static_cast<char>(*high << 4 | *low);
    i += 2;
  }
  return decoded;
}

Result<StoreUri> ParseStoreUri(std::string_view uri) {
  if (uri.empty()) return Fail(ErrorKind::kInvalidArgument, "the place of the table is empty");
  if (uri.size() > kUriBytesMax || uri.contains('\0')) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("the place of the table holds a NUL or is longer than {} bytes: "
                            "bytes={}",
                            kUriBytesMax, uri.size()));
  }
  const std::string scheme = SchemeOf(uri);
  if (scheme.empty()) {
    StoreUri parsed;
    parsed.text = WithoutTrailingSlashes(uri);
    parsed.path = parsed.text;
    return parsed;
  }
  if (scheme == "file") return ParseFileUri(uri);
  const std::string_view rest = uri.substr(scheme.size() + 3);
  if (IsOneOf(kS3Schemes, scheme)) return ParseBucketUri(StoreKind::kS3, uri, rest);
  if (IsOneOf(kGcsSchemes, scheme)) return ParseBucketUri(StoreKind::kGcs, uri, rest);
  if (IsOneOf(kAzureSchemes, scheme)) return ParseAzureUri(uri, rest);
  if (scheme == "memory") {
    StoreUri parsed;
    parsed.kind = StoreKind::kMemory;
    parsed.name = WithoutTrailingSlashes(rest);
    if (parsed.name.empty() || parsed.name == "/") return Bad("a memory URI needs a name", uri);
    parsed.text = WithoutTrailingSlashes(uri);
    return parsed;
  }
  if (IsOneOf(kUnsupportedSchemes, scheme)) {
    return Fail(ErrorKind::kUnsupported,
                fmt::format("{}:// is not built in; copy or mount the table, or reach it through "
                            "an S3 gateway: scheme={}",
                            scheme, scheme));
  }
  return Fail(
      ErrorKind::kInvalidArgument,
      fmt::format("unknown scheme (known: a local path, file, s3, s3a, gs, abfs, abfss, wasb, "
                  "wasbs, az): scheme={}",
                  scheme));
}

}  // namespace tidemark::storage
