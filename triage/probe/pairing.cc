#include "triage/probe/pairing.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/probe/runs.h"
#include "triage/probe/twice.h"

namespace mmadiff {
namespace {

constexpr size_t kListed = 16,
                 kListedOfRule = 4;  // pairs in the text, if no rule or a rule gives them

// The number of a thing among `count`, asked bit by bit: each bit of all numbers, its complement,
// zeros, and ones.
struct Codes {
  int bits;
  std::vector<DotProductCase> dots;

  explicit Codes(int count) : bits(std::bit_width(static_cast<unsigned>(std::max(1, count - 1)))) {}
  int count() const { return 2 * bits + 2; }
  bool At(int index, int code) const {
    if (code >= 2 * bits) return code > 2 * bits;
    return (index >> code % bits & 1) != (code >= bits);
  }
};

constexpr int kNone = -1, kUnknown = -2, kConstant = -3;

// The number from the answers to its codes; kNone or kConstant if the code never shows and the answers are
// or are not `zero`, kUnknown if they are not those of one number below `count`. They include those to
// zeros and to ones, so words may be read differently.
int NumberOf(std::span<const uint64_t> d, int bits, int count, uint64_t zero) {
  const uint64_t low = d[2 * bits], high = d[2 * bits + 1];
  if (std::ranges::count(d, low) == std::ssize(d)) return low == zero ? kNone : kConstant;
  int number = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const bool one = d[bit] == high && d[bit + bits] == low;
    if (high == low || (!one && !(d[bit] == low && d[bit + bits] == high))) return kUnknown;
    number |= one << bit;
  }
  return number < count ? number : kUnknown;
}

class PairingAsker {
 public:
  PairingAsker(Device& device, const Operation& op) : device_(device), op_(op), m_(op.model) {}

  absl::StatusOr<std::vector<int>> Elements(const std::vector<uint64_t>& metadata = {}) {
    const auto stored = [&](int k) {
      return metadata.empty() ||
             IsStored(m_.sparse_group, metadata[k / m_.sparse_group], k % m_.sparse_group);
    };
    Codes codes(m_.k);
    for (int i = 0; i < m_.k; ++i) {
      for (int code = 0; code < codes.count(); ++code) {
        DotProductCase& dot = codes.dots.emplace_back(NeutralDotProduct(m_));
        dot.a[i] = IntegerWord(m_.a, stored(i) ? 1 : 0);
        dot.metadata = metadata;
        for (int j = 0; j < m_.k; ++j) {
          if (codes.At(j, code)) dot.b[j] = IntegerWord(m_.b, 1);
        }
      }
    }
    ASSIGN_OR_RETURN(std::vector<int> numbers, Numbers(codes, m_.k));
    for (int i = 0; i < m_.k; ++i) {
      if (!stored(i)) numbers[i] = i;
    }
    return numbers;
  }

  // One element under test meets ones; the code is in its scales: 2 and 1.
  absl::StatusOr<std::vector<int>> Scales(std::vector<uint64_t> DotProductCase::*own,
                                          const Format& f,
                                          std::vector<uint64_t> DotProductCase::*partner,
                                          const Format& g) {
    Codes codes(m_.scales());
    for (int i = 0; i < m_.k; ++i) {
      for (int code = 0; code < codes.count(); ++code) {
        DotProductCase& dot = codes.dots.emplace_back(NeutralDotProduct(m_));
        (dot.*own)[i] = IntegerWord(f, 1);
        std::fill_n((dot.*partner).begin(), m_.k, IntegerWord(g, 1));
        for (int s = 0; s < m_.scales(); ++s) {
          if (codes.At(s, code)) (dot.*own)[m_.k + s] = IntegerWord(m_.scale, 2);
        }
      }
    }
    return Numbers(codes, m_.scales());
  }

 private:
  absl::StatusOr<std::vector<int>> Numbers(const Codes& codes, int count) {
    std::vector<DotProductCase> dots = codes.dots;
    dots.push_back(NeutralDotProduct(m_));
    ASSIGN_OR_RETURN(const auto d, RunTwice(device_, op_, MakeDotProductBatch(op_.shape(), dots)));
    std::vector<int> numbers;
    for (int i = 0; i < m_.k; ++i) {
      const auto own = std::span(d).subspan(i * codes.count(), codes.count());
      numbers.push_back(NumberOf(own, codes.bits, count, d.back()));
    }
    return numbers;
  }

  Device& device_;
  const Operation& op_;
  const Model& m_;
};

// The words around a number: "k = 0 of a meets k = 2 of b", "k = 31 of a is ignored".
struct Phrase {
  absl::string_view of, verb, before, after, none, constant;
};

// "k meets k + 1, modulo 16": one rule for all k; or empty.
std::string RuleOf(const std::vector<int>& b_of_a) {
  const int count = static_cast<int>(b_of_a.size());
  const auto all = [&](auto b_of) {
    for (int k = 0; k < count; ++k) {
      if (b_of_a[k] != b_of(k)) return false;
    }
    return true;
  };
  for (int n = 1; n < count; ++n) {
    if (all([&](int k) { return (k + n) % count; }))
      return absl::StrCat("k meets k + ", n, ", modulo ", count);
    if (all([&](int k) { return k ^ n; })) return absl::StrCat("k meets k XOR ", n);
  }
  return "";
}

// "k = 0 of a meets k = 2 of b, 1 meets 3", "k = 0..31 of a has scale 1 of a": where a number is not
// that of its block. Empty if some number is unknown, or all are none.
std::string Moved(const std::vector<int>& numbers, int block, const Phrase& phrase) {
  std::vector<std::string> texts;
  const bool unknown = std::ranges::count(numbers, kUnknown) > 0;
  if (unknown || std::ranges::all_of(numbers, [](int n) { return n < 0; })) return "";
  const auto own = [&](size_t k) { return numbers[k] == static_cast<int>(k) / block; };
  for (const auto& [run, last] : RunsOf(numbers.size(), [&](size_t k) {
         return numbers[k] == numbers[k - 1] && own(k) == own(k - 1);
       })) {
    const int k = static_cast<int>(run);
    if (own(k)) continue;
    std::string text = RunText(k, last);
    const bool first = texts.empty(), none = numbers[k] < 0;
    if (first) text = absl::StrCat("k = ", text, " of ", phrase.of);
    absl::StrAppend(&text, " ",
                    numbers[k] == kNone       ? phrase.none
                    : numbers[k] == kConstant ? phrase.constant
                                              : phrase.verb);
    if (!none && first) absl::StrAppend(&text, " ", phrase.before, numbers[k], phrase.after);
    if (!none && !first) absl::StrAppend(&text, " ", numbers[k]);
    texts.push_back(std::move(text));
  }
  const std::string rule = block == 1 ? RuleOf(numbers) : "";
  return rule.empty() ? JoinSome(std::move(texts), kListed)
                      : absl::StrCat(JoinSome(std::move(texts), kListedOfRule), ": ", rule);
}

bool AreOwn(const std::vector<int>& numbers, int block) {
  for (int k = 0; k < static_cast<int>(numbers.size()); ++k) {
    if (numbers[k] != k / block) return false;
  }
  return true;
}

// "with metadata e0 = 04, e3 = 09: ": the words of the groups that have elements out of place.
std::string WithMetadata(const std::vector<uint64_t>& metadata, const std::vector<int>& b_of_a) {
  std::vector<std::string> words;
  const size_t group = metadata.empty() ? 1 : b_of_a.size() / metadata.size();
  for (size_t g = 0; g < metadata.size(); ++g) {
    for (size_t k = g * group; k < (g + 1) * group; ++k) {
      if (b_of_a[k] == static_cast<int>(k)) continue;
      words.push_back(absl::StrCat("e", g, " = ", HexWord(kMetadataFormat, metadata[g])));
      break;
    }
  }
  return words.empty()
             ? ""
             : absl::StrCat("with metadata ", JoinSome(std::move(words), kListedOfRule), ": ");
}

}  // namespace

std::string Pairing::Text() const {
  std::vector<std::string> moved = {
      Moved(b_of_a, 1, {"a", "meets", "k = ", " of b", "is ignored", "meets a constant"}),
      Moved(scale_of_a, block,
            {"a", "has", "scale ", " of a", "has no scale", "has a constant scale"}),
      Moved(scale_of_b, block,
            {"b", "has", "scale ", " of b", "has no scale", "has a constant scale"})};
  std::erase(moved, "");
  return moved.empty() ? "" : WithMetadata(metadata, b_of_a) + absl::StrJoin(moved, "; ");
}

bool Pairing::IsOwn() const {
  return !b_of_a.empty() && AreOwn(b_of_a, 1) && AreOwn(scale_of_a, block) &&
         AreOwn(scale_of_b, block);
}

absl::StatusOr<Pairing> AskPairing(Device& device, const Operation& op) {
  Pairing pairing;
  const Model& m = op.model;
  if (IsAbsent(m.b) || m.algorithm.bit_operation == BitOperation::kXor) return pairing;
  PairingAsker asker(device, op);
  // Every group has each word once.
  const std::span<const uint64_t> legal = LegalMetadata(m.sparse_group);
  for (size_t first = 0; IsSparse(m) && first < legal.size(); ++first) {
    pairing.metadata.resize(m.groups());
    for (int g = 0; g < m.groups(); ++g) pairing.metadata[g] = legal[(first + g) % legal.size()];
    ASSIGN_OR_RETURN(pairing.b_of_a, asker.Elements(pairing.metadata));
    if (!AreOwn(pairing.b_of_a, 1)) break;
  }
  if (IsSparse(m)) return pairing;
  ASSIGN_OR_RETURN(pairing.b_of_a, asker.Elements());
  if (m.scale_block == 0) return pairing;
  pairing.block = m.scale_block;
  ASSIGN_OR_RETURN(pairing.scale_of_a,
                   asker.Scales(&DotProductCase::a, m.a, &DotProductCase::b, m.b));
  ASSIGN_OR_RETURN(pairing.scale_of_b,
                   asker.Scales(&DotProductCase::b, m.b, &DotProductCase::a, m.a));
  return pairing;
}

}  // namespace mmadiff
