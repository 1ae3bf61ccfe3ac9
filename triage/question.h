// The questions that only hardware answers, as data: what is asked, of which instructions, which
// values could be the answer, and which inputs tell them apart.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mmadiff {

enum class Method : uint8_t {
  kParameters,  // which values of these parameters give every bit that the device answered?
  kLayout,      // device/one_hot.h
  kRepeat,      // does one dot product have one answer, everywhere and always?
  kPayloads,    // which words do NaNs of every payload in every operand become?
  kPairs,       // every pair of operands: does the model hold?
};

// One dot product from the literature. `formats` are those it is for: "f16 f32" is that of a and b
// and that of c and d; "f16 f16 f32" has c apart. `words` are hexadecimal: "a.. | b.. | c", then
// "| sa.. | sb.." of a block-scaled instruction. The others are +0, scales 1.0; "@32" goes on at
// k = 32, "8000*" repeats a word up to the end.
struct NamedCase {
  const char* name;
  const char* formats;
  const char* words;
};

struct Question {
  const char* id;
  const char* text;
  Method method = Method::kParameters;
  // NAME or NAME=VALUES of sim/parameter.h, separated by spaces; a family without any of them is
  // not asked. NAME alone is every value that has a name; VALUES are values and ranges relative to
  // the table's, "-4..+4,none". "*" is every neighbour of the model.
  const char* parameters = "";
  // Classes of generated inputs, separated by spaces; "*" is all of them.
  const char* classes = "*";
  std::span<const NamedCase> cases = {};
  bool nan_bits = false;  // NaNs are compared bit for bit even where the table promises none
};

// In the order in which they are asked. A value that an early one finds holds in the later ones.
std::span<const Question> Questions();
const Question* FindQuestion(std::string_view id);  // nullptr when there is none

}  // namespace mmadiff
