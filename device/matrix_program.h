// The device `exec:COMMAND` of whole products: any program that multiplies matrices, on any
// processor.
//
// One process answers all products. /bin/sh -c starts it; it reads requests from its stdin until
// that ends. A request is
//   a line of text, "M N K A B D\n": sizes in decimal, at least 1, and the names of three formats,
//     each after one space: "64 32 1000 f16 f16 f32";
//   M * K words of A by rows, then K * N words of B by rows.
// The answer is M * N words of D = A B by rows, flushed, and nothing else: no line, no length. Words
// are little-endian, in the fewest whole bytes of their format; those of e2m1 or s4 are in the low
// bits. The next request follows the answer.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "device/matrix_device.h"

namespace mmadiff {

// The largest size of A and B together, and of D.
inline constexpr int64_t kMaxMatrixBytes = int64_t{2} << 30;

// `specification` is the text behind "exec:", COMMAND[,timeout=5m]: the longest time in which the
// program neither reads nor writes, `timeout` if it is not given. kInvalidArgument: no command, or
// another option of `exec:`. The program starts at the first product; errors of Multiply():
//   kInvalidArgument   more than kMaxMatrixBytes; k is 0
//   kNotFound          no such program
//   kInternal          it ended, or does not answer in time
//   kDataLoss          it wrote more than D (also Finish()), or its files have changed
// Output that arrives late may count as that of the next product; the one after it reports that.
absl::StatusOr<std::unique_ptr<MatrixDevice>> OpenMatrixProgram(absl::string_view specification,
                                                                const MatrixFormats& formats,
                                                                absl::Duration timeout);

}  // namespace mmadiff
