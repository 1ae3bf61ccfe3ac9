// Parts that the JSON of several verbs has.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "corpus/ledger.h"
#include "corpus/vector.h"
#include "fuzz/verdict/drop.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "sim/parameter.h"

namespace mmadiff {

// {"NAME": VALUE, ...}; values are numbers or names.
nlohmann::ordered_json ParametersJson(std::span<const Change> changes);

// {"name": ..., "parameters": {...}}
nlohmann::ordered_json ChangeJson(const Neighbour& neighbour);

// {"a": [...], "b": [...], "c": ..., "scale_a": [...], "scale_b": [...], "d": ...}: words as in the
// line protocol; scales and d where there are any.
nlohmann::ordered_json DotProductJson(const Instruction& instruction, const DotProductCase& dot,
                                      std::optional<uint64_t> d = std::nullopt);

// What each of them says.
nlohmann::ordered_json MessagesJson(std::span<const Drop> drops);

// {"kind": ..., "d": ..., "instructions": ..., "who": ...} of an answer of a vector.
nlohmann::ordered_json AnswerJson(const Vector& vector, const VectorAnswer& answer);

// What was left out, as every --json has it.
nlohmann::ordered_json LeftOutJson(std::span<const LeftOutLine> lines);

}  // namespace mmadiff
