// Kernels of a resident run on the test drivers: LaunchTwin() runs those of the module "twin" on
// the host, in programs that contain it (fuzz/testing/fake_resident.cc). It returns 0, or 500 if
// there is no kernel of this name.
#pragma once

#include <cstring>
#include <set>
#include <string>

namespace mmadiff {

class FakeTwins {
 public:
  static bool IsImage(const void* image) {
    return std::strcmp(static_cast<const char*>(image), "twin") == 0;
  }
  // A driver's handle for any name.
  void* Named(const char* kernel) {
    return const_cast<std::string*>(&*names_.insert(kernel).first);
  }
  // The name behind a handle; nullptr if the handle belongs to a different kernel.
  const char* NameOf(const void* function) const {
    for (const std::string& name : names_) {
      if (function == &name) return name.c_str();
    }
    return nullptr;
  }

 private:
  std::set<std::string> names_;
};

}  // namespace mmadiff
