// Prints a dot product for people: the operands that contribute, in hex and as numbers.
#pragma once

#include <string>

#include "sim/batch.h"
#include "sim/operation.h"
#include "triage/text_table.h"

namespace mmadiff {

// A line for each term that is not +0 times +0, for the addend, and for scales other than 1, then a
// line that counts the rest. Equal adjacent terms share a line:
//   k=0     3c00 x 3c00  1.0 x 1.0
//   c       b3000000     -2^-25
//   15 terms are +0
// Text wider than `width` is broken between words.
std::string CaseText(const Operation& op, const DotProductCase& dot, size_t indent,
                     size_t width = kAnyWidth);

// The operands of an execution (count 1) that are not those of result `element`, in words: "B column 0
// k=0: ff = nan", or how many there are. Only those that are not +0, nor scales of 1.0; "" for none.
std::string OtherOperandsText(const Operation& op, const Batch& inputs, int64_t element);

}  // namespace mmadiff
