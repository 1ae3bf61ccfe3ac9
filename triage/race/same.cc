#include "triage/race/same.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "sim/equivalence.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxChanges = 12;  // 2^12 models between the two

class Steps {
 public:
  Steps(const Model& x, const Model& y)
      : x_(x), differing_(*ChangesBetween(x.algorithm, y.algorithm)) {}

  bool Find() {
    return differing_.size() <= kMaxChanges && Follow(x_, (1u << differing_.size()) - 1);
  }
  std::vector<ProofStep> steps;

 private:
  // Continues from `model`; the parameters in `left` must still be changed.
  bool Follow(const Model& model, unsigned left) {
    if (left == 0) return true;
    if (!visited_.insert(left).second) return false;
    for (size_t i = 0; i < differing_.size(); ++i) {
      if (!(left >> i & 1)) continue;
      Model next = model;
      next.algorithm = WithChanges(model.algorithm, {&differing_[i], 1});
      if (!WhyInvalid(next).empty()) continue;
      const std::string reason = WhyEquivalent(model, next.algorithm);
      if (reason.empty()) continue;
      steps.push_back({differing_[i], reason});
      if (Follow(next, left & ~(1u << i))) return true;
      steps.pop_back();
    }
    return false;
  }

  const Model& x_;
  const std::vector<Change> differing_;
  std::set<unsigned> visited_;
};

}  // namespace

std::optional<std::vector<ProofStep>> WhySame(const Model& x, const Model& y) {
  if (x.algorithm.family != y.algorithm.family) return std::nullopt;
  if (!ChangesBetween(x.algorithm, y.algorithm)) {  // trees may be written differently
    if (WhyEquivalent(x, y.algorithm).empty()) return std::nullopt;
    return std::vector<ProofStep>();
  }
  Steps chain(x, y);
  if (!chain.Find()) return std::nullopt;
  return std::move(chain.steps);
}

std::string ProofText(const std::vector<ProofStep>& proof) {
  if (proof.empty()) return "the same model";
  const auto text = [](std::string* out, const ProofStep& step) {
    absl::StrAppend(out, Name(step.change), " on one side cannot show, because ", step.reason);
  };
  return absl::StrCat("no input distinguishes them: ", absl::StrJoin(proof, "; ", text));
}

}  // namespace mmadiff
