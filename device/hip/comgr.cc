#include "device/hip/comgr.h"

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "device/gpu/driver.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// Types, values and signatures of amd_comgr.h 2.4; handles are structs of one 64-bit number.
enum DataKind { kSource = 1, kLog = 5, kRelocatable = 7, kExecutable = 8 };
enum Action { kLink = 9, kAssemble = 10 };
struct Comgr {
  int (*isa_count)(size_t*);
  int (*isa_name)(size_t, const char**);
  int (*create_data)(int, uint64_t*);
  int (*release_data)(uint64_t);
  int (*set_data)(uint64_t, size_t, const char*);
  int (*set_data_name)(uint64_t, const char*);
  int (*get_data)(uint64_t, size_t*, char*);
  int (*create_set)(uint64_t*);
  int (*destroy_set)(uint64_t);
  int (*add)(uint64_t, uint64_t);
  int (*count)(uint64_t, int, size_t*);
  int (*get)(uint64_t, int, size_t, uint64_t*);
  int (*create_action)(uint64_t*);
  int (*destroy_action)(uint64_t);
  int (*set_isa)(uint64_t, const char*);
  int (*set_options)(uint64_t, const char**, size_t);
  int (*set_logging)(uint64_t, bool);
  int (*run)(int, uint64_t, uint64_t, uint64_t);
};

absl::StatusOr<const Comgr*> Load() {
  constexpr char kWhat[] = "AMD code object manager";
  constexpr char kAdvice[] = "install ROCm, or Debian's libamd-comgr2";
  absl::StatusOr<void*> library;
  if (const char* path = std::getenv("MMADIFF_LIBCOMGR")) {
    library = OpenLibrary(path, kWhat, kAdvice);
  } else {
    library = OpenLibrary("libamd_comgr.so.3", kWhat, kAdvice);
    if (!library.ok()) library = OpenLibrary("libamd_comgr.so.2", kWhat, kAdvice);
  }
  RETURN_IF_ERROR(library.status());
  static Comgr comgr;
  const auto symbol = [&library](const char* name, auto& function) {
    return FindSymbol(*library, absl::StrCat("amd_comgr_", name).c_str(), function);
  };
  const bool complete =
      symbol("get_isa_count", comgr.isa_count) && symbol("get_isa_name", comgr.isa_name) &&
      symbol("create_data", comgr.create_data) && symbol("release_data", comgr.release_data) &&
      symbol("set_data", comgr.set_data) && symbol("set_data_name", comgr.set_data_name) &&
      symbol("get_data", comgr.get_data) && symbol("create_data_set", comgr.create_set) &&
      symbol("destroy_data_set", comgr.destroy_set) && symbol("data_set_add", comgr.add) &&
      symbol("action_data_count", comgr.count) && symbol("action_data_get_data", comgr.get) &&
      symbol("create_action_info", comgr.create_action) &&
      symbol("destroy_action_info", comgr.destroy_action) &&
      symbol("action_info_set_isa_name", comgr.set_isa) &&
      symbol("action_info_set_option_list", comgr.set_options) &&
      symbol("action_info_set_logging", comgr.set_logging) && symbol("do_action", comgr.run);
  if (!complete) return absl::NotFoundError("libamd_comgr lacks functions of version 2");
  return &comgr;
}

absl::StatusOr<const Comgr*> LoadComgr() {
  static const absl::StatusOr<const Comgr*>& loaded = *new absl::StatusOr<const Comgr*>(Load());
  return loaded;
}

// A set of data objects, destroyed with the object.
class DataSet {
 public:
  explicit DataSet(const Comgr& comgr) : comgr_(comgr) { comgr.create_set(&handle_); }
  ~DataSet() { comgr_.destroy_set(handle_); }
  DataSet(const DataSet&) = delete;
  DataSet& operator=(const DataSet&) = delete;

  bool Add(DataKind kind, const char* name, const std::string& bytes) {
    uint64_t data;
    if (comgr_.create_data(kind, &data) != 0) return false;
    const bool added = comgr_.set_data(data, bytes.size(), bytes.data()) == 0 &&
                       comgr_.set_data_name(data, name) == 0 && comgr_.add(handle_, data) == 0;
    comgr_.release_data(data);
    return added;
  }
  // The first object of that kind; "" if it is missing.
  std::string Bytes(DataKind kind) const {
    size_t count = 0, size = 0;
    uint64_t data;
    if (comgr_.count(handle_, kind, &count) != 0 || count == 0) return "";
    if (comgr_.get(handle_, kind, 0, &data) != 0) return "";
    std::string bytes;
    if (comgr_.get_data(data, &size, nullptr) == 0) bytes.resize(size);
    const bool got = comgr_.get_data(data, &size, bytes.data()) == 0;
    comgr_.release_data(data);
    return got ? bytes : "";
  }
  uint64_t handle() const { return handle_; }

 private:
  const Comgr& comgr_;
  uint64_t handle_ = 0;
};

constexpr absl::string_view kIsa = "amdgcn-amd-amdhsa--";

std::string IsaOf(const HipTarget& target) { return absl::StrCat(kIsa, target.target); }

absl::Status CheckTarget(const Comgr& comgr, const HipTarget& target) {
  size_t count = 0;
  std::vector<std::string> names;
  comgr.isa_count(&count);
  for (size_t i = 0; i < count; ++i) {
    const char* name = "";
    if (comgr.isa_name(i, &name) != 0) continue;
    names.emplace_back(absl::StripPrefix(name, kIsa));
    if (names.back() == target.target) return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrCat(
      "the installed code object manager is too old for it (it supports ", names.size(),
      " other targets): install a newer ROCm, set MMADIFF_LIBCOMGR to a newer libamd_comgr, or "
      "build with a clang that supports it"));
}

}  // namespace

absl::Status CanAssemble(const HipTarget& target) {
  const absl::StatusOr<const Comgr*> comgr = LoadComgr();
  const absl::Status s = comgr.ok() ? CheckTarget(**comgr, target) : comgr.status();
  if (s.ok()) return s;
  return absl::NotFoundError(absl::StrCat("this build has no machine code for ", target.target,
                                          ", and nothing installed can make it: ", s.message()));
}

absl::StatusOr<std::string> Assemble(const HipTarget& target, const std::string& text) {
  RETURN_IF_ERROR(CanAssemble(target));
  const Comgr& comgr = **LoadComgr();
  const std::string isa = IsaOf(target);
  DataSet source(comgr), relocatable(comgr), executable(comgr);
  uint64_t action = 0;
  const char* options[] = {"-mcode-object-version=4"};
  const bool done = source.Add(kSource, "kernels.s", text) && comgr.create_action(&action) == 0 &&
                    comgr.set_isa(action, isa.c_str()) == 0 &&
                    comgr.set_options(action, options, 1) == 0 &&
                    comgr.set_logging(action, true) == 0 &&
                    comgr.run(kAssemble, action, source.handle(), relocatable.handle()) == 0 &&
                    comgr.set_options(action, nullptr, 0) == 0 &&
                    comgr.run(kLink, action, relocatable.handle(), executable.handle()) == 0;
  if (action != 0) comgr.destroy_action(action);
  std::string code = done ? executable.Bytes(kExecutable) : "";
  if (!code.empty()) return code;
  return absl::InternalError(absl::StrCat("assembling the kernels for ", target.target, ": ",
                                          relocatable.Bytes(kLog), executable.Bytes(kLog)));
}

}  // namespace mmadiff
