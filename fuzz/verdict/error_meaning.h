// What the code of an error means: for the verb that ends with it, and for the row of a device that
// gave it. The only place that says so.
#pragma once

#include "absl/status/status.h"
#include "corpus/ledger.h"
#include "fuzz/verdict/drop.h"
#include "fuzz/verdict/verdict_table.h"

namespace mmadiff {

struct ErrorMeaning {
  absl::StatusCode code;
  Verdict verdict;  // of a verb; kDataLoss of what could not be written is kNotWritten instead
  DropCause cause;  // of a row
  // The device may answer when it is asked again, in a fresh process.
  bool again = false;
};
// A code without a meaning of its own means that the row failed.
const ErrorMeaning& MeaningOf(absl::StatusCode code);

// Why the device does not answer for an operation: of a kNotFound.
Reason ReasonOf(const absl::Status& not_found);
// Why the row that it ends is left out.
Reason ReasonOf(const Drop& drop);

}  // namespace mmadiff
