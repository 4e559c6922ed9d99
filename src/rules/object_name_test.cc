#include "rules/object_name.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace tidemark::rules {
namespace {

/// RFC 1123, as Kubernetes checks a DNS label.
bool IsDnsLabel(std::string_view name) {
  const auto is_inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  return !name.empty() && name.size() <= 63 && name.front() != '-' && name.back() != '-' &&
         std::ranges::all_of(name, is_inner);
}

TEST(ObjectNameTest, APlainNameStaysAsItIs) {
  EXPECT_EQ(ObjectNameOf("orders"), "freshness-orders");
  EXPECT_EQ(ObjectNameOf("orders-eu-1"), "freshness-orders-eu-1");
}

// Once given, a name stays: the digits are FNV-1a of the pipeline's bytes, as any tool computes it.
TEST(ObjectNameTest, LettersAreLoweredInTheNameAndNotInTheHash) {
  EXPECT_EQ(ObjectNameOf("Orders"), "freshness-orders-e87b30a62af9");
  EXPECT_EQ(ObjectNameOf("ORDERS"), "freshness-orders-68e54a4c57b1");
  EXPECT_EQ(ObjectNameOf("orders.EU"), "freshness-orders-eu-9ede99f64baf");
}

TEST(ObjectNameTest, NamesThatLookAlikeStayApart) {
  const std::vector<std::string> pipelines = {"orders",
                                              "Orders",
                                              "ORDERS",
                                              "orders ",
                                              "orders.",
                                              "orders_",
                                              "größe",
                                              "groesse",
                                              "注文",
                                              "订单",
                                              ".",
                                              "..",
                                              "a-b",
                                              "a_b",
                                              "a.b",
                                              "-a-b",
                                              "a--b",
                                              std::string(53, 'a'),
                                              std::string(54, 'a'),
                                              std::string(200, 'a'),
                                              std::string(201, 'a')};
  std::set<std::string> names;
  for (const std::string& pipeline : pipelines) {
    const std::string name = ObjectNameOf(pipeline);
    EXPECT_TRUE(IsDnsLabel(name)) << name;
    EXPECT_TRUE(names.insert(name).second) << pipeline << " -> " << name;
  }
  EXPECT_EQ(ObjectNameOf(std::string(53, 'a')), "freshness-" + std::string(53, 'a'));
}

}  // namespace
}  // namespace tidemark::rules
