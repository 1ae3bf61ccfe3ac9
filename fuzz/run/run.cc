#include "fuzz/run/run.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/ask/worker.h"
#include "fuzz/folder/workdir.h"
#include "fuzz/run/run_agenda.h"
#include "fuzz/unit/unit_runner.h"

namespace mmadiff {
namespace {

constexpr uint64_t kMaxUnits = 1 << 17;  // per operation: bounds the log and the memory of a run

uint64_t UnitCases(const RunOptions& options, const Operation& op, const ClassSchedule* schedule,
                   const Engine& engine) {
  const CaseStream stream = {&op, options.strategy, options.seed};
  if (options.forever) return engine.UnitCases(stream, UnitOf::kEndlessRun);
  const uint64_t planned = PlannedCases(options, op);
  uint64_t cases = engine.UnitCases(stream, UnitOf::kRun);
  // With a schedule each unit has one class, so a small run needs small units to take some rounds.
  if (schedule != nullptr) cases = std::min(cases, planned / (4 * schedule->size()) + 1);
  return std::max(cases, std::bit_ceil(planned / kMaxUnits));
}

// Adds the warning once, even if several threads have it.
void AddWarning(const std::string& why, std::vector<std::string>& all) {
  if (!why.empty() && std::ranges::find(all, why) == all.end()) all.push_back(why);
}

// Adds the hardware of earlier attempts whose unit is not in this attempt.
void AddEarlier(const std::vector<Hardware>& earlier, std::vector<Hardware>& hardware) {
  for (const Hardware& one : earlier) {
    const auto again = std::ranges::find(hardware, one.unit, &Hardware::unit);
    if (again == hardware.end()) hardware.push_back(one);
  }
}

}  // namespace

uint64_t PlannedCases(const RunOptions& options, const Operation& op) {
  if (options.forever) return uint64_t{1} << 62;
  if (options.dot_products == 0) return options.cases;
  const uint64_t each = op.shape().d_words();
  return std::min(options.cases, (options.dot_products + each - 1) / each);
}

RunManifest MakeManifest(const RunOptions& options, const Engine& engine) {
  const Device& device = engine.device();
  RunManifest manifest;
  manifest.tool_version = MMADIFF_VERSION;
  manifest.model_version = std::to_string(kModelVersion);
  manifest.generator_version = kGeneratorVersion;
  manifest.seed = options.seed;
  manifest.strategy = options.strategy->name;
  manifest.device = device.name();
  manifest.device_identity = IdentityOfRun(device);
  manifest.left_out = options.left_out;
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

absl::StatusOr<RunReport> ExecuteRun(const RunOptions& options, const EngineOpener& open,
                                     Console& console) {
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<Engine*> engines;
  std::vector<std::string> warnings;
  RunManifest wanted;
  for (int t = 0; t < options.threads; ++t) {
    EngineOr engine = open();
    RETURN_IF_ERROR(engine.status());
    AddWarning((*engine)->warning(), warnings);
    if (t == 0) wanted = MakeManifest(options, **engine);
    engines.push_back(engine->get());
    workers.push_back(std::make_unique<EngineWorker>(*std::move(engine)));
  }
  ASSIGN_OR_RETURN(const auto workdir, Workdir::Claim(options.workdir, wanted, options.anew,
                                                      options.extend, options.shared));
  const RunManifest& manifest = workdir->manifest;
  RunLog log(std::move(workdir->log), manifest, workdir->stored, workers.front()->restarts());
  const auto on_stop = [&](uint32_t row, uint64_t unit) {
    return log.NoteStop(row, unit, options.max_mismatches);
  };
  RunAgenda agenda(options, manifest, std::move(workdir->stored), console, on_stop);
  DispatchOutcome dispatched = Dispatch({options.limit}, workers, agenda, log, console);
  for (const Drop& drop : dispatched.drops) {
    if (drop.cause != DropCause::kGarbled) continue;
    dispatched.durable.Update(workdir->Distrust(drop.op->name, drop.status.message()));
  }
  dispatched.warnings.insert(dispatched.warnings.begin(), warnings.begin(), warnings.end());
  RunReportBuilder builder(manifest);
  builder.AddShard(manifest, options.workdir);
  RunReport::Attempt attempt = std::move(agenda).Finish(std::move(dispatched), builder);
  for (size_t r = 0; r < options.ops.size(); ++r) {
    uint64_t& most = builder.row(r).process_dot_products;
    for (Engine* const engine : engines) {
      const Pace* const pace = engine->PaceOf(*options.ops[r]);
      if (pace == nullptr || !engine->device().StartsAnew()) continue;
      most = std::max(most, pace->of_one_process());
    }
  }
  for (size_t r = 0; r < options.ops.size(); ++r) {
    if (builder.row(r).stopped()) attempt.durable.Update(log.TakeBack(static_cast<uint32_t>(r)));
  }
  builder.Distrust(workdir->distrusted);
  if (!workdir->warning.empty()) attempt.warnings.push_back(workdir->warning);
  AddEarlier(workdir->hardware, attempt.hardware);
  attempt.durable.Update(workdir->Check());
  return std::move(builder).Finish(std::move(attempt));
}

}  // namespace mmadiff
