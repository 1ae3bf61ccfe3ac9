#include "fuzz/campaign.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "device/faulty.h"
#include "device/plain_text.h"
#include "device/threads.h"
#include "fuzz/coverage/counter.h"
#include "fuzz/progress.h"
#include "fuzz/ulp_buckets.h"
#include "fuzz/unit_log.h"
#include "fuzz/unit_runner.h"
#include "fuzz/workdir.h"
#include "sim/parameter.h"

namespace mmadiff {
namespace {

constexpr uint64_t kMaxUnits = 1 << 17;   // per operation: bounds the log and the memory of a run
constexpr uint64_t kPlantedCases = 4096;  // in which a planted fault must be found

// Once work must stop, a unit has so long to end by itself.
constexpr std::chrono::seconds kGrace(1);

uint64_t UnitCases(const CampaignOptions& options, const Operation& op,
                   const ClassSchedule* schedule, const Engine& engine) {
  const CaseStream stream = {&op, options.strategy, options.seed};
  if (options.forever) return engine.UnitCases(stream, UnitOf::kEndlessRun);
  const uint64_t planned = PlannedCases(options, op);
  uint64_t cases = engine.UnitCases(stream, UnitOf::kRun);
  // A schedule has a class for each unit: also a small run should take some rounds.
  if (schedule != nullptr) cases = std::min(cases, planned / (4 * schedule->size()) + 1);
  return std::max(cases, std::bit_ceil(planned / kMaxUnits));
}

// Whether the generator and the comparator that a run uses find the fault in a sabotaged device:
// where, or kCancelled if they do not.
absl::StatusOr<uint64_t> FindPlantedFault(const CaseStream& stream, const std::string& fault) {
  DeviceOr device = OpenFaulty(fault);
  if (!device.ok()) return device.status();
  UnitRunner runner(**device, stream);
  UnitResult result;
  const auto pause = [](const CaseName&, const Mismatch&) { return Next::kPause; };
  // Most are in the first cases.
  for (uint64_t first = 0, count = 1; first < kPlantedCases; first += count) {
    count = std::clamp<uint64_t>(first, 1, 64);
    const absl::StatusOr<uint64_t> end = runner.Run(first, count, result, pause);
    if (!end.ok()) return end.status();
    if (result.mismatches > 0) return result.mismatching_cases.front();
  }
  return absl::CancelledError("not found");
}

// The self-test of an operation: one of its neighbours, the first if possible, must be found.
absl::StatusOr<std::string> SelfTest(const CaseStream& stream) {
  const std::vector<Neighbour> faults = Neighbours(stream.op->model);
  for (const Neighbour& fault : faults) {
    const absl::StatusOr<uint64_t> found = FindPlantedFault(stream, Name(fault));
    if (found.ok()) return absl::StrCat(Name(fault), " found in case ", *found);
    if (!absl::IsCancelled(found.status())) return found.status();
  }
  return absl::InternalError(
      absl::StrCat(stream.op->name, ": the planted fault ", Name(faults.front()),
                   " was not found in ", kPlantedCases, " cases of ", stream.name(),
                   ", nor any other; so this run could not find a ", "real one either"));
}

// "node7", or "node7, GPU-0d1e..., 0000:41:00".
std::string MachineText(const Device& device) {
  char host[256] = "?";
  gethostname(host, sizeof host - 1);
  const std::string hardware = device.Hardware();
  return PlainLine(absl::StrCat(host, hardware.empty() ? "" : ", ", hardware));
}

class Campaign {
 public:
  Campaign(const CampaignOptions& options, const RunManifest& manifest, StoredUnits stored,
           std::unique_ptr<UnitLog> log, Console& console)
      : options_(options),
        log_(std::move(log)),
        console_(console),
        done_(std::move(stored.done)),
        parts_(std::move(stored.parts)),
        findings_(options.workdir + "/findings", options.max_mismatches, options.print_findings,
                  console) {
    outcome_.manifest = manifest;
    outcome_.workdir = options.workdir;
    outcome_.threads = options.threads;
    outcome_.resumed_units = stored.units;
    outcome_.warnings = std::move(stored.warnings);
    for (size_t r = 0; r < options.ops.size(); ++r) {
      OperationOutcome op;
      op.op = options.ops[r];
      op.total = std::move(stored.totals[r]);
      const RunManifest::Instruction& planned = manifest.instructions[r];
      op.emulated = planned.emulated;
      units_.push_back(planned.Units());
      unit_cases_.push_back(planned.unit_cases);
      next_.push_back(options.shard);
      if (!options.forever) {
        op.planned_cases = planned.CasesOfShard(options.shard, options.shards);
        outcome_.units += planned.UnitsOfShard(options.shard, options.shards);
      }
      outcome_.ops.push_back(std::move(op));
    }
    const auto own = [&](const RegressionCase& c) {
      const absl::StatusOr<CaseName> name = ParseCaseName(c.source);
      const size_t op = std::ranges::find(options.ops, c.op) - options.ops.begin();
      return name.ok() && name->stream.op == c.op && op < options.ops.size() &&
             c.answers.front().device == manifest.device &&
             name->stream.name() == StreamOf(op, name->index / unit_cases_[op]).name();
    };
    for (std::string& wrong : findings_.LoadEarlier(own)) {
      outcome_.warnings.push_back(std::move(wrong));
      outcome_.damaged_findings = true;
    }
  }

  void PlantFaults() {
    std::vector<absl::StatusOr<std::string>> found(outcome_.ops.size(), absl::CancelledError());
    std::atomic<size_t> next = 0;
    InThreads(options_.threads, [&](int) {
      for (size_t r; (r = next++) < found.size() && !StopNow(options_.limit);) {
        found[r] = SelfTest(Stream(*outcome_.ops[r].op));
      }
    });
    for (size_t r = 0; r < found.size(); ++r) {
      if (absl::IsCancelled(found[r].status())) return Stop(StopNow(options_.limit));
      if (found[r].ok()) {
        outcome_.ops[r].planted = *found[r];
      } else {
        Drop(outcome_.ops[r], found[r].status());
      }
    }
  }

  CampaignOutcome Run(std::vector<std::unique_ptr<Engine>> engines) {
    const auto start = std::chrono::steady_clock::now();
    Progress progress(options_.forever ? 0 : RemainingDotProducts(), console_);
    std::vector<std::jthread> workers;
    running_ = static_cast<int>(engines.size());
    for (size_t r = 0; engines.front()->device().StartsAnew() && r < outcome_.ops.size(); ++r) {
      const Operation& op = *outcome_.ops[r].op;
      outcome_.ops[r].process_dot_products =
          std::min(unit_cases_[r], UnitRunner::BatchCases(op)) * op.shape().d_words();
    }
    for (const std::unique_ptr<Engine>& engine : engines) {
      NoteWarning(engine->warning());
      engine->device().StopWhen([this] { return MustEnd(); });
      if (StartThread(workers, [this, &engine] { Work(*engine); })) continue;
      std::lock_guard lock(mutex_);
      --running_;
    }
    if (workers.empty()) {
      running_ = 1;
      Work(*engines.front());
    }
    if (workers.size() < engines.size()) {
      outcome_.warnings.push_back(
          absl::StrCat(workers.size(), " of ", engines.size(), " threads could be started"));
    }
    {
      std::unique_lock lock(mutex_);
      while (running_ > 0) {
        wake_.wait_for(lock, std::chrono::milliseconds(100));
        if (const StopCause why = StopNow(options_.limit)) Stop(why);
        progress.Update(outcome_.attempt_dot_products, findings_count_);
      }
    }
    workers.clear();  // joins them
    if (const StopCause why = StopNow(options_.limit)) Stop(why);
    for (const std::unique_ptr<Engine>& engine : engines) {
      std::string unit = outcome_.attempt_dot_products > 0 ? engine->device().Hardware() : "";
      if (!unit.empty()) outcome_.hardware.push_back(std::move(unit));
    }
    if (absl::Status s = log_->Flush(); !s.ok()) outcome_.durable.Update(s);
    console_.Clear();
    for (size_t r = 0; r < outcome_.ops.size(); ++r) {
      outcome_.ops[r].finished = Finished(r);
      for (const auto& [number, part] : parts_[r]) Accumulate(part, outcome_.ops[r].total);
    }
    outcome_.findings = findings_.list();
    outcome_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(outcome_);
  }

 private:
  struct Unit {
    size_t op;
    uint64_t number;
  };

  CaseStream Stream(const Operation& op) const { return {&op, options_.strategy, options_.seed}; }

  CaseStream StreamOf(size_t op, uint64_t unit) const {
    CaseStream stream = Stream(*options_.ops[op]);
    if (!options_.schedules.empty()) stream.strategy = &options_.schedules[op].of(unit);
    return stream;
  }

  uint64_t CasesOf(size_t op, uint64_t unit) const {
    const uint64_t first = unit * unit_cases_[op];
    return std::min(unit_cases_[op], PlannedCases(options_, *options_.ops[op]) - first);
  }

  bool IsDone(size_t op, uint64_t unit) const { return done_[op].Contains(unit); }

  bool Finished(size_t op) const {
    if (options_.forever) return false;
    for (uint64_t u = options_.shard; u < units_[op]; u += options_.shards) {
      if (!IsDone(op, u)) return false;
    }
    return true;
  }

  uint64_t RemainingDotProducts() const {
    uint64_t remaining = 0;
    for (size_t r = 0; r < outcome_.ops.size(); ++r) {
      for (uint64_t u = options_.shard; u < units_[r]; u += options_.shards) {
        if (!IsDone(r, u)) remaining += CasesOf(r, u) * outcome_.ops[r].op->shape().d_words();
      }
    }
    return remaining;
  }

  // For devices: the time to end by oneself is over.
  bool MustEnd() {
    using Clock = std::chrono::steady_clock;
    if (!StopNow(options_.limit)) return false;
    Clock::rep none = 0;
    const Clock::time_point now = Clock::now();
    stop_seen_.compare_exchange_strong(none, now.time_since_epoch().count());
    return now - Clock::time_point(Clock::duration(stop_seen_)) >= kGrace;
  }

  // For good: the operation's results so far stay, and the run is not clean.
  void Drop(OperationOutcome& op, const absl::Status& why) {
    if (!op.dropped.ok()) return;
    op.dropped = why;
    console_.Warn(absl::StrCat("dropped ", op.op->name, ": ", why.message()));
  }

  void Stop(const StopCause& why) {
    if (!stopping_) outcome_.stopped_by = why;
    stopping_ = true;
  }

  // The operations take turns, so that a run that is stopped early has seen them all.
  bool Next(Unit& unit) {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    for (size_t tried = 0; tried < units_.size(); ++tried) {
      const size_t r = turn_++ % units_.size();
      if (outcome_.ops[r].stopped || !outcome_.ops[r].dropped.ok()) continue;
      while (next_[r] < units_[r] && IsDone(r, next_[r])) next_[r] += options_.shards;
      if (next_[r] >= units_[r]) continue;
      unit = {r, next_[r]};
      next_[r] += options_.shards;
      return true;
    }
    return false;
  }

  // Of several threads once.
  void NoteWarning(const std::string& why) {
    auto& all = outcome_.warnings;
    if (!why.empty() && std::find(all.begin(), all.end(), why) == all.end()) all.push_back(why);
  }

  void Work(Engine& engine) {
    for (Unit unit; Next(unit);) RunUnit(engine, unit);
    std::lock_guard lock(mutex_);
    --running_;
    wake_.notify_all();
  }

  void RunUnit(Engine& engine, const Unit& unit) {
    OperationOutcome& op = outcome_.ops[unit.op];
    UnitResult result;
    result.instruction = static_cast<uint32_t>(unit.op);
    result.unit = unit.number;
    result.first_case = unit.number * unit_cases_[unit.op];
    const auto start = std::chrono::steady_clock::now();
    const CaseStream stream = StreamOf(unit.op, unit.number);
    const uint64_t cases = CasesOf(unit.op, unit.number);
    absl::Status filing;
    bool enough = false;
    absl::Status status = Compare(engine, stream, cases, result, enough, filing);
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.part = !status.ok() || enough;
    if (!result.part) SampleCoverage(stream, result.first_case, cases, result);
    result.ended = static_cast<uint64_t>(absl::ToUnixSeconds(absl::Now()));
    result.machine = MachineText(engine.device());

    std::lock_guard lock(mutex_);
    outcome_.attempt_dot_products += result.dot_products;
    op.stopped |= enough;
    if (result.part) result.device_digest = result.model_digest = 0;
    if (filing.ok() && result.dot_products > 0) filing = log_->Append(result);
    if (!filing.ok()) status = filing;
    if (result.part) {
      KeepLarger(result, parts_[unit.op]);
    } else if (done_[unit.op].Add(unit.number)) {
      ++outcome_.attempt_units;
      parts_[unit.op].erase(unit.number);
      Accumulate(result, op.total);
    }
    if (status.ok() || absl::IsCancelled(status)) return;
    if (!filing.ok()) {
      outcome_.durable.Update(filing);
      Stop({StopCause::kNotDurable});
    } else if (IsOfOperation(status)) {
      Drop(op, status);
    } else {
      outcome_.device.Update(status);
      Stop({StopCause::kDeviceLost});
    }
  }

  // The unit in parts, each of which ends with a batch that has mismatches; these are filed then.
  // `enough`: the operation has so many that it stops. `filing`: kDataLoss.
  absl::Status Compare(Engine& engine, const CaseStream& stream, uint64_t cases, UnitResult& result,
                       bool& enough, absl::Status& filing) {
    const uint64_t most = options_.max_mismatches == 0 ? UINT64_MAX : options_.max_mismatches;
    const uint64_t end = result.first_case + cases;
    for (uint64_t next = result.first_case; next < end && !enough;) {
      std::vector<std::pair<CaseName, Mismatch>> differing;
      const auto keep = [&](const CaseName& name, const Mismatch& mismatch) {
        if (differing.size() < most) differing.emplace_back(name, mismatch);
        return differing.size() < most ? mmadiff::Next::kPause : mmadiff::Next::kStop;
      };
      const absl::StatusOr<uint64_t> compared = engine.Run(stream, next, end - next, result, keep);
      for (const auto& [name, mismatch] : differing) {
        CountUlps(mismatch, result.counts);
        const auto added = findings_.Add(engine.device(), name, mismatch);
        ++findings_count_;
        if (absl::IsDataLoss(added.status())) filing = added.status();
        if (!added.ok()) return added.status();
        enough = *added == mmadiff::Next::kStop;
        if (enough) break;
      }
      if (!compared.ok()) return compared.status();
      next = *compared;
    }
    return absl::OkStatus();
  }

  const CampaignOptions& options_;
  std::unique_ptr<UnitLog> log_;
  Console& console_;
  std::vector<UnitSet> done_;
  std::vector<UnitParts> parts_;                     // by operation
  std::vector<uint64_t> units_, unit_cases_, next_;  // by operation
  Findings findings_;
  std::atomic<uint64_t> findings_count_ = 0;
  std::atomic<std::chrono::steady_clock::rep> stop_seen_ = 0;  // 0: not yet

  std::mutex mutex_;  // of all that follows, of log_ and of done_
  std::condition_variable wake_;
  CampaignOutcome outcome_;
  size_t turn_ = 0;
  int running_ = 0;
  bool stopping_ = false;
};

// Of earlier attempts what is not among those of this one, whatever parts of it answered.
void AddEarlier(const std::vector<std::string>& earlier, std::vector<std::string>& hardware) {
  const auto which = [](const std::string& text) { return text.substr(0, text.find(',')); };
  for (const std::string& text : earlier) {
    const bool again = std::ranges::any_of(
        hardware, [&](const std::string& h) { return which(h) == which(text); });
    if (!again) hardware.push_back(text);
  }
}

}  // namespace

uint64_t PlannedCases(const CampaignOptions& options, const Operation& op) {
  if (options.forever) return uint64_t{1} << 62;
  if (options.dot_products == 0) return options.cases;
  const uint64_t each = op.shape().d_words();
  return std::min(options.cases, (options.dot_products + each - 1) / each);
}

RunReport ReportOf(const CampaignOutcome& outcome) {
  RunReportBuilder builder(outcome.manifest);
  builder.AddShard(outcome.manifest, outcome.workdir);
  for (size_t i = 0; i < outcome.ops.size(); ++i) {
    const OperationOutcome& op = outcome.ops[i];
    RunReportRow& row = builder.row(i);
    row.total = op.total;
    row.finished = op.finished;
    row.stopped = op.stopped;
    row.dropped = op.dropped;
    row.planted = op.planted;
    row.process_dot_products = op.process_dot_products;
  }
  for (const Finding& finding : outcome.findings) builder.Add(finding);
  builder.Distrust(outcome.distrusted);
  return std::move(builder).Finish(RunReport::Attempt{.stopped_by = outcome.stopped_by,
                                                      .device = outcome.device,
                                                      .durable = outcome.durable,
                                                      .damaged_findings = outcome.damaged_findings,
                                                      .units = outcome.attempt_units,
                                                      .resumed_units = outcome.resumed_units,
                                                      .dot_products = outcome.attempt_dot_products,
                                                      .seconds = outcome.seconds,
                                                      .threads = outcome.threads,
                                                      .hardware = outcome.hardware});
}

RunManifest MakeManifest(const CampaignOptions& options, const Engine& engine) {
  const Device& device = engine.device();
  RunManifest manifest;
  manifest.tool_version = MMADIFF_VERSION;
  manifest.model_version = std::to_string(kModelVersion);
  manifest.generator_version = kGeneratorVersion;
  manifest.seed = options.seed;
  manifest.strategy = options.strategy->name;
  manifest.device = device.name();
  manifest.device_identity = IdentityOfRun(device);
  manifest.shard = options.shard;
  manifest.shards = options.shards;
  for (size_t i = 0; i < options.ops.size(); ++i) {
    const Operation& op = *options.ops[i];
    const ClassSchedule* schedule = options.schedules.empty() ? nullptr : &options.schedules[i];
    manifest.instructions.push_back({op.name, PlannedCases(options, op),
                                     UnitCases(options, op, schedule, engine), device.Emulates(op),
                                     schedule == nullptr ? "" : schedule->text()});
  }
  return manifest;
}

absl::StatusOr<CampaignOutcome> RunCampaign(const CampaignOptions& options,
                                            const EngineOpener& open, Console& console) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (int t = 0; t < options.threads; ++t) {
    EngineOr engine = open();
    if (!engine.ok()) return engine.status();
    engines.push_back(*std::move(engine));
  }
  const auto workdir = Workdir::Claim(options.workdir, MakeManifest(options, *engines.front()),
                                      options.anew, options.extend);
  if (!workdir.ok()) return workdir.status();
  Campaign campaign(options, (*workdir)->manifest, std::move((*workdir)->stored),
                    std::move((*workdir)->log), console);
  campaign.PlantFaults();
  CampaignOutcome outcome = campaign.Run(std::move(engines));
  for (const OperationOutcome& op : outcome.ops) {
    if (!absl::IsDataLoss(op.dropped)) continue;
    outcome.durable.Update((*workdir)->Distrust(op.op->name, op.dropped.message()));
  }
  outcome.distrusted = std::move((*workdir)->distrusted);
  AddEarlier((*workdir)->hardware, outcome.hardware);
  outcome.durable.Update((*workdir)->Check());
  return outcome;
}

}  // namespace mmadiff
