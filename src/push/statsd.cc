#include "push/statsd.h"

namespace tidemark::push {

Result<Delivery> StatsdExporter::Send(const Values& values, const Budget& budget) {
  const StatsdDatagrams lines = StatsdLines(values.points, format_);
  TRY(sender_.Send(lines.datagrams, budget));
  return Delivery{.dropped = lines.left_out};
}

}  // namespace tidemark::push
