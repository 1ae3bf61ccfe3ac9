#include "triage/probe/repeat.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "triage/probe/layout.h"

namespace mmadiff {
namespace {

constexpr int64_t kCases = 16, kRuns = 2, kExecutions = 2;

// Every element of `count` executions computes the same dot product.
Batch Everywhere(const Operation& op, const DotProductCase& dot, int64_t count) {
  Batch batch;
  batch.Resize(op.shape(), count);
  const auto fill = [](std::vector<uint64_t>& all, const std::vector<uint64_t>& line) {
    for (size_t i = 0; i < all.size(); ++i) all[i] = line[i % line.size()];
  };
  fill(batch.a, dot.a);
  fill(batch.b, dot.b);
  fill(batch.c, {dot.c});
  fill(batch.metadata, dot.metadata);
  return batch;
}

std::vector<DotProductCase> Cases(const Operation& op) {
  std::vector<DotProductCase> cases;
  Batch tile;
  for (int64_t index = 0; index < kCases && GenerateClass(op, "*", index, tile); ++index) {
    cases.push_back(Extract(tile, index % tile.dot_products()));
  }
  return cases;
}

// Runs a batch in which `each` consecutive elements compute the same dot product. `first` has the
// first answers of the dot products, alone or in an execution. False if a dot product has two
// answers.
absl::StatusOr<bool> Ask(Device& device, const Operation& op, const Batch& batch,
                         std::span<const DotProductCase> dots, size_t each,
                         std::span<std::optional<uint64_t>> first, ProbeAnswer& answer) {
  for (int run = 0; run < kRuns; ++run) {
    ASSIGN_OR_RETURN(const std::vector<uint64_t> d, device.Run(op, batch));
    for (size_t i = 0; i < dots.size(); ++i) {
      if (first[i].has_value()) continue;
      first[i] = d[i * each];
      answer.observed.push_back({dots[i], *first[i]});
    }
    answer.cases += d.size();
    for (size_t i = 0; i < d.size(); ++i) {
      if (d[i] == *first[i / each]) continue;
      const Format& f = *op.instruction->d;
      const Position p = PositionOf(batch.shape, static_cast<int64_t>(i) % batch.shape.d_words());
      answer.answer =
          absl::StrCat("two answers: ", HexWord(f, *first[i / each]), " and ", HexWord(f, d[i]),
                       " in block ", p.block, ", row ", p.i, ", column ", p.j, ", run ", run);
      answer.agreement = Agreement::kContradicts;
      answer.decides = "not a function of the operands: its other answers are in doubt";
      answer.refuting = {dots[i / each], d[i]};
      return false;
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<ProbeAnswer> AskRepeat(Device& device, const Operation& op,
                                      const Question& question) {
  ProbeAnswer answer = {.question = &question, .decides = "agrees"};
  const std::vector<DotProductCase> cases = Cases(op);
  const auto alone = static_cast<int64_t>(cases.size()) * kExecutions * kRuns;
  std::vector<std::optional<uint64_t>> first(cases.size());
  bool one = true;      // there is one answer
  int64_t longest = 0;  // batch, in dot products
  const auto asked = AskShapes(
      device, op, alone, alone * op.shape().d_words(), [&](const Shape& shape) -> absl::Status {
        if (shape != op.shape()) {
          std::vector<DotProductCase> lines;
          for (const DotProductCase& dot : cases) lines.insert(lines.end(), kExecutions, dot);
          longest = static_cast<int64_t>(lines.size());
          const auto same = Ask(device, op, MakeDotProductBatch(op.shape(), lines), cases,
                                kExecutions, first, answer);
          one = same.ok() && *same;
          return same.status();
        }
        for (size_t i = 0; i < cases.size() && one; ++i) {
          const Batch batch = Everywhere(op, cases[i], kExecutions);
          longest = std::max(longest, batch.dot_products());
          ASSIGN_OR_RETURN(const auto same, Ask(device, op, batch, {&cases[i], 1},
                                                batch.dot_products(), {&first[i], 1}, answer));
          one = same;
        }
        return absl::OkStatus();
      });
  RETURN_IF_ERROR(asked.status());
  if (!one) return answer;
  if (!*asked) answer.scope = Scope::kDotProducts;
  answer.answer =
      *asked ? absl::StrCat("the same answer at ", op.shape().d_words(), " positions, four times")
             : "the same answer to a dot product alone, four times";
  if (device.StartsAnew()) {
    absl::StrAppend(&answer.answer, ", in processes of at most ", longest, " lines");
  }
  return answer;
}

}  // namespace mmadiff
