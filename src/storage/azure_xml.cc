#include "storage/azure_xml.h"

#include <fmt/format.h>

#include "base/letter_case.h"
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

/// Names that XML cannot hold are percent-encoded, and say so.
Result<std::string> NameOfEntry(const pugi::xml_node& entry) {
  const pugi::xml_node node = entry.child("Name");
  std::string name = node.text().get();
  if (name.empty()) return Bad("an entry has no name");
  if (std::string_view(node.attribute("Encoded").value()) != "true") return name;
  auto decoded = PercentDecoded(name);
  if (!decoded) return Bad("a name is not percent-encoded as it says");
  return decoded;
}

bool IsFolder(const pugi::xml_node& blob) {
  if (std::string_view(blob.child("Properties").child("ResourceType").text().get()) == "directory")
    return true;
  for (const pugi::xml_node& entry : blob.child("Metadata").children()) {
    if (LowerCase(entry.name()) == "hdi_isfolder" && std::string_view(entry.text().get()) == "true")
      return true;
  }
  return false;
}

Status TakeBlob(const pugi::xml_node& node, ListPage& page) {
  ObjectInfo object;
  TRY_ASSIGN(object.key, NameOfEntry(node));
  if (IsFolder(node)) return {};
  const pugi::xml_node properties = node.child("Properties");
  const auto size = ParseNumber(properties.child("Content-Length").text().get());
  const auto modified = ParseHttpDate(properties.child("Last-Modified").text().get());
  if (!size) return Bad(fmt::format("an entry has no size: key={}", Printable(object.key)));
  if (!modified) return Bad(fmt::format("an entry has no time: key={}", Printable(object.key)));
  object.size = *size;
  object.modified = *modified;
  page.objects.push_back(std::move(object));
  return {};
}

}  // namespace

Result<ListPage> ParseAzureListPage(std::string_view xml) {
  pugi::xml_document document;
  if (!LoadXml(document, xml)) return Bad("it is no well-formed XML, or has a document type");
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "EnumerationResults")
    return Bad(fmt::format("its root is '{}'", OneLine(root.name())));
  const pugi::xml_node blobs = root.child("Blobs");
  const pugi::xml_node marker = root.child("NextMarker");
  if (!blobs || !marker) return Bad("Blobs or NextMarker is missing");
  ListPage page;
  for (const pugi::xml_node& node : blobs.children()) {
    const std::string_view name = node.name();
    if (name == "Blob") {
      TRY(TakeBlob(node, page));
    } else if (name == "BlobPrefix") {
      TRY_ASSIGN(std::string folder, NameOfEntry(node));
      page.folders.push_back(std::move(folder));
    }
  }
  page.next_token = marker.text().get();
  page.is_truncated = !page.next_token.empty();
  return page;
}

AzureErrorText ParseAzureError(std::string_view xml) {
  pugi::xml_document document;
  if (!LoadXml(document, xml)) return {};
  const pugi::xml_node root = document.document_element();
  if (std::string_view(root.name()) != "Error") return {};
  const std::string_view message = root.child("Message").text().get();
  return {OneLine(root.child("Code").text().get()), OneLine(message.substr(0, message.find('\n')))};
}

}  // namespace tidemark::storage
