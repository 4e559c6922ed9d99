#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "app/named_files_internal.h"
#include "app/serve_routes.h"
#include "app/text_file.h"
#include "base/held.h"

namespace tidemark::app {

namespace {

/// The bundle of all authorities of a system is a quarter of one.
constexpr uint64_t kNamedBytesMax = 16 << 20;

using Certificate = Held<X509, X509_free>;
using Key = Held<EVP_PKEY, EVP_PKEY_free>;
using Memory = Held<BIO, BIO_free>;

/// OpenSSL asks at the terminal otherwise.
int NoPassword(char* /*buffer*/, int /*size*/, int /*is_writing*/, void* /*user*/) {
  return -1;
}

Memory MemoryOf(const std::string& pem) {
  return Memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

/// Null when there is none. Other things may stand before it.
Certificate FirstCertificate(const std::string& pem) {
  return Certificate(PEM_read_bio_X509_AUX(MemoryOf(pem).get(), nullptr, NoPassword, nullptr));
}

Key FirstKey(const std::string& pem) {
  return Key(PEM_read_bio_PrivateKey(MemoryOf(pem).get(), nullptr, NoPassword, nullptr));
}

bool IsReadByUse(const std::string& text, FileUse use) {
  switch (use) {
    case FileUse::kAuthorities:
    case FileUse::kCertificate: return FirstCertificate(text) != nullptr;
    case FileUse::kKey: return FirstKey(text) != nullptr;
    default: return true;
  }
}

const char* WantedFor(FileUse use) {
  return use == FileUse::kKey ? "a private key in PEM without a password" : "a certificate in PEM";
}

/// What it holds, when that is good for `use`; of tokens nothing.
Result<std::string> TextFor(const std::string& path, FileUse use) {
  if (use == FileUse::kTokens) {
    TRY(BearerTokens().Read(path));
    return "";
  }
  TRY_ASSIGN(auto text, ReadTextFile(path, kNamedBytesMax));
  if (text.empty()) return Fail(ErrorKind::kInvalidArgument, fmt::format("'{}' is empty", path));
  if (!IsReadByUse(text, use)) {
    return Fail(ErrorKind::kInvalidArgument,
                fmt::format("'{}' holds not {}", path, WantedFor(use)));
  }
  return text;
}

bool IsAsked(const ConfigContext& context, NamedFiles from) {
  return context.sources().named_files >= from;
}

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// As it may be shown.
std::string Told(ConfigContext& context, const NamedFile& file, std::string mistake) {
  // Once it is mended the configuration is to be read again.
  context.Seek(file.path);
  if (!file.text.is_hidden()) return mistake;
  HiddenValues hidden;
  hidden.Add(file.path, file.text.source);
  for (const auto& part : file.text.looked_up) hidden.Add(part.value, part.reference);
  return hidden.Hide(std::move(mistake));
}

/// What it holds, unless that was a mistake, which is reported.
std::optional<std::string> Check(ConfigContext& context, YamlMap& map, const NamedFile& file,
                                 FileUse use) {
  auto text = TextFor(file.path, use);
  if (text) return *std::move(text);
  map.Complain(file.key, Told(context, file, std::move(text.error().message)));
  return std::nullopt;
}

}  // namespace

void CheckFile(ConfigContext& context, YamlMap& map, const NamedFile& file, FileUse use) {
  if (file.path.empty() || !IsAsked(context, NamedFiles::kOfAll)) return;
  static_cast<void>(Check(context, map, file, use));
}

void CheckIdentity(ConfigContext& context, YamlMap& map, const NamedFile& certificate,
                   const NamedFile& key) {
  if (!IsAsked(context, NamedFiles::kOfAll) || certificate.path.empty()) return;
  const NamedFile& keyed = key.path.empty() ? certificate : key;
  const auto shown = Check(context, map, certificate, FileUse::kCertificate);
  if (&keyed == &certificate && !shown) return;
  const auto held = Check(context, map, keyed, FileUse::kKey);
  if (!shown || !held) return;
  const Certificate first = FirstCertificate(*shown);
  const Key secret = FirstKey(*held);
  if (first == nullptr || secret == nullptr) return;
  if (X509_check_private_key(first.get(), secret.get()) == 1) return;
  map.Complain(keyed.key, Told(context, keyed,
                               fmt::format("'{}' is not the key of the certificate", keyed.path)));
  context.Seek(certificate.path);
}

void CheckStoreFile(ConfigContext& context, YamlMap& map, const NamedFile& file) {
  if (file.path.empty() || !IsAsked(context, NamedFiles::kOfClustersAndStores)) return;
  static_cast<void>(Check(context, map, file, FileUse::kAny));
}

std::optional<std::string> MistakeInPropertyFile(ConfigContext& context, const std::string& name,
                                                 const ConfigText& value) {
  const bool is_path = name.ends_with(".location") || name.ends_with(".file");
  // An engine is a library, which is sought elsewhere, too.
  if (!is_path || name == "ssl.engine.location" || value.value.empty() ||
      !IsAsked(context, NamedFiles::kOfClustersAndStores))
    return std::nullopt;
  const bool is_of_authorities = name == "ssl.ca.location";
  // The client's word for where systems have them; a folder of hashed names is as good.
  if (is_of_authorities && (value.value == "probe" || IsFolder(value.value))) return std::nullopt;
  FileUse use = FileUse::kAny;
  if (is_of_authorities) use = FileUse::kAuthorities;
  if (name == "ssl.certificate.location") use = FileUse::kCertificate;
  auto text = TextFor(value.value, use);
  if (text) return std::nullopt;
  return Told(context, {name, value, value.value}, std::move(text.error().message));
}

}  // namespace tidemark::app
