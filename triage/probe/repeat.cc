#include "triage/probe/repeat.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "device/line_protocol.h"
#include "fuzz/cases/case_name.h"

namespace mmadiff {
namespace {

// Every element of `count` executions computes the one dot product.
Batch Everywhere(const Operation& op, const DotProductCase& dot, int64_t count) {
  Batch batch;
  batch.Resize(op.shape(), count);
  const auto fill = [](std::vector<uint64_t>& all, const std::vector<uint64_t>& line) {
    for (size_t i = 0; i < all.size(); ++i) all[i] = line[i % line.size()];
  };
  fill(batch.a, dot.a);
  fill(batch.b, dot.b);
  fill(batch.c, {dot.c});
  return batch;
}

}  // namespace

absl::StatusOr<ProbeAnswer> AskRepeat(Device& device, const Operation& op,
                                      const Question& question) {
  ProbeAnswer answer = {.question = &question, .decides = "agrees"};
  Batch tile;
  for (uint64_t index = 0; index < 16 && GenerateClass(op, "*", index, tile); ++index) {
    const DotProductCase dot = Extract(tile, static_cast<int64_t>(index) % tile.dot_products());
    const Batch batch = Everywhere(op, dot, 2);
    std::optional<uint64_t> first;
    for (int run = 0; run < 2; ++run) {
      const absl::StatusOr<std::vector<uint64_t>> d = device.Run(op, batch);
      if (!d.ok()) return d.status();
      if (!first.has_value()) answer.observed.push_back({dot, *(first = d->front())});
      answer.cases += d->size();
      for (size_t i = 0; i < d->size(); ++i) {
        if ((*d)[i] == *first) continue;
        const Position p = PositionOf(op.shape(), static_cast<int64_t>(i) % op.shape().d_words());
        answer.answer = absl::StrCat("two answers: ", HexWord(*op.instruction->d, *first), " and ",
                                     HexWord(*op.instruction->d, (*d)[i]), " in block ", p.block,
                                     ", row ", p.i, ", column ", p.j, ", run ", run);
        answer.agreement = Agreement::kContradicts;
        answer.decides = "not a function of the operands: what else it says is in doubt";
        answer.refuting = {dot, (*d)[i]};
        return answer;
      }
    }
  }
  answer.answer = absl::StrCat("one answer at ", op.shape().d_words(), " places, four times");
  return answer;
}

}  // namespace mmadiff
