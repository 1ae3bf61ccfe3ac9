#include "device/activity.h"

#include <utility>

#include "absl/base/attributes.h"
#include "absl/synchronization/mutex.h"

namespace mmadiff {
namespace {

ABSL_CONST_INIT absl::Mutex activity_mutex(absl::kConstInit);
std::function<void(absl::string_view)>& Listener() {
  static auto& listener = *new std::function<void(absl::string_view)>;
  return listener;
}

}  // namespace

void ShowActivity(absl::string_view what) {
  const absl::MutexLock lock(&activity_mutex);
  if (Listener()) Listener()(what);
}

ActivityListener::ActivityListener(std::function<void(absl::string_view)> listener) {
  const absl::MutexLock lock(&activity_mutex);
  Listener() = std::move(listener);
}

ActivityListener::~ActivityListener() {
  const absl::MutexLock lock(&activity_mutex);
  Listener() = nullptr;
}

}  // namespace mmadiff
