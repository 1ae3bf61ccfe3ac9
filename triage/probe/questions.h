// The questions that only hardware answers, as data: what is asked, of which instructions, which
// values could be the answer, and which inputs distinguish them.
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
  kReadings,    // which of the readings of each vector is the answer?
  kModes,       // which modes of the processor change an answer?
  kPairs,       // every pair of operands: does the model hold?
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
  // Names of corpus/vector_file.h, separated by spaces, with braces; each is asked of the
  // operations that it fits.
  const char* vectors = "";
  bool nan_bits = false;  // NaNs are compared bit for bit even where the table promises none
};

// Whether the device's answers are held against a model.
bool NeedsModel(const Question& question);

// Whether it is about the arithmetic, and asked of dot products of one's choice.
bool IsOfArithmetic(const Question& question);

// In the order in which they are asked. A value that an early one finds holds in the later ones.
std::span<const Question> Questions();
const Question* FindQuestion(std::string_view id);  // nullptr when there is none
// Of a stored answer, perhaps to a question that this version does not ask: then kParameters.
Method MethodOf(std::string_view id);

}  // namespace mmadiff
