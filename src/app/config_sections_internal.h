/// Reading the sections of config_sections.h.
#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "app/config_sections.h"
#include "app/exporter_config.h"
#include "app/feed_config.h"
#include "app/hidden_values.h"
#include "app/mirror_config.h"
#include "app/sink_config.h"
#include "app/wake_up_config.h"
#include "app/yaml_map_internal.h"
#include "state/state_store.h"

namespace tidemark::app {

/// A path as it is meant in `file`: relative to its folder.
std::string PathIn(const std::string& file, const std::string& path);

HttpConfig ReadHttp(ConfigContext& context, const std::string& file, const YAML::Node& node);

/// What the URL took from the environment or a file goes to `hidden`.
state::StateOptions ReadState(ConfigContext& context, const std::string& file,
                              const YAML::Node& node, HiddenValues& hidden);

/// Which of `kinds` an entry of a list is: the one key that it has. nullopt after reporting that it
/// has none, several, or one that is not known. `what` is what entries are called: "exporter".
std::optional<std::string> TakeKind(ConfigContext& context, const std::string& file,
                                    const YAML::Node& entry, const std::string& path,
                                    std::span<const std::string_view> kinds, std::string_view what);

/// Remembers what the value of an address or a name took from elsewhere.
void HideLookedUp(const ConfigText& text, HiddenValues& hidden);

/// Reports a name under "cluster" that is none of `known`.
void CheckCluster(YamlMap& map, const ConfigText& name, const std::set<std::string>& known);

/// The cluster that `map` names under "cluster", one of `known`; when it names none, the only one
/// there is. Reports anything else.
std::string TakeCluster(YamlMap& map, const std::set<std::string>& known);

CoordinationConfig ReadCoordination(ConfigContext& context, const std::string& file,
                                    const YAML::Node& node, const std::set<std::string>& clusters);

ExportersConfig ReadExporters(ConfigContext& context, const std::string& file,
                              const YAML::Node& node);

WakeUpsConfig ReadWakeUps(ConfigContext& context, const std::string& file, const YAML::Node& node);

/// `clusters`: the names that are known.
FeedConfig ReadFeed(ConfigContext& context, const std::string& file, const YAML::Node& node,
                    const std::set<std::string>& clusters);

/// `feed`: the section of the publisher, whose cluster and topics count where none are given; may
/// be null.
MirrorConfig ReadMirror(ConfigContext& context, const std::string& file, const YAML::Node& node,
                        const std::set<std::string>& clusters, const FeedConfig* feed);

/// `path` names the list in messages.
SinksConfig ReadSinks(ConfigContext& context, const std::string& file, const YAML::Node& node,
                      const std::string& path);

}  // namespace tidemark::app
