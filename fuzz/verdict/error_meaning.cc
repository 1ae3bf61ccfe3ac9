#include "fuzz/verdict/error_meaning.h"

#include <algorithm>

#include "device/absence.h"

namespace mmadiff {
namespace {

using enum absl::StatusCode;

constexpr ErrorMeaning kErrors[] = {
    {kNotFound, Verdict::kNotHere, DropCause::kLacks},
    {kFailedPrecondition, Verdict::kUsage, DropCause::kLayout},
    {kDataLoss, Verdict::kHarmed, DropCause::kGarbled, true},
    {kUnavailable, Verdict::kEarly, DropCause::kCrashes, true},
    {kDeadlineExceeded, Verdict::kEarly, DropCause::kHangs, true},
    {kCancelled, Verdict::kEarly, DropCause::kFails},
    {kInvalidArgument, Verdict::kUsage, DropCause::kFails},
    {kAlreadyExists, Verdict::kUsage, DropCause::kFails},
    {kAborted, Verdict::kHarmed, DropCause::kDoesNotRepeat},
    {kOutOfRange, Verdict::kNothing, DropCause::kFails},
    {kUnknown, Verdict::kRowFailed, DropCause::kFails},  // and all other codes
};

}  // namespace

const ErrorMeaning& MeaningOf(absl::StatusCode code) {
  return *std::find_if(std::begin(kErrors), std::end(kErrors) - 1,
                       [code](const ErrorMeaning& error) { return error.code == code; });
}

Reason ReasonOf(const absl::Status& not_found) {
  switch (AbsenceOf(not_found)) {
    case Absence::kProgram:
      return Reason::kCannotStart;
    case Absence::kAnswer:
      return Reason::kNotRecorded;
    default:
      return Reason::kDeviceLacks;
  }
}

Reason ReasonOf(const Drop& drop) {
  return drop.cause == DropCause::kLacks           ? ReasonOf(drop.status)
         : drop.cause == DropCause::kDoesNotRepeat ? Reason::kDoesNotRepeat
                                                   : Reason::kDropped;
}

}  // namespace mmadiff
