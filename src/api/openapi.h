/// What the HTTP API promises, OpenAPI 3.1 (openapi.json beside this file).
#pragma once

#include <string_view>

namespace tidemark::api {

/// The document; tests hold the running server to it.
std::string_view OpenApiDocument();

}  // namespace tidemark::api
