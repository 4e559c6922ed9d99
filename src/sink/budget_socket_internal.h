/// A TCP connection that ends its waits with the budget. For clients of protocols without TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/budget.h"
#include "base/error.h"

namespace tidemark::sink {

/// Single-threaded; closed when it goes. After an error it is to be closed.
class BudgetSocket {
 public:
  BudgetSocket() = default;
  BudgetSocket(const BudgetSocket&) = delete;
  BudgetSocket& operator=(const BudgetSocket&) = delete;
  ~BudgetSocket() { Close(); }

  /// kUnavailable where nobody answers, kCancelled. Looking up the name may take longer than the
  /// budget allows: the system's own resolver cannot be stopped.
  Status Connect(const std::string& host, uint16_t port, const Budget& budget);
  void Close();
  bool is_open() const { return fd_ >= 0; }

  /// At least one byte, at most `size`. kUnavailable: the other side has closed.
  Result<size_t> Read(uint8_t* into, size_t size, const Budget& budget);
  Status Write(const uint8_t* bytes, size_t size, const Budget& budget);

 private:
  Status WaitFor(short events, const Budget& budget) const;

  int fd_ = -1;
};

}  // namespace tidemark::sink
