// A vector of the literature: a dot product, and what sources say that hardware or a model answers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

enum class AnswerKind : uint8_t {
  kObserved,   // hardware gave it, says the source
  kPublished,  // the source states it of that architecture, and names no device that gave it
  kExpected,   // worked out by hand or by an independent model
  kContested,  // somebody said it, and the model gives another word: a known difference
};
const char* Name(AnswerKind kind);

struct VectorAnswer {
  AnswerKind kind = AnswerKind::kExpected;
  uint64_t d = 0;
  bool any_nan = false;               // the word is NAN; d is one of them
  std::string patterns;               // of the operations, as written
  std::vector<const Operation*> ops;  // at least one
  std::string who;                    // empty: not said
};

// What an answer would say of the hardware.
struct VectorReading {
  uint64_t d = 0;
  bool any_nan = false;
  std::string text;
};

struct Vector {
  std::string name;  // FILE/NAME
  std::string about, section, reason;
  const Format *d = nullptr, *a = nullptr, *b = nullptr, *c = nullptr, *scale = nullptr;
  std::vector<std::string> operands;  // at least one
  std::vector<VectorAnswer> answers;  // none where only a question needs the vector
  std::vector<VectorReading> readings;
};

// What there is to compare: every answer x its operations x the operand lines, in this order.
struct VectorCase {
  const VectorAnswer* answer = nullptr;
  const Operation* op = nullptr;
  DotProductCase dot;
};
std::vector<VectorCase> CasesOf(const Vector& vector);

// Whether `d` is the answer: equal bits, or two NaNs where the answer or the operation leaves their
// bits open.
bool Is(const VectorAnswer& answer, const Operation& op, uint64_t d);

// The text of the reading that `d` is; nullptr if it is none.
const std::string* ReadingOf(const Vector& vector, uint64_t d);

// The word of an answer as the file has it.
std::string WordText(const Vector& vector, const VectorAnswer& answer);

}  // namespace mmadiff
