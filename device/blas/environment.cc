#include "device/blas/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace mmadiff::blas {
namespace {

constexpr const char* kPrefixes[] = {
    "OPENBLAS_", "GOTO_", "BLIS_", "MKL_", "OMP_", "KMP_",
    // Programs: oneDNN, PyTorch, NumPy, libraries of NVIDIA and AMD
    "ONEDNN_", "DNNL_", "ATEN_", "TORCH_", "NPY_", "CUBLAS_", "CUBLASLT_", "NVIDIA_TF32_OVERRIDE",
    "ROCBLAS_", "HIPBLASLT_"};
constexpr const char* kThreadVariables[] = {"OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
                                            "BLIS_NUM_THREADS", "MKL_NUM_THREADS"};

}  // namespace

std::string Environment() {
  std::set<absl::string_view> variables;
  for (char** v = environ; *v != nullptr; ++v) {
    const bool is_read = std::ranges::any_of(
        kPrefixes, [v](const char* prefix) { return absl::StartsWith(*v, prefix); });
    if (is_read) variables.insert(*v);
  }
  return absl::StrJoin(variables, " ");
}

void TemporaryEnvironment::Set(const std::string& name, const std::string& value) {
  const char* const earlier = std::getenv(name.c_str());
  earlier_.try_emplace(name, earlier == nullptr ? std::nullopt : std::optional(earlier));
  setenv(name.c_str(), value.c_str(), 1);
}

void TemporaryEnvironment::SetThreads(int threads) {
  for (const char* variable : kThreadVariables) Set(variable, absl::StrCat(threads));
}

void TemporaryEnvironment::Restore(const std::string& name) {
  const auto variable = earlier_.extract(name);
  if (variable.empty()) return;
  if (variable.mapped()) {
    setenv(name.c_str(), variable.mapped()->c_str(), 1);
  } else {
    unsetenv(name.c_str());
  }
}

TemporaryEnvironment::~TemporaryEnvironment() {
  while (!earlier_.empty()) Restore(std::string(earlier_.begin()->first));
}

}  // namespace mmadiff::blas
