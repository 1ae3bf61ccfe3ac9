// Which architecture a device is, by at most a few of its answers.
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

// A dot product that may be asked, of the row by which the device knows it.
struct PoolCase {
  const Operation* op = nullptr;
  DotProductCase dot;
  std::optional<uint64_t> answer;  // of a recording
};

struct AskedCase {
  const Operation* op = nullptr;
  DotProductCase dot;
  uint64_t d = 0;
};

struct ArchVerdict {
  enum Kind {
    kGives,         // all answers
    kRefuted,       // by the answer number `asked`, to which its model gives `word`
    kLacks,         // the instruction of that answer
    kNoModel,       // of the instruction of that answer, and no other answer refutes it
    kContradicted,  // gives the answers that were chosen, but not all others of the recording
  };
  std::string arch;
  Kind kind = kGives;
  size_t given = 0;  // answers that its models give
  size_t asked = 0;
  uint64_t word = 0;
  size_t missed = 0;  // of Identification::recorded, if it gives all that were chosen
};

struct Identification {
  std::vector<AskedCase> asked;
  // Of architectures with a model of an instruction that was asked, in the order of the table.
  std::vector<ArchVerdict> archs;
  // Of those that give all answers; indices of `archs`.
  std::vector<Indistinct> indistinct;
  // Changes of one parameter of the models that give all answers: how many there are, and those
  // that give all answers too.
  size_t changes = 0;
  std::vector<std::string> unrefuted;
  size_t recorded = 0;  // answers of a recording, chosen or not, that were held against the models

  std::vector<std::string> Named(ArchVerdict::Kind kind) const;  // architectures
  std::vector<std::string> Identified() const { return Named(ArchVerdict::kGives); }
};

// The operations, at least one with a model, are of one architecture; `pool` has their dot products
// with recorded answers, or is empty for a device that is asked: each case twice. kDataLoss when it
// answers otherwise the second time; kOutOfRange when there was nothing to ask; other errors are the
// device's. At most `most` dot products are used, at least 1.
absl::StatusOr<Identification> Identify(Device& device, const std::vector<const Operation*>& ops,
                                        std::vector<PoolCase> pool, size_t most);

}  // namespace mmadiff
