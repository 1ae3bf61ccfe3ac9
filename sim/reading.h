// How the words of an operand are read: the first stage of every family. A reading is one rule. It
// takes a word as one of another format of the same width, or replaces it by another word of its own
// format; then a model without readings computes the result.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff {

// "as_is", "e5m2", "nan_zero", "nearest_13", in the order of the values of Reading.
std::span<const char* const> ReadingNames();

std::string_view Name(Reading reading);
std::string TextOf(Reading reading);      // for people: "NaNs as zeros", "the low bit as 0"
bool FlushesSubnormals(Reading reading);  // "subnormals_zero"
// The number of low bits that it takes as zeros in numbers alone; 0 for other rules.
int BitsCut(Reading reading);

// An operand of one dot product.
enum class ReadOperand : uint8_t { kA, kB, kAddend, kScaleOfA, kScaleOfB };
inline constexpr ReadOperand kReadOperands[] = {ReadOperand::kA, ReadOperand::kB,
                                                ReadOperand::kAddend, ReadOperand::kScaleOfA,
                                                ReadOperand::kScaleOfB};
const char* Name(ReadOperand operand);  // "a", "c", "the scales of a"
const Format& FormatOf(const Model& model, ReadOperand operand);

constexpr unsigned Bit(ReadOperand operand) { return 1u << static_cast<int>(operand); }

// The members of Algorithm that are readings. `operands`: a bit for each of whose words it says how they
// are read.
struct ReadingMember {
  const char* name;
  Reading Algorithm::*member;
  unsigned operands;
};
inline constexpr ReadingMember kReadingMembers[] = {
    {"operand_reading", &Algorithm::operand_reading, Bit(ReadOperand::kA) | Bit(ReadOperand::kB)},
    {"a_reading", &Algorithm::a_reading, Bit(ReadOperand::kA)},
    {"b_reading", &Algorithm::b_reading, Bit(ReadOperand::kB)},
    {"addend_reading", &Algorithm::addend_reading, Bit(ReadOperand::kAddend)},
    {"scale_reading", &Algorithm::scale_reading,
     Bit(ReadOperand::kScaleOfA) | Bit(ReadOperand::kScaleOfB)},
    {"a_scale_reading", &Algorithm::a_scale_reading, Bit(ReadOperand::kScaleOfA)},
    {"b_scale_reading", &Algorithm::b_scale_reading, Bit(ReadOperand::kScaleOfB)},
};

// Whether the reading is one of the format's and not the way it is read anyway.
bool Applies(Reading reading, const Format& format);
// The values of Reading that apply to the format. `near`: a rule with a number of bits is there once,
// with the least number that applies.
std::vector<Reading> ReadingsOf(const Format& format, bool near);

// The format as which the words are decoded, and the word that is decoded in place of `word`. The
// reading must apply to `format`, or be kAsIs.
Format FormatRead(Reading reading, const Format& format);
uint64_t WordRead(Reading reading, const Format& format, uint64_t word);

// Why the readings do not fit the model's formats or one another; empty if they do.
std::string WhyUnreadable(const Model& model);

// Whether input_subnormals is a reading; other families flush operands themselves, or read no numbers.
constexpr bool FlushesBefore(Family family) {
  return family == Family::kFusedSum || family == Family::kScaledSum ||
         family == Family::kExactSum || family == Family::kTwoStageSum || family == Family::kTree;
}

// Whether some operand is read differently from its format.
constexpr bool HasReadings(const Model& model) {
  const Algorithm& a = model.algorithm;
  if (a.family == Family::kConversion) return a.a_reading != Reading::kAsIs;  // it has no other
  int any = 0;
  for (const ReadingMember& m : kReadingMembers) any |= static_cast<int>(a.*m.member);
  return any != 0 || (a.input_subnormals != Subnormals::kKeep && FlushesBefore(a.family));
}
void CopyReadings(const Algorithm& from, Algorithm& to);
bool SameReadings(const Model& x, const Model& y);
// The model that computes the result from the words that are read.
Model WithoutReadings(const Model& model);
DotProductCase WordsRead(const Model& model, const DotProductCase& dot);
Batch WordsRead(const Model& model, const Batch& batch);

}  // namespace mmadiff
