#include "storage/s3_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "storage/object_key.h"
#include "storage/s3_listing.h"
#include "storage/s3_time.h"
#include "storage/s3_xml.h"

namespace tidemark::storage {

namespace {

/// A page of 1,000 keys of 1,024 bytes, each byte escaped, takes some 4 MB.
constexpr uint64_t kListPageBytesMax = uint64_t{32} << 20;
constexpr uint64_t kPutBytesMax = uint64_t{5} << 30;
constexpr uint64_t kSmallAnswerBytesMax = uint64_t{1} << 20;
constexpr size_t kS3KeyBytesMax = 1024;

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// The three numbers of "bytes 0-9/100"; the last is nullopt for "*".
struct ContentRange {
  uint64_t first;
  uint64_t last;
  std::optional<uint64_t> size;
};
std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  const size_t dash = text.find('-');
  const size_t slash = text.find('/');
  if (!text.starts_with(kUnit) || dash == std::string_view::npos ||
      slash == std::string_view::npos || slash < dash)
    return std::nullopt;
  const auto first = ParseNumber(text.substr(kUnit.size(), dash - kUnit.size()));
  const auto last = ParseNumber(text.substr(dash + 1, slash - dash - 1));
  const auto size = ParseNumber(text.substr(slash + 1));
  if (!first || !last || (!size && text.substr(slash + 1) != "*")) return std::nullopt;
  return ContentRange{*first, *last, size};
}

/// Without one of the two, an answer that was cut short looks whole.
bool HasEnd(const HttpAnswer& answer) {
  return !answer.Header("content-length").empty() || !answer.Header("transfer-encoding").empty();
}

std::unexpected<Error> NotWhole(std::string_view name) {
  return Fail(ErrorKind::kCorrupt,
              fmt::format("the answer does not say how long it is: object={}", name));
}

}  // namespace

S3Store::S3Store(Private, const StoreUri& uri, std::unique_ptr<S3Client> client)
    : uri_(uri.text),
      root_(uri.prefix.empty() ? "" : uri.prefix + '/'),
      client_(std::move(client)) {}

Result<std::unique_ptr<S3Store>> S3Store::Make(const StoreUri& uri, const StoreOptions& options,
                                               Environment environment) {
  TRY_ASSIGN(auto client, S3Client::Make(uri.bucket, options, std::move(environment)));
  return std::make_unique<S3Store>(Private(), uri, std::move(client));
}

Result<S3Request> S3Store::About(std::string_view method, std::string_view key) const {
  TRY(CheckKey(uri_, key));
  S3Request request;
  request.method = method;
  request.key = root_ + std::string(key);
  request.name = ObjectName(uri_, key);
  request.answer_bytes_max = kSmallAnswerBytesMax;
  if (request.key.size() > kS3KeyBytesMax) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a name of an object in S3 has at most {} bytes: object={}",
                            kS3KeyBytesMax, request.name));
  }
  return request;
}

Result<Listing> S3Store::List(std::string_view folder, const ListOptions& options,
                              const Budget& budget) const {
  TRY_ASSIGN(const std::string prefix, FolderPrefix(uri_, folder));
  const S3ListQuestion question{root_, root_ + prefix, options};
  S3Request request;
  request.method = "GET";
  request.name = ObjectName(uri_, prefix);
  request.answer_bytes_max = kListPageBytesMax;
  request.query = {{"list-type", "2"}, {"encoding-type", "url"}, {"max-keys", "1000"}};
  if (!question.prefix.empty()) request.query.emplace_back("prefix", question.prefix);
  if (!options.is_recursive) request.query.emplace_back("delimiter", "/");
  const std::string start_after = question.StartAfter();
  if (!start_after.empty()) request.query.emplace_back("start-after", start_after);
  const size_t fixed_parts = request.query.size();

  S3ListingBuilder builder(question);
  do {
    request.query.resize(fixed_parts);
    if (!builder.next_token().empty())
      request.query.emplace_back("continuation-token", builder.next_token());
    TRY_ASSIGN(const S3Answer answer, client_->Send(request, budget));
    auto page = ParseListPage(answer.http.body);
    Status status;
    if (page) {
      status = builder.Add(*std::move(page));
    } else {
      status = std::unexpected(std::move(page).error());
    }
    if (!status)
      return std::unexpected(
          std::move(status).error().With(fmt::format("object={}", request.name)));
  } while (!builder.next_token().empty());
  return builder.TakeListing();
}

Result<std::string> S3Store::Read(std::string_view key, const Budget& budget) const {
  return ReadUpTo(key, kReadBytesMax, budget);
}

Result<std::string> S3Store::ReadUpTo(std::string_view key, uint64_t bytes_max,
                                      const Budget& budget) const {
  TRY_ASSIGN(S3Request request, About("GET", key));
  request.answer_bytes_max = bytes_max;
  TRY_ASSIGN(S3Answer answer, client_->Send(request, budget));
  if (!HasEnd(answer.http)) return NotWhole(request.name);
  if (answer.http.status != 200) {
    return Fail(ErrorKind::kCorrupt, fmt::format("not the whole object: object={} http={}",
                                                 request.name, answer.http.status));
  }
  return std::move(answer.http.body);
}

Result<std::string> S3Store::ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                       const Budget& budget) const {
  return ReadOf(nullptr, key, offset, length, budget);
}

Result<size_t> S3Store::ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                 ObjectState& state, const Budget& budget) const {
  TRY_ASSIGN(const std::string bytes, ReadOf(&state, key, offset, into.size(), budget));
  bytes.copy(into.data(), bytes.size());
  return bytes.size();
}

Result<std::string> S3Store::ReadOf(ObjectState* state, std::string_view key, uint64_t offset,
                                    uint64_t length, const Budget& budget) const {
  TRY_ASSIGN(S3Request request, About("GET", key));
  // An empty range cannot be asked for; a byte tells whether the object is there.
  const uint64_t wanted = std::clamp<uint64_t>(length, 1, kReadBytesMax);
  const uint64_t last = offset > UINT64_MAX - wanted ? UINT64_MAX : offset + wanted - 1;
  // S3 reads positions as signed numbers.
  constexpr auto kPositionMax = static_cast<uint64_t>(INT64_MAX);
  request.headers = {{"range", fmt::format("bytes={}-{}", std::min(offset, kPositionMax - 1),
                                           std::min(last, kPositionMax))}};
  // A server that knows no ranges sends the whole object.
  request.answer_bytes_max = kReadBytesMax;
  request.wanted_statuses = {416};
  const std::string tag = state == nullptr ? "" : state->tag();
  if (!tag.empty() && !tag.starts_with("W/")) {
    request.headers.emplace_back("if-match", tag);
    request.wanted_statuses.push_back(412);
  }
  TRY_ASSIGN(S3Answer answer, client_->Send(request, budget));
  std::string& body = answer.http.body;
  if (answer.http.status == 412) return std::unexpected(ObjectState::Changed(request.name));
  if (answer.http.status == 416) return std::string();
  if (!HasEnd(answer.http)) return NotWhole(request.name);
  // There are servers that do not know the condition.
  if (state != nullptr) {
    const auto range = ParseContentRange(answer.http.Header("content-range"));
    std::optional<uint64_t> size = range ? range->size : std::nullopt;
    if (answer.http.status == 200) size = body.size();
    TRY(state->Hold(answer.http.Header("etag"), size, request.name));
  }
  if (answer.http.status == 200)
    return offset >= body.size() ? std::string() : body.substr(offset, length);
  const auto range = ParseContentRange(answer.http.Header("content-range"));
  const bool is_asked_for = answer.http.status == 206 && range && range->first == offset &&
                            range->last >= range->first && range->last <= last &&
                            body.size() == range->last - range->first + 1;
  if (!is_asked_for || (range->last < last && range->size && *range->size != range->last + 1)) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("not the range that was asked for: object={} offset={} bytes={} "
                            "content_range='{}' got={}",
                            request.name, offset, wanted,
                            answer.http.Header("content-range").substr(0, 100), body.size()));
  }
  if (length > kReadBytesMax && range->last == last) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("the range is too large: object={} bytes={} bytes_max={}", request.name,
                            length, kReadBytesMax));
  }
  if (body.size() > length) body.resize(length);
  return std::move(body);
}

Result<ObjectInfo> S3Store::Stat(std::string_view key, const Budget& budget) const {
  TRY_ASSIGN(const S3Request request, About("HEAD", key));
  TRY_ASSIGN(const S3Answer answer, client_->Send(request, budget));
  const auto size = ParseNumber(answer.http.Header("content-length"));
  const auto modified = ParseHttpDate(answer.http.Header("last-modified"));
  if (!size || !modified) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("the answer has no size or no time: object={}", request.name));
  }
  return ObjectInfo{std::string(key), *size, *modified};
}

Status S3Store::Put(std::string_view key, std::string_view bytes, const Budget& budget) {
  TRY_ASSIGN(S3Request request, About("PUT", key));
  if (bytes.size() > kPutBytesMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("the object is too large for one write: object={} bytes={} "
                            "bytes_max={}",
                            request.name, bytes.size(), kPutBytesMax));
  }
  request.body = bytes;
  TRY(client_->Send(request, budget));
  return {};
}

Status S3Store::PutIfAbsent(std::string_view key, std::string_view bytes, const Budget& budget) {
  TRY_ASSIGN(S3Request request, About("PUT", key));
  if (bytes.size() > kPutBytesMax) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("the object is too large for one write: object={} bytes={} "
                            "bytes_max={}",
                            request.name, bytes.size(), kPutBytesMax));
  }
  request.body = bytes;
  request.headers = {{"if-none-match", "*"}};
  request.wanted_statuses = {412};
  TRY_ASSIGN(const S3Answer answer, client_->Send(request, budget));
  if (answer.http.status != 412) return {};
  if (answer.may_have_happened_before) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the object exists, and may be what an earlier try wrote whose answer "
                            "was lost: object={}",
                            request.name));
  }
  return Fail(ErrorKind::kConflict,
              fmt::format("the object exists already: object={}", request.name));
}

Status S3Store::Remove(std::string_view key, const Budget& budget) {
  TRY_ASSIGN(S3Request request, About("DELETE", key));
  TRY_ASSIGN(const S3Answer answer, client_->Send(request, budget));
  return {};
}

}  // namespace tidemark::storage
