#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "app/config.h"
#include "support/config_file.h"

namespace tidemark::app {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=t
constexpr const char* kCertificate = R"(-----BEGIN CERTIFICATE-----
MIIBbjCCARWgAwIBAgIUEl0q+K3Ml9r8cMDyzo0lT+zg+ZMwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBdDAgFw0yNjEyMDExMjA4MzhaGA8yMTI2MTEwNzEyMDgzOFow
DDEKMAgGA1UEAwwBdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABF/aSYVr/3vj
qqZPlNqCVgJ/ZQ3YkE1hu3r04ZDZo+BEnBdcgq0FrOfn5ROgnYLJ0OY587Rh8KXx
iP5uCOoB1qyjUzBRMB0GA1UdDgQWBBSEARp10ryp9t2+PcVaMx8ah+H9aTAfBgNV
HSMEGDAWgBSEARp10ryp9t2+PcVaMx8ah+H9aTAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0cAMEQCICo6KlJj0lc8oQASZbSgZgpOLzqWZu2dLjJhNFisgM0T
AiBE703PmjlCOEihQcAeePrzHCzPdAzp8j54+UR/P2bwzQ==
-----END CERTIFICATE-----
)";
constexpr const char* kKey = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIjHZiTVi3avJ1/zr
GXBHZrgiRUL0Ndy+N7XHXFidt06hRANCAARf2kmFa/9746qmT5TaglYCf2UN2JBN
Ybt69OGQ2aPgRJwXXIKtBazn5+UToJ2CydDmOfO0YfCl8Yj+bgjqAdas
-----END PRIVATE KEY-----
)";
constexpr const char* kKeyOfAnother = R"(-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgF9KK7iF/U2MrpS1l
+VJzhhmqkoMseLL0XOfdljq1L0ChRANCAAQWsB7Y0Z/GDnFH8Tn9YWEcEiHvUsoy
I+3AGgWXVirPSU9fAkDppca+wpkJX+ZLVnuU9cJSOUx3v5Sw+xXfjqc0
-----END PRIVATE KEY-----
)";
// openssl pkcs8 -topk8 -passout pass:word
constexpr const char* kKeyWithPassword = R"(-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjIt/XWKWET9wICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEDMvzJ++51Sep7wtnmPFGkYEgZBt
OCfT704Y+4j9Y06dkJ/3BvrnnYkCevdhKpYjnX3/QH37/HAlL5H5nVu1sFdC5pP9
3lA/YQWH+2OwzKKwtlPltEdh2GXDfIcf4KU2aJUQrPd0go3T+wHFwNOv6f22sLgV
LG+vIv9ST6NLwaI342MCj9DtuyCI2pfxnGNhInTFB2yCFaryNSCkL2NrjOYTs0g=
-----END ENCRYPTED PRIVATE KEY-----
)";

class NamedFilesTest : public ::testing::Test {
 protected:
  NamedFilesTest() { file_.sources.named_files = NamedFiles::kOfAll; }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(file_.PathOf(name)) << text;
  }
  std::vector<std::string> Mistakes(const std::string& text) const { return file_.Mistakes(text); }

  support::ConfigFile file_{{{"TOKENS", "hidden/place"}}};
};

constexpr const char* kHttp = R"(http:
  tls: { certificate: cert.pem, key: key.pem }
  auth: { bearer_tokens_file: tokens }
)";

TEST_F(NamedFilesTest, EachThatIsMissingIsToldAtItsPlaceBesideEveryOtherMistake) {
  EXPECT_THAT(Mistakes(std::string(kHttp) + "pipelines: 3\n"),
              ElementsAre(HasSubstr("2:23: http.tls.certificate: '" + file_.PathOf("cert.pem") +
                                    "' cannot be read: No such file"),
                          HasSubstr("2:38: http.tls.key: '" + file_.PathOf("key.pem") +
                                    "' cannot be read: No such file"),
                          HasSubstr("3:31: http.auth.bearer_tokens_file: '" +
                                    file_.PathOf("tokens") + "' cannot be read: No such file"),
                          HasSubstr("4:12: pipelines")));
}

TEST_F(NamedFilesTest, WhatIsThereAndGoodIsNoMistake) {
  Write("cert.pem", kCertificate);
  Write("key.pem", kKey);
  Write("tokens", "one\n");
  EXPECT_THAT(Mistakes(kHttp), IsEmpty());
}

TEST_F(NamedFilesTest, WhatHoldsNothingOfUseIsAMistakeThatQuotesNothingOfIt) {
  Write("cert.pem", "s3cr3t");
  Write("key.pem", "");
  Write("tokens", " \n");
  EXPECT_THAT(Mistakes(kHttp),
              ElementsAre(AllOf(HasSubstr("certificate: '"), HasSubstr("holds not a certificate"),
                                Not(HasSubstr("s3cr3t"))),
                          AllOf(HasSubstr("key: '"), HasSubstr("is empty")),
                          HasSubstr("there is no bearer token in the file")));
  Write("cert.pem", kCertificate);
  Write("key.pem", kKeyWithPassword);
  Write("tokens", "one");
  EXPECT_THAT(Mistakes(kHttp),
              ElementsAre(HasSubstr("holds not a private key in PEM without a password")));
}

TEST_F(NamedFilesTest, AKeyOfAnotherCertificateIsAMistakeOfTheKey) {
  Write("cert.pem", kCertificate);
  Write("key.pem", kKeyOfAnother);
  Write("tokens", "one");
  EXPECT_THAT(Mistakes(kHttp), ElementsAre(AllOf(HasSubstr("2:38: http.tls.key"),
                                                 HasSubstr("is not the key of the certificate"))));
}

TEST_F(NamedFilesTest, AFolderIsNoFile) {
  EXPECT_THAT(Mistakes("http: { auth: { bearer_tokens_file: . } }"),
              ElementsAre(HasSubstr("Is a directory")));
}

TEST_F(NamedFilesTest, APathFromElsewhereIsNotRepeated) {
  EXPECT_THAT(Mistakes("http: { auth: { bearer_tokens_file: \"${env:TOKENS}\" } }"),
              ElementsAre(AllOf(HasSubstr("'(from ${env:TOKENS})' cannot be read: No such file"),
                                Not(HasSubstr("hidden/place")))));
}

TEST_F(NamedFilesTest, TheFilesOfClustersStoresReceiversAndSinksAreMeant) {
  Write("junk.pem", "junk");
  const auto mistakes = Mistakes(R"(clusters:
  main:
    bootstrap_servers: "b:9092"
    properties:
      ssl.ca.location: /no/such/ca.pem
      ssl.certificate.location: /no/such/cert.pem
      ssl.keystore.location: /no/such/keystore
      sasl.password: /no/such/password
stores:
  google: { match: "gs://*", credentials_file: reader.json }
exporters:
  - otlp: { endpoint: "https://c:4318", tls: { ca: ca.pem, certificate: junk.pem, key: me.key } }
mirror:
  sinks:
    - doris: { host: d, catalog: lake, tls: true, ca_file: junk.pem }
)");
  EXPECT_THAT(mistakes,
              ElementsAre(HasSubstr("5:24: clusters.main.properties.ssl.ca.location: "
                                    "'/no/such/ca.pem' cannot be read"),
                          HasSubstr("6:33: clusters.main.properties.ssl.certificate.location"),
                          HasSubstr("7:30: clusters.main.properties.ssl.keystore.location"),
                          HasSubstr("10:48: stores.google.credentials_file"),
                          HasSubstr("12:52: exporters[0].otlp.tls.ca: "),
                          HasSubstr("12:73: exporters[0].otlp.tls.certificate: "),
                          HasSubstr("12:88: exporters[0].otlp.tls.key: "),
                          HasSubstr("15:60: mirror.sinks[0].doris.ca_file: ")));
}

TEST_F(NamedFilesTest, AuthoritiesMayBeAFolderOrTheSystemsOwn) {
  for (const std::string place : {"/", "probe"}) {
    EXPECT_THAT(Mistakes("clusters: { main: { bootstrap_servers: \"b:1\", properties: { "
                         "ssl.ca.location: \"" +
                         place + "\" } } }"),
                IsEmpty());
  }
}

TEST_F(NamedFilesTest, AKeyMayStandBesideItsCertificate) {
  Write("both.pem", std::string(kKey) + kCertificate);
  const std::string exporter = R"(exporters: [ { otlp: { endpoint: "https://c:4318", tls: { )";
  EXPECT_THAT(Mistakes(exporter + "certificate: both.pem } } } ]"), IsEmpty());
  Write("both.pem", kCertificate);
  EXPECT_THAT(Mistakes(exporter + "certificate: both.pem } } } ]"),
              ElementsAre(HasSubstr("tls.certificate: '" + file_.PathOf("both.pem") +
                                    "' holds not a private key")));
}

TEST_F(NamedFilesTest, WhoDoesNotUseThemIsNotStopped) {
  const std::string cluster =
      "clusters: { main: { bootstrap_servers: \"b:1\", properties: { ssl.ca.location: /no/ca } } }";
  file_.sources.named_files = NamedFiles::kOfNone;
  EXPECT_THAT(Mistakes(kHttp + cluster), IsEmpty());
  file_.sources.named_files = NamedFiles::kOfClustersAndStores;
  EXPECT_THAT(Mistakes(kHttp + cluster), ElementsAre(HasSubstr("ssl.ca.location")));
}

TEST_F(NamedFilesTest, WhatWasRefusedIsReadAgainWhenTheFileIsMended) {
  const LoadedConfig refused = file_.Load("http: { auth: { bearer_tokens_file: tokens } }");
  EXPECT_FALSE(refused.config.has_value());
  EXPECT_EQ(refused.files, refused.files.Now());
  Write("tokens", "one");
  EXPECT_NE(refused.files, refused.files.Now());
}

}  // namespace
}  // namespace tidemark::app
