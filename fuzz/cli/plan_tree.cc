#include "fuzz/cli/plan_tree.h"

#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/plan/tree_of_plan.h"
#include "sim/tree/model_text.h"

namespace mmadiff {
namespace {

struct PlanTree {
  std::string plan;
  int64_t k;
  std::string model;
};
Fields<PlanTree> FieldsOf(const PlanTree*) {
  return {
      {"plan", &PlanTree::plan},
      {"k", &PlanTree::k},
      {"model", &PlanTree::model, "a file for --model"},
  };
}

absl::Status WhyNotTreeFlags(const MatrixFlags& matrices, const ShapeFlags& shapes) {
  if (!matrices.a.empty() || !shapes.device.empty()) {
    return absl::InvalidArgumentError("--tree takes neither files nor --device");
  }
  if (shapes.k.size() != 1 || !shapes.m.empty() || !shapes.n.empty()) {
    return absl::InvalidArgumentError("--tree needs --k, one number, and neither --m nor --n");
  }
  return absl::OkStatus();
}

}  // namespace

Schema SchemaOfPlanTree() { return SchemaOf<PlanTree>(); }

absl::Status PrintPlanTree(const std::string& text, const MatrixFlags& matrices,
                           const ShapeFlags& shapes, Call& call) {
  RETURN_IF_ERROR(WhyNotTreeFlags(matrices, shapes));
  int64_t k = 0;
  if (!absl::SimpleAtoi(shapes.k[0], &k)) {
    return absl::InvalidArgumentError(absl::StrCat("--k=", shapes.k[0], ": --tree needs a number"));
  }
  std::string why;
  const std::optional<Plan> plan = ParsePlan(text, &why);
  if (!plan) return absl::InvalidArgumentError(why);
  const MatrixFlags given;  // beta is 0 if it is not given, but then a tree adds C
  const PlanFactors ones = {.alpha = matrices.alpha == "1",
                            .beta = matrices.beta == "1" || matrices.beta == given.beta};
  const std::optional<Model> tree = TreeOfPlan(*plan, k, &why, ones);
  if (!tree) {
    return absl::InvalidArgumentError(absl::StrCat("no tree at k = ", k, ": ", why));
  }
  const PlanTree result = {PlanText(*plan), k, ModelFileText(*tree)};
  call.Print(result, [&] { return result.model; });
  return absl::OkStatus();
}

}  // namespace mmadiff
