#include "corpus/stored_plans.h"

#include <cstdlib>
#include <iostream>

#include "absl/algorithm/container.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/embedded_texts.h"
#include "sim/plan/plan.h"

namespace mmadiff {
namespace {

absl::Status BadLine(absl::string_view line, absl::string_view why) {
  return absl::DataLossError(
      absl::StrCat("'", absl::CHexEscape(line.substr(0, 80)), "' is not a line of plans: ", why));
}

}  // namespace

std::string StoredPlan::name() const { return absl::StrCat(library, "@", version, " ", kernel); }

absl::StatusOr<std::vector<StoredPlan>> ParsePlans(absl::string_view text) {
  std::vector<StoredPlan> stored;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line.front() == '#') continue;
    const std::vector<std::string> c = absl::StrSplit(line, '\t');
    if (c.size() != 8 || absl::c_linear_search(c, "")) return BadLine(line, "it has not 8 columns");
    if (c[6] != "source" && c[6] != "measured") {
      return BadLine(line, "the grade is source or measured");
    }
    std::string error;
    const std::optional<Plan> plan = ParsePlan(c[5], &error);
    if (!plan) return BadLine(line, error);
    if (PlanText(*plan) != c[5]) return BadLine(line, absl::StrCat("write ", PlanText(*plan)));
    if (plan->operation->arch() != c[3]) {
      return BadLine(line,
                     absl::StrCat("the instruction is of ", std::string(plan->operation->arch())));
    }
    stored.push_back({c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]});
  }
  return stored;
}

std::span<const StoredPlan> StoredPlans() {
  static const auto& all = *[] {
    auto* plans = new std::vector<StoredPlan>;
    ForEachText(mmadiff_plans, [&](absl::string_view name, absl::string_view text) {
      auto parsed = ParsePlans(text);
      if (!parsed.ok()) {  // corpus/stored_plans_test.cc would have failed
        std::cerr << name << ": " << parsed.status().message() << "\n";
        std::abort();
      }
      absl::c_move(*parsed, std::back_inserter(*plans));
    });
    return plans;
  }();
  return all;
}

}  // namespace mmadiff
