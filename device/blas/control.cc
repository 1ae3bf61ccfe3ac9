#include "device/blas/control.h"

#include <dlfcn.h>

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace mmadiff::blas {
namespace {

constexpr char kOpenBlasConfig[] = "openblas_get_config",
               kBlisVersion[] = "bli_info_get_version_str",
               kMklVersion[] = "MKL_Get_Version_String";
using Text = const char*();
using Number = int();
using SetNumber = void(int);

constexpr char kLastBlisType[] = "generic";  // of the names of core types, in all versions
constexpr int kMaxBlisTypes = 100;

}  // namespace

// The library's own functions have the decoration of its routines, or none.
template <class Function>
Function* Control::Find(const char* name) const {
  void* found = dlsym(library_, absl::StrCat(prefix_, name, suffix_).c_str());
  if (found == nullptr) found = dlsym(library_, name);
  return reinterpret_cast<Function*>(found);
}

Control::Control(void* library, const Routine& routine)
    : library_(library), prefix_(routine.prefix), suffix_(routine.suffix) {
  maker_ = Find<Text>(kOpenBlasConfig) ? Maker::kOpenBlas
           : Find<Text>(kBlisVersion)  ? Maker::kBlis
           : Find<Text>(kMklVersion)   ? Maker::kMkl
                                       : Maker::kOther;
}

std::string Control::Version() const {
  switch (maker_) {
    case Maker::kOpenBlas:
      return Find<Text>(kOpenBlasConfig)();
    case Maker::kBlis:
      return absl::StrCat("BLIS ", Find<Text>(kBlisVersion)());
    case Maker::kMkl: {
      char text[200] = "";
      Find<void(char*, int)>(kMklVersion)(text, sizeof(text) - 1);
      return std::string(absl::StripTrailingAsciiWhitespace(text));
    }
    case Maker::kOther:
      break;
  }
  return "";
}

std::string Control::CoreType() const {
  if (maker_ == Maker::kOpenBlas) {
    Text* const name = Find<Text>("openblas_get_corename");
    return name == nullptr ? "" : name();
  }
  Number* const id = Find<Number>("bli_arch_query_id");
  const auto name = Find<const char*(int)>("bli_arch_string");
  return maker_ != Maker::kBlis || id == nullptr || name == nullptr ? "" : name(id());
}

int Control::Threads() const {
  const char* const name = maker_ == Maker::kOpenBlas ? "openblas_get_num_threads"
                           : maker_ == Maker::kBlis   ? "bli_thread_get_num_threads"
                                                      : "MKL_Get_Max_Threads";
  Number* const threads = maker_ == Maker::kOther ? nullptr : Find<Number>(name);
  return threads == nullptr ? 0 : std::max(threads(), 0);
}

absl::Status Control::ChooseCoreType(const std::string& wanted,
                                     TemporaryEnvironment& environment) const {
  const auto name = Find<const char*(int)>("bli_arch_string");
  if (maker_ != Maker::kBlis || name == nullptr) return absl::OkStatus();
  std::vector<std::string> names;
  for (int id = 0; id < kMaxBlisTypes && (names.empty() || names.back() != kLastBlisType); ++id) {
    names.push_back(name(id));
    if (!absl::EqualsIgnoreCase(names.back(), wanted)) continue;
    environment.Set("BLIS_ARCH_TYPE", absl::StrCat(id));
    // Without its tables, BLIS aborts when it reads the variable.
    if (auto* const initialize = Find<void()>("bli_init")) initialize();
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("device 'blas:': coretype is '", wanted,
                                                 "'; BLIS has ", absl::StrJoin(names, ", ")));
}

void Control::SetThreads(int threads) const {
  if (maker_ == Maker::kOther) return;
  if (maker_ == Maker::kBlis) {
    if (auto* const set = Find<void(int64_t)>("bli_thread_set_num_threads")) set(threads);
    return;
  }
  const char* const name =
      maker_ == Maker::kMkl ? "MKL_Set_Num_Threads" : "openblas_set_num_threads";
  if (auto* const set = Find<SetNumber>(name)) set(threads);
}

}  // namespace mmadiff::blas
