#include "device/cuda/cuda.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/cuda/driver.h"
#include "device/cuda/fragments.h"
#include "device/cuda/kernel.h"
#include "device/one_hot.h"

namespace mmadiff {
namespace {

constexpr int64_t kWordsAtATime = 1 << 23;  // of the largest operand of a launch

// What the kernels come from, for people.
std::string KernelsAre(const PtxTarget& target, const KernelImage& image) {
  return image.cubin.empty() ? absl::StrCat("PTX ", target.version, " assembled by the driver")
                             : absl::StrCat("machine code of ", ToolOf(image));
}

class Cuda : public CudaDevice {
 public:
  Cuda(const CudaDriver& driver, std::string name, const Variant& variant, const PtxTarget& target,
       const KernelImage& image, void* context, int multiprocessors, std::string identity,
       std::string serial)
      : driver_(driver),
        name_(std::move(name)),
        variant_(variant),
        target_(target),
        image_(image),
        context_(context),
        multiprocessors_(multiprocessors),
        identity_(std::move(identity)),
        serial_(std::move(serial)) {}

  std::string name() const override { return name_; }
  std::string identity() const override { return identity_; }
  std::string Hardware() const override {
    return absl::StrCat(serial_, ", ", answered_.count(), " of ", multiprocessors_,
                        " multiprocessors answered");
  }
  bool Emulates(const Operation& op) const override { return !IsNative(op); }
  std::string IdentityNote(const Operation& op) const override {
    return image_.cubin.empty() || InImage(*op.instruction) ? "" : KernelsAre(target_, {});
  }

  absl::Status Supports(const Operation& op) const override {
    if (op.arch() != target_.arch) {
      return absl::NotFoundError(
          absl::StrCat(op.name, " is no instruction of this GPU, which is ", target_.arch));
    }
    const auto probed = layouts_.find(op.instruction->name);
    if (probed != layouts_.end() && !probed->second.ok()) return probed->second;
    return HasKernel(*op.instruction, target_);
  }

  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (!dead_.ok()) return dead_;
    absl::Status s = RunAlive(op, batch, d);
    if (ContextIsDead(s)) {
      dead_ = absl::UnavailableError(
          absl::StrCat(name(), " is lost to this process since an earlier failure, ", s.message()));
    }
    return s;
  }

  const CudaDriver& driver() const override { return driver_; }
  int multiprocessors() const override { return multiprocessors_; }
  Multiprocessors& answered() override { return answered_; }
  absl::Status MakeCurrent() override {
    return driver_.Check(driver_.set_context(context_), "choosing the GPU");
  }

  absl::StatusOr<const LoadedKernel*> Load(const Operation& op) override {
    if (absl::Status s = Supports(op); !s.ok()) return s;
    const Instruction& i = *op.instruction;
    LoadedKernel& loaded = kernels_[i.name];
    if (loaded.function != nullptr) return &loaded;
    loaded.kernel = KernelOf(i, target_, variant_);
    const absl::StatusOr<void*> module = InImage(i) ? ImageModule() : PtxModule(i, loaded.kernel);
    if (!module.ok()) return module.status();
    absl::Status s =
        driver_.Check(driver_.get_function(&loaded.function, *module, loaded.kernel.entry.c_str()),
                      absl::StrCat("loading ", i.name));
    if (!s.ok()) return s;
    return &loaded;
  }

 private:
  bool InImage(const Instruction& i) const { return !image_.cubin.empty() && IsBuiltEntry(i); }

  absl::StatusOr<void*> ImageModule() {
    if (image_module_ != nullptr) return image_module_;
    void* module = nullptr;
    absl::Status s =
        driver_.Check(driver_.load_module(&module, image_.cubin.data(), 0, nullptr, nullptr),
                      absl::StrCat("loading the machine code for ", target_.target));
    if (!s.ok()) return s;
    return image_module_ = module;
  }

  absl::StatusOr<void*> PtxModule(const Instruction& i, const Kernel& kernel) {
    void* module = nullptr;
    absl::Status s =
        driver_.Check(driver_.load_module(&module, kernel.ptx.c_str(), 0, nullptr, nullptr),
                      absl::StrCat("assembling ", i.name, " for ", target_.target));
    if (!s.ok()) return s;
    return module;
  }

  absl::Status RunAlive(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) {
    if (absl::Status s = MakeCurrent(); !s.ok()) return s;
    const absl::StatusOr<const LoadedKernel*> loaded = Load(op);
    if (!loaded.ok()) return loaded.status();
    if (absl::Status s = ConfirmLayout(op); !s.ok()) return s;
    const Fragments fragments(*op.instruction, (*loaded)->kernel);
    std::vector<uint64_t> words(batch.dot_products());
    const int64_t executions = fragments.Executions(batch);
    const Kernel& k = (*loaded)->kernel;
    const int64_t most = kWordsAtATime / std::max({k.a.words, k.b.words, k.c.words, k.d.words});
    for (int64_t first = 0; first < executions; first += most) {
      const int64_t count = std::min(most, executions - first);
      absl::Status s = RunSome(**loaded, fragments, batch, first, count, words.data());
      if (!s.ok()) return s;
    }
    d = std::move(words);
    return absl::OkStatus();
  }

  // Once per instruction, before its first answer. A wrong layout is remembered, a failure of the
  // GPU is not. The executions of the probe itself find it probed.
  absl::Status ConfirmLayout(const Operation& op) {
    const auto [at, first] = layouts_.try_emplace(op.instruction->name, absl::OkStatus());
    if (!first) return at->second;
    const absl::Status s = ProbeLayout(*this, op);
    if (absl::IsFailedPrecondition(s)) {
      at->second = absl::NotFoundError(s.message());
    } else if (!s.ok()) {
      layouts_.erase(at);
    }
    return s;
  }

  absl::Status RunSome(const LoadedKernel& loaded, const Fragments& fragments, const Batch& batch,
                       int64_t first, int64_t count, uint64_t* results) {
    const PackedOperands in = fragments.Pack(batch, first, count);
    std::vector<uint32_t> out(count * loaded.kernel.d.words), where(count);
    DeviceMemory a(driver_), b(driver_), c(driver_), d(driver_), m(driver_);
    const uint32_t pattern = FillPattern();
    absl::Status s = a.Fill(in.a);
    if (s.ok()) s = b.Fill(in.b);
    if (s.ok()) s = c.Fill(in.c);
    if (s.ok()) s = d.Fill(out.size(), pattern);
    if (s.ok()) s = m.Fill(where.size(), kNowhere);
    void* arguments[] = {a.address(), b.address(), c.address(), d.address(), m.address()};
    if (s.ok()) {
      s = driver_.Check(driver_.launch(loaded.function, static_cast<unsigned>(count), 1, 1,
                                       loaded.kernel.threads, 1, 1, 0, nullptr, arguments, nullptr),
                        "launching a kernel");
    }
    if (s.ok()) s = driver_.Check(driver_.synchronize(), "running a kernel");
    if (s.ok()) {
      s = driver_.Check(driver_.to_host(out.data(), *d.address(), 4 * out.size()),
                        "copying results from the GPU");
    }
    if (s.ok()) {
      s = driver_.Check(driver_.to_host(where.data(), *m.address(), 4 * where.size()),
                        "copying the numbers of multiprocessors from the GPU");
    }
    if (s.ok()) s = CheckWritten(loaded.kernel, out, where, pattern);
    if (s.ok()) fragments.Unpack(batch, first, count, out, results);
    return s;
  }

  // Every execution must have written its results, and then where it ran.
  absl::Status CheckWritten(const Kernel& kernel, const std::vector<uint32_t>& out,
                            const std::vector<uint32_t>& where, uint32_t pattern) {
    const int words = kernel.d.words;
    for (size_t x = 0; x < where.size(); ++x) {
      const auto d = out.begin() + x * words;
      const bool written = std::any_of(d, d + words, [=](uint32_t w) { return w != pattern; });
      if (!written || where[x] >= answered_.size()) {
        return absl::DataLossError(absl::StrCat(
            name_, ": ", kernel.entry, " wrote ", written ? "not where it ran" : "no result",
            " in execution ", x, " of ", where.size(), "; what it says cannot be trusted"));
      }
      answered_.set(where[x]);
    }
    return absl::OkStatus();
  }

  const CudaDriver& driver_;
  const std::string name_;
  const Variant variant_;
  const PtxTarget& target_;
  const KernelImage image_;  // empty: none that this driver can load
  void* const context_;
  const int multiprocessors_;
  const std::string identity_;
  const std::string serial_;
  Multiprocessors answered_;
  void* image_module_ = nullptr;                 // loaded at the first need
  std::map<std::string, LoadedKernel> kernels_;  // by instruction
  std::map<std::string, absl::Status> layouts_;  // what the probe of each instruction said
  absl::Status dead_;                            // not OK: the context is destroyed, for good
};

absl::StatusOr<const PtxTarget*> TargetOf(const CudaDriver& driver, int device) {
  int major = 0, minor = 0;  // attributes COMPUTE_CAPABILITY_MAJOR and _MINOR
  absl::Status s = driver.Check(driver.device_attribute(&major, 75, device), "asking the GPU");
  if (s.ok()) s = driver.Check(driver.device_attribute(&minor, 76, device), "asking the GPU");
  if (!s.ok()) return s;
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

// What answers: for provenance, and for whoever compares two recordings.
std::string Identity(absl::string_view gpu, int multiprocessors, const PtxTarget& target,
                     int driver, const KernelImage& image) {
  const bool part =
      absl::StrContains(gpu, "MIG");  // a part of a GPU is named like "... MIG 1g.5gb"
  return absl::StrCat(gpu, part ? ", MIG instance with " : ", ", multiprocessors,
                      " multiprocessors, ", target.target, ", driver ", DriverRelease(),
                      DriverRelease().empty() ? "" : " ", "of CUDA ", CudaVersion(driver), ", ",
                      KernelsAre(target, image));
}

// "GPU-01020304-0506-0708-090a-0b0c0d0e0f10 at PCI 0000:17:00.0".
absl::StatusOr<std::string> Serial(const CudaDriver& driver, int device) {
  unsigned char uuid[16] = {};
  char pci[32] = {};
  absl::Status s = driver.Check(driver.device_uuid(uuid, device), "asking the GPU");
  if (s.ok()) s = driver.Check(driver.device_pci(pci, sizeof(pci), device), "asking the GPU");
  if (!s.ok()) return s;
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    absl::StrAppend(&text, group ? "-" : "", absl::Hex(uuid[i], absl::kZeroPad2));
  }
  return absl::StrCat(text, " at PCI ", pci);
}

// kNotFound when the driver cannot read the kernels' PTX.
absl::Status CheckDriver(int version, const PtxTarget& target) {
  const int needed = DriverForPtx(target.version);
  if (version >= needed) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("the driver here is of CUDA ", CudaVersion(version),
                                          "; the kernels for ", target.target, " are PTX ",
                                          target.version, ", which needs a driver of CUDA ",
                                          CudaVersion(needed), " or newer"));
}

}  // namespace

uint32_t FillPattern() {
  static std::atomic<uint32_t> launches = 0;
  return ++launches * 0x9e3779b9u;  // steps of the golden ratio: no two alike in 2^32
}

absl::StatusOr<std::unique_ptr<CudaDevice>> OpenCuda(absl::string_view argument) {
  return OpenCudaWith(argument, KernelImageOf);
}

absl::StatusOr<std::unique_ptr<CudaDevice>> OpenCudaWith(absl::string_view argument,
                                                         KernelImages images) {
  int index;
  const size_t end = std::min(argument.find(','), argument.size());
  const std::optional<Variant> variant = VariantWithSuffix(argument.substr(end));
  if (!absl::SimpleAtoi(argument.substr(0, end), &index) || index < 0 || !variant.has_value()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "device 'cuda:", argument,
        "': write cuda:N, the number of a GPU from 0 on, and if wanted, ",
        "in this order, ,a=registers (A of wgmma and tcgen05), ,layout=row.row or col.row or ",
        "col.col (A and B of wmma, otherwise row.col), ,c=col (C and D of wmma)"));
  }
  const absl::StatusOr<const CudaDriver*> loaded = LoadCudaDriver();
  if (!loaded.ok()) return loaded.status();
  const CudaDriver& driver = **loaded;
  int count = 0, version = 0, device = 0;
  absl::Status s = driver.Check(driver.device_count(&count), "counting GPUs");
  if (s.ok() && index >= count) {
    s = count == 0 ? driver.Check(100, "counting GPUs")
                   : absl::NotFoundError(absl::StrCat("no GPU ", index, ": there are ", count,
                                                      ", counted from cuda:0 (look at nvidia-smi "
                                                      "and CUDA_VISIBLE_DEVICES)"));
  }
  if (s.ok()) s = driver.Check(driver.driver_version(&version), "asking the driver");
  if (s.ok()) s = driver.Check(driver.device(&device, index), "opening the GPU");
  char name[256] = {};
  if (s.ok()) s = driver.Check(driver.device_name(name, sizeof(name), device), "asking the GPU");
  if (!s.ok()) return s;
  const absl::StatusOr<const PtxTarget*> target = TargetOf(driver, device);
  if (!target.ok()) return target.status();
  KernelImage image = images(**target);
  if (version < image.toolkit) image = {};
  if (image.cubin.empty()) s = CheckDriver(version, **target);
  int multiprocessors = 0;  // attribute MULTIPROCESSOR_COUNT
  if (s.ok()) {
    s = driver.Check(driver.device_attribute(&multiprocessors, 16, device), "asking the GPU");
  }
  if (!s.ok()) return s;
  const absl::StatusOr<std::string> serial = Serial(driver, device);
  if (!serial.ok()) return serial.status();
  void* context = nullptr;
  s = driver.Check(driver.retain_context(&context, device), "opening the GPU");
  if (!s.ok()) return s;
  return std::make_unique<Cuda>(driver, absl::StrCat("cuda:", index, SuffixOf(*variant)), *variant,
                                **target, image, context, multiprocessors,
                                Identity(name, multiprocessors, **target, version, image), *serial);
}

}  // namespace mmadiff
