#include "storage/jwt.h"

#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/held.h"
#include "storage/digest.h"

namespace tidemark::storage {

namespace {

/// A key that asks for a pass phrase is none: nobody is there to answer.
int NoPassPhrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

Result<std::string> SignedJwt(std::string_view header_json, std::string_view claims_json,
                              std::string_view private_key_pem) {
  const Held<BIO, BIO_free> pem(
      BIO_new_mem_buf(private_key_pem.data(), static_cast<int>(private_key_pem.size())));
  const Held<EVP_PKEY, EVP_PKEY_free> key(
      pem ? PEM_read_bio_PrivateKey(pem.get(), nullptr, &NoPassPhrase, nullptr) : nullptr);
  if (key == nullptr || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA)
    return Fail(ErrorKind::kInvalidArgument, "not a private RSA key in PEM");
  std::string token = Base64Url(header_json) + '.' + Base64Url(claims_json);
  const Held<EVP_MD_CTX, EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  const auto* text = reinterpret_cast<const unsigned char*>(token.data());
  std::string signature(static_cast<size_t>(EVP_PKEY_get_size(key.get())), '\0');
  size_t size = signature.size();
  if (EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, text,
                     token.size()) != 1)
    return Fail(ErrorKind::kInvalidArgument, "the private key does not sign");
  signature.resize(size);
  return token + '.' + Base64Url(signature);
}

}  // namespace tidemark::storage
