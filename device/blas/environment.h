// Environment variables that BLAS libraries read, and programs that multiply matrices.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace mmadiff::blas {

// "OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1": all with a prefix of a library, sorted.
std::string Environment();

// Variables for a library that is being opened. Restores the earlier values at its end.
class TemporaryEnvironment {
 public:
  TemporaryEnvironment() = default;
  ~TemporaryEnvironment();
  TemporaryEnvironment(const TemporaryEnvironment&) = delete;
  TemporaryEnvironment& operator=(const TemporaryEnvironment&) = delete;

  void Set(const std::string& name, const std::string& value);
  // The variables that set the number of threads, of all libraries.
  void SetThreads(int threads);
  // Restores one variable now, if it was set.
  void Restore(const std::string& name);

 private:
  std::map<std::string, std::optional<std::string>> earlier_;  // nullopt: was not set
};

}  // namespace mmadiff::blas
