// The function of a library that multiplies matrices: its name, its interface, and the width of its
// integers.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace mmadiff::blas {

struct Routine {
  std::string symbol;  // "scipy_cblas_sgemm64_"
  std::string prefix;  // "scipy_"
  std::string suffix;  // "64_"
  void* function = nullptr;
  bool is_cblas = false;  // else the interface of Fortran
};
// Searches a library opened by dlopen() for the CBLAS function, then the Fortran function, each
// with the prefix "" or "scipy_" and the suffix "", "64_" or "_64". Calls nothing. kNotFound: the
// message lists all symbols.
absl::StatusOr<Routine> FindRoutine(void* library, absl::string_view path, bool is_double);

// 32 or 64, as the library's isamax shows: some 64-bit libraries have no suffix, and MKL's width
// depends on a variable. Without isamax, a suffix means 64.
int IntegerBits(void* library, const Routine& routine);

}  // namespace mmadiff::blas
