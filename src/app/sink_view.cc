#include "app/sink_view.h"

#include <utility>

#include "api/change_json.h"
#include "lake/hudi/partitions.h"

namespace tidemark::app {

void FillFromProperties(const lake::hudi::TableProperties& properties, sink::TableNow& now) {
  const auto identity = api::IdentityOf(now.view.identity.base_path, properties);
  now.view.identity.database = identity.database;
  now.view.table_name = properties.name;
  now.view.type = properties.type;
  now.view.partition_columns = lake::hudi::PartitionColumns(properties);
  for (auto& each : now.partitions)
    for (auto& value : lake::hudi::PartitionValues(each.partition.path, properties))
      each.partition.values.push_back(std::move(value.value));
}

}  // namespace tidemark::app
