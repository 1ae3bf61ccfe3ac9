#include "device/activity.h"

#include <mutex>
#include <utility>

namespace mmadiff {
namespace {

std::mutex activity_mutex;
std::function<void(absl::string_view)>& Listener() {
  static auto& listener = *new std::function<void(absl::string_view)>;
  return listener;
}

}  // namespace

void ShowActivity(absl::string_view what) {
  const std::lock_guard lock(activity_mutex);
  if (Listener()) Listener()(what);
}

ActivityListener::ActivityListener(std::function<void(absl::string_view)> listener) {
  const std::lock_guard lock(activity_mutex);
  Listener() = std::move(listener);
}

ActivityListener::~ActivityListener() {
  const std::lock_guard lock(activity_mutex);
  Listener() = nullptr;
}

}  // namespace mmadiff
