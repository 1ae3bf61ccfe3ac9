// JSON members that several verbs share.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "corpus/ledger.h"
#include "corpus/vector.h"
#include "device/answers.h"
#include "fuzz/output/fields.h"
#include "fuzz/verdict/drop.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {

// {"NAME": VALUE, ...}; values are numbers or names.
Json ParametersJson(std::span<const Change> changes);
Detail ParameterValues(const char* what = "");

// {"name": ..., "parameters": {...}}
Fields<Neighbour> FieldsOf(const Neighbour*);

// Operands and, if present, the result, as words of the line protocol.
struct DotProductWords {
  const Instruction& instruction;
  const DotProductCase& dot;
  std::optional<uint64_t> d = {};
};
Fields<DotProductWords> FieldsOf(const DotProductWords*);

// Two rows or architectures that no case distinguishes.
struct IndistinctPair {
  std::string x, y, why;
};
Fields<IndistinctPair> FieldsOf(const IndistinctPair*);

// The message of each drop.
std::vector<std::string> Messages(std::span<const Drop> drops);

// The failure that came instead of a result, and its text; nullopt if there is a result.
std::optional<std::string> FailureName(const std::optional<InputFailure>& failure);
std::optional<std::string> FailureText(const std::optional<InputFailure>& failure);
Detail FailureName();
// Name() of a StopCause.
Detail StoppedBy();

// The failure that came instead of the answer of a case, if any, and its age.
struct FailureOfCase {
  const std::optional<InputFailure>& failure;
  uint64_t age;
};
Fields<FailureOfCase> FieldsOf(const FailureOfCase*);

// An answer of a vector.
struct AnswerOfVector {
  const Vector& vector;
  const VectorAnswer& answer;
};
Fields<AnswerOfVector> FieldsOf(const AnswerOfVector*);

Fields<LeftOutLine> FieldsOf(const LeftOutLine*);

// A result and the list of everything left out of it: the object that a verb prints.
template <class Result>
struct WithLeftOut {
  const Result& result;
  std::vector<LeftOutLine> left_out;
};
template <class Result>
Fields<WithLeftOut<Result>> FieldsOf(const WithLeftOut<Result>*) {
  using W = WithLeftOut<Result>;
  return {
      Field<W>::Flat([](const W& w) -> const Result& { return w.result; }),
      {"left_out", &W::left_out,
       "requested things that were not compared: one entry per combination of thing, reason and "
       "`named`"},
  };
}

}  // namespace mmadiff
