// Confirms where a device has every matrix element, before anything about its arithmetic is asked.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "device/device.h"

namespace mmadiff {

// Ok when every element of A, B, C and D, and of the scales, is where the layout says. Executions
// of the instruction's own shape on small integers, whose exact results D = A B + C are computed
// here; one operand at a time is a code that names its elements, against a partner with a single
// one in each row or column. No two elements of an operand, and no two bytes of elements that share
// a register, can trade places unseen; only a permutation of k common to A and B, which leaves
// every product of matrices as it is, cannot be seen by sums without rounding.
//
// kFailedPrecondition names the instruction, the operand under probe and the first wrong element of
// D. Any other error is the device's own.
absl::Status ProbeLayout(Device& device, const Operation& op);

// The same of a dot product alone: its elements of A and B, its addend and its scales, in one batch.
absl::Status ProbeDotProduct(Device& device, const Operation& op);

// What `probe`, one of the above, comes to. A wrong layout is asked for again; kAborted when the same
// is not wrong then: a device whose answers do not repeat says nothing of its layout.
absl::Status Repeated(absl::FunctionRef<absl::Status()> probe);

// Dot products that ProbeLayout() asks with executions of this shape.
int64_t LayoutDotProducts(const Operation& op, const Shape& shape);

// What stands for "one" in an operand under probe: an integer whose word has bytes that differ in
// pairs, as far as they lie in its leading 11 bits, in f64 53: more would ask how many bits a sum
// keeps.
uint64_t CodeWord(const Format& format);

}  // namespace mmadiff
