#include "app/build_info.h"

#include "kafka/client/properties.h"

namespace tidemark::app {

BuildInfo GetBuildInfo() {
  return {TIDEMARK_VERSION, TIDEMARK_COMPILER, kafka::client::ClientVersion()};
}

}  // namespace tidemark::app
