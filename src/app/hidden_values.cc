#include "app/hidden_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tidemark::app {

namespace {

constexpr size_t kHiddenBytesMin = 4;

}  // namespace

void HiddenValues::Add(std::string_view value, std::string_view source) {
  if (value.size() < kHiddenBytesMin) return;
  entries_.push_back({std::string(value), fmt::format("(from {})", source)});
  std::ranges::stable_sort(entries_, std::ranges::greater{},
                           [](const Entry& entry) { return entry.value.size(); });
}

std::string HiddenValues::Hide(std::string text) const {
  for (const Entry& entry : entries_) {
    for (size_t at = text.find(entry.value); at != text.npos;
         at = text.find(entry.value, at + entry.shown.size())) {
      text.replace(at, entry.value.size(), entry.shown);
    }
  }
  return text;
}

Error HiddenValues::Hide(Error error) const {
  error.message = Hide(std::move(error.message));
  return error;
}

void HiddenValues::HideIn(kafka::ProbeResult& result) const {
  if (entries_.empty()) return;
  for (auto& topic : result.topics) topic.fault_message = Hide(std::move(topic.fault_message));
  for (auto& facts : result.partitions) facts.fault_message = Hide(std::move(facts.fault_message));
}

}  // namespace tidemark::app
