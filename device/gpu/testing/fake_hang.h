// A kernel that never comes back, on the drivers for tests: whoever waits for it, waits for ever.
#pragma once

#include <unistd.h>

namespace mmadiff {

class FakeHang {
 public:
  void Begin() { hangs_ = true; }
  bool hangs() const { return hangs_; }
  void Wait() const {
    while (hangs_) pause();
  }

 private:
  bool hangs_ = false;
};

}  // namespace mmadiff
