// Digests of the model's answers for every operation on a small sample of generated cases, stored
// in the repository (corpus/model_digests.txt). They reveal every change of the tables, the
// arithmetic or the generator, and make stored predictions unnecessary.
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
  // Grade, formats, k, algorithm with all its parameters, NaN verdict. Reveals changes that the
  // sample does not show.
  std::string model;
};

std::string ModelText(const Operation& op);

// The digests of all operations, in table order, over a few dot products from each of the first
// cases of strategy mixed, seed 1.
std::vector<ModelDigest> ComputeModelDigests();

// "model ID TEXT" for each text, then one line per operation: its name, the ID of its model, digest
// of the inputs, digest of the answers. '#' starts a comment.
std::string FormatModelDigests(std::span<const ModelDigest> digests);
// kInvalidArgument names `where` and the line.
absl::StatusOr<std::vector<ModelDigest>> ParseModelDigests(absl::string_view text,
                                                           absl::string_view where);

struct ModelChange {
  enum Kind : uint8_t { kAnswers, kInputs, kModel, kNew, kRemoved };
  Kind kind;
  std::string op;
  std::string what = "";  // "fraction_bits=24 -> fraction_bits=25" where the model changed
  std::string before = "", now = "";  // ModelDigest::model; empty if there is no model
};
// If the inputs changed, the change is kInputs whatever the answers, which prove nothing then.
std::vector<ModelChange> CompareModelDigests(std::span<const ModelDigest> stored,
                                             std::span<const ModelDigest> now);
// "answers changed"
const char* Name(ModelChange::Kind kind);

}  // namespace mmadiff
