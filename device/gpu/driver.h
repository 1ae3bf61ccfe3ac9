// The common part of the GPU vendors' run-time libraries. They are opened at run time: building and
// starting need neither a toolkit nor a driver.
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

// Functions with the same arguments in all libraries, under each library's own names; a result of 0
// is success.
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
  int (*query)(void* stream);  // kNotReady, or the outcome of the launches; nullptr: all launches
  int (*blocks_at_once)(int*, void*, int, size_t);  // per processor: threads, shared bytes

  // Loads machine code, or kernel text that the driver assembles.
  virtual int LoadModule(void** module, const void* image) const = 0;
  // OK for 0. `what` describes the call; the code decides the kind of Status: kNotFound for no
  // device or no suitable driver, kDeadlineExceeded for a kernel that was stopped, kUnavailable for
  // everything else. The message includes advice for the usual failures.
  virtual absl::Status Check(int result, absl::string_view what) const = 0;
  // Waits for all launches and returns their outcome. kDeadlineExceeded if they have not ended
  // within MMADIFF_GPU_TIMEOUT (TimeoutOf()), or within two seconds after `stop` returns true; then
  // AKernelHangs().
  absl::Status Wait(absl::string_view what, absl::FunctionRef<bool()> stop) const;
  absl::Status ReadTimeout();  // before the first Wait()

 protected:
  ~GpuDriver() = default;

 private:
  absl::Duration timeout_ = absl::Minutes(1);
};

// Whether a kernel never finished. Everything else that waits for the GPU would wait for that
// kernel: freeing GPU memory, and the libraries when a program exits normally.
bool AKernelHangs();

// The meaning of a result. After a `sticky` one this process can no longer use the GPU.
struct GpuFailure {
  int result;
  absl::StatusCode code;
  bool sticky;
  const char* advice;  // the remedy, or ""
};
// For Check(): the listed failure of that result with its advice after the message; kUnavailable
// for a result that is not listed.
absl::Status StatusOf(std::span<const GpuFailure> failures, int result, absl::string_view message);
// True for a Status from Check() after a sticky failure.
bool ContextIsDead(const absl::Status& status);

// Opens a vendor's library by dlopen() of `path`; "" is this program. The kNotFound message names
// what was missing, then `advice`.
absl::StatusOr<void*> OpenLibrary(const char* path, absl::string_view what,
                                  absl::string_view advice);
// True for a Status from OpenLibrary() if no such file is installed, as on a machine without a GPU.
// False for a library that cannot be loaded, or that finds no GPU.
bool IsNoLibrary(const absl::Status& status);
// Sets `function`; false if the library does not have the name.
bool FindSymbol(void* library, const char* name, void** function);
template <class F>
bool FindSymbol(void* library, const char* name, F*& function) {
  return FindSymbol(library, name, reinterpret_cast<void**>(&function));
}

// True for a Status from DeviceMemory::Allocate() if the GPU has no room, possibly because of other
// processes.
bool IsNoRoom(const absl::Status& status);

// Memory of the current GPU, freed with the object.
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
