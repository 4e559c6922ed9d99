#include <fmt/core.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "kafka/wire/scram_internal.h"
#include "kafka/wire/secure_text_internal.h"

namespace tidemark::kafka::wire {

namespace {

constexpr std::string_view kHeader = "n,,";
// Fewer are refused, as RFC 7677 wants; more than a broker's own greatest would be an attack on our
// time.
constexpr int kIterationsMin = 4096;
constexpr int kIterationsMax = 10'000'000;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// ',' and '=' would end a name early.
std::string Escaped(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == ',') {
      text += "=2C";
    } else if (c == '=') {
      text += "=3D";
    } else {
      text += c;
    }
  }
  return text;
}

// The value behind "k=" in "a=1,k=2,…"; nullopt when there is none.
std::optional<std::string_view> Field(std::string_view message, char key) {
  while (!message.empty()) {
    const size_t comma = std::min(message.find(','), message.size());
    const std::string_view field = message.substr(0, comma);
    if (field.size() >= 2 && field[0] == key && field[1] == '=') return field.substr(2);
    message.remove_prefix(std::min(comma + 1, message.size()));
  }
  return std::nullopt;
}

std::unexpected<Error> Refused(std::string_view why) {
  return Fail(ErrorKind::kDenied, fmt::format("SCRAM: {}", why));
}

class Scram final : public SaslConversation {
 public:
  Scram(const Login& login, std::string nonce)
      : digest_(login.mechanism == Mechanism::kScramSha512 ? EVP_sha512() : EVP_sha256()),
        password_(login.password),
        nonce_(std::move(nonce)),
        first_bare_(fmt::format("n={},r={}", Escaped(login.username), nonce_)) {}

  std::string First() override { return fmt::format("{}{}", kHeader, first_bare_); }

  Result<std::optional<std::string>> Answer(std::string_view server) override {
    if (server_key_sum_.empty()) return Prove(server);
    return Check(server);
  }

 private:
  Result<std::optional<std::string>> Prove(std::string_view server) {
    const auto nonce = Field(server, 'r');
    const auto salt_text = Field(server, 's');
    const auto rounds_text = Field(server, 'i');
    if (!nonce || !salt_text || !rounds_text) return Refused("not a first message of a server");
    if (!nonce->starts_with(nonce_) || nonce->size() == nonce_.size()) {
      return Refused("the server does not answer us");
    }
    const auto salt = FromBase64(*salt_text);
    int rounds = 0;
    const auto [end, error] =
        std::from_chars(rounds_text->data(), rounds_text->data() + rounds_text->size(), rounds);
    if (!salt || error != std::errc{} || end != rounds_text->data() + rounds_text->size() ||
        rounds < kIterationsMin || rounds > kIterationsMax) {
      return Refused("salt or number of iterations cannot be used");
    }
    std::string salted(static_cast<size_t>(EVP_MD_get_size(digest_)), '\0');
    if (PKCS5_PBKDF2_HMAC(password_.data(), static_cast<int>(password_.size()), Bytes(*salt),
                          static_cast<int>(salt->size()), rounds, digest_,
                          static_cast<int>(salted.size()),
                          reinterpret_cast<unsigned char*>(salted.data())) != 1) {
      return Refused("the password cannot be hashed");
    }
    const std::string without_proof = fmt::format("c={},r={}", Base64Of(kHeader), *nonce);
    const std::string signed_words = fmt::format("{},{},{}", first_bare_, server, without_proof);
    const std::string client_key = Hmac(salted, "Client Key");
    std::string proof = Hmac(Hash(client_key), signed_words);
    for (size_t i = 0; i < proof.size(); ++i) {
      proof[i] = static_cast<char>(proof[i] ^ client_key[i]);
    }
    server_key_sum_ = Hmac(Hmac(salted, "Server Key"), signed_words);
    return fmt::format("{},p={}", without_proof, Base64Of(proof));
  }

  Result<std::optional<std::string>> Check(std::string_view server) const {
    if (const auto error = Field(server, 'e')) return Refused(*error);
    const auto sum_text = Field(server, 'v');
    const auto sum = sum_text ? FromBase64(*sum_text) : std::nullopt;
    if (!sum || sum->size() != server_key_sum_.size() ||
        CRYPTO_memcmp(sum->data(), server_key_sum_.data(), sum->size()) != 0) {
      return Refused("the server does not know the password either");
    }
    return std::nullopt;
  }

  std::string Hmac(std::string_view key, std::string_view text) const {
    std::string sum(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    HMAC(digest_, key.data(), static_cast<int>(key.size()), Bytes(text), text.size(),
         reinterpret_cast<unsigned char*>(sum.data()), &size);
    sum.resize(size);
    return sum;
  }
  std::string Hash(std::string_view text) const {
    std::string sum(EVP_MAX_MD_SIZE, '\0');
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(sum.data()), &size,
               digest_, nullptr);
    sum.resize(size);
    return sum;
  }

  const EVP_MD* digest_;
  std::string password_;
  std::string nonce_;
  std::string first_bare_;
  std::string server_key_sum_;  // what only one who knows the password's hash can say
};

}  // namespace

std::unique_ptr<SaslConversation> MakeScram(const Login& login, std::string nonce) {
  return std::make_unique<Scram>(login, std::move(nonce));
}

}  // namespace tidemark::kafka::wire
