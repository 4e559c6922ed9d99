#include "storage/bucket_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/bucket_client.h"
#include "storage/object_key.h"

namespace tidemark::storage {

namespace {

/// A page of 5,000 keys of 1,024 bytes, each byte escaped, takes some 20 MB.
constexpr uint64_t kListPageBytesMax = uint64_t{64} << 20;
constexpr uint64_t kSmallAnswerBytesMax = uint64_t{1} << 20;

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

BucketStore::BucketStore(const StoreUri& uri, std::unique_ptr<BucketService> service)
    : uri_(uri.text),
      root_(uri.prefix.empty() ? "" : uri.prefix + '/'),
      service_(std::move(service)) {}

Result<std::string> BucketStore::WholeKey(std::string_view key) const {
  TRY(CheckKey(uri_, key));
  std::string whole = root_ + std::string(key);
  const BucketLimits limits = service_->limits();
  if (whole.size() > limits.key_bytes_max) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a name of an object in {} has at most {} bytes: object={}",
                            limits.service, limits.key_bytes_max, ObjectName(uri_, key)));
  }
  if (!limits.has_backslashes && whole.contains('\\')) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("a name of an object in {} has no '\\': object={}", limits.service,
                            ObjectName(uri_, key)));
  }
  return whole;
}

Result<Listing> BucketStore::List(std::string_view folder, const ListOptions& options,
                                  const Budget& budget) const {
  TRY_ASSIGN(const std::string prefix, FolderPrefix(uri_, folder));
  const ListQuestion question{root_, root_ + prefix, options};
  const std::string name = ObjectName(uri_, prefix);
  const auto named = [&](Error error) {
    return std::unexpected(std::move(error).With(fmt::format("object={}", name)));
  };
  ListingBuilder builder(question, service_->limits().order);
  do {
    BucketRequest request = service_->ListPageRequest(question, builder.next_token());
    request.name = name;
    request.answer_bytes_max = kListPageBytesMax;
    TRY_ASSIGN(const BucketAnswer answer, SendToBucket(*service_, request, budget));
    auto page = service_->ParsePage(answer.http.body);
    if (!page) return named(std::move(page).error());
    if (auto status = builder.Add(*std::move(page)); !status)
      return named(std::move(status).error());
  } while (!builder.next_token().empty());
  auto listing = builder.TakeListing();
  if (!listing) return named(std::move(listing).error());
  return listing;
}

Result<std::string> BucketStore::Read(std::string_view key, const Budget& budget) const {
  return ReadUpTo(key, kReadBytesMax, budget);
}

Result<std::string> BucketStore::ReadUpTo(std::string_view key, uint64_t bytes_max,
                                          const Budget& budget) const {
  TRY_ASSIGN(const std::string whole, WholeKey(key));
  BucketRequest request = service_->ReadRequest(whole, "");
  request.name = ObjectName(uri_, key);
  request.answer_bytes_max = bytes_max;
  TRY_ASSIGN(BucketAnswer answer, SendToBucket(*service_, request, budget));
  if (!HasEnd(answer.http)) return NotWhole(request.name);
  if (answer.http.status != 200) {
    return Fail(ErrorKind::kCorrupt, fmt::format("not the whole object: object={} http={}",
                                                 request.name, answer.http.status));
  }
  return std::move(answer.http.body);
}

Result<std::string> BucketStore::ReadRange(std::string_view key, uint64_t offset, uint64_t length,
                                           const Budget& budget) const {
  return ReadOf(nullptr, key, offset, length, budget);
}

Result<size_t> BucketStore::ReadInto(std::string_view key, uint64_t offset, std::span<char> into,
                                     ObjectState& state, const Budget& budget) const {
  TRY_ASSIGN(const std::string bytes, ReadOf(&state, key, offset, into.size(), budget));
  bytes.copy(into.data(), bytes.size());
  return bytes.size();
}

Result<std::string> BucketStore::ReadOf(ObjectState* state, std::string_view key, uint64_t offset,
                                        uint64_t length, const Budget& budget) const {
  TRY_ASSIGN(const std::string whole, WholeKey(key));
  const std::string tag = state == nullptr ? "" : state->tag();
  BucketRequest request = service_->ReadRequest(whole, tag);
  request.name = ObjectName(uri_, key);
  request.is_conditional = !tag.empty();
  // An empty range cannot be asked for; a byte tells whether the object is there.
  const uint64_t wanted = std::clamp<uint64_t>(length, 1, kReadBytesMax);
  const uint64_t last = offset > UINT64_MAX - wanted ? UINT64_MAX : offset + wanted - 1;
  // Servers read positions as signed numbers.
  constexpr auto kPositionMax = static_cast<uint64_t>(INT64_MAX);
  request.headers.emplace_back(
      "range",
      fmt::format("bytes={}-{}", std::min(offset, kPositionMax - 1), std::min(last, kPositionMax)));
  // A server that knows no ranges sends the whole object.
  request.answer_bytes_max = kReadBytesMax;
  TRY_ASSIGN(BucketAnswer answer, SendToBucket(*service_, request, budget));
  std::string& body = answer.http.body;
  if (answer.is_condition_false) {
    // Some servers say so of an object that is not there any more, too.
    auto there = Stat(key, budget);
    if (!there && there.error().kind == ErrorKind::kNotFound)
      return std::unexpected(std::move(there).error());
    return std::unexpected(ObjectState::Changed(request.name));
  }
  if (answer.http.status == 416) return std::string();
  if (!HasEnd(answer.http)) return NotWhole(request.name);
  // There are servers that do not know the condition.
  if (state != nullptr) {
    const auto range = ParseContentRange(answer.http.Header("content-range"));
    std::optional<uint64_t> size = range ? range->size : std::nullopt;
    if (answer.http.status == 200) size = body.size();
    TRY(state->Hold(service_->TagOf(answer.http), size, request.name));
  }
  if (answer.http.status == 200)
    return offset >= body.size() ? std::string() : body.substr(offset, length);
  const auto range = ParseContentRange(answer.http.Header("content-range"));
  // 416 in other words: "bytes 10-9/10".
  if (answer.http.status == 206 && range && range->size == offset && body.empty())
    return std::string();
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

Result<ObjectInfo> BucketStore::Stat(std::string_view key, const Budget& budget) const {
  TRY_ASSIGN(const std::string whole, WholeKey(key));
  BucketRequest request = service_->StatRequest(whole);
  request.name = ObjectName(uri_, key);
  request.answer_bytes_max = kSmallAnswerBytesMax;
  TRY_ASSIGN(const BucketAnswer answer, SendToBucket(*service_, request, budget));
  auto info = service_->ParseStat(answer.http);
  if (!info) {
    return Fail(ErrorKind::kCorrupt,
                fmt::format("the answer has no size or no time: object={}", request.name));
  }
  info->key = key;
  return *std::move(info);
}

Result<BucketAnswer> BucketStore::PutWith(std::string_view key, std::string_view bytes,
                                          PutCondition condition, const Budget& budget) const {
  TRY_ASSIGN(const std::string whole, WholeKey(key));
  const std::string name = ObjectName(uri_, key);
  const uint64_t bytes_max = service_->limits().put_bytes_max;
  if (bytes.size() > bytes_max) {
    return Fail(ErrorKind::kExhausted,
                fmt::format("the object is too large for one write: object={} bytes={} "
                            "bytes_max={}",
                            name, bytes.size(), bytes_max));
  }
  auto request = service_->PutRequest(whole, bytes, condition);
  if (!request) return std::unexpected(std::move(request).error().With("object=" + name));
  request->name = name;
  request->answer_bytes_max = kSmallAnswerBytesMax;
  request->is_conditional = condition == PutCondition::kAbsent;
  return SendToBucket(*service_, *request, budget);
}

Status BucketStore::Put(std::string_view key, std::string_view bytes, const Budget& budget) {
  TRY(PutWith(key, bytes, PutCondition::kNone, budget));
  return {};
}

Status BucketStore::PutIfAbsent(std::string_view key, std::string_view bytes,
                                const Budget& budget) {
  TRY_ASSIGN(const BucketAnswer answer, PutWith(key, bytes, PutCondition::kAbsent, budget));
  if (!answer.is_condition_false) return {};
  if (answer.may_have_happened_before) {
    return Fail(ErrorKind::kUnavailable,
                fmt::format("the object exists, and may be what an earlier try wrote whose answer "
                            "was lost: object={}",
                            ObjectName(uri_, key)));
  }
  return Fail(ErrorKind::kConflict,
              fmt::format("the object exists already: object={}", ObjectName(uri_, key)));
}

Status BucketStore::Remove(std::string_view key, const Budget& budget) {
  TRY_ASSIGN(const std::string whole, WholeKey(key));
  BucketRequest request = service_->RemoveRequest(whole);
  request.name = ObjectName(uri_, key);
  request.answer_bytes_max = kSmallAnswerBytesMax;
  TRY(SendToBucket(*service_, request, budget));
  return {};
}

}  // namespace tidemark::storage
