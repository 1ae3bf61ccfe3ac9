// Version, core type and threads of a BLAS library, by its own functions.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "device/blas/environment.h"
#include "device/blas/routine.h"

namespace mmadiff::blas {

enum class Maker : uint8_t { kOther, kOpenBlas, kBlis, kMkl };

class Control {
 public:
  Control(void* library, const Routine& routine);

  Maker maker() const { return maker_; }
  std::string Version() const;   // "" if the library does not report it
  std::string CoreType() const;  // whose kernels it uses; "" if it does not report it
  int Threads() const;           // 0 if it does not report them
  // For libraries that read their core type at their first product. kInvalidArgument: no such core
  // type. Aborts if the library does not have its kernels.
  absl::Status ChooseCoreType(const std::string& name, TemporaryEnvironment& environment) const;
  // Nothing if the library has no function for it; then the environment decides.
  void SetThreads(int threads) const;

 private:
  template <class Function>
  Function* Find(const char* name) const;

  void* library_;
  std::string prefix_, suffix_;
  Maker maker_ = Maker::kOther;
};

}  // namespace mmadiff::blas
