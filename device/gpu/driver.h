// What the run-time libraries of the GPU vendors have in common. They are opened at run time: neither
// a toolkit nor a driver is needed to build or to start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace mmadiff {

// Functions that they have with the same arguments under names of their own; a result of 0 is
// success.
struct GpuDriver {
  static constexpr int kNotReady = 600;

  int (*init)(unsigned);
  int (*device_count)(int*);
  int (*device_name)(char*, int, int);
  int (*device_attribute)(int*, int, int);
  int (*device_pci)(char*, int, int);
  int (*get_function)(void**, void*, const char*);
  int (*memory)(size_t* free, size_t* total);
  int (*allocate)(uint64_t*, size_t);
  int (*free)(uint64_t);
  int (*to_device)(uint64_t, const void*, size_t);
  int (*to_host)(void*, uint64_t, size_t);
  int (*fill)(uint64_t, unsigned, size_t);  // 32-bit words
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                void**, void**);
  int (*synchronize)();
  int (*query)(void* stream);  // kNotReady, or what has become of the launches; nullptr: of all
  int (*blocks_at_once)(int*, void*, int, size_t);  // of a processor: threads, shared bytes

  // Loads machine code, or text of kernels that the driver assembles.
  virtual int LoadModule(void** module, const void* image) const = 0;
  // OK for 0. `what` says what was asked; the code decides the kind of Status: no device or no
  // suitable driver is kNotFound, a kernel that was stopped kDeadlineExceeded, everything else
  // kUnavailable. The message says what to do about the usual ones.
  virtual absl::Status Check(int result, absl::string_view what) const = 0;
  // What has become of the launches, once all have ended. kDeadlineExceeded if they have not within
  // MMADIFF_GPU_TIMEOUT (TimeoutOf()), or two seconds after `stop` says true: AKernelHangs() then.
  absl::Status Wait(absl::string_view what, absl::FunctionRef<bool()> stop) const;
  absl::Status ReadTimeout();  // before the first Wait()

 protected:
  ~GpuDriver() = default;

 private:
  absl::Duration timeout_ = absl::Minutes(1);
};

// Whether a kernel never came back. All else that waits for the GPU would wait for it: to free its
// memory, and what libraries do when a program ends in good order.
bool AKernelHangs();

// What a result means for us. After a `sticky` one all that this process can do on the GPU is over.
struct GpuFailure {
  int result;
  absl::StatusCode code;
  bool sticky;
  const char* advice;  // "" or what to do
};
// For Check(): the failure of that result with its advice behind the message; kUnavailable for a
// result that is not listed.
absl::Status StatusOf(std::span<const GpuFailure> failures, int result, absl::string_view message);
// True for a Status of Check() after a sticky failure.
bool ContextIsDead(const absl::Status& status);

// A library of a vendor, by dlopen() of `path`; "" is this program. kNotFound says what was missing,
// then `advice`.
absl::StatusOr<void*> OpenLibrary(const char* path, absl::string_view what,
                                  absl::string_view advice);
// True for a Status of OpenLibrary() when no such file is installed, as on a machine that has no GPU.
// A library that cannot be loaded, or that finds no GPU, is another thing.
bool IsNoLibrary(const absl::Status& status);
// Sets `function`; false if the library has no such name.
bool FindSymbol(void* library, const char* name, void** function);
template <class F>
bool FindSymbol(void* library, const char* name, F*& function) {
  return FindSymbol(library, name, reinterpret_cast<void**>(&function));
}

// True for a Status of DeviceMemory::Allocate() when the GPU has no room for it, which may be for
// want of what other processes take.
bool IsNoRoom(const absl::Status& status);

// Memory of the GPU that is current, freed with the object.
class DeviceMemory {
 public:
  explicit DeviceMemory(const GpuDriver& driver) : driver_(driver) {}
  ~DeviceMemory() {
    if (address_ != 0 && !AKernelHangs()) driver_.free(address_);
  }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  absl::Status Allocate(size_t bytes);  // once
  absl::Status Fill(size_t words, uint32_t word);
  absl::Status Fill(const std::vector<uint32_t>& words);
  uint64_t* address() { return &address_; }

 private:
  const GpuDriver& driver_;
  uint64_t address_ = 0;
};

}  // namespace mmadiff
