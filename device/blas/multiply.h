// Calls a routine of a BLAS library.
#pragma once

#include "absl/status/status.h"
#include "device/blas/options.h"
#include "device/blas/routine.h"
#include "device/matrix_device.h"

namespace mmadiff::blas {

// D = alpha A B + beta C by sgemm or dgemm. The library gets copies without gaps, in the order that
// the options say, aligned to 64 bytes, and writes to the copy of C, or to zeros if beta is 0.
// Errors as MatrixDevice::Multiply().
absl::Status Multiply(const Routine& routine, int integer_bits, const Options& options,
                      const MatrixProduct& product);

}  // namespace mmadiff::blas
