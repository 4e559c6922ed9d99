/// What a probe asks about the settings of topics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kafka/wire/codec_internal.h"

namespace tidemark::kafka::wire {

struct DescribeConfigsResponse {
  struct Synonym {
    template <class C, class M>
    static void Fields(C& c, M&) {
      c.template Skip<std::string_view>(0);
      c.template Skip<std::optional<std::string_view>>(0);
      c.template Skip<int8_t>(0);
    }
  };
  struct Config {
    std::string_view name;
    std::optional<std::string_view> value;
    std::vector<Synonym> synonyms;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.name);
      c(0, m.value);
      c.template Skip<bool>(0);    // read-only
      c.template Skip<int8_t>(0);  // in version 0 whether it is the default, then whence it comes
      c.template Skip<bool>(0);    // sensitive
      c(1, m.synonyms);
      c.template Skip<int8_t>(3);                           // type
      c.template Skip<std::optional<std::string_view>>(3);  // documentation
    }
  };
  struct Result {
    int16_t error = 0;
    std::optional<std::string_view> error_message;
    int8_t type = 0;
    std::string_view name;
    std::vector<Config> configs;
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.error);
      c(0, m.error_message);
      c(0, m.type);
      c(0, m.name);
      c(0, m.configs);
    }
  };
  int32_t throttle_ms = 0;
  std::vector<Result> results;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.throttle_ms);
    c(0, m.results);
  }
};
struct DescribeConfigsRequest {
  using Response = DescribeConfigsResponse;
  static constexpr Api kApi{
      .key = 32, .name = "DescribeConfigs", .min = 0, .max = 4, .flexible = 4};

  static constexpr int8_t kTopic = 2;
  struct Resource {
    int8_t type = kTopic;
    std::string_view name;
    std::optional<std::vector<std::string_view>> keys;  ///< null: all
    template <class C, class M>
    static void Fields(C& c, M& m) {
      c(0, m.type);
      c(0, m.name);
      c(0, m.keys);
    }
  };
  std::vector<Resource> resources;
  template <class C, class M>
  static void Fields(C& c, M& m) {
    c(0, m.resources);
    c.template Skip<bool>(1);  // with synonyms
    c.template Skip<bool>(3);  // with documentation
  }
};

}  // namespace tidemark::kafka::wire
