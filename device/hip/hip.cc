#include "device/hip/hip.h"

#include <sys/utsname.h>

#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/hip/comgr.h"
#include "device/hip/driver.h"
#include "device/hip/kernel.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

class Hip : public GpuDevice {
 public:
  Hip(const HipDriver& driver, GpuFacts facts, int index, uint32_t mode, const HipTarget& target,
      const HipImage& image)
      : GpuDevice(driver, std::move(facts)),
        driver_(driver),
        index_(index),
        own_mode_(mode),
        mode_(mode),
        target_(target),
        image_(image) {}

  absl::string_view target() const override { return target_.target; }
  void* LastArgument() override { return &mode_; }
  std::vector<std::string> Modes() const override {
    return ModesBeside(HipModes(target_), own_mode_);
  }
  void SetMode(absl::string_view mode) override {
    const std::vector<Mode> modes = HipModes(target_);
    const Mode* const m = FindMode(modes, mode);
    mode_ = m == nullptr ? own_mode_ : m->In(own_mode_);
  }
  absl::Status MakeCurrent() override {
    return driver_.Check(driver_.set_device(index_), "choosing the GPU");
  }

 private:
  absl::Status HasOperation(const Operation& op) const override {
    if (op.arch() == target_.arch) return HasHipKernel(*op.instruction, target_);
    return absl::NotFoundError(
        absl::StrCat(op.name, " is not an instruction of this GPU, which is ", target_.target));
  }
  Kernel KernelFor(const Instruction& i) const override { return HipKernelOf(i, target_); }

  // One module contains all kernels.
  absl::StatusOr<void*> ModuleFor(const Instruction&, const Kernel&) override {
    if (module_ != nullptr) return module_;
    if (image_.code_object.empty()) {
      ASSIGN_OR_RETURN(std::string code,
                       Assemble(target_, HipModuleOf(target_, BuiltHipInstructions(target_))));
      assembled_ = std::move(code);
    }
    const void* code = image_.code_object.empty() ? assembled_.data() : image_.code_object.data();
    void* module = nullptr;
    RETURN_IF_ERROR(driver_.Check(driver_.LoadModule(&module, code),
                                  absl::StrCat("loading the machine code for ", target_.target)));
    return module_ = module;
  }

  const HipDriver& driver_;
  const int index_;
  const uint32_t own_mode_;  // the mode in name()
  uint32_t mode_;
  const HipTarget& target_;
  const HipImage image_;
  std::string assembled_;  // the code object, if the build has none
  void* module_ = nullptr;
};

// The release of the kernel driver: from the module amdgpu, or from the Linux kernel that contains
// it.
void AddKernelDriver(Identity& identity) {
  std::string release;
  utsname kernel = {};
  if (std::ifstream("/sys/module/amdgpu/version") >> release) {
    identity.Add("amdgpu", release);
  } else if (uname(&kernel) == 0) {
    identity.Add("linux", kernel.release);
  } else {
    identity.Add("kernel_driver", "amdgpu");
  }
}

// "0,denorm=flush": the number of the GPU, and MODE.
struct Argument {
  int index = 0;
  uint32_t mode = kHipModeAtStart;
};
std::optional<Argument> ParseArgument(absl::string_view text,
                                      std::span<const Mode> modes = HipModes()) {
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  Argument argument;
  if (!absl::SimpleAtoi(parts.front(), &argument.index) || argument.index < 0 ||
      parts.front() != absl::StrCat(argument.index)) {
    return std::nullopt;
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const Mode* const m = FindMode(modes, parts[i]);
    if (m == nullptr) return std::nullopt;
    argument.mode = m->In(argument.mode);
  }
  return argument;
}

absl::Status BadArgument(absl::string_view argument) {
  const auto mode = [](std::string* out, const Mode& m) { absl::StrAppend(out, ModeText(m)); };
  return absl::InvalidArgumentError(absl::StrCat(
      "device 'hip:", argument, "': write hip:N, where N is a GPU number starting at 0, ",
      "optionally followed by these, each after a comma: ", absl::StrJoin(HipModes(), ", ", mode)));
}

// If no GPU has that number: how many GPUs exist, and why.
absl::Status CheckCount(const HipDriver& driver, int index) {
  int count = 0;
  absl::Status s = driver.Check(driver.device_count(&count), "counting GPUs");
  if (!s.ok() || index < count) return s;
  if (count == 0) return driver.Check(100, "counting GPUs");
  const std::string why = WhyHidden();
  return absl::NotFoundError(absl::StrCat("no GPU ", index, "; GPUs found: ", count,
                                          ", numbered from hip:0 (check rocm-smi",
                                          why.empty() ? "" : "; " + why, ")"));
}

absl::Status NoKernels(const std::string& architecture) {
  const auto known = [](std::string* out, const HipTarget& t) { absl::StrAppend(out, t.target); };
  return absl::NotFoundError(absl::StrCat("this GPU is ", architecture, "; there are kernels for ",
                                          absl::StrJoin(HipTargets(), ", ", known)));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GpuDevice>> OpenHip(absl::string_view argument) {
  return OpenHipWith(argument, HipImageOf);
}

absl::StatusOr<std::unique_ptr<GpuDevice>> OpenHipWith(absl::string_view text, HipImages images) {
  const std::optional<Argument> argument = ParseArgument(text);
  if (!argument.has_value()) return BadArgument(text);
  ASSIGN_OR_RETURN(const HipDriver* loaded, LoadHipDriver());
  const HipDriver& driver = *loaded;
  const int index = argument->index;
  RETURN_IF_ERROR(CheckCount(driver, index));
  ASSIGN_OR_RETURN(const std::string architecture, driver.ArchitectureOf(index));
  const HipTarget* const target = FindHipTarget(architecture);
  if (target == nullptr) return NoKernels(architecture);
  if (!ParseArgument(text, HipModes(*target)).has_value()) {
    return absl::InvalidArgumentError(absl::StrCat("device 'hip:", text, "': ", architecture,
                                                   " has neither clamp nor ieee in its MODE"));
  }

  char name[256] = {};
  int version = 0, units = 0, clock = 0;
  RETURN_IF_ERROR(driver.Check(driver.device_name(name, sizeof(name), index), "querying the GPU"));
  // hipDeviceAttributeMultiprocessorCount, ...ClockRate
  RETURN_IF_ERROR(driver.Check(driver.device_attribute(&units, 63, index), "querying the GPU"));
  RETURN_IF_ERROR(driver.Check(driver.device_attribute(&clock, 5, index), "querying the GPU"));
  RETURN_IF_ERROR(driver.Check(driver.runtime_version(&version), "querying HIP"));
  ASSIGN_OR_RETURN(Hardware hardware, HardwareOf(driver, driver.device_uuid, index));
  hardware.part = Hardware::kComputeUnits;
  const HipImage image = images(*target);
  if (image.code_object.empty()) {
    RETURN_IF_ERROR(CanAssemble(*target));
  }
  Identity identity;
  identity.Add("hardware", name)
      .Add("compute_units", absl::StrCat(units))
      .Add("clock_mhz", absl::StrCat(clock / 1000))
      .Add("target", architecture);
  AddKernelDriver(identity);
  identity.Add("hip", HipVersion(version))
      .Add("assembled_by", image.code_object.empty() ? "the code object manager" : "")
      .Add("assembler", image.code_object.empty() ? "" : std::string(image.tool))
      .Add("mode", argument->mode == kHipModeAtStart ? "" : absl::StrCat("hip:", text));
  return std::make_unique<Hip>(
      driver, GpuFacts{absl::StrCat("hip:", text), std::move(identity), hardware, units}, index,
      argument->mode, *target, image);
}

}  // namespace mmadiff
