#include "fuzz/folder/recheck.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "fuzz/ask/dispatcher.h"
#include "fuzz/folder/run_folder.h"
#include "fuzz/schedule/class_schedule.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

// A unit without its coverage, to save memory. The coverage is read again for the sample only.
UnitResult Slim(const UnitResult& unit) {
  UnitResult slim;
  slim.instruction = unit.instruction;
  slim.unit = unit.unit;
  slim.first_case = unit.first_case;
  slim.cases = unit.cases;
  slim.dot_products = unit.dot_products;
  slim.mismatches = unit.mismatches;
  slim.device_digest = unit.device_digest;
  slim.model_digest = unit.model_digest;
  slim.machine = unit.machine;
  return slim;
}

uint64_t Shuffled(const UnitResult& unit, uint64_t seed) {
  const uint64_t key[] = {unit.instruction, unit.unit};
  return XXH3_64bits_withSeed(key, sizeof key, seed);
}

absl::Status CheckVersions(const std::string& path, const RunManifest& manifest) {
  const std::string model = std::to_string(kModelVersion);
  if (manifest.model_version == model && manifest.generator_version == kGeneratorVersion) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      path, " has model version ", manifest.model_version, " and generator version ",
      manifest.generator_version, "; this program has ", model, " and ", kGeneratorVersion,
      "; verify the run with the version that made it (", manifest.tool_version, ")"));
}

// Executes the chosen units in their order, without investigating mismatches.
class RecheckAgenda : public Agenda {
 public:
  RecheckAgenda(const std::vector<UnitResult>& units, RecheckOutcome& outcome)
      : units_(units), outcome_(outcome) {}

  std::optional<Task> Next(absl::Duration) override {
    while (next_ < units_.size() && dropped_.contains(units_[next_].instruction)) ++next_;
    if (next_ == units_.size()) return std::nullopt;
    const UnitResult& stored = units_[next_++];
    const RunManifest::Instruction& planned = outcome_.manifest.instructions[stored.instruction];
    UnitTask task = {.stream = *StreamOfUnit(outcome_.manifest, *FindOperation(planned.name),
                                             planned, stored.unit),
                     .end = stored.first_case + stored.cases,
                     .most_differing = 0};
    task.counted.instruction = stored.instruction;
    task.counted.unit = stored.unit;
    task.counted.first_case = stored.first_case;
    return Task{stored.instruction, std::move(task)};
  }

  absl::StatusOr<std::vector<Task>> Take(TaskResult result) override {
    UnitResult& now = std::get<UnitAnswer>(result.answer).counted;
    if (result.status.ok()) {
      const auto same = [&now](const UnitResult& stored) {
        return stored.instruction == now.instruction && stored.unit == now.unit;
      };
      outcome_.done.push_back({*std::ranges::find_if(units_, same), std::move(now)});
    } else if (result.drop.has_value() && dropped_.insert(now.instruction).second) {
      outcome_.failed.push_back(*result.drop);
    }
    return std::vector<Task>();
  }

 private:
  const std::vector<UnitResult>& units_;
  RecheckOutcome& outcome_;
  size_t next_ = 0;
  std::set<uint32_t> dropped_;  // instructions
};

}  // namespace

namespace {

// Whether the device is the simulator, perhaps with a fault.
bool IsModel(const Identity& identity) {
  const auto version = FindIdentityKey("model_version");
  return std::ranges::count(identity.facts, version, &Identity::Fact::key) > 0;
}

}  // namespace

std::vector<UnitResult> Sample(std::vector<UnitResult> finished, uint64_t count, uint64_t seed) {
  std::ranges::sort(finished, [seed](const UnitResult& x, const UnitResult& y) {
    return std::tuple(Shuffled(x, seed), x.instruction, x.unit) <
           std::tuple(Shuffled(y, seed), y.instruction, y.unit);
  });
  // Each unit's rank among those of its instruction and machine: the first of each pair come first.
  std::map<std::tuple<uint32_t, std::string, std::string>, uint64_t> ranks;
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < finished.size(); ++i) {
    const auto& [host, hardware] = finished[i].machine;
    order.emplace_back(ranks[{finished[i].instruction, host, hardware.unit}]++, i);
  }
  std::ranges::sort(order);
  order.resize(std::min<uint64_t>(count, order.size()));
  std::vector<UnitResult> sample;
  for (const auto& [rank, i] : order) sample.push_back(std::move(finished[i]));
  return sample;
}

absl::StatusOr<RecheckOutcome> Recheck(const std::string& path, const RecheckOptions& options,
                                       absl::FunctionRef<EngineOr(const std::string&)> open,
                                       Console& console) {
  std::vector<UnitResult> finished;
  const auto folder =
      ReadRunFolder(path, [&](const UnitResult& unit) { finished.push_back(Slim(unit)); });
  RETURN_IF_ERROR(folder.status());
  RecheckOutcome outcome;
  outcome.manifest = folder->manifest;
  outcome.damage = folder->warnings;
  outcome.finished = finished.size();
  RETURN_IF_ERROR(CheckVersions(path, outcome.manifest));
  for (const RunManifest::Instruction& planned : outcome.manifest.instructions) {
    const Operation* op = FindOperation(planned.name);
    if (op == nullptr) return absl::DataLossError(absl::StrCat(path, ": no ", planned.name));
    const auto stream = StreamOfUnit(outcome.manifest, *op, planned, 0);
    if (!stream.ok())
      return absl::DataLossError(absl::StrCat(path, ": ", stream.status().message()));
  }
  uint64_t count = options.units;
  if (count == 0) {
    count = static_cast<uint64_t>(std::ceil(options.share * static_cast<double>(finished.size())));
  }
  if (!options.instruction.empty()) {
    std::erase_if(finished, [&](const UnitResult& unit) {
      return unit.unit != options.unit ||
             outcome.manifest.instructions[unit.instruction].name != options.instruction;
    });
    count = 1;
  }
  if (finished.empty() && !outcome.damage.empty()) return outcome;
  if (finished.empty() && !options.instruction.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, " has no finished unit ", options.unit, " of ", options.instruction));
  }
  if (finished.empty()) {
    return absl::OutOfRangeError(
        absl::StrCat(path, " has no finished unit, so nothing was verified; run it first"));
  }
  std::vector<UnitResult> sample =
      Sample(std::move(finished), std::max<uint64_t>(count, 1), options.seed);
  outcome.sampled = sample.size();
  std::map<std::pair<uint32_t, uint64_t>, UnitResult*> sampled;
  for (UnitResult& unit : sample) sampled[{unit.instruction, unit.unit}] = &unit;
  const auto covered = [&sampled](const UnitResult& unit) {
    const auto at = sampled.find({unit.instruction, unit.unit});
    if (at != sampled.end()) at->second->coverage = unit.coverage;
  };
  ReadGoodUnits(path, outcome.manifest, covered);

  std::vector<std::unique_ptr<Worker>> workers;
  const uint64_t threads = std::min<uint64_t>(options.threads, outcome.sampled);
  while (workers.size() < threads) {
    ASSIGN_OR_RETURN(std::unique_ptr<Engine> engine, open(outcome.manifest.device));
    Identity now = IdentityOfRun(engine->device());
    if (!(now == outcome.manifest.device_identity)) {
      if (IsModel(now) && !IsModel(outcome.manifest.device_identity)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the run used ", Name(outcome.manifest.device_identity), ", but now ", Name(now),
            " would answer, comparing the model with itself; name a device with --device"));
      }
      outcome.other_device = std::move(now);
    }
    workers.push_back(std::make_unique<EngineWorker>(std::move(engine)));
  }
  RecheckAgenda agenda(sample, outcome);
  TaskLog nothing;
  const DispatchOutcome dispatched =
      Dispatch({options.limit, absl::ZeroDuration()}, workers, agenda, nothing, console);
  outcome.device = dispatched.device;
  if (outcome.done.size() < outcome.sampled && outcome.device.ok()) {
    outcome.stopped_by = dispatched.stopped_by;
  }
  std::ranges::sort(outcome.done, [](const Rechecked& x, const Rechecked& y) {
    return std::pair(x.stored.instruction, x.stored.unit) <
           std::pair(y.stored.instruction, y.stored.unit);
  });
  return outcome;
}

}  // namespace mmadiff
