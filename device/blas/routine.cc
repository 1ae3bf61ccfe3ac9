#include "device/blas/routine.h"

#include <dlfcn.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/plain_text.h"

namespace mmadiff::blas {
namespace {

constexpr const char* kPrefixes[] = {"", "scipy_"};
constexpr const char* kSuffixes[] = {"", "64_", "_64"};

// The suffix of the CBLAS function cblas_sgemm64_ is that of the Fortran function sgemm_64_, but
// cblas_sgemm_64 belongs to sgemm_64.
std::string SymbolOf(const Routine& r, absl::string_view name) {
  if (r.is_cblas) return absl::StrCat(r.prefix, "cblas_", name, r.suffix);
  return absl::StrCat(r.prefix, name, r.suffix.substr(0, 1) == "_" ? "" : "_", r.suffix);
}

}  // namespace

absl::StatusOr<Routine> FindRoutine(void* library, absl::string_view path, bool is_double) {
  std::vector<std::string> symbols;
  for (const bool is_cblas : {true, false}) {
    for (const char* prefix : kPrefixes) {
      for (const char* suffix : kSuffixes) {
        Routine routine = {"", prefix, suffix, nullptr, is_cblas};
        routine.symbol = SymbolOf(routine, is_double ? "dgemm" : "sgemm");
        routine.function = dlsym(library, routine.symbol.c_str());
        symbols.push_back(routine.symbol);
        if (routine.function != nullptr) return routine;
      }
    }
  }
  return absl::NotFoundError(absl::StrCat(PlainLine(path),
                                          " has no function that multiplies matrices: none of ",
                                          absl::StrJoin(symbols, ", ")));
}

// isamax returns the index of the largest of n numbers, and 0 if n is negative.
int IntegerBits(void* library, const Routine& routine) {
  void* const isamax = dlsym(library, SymbolOf(routine, "isamax").c_str());
  if (isamax == nullptr) return routine.suffix.empty() ? 32 : 64;
  // 2 in the low 32 bits, but negative in all 64.
  constexpr int64_t n = std::numeric_limits<int64_t>::min() + 2, increment = 1;
  constexpr float kNumbers[] = {0, 1};
  int index;
  if (routine.is_cblas) {
    using Cblas = int(int64_t, const float*, int64_t);
    index = reinterpret_cast<Cblas*>(isamax)(n, kNumbers, increment);
  } else {
    using Fortran = int(const int64_t*, const float*, const int64_t*);
    index = reinterpret_cast<Fortran*>(isamax)(&n, kNumbers, &increment);
  }
  return index == 0 ? 64 : 32;
}

}  // namespace mmadiff::blas
