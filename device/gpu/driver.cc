#include "device/gpu/driver.h"

#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

constexpr char kNoLibrary[] = "mmadiff/no-library";
constexpr char kDeadContext[] = "mmadiff/dead-context";

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

bool ContextIsDead(const absl::Status& status) {
  return status.GetPayload(kDeadContext).has_value();
}

absl::StatusOr<void*> OpenLibrary(const char* path, absl::string_view what,
                                  absl::string_view advice) {
  void* library = dlopen(*path == '\0' ? nullptr : path, RTLD_NOW);
  if (library != nullptr) return library;
  const std::string why = dlerror();
  absl::Status s = absl::NotFoundError(absl::StrCat("no ", what, " here (", why, "): ", advice));
  // A library that this one needs may be missing too: then `why` names that.
  if (absl::StrContains(why, path) && absl::StrContains(why, "No such file")) {
    s.SetPayload(kNoLibrary, absl::Cord());
  }
  return s;
}

bool IsNoLibrary(const absl::Status& status) { return status.GetPayload(kNoLibrary).has_value(); }

bool FindSymbol(void* library, const char* name, void** function) {
  *function = dlsym(library, name);
  return *function != nullptr;
}

absl::Status DeviceMemory::Allocate(size_t bytes) {
  return driver_.Check(driver_.allocate(&address_, std::max<size_t>(bytes, 4)),
                       absl::StrCat("allocating ", bytes, " bytes on the GPU"));
}

absl::Status DeviceMemory::Fill(size_t words, uint32_t word) {
  if (absl::Status s = Allocate(4 * words); !s.ok()) return s;
  return driver_.Check(driver_.fill(address_, word, words), "filling memory of the GPU");
}

absl::Status DeviceMemory::Fill(const std::vector<uint32_t>& words) {
  if (absl::Status s = Allocate(4 * words.size()); !s.ok()) return s;
  return driver_.Check(driver_.to_device(address_, words.data(), 4 * words.size()),
                       "copying operands to the GPU");
}

}  // namespace mmadiff
