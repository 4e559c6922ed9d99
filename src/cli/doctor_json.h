/// The doctor's findings for programs.
#pragma once

#include <span>
#include <string>

#include "app/doctor.h"

namespace tidemark::cli {

/// {"schema":"tidemark.doctor/1","subjects":[{"subject","table","checks":[{"name","outcome","detail","cure"}]}]}
/// `cure` is null when there is nothing to do. One object, no line end.
std::string DoctorJson(std::span<const app::Diagnosis> diagnoses);

}  // namespace tidemark::cli
