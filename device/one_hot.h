// Confirms where a device keeps every matrix element, before its arithmetic is tested.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "device/device.h"

namespace mmadiff {

// OK if every element of A, B, C and D, and of the scales, is where the layout says. Runs
// executions of the instruction's own shape on small integers, whose exact results D = A B + C are
// computed here. One operand at a time is a code that names its elements, against a partner with a
// single one in each row or column. Any swap of two elements of an operand, or of two bytes of
// elements that share a register, is detected. Only a permutation of k common to A and B, which
// leaves every product of matrices unchanged, cannot be detected by sums without rounding.
//
// kFailedPrecondition names the instruction, the operand under test and the first wrong element of
// D. Any other error is the device's own.
enum class LayoutCode : uint8_t {
  kWords,  // CodeWord(): shows bytes and halves of words that are exchanged
  kOnes,   // 1: for a device that loses bits of operands
};
absl::Status ProbeLayout(Device& device, const Operation& op, LayoutCode code = LayoutCode::kWords);

// The same for a dot product alone: its elements of A and B, its addend and its scales, in one
// batch.
absl::Status ProbeDotProduct(Device& device, const Operation& op,
                             LayoutCode code = LayoutCode::kWords);

// The result of `probe`, one of the above. A wrong layout is probed again; kAborted if the second
// probe does not find the same error: a device whose answers do not repeat reveals nothing about
// its layout.
absl::Status Repeated(absl::FunctionRef<absl::Status()> probe);

// Dot products that ProbeLayout() runs with executions of this shape.
int64_t LayoutDotProducts(const Operation& op, const Shape& shape);

// The word for "one" in an operand under test: an integer whose bytes differ in pairs, as far as
// they are in its leading 11 bits, for f64 53. More bits would test how many bits a sum keeps.
uint64_t CodeWord(const Format& format);

}  // namespace mmadiff
