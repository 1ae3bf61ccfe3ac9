// Texts of plans: a printed plan is the same plan, and its ranges have every k once.
#include "fuzz/targets/input.h"
#include "sim/plan/plan.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 1000) return 0;
  std::string error;
  const std::optional<mmadiff::Plan> plan =
      mmadiff::ParsePlan(std::string(Text(data, size)), &error);
  Check(plan.has_value() == error.empty());
  if (!plan) return 0;
  const std::optional<mmadiff::Plan> again = mmadiff::ParsePlan(PlanText(*plan), &error);
  Check(again.has_value() && *again == *plan);
  const mmadiff::Pieces ks = {{0, 50}, {60, 65}};
  for (const mmadiff::PlanStage& stage : plan->stages) {
    int64_t count = 0, sum = 0;
    for (const mmadiff::Pieces& part : PartsOf(stage.range, ks)) {
      Check(!part.empty());
      for (const mmadiff::Piece& piece : part) {
        for (int64_t k = piece.first; k < piece.end; ++k) ++count, sum += k;
      }
    }
    Check(count == 55 && sum == 49 * 50 / 2 + 62 * 5);
  }
  return 0;
}
