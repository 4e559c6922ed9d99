/// Values that a configuration took from the environment or a file: never shown, whatever message
/// they turn up in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "kafka/partition_probe.h"

namespace tidemark::app {

/// Texts that must not appear in what is printed. Immutable once filled; then any thread.
class HiddenValues {
 public:
  /// `source` as it stands in the configuration, "${env:NAME}". Values under 4 bytes protect
  /// nothing and would be found in every second word: they are left out. Other software also quotes
  /// values in part, cut where a URL is cut, and percent-decoded: such parts are hidden as well,
  /// except words of a path or a query that anybody might use.
  void Add(std::string_view value, std::string_view source);

  /// `text` with each hidden value, and each part of one, replaced by "(from ${env:NAME})".
  std::string Hide(std::string text) const;
  Error Hide(Error error) const;
  void HideIn(kafka::ProbeResult& result) const;

 private:
  void Take(std::string_view text, std::string_view source);

  struct Entry {
    std::string value;
    std::string shown;
  };
  std::vector<Entry> entries_;  // longest first: one may be part of another
};

}  // namespace tidemark::app
