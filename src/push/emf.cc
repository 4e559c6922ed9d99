#include "push/emf.h"

#include "push/emf_lines.h"

namespace tidemark::push {

Result<Delivery> EmfExporter::Send(const Values& values, const Budget& budget) {
  const std::string lines = EmfLines(values.points, options_.name_space, values.taken_at);
  if (options_.path == "-") {
    TRY(output_.Write(lines, budget));
  } else {
    TRY(AppendToFile(options_.path, lines));
  }
  return Delivery{};
}

}  // namespace tidemark::push
