#include "device/blas/multiply.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"

namespace mmadiff::blas {
namespace {

// The numbers of CBLAS.
enum CblasOrder : int { kRowMajor = 101, kColumnMajor = 102 };
enum CblasTranspose : int { kNoTranspose = 111, kTranspose = 112 };

template <class Real, class Int>
using Cblas = void(int order, int transpose_a, int transpose_b, Int m, Int n, Int k, Real alpha,
                   const Real* a, Int lda, const Real* b, Int ldb, Real beta, Real* c, Int ldc);
// Fortran compilers append the lengths of the two texts.
template <class Real, class Int>
using Fortran = void(const char* transpose_a, const char* transpose_b, const Int* m, const Int* n,
                     const Int* k, const Real* alpha, const Real* a, const Int* lda, const Real* b,
                     const Int* ldb, const Real* beta, Real* c, const Int* ldc, size_t, size_t);

constexpr size_t kBytesOfAlignment = 64;

// A matrix as the library sees it: rows x columns elements without gaps.
template <class Real>
struct Stored {
  std::unique_ptr<Real[], decltype(&std::free)> data{nullptr, std::free};
  int64_t rows = 0, columns = 0;
  bool by_columns = false, transposed = false;  // transposed: it is that of the product, transposed

  int64_t leading() const { return std::max<int64_t>(by_columns ? rows : columns, 1); }
  // Element (i, j) of the product's matrix.
  Real* At(int64_t i, int64_t j) const {
    if (transposed) std::swap(i, j);
    return data.get() + (by_columns ? i + j * rows : i * columns + j);
  }
};

// All elements are 0.
template <class Real>
absl::StatusOr<Stored<Real>> Allocate(int64_t rows, int64_t columns, bool by_columns,
                                      bool transposed) {
  int64_t bytes;
  bool failed = __builtin_mul_overflow(rows, columns, &bytes) ||
                __builtin_mul_overflow(bytes, sizeof(Real), &bytes) ||
                __builtin_add_overflow(bytes, kBytesOfAlignment, &bytes);
  if (transposed) std::swap(rows, columns);
  Stored<Real> stored = {{nullptr, std::free}, rows, columns, by_columns, transposed};
  if (!failed) {
    bytes -= bytes % static_cast<int64_t>(kBytesOfAlignment);
    stored.data.reset(static_cast<Real*>(std::aligned_alloc(kBytesOfAlignment, bytes)));
    failed = stored.data == nullptr;
  }
  if (failed) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for a matrix of ", rows, " x ", columns, " elements"));
  }
  std::memset(stored.data.get(), 0, bytes);
  return stored;
}

template <class Real>
absl::StatusOr<Stored<Real>> Copy(const Words& from, int64_t rows, int64_t columns, bool by_columns,
                                  bool transposed) {
  ASSIGN_OR_RETURN(Stored<Real> stored, Allocate<Real>(rows, columns, by_columns, transposed));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      std::memcpy(stored.At(i, j), from.At(i, j), sizeof(Real));
    }
  }
  return stored;
}

template <class Real, class Int>
void CallCblas(void* function, const ProductFactors& factors, const MatrixProduct& p,
               const Stored<Real>& a, const Stored<Real>& b, const Stored<Real>& d) {
  const auto transpose = [](const Stored<Real>& x) {
    return x.transposed ? kTranspose : kNoTranspose;
  };
  reinterpret_cast<Cblas<Real, Int>*>(function)(
      d.by_columns ? kColumnMajor : kRowMajor, transpose(a), transpose(b), static_cast<Int>(p.m),
      static_cast<Int>(p.n), static_cast<Int>(p.k), static_cast<Real>(factors.alpha), a.data.get(),
      static_cast<Int>(a.leading()), b.data.get(), static_cast<Int>(b.leading()),
      static_cast<Real>(factors.beta), d.data.get(), static_cast<Int>(d.leading()));
}

// Fortran has columns only: by rows, it multiplies the transposed B by the transposed A.
template <class Real, class Int>
void CallFortran(void* function, const ProductFactors& factors, const MatrixProduct& p,
                 const Stored<Real>& a, const Stored<Real>& b, const Stored<Real>& d) {
  const Stored<Real>&left = d.by_columns ? a : b, &right = d.by_columns ? b : a;
  const char* const transpose[] = {"N", "T"};
  const Int m = static_cast<Int>(d.by_columns ? p.m : p.n), k = static_cast<Int>(p.k),
            n = static_cast<Int>(d.by_columns ? p.n : p.m), lda = static_cast<Int>(left.leading()),
            ldb = static_cast<Int>(right.leading()), ldd = static_cast<Int>(d.leading());
  const Real alpha = static_cast<Real>(factors.alpha), beta = static_cast<Real>(factors.beta);
  reinterpret_cast<Fortran<Real, Int>*>(function)(
      transpose[left.transposed], transpose[right.transposed], &m, &n, &k, &alpha, left.data.get(),
      &lda, right.data.get(), &ldb, &beta, d.data.get(), &ldd, 1, 1);
}

template <class Real, class Int>
absl::Status MultiplyAs(const Routine& routine, const Options& options, const MatrixProduct& p) {
  constexpr int64_t kMaxSize = std::numeric_limits<Int>::max();
  if (std::max({p.m, p.n, p.k}) > kMaxSize) {
    return absl::InvalidArgumentError(absl::StrCat("m = ", p.m, ", n = ", p.n, ", k = ", p.k,
                                                   " do not fit the integers of ", routine.symbol));
  }
  if (p.m == 0 || p.n == 0) return absl::OkStatus();
  const bool columns = options.by_columns;
  ASSIGN_OR_RETURN(const auto a, Copy<Real>(p.a, p.m, p.k, columns, options.transpose_a));
  ASSIGN_OR_RETURN(const auto b, Copy<Real>(p.b, p.k, p.n, columns, options.transpose_b));
  const ProductFactors& factors = options.factors;
  ASSIGN_OR_RETURN(const auto d, factors.beta == 0 ? Allocate<Real>(p.m, p.n, columns, false)
                                                   : Copy<Real>(p.c, p.m, p.n, columns, false));
  const auto call = routine.is_cblas ? CallCblas<Real, Int> : CallFortran<Real, Int>;
  call(routine.function, factors, p, a, b, d);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) std::memcpy(p.d.At(i, j), d.At(i, j), sizeof(Real));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Multiply(const Routine& routine, int integer_bits, const Options& options,
                      const MatrixProduct& product) {
  const auto multiply =
      options.is_double
          ? (integer_bits == 64 ? MultiplyAs<double, int64_t> : MultiplyAs<double, int32_t>)
          : (integer_bits == 64 ? MultiplyAs<float, int64_t> : MultiplyAs<float, int32_t>);
  return multiply(routine, options, product);
}

}  // namespace mmadiff::blas
