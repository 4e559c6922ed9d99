/// `emf:` CloudWatch's embedded metric format, to standard output or a file that an agent follows.
#pragma once

#include <string>

#include "push/exporter.h"
#include "push/line_output.h"

namespace tidemark::push {

struct EmfOptions {
  std::string path = "-";  ///< "-": standard output
  std::string name_space = "tidemark";

  friend bool operator==(const EmfOptions&, const EmfOptions&) = default;
};

/// Lines are added to the file, which is opened anew each time, so that it may be rotated. A line
/// that did not get written whole is taken back. A slow reader of standard output costs at most the
/// budget.
class EmfExporter final : public Exporter {
 public:
  explicit EmfExporter(const EmfOptions& options) : options_(options) {}
  Result<Delivery> Send(const Values& values, const Budget& budget) override;

 private:
  EmfOptions options_;
  StandardOutputLines output_;
};

}  // namespace tidemark::push
