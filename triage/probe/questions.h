// The questions that only hardware can answer, as data: the question, its instructions, the values
// that could be the answer, and the inputs that distinguish them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mmadiff {

enum class Method : uint8_t {
  kParameters,  // which values of these parameters reproduce every bit of the device's answers?
  kLayout,      // device/one_hot.h
  kDecoding,    // triage/probe/decoding.h
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
  // NAME or NAME=VALUES of sim/parameter.h, separated by spaces; a family without any of these
  // parameters is not asked. NAME alone means every value that has a name; VALUES are values and
  // ranges relative to the table's, "-4..+4,none". "*" means every neighbor of the model.
  const char* parameters = "";
  // Classes of generated inputs, separated by spaces; "*" is all of them.
  const char* classes = "*";
  // Names of corpus/vector_file.h, separated by spaces, with braces. Each vector runs on the
  // operations that it fits.
  const char* vectors = "";
  bool nan_bits = false;  // compares NaNs bit for bit even where the table promises none
};

// Whether the device's answers are compared with a model.
bool NeedsModel(const Question& question);

// Whether the question is about arithmetic and uses freely chosen dot products.
bool IsOfArithmetic(const Question& question);

// In the order of asking. A value that an early question finds holds in the later ones.
std::span<const Question> Questions();
const Question* FindQuestion(std::string_view id);  // nullptr if unknown
// For a stored answer, perhaps to a question that this version does not ask: then kParameters.
Method MethodOf(std::string_view id);

}  // namespace mmadiff
