#include "sim/plan/why_no_plan.h"

#include <algorithm>

#include "sim/chain.h"

namespace mmadiff {
namespace {

bool FitDistances(const PlanStage& stage) {
  std::vector<int64_t> distances = stage.join.distances;
  if (distances.empty()) return true;
  std::ranges::sort(distances);
  for (size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] != int64_t{1} << i) return false;
  }
  return stage.range.kind == PlanRange::Kind::kStrided &&
         stage.range.count == int64_t{1} << distances.size();
}

std::string WhyNoOperationOf(const Plan& plan) {
  const Model& m = plan.operation->model;
  const std::string& name = plan.operation->name;
  if (m.algorithm.family == Family::kNone) return name + " has no model";
  if (std::string why = WhyNoChain(m, 2); !why.empty() && m.k < kMaxK) {
    return name + " cannot be chained along k: " + why;
  }
  if (plan.operation->instruction->sparse())
    return name + " is sparse; plans are for dense matrices";
  const auto unfused_tail = [](const PlanStage& s) { return s.tail_unfused; };
  const bool unfuses = plan.unfused || std::ranges::any_of(plan.stages, unfused_tail);
  if (unfuses && (m.algorithm.family != Family::kFmaChain || m.k != 1)) {
    return name + " is not a single multiply-add, so it has no unfused form";
  }
  return "";
}

std::string WhyNoIntegerSums(const Plan& plan) {
  const Format& sums = plan.operation->model.d;
  if (std::string_view(plan.epilogue.format->name) != sums.name || !plan.epilogue.is_sum()) {
    return "integer sums keep their format " + std::string(sums.name) + " and need no result";
  }
  const auto adds = [](const PlanStage& s) {
    return s.join.kind == PlanJoin::Kind::kAdd && s.join.as == nullptr && s.join.held == nullptr &&
           !BeginsWithC(s.join);
  };
  return std::ranges::all_of(plan.stages, adds) ? "" : "integer sums can only be added";
}

// For sums in a floating-point format.
std::string WhyNoJoin(const PlanJoin& join, const Format& sums) {
  const bool tree = join.kind == PlanJoin::Kind::kTree || join.kind == PlanJoin::Kind::kPairs;
  if (tree && join.start != PlanJoin::Start::kDefault) {
    return "a tree has no first sum: leave out \"from\"";
  }
  if (join.start == PlanJoin::Start::kFusedBetaC && join.kind != PlanJoin::Kind::kAdd &&
      join.kind != PlanJoin::Kind::kAlpha) {
    return "\"from fma beta*c\" is for add and add alpha: others have a product of their own";
  }
  for (const Format* f : {join.as, join.held}) {
    if (f == nullptr || !IsInteger(*f)) continue;
    return std::string("sums in ") + sums.name + " cannot be rounded to " + f->name;
  }
  return "";
}

bool OnlyLastBeginsWithC(const Plan& plan) {
  bool last = true;
  for (auto stage = plan.stages.rbegin(); stage != plan.stages.rend(); ++stage) {
    if (!last && BeginsWithC(stage->join)) return false;
    if (stage->tail == 0) last = false;
  }
  return true;
}

std::string WhyNoFormat(const Plan& plan) {
  const Format &sums = plan.operation->model.d, &d = *plan.epilogue.format;
  if (IsInteger(d)) return "sums in " + std::string(sums.name) + " do not become integers";
  const bool changes = !plan.epilogue.is_sum() || !plan.stages.empty();
  if (changes && sums.bits == 16 && std::string_view(sums.name) != d.name) {
    return "sums in " + std::string(sums.name) + " must keep that format";
  }
  return "";
}

}  // namespace

std::string WhyNoPlan(const Plan& plan) {
  if (std::string why = WhyNoOperationOf(plan); !why.empty()) return why;
  if (!std::ranges::all_of(plan.stages, FitDistances)) {
    return "\"pairs D...\" joins ranges \"strided S of G\": each power of two below S once";
  }
  if (plan.from_c && !plan.stages.empty()) return "\"from c\" allows no stage that joins";
  if (!OnlyLastBeginsWithC(plan)) return "only the last join may begin with C";
  const Format& sums = plan.operation->model.d;
  if (IsInteger(sums)) return WhyNoIntegerSums(plan);
  for (const PlanStage& s : plan.stages) {
    if (std::string why = WhyNoJoin(s.join, sums); !why.empty()) return why;
  }
  return WhyNoFormat(plan);
}

}  // namespace mmadiff
