#include "triage/probe/pairing.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "device/status_macros.h"
#include "sim/simulate.h"
#include "sim/word.h"
#include "triage/probe/twice.h"

namespace mmadiff {
namespace {

constexpr size_t kListed = 8;  // pairs in the text

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

// The number from the answers to its codes; -1 if they are not those of one number below `count`. The
// answers include those to zeros and to ones, so words may be read differently.
int NumberOf(std::span<const uint64_t> d, int bits, int count) {
  const uint64_t low = d[2 * bits], high = d[2 * bits + 1];
  if (high == low) return -1;
  int number = 0;
  for (int bit = 0; bit < bits; ++bit) {
    const bool one = d[bit] == high && d[bit + bits] == low;
    if (!one && !(d[bit] == low && d[bit + bits] == high)) return -1;
    number |= one << bit;
  }
  return number < count ? number : -1;
}

class PairingAsker {
 public:
  PairingAsker(Device& device, const Operation& op) : device_(device), op_(op), m_(op.model) {}

  absl::StatusOr<std::vector<int>> Elements() {
    Codes codes(m_.k);
    for (int i = 0; i < m_.k; ++i) {
      for (int code = 0; code < codes.count(); ++code) {
        DotProductCase& dot = codes.dots.emplace_back(NeutralDotProduct(m_));
        dot.a[i] = IntegerWord(m_.a, 1);
        for (int j = 0; j < m_.k; ++j) {
          if (codes.At(j, code)) dot.b[j] = IntegerWord(m_.b, 1);
        }
      }
    }
    return Numbers(codes, m_.k);
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
    ASSIGN_OR_RETURN(const auto d,
                     RunTwice(device_, op_, MakeDotProductBatch(op_.shape(), codes.dots)));
    std::vector<int> numbers;
    for (int i = 0; i < m_.k; ++i) {
      const auto own = std::span(d).subspan(i * codes.count(), codes.count());
      numbers.push_back(NumberOf(own, codes.bits, count));
    }
    return numbers;
  }

  Device& device_;
  const Operation& op_;
  const Model& m_;
};

// "k = 0 of a meets k = 2 of b, 1 meets 3", "k = 0..31 of a has scale 1 of a": where a number is not
// that of its block. Empty if no number is known.
std::string Moved(const std::vector<int>& numbers, int block, absl::string_view of,
                  absl::string_view verb, absl::string_view what) {
  std::vector<std::string> texts;
  const int count = static_cast<int>(numbers.size());
  if (std::ranges::count(numbers, -1) == count) return "";
  for (int k = 0, end = 0; k < count; k = end) {
    for (end = k + 1; end < count && numbers[end] == numbers[k];) ++end;
    if (numbers[k] == k / block && numbers[end - 1] == (end - 1) / block) continue;
    const std::string number = numbers[k] < 0 ? "none alone" : absl::StrCat(numbers[k]);
    const std::string ks = end == k + 1 ? absl::StrCat(k) : absl::StrCat(k, "..", end - 1);
    texts.push_back(texts.empty() ? absl::StrCat("k = ", ks, " of ", of, " ", verb, " ",
                                                 absl::StrReplaceAll(what, {{"*", number}}))
                                  : absl::StrCat(ks, " ", verb, " ", number));
  }
  if (texts.size() > kListed) {
    texts.resize(kListed);
    texts.push_back("...");
  }
  return absl::StrJoin(texts, ", ");
}

}  // namespace

std::string Pairing::Text() const {
  std::vector<std::string> moved = {Moved(b_of_a, 1, "a", "meets", "k = * of b"),
                                    Moved(scale_of_a, block, "a", "has", "scale * of a"),
                                    Moved(scale_of_b, block, "b", "has", "scale * of b")};
  std::erase(moved, "");
  return absl::StrJoin(moved, "; ");
}

absl::StatusOr<Pairing> AskPairing(Device& device, const Operation& op) {
  Pairing pairing;
  const Model& m = op.model;
  if (IsAbsent(m.b) || m.algorithm.bit_operation == BitOperation::kXor) return pairing;
  PairingAsker asker(device, op);
  ASSIGN_OR_RETURN(pairing.b_of_a, asker.Elements());
  if (m.scale_block == 0 || op.instruction->sparse) return pairing;
  pairing.block = m.scale_block;
  ASSIGN_OR_RETURN(pairing.scale_of_a,
                   asker.Scales(&DotProductCase::a, m.a, &DotProductCase::b, m.b));
  ASSIGN_OR_RETURN(pairing.scale_of_b,
                   asker.Scales(&DotProductCase::b, m.b, &DotProductCase::a, m.a));
  return pairing;
}

}  // namespace mmadiff
