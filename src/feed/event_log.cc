#include "feed/event_log.h"

namespace tidemark::feed {

std::string_view LogTopicName(LogTopic topic) {
  switch (topic) {
    case LogTopic::kEvents: return "events";
    case LogTopic::kState: return "state";
    case LogTopic::kCursor: return "cursor";
    case LogTopic::kControl: return "control";
  }
  return "";
}

}  // namespace tidemark::feed
