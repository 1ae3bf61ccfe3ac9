// Device `exec:COMMAND`: an external program that uses the line protocol (device/line_protocol.h)
// or the binary protocol (device/binary_protocol.h). `fd:IN,OUT`: the same over two descriptors.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "device/device.h"
#include "device/exec_options.h"

namespace mmadiff {

// `/bin/sh -c COMMAND` runs with MMADIFF_INSTRUCTION=ARCH/INSTRUCTION in its environment. It reads
// dot products from its stdin and writes one answer for each, in the same order, to its stdout. In
// the line protocol an answer is either the input line with the result d as one more word (the
// repeated operands must match), or d alone. Comments, blank lines and lines that match `skip` are
// ignored.
// restart=each: every Run() starts the command again and closes its stdin after the batch.
// restart=never: one process for each operation answers until it ends; it must answer without
// waiting for more input.
// `timeout` is the longest time without a byte of input taken or an answer. identity() names the
// program's files (device/program_files.h).
//
// A word with x or z, a word of the wrong width, other text, a crash, an early end and a hang are
// each an InputFailure if they repeat when that dot product is sent alone to a fresh process that
// does answer a different one, or after a certain number of answers in a process (`age`). Otherwise
// they are errors that name the line and a remedy: kNotFound (no such program), kInternal (it fails
// for every input, and never answered on this operation), kUnavailable (it ended, and did not do so
// again), kDeadlineExceeded, kCancelled, kDataLoss (too few or too many lines, a line that cannot
// be read, repeats different operands, or is longer than 64 KiB; a file of the program that changed
// since this was opened). Errors include the last 2 KiB of the command's stderr.
// `text` is the input of ParseExecOptions(); `timeout` applies if `text` has none.
DeviceOr OpenExec(absl::string_view text, absl::Duration timeout);

// The same over two descriptors of this process: answers are read from IN, dot products written to
// OUT. It serves only the operation of its first request; devices on the same descriptors take
// turns. No fresh process can be started: if the peer ends or hangs, the error is kUnavailable or
// kDeadlineExceeded. kInvalidArgument: a descriptor is not open, or restart=each.
DeviceOr OpenDescriptors(absl::string_view text, absl::Duration timeout);

// Parses the command's whole output as answers to the batch, `piece` bytes at a time. Errors as
// above.
absl::StatusOr<Answers> ReadAnswers(const Operation& op, const Batch& batch,
                                    const ExecOptions& options, absl::string_view output,
                                    size_t piece);

}  // namespace mmadiff
