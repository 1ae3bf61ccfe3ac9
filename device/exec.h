// Device `exec:COMMAND`: an external program that speaks the line protocol (device/line_protocol.h)
// or the binary one (device/binary_protocol.h). `fd:IN,OUT`: the same over two descriptors.
#pragma once

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "device/device.h"
#include "device/exec_options.h"

namespace mmadiff {

// `/bin/sh -c COMMAND` runs with MMADIFF_INSTRUCTION=ARCH/INSTRUCTION in its environment. It reads
// dot products from its stdin and writes one answer for each, in the same order, to its stdout. As
// lines: the line again with the result d as one more word (what is repeated must be what was
// sent), or d alone. Comments, blank lines and what `skip` matches are no answers.
// restart=each: every Run() starts the command anew and closes its stdin behind the batch.
// restart=never: one process for each operation answers until it dies; it must answer without
// waiting for more input.
// `timeout` is the longest time without a byte of input taken or an answer. identity() names the
// files that answer (device/program_files.h).
//
// A word with x or z, one of another width, other text, a crash, an early end and a hang are each an
// InputFailure if they repeat when that dot product is asked alone in a fresh process that answers
// another one, or after so many answers in a process (`age`). Else errors name the line and
// say what to do: kNotFound (no such program), kInternal (it fails whatever it is asked, and never
// answered on this operation), kUnavailable (it ended, and did not do so again), kDeadlineExceeded,
// kCancelled, kDataLoss (too few or too many lines, a line that cannot be read, repeats other
// operands, or is longer than 64 KiB; a file of the program that changed since this was opened).
// They include the last 2 KiB of the command's stderr.
// `text` is what ParseExecOptions() reads; `timeout` holds if it says none.
DeviceOr OpenExec(absl::string_view text, absl::Duration timeout);

// The same over two descriptors of this process: answers are read from IN, dot products written to
// OUT. It serves the operation that it is asked first; devices of the same descriptors take turns.
// There is no fresh process: what ends or hangs is kUnavailable or kDeadlineExceeded.
// kInvalidArgument: no open descriptor, or restart=each.
DeviceOr OpenDescriptors(absl::string_view text, absl::Duration timeout);

// What the command's whole output answers to the batch, taken `piece` bytes at a time. Errors as
// above.
absl::StatusOr<Answers> ReadAnswers(const Operation& op, const Batch& batch,
                                    const ExecOptions& options, absl::string_view output,
                                    size_t piece);

}  // namespace mmadiff
