/// XML as all services of objects send it. Only what parses their answers includes this.
#pragma once

#include <algorithm>
#include <pugixml.hpp>
#include <string_view>

namespace tidemark::storage {

/// No document type: services send none, and its entities are how XML becomes a bomb.
inline bool LoadXml(pugi::xml_document& document, std::string_view xml) {
  constexpr unsigned kOptions =
      (pugi::parse_default & ~pugi::parse_eol) | pugi::parse_doctype | pugi::parse_ws_pcdata_single;
  const auto result = document.load_buffer(xml.data(), xml.size(), kOptions, pugi::encoding_utf8);
  if (!result) return false;
  return std::ranges::none_of(document.children(), [](const pugi::xml_node& node) {
    return node.type() == pugi::node_doctype;
  });
}

}  // namespace tidemark::storage
