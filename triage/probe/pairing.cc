#include "triage/probe/pairing.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/clock.h"
#include "device/line_protocol.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/probe/layout.h"
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
      for (int code = 0; code < codes.count() && stored(i); ++code) {
        DotProductCase& dot = codes.dots.emplace_back(NeutralDotProduct(m_));
        dot.a[i] = IntegerWord(m_.a, 1);
        dot.metadata = metadata;
        for (int j = 0; j < m_.k; ++j) {
          if (codes.At(j, code)) dot.b[j] = IntegerWord(m_.b, 1);
        }
      }
    }
    ASSIGN_OR_RETURN(const std::vector<int> asked, Numbers(codes, m_.k));
    std::vector<int> numbers;
    for (int i = 0, n = 0; i < m_.k; ++i) numbers.push_back(stored(i) ? asked[n++] : i);
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
    for (size_t i = 0; i < codes.dots.size(); i += codes.count()) {
      const auto own = std::span(d).subspan(i, codes.count());
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

constexpr Phrase kElement = {"a", "meets", "k = ", " of b", "is ignored", "meets a constant"};

// The elements out of place, after the words of metadata that move them; without words if several store
// the element and all move it. Empty if some number is unknown, or all are none.
std::vector<std::string> MovedWithMetadata(const Pairing& p) {
  const size_t group = p.b_of_a[0].size() / p.metadata[0].size();
  std::map<std::pair<size_t, int>, std::set<uint64_t>> words_of;  // by k of A and of B
  std::vector<std::set<uint64_t>> storing(p.b_of_a[0].size());
  bool any = false;
  for (size_t i = 0; i < p.metadata.size(); ++i) {
    for (size_t k = 0; k < storing.size(); ++k) {
      const uint64_t word = p.metadata[i][k / group];
      if (!IsStored(static_cast<int>(group), word, static_cast<int>(k % group))) continue;
      words_of[{k, p.b_of_a[i][k]}].insert(word);
      storing[k].insert(word);
      any |= p.b_of_a[i][k] >= 0;
      if (p.b_of_a[i][k] == kUnknown) return {};
    }
  }
  if (!any) return {};
  std::vector<int> own(storing.size());
  std::iota(own.begin(), own.end(), 0);
  std::map<std::set<uint64_t>, std::vector<int>> numbers;  // by words
  for (auto& [ks, words] : words_of) {
    const auto& [k, b] = ks;
    if (b == own[k]) continue;
    if (words.size() > 1 && words == storing[k]) words.clear();
    numbers.try_emplace(words, own).first->second[k] = b;
  }
  std::vector<std::string> texts;
  for (const auto& [words, moved] : numbers) {
    std::string with = words.empty() ? "" : "with metadata";
    for (const uint64_t word : words) absl::StrAppend(&with, " ", HexWord(kMetadataFormat, word));
    texts.push_back(absl::StrCat(with, with.empty() ? "" : ": ", Moved(moved, 1, kElement)));
  }
  return texts;
}

}  // namespace

std::string Pairing::Text() const {
  if (!metadata.empty()) return absl::StrJoin(MovedWithMetadata(*this), "; ");
  std::vector<std::string> moved = {
      b_of_a.empty() ? "" : Moved(b_of_a[0], 1, kElement),
      Moved(scale_of_a, block,
            {"a", "has", "scale ", " of a", "has no scale", "has a constant scale"}),
      Moved(scale_of_b, block,
            {"b", "has", "scale ", " of b", "has no scale", "has a constant scale"})};
  std::erase(moved, "");
  return absl::StrJoin(moved, "; ");
}

bool Pairing::IsOwn() const {
  return !b_of_a.empty() &&
         std::ranges::all_of(b_of_a, [](const auto& one) { return AreOwn(one, 1); }) &&
         AreOwn(scale_of_a, block) && AreOwn(scale_of_b, block);
}

bool Pairing::IsLost() const {
  return std::ranges::any_of(b_of_a, [](const auto& one) { return std::ranges::min(one) < 0; });
}

absl::StatusOr<Pairing> AskPairing(Device& device, const Operation& op) {
  Pairing pairing;
  const Model& m = op.model;
  if (IsAbsent(m.b) || m.algorithm.bit_operation == BitOperation::kXor) return pairing;
  PairingAsker asker(device, op);
  const std::span<const uint64_t> legal = LegalMetadata(m.sparse_group);
  const absl::Duration begun = MonotonicNow();
  for (size_t first = 0; IsSparse(m) && first < legal.size(); ++first) {
    std::vector<uint64_t>& metadata = pairing.metadata.emplace_back(m.groups());
    for (int g = 0; g < m.groups(); ++g) metadata[g] = legal[(first + g) % legal.size()];
    ASSIGN_OR_RETURN(pairing.b_of_a.emplace_back(), asker.Elements(metadata));
    const double each = absl::ToDoubleSeconds(MonotonicNow() - begun) / (first + 1.0);
    if (device.IsSlow() && each * static_cast<double>(legal.size()) > kMaxSlowSeconds) break;
  }
  if (IsSparse(m)) return pairing;
  ASSIGN_OR_RETURN(pairing.b_of_a.emplace_back(), asker.Elements());
  if (m.scale_block == 0) return pairing;
  pairing.block = m.scale_block;
  ASSIGN_OR_RETURN(pairing.scale_of_a,
                   asker.Scales(&DotProductCase::a, m.a, &DotProductCase::b, m.b));
  ASSIGN_OR_RETURN(pairing.scale_of_b,
                   asker.Scales(&DotProductCase::b, m.b, &DotProductCase::a, m.a));
  return pairing;
}

}  // namespace mmadiff
