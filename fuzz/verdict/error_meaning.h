// The meaning of an error code for a verb that ends with it and for the row of a device that
// returned it. Defined only here.
#pragma once

#include "absl/status/status.h"
#include "corpus/ledger.h"
#include "fuzz/verdict/drop.h"
#include "fuzz/verdict/verdict_table.h"

namespace mmadiff {

struct ErrorMeaning {
  absl::StatusCode code;
  Verdict verdict;  // the verb's; kDataLoss after a failed write is kNotWritten instead
  DropCause cause;  // the row's
  // The device may answer when it is queried again in a fresh process.
  bool again = false;
};
// Any other code means that the row failed.
const ErrorMeaning& MeaningOf(absl::StatusCode code);

// Why the device does not answer for an operation, for kNotFound.
Reason ReasonOf(const absl::Status& not_found);
// Why the row that the drop ends is left out.
Reason ReasonOf(const Drop& drop);

}  // namespace mmadiff
