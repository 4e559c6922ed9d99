/// Maintenance windows: weekly times, in a named zone, in which a pipeline's silence is wanted.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace tidemark::app {

/// "Sat 02:00-04:00 Europe/Berlin", "Sat,Sun 23:30-01:00 UTC", "daily 02:00-02:15 UTC", "Mon-Fri
/// 22:00-24:00 UTC".
///
/// Days are those on which the window opens; an end at or before the start lies on the next day.
/// The start is inclusive, the end exclusive, both in local civil time of the zone (an IANA name),
/// so a window moves with daylight saving. Immutable.
class MaintenanceWindow {
 public:
  /// kInvalidArgument names the part that is wrong and shows the form.
  static Result<MaintenanceWindow> Parse(std::string_view text);

  bool Contains(WallTime time) const;
  const std::string& text() const { return text_; }

  friend bool operator==(const MaintenanceWindow&, const MaintenanceWindow&) = default;

 private:
  std::string text_;
  std::string zone_;
  unsigned days_ = 0;       ///< bit 0 is Monday
  int start_minute_ = 0;    ///< of the day, 0-1439
  int length_minutes_ = 0;  ///< 1-1440
};

}  // namespace tidemark::app
