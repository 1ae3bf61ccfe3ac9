// Reasons why a task failed for good; its row is then not queried further unless the agenda
// requests it. Decided here for all verbs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "corpus/survey_record.h"
#include "sim/operation.h"

namespace mmadiff {

// By the code of the device's error: fuzz/verdict/error_meaning.h.
enum class DropCause : uint8_t {
  kLacks,          // kNotFound: the device has no such instruction, or no answer
  kLayout,         // kFailedPrecondition: the layout differs
  kGarbled,        // kDataLoss: an answer that cannot be read or trusted
  kFails,          // any other error of the device
  kSelfTest,       // the planted fault was not found
  kCrashes,        // kUnavailable, twice
  kHangs,          // kDeadlineExceeded, twice
  kDoesNotRepeat,  // kAborted: two different answers for one input
  kDeviceGone,     // the device could not be opened again after it
};

struct Drop {
  const Operation* op = nullptr;
  DropCause cause = DropCause::kFails;
  absl::Status status;      // the device's, for people
  KillingInput input = {};  // for kCrashes and kHangs
};
// The drop that a final error causes; nullopt if the device is lost or was stopped.
std::optional<Drop> DropOf(const Operation& op, const absl::Status& error);
// Why a result, also a stored one, is the last of its row; nullopt if it is not.
std::optional<DropCause> CauseOf(const SurveyResult& result);
std::string Text(const Drop& drop);  // "dropped sm_90/...: it has no such instruction"

}  // namespace mmadiff
