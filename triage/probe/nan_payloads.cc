#include "triage/probe/nan_payloads.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "sim/simulate.h"
#include "sim/word.h"

namespace mmadiff {
namespace {

// The NaN patterns of a format, ascending.
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
  std::ranges::sort(words);
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace

std::vector<DotProductCase> PayloadCases(const Operation& op) {
  const Instruction& in = *op.instruction;
  const size_t k = in.shape.k;
  DotProductCase ones = NeutralDotProduct(op.model);  // 1 x 1 in the first and last term
  for (const size_t i : {size_t{0}, k - 1}) {
    ones.a[i] = IntegerWord(*in.a, 1);
    ones.b[i] = IntegerWord(*in.b, 1);
  }
  ones.c = IntegerWord(*in.c, 1);
  std::vector<DotProductCase> dots;
  const auto add = [&](const Format& f, auto place) {
    for (const uint64_t word : NanWords(f)) {
      place(dots.emplace_back(ones)) = word;
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

ProbeAnswer PayloadAnswer(const Operation& op, const Question& question,
                          std::vector<Observed> observed) {
  ProbeAnswer answer = {.question = &question, .cases = observed.size()};
  std::map<uint64_t, size_t> words;
  bool number = false;  // a wrong number, a number in place of a NaN, or a NaN in place of a number
  for (const Observed& o : observed) {
    ++words[o.d];
    const uint64_t word = Simulate(op.model, o.dot);
    const bool wrong = word != o.d && !(IsNan(op.model.d, word) && IsNan(op.model.d, o.d));
    if (wrong ? !number : !answer.refuting.has_value() && word != o.d) answer.refuting = o;
    number |= wrong;
  }
  std::vector<std::string> some;
  for (const auto& [word, count] : words) {
    if (some.size() < 3) some.push_back(HexWord(*op.instruction->d, word));
  }
  answer.facts = some;
  answer.facts.insert(answer.facts.begin(), absl::StrCat(words.size()));
  answer.answer = absl::StrCat(words.size(),
                               words.size() == 1 ? " word: " : " words: ", absl::StrJoin(some, " "),
                               words.size() > some.size() ? " ..." : "");
  const bool promised = number || op.numerics->nan_verdict == NanVerdict::kBits;
  if (!answer.refuting.has_value()) {
    if (!promised) answer.decision = Decision::kAgreesInNans;
  } else {
    answer.agreement = promised ? Agreement::kContradicts : Agreement::kOpen;
    answer.decision = promised ? Decision::kContradicts : Decision::kNanNotPromised;
    answer.detail = FormatLine(*op.instruction, answer.refuting->dot, answer.refuting->d);
  }
  answer.observed = std::move(observed);
  return answer;
}

}  // namespace mmadiff
