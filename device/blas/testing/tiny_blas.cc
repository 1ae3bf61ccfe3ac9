// A BLAS library of a few functions, compiled several times by ../CMakeLists.txt: TINY_INTEGER is
// the type of its integers, TINY_PREFIX and TINY_SUFFIX decorate its names; TINY_CBLAS,
// TINY_FORTRAN and TINY_ISAMAX select functions, TINY_OPENBLAS, TINY_BLIS or TINY_MKL those of one
// maker. TINY_EXITS: a product ends the process. All have tiny_last_call: order and transpositions,
// as numbers of CBLAS.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#define TINY_PASTE2(a, b, c) a##b##c
#define TINY_PASTE(a, b, c) TINY_PASTE2(a, b, c)
#define TINY_NAME(name) TINY_PASTE(TINY_PREFIX, name, TINY_SUFFIX)

using Int = TINY_INTEGER;

namespace {

[[maybe_unused]] int Variable(const char* name, int otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoi(value);
}

#ifdef TINY_BLIS
constexpr const char* kBlisTypes[] = {"skx", "haswell", "generic"};
bool initialized = false;
int BlisType() {
  static const int type = [] {
    constexpr int kMissing = 0, kGeneric = 2;
    const int chosen = Variable("BLIS_ARCH_TYPE", kGeneric);
    if (chosen == kMissing || (chosen != kGeneric && !initialized)) {
      std::fputs("libtiny: invalid architecture\nlibtiny: Aborting.\n", stderr);
      std::abort();
    }
    return chosen;
  }();
  return type;
}
#endif

// Element (i, j) of a matrix that may be stored transposed.
template <class Real>
struct Matrix {
  Real* data;
  Int leading;
  bool by_columns, transposed;

  Real& At(Int i, Int j) const {
    if (transposed) std::swap(i, j);
    return data[by_columns ? i + j * leading : i * leading + j];
  }
};

template <class Real>
void Gemm(Int m, Int n, Int k, Real alpha, Matrix<const Real> a, Matrix<const Real> b, Real beta,
          Matrix<Real> c) {
#ifdef TINY_EXITS
  std::fputs("libtiny: cannot load libtiny_kernels.so\n", stderr);
  std::exit(2);
#endif
  for (Int i = 0; i < m; ++i) {
    for (Int j = 0; j < n; ++j) {
      Real sum = 0;
      for (Int l = 0; l < k; ++l) sum += a.At(i, l) * b.At(l, j);
      c.At(i, j) = alpha * sum + (beta == 0 ? 0 : beta * c.At(i, j));
    }
  }
}

}  // namespace

extern "C" {

int tiny_last_call[3];

#ifdef TINY_CBLAS
#define TINY_DEFINE_CBLAS(name, Real)                                                             \
  void TINY_NAME(name)(int order, int ta, int tb, Int m, Int n, Int k, Real alpha, const Real* a, \
                       Int lda, const Real* b, Int ldb, Real beta, Real* c, Int ldc) {            \
    for (int i = 0; i < 3; ++i) tiny_last_call[i] = i == 0 ? order : i == 1 ? ta : tb;            \
    const bool by_columns = order == 102;                                                         \
    Gemm<Real>(m, n, k, alpha, {a, lda, by_columns, ta == 112}, {b, ldb, by_columns, tb == 112},  \
               beta, {c, ldc, by_columns, false});                                                \
  }
TINY_DEFINE_CBLAS(cblas_sgemm, float)
TINY_DEFINE_CBLAS(cblas_dgemm, double)
#endif

#ifdef TINY_FORTRAN
#define TINY_DEFINE_FORTRAN(name, Real)                                                          \
  void TINY_NAME(name)(const char* ta, const char* tb, const Int* m, const Int* n, const Int* k, \
                       const Real* alpha, const Real* a, const Int* lda, const Real* b,          \
                       const Int* ldb, const Real* beta, Real* c, const Int* ldc, size_t,        \
                       size_t) {                                                                 \
    Gemm<Real>(*m, *n, *k, *alpha, {a, *lda, true, *ta == 'T'}, {b, *ldb, true, *tb == 'T'},     \
               *beta, {c, *ldc, true, false});                                                   \
  }
TINY_DEFINE_FORTRAN(sgemm_, float)
TINY_DEFINE_FORTRAN(dgemm_, double)
#endif

#ifdef TINY_ISAMAX
Int TINY_NAME(cblas_isamax)(Int n, const float* x, Int) {
#ifdef TINY_BLIS
  BlisType();
#endif
  return n < 1 ? 0 : std::max_element(x, x + n) - x;
}
Int TINY_NAME(isamax_)(const Int* n, const float* x, const Int*) {
  return *n < 1 ? 0 : std::max_element(x, x + *n) - x + 1;
}
#endif

#ifdef TINY_OPENBLAS
static const std::string core_type = [] {  // read while the library is loaded
  const char* const wanted = std::getenv("OPENBLAS_CORETYPE");
  return wanted == nullptr || std::strcmp(wanted, "Missing") == 0 ? "Tiny" : wanted;
}();
static int threads = Variable("OPENBLAS_NUM_THREADS", 4);
const char* TINY_NAME(openblas_get_config)() { return "OpenBLAS 0.0.1 TINY"; }
const char* TINY_NAME(openblas_get_corename)() { return core_type.c_str(); }
int TINY_NAME(openblas_get_num_threads)() { return threads; }
void TINY_NAME(openblas_set_num_threads)(int number) { threads = std::min(number, 8); }
#endif

#ifdef TINY_BLIS
static int64_t threads = -1;
const char* bli_info_get_version_str() { return "0.0.2"; }
void bli_init() { initialized = true; }
int bli_arch_query_id() { return BlisType(); }
const char* bli_arch_string(int id) { return kBlisTypes[id]; }
int64_t bli_thread_get_num_threads() { return threads; }
void bli_thread_set_num_threads(int64_t number) { threads = number; }
#endif

#ifdef TINY_MKL
static int threads = 2;
void MKL_Get_Version_String(char* text, int size) { std::snprintf(text, size, "Tiny MKL 3   "); }
int MKL_Get_Max_Threads() { return threads; }
void MKL_Set_Num_Threads(int number) { threads = number; }
#endif

}  // extern "C"
