#include "device/absence.h"

#include "absl/strings/cord.h"

namespace mmadiff {
namespace {

constexpr char kProgram[] = "mmadiff/no_program", kAnswer[] = "mmadiff/no_answer";

}  // namespace

absl::Status NotFound(Absence absence, absl::string_view message) {
  absl::Status s = absl::NotFoundError(message);
  if (absence == Absence::kProgram) s.SetPayload(kProgram, absl::Cord());
  if (absence == Absence::kAnswer) s.SetPayload(kAnswer, absl::Cord());
  return s;
}

Absence AbsenceOf(const absl::Status& not_found) {
  return not_found.GetPayload(kProgram).has_value()  ? Absence::kProgram
         : not_found.GetPayload(kAnswer).has_value() ? Absence::kAnswer
                                                     : Absence::kInstruction;
}

}  // namespace mmadiff
