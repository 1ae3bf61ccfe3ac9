#include "sim/same_conversion.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "sim/conversion.h"
#include "sim/reading.h"

namespace mmadiff {
namespace {

class Search {
 public:
  Search(const Model& model, const Algorithm& changed)
      : model_(model), reading_(changed.a_reading), other_(model) {
    other_.algorithm = changed;
    other_ = WithoutReadings(other_);
  }

  bool TellsApart() const {
    if (DifferAtSpecials()) return true;
    const Format& a = model_.a;
    for (int exponent = LeastExponent(a); exponent <= MaxExponent(a); ++exponent) {
      if (DifferAt(exponent, a.fraction_bits)) return true;
    }
    for (int bit = 0; bit < a.fraction_bits && a.has_zero; ++bit) {
      if (DifferAt(a.min_exponent, bit)) return true;
    }
    return false;
  }

 private:
  bool Differ(uint64_t word) const {
    const Unpacked as_is = Decode(model_.a, word),
                   read = Decode(other_.a, WordRead(reading_, model_.a, word));
    NullTrace trace;
    return Conversion(model_, as_is, trace) != Conversion(other_, read, trace);
  }

  // A finite operand of either sign, if the format has it.
  bool Differ(int exponent, uint64_t significand) const {
    const Format& a = model_.a;
    const int field = exponent - a.min_exponent;
    const uint64_t word =
        static_cast<uint64_t>(static_cast<int64_t>(field) * (1ll << a.fraction_bits)) + significand;
    if (word > MaxFiniteWord(a) >> a.ignored_bits) return false;
    return DifferSigned(word << a.ignored_bits);
  }

  bool DifferSigned(uint64_t word) const {
    const Format& a = model_.a;
    return Differ(word) || (a.is_signed && Differ(word | 1ull << SignBit(a)));
  }

  bool DifferAtSpecials() const {
    const Format& a = model_.a;
    std::vector<uint64_t> words = {0, LowBits(a.exponent_bits + a.fraction_bits) << a.ignored_bits};
    for (int bit = 0; bit < a.fraction_bits + a.ignored_bits && HasInfinity(a); ++bit) {
      const uint64_t one = 1ull << bit, infinity = InfinityWord(a, false);
      words.insert(words.end(), {infinity, infinity | one});
    }
    return std::ranges::any_of(words, [&](uint64_t word) { return DifferSigned(word); });
  }

  // Operands whose leading one is bit `leading` of the significand.
  bool DifferAt(int exponent, int leading) const {
    const Format &a = model_.a, &d = model_.d;
    const int lsb = exponent - a.fraction_bits, top = std::max(lsb + leading, LeastExponent(d));
    // Bits lost in the output, and with an unbounded exponent.
    for (const int lost : {top - d.fraction_bits - lsb, leading - d.fraction_bits}) {
      const int below = std::clamp(lost, 0, leading), kept = leading - below;
      const uint64_t half = below == 0 ? 0 : 1ull << (below - 1), ones = LowBits(kept);
      const uint64_t largest = MaxFiniteWord(d) >> d.ignored_bits & LowBits(d.fraction_bits);
      for (const uint64_t high : {uint64_t{0}, uint64_t{1}, ones - 1, ones, largest - 1, largest}) {
        for (const uint64_t low :
             {uint64_t{0}, uint64_t{1}, half - 1, half, half + 1, ~uint64_t{0}}) {
          const uint64_t rest = (high & ones) << below | (low & LowBits(below));
          if (Differ(exponent, 1ull << leading | rest)) return true;
        }
      }
    }
    return false;
  }

  const Model& model_;
  const Reading reading_;
  Model other_;  // reads what reading_ gives
};

}  // namespace

std::string WhySameConversion(const Model& model, const Algorithm& changed) {
  return Search(model, changed).TellsApart() ? "" : "every operand gives the same result";
}

}  // namespace mmadiff
