// Turns a mismatch into the evidence worth keeping: the change that explains the device, and a
// small set of minimal cases that rule out every other change.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/bucket.h"
#include "device/device.h"
#include "triage/diagnosis/diagnosis.h"
#include "triage/minimize/minimize.h"
#include "triage/runner.h"

namespace mmadiff {

struct KeptCase {
  Mismatch mismatch;  // with all its words
  Bucket bucket;
  std::string why;  // the evidence that the case gives, in words
  CaseRole role = CaseRole::kRefutes;
};

struct Investigation {
  Bucket bucket;  // if it does not repeat, the members below are empty
  Diagnosis diagnosis;
  // The simplest mismatch found. A mismatch to which the explanation gives the device's word and no
  // preferred change does, if that is a different case. Cases that refute the remaining changes;
  // the model may be right on some of these cases. The mismatch as found. One mismatch of ordinary
  // numbers.
  std::vector<KeptCase> cases;
  size_t refuted = 0, left = 0;  // single-parameter changes: refuted by the cases, and the rest
  int64_t executions = 0;        // run on the device
  bool spent = false;  // the limit was reached: the cases may be larger or fewer than possible
  // The number of dot products of ordinary numbers (triage/typical.h) that were checked if none
  // differs, by the explanation, or without one by the device's answers. 0: one differs, or it is
  // unknown.
  int64_t ordinary = 0;

  std::string Text() const;  // one sentence
};

// The executions that an investigation may spend on a fast device, and on a slow one.
inline constexpr int64_t kMaxExecutions = 20000, kMaxSlowExecutions = 500;

// `cases`: source of questions. `known`: earlier answers of the device. `most`: about how many
// executions may be spent; 0: kMaxExecutions or kMaxSlowExecutions. Errors are the device's.
absl::StatusOr<Investigation> Investigate(Device& device, const Mismatch& mismatch,
                                          const CaseStream& cases,
                                          std::span<const Observed> known = {}, int64_t most = 0);

}  // namespace mmadiff
