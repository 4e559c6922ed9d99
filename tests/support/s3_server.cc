#include "support/s3_server.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace tidemark::support {

namespace {

constexpr std::chrono::seconds kStartTimeout{90};

Status CheckInstalled(const std::string& path) {
  if (std::filesystem::exists(path)) return {};
  return Fail(ErrorKind::kNotFound,
              fmt::format("a server of the tests is missing (run scripts/bootstrap --tests): "
                          "path={}",
                          path));
}

/// A key and a certificate for 127.0.0.1 that signs itself.
Status MakeCertificate(const std::string& folder) {
  ChildOptions options;
  options.command = {"openssl",
                     "req",
                     "-x509",
                     "-newkey",
                     "ec",
                     "-pkeyopt",
                     "ec_paramgen_curve:prime256v1",
                     "-nodes",
                     "-keyout",
                     "key.pem",
                     "-out",
                     "cert.pem",
                     "-days",
                     "2",
                     "-subj",
                     "/CN=127.0.0.1",
                     "-addext",
                     "subjectAltName=IP:127.0.0.1"};
  options.folder = folder;
  TRY_ASSIGN(const auto openssl, ChildProcess::Start(options));
  TRY_ASSIGN(const int code, openssl->WaitForExit(kStartTimeout));
  if (code == 0) return {};
  return Fail(ErrorKind::kUnavailable, "openssl made no certificate: " + openssl->Output());
}

/// What the machine's own configuration says must not reach a test.
void HideUsersConfiguration() {
  ::unsetenv("AWS_SESSION_TOKEN");
  ::unsetenv("AWS_PROFILE");
  ::unsetenv("AWS_ENDPOINT_URL");
  ::unsetenv("AWS_ENDPOINT_URL_S3");
  ::unsetenv("AWS_REGION");
  ::unsetenv("AWS_DEFAULT_REGION");
  ::unsetenv("AWS_CA_BUNDLE");
  ::setenv("AWS_CONFIG_FILE", "/dev/null/none", 1);
  ::setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null/none", 1);
  ::setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
}

}  // namespace

Result<std::unique_ptr<S3Server>> S3Server::StartMoto(const std::vector<std::string>& buckets,
                                                      const std::vector<std::string>& filled,
                                                      const std::vector<std::string>& telling) {
  const std::string python = TIDEMARK_DEPS "/venv/bin/python";
  TRY(CheckInstalled(python));
  auto server = std::make_unique<S3Server>(Private());
  ChildOptions options;
  options.command = {python, TIDEMARK_TEST_SUPPORT "/moto_server.py"};
  for (const std::string& bucket : buckets) options.command.push_back("--bucket=" + bucket);
  for (const std::string& fill : filled) options.command.push_back("--fill=" + fill);
  for (const std::string& bucket : telling) options.command.push_back("--tell=" + bucket);
  options.folder = server->folder_.path();
  TRY_ASSIGN(server->process_, ChildProcess::Start(options));
  TRY_ASSIGN(const std::string line, server->process_->WaitForLine("READY ", kStartTimeout));
  std::istringstream words(line);
  std::string ready;
  words >> ready >> server->endpoint_ >> server->access_key_id_ >> server->secret_access_key_;
  return server;
}

Result<std::unique_ptr<S3Server>> S3Server::StartS3rver(const std::vector<std::string>& buckets,
                                                        bool is_tls) {
  const std::string script = TIDEMARK_DEPS "/s3rver-3.7.1/node_modules/s3rver/bin/s3rver.js";
  TRY(CheckInstalled(script));
  auto server = std::make_unique<S3Server>(Private());
  const int port = FreePort();
  ChildOptions options;
  options.command = {"node",
                     script,
                     "--directory=" + server->folder_.path(),
                     "--address=127.0.0.1",
                     fmt::format("--port={}", port),
                     "--no-vhost-buckets"};
  for (const std::string& bucket : buckets) {
    options.command.emplace_back("--configure-bucket");
    options.command.push_back(bucket);
  }
  if (is_tls) {
    TRY(MakeCertificate(server->folder_.path()));
    options.command.push_back("--key=" + server->folder_.path() + "/key.pem");
    options.command.push_back("--cert=" + server->ca_file());
  }
  TRY_ASSIGN(server->process_, ChildProcess::Start(options));
  TRY(server->process_->WaitForPort(port, kStartTimeout));
  server->endpoint_ = fmt::format("{}://127.0.0.1:{}", is_tls ? "https" : "http", port);
  // The keys that it is built with.
  server->access_key_id_ = "S3RVER";
  server->secret_access_key_ = "S3RVER";
  return server;
}

storage::StoreOptions S3Server::Options() const {
  storage::StoreOptions options;
  options.endpoint = endpoint_;
  options.region = "us-east-1";
  return options;
}

void S3Server::ExportKeys() const {
  HideUsersConfiguration();
  ::setenv("AWS_ACCESS_KEY_ID", access_key_id_.c_str(), 1);
  ::setenv("AWS_SECRET_ACCESS_KEY", secret_access_key_.c_str(), 1);
}

int S3Server::CountRequests(const std::string& beginning) const {
  std::istringstream lines(process_->Output());
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.contains('"' + beginning)) ++count;
  }
  return count;
}

}  // namespace tidemark::support
