/// A certificate that signs itself, for servers of a test.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace tidemark::support {

/// Two PEM files in a folder of their own, which goes with it.
class ThrowAwayCertificate {
 public:
  ThrowAwayCertificate() {
    std::string name = std::filesystem::temp_directory_path() / "tidemark-tls-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                  EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> it(X509_new(), X509_free);
    ASN1_INTEGER_set(X509_get_serialNumber(it.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(it.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(it.get()), 3600);
    X509_set_pubkey(it.get(), key.get());
    X509_NAME* const subject = X509_get_subject_name(it.get());
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
    X509_set_issuer_name(it.get(), subject);
    X509_sign(it.get(), key.get(), EVP_sha256());
    Write(certificate(), [&](FILE* file) { PEM_write_X509(file, it.get()); });
    Write(this->key(), [&](FILE* file) {
      PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
  }
  ~ThrowAwayCertificate() { std::filesystem::remove_all(folder_); }
  ThrowAwayCertificate(const ThrowAwayCertificate&) = delete;
  ThrowAwayCertificate& operator=(const ThrowAwayCertificate&) = delete;

  std::string certificate() const { return folder_ + "/certificate.pem"; }
  std::string key() const { return folder_ + "/key.pem"; }

 private:
  template <class Writer>
  static void Write(const std::string& path, const Writer& write) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "w"), std::fclose);
    write(file.get());
  }

  std::string folder_;
};

}  // namespace tidemark::support
