#include "sim/plan/order.h"

#include <algorithm>

namespace mmadiff {
namespace {

std::string Text(const Pieces& ks) {
  std::string text;
  for (const Piece& piece : ks) {
    if (piece.end == piece.first) continue;
    text += (text.empty() ? "" : ",") + std::to_string(piece.first);
    if (piece.end - piece.first > 1) text += "-" + std::to_string(piece.end - 1);
  }
  return text;
}

// Pieces that touch become one.
Pieces Merged(const Pieces& ks) {
  Pieces merged;
  for (const Piece& piece : ks) {
    if (!merged.empty() && merged.back().end == piece.first) {
      merged.back().end = piece.end;
    } else {
      merged.push_back(piece);
    }
  }
  return merged;
}

std::string OrderOf(const Plan& plan, size_t stages, const Pieces& ks);

std::string OrderOfTail(const Plan& plan, size_t stages, const Pieces& ks) {
  const PlanStage& stage = plan.stages[stages - 1];
  const int64_t count = CountOf(ks), first = count - count % stage.tail;
  if (first == count) return OrderOf(plan, stages - 1, ks);
  return OrderOf(plan, stages - 1, Slice(ks, 0, first)) +
         (stage.tail_unfused ? " then *" : " then ") + Text(Merged(Slice(ks, first, count)));
}

std::string OrderOfChain(const Plan& plan, const Pieces& ks) {
  const int64_t count = CountOf(ks), residue = plan.residue, k = plan.operation->model.k;
  const int64_t first = residue == 0 ? 0 : count % residue;
  // Only a first execution that is not whole makes a difference.
  const bool apart = first % k != 0 && first != count;
  return (apart ? std::to_string(first) + " of " : "") + Text(Merged(ks));
}

bool IsTree(const PlanJoin& join) {
  return join.kind == PlanJoin::Kind::kTree || join.kind == PlanJoin::Kind::kPairs;
}

// Whether the join of stage `index` rounds on the way.
bool Rounds(const Plan& plan, size_t index) {
  // The only part of the last stage is rounded to the format of D in any case.
  const bool last = index + 1 == plan.stages.size() && plan.epilogue.is_sum();
  const auto changes = [&](const Format* f) {
    return f != nullptr && !(last && std::string_view(f->name) == plan.epilogue.format->name);
  };
  const PlanJoin& join = plan.stages[index].join;
  return changes(join.as) || changes(join.held);
}

constexpr const char* kStarts[] = {"", "0", "c", "beta*c", "fma beta*c"};

// How the join of the stage treats `parts` parts.
std::string JoinText(const PlanStage& stage, int64_t parts, bool rounds) {
  const PlanJoin& join = stage.join;
  // One addition is the same in every order, and (0 + 1) + 2 is a pair and a rest.
  const bool pairs =
      join.kind == PlanJoin::Kind::kPairs && join.distances.empty() && parts == 3 && !rounds;
  const bool adds = (IsTree(join) && parts == 2) || pairs;
  const PlanJoin::Kind kind = adds ? PlanJoin::Kind::kAdd : join.kind;
  std::string text = std::to_string(static_cast<int>(kind)) + kStarts[static_cast<int>(join.start)];
  if (IsTree(join) && !adds) {
    for (const int64_t distance : join.distances) text += " " + std::to_string(distance);
    // Lanes without products have places in a tree.
    const int64_t places = stage.range.kind == PlanRange::Kind::kStrided ? stage.range.count : 0;
    if (parts < places) text += " of " + std::to_string(places);
  }
  if (join.as != nullptr) text += std::string(" as ") + join.as->name;
  if (join.held != nullptr) text += std::string(" held ") + join.held->name;
  return text;
}

// A last join that begins with C and has one part is a result.
Plan WithoutJoinOfOnePart(Plan plan, const Pieces& ks) {
  using Start = PlanJoin::Start;
  Epilogue& e = plan.epilogue;
  const bool has_factors = e.alpha || e.beta || e.scales != Epilogue::Scales::kNone;
  if (plan.stages.empty() || has_factors) return plan;
  const PlanStage& stage = plan.stages.back();
  const PlanJoin& join = stage.join;
  const bool fused_beta = join.start == Start::kFusedBetaC;
  const bool scales_c = fused_beta || join.start == Start::kBetaC;
  const bool rounds = join.as != nullptr || join.held != nullptr;
  if (!scales_c || rounds || IsScaled(join) || PartsOf(stage.range, ks).size() != 1) return plan;
  e.alpha = join.kind != PlanJoin::Kind::kAdd;
  e.beta = true;
  e.fused = fused_beta                                 ? Epilogue::Fused::kBeta
            : join.kind == PlanJoin::Kind::kFusedAlpha ? Epilogue::Fused::kAlpha
                                                       : Epilogue::Fused::kNone;
  plan.stages.pop_back();
  return plan;
}

std::string OrderOf(const Plan& plan, size_t stages, const Pieces& ks) {
  if (stages == 0) return OrderOfChain(plan, ks);
  const PlanStage& stage = plan.stages[stages - 1];
  if (stage.tail != 0) return OrderOfTail(plan, stages, ks);
  const std::vector<Pieces> parts = PartsOf(stage.range, ks);
  const bool rounds = Rounds(plan, stages - 1);
  const bool adds = stage.join.kind == PlanJoin::Kind::kAdd || IsTree(stage.join);
  if (parts.size() <= 1 && adds && stage.join.start == PlanJoin::Start::kDefault && !rounds) {
    return OrderOf(plan, stages - 1, ks);
  }
  std::string text = JoinText(stage, std::ssize(parts), rounds) + "(";
  for (const Pieces& part : parts) text += OrderOf(plan, stages - 1, part) + ";";
  return text + ")";
}

}  // namespace

std::string OrderAt(const Plan& plan, int64_t k) {
  const Pieces kept = {{0, plan.cut == 0 ? k : k / plan.cut * plan.cut}};
  const Plan same = WithoutJoinOfOnePart(plan, kept);
  return (plan.from_c ? "from c " : "") + OrderOf(same, same.stages.size(), kept) +
         (same.epilogue.is_sum() ? "" : " | " + ResultText(same.epilogue));
}

std::vector<TreeStep> TreeStepsOf(const PlanJoin& join, int64_t places) {
  std::vector<TreeStep> steps;
  if (join.kind == PlanJoin::Kind::kTree) {
    for (; places > 1; places = steps.back().distance) steps.push_back({(places + 1) / 2, places});
  } else if (join.distances.empty()) {
    for (int64_t d = 1; d < places; d *= 2) steps.push_back({d, places});
  }
  for (const int64_t d : join.distances) steps.push_back({d, places});
  return steps;
}

}  // namespace mmadiff
