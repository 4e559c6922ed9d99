#include "cli/doctor_json.h"

#include <nlohmann/json.hpp>

namespace tidemark::cli {

std::string DoctorJson(std::span<const app::Diagnosis> diagnoses) {
  using Json = nlohmann::ordered_json;
  Json subjects = Json::array();
  for (const app::Diagnosis& diagnosis : diagnoses) {
    Json checks = Json::array();
    for (const app::DoctorCheck& check : diagnosis.checks) {
      checks.push_back({{"name", check.name},
                        {"outcome", CheckOutcomeName(check.outcome)},
                        {"detail", check.detail},
                        {"cure", check.cure.empty() ? Json() : Json(check.cure)}});
    }
    subjects.push_back({{"subject", diagnosis.subject},
                        {"table", diagnosis.table},
                        {"checks", std::move(checks)}});
  }
  const Json root = {{"schema", "tidemark.doctor/1"}, {"subjects", std::move(subjects)}};
  // Names come from tables and brokers: bytes that are no UTF-8 must not break the document.
  return root.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tidemark::cli
