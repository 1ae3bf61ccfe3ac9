// The specification of a BLAS library, the text behind "blas:".
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/matrix_device.h"

namespace mmadiff::blas {

struct Options {
  std::string library;       // a path, a soname, or NAME of libNAME.so
  bool is_double = false;    // dgemm
  int threads = 0;           // 0: as the library chooses
  std::string core_type;     // "": as the library chooses
  bool by_columns = false;   // how the library gets A, B, C and D; D is the same
  bool transpose_a = false;  // the library gets A transposed, and transposes it
  bool transpose_b = false;
  ProductFactors factors;
};
// LIBRARY[,routine=sgemm|dgemm][,threads=N][,coretype=NAME][,order=row|column]
// [,transpose=none|a|b|ab][,alpha=X][,beta=X]. kInvalidArgument with the options.
absl::StatusOr<Options> ParseOptions(absl::string_view text);

}  // namespace mmadiff::blas
