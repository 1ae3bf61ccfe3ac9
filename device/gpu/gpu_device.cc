#include "device/gpu/gpu_device.h"

#include <algorithm>
#include <atomic>

#include "absl/strings/str_cat.h"
#include "device/one_hot.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr int64_t kWordsAtATime = 1 << 23;  // in a launch's largest operand

// The words of elements of D, over all executions, that still contain the pattern.
std::vector<size_t> Unwritten(const Kernel& kernel, const std::vector<uint32_t>& out,
                              uint32_t pattern) {
  std::vector<bool> used(kernel.d.words);
  for (const Slot& slot : kernel.d.slots) used[slot.word] = true;
  std::vector<size_t> unwritten;
  for (size_t at = 0; at < out.size(); ++at) {
    if (out[at] == pattern && used[at % kernel.d.words]) unwritten.push_back(at);
  }
  return unwritten;
}

}  // namespace

uint32_t FillPattern() {
  static std::atomic<uint32_t> launches = 0;
  return ++launches * 0x9e3779b9u;  // steps of the golden ratio: no repeats within 2^32
}

absl::StatusOr<Hardware> HardwareOf(const GpuDriver& driver, int (*uuid_of)(void*, int),
                                    int device) {
  unsigned char uuid[16] = {};
  char pci[32] = {};
  RETURN_IF_ERROR(driver.Check(uuid_of(uuid, device), "querying the GPU"));
  RETURN_IF_ERROR(driver.Check(driver.device_pci(pci, sizeof(pci), device), "querying the GPU"));
  Hardware hardware = {.unit = "GPU", .pci = PlainLine(pci)};
  for (int i = 0; i < 16; ++i) {
    const bool group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
    absl::StrAppend(&hardware.unit, group ? "-" : "", absl::Hex(uuid[i], absl::kZeroPad2));
  }
  return hardware;
}

Hardware GpuDevice::hardware() const {
  Hardware now = facts_.hardware;
  now.answered = static_cast<uint32_t>(answered_.count());
  now.of = static_cast<uint32_t>(processors());
  return now;
}

absl::Status GpuDevice::Supports(const Operation& op) const {
  const auto probed = layouts_.find(op.instruction->name);
  if (probed != layouts_.end() && !probed->second.ok()) return probed->second;
  return HasOperation(op);
}

absl::Status GpuDevice::Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) {
  RETURN_IF_ERROR(dead_);
  absl::Status s = RunAlive(op, batch, d);
  if (ContextIsDead(s)) {
    dead_ = absl::UnavailableError(absl::StrCat(
        name(), " is unusable in this process after an earlier failure, ", s.message()));
  }
  return s;
}

absl::StatusOr<const LoadedKernel*> GpuDevice::Load(const Operation& op) {
  RETURN_IF_ERROR(Supports(op));
  const Instruction& i = *op.instruction;
  LoadedKernel& loaded = kernels_[i.name];
  if (loaded.function != nullptr) return &loaded;
  loaded.kernel = KernelFor(i);
  ASSIGN_OR_RETURN(void* module, ModuleFor(i, loaded.kernel));
  RETURN_IF_ERROR(
      driver_.Check(driver_.get_function(&loaded.function, module, loaded.kernel.entry.c_str()),
                    absl::StrCat("loading ", i.name)));
  return &loaded;
}

absl::Status GpuDevice::RunAlive(const Operation& op, const Batch& batch,
                                 std::vector<uint64_t>& d) {
  RETURN_IF_ERROR(MakeCurrent());
  ASSIGN_OR_RETURN(const LoadedKernel* loaded, Load(op));
  RETURN_IF_ERROR(ConfirmLayout(op));
  const Kernel& k = loaded->kernel;
  const Fragments fragments(*op.instruction, k);
  std::vector<uint64_t> words(batch.dot_products());
  const int64_t executions = fragments.Executions(batch);
  const int64_t most = kWordsAtATime / std::max({k.a.words, k.b.words, k.c.words, k.d.words});
  for (int64_t first = 0; first < executions; first += most) {
    const int64_t count = std::min(most, executions - first);
    RETURN_IF_ERROR(RunPortion(*loaded, fragments, batch, first, count, words.data()));
  }
  d = std::move(words);
  return absl::OkStatus();
}

// Runs once per instruction, before its first answer. A wrong layout is remembered; a failure of
// the GPU is not. During the probe's own executions the instruction counts as probed.
absl::Status GpuDevice::ConfirmLayout(const Operation& op) {
  const auto [at, first] = layouts_.try_emplace(op.instruction->name, absl::OkStatus());
  if (!first) return at->second;
  const absl::Status s = Repeated([&] { return ProbeLayout(*this, op); });
  if (absl::IsFailedPrecondition(s)) {
    at->second = absl::NotFoundError(s.message());
  } else if (!s.ok()) {
    layouts_.erase(at);
  }
  return s;
}

absl::Status GpuDevice::RunPortion(const LoadedKernel& loaded, const Fragments& fragments,
                                   const Batch& batch, int64_t first, int64_t count,
                                   uint64_t* results) {
  const Kernel& kernel = loaded.kernel;
  const PackedOperands in = fragments.Pack(batch, first, count);
  Left left, again;
  RETURN_IF_ERROR(Launch(loaded, in, count, left));
  // A result that equals the pattern by chance is the same in the next launch, which uses a
  // different pattern.
  const std::vector<size_t> unwritten = Unwritten(kernel, left.out, left.pattern);
  if (!unwritten.empty()) {
    RETURN_IF_ERROR(Launch(loaded, in, count, again));
  }
  for (const size_t at : unwritten) {
    if (again.out[at] == left.out[at]) continue;
    return absl::DataLossError(absl::StrCat(
        facts_.name, ": ", kernel.entry, " wrote no result in execution ", at / kernel.d.words,
        " of ", count, ", word ", at % kernel.d.words, "; its answers cannot be trusted"));
  }
  fragments.Unpack(batch, first, count, left.out, results);
  return CheckWhere(kernel, left);
}

absl::Status GpuDevice::Launch(const LoadedKernel& loaded, const PackedOperands& in, int64_t count,
                               Left& left) {
  left = {std::vector<uint32_t>(count * loaded.kernel.d.words), std::vector<uint32_t>(count),
          FillPattern()};
  DeviceMemory a(driver_), b(driver_), c(driver_), d(driver_), m(driver_);
  RETURN_IF_ERROR(a.Fill(in.a));
  RETURN_IF_ERROR(b.Fill(in.b));
  RETURN_IF_ERROR(c.Fill(in.c));
  RETURN_IF_ERROR(d.Fill(left.out.size(), left.pattern));
  RETURN_IF_ERROR(m.Fill(left.where.size(), kNowhere));
  void* arguments[] = {a.address(), b.address(), c.address(),
                       d.address(), m.address(), LastArgument()};
  RETURN_IF_ERROR(
      driver_.Check(driver_.launch(loaded.function, static_cast<unsigned>(count), 1, 1,
                                   loaded.kernel.threads, 1, 1, 0, nullptr, arguments, nullptr),
                    "launching a kernel"));
  RETURN_IF_ERROR(driver_.Wait(absl::StrCat("running the kernel ", loaded.kernel.entry),
                               [this] { return StopRequested(); }));
  RETURN_IF_ERROR(driver_.Check(driver_.to_host(left.out.data(), *d.address(), 4 * left.out.size()),
                                "copying results from the GPU"));
  return driver_.Check(driver_.to_host(left.where.data(), *m.address(), 4 * left.where.size()),
                       "copying processor numbers from the GPU");
}

// Every execution stores where it ran, after it has written its results.
absl::Status GpuDevice::CheckWhere(const Kernel& kernel, const Left& left) {
  for (size_t x = 0; x < left.where.size(); ++x) {
    if (left.where[x] >= answered_.size()) {
      return absl::DataLossError(
          absl::StrCat(facts_.name, ": ", kernel.entry, " did not store where it ran in execution ",
                       x, " of ", left.where.size(), "; its answers cannot be trusted"));
    }
    answered_.set(left.where[x]);
  }
  return absl::OkStatus();
}

}  // namespace mmadiff
