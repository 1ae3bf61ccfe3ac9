#include "device/cuda/cuda.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/cuda/driver.h"
#include "device/cuda/kernel.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

// Where the kernels come from, for people.
class Cuda : public GpuDevice {
 public:
  Cuda(const CudaDriver& driver, GpuFacts facts, const Variant& variant, const PtxTarget& target,
       const KernelImage& image, void* context)
      : GpuDevice(driver, std::move(facts)),
        driver_(driver),
        variant_(variant),
        target_(target),
        image_(image),
        context_(context) {}

  bool Emulates(const Operation& op) const override { return !IsNative(op); }
  std::string IdentityNote(const Operation& op) const override {
    return image_.cubin.empty() || InImage(*op.instruction)
               ? ""
               : absl::StrCat("PTX ", target_.version, " assembled by the driver");
  }

  absl::string_view target() const override { return target_.target; }
  absl::Status MakeCurrent() override {
    return driver_.Check(driver_.set_context(context_), "choosing the GPU");
  }

 private:
  absl::Status HasOperation(const Operation& op) const override {
    if (op.arch() == target_.arch) return HasKernel(*op.instruction, target_, variant_);
    return absl::NotFoundError(
        absl::StrCat(op.name, " is not an instruction of this GPU, which is ", target_.arch));
  }
  Kernel KernelFor(const Instruction& i) const override { return KernelOf(i, target_, variant_); }
  absl::StatusOr<void*> ModuleFor(const Instruction& i, const Kernel& kernel) override {
    return InImage(i) ? ImageModule() : PtxModule(i, kernel);
  }

  bool InImage(const Instruction& i) const {
    return !image_.cubin.empty() && IsBuiltEntry(i) && variant_.overlap.empty() &&
           variant_.around.empty();
  }

  absl::StatusOr<void*> ImageModule() {
    if (image_module_ != nullptr) return image_module_;
    void* module = nullptr;
    RETURN_IF_ERROR(driver_.Check(driver_.LoadModule(&module, image_.cubin.data()),
                                  absl::StrCat("loading the machine code for ", target_.target)));
    return image_module_ = module;
  }

  absl::StatusOr<void*> PtxModule(const Instruction& i, const Kernel& kernel) {
    void* module = nullptr;
    RETURN_IF_ERROR(driver_.Check(driver_.LoadModule(&module, kernel.text.c_str()),
                                  absl::StrCat("assembling ", i.name, " for ", target_.target)));
    return module;
  }

  const CudaDriver& driver_;
  const Variant variant_;
  const PtxTarget& target_;
  const KernelImage image_;  // empty: this driver can load none
  void* const context_;
  void* image_module_ = nullptr;  // loaded on first use
};

absl::StatusOr<const PtxTarget*> TargetOf(const CudaDriver& driver, int device) {
  int major = 0, minor = 0;  // attributes COMPUTE_CAPABILITY_MAJOR and _MINOR
  RETURN_IF_ERROR(driver.Check(driver.device_attribute(&major, 75, device), "querying the GPU"));
  RETURN_IF_ERROR(driver.Check(driver.device_attribute(&minor, 76, device), "querying the GPU"));
  for (const PtxTarget& t : PtxTargets()) {
    if (t.major == major && t.minor == minor) return &t;
  }
  const auto name = [](std::string* out, const PtxTarget& t) {
    absl::StrAppend(out, t.major, ".", t.minor);
  };
  const bool old = major < PtxTargets().front().major;
  return absl::NotFoundError(absl::StrCat(
      "this GPU has compute capability ", major, ".", minor, old ? ", which is too old" : "",
      "; there are kernels for ", absl::StrJoin(PtxTargets(), ", ", name)));
}

Identity IdentityOf(absl::string_view gpu, int multiprocessors, const PtxTarget& target, int driver,
                    const KernelImage& image) {
  const bool part =
      absl::StrContains(gpu, "MIG");  // a part of a GPU has a name like "... MIG 1g.5gb"
  const std::string release = DriverRelease();
  return Identity()
      .Add("hardware", std::string(gpu))
      .Add("mig_multiprocessors", part ? absl::StrCat(multiprocessors) : "")
      .Add("multiprocessors", part ? "" : absl::StrCat(multiprocessors))
      .Add("target", target.target)
      .Add("driver", release)
      .Add("driver_of_cuda", release.empty() ? CudaVersion(driver) : "")
      .Add("cuda", release.empty() ? "" : CudaVersion(driver))
      .Add("ptx", image.cubin.empty() ? absl::StrCat(target.version) : "")
      .Add("assembler", image.cubin.empty() ? "" : ToolOf(image));
}

// kNotFound if the driver cannot read the kernels' PTX.
absl::Status CheckDriver(int version, const PtxTarget& target) {
  const int needed = DriverForPtx(target.version);
  if (version >= needed) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("this driver is for CUDA ", CudaVersion(version),
                                          "; the kernels for ", target.target, " are PTX ",
                                          target.version, ", which needs a driver for CUDA ",
                                          CudaVersion(needed), " or newer"));
}

}  // namespace

absl::StatusOr<std::unique_ptr<GpuDevice>> OpenCuda(absl::string_view argument) {
  return OpenCudaWith(argument, KernelImageOf);
}

absl::StatusOr<std::unique_ptr<GpuDevice>> OpenCudaWith(absl::string_view argument,
                                                        KernelImages images) {
  int index;
  const size_t end = std::min(argument.find(','), argument.size());
  const std::optional<Variant> variant = VariantWithSuffix(argument.substr(end));
  if (!absl::SimpleAtoi(argument.substr(0, end), &index) || index < 0 || !variant.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("device 'cuda:", argument,
                     "': write cuda:N, where N is a GPU number starting at 0, optionally followed "
                     "by commas and ",
                     VariantValues()));
  }
  if (SharesOperands(variant->overlap)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "device 'cuda:", argument, "': only sass: checks registers that operands share (",
        variant->overlap, ")"));
  }
  ASSIGN_OR_RETURN(const CudaDriver* loaded, LoadCudaDriver());
  const CudaDriver& driver = *loaded;
  int count = 0, version = 0, device = 0;
  RETURN_IF_ERROR(driver.Check(driver.device_count(&count), "counting GPUs"));
  if (index >= count) {
    return count == 0 ? driver.Check(100, "counting GPUs")
                      : absl::NotFoundError(absl::StrCat("no GPU ", index, "; GPUs found: ", count,
                                                         ", numbered from cuda:0 (check "
                                                         "nvidia-smi and CUDA_VISIBLE_DEVICES)"));
  }
  RETURN_IF_ERROR(driver.Check(driver.driver_version(&version), "querying the driver"));
  RETURN_IF_ERROR(driver.Check(driver.device(&device, index), "opening the GPU"));
  char name[256] = {};
  RETURN_IF_ERROR(driver.Check(driver.device_name(name, sizeof(name), device), "querying the GPU"));
  ASSIGN_OR_RETURN(const PtxTarget* target, TargetOf(driver, device));
  KernelImage image = images(*target);
  if (version < image.toolkit) image = {};
  if (image.cubin.empty()) {
    RETURN_IF_ERROR(CheckDriver(version, *target));
  }
  int multiprocessors = 0;  // attribute MULTIPROCESSOR_COUNT
  RETURN_IF_ERROR(
      driver.Check(driver.device_attribute(&multiprocessors, 16, device), "querying the GPU"));
  ASSIGN_OR_RETURN(Hardware hardware, HardwareOf(driver, driver.device_uuid, device));
  hardware.part = Hardware::kMultiprocessors;
  void* context = nullptr;
  RETURN_IF_ERROR(driver.Check(driver.retain_context(&context, device), "opening the GPU"));
  return std::make_unique<Cuda>(driver,
                                GpuFacts{absl::StrCat("cuda:", index, SuffixOf(*variant)),
                                         IdentityOf(name, multiprocessors, *target, version, image),
                                         hardware, multiprocessors},
                                *variant, *target, image, context);
}

}  // namespace mmadiff
