// Device `exec:COMMAND`: an external program that speaks the line protocol
// (device/line_protocol.h).
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "device/device.h"

namespace mmadiff {

// Every Run() starts `/bin/sh -c COMMAND` anew with MMADIFF_INSTRUCTION=ARCH/INSTRUCTION in its
// environment, writes one line per dot product to its stdin and closes it, and expects one line per
// dot product in the same order on its stdout: either the line again with the result d as one more
// word (what is repeated must be what was sent), or d alone. Comments and blank lines are skipped.
// `timeout` is the longest time without a byte of input taken or a line answered; it must be
// positive. identity() names the files that answer (device/program_files.h).
//
// Errors name the line and say what to do: kNotFound (no such program), kInternal (exit code of a
// program that never ended well on this operation), kUnavailable (exit code of one that did,
// signal), kDeadlineExceeded, kCancelled, kDataLoss (too few or too many lines, a line that cannot
// be read, repeats other operands, or is longer than 64 KiB; a file of the program that changed
// since this was opened). They include the last 2 KiB of the command's stderr.
DeviceOr OpenExec(absl::string_view command, absl::Duration timeout);

// What the command's whole output answers to the batch, taken `piece` bytes at a time. Errors as
// above.
absl::StatusOr<std::vector<uint64_t>> ReadAnswers(const Operation& op, const Batch& batch,
                                                  absl::string_view output, size_t piece);

}  // namespace mmadiff
