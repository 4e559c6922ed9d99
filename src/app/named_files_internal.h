/// Files that a configuration names, held against what they are wanted for.
#pragma once

#include <optional>
#include <string>

#include "app/config_sections.h"
#include "app/yaml_map_internal.h"

namespace tidemark::app {

enum class FileUse {
  kAny,          ///< something that whoever uses it understands
  kTokens,       ///< a bearer token a line
  kAuthorities,  ///< certificates in PEM: whom to trust
  kCertificate,  ///< a certificate in PEM, or a chain of them
  kKey,          ///< a private key in PEM without a password
};

/// A file that a key of the configuration names.
struct NamedFile {
  std::string key;
  ConfigText text{};   ///< the value
  std::string path{};  ///< what it means; empty: none is named, and all is well
};

/// Reports a file that is not there, cannot be read, is empty, or is no good for `use`; repeats
/// nothing that it holds, nor of the path what came from elsewhere.
void CheckFile(ConfigContext& context, YamlMap& map, const NamedFile& file, FileUse use);

/// The same for the two that show who we are; also reports a key that is not the certificate's.
/// Without a file of its own the key is wanted in that of the certificate.
void CheckIdentity(ConfigContext& context, YamlMap& map, const NamedFile& certificate,
                   const NamedFile& key);

/// As CheckFile, for what stands in `stores`.
void CheckStoreFile(ConfigContext& context, YamlMap& map, const NamedFile& file);

/// What is wrong with the file that a property of a Kafka client names; nothing with any other
/// property. A relative path is the client's, who means the folder of the process.
std::optional<std::string> MistakeInPropertyFile(ConfigContext& context, const std::string& name,
                                                 const ConfigText& value);

}  // namespace tidemark::app
