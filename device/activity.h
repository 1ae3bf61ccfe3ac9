// Steps of a device that may take long before its first answer, for a progress line.
#pragma once

#include <functional>

#include "absl/strings/string_view.h"

namespace mmadiff {

// "assembling 8 kernels of mma.m16n8k16.f32.f16.f16.f32", from any thread. Nothing listens by default.
void ShowActivity(absl::string_view what);

// Sends the texts of all threads to `listener`, one at a time, while the object exists; one at a time.
class ActivityListener {
 public:
  explicit ActivityListener(std::function<void(absl::string_view)> listener);
  ~ActivityListener();
  ActivityListener(const ActivityListener&) = delete;
};

}  // namespace mmadiff
