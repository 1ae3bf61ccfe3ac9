// From a mismatch to what is worth keeping of it: which change explains the device, and a small set
// of minimal cases that refute every other one.
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
  std::string why;  // what the case shows, in words
  CaseRole role = CaseRole::kRefutes;
};

struct Investigation {
  Bucket bucket;  // where it does not repeat there is nothing below
  Diagnosis diagnosis;
  // The simplest mismatch that was found; one to which the explanation gives the device's word and
  // no preferred change does, if there is another; cases that refute what this one leaves, some of
  // which the model answers rightly; the mismatch as it was found; and one of ordinary numbers.
  std::vector<KeptCase> cases;
  size_t refuted = 0, left = 0;  // single changes that the cases refute, and do not
  int64_t executions = 0;        // of the device
  bool spent = false;  // all that it may: the cases may be larger or fewer than they could
  // Dot products of ordinary numbers (triage/typical.h), none of which differs: by the explanation, or
  // without one by the device's answers. 0: one does, or it is not known.
  int64_t ordinary = 0;

  std::string Text() const;  // one sentence
};

// Executions that an investigation may spend on a device that answers at once, and on a slow one.
inline constexpr int64_t kMaxExecutions = 20000, kMaxSlowExecutions = 500;

// `cases`: to choose questions from. `known`: what the device answered before.
// `most`: executions that it may spend, about; 0: kMaxExecutions or kMaxSlowExecutions. Errors
// are the device's.
absl::StatusOr<Investigation> Investigate(Device& device, const Mismatch& mismatch,
                                          const CaseStream& cases,
                                          std::span<const Observed> known = {}, int64_t most = 0);

}  // namespace mmadiff
