#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "app/named_files_internal.h"
#include "app/serve_routes.h"
#include "app/text_file.h"

namespace tidemark::app {

namespace {

/// The bundle of all authorities of a system is a quarter of one.
constexpr uint64_t kNamedBytesMax = 16 << 20;

template <auto free>
struct FreeBy {
  template <class T>
  void operator()(T* object) const {
    free(object);
  }
};
using Certificate = std::unique_ptr<X509, FreeBy<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, FreeBy<EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, FreeBy<BIO_free_all>>;

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

std::optional<std::string> MistakeIn(const std::string& path, FileUse use) {
  if (use == FileUse::kTokens) {
    const auto read = BearerTokens().Read(path);
    return read ? std::nullopt : std::optional(read.error().message);
  }
  const auto text = ReadTextFile(path, kNamedBytesMax);
  if (!text) return text.error().message;
  if (text->empty()) return fmt::format("'{}' is empty", path);
  if (!IsReadByUse(*text, use)) return fmt::format("'{}' holds not {}", path, WantedFor(use));
  return std::nullopt;
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

/// Whether it is good.
bool Check(ConfigContext& context, YamlMap& map, const NamedFile& file, FileUse use) {
  if (file.path.empty()) return true;
  auto mistake = MistakeIn(file.path, use);
  if (mistake) map.Complain(file.key, Told(context, file, *std::move(mistake)));
  return !mistake;
}

}  // namespace

void CheckFile(ConfigContext& context, YamlMap& map, const NamedFile& file, FileUse use) {
  if (IsAsked(context, NamedFiles::kOfAll)) static_cast<void>(Check(context, map, file, use));
}

void CheckIdentity(ConfigContext& context, YamlMap& map, const NamedFile& certificate,
                   const NamedFile& key) {
  if (!IsAsked(context, NamedFiles::kOfAll) || certificate.path.empty()) return;
  const NamedFile& keyed = key.path.empty() ? certificate : key;
  const bool is_certificate_good = Check(context, map, certificate, FileUse::kCertificate);
  const bool is_key_good =
      (&keyed == &certificate && !is_certificate_good) || Check(context, map, keyed, FileUse::kKey);
  if (!is_certificate_good || !is_key_good) return;
  const auto shown = ReadTextFile(certificate.path, kNamedBytesMax);
  const auto held = ReadTextFile(keyed.path, kNamedBytesMax);
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
  if (IsAsked(context, NamedFiles::kOfClustersAndStores))
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
  auto mistake = MistakeIn(value.value, use);
  if (!mistake) return std::nullopt;
  return Told(context, {name, value, value.value}, *std::move(mistake));
}

}  // namespace tidemark::app
