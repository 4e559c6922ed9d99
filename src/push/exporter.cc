#include "push/exporter.h"

namespace tidemark::push {

Status Exporter::Retire(const Budget& budget) {
  (void)budget;
  return {};
}

}  // namespace tidemark::push
