#include "fuzz/survey/trap.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fuzz/cases/case_name.h"
#include "fuzz/survey/schedule.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// The smallest part [first, first + count) that traps still; `traps` says so of a part. Halves, as
// long as one of them does.
template <typename Traps>
void Halve(uint64_t& first, uint64_t& count, const Traps& traps) {
  while (count > 1) {
    const uint64_t half = count / 2;
    if (traps(first, half)) {
      count = half;
    } else if (traps(first + half, count - half)) {
      first += half;
      count -= half;
    } else {
      return;
    }
  }
}

}  // namespace

std::string SmallestTrap(const SurveyManifest& manifest, const SurveyTask& task,
                         const std::vector<std::string>& asked, bool hangs,
                         const Survives& survives) {
  const auto traps = [&](const std::string& detail) {
    return !survives({SurveyStage::kTrap, task.op, task.variant, 0, detail});
  };
  if (traps("zeros")) return "one execution with every operand +0";
  if (task.stage == SurveyStage::kRun) {
    const auto& all = manifest.instructions;
    const auto i = std::find_if(all.begin(), all.end(),
                                [&](const auto& each) { return each.name == task.op; });
    if (i == all.end()) return "";
    SurveyUnit unit = UnitOfRun(manifest, *i, task.number);
    const CaseStream stream = {FindOperation(task.op), &Strategies().front(), manifest.seed};
    const auto name = [&](uint64_t first, uint64_t count) {
      return absl::StrCat(FormatCaseName({stream, first}), ":", count);
    };
    const auto part = [&](uint64_t first, uint64_t count) { return traps(name(first, count)); };
    if (hangs || !part(unit.first, unit.count)) {
      return absl::StrCat("the ", unit.count, " cases from ", FormatCaseName({stream, unit.first}),
                          " on, together");
    }
    Halve(unit.first, unit.count, part);
    return absl::StrCat(unit.count == 1 ? "" : absl::StrCat(unit.count, " cases from "),
                        FormatCaseName({stream, unit.first}));
  }
  if (asked.empty()) return absl::StrCat("unknown inputs of the ", Name(task.stage));
  const auto lines = [&](uint64_t first, uint64_t count) {
    return absl::StrJoin(asked.begin() + static_cast<std::ptrdiff_t>(first),
                         asked.begin() + static_cast<std::ptrdiff_t>(first + count), "\n");
  };
  const auto part = [&](uint64_t first, uint64_t count) { return traps(lines(first, count)); };
  uint64_t first = 0, count = asked.size();
  if (hangs || !part(first, count)) {
    return absl::StrCat(count, " dot products together, the first ", asked.front());
  }
  Halve(first, count, part);
  return absl::StrCat(count == 1 ? "" : absl::StrCat(count, " dot products, the first "),
                      asked[first]);
}

}  // namespace mmadiff
