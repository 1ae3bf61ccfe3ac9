#include "device/gpu/driver.h"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "device/clock.h"
#include "device/status_macros.h"
#include "device/stop.h"

namespace mmadiff {
namespace {

constexpr char kNoLibrary[] = "mmadiff/no-library";
constexpr char kDeadContext[] = "mmadiff/dead-context";
constexpr char kNoRoom[] = "mmadiff/no-room";
constexpr int kOutOfMemory = 2;  // CUDA_ERROR_OUT_OF_MEMORY, hipErrorOutOfMemory

std::atomic<bool> hangs = false;

}  // namespace

absl::Status StatusOf(std::span<const GpuFailure> failures, int result, absl::string_view message) {
  const auto known = std::ranges::find(failures, result, &GpuFailure::result);
  if (known == failures.end()) return absl::UnavailableError(message);
  absl::Status status(known->code, *known->advice == '\0'
                                       ? std::string(message)
                                       : absl::StrCat(message, "; ", known->advice));
  if (known->sticky) status.SetPayload(kDeadContext, absl::Cord());
  return status;
}

bool AKernelHangs() { return hangs; }

absl::Status GpuDriver::ReadTimeout() {
  const absl::StatusOr<absl::Duration> timeout = TimeoutOf("MMADIFF_GPU_TIMEOUT");
  if (timeout.ok()) timeout_ = *timeout;
  return timeout.status();
}

absl::Status GpuDriver::Wait(absl::string_view what, absl::FunctionRef<bool()> stop) const {
  const auto begun = MonotonicNow();
  constexpr absl::Duration kSoon = absl::Milliseconds(1), kAfterStop = absl::Seconds(2);
  TimeLimit limit = TimeLimit::After(timeout_);
  bool stopped = false;
  while (query(nullptr) == kNotReady) {
    const absl::Duration waited = MonotonicNow() - begun;
    if (!stopped && stop()) {
      stopped = true;
      limit = TimeLimit::After(std::min(limit.Left(), kAfterStop));
    }
    if (limit.Reached()) {
      hangs = true;
      absl::Status s = absl::DeadlineExceededError(absl::StrCat(
          what, ": not finished after ",
          absl::FormatDuration(absl::Trunc(waited, absl::Seconds(1))),
          stopped ? ", although a stop was requested"
                  : " (MMADIFF_GPU_TIMEOUT sets the seconds to wait)",
          "; check dmesg, and check with the vendor's tool that the GPU still responds; then run ",
          "the same command again"));
      s.SetPayload(kDeadContext, absl::Cord());
      return s;
    }
    waited < kSoon ? void(sched_yield()) : absl::SleepFor(std::min(waited / 16, kSoon));
  }
  return Check(synchronize(), what);
}

bool ContextIsDead(const absl::Status& status) {
  return status.GetPayload(kDeadContext).has_value();
}

namespace {

// Whether `why` is the loader's message for a library that does not exist, whatever its wording. If
// the library exists but one that it needs is missing, the message names the missing one.
bool IsNowhere(absl::string_view why, const char* path) {
  constexpr char kAbsent[] = "/absent/library.so";
  if (dlopen(kAbsent, RTLD_NOW) != nullptr) return false;
  return why == absl::StrReplaceAll(dlerror(), {{kAbsent, path}});
}

}  // namespace

absl::StatusOr<void*> OpenLibrary(const char* path, absl::string_view what,
                                  absl::string_view advice) {
  void* library = dlopen(*path == '\0' ? nullptr : path, RTLD_NOW);
  if (library != nullptr) return library;
  const std::string why = dlerror();
  absl::Status s = absl::NotFoundError(absl::StrCat("no ", what, " found (", why, "): ", advice));
  if (IsNowhere(why, path)) s.SetPayload(kNoLibrary, absl::Cord());
  return s;
}

bool IsNoLibrary(const absl::Status& status) { return status.GetPayload(kNoLibrary).has_value(); }

bool FindSymbol(void* library, const char* name, void** function) {
  *function = dlsym(library, name);
  return *function != nullptr;
}

bool IsNoRoom(const absl::Status& status) { return status.GetPayload(kNoRoom).has_value(); }

absl::Status DeviceMemory::Allocate(size_t bytes) {
  const int result = driver_.allocate(&address_, std::max<size_t>(bytes, 4));
  absl::Status s = driver_.Check(result, absl::StrCat("allocating ", bytes, " bytes on the GPU"));
  if (result == kOutOfMemory) s.SetPayload(kNoRoom, absl::Cord());
  return s;
}

absl::Status DeviceMemory::Fill(size_t words, uint32_t word) {
  RETURN_IF_ERROR(Allocate(4 * words));
  return driver_.Check(driver_.fill(address_, word, words), "filling memory of the GPU");
}

absl::Status DeviceMemory::Fill(const std::vector<uint32_t>& words) {
  RETURN_IF_ERROR(Allocate(4 * words.size()));
  return driver_.Check(driver_.to_device(address_, words.data(), 4 * words.size()),
                       "copying operands to the GPU");
}

}  // namespace mmadiff
