#include "fuzz/bench/bench.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "fuzz/bench/count.h"
#include "fuzz/unit/unit_runner.h"
#include "sim/lanes/lanes.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Answers every batch with the results that were set before.
class KnownAnswers : public Device {
 public:
  explicit KnownAnswers(std::vector<uint64_t> answers) : answers_(std::move(answers)) {}
  std::string name() const override { return "known"; }
  Identity identity() const override { return Identity::Named("known answers"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation&, const Batch& batch, std::vector<uint64_t>& d) override {
    d.assign(answers_.begin(), answers_.begin() + batch.dot_products());
    return absl::OkStatus();
  }

 private:
  const std::vector<uint64_t> answers_;
};

class RowBench {
 public:
  RowBench(const Operation& op, const BenchOptions& options, Device* device,
           absl::FunctionRef<bool()> stop)
      : options_(options),
        stop_(stop),
        stream_{&op, options.strategy},
        device_(device != nullptr && device->Supports(op).ok() ? device : nullptr),
        executions_(static_cast<int64_t>(UnitRunner::BatchCases(op))) {
    row_.op = &op;
    Generate(stream_, 0, executions_, batch_);
    words_.resize(batch_.dot_products());
    Simulate(op.model, batch_, words_);
  }

  absl::StatusOr<BenchRow> Run() {
    KnownAnswers known(words_);
    UnitRunner runner(known, stream_);
    absl::Status status;
    for (int round = 0; round < options_.rounds && status.ok(); ++round) {
      Keep(row_.generator, [&] { Generate(stream_, 0, executions_, batch_); });
      row_.simulator_most =
          std::max(row_.simulator_most,
                   Keep(row_.simulator, [&] { Simulate(row_.op->model, batch_, words_); }));
      Keep(row_.digest, [&] { digest_ = DigestOf(*row_.op, batch_, words_); });
      const double unit = Keep(row_.unit, [&] {
        UnitResult result;
        const auto ignore = [](const CaseName&, const Mismatch&) { return Next::kGoOn; };
        status.Update(runner.Run(0, executions_, result, ignore).status());
        if (result.mismatches > 0)
          status.Update(absl::InternalError("the model differs from itself"));
      });
      row_.unit_most = std::max(row_.unit_most, unit);
      if (device_ == nullptr) continue;
      double least = row_.device.value_or(0);
      status.Update(KeepDevice(least));
      row_.device = least;
    }
    RETURN_IF_ERROR(status);
    if (options_.bound) Bound();
    if (device_ == nullptr) return row_;
    ASSIGN_OR_RETURN(const auto kernels, BenchKernels(*device_, stream_, options_.part));
    row_.kernels = kernels;
    return row_;
  }

 private:
  // Alternates with different cases, so that the answers of the previous batch would be wrong.
  absl::Status KeepDevice(double& least) {
    Batch other;
    Generate(stream_, executions_, executions_, other);
    std::vector<uint64_t> words(other.dot_products());
    Simulate(row_.op->model, other, words);
    const Batch* const batches[] = {&batch_, &other};
    const Digest digests[] = {digest_, DigestOf(*row_.op, other, words)};
    absl::Status status;
    absl::StatusOr<std::vector<uint64_t>> d;
    Keep(
        least, [&] { d = device_->Run(*row_.op, *batches[turn_]); }, CLOCK_MONOTONIC,
        [&] {
          status.Update(d.status());
          row_.agrees &= d.ok() && DigestOf(*row_.op, *batches[turn_], *d) == digests[turn_];
          turn_ = 1 - turn_;
        });
    return status;
  }

  // The additional cost of a batch with twice the executions, which excludes one-time work.
  void Bound() {
    constexpr int64_t kDotProducts = 256, kMax = 4 << 20;
    const int64_t some = std::max<int64_t>(1, kDotProducts / row_.op->shape().d_words());
    const auto count = [&](int64_t executions) {
      Batch batch;
      Generate(stream_, 0, executions, batch);
      std::vector<uint64_t> d(batch.dot_products());
      return CountInstructions([&] { Simulate(row_.op->model, batch, d); }, kMax, stop_);
    };
    const auto once = count(some);
    const auto twice = once ? count(2 * some) : std::nullopt;
    if (!twice) return;
    const double dot_products = static_cast<double>(some * row_.op->shape().d_words());
    row_.instructions = static_cast<double>(twice->all - once->all) / dot_products;
    row_.vector_instructions = static_cast<double>(twice->vector - once->vector) / dot_products;
    const bool wide = !LaneTargets().empty() && LaneTargets()[0].lanes == 16;
    const double rate = VectorAddsPerNanosecond(wide ? 64 : 32);
    if (rate > 0) row_.bound = row_.vector_instructions / rate;
  }

  // The time of this round by `clock`, kept if it is the minimum. `check` examines the results of
  // each batch, outside the measured time.
  template <typename F, typename Check = void (*)()>
  double Keep(
      double& least, const F& part, clockid_t clock = CLOCK_THREAD_CPUTIME_ID,
      const Check& check = [] {}) {
    const auto now = [clock] {
      timespec time;
      clock_gettime(clock, &time);
      return absl::DurationFromTimespec(time);
    };
    int64_t batches = 0;
    absl::Duration used;
    do {
      const absl::Duration start = now();
      part();
      used += now() - start;
      check();
      ++batches;
    } while (used < options_.part && !stop_());
    const double each =
        absl::ToDoubleNanoseconds(used) / static_cast<double>(batches * batch_.dot_products());
    least = least == 0 ? each : std::min(least, each);
    return each;
  }

  const BenchOptions& options_;
  absl::FunctionRef<bool()> stop_;
  const CaseStream stream_;
  Device* const device_;
  const int64_t executions_;
  Batch batch_;
  std::vector<uint64_t> words_;
  Digest digest_;
  int turn_ = 0;  // turn of the device's batches
  BenchRow row_;
};

}  // namespace

std::vector<std::string> BenchedRows() {
  return {"x86/vdpbf16ps",
          "x86/tdpbf16ps",
          "x86/vfmadd231sd",
          "x86/tdpbssd",
          "arm/bfdot",
          "sm_80/mma.m16n8k16.f32.f16.f16.f32",
          "sm_90/mma.m16n8k16.f32.f16.f16.f32",
          "sm_90/mma.m16n8k8.f32.tf32.tf32.f32",
          "sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32",
          "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32",
          "sm_90/mma.m16n8k16.f64.f64.f64.f64",
          "sm_80/mma.m16n8k64.s32.s4.s4.s32",
          "sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0",
          "sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x",
          "gfx90a/v_mfma_f32_16x16x16f16",
          "gfx942/v_mfma_f32_16x16x16_f16"};
}

BenchRows Bench(const BenchOptions& options, Device* device, absl::FunctionRef<bool()> stop,
                absl::FunctionRef<void(const Operation&)> progress) {
  BenchRows all;
  for (const Operation* op : options.ops) {
    if (stop()) break;
    progress(*op);
    const absl::StatusOr<BenchRow> row = RowBench(*op, options, device, stop).Run();
    if (!row.ok()) {
      all.status =
          absl::Status(row.status().code(), absl::StrCat(op->name, ": ", row.status().message()));
      break;
    }
    if (!stop()) all.rows.push_back(*row);
  }
  return all;
}

}  // namespace mmadiff
