#include "fuzz/survey/trap.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fuzz/cases/case_name.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

// Alone, in a new process.
constexpr char kSurvived[] = "no input that is known: it survives zeros and, asked alone, the ";

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

std::string SmallestTrap(const TrappedInput& input, const Survives& survives) {
  const SurveyTask& task = input.task;
  const auto traps = [&](const std::string& detail) {
    return !survives({SurveyStage::kTrap, task.op, task.variant, 0, detail});
  };
  if (traps("zeros")) return "one execution with every operand +0";
  if (task.stage == SurveyStage::kRun) {
    const CaseStream stream = {FindOperation(task.op), &Strategies().front(), input.seed};
    const auto part = [&](uint64_t first, uint64_t count) {
      return traps(absl::StrCat(FormatCaseName({stream, first}), ":", count));
    };
    uint64_t first = input.unit.first, count = input.unit.count;
    if (input.hangs || !part(first, count)) {
      return absl::StrCat(input.hangs ? "" : kSurvived, count, " cases from ",
                          FormatCaseName({stream, first}), " on");
    }
    Halve(first, count, part);
    return absl::StrCat(count == 1 ? "" : absl::StrCat(count, " cases from "),
                        FormatCaseName({stream, first}));
  }
  const std::vector<std::string>& lines = input.lines;
  if (lines.empty()) return absl::StrCat("unknown inputs of the ", Name(task.stage));
  const auto part = [&](uint64_t first, uint64_t count) {
    const auto at = lines.begin() + static_cast<std::ptrdiff_t>(first);
    return traps(absl::StrJoin(at, at + static_cast<std::ptrdiff_t>(count), "\n"));
  };
  uint64_t first = 0, count = lines.size();
  if (input.hangs || !part(first, count)) {
    return absl::StrCat(input.hangs ? "" : kSurvived, count, " dot products, the first ",
                        lines.front());
  }
  Halve(first, count, part);
  return absl::StrCat(count == 1 ? "" : absl::StrCat(count, " dot products, the first "),
                      lines[first]);
}

}  // namespace mmadiff
