// Identifies a device's architecture from at most a few of its answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/race/fingerprint.h"

namespace mmadiff {

// A dot product to choose from, for the row that the device supports.
struct PoolCase {
  const Operation* op = nullptr;
  DotProductCase dot;
  std::optional<uint64_t> answer;  // from a recording
};

struct AskedCase {
  const Operation* op = nullptr;
  DotProductCase dot;
  uint64_t d = 0;
};

struct ArchVerdict {
  enum Kind {
    kGives,         // reproduces all answers
    kRefuted,       // by answer number `asked`, for which its model gives `word`
    kLacks,         // lacks the instruction of answer number `asked`
    kNoModel,       // for the instruction of that answer, and no other answer refutes it
    kContradicted,  // reproduces the chosen answers, but not all others of the recording
  };
  std::string arch;
  Kind kind = kGives;
  size_t given = 0;  // answers that its models reproduce
  size_t asked = 0;
  uint64_t word = 0;
  size_t missed = 0;  // out of Identification::recorded, if it reproduces all chosen answers
};

struct Identification {
  std::vector<AskedCase> asked;
  // Architectures with a model for an instruction in `asked`, in the order of the table.
  std::vector<ArchVerdict> archs;
  // Among those that reproduce all answers; indices of `archs`.
  std::vector<Indistinct> indistinct;
  // One-parameter changes of the models that reproduce all answers: how many there are, and those
  // that also reproduce all answers.
  size_t changes = 0;
  std::vector<std::string> unrefuted;
  size_t recorded = 0;  // answers of a recording, chosen or not, that were compared with the models

  std::vector<std::string> Named(ArchVerdict::Kind kind) const;  // architectures
  std::vector<std::string> Identified() const { return Named(ArchVerdict::kGives); }
};

// The operations, at least one with a model, belong to one architecture. `pool` has their dot
// products with recorded answers, or is empty for a live device, which runs each case twice.
// kDataLoss if the second answer is different; kOutOfRange if there was nothing to ask; other
// errors are the device's. Uses at most `most` dot products, at least 1.
absl::StatusOr<Identification> Identify(Device& device, const std::vector<const Operation*>& ops,
                                        std::vector<PoolCase> pool, size_t most);

}  // namespace mmadiff
