// What the model of every operation answers to a small sample of generated cases, as digests that
// are kept in the repository (corpus/model_digests.txt): no change of the tables, of the arithmetic
// or of the generator is silent, and no prediction need be stored.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/operation.h"

namespace mmadiff {

struct ModelDigest {
  std::string op;
  uint64_t inputs = 0, answers = 0;  // XXH3-64 of the words, 8 bytes each, little-endian
  // Grade, formats, k, algorithm with all its parameters, NaN verdict: a change that the sample
  // does not show is no secret either.
  std::string model;
};

std::string ModelText(const Operation& op);

// Of all operations, in table order: a few dot products of each of the first cases of strategy
// mixed, seed 1.
std::vector<ModelDigest> ComputeModelDigests();

// "model ID TEXT" for each text, then a line for each operation: its name, the ID of its model,
// digest of the inputs, digest of the answers. '#' starts a comment.
std::string FormatModelDigests(std::span<const ModelDigest> digests);
// kInvalidArgument names `where` and the line.
absl::StatusOr<std::vector<ModelDigest>> ParseModelDigests(absl::string_view text,
                                                           absl::string_view where);

struct ModelChange {
  enum Kind : uint8_t { kAnswers, kInputs, kModel, kNew, kRemoved };
  Kind kind;
  std::string op;
  std::string what = "";  // "fraction_bits=24 -> fraction_bits=25" where the model changed
  std::string before = "", now = "";  // ModelDigest::model; empty where there is none
};
// Other inputs say nothing about the model: they are kInputs whatever the answers.
std::vector<ModelChange> CompareModelDigests(std::span<const ModelDigest> stored,
                                             std::span<const ModelDigest> now);
// "answers changed"
const char* Name(ModelChange::Kind kind);

}  // namespace mmadiff
