#include "triage/probe/methods.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "device/one_hot.h"
#include "fuzz/cases/case_name.h"
#include "sim/simulate.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

// Every element of `count` executions computes the one dot product.
Batch Everywhere(const Row& row, const DotProductCase& dot, int64_t count) {
  Batch batch;
  batch.Resize(row.shape(), count);
  const auto fill = [](std::vector<uint64_t>& all, const std::vector<uint64_t>& line) {
    for (size_t i = 0; i < all.size(); ++i) all[i] = line[i % line.size()];
  };
  fill(batch.a, dot.a);
  fill(batch.b, dot.b);
  fill(batch.c, {dot.c});
  return batch;
}

// NaN patterns of a format, ascending.
std::vector<uint64_t> NanWords(const Format& f) {
  std::vector<uint64_t> words;
  if (IsInteger(f)) return words;
  if (f.bits <= 16) {
    for (uint64_t word = 0; word >> f.bits == 0; ++word) words.push_back(word);
  } else {
    const uint64_t infinity = InfinityWord(f, false), sign = 1ull << SignBit(f);
    const int payload = f.fraction_bits + f.ignored_bits;
    for (int bit = 0; bit < payload; ++bit) {
      const uint64_t one = 1ull << bit, spread = 0x9e3779b97f4a7c15 >> bit & LowBits(payload);
      for (const uint64_t p : {one, one | 1, LowBits(payload) & ~one, spread}) {
        words.push_back(infinity | p);
        words.push_back(sign | infinity | p);
      }
    }
  }
  std::erase_if(words, [&f](uint64_t word) { return !IsNan(f, word); });
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

absl::StatusOr<ProbeAnswer> AskRepeat(Device& device, const Row& row, const Question& question) {
  ProbeAnswer answer = {.question = &question, .decides = "agrees"};
  Batch tile;
  for (uint64_t index = 0; index < 16 && GenerateClass(row, "*", index, tile); ++index) {
    const DotProductCase dot = Extract(tile, static_cast<int64_t>(index) % tile.dot_products());
    const Batch batch = Everywhere(row, dot, 2);
    std::optional<uint64_t> first;
    for (int run = 0; run < 2; ++run) {
      const absl::StatusOr<std::vector<uint64_t>> d = device.Run(row, batch);
      if (!d.ok()) return d.status();
      if (!first.has_value()) answer.observed.push_back({dot, *(first = d->front())});
      answer.cases += d->size();
      for (size_t i = 0; i < d->size(); ++i) {
        if ((*d)[i] == *first) continue;
        const Position p = PositionOf(row.shape(), static_cast<int64_t>(i) % row.shape().d_words());
        answer.answer = absl::StrCat("two answers: ", HexWord(*row.instruction->d, *first), " and ",
                                     HexWord(*row.instruction->d, (*d)[i]), " in block ", p.block,
                                     ", row ", p.i, ", column ", p.j, ", run ", run);
        answer.finding = Agreement::kContradicts;
        answer.decides = "not a function of the operands: what else it says is in doubt";
        answer.refuting = {dot, (*d)[i]};
        return answer;
      }
    }
  }
  answer.answer = absl::StrCat("one answer at ", row.shape().d_words(), " places, four times");
  return answer;
}

std::vector<DotProductCase> PayloadCases(const Row& row) {
  const Instruction& in = *row.instruction;
  DotProductCase plain;  // 1 x 1 in the first and last term
  const size_t k = in.shape.k;
  plain.a.assign(in.shape.row_words(), 0);
  for (size_t i = k; i < plain.a.size(); ++i) plain.a[i] = IntegerWord(*in.scale, 1);
  plain.b = plain.a;
  for (const size_t i : {size_t{0}, k - 1}) {
    plain.a[i] = IntegerWord(*in.a, 1);
    plain.b[i] = IntegerWord(*in.b, 1);
  }
  plain.c = IntegerWord(*in.c, 1);
  std::vector<DotProductCase> dots;
  const auto add = [&](const Format& f, auto place) {
    for (const uint64_t word : NanWords(f)) {
      place(dots.emplace_back(plain)) = word;
    }
  };
  for (const size_t i : {size_t{0}, k - 1}) {
    add(*in.a, [i](DotProductCase& dot) -> uint64_t& { return dot.a[i]; });
    add(*in.b, [i](DotProductCase& dot) -> uint64_t& { return dot.b[i]; });
    if (k == 1) break;
  }
  add(*in.c, [](DotProductCase& dot) -> uint64_t& { return dot.c; });
  return dots;
}

ProbeAnswer PayloadAnswer(const Row& row, const Question& question, const Model& model,
                          std::vector<Observed> observed) {
  ProbeAnswer answer = {.question = &question, .cases = observed.size()};
  std::map<uint64_t, size_t> words;
  for (const Observed& o : observed) {
    ++words[o.d];
    if (!answer.refuting.has_value() && Simulate(model, o.dot) != o.d) answer.refuting = o;
  }
  std::vector<std::string> some;
  for (const auto& [word, count] : words) {
    if (some.size() < 3) some.push_back(HexWord(*row.instruction->d, word));
  }
  answer.answer = absl::StrCat(words.size(),
                               words.size() == 1 ? " word: " : " words: ", absl::StrJoin(some, " "),
                               words.size() > some.size() ? " ..." : "");
  const bool promised = row.numerics->nan_verdict == NanVerdict::kBits;
  if (!answer.refuting.has_value()) {
    answer.decides = promised ? "agrees" : "agrees, though the table promises no bits of a NaN";
  } else {
    answer.finding = promised ? Agreement::kContradicts : Agreement::kOpen;
    answer.decides =
        absl::StrCat(promised ? "contradicts the table: " : "the table promises no bits of a NaN: ",
                     FormatLine(*row.instruction, answer.refuting->dot, answer.refuting->d));
  }
  answer.observed = std::move(observed);
  return answer;
}

}  // namespace mmadiff
