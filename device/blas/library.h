// The device `blas:LIBRARY`: a BLAS library of this machine, opened at run time.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/matrix_device.h"

namespace mmadiff {

// `specification` is the text behind "blas:", see device/blas/options.h. A library without '/' and
// ".so" is a name: "openblas" means libopenblas.so.0, else libopenblas.so, else other numbers.
//
// `threads` and `coretype` set environment variables while the library is loaded; a loaded library
// keeps its core type, so a second one needs a second process. Call while no other thread reads or
// writes the environment. The library is never unloaded, and may have threads.
//
//   kInvalidArgument     a bad option, or the library does not do what `coretype` or `threads` says
//   kNotFound            no such library, or it has no such routine; the message names the symbols
//   kFailedPrecondition  the library ends the process that uses it
absl::StatusOr<std::unique_ptr<MatrixDevice>> OpenBlas(absl::string_view specification);

}  // namespace mmadiff
