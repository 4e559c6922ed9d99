#include "storage/azure_signer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/letter_case.h"
#include "storage/digest.h"

namespace tidemark::storage {

std::string AzureStringToSign(const AzureRequestToSign& request) {
  std::map<std::string, std::string> headers(request.headers.begin(), request.headers.end());
  const auto header = [&](const char* name) {
    const auto it = headers.find(name);
    return it == headers.end() ? std::string() : it->second;
  };
  std::string text = request.method;
  for (const char* name :
       {"content-encoding", "content-language", "content-length", "content-md5", "content-type",
        "date", "if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"}) {
    text += '\n';
    if (std::string_view(name) == "content-length") {
      if (request.body_bytes > 0) text += std::to_string(request.body_bytes);
    } else {
      text += header(name);
    }
  }
  text += '\n';
  for (const auto& [name, value] : headers) {
    if (name.starts_with("x-ms-")) text += name + ':' + value + '\n';
  }
  text += '/' + request.account + request.path;
  QueryParts query = request.query;
  for (auto& [name, value] : query) name = LowerCase(name);
  std::ranges::sort(query);
  for (size_t i = 0; i < query.size(); ++i) {
    const bool is_again = i > 0 && query[i].first == query[i - 1].first;
    text += is_again ? "," + query[i].second : '\n' + query[i].first + ':' + query[i].second;
  }
  return text;
}

std::string AzureSharedKey(const AzureRequestToSign& request, std::string_view key) {
  return fmt::format("SharedKey {}:{}", request.account,
                     Base64(HmacSha256(key, AzureStringToSign(request))));
}

}  // namespace tidemark::storage
