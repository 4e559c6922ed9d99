/// A queue of Amazon SQS, through which a bucket says what has come about in it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/budget.h"
#include "base/error.h"
#include "storage/aws_json.h"

namespace tidemark::storage {

/// Messages of one request at most, to receive and to delete (SQS API reference, version
/// 2012-11-05: ReceiveMessage, DeleteMessageBatch).
inline constexpr size_t kSqsBatchMax = 10;
/// The longest that a request may wait for a message (the same).
inline constexpr std::chrono::seconds kSqsWaitMax{20};

struct SqsQueueOptions {
  std::string url;         ///< as ParseSqsQueueUrl takes it
  std::string region{};    ///< empty: that of the URL, else as for every service of AWS
  std::string endpoint{};  ///< empty: AWS_ENDPOINT_URL_SQS, AWS_ENDPOINT_URL, else the URL's own
  std::chrono::seconds wait = kSqsWaitMax;  ///< for a message

  friend bool operator==(const SqsQueueOptions&, const SqsQueueOptions&) = default;
};

/// "https://sqs.eu-west-1.amazonaws.com/123456789012/lake" taken apart.
struct SqsQueueUrl {
  std::string origin;  ///< "https://sqs.eu-west-1.amazonaws.com"
  std::string region;  ///< "eu-west-1"; empty when the host does not name one
  std::string name;    ///< "lake"

  friend bool operator==(const SqsQueueUrl&, const SqsQueueUrl&) = default;
};

/// kInvalidArgument for what is no URL of a queue: http or https, a host, and at least an account
/// and a name as the last two parts of its path. Credentials in it are not repeated in the message.
Result<SqsQueueUrl> ParseSqsQueueUrl(std::string_view url);

struct SqsMessage {
  std::string receipt;  ///< what it is deleted by
  std::string body;

  friend bool operator==(const SqsMessage&, const SqsMessage&) = default;
};

/// The answer to ReceiveMessage; empty when none has come. kCorrupt for what is no such answer.
Result<std::vector<SqsMessage>> ParseSqsMessages(std::string_view answer);
/// The answer to DeleteMessageBatch: kUnavailable when one or more could not be deleted, with their
/// number and the first one's code; kCorrupt for what is no such answer.
Status CheckSqsDeletion(std::string_view answer);

/// Tries once: when to try again is the caller's. Messages of errors name the operation, the queue
/// only where the service does. kDenied, kNotFound, kUnavailable, kCorrupt, kCancelled, else
/// kInvalidArgument. Any thread.
class SqsQueue {
  /// Only Make() may construct it.
  class Private {
    friend class SqsQueue;
    Private() = default;
  };

 public:
  /// Credentials are those of the usual places, as for S3. kInvalidArgument for an address that is
  /// none.
  static Result<std::unique_ptr<SqsQueue>> Make(const SqsQueueOptions& options);
  explicit SqsQueue(Private) {}

  /// Waits for the first message as long as the options say. What is received comes again later
  /// unless it is deleted; also otherwise a message may come twice, and in any order.
  Result<std::vector<SqsMessage>> Receive(const Budget& budget);
  /// In batches; after one that fails the rest is left.
  Status Delete(std::span<const SqsMessage> messages, const Budget& budget);
  /// Messages that wait, about. Needs a right of its own, sqs:GetQueueAttributes.
  Result<uint64_t> CountWaiting(const Budget& budget);

 private:
  Result<std::string> Call(std::string_view operation, const std::string& body,
                           const Budget& budget);

  SqsQueueOptions options_;
  std::unique_ptr<AwsJsonService> service_;
};

}  // namespace tidemark::storage
