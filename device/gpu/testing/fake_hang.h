// A kernel that never ends, for the test drivers: waiting for it never ends.
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
