#include "storage/s3_xml.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/bucket_service.h"
#include "storage/http_time.h"
#include "storage/object_key.h"
#include "storage/store_uri.h"
#include "storage/xml_document_internal.h"

namespace tidemark::storage {

namespace {

std::unexpected<Error> Bad(std::string_view why) {
  return Fail(ErrorKind::kCorrupt, fmt::format("not a page of a listing: {}", why));
}

std::optional<uint64_t> NumberOf(const pugi::xml_node& node) {
  return ParseNumber(node.text().get());
}

/// A key of an answer with encoding-type=url. The encoding is that of HTML forms: '+' is a blank.
Result<std::string> KeyOf(const pugi::xml_node& node, bool is_url_encoded) {
  if (!node) return Bad("an entry has no key");
  std::string text = node.text().get();
  if (!is_url_encoded) return text;
  std::ranges::replace(text, '+', ' ');
  auto decoded = PercentDecoded(text);
  if (!decoded) return Bad("a key is not percent-encoded as the page says");
  return decoded;
}

Status TakeObject(const pugi::xml_node& node, bool is_url_encoded, ListPage& page) {
  ObjectInfo object;
  TRY_ASSIGN(object.key, KeyOf(node.child("Key"), is_url_encoded));
  const auto size = NumberOf(node.child("Size"));
  const auto modified = ParseIsoSeconds(node.child("LastModified").text().get());
  if (object.key.empty()) return Bad("an entry has an empty key");
  if (!size) return Bad(fmt::format("an entry has no size: key={}", Printable(object.key)));
  if (!modified) return Bad(fmt::format("an entry has no time: key={}", Printable(object.key)));
  object.size = *size;
  object.modified = *modified;
  page.objects.push_back(std::move(object));
  return {};
}

Status CheckEnd(const pugi::xml_node& root, ListPage& page) {
  const std::string_view truncated = root.child("IsTruncated").text().get();
  if (truncated != "true" && truncated != "false") return Bad("IsTruncated is missing");
  page.is_truncated = truncated == "true";
  page.next_token = root.child("NextContinuationToken").text().get();
  if (page.is_truncated && page.next_token.empty())
    return Bad("it is truncated and has no token for the rest");
  if (!page.is_truncated) page.next_token.clear();
  // Some servers count the objects alone, some the folders too; none may count what is not there.
  const auto count = NumberOf(root.child("KeyCount"));
  const size_t held = page.objects.size() + page.folders.size();
  if (root.child("KeyCount") && (!count || *count > held || *count < page.objects.size())) {
    return Bad(fmt::format("it counts other entries than it holds: key_count='{}' held={}",
                           OneLine(root.child("KeyCount").text().get()), held));
  }
  return {};
}

}  // namespace

Result<ListPage> ParseS3ListPage(std::string_view xml) {
  pugi::xml_document document;
  if (!LoadXml(document, xml)) return Bad("it is no well-formed XML, or has a document type");
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "ListBucketResult")
    return Bad(fmt::format("its root is '{}'", OneLine(root.name())));
  const std::string_view encoding = root.child("EncodingType").text().get();
  if (!encoding.empty() && encoding != "url")
    return Bad(fmt::format("its encoding is '{}'", OneLine(encoding)));
  ListPage page;
  for (const pugi::xml_node& node : root.children()) {
    const std::string_view name = node.name();
    if (name == "Contents") {
      TRY(TakeObject(node, !encoding.empty(), page));
    } else if (name == "CommonPrefixes") {
      for (const pugi::xml_node& prefix : node.children("Prefix")) {
        TRY_ASSIGN(std::string folder, KeyOf(prefix, !encoding.empty()));
        page.folders.push_back(std::move(folder));
      }
    }
  }
  TRY(CheckEnd(root, page));
  return page;
}

S3ErrorText ParseS3Error(std::string_view xml) {
  pugi::xml_document document;
  if (!LoadXml(document, xml)) return {};
  pugi::xml_node root = document.document_element();
  // STS wraps its errors once more.
  if (std::string_view(root.name()) == "ErrorResponse") root = root.child("Error");
  if (std::string_view(root.name()) != "Error") return {};
  return {OneLine(root.child("Code").text().get()), OneLine(root.child("Message").text().get()),
          OneLine(root.child("Region").text().get())};
}

Result<StsCredentials> ParseStsCredentials(std::string_view xml) {
  pugi::xml_document document;
  if (LoadXml(document, xml)) {
    const pugi::xml_node root = document.document_element();
    pugi::xml_node node = root.child("AssumeRoleWithWebIdentityResult").child("Credentials");
    if (node.empty()) node = root.child("AssumeRoleResult").child("Credentials");
    StsCredentials credentials{
        node.child("AccessKeyId").text().get(), node.child("SecretAccessKey").text().get(),
        node.child("SessionToken").text().get(), node.child("Expiration").text().get()};
    if (!credentials.access_key_id.empty() && !credentials.secret_access_key.empty() &&
        !credentials.session_token.empty())
      return credentials;
  }
  return Fail(ErrorKind::kCorrupt, "the answer holds no credentials");
}

}  // namespace tidemark::storage
