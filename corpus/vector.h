// A vector from the literature: a dot product, and the answers that sources report for hardware or
// a model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

enum class AnswerKind : uint8_t {
  kObserved,   // the source reports it as an answer of hardware
  kPublished,  // the source states it for that architecture, but names no device that gave it
  kExpected,   // computed by hand or by an independent model
  kContested,  // claimed, but the model gives a different word: a known difference
};
const char* Name(AnswerKind kind);

struct VectorAnswer {
  AnswerKind kind = AnswerKind::kExpected;
  uint64_t d = 0;
  bool any_nan = false;               // the word is NAN; `d` is one NaN
  std::string patterns;               // operation patterns, as written
  std::vector<const Operation*> ops;  // at least one
  std::string who;                    // who reported it; empty: unknown
};

// The conclusion about the hardware from one possible answer.
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
  std::vector<VectorAnswer> answers;  // none if only a question needs the vector
  std::vector<VectorReading> readings;
};

// All comparisons: every answer x its operations x the operand lines, in this order.
struct VectorCase {
  const VectorAnswer* answer = nullptr;
  const Operation* op = nullptr;
  DotProductCase dot;
};
std::vector<VectorCase> CasesOf(const Vector& vector);

// Whether `d` is the answer: equal bits, or two NaNs if the answer or the operation leaves their
// bits open.
bool Is(const VectorAnswer& answer, const Operation& op, uint64_t d);

// The text of the reading for `d`; nullptr if there is no such reading.
const std::string* ReadingOf(const Vector& vector, uint64_t d);

// The word of an answer, as written in the file.
std::string WordText(const Vector& vector, const VectorAnswer& answer);

}  // namespace mmadiff
