// A schedule assigns a class of cases to each turn of a run. Classes get more turns if they reach
// targets that the other classes rarely reach. The cases are those of the class's own strategy, so
// their names do not depend on the schedule.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/cases/case_name.h"
#include "corpus/cases/strategy.h"
#include "corpus/run_record.h"
#include "sim/operation.h"

namespace mmadiff {

// The strategy of a run with a schedule, as named by `--strategy` and the manifest. Its own stream
// is that of `mixed` under a different name. No case name contains it.
const Strategy& Scheduled();

// Scheduled() or FindStrategy().
const Strategy* StrategyOfRun(absl::string_view name);

class ClassSchedule {
 public:
  // Classes and their numbers of turns per round.
  using Turns = std::vector<std::pair<const Strategy*, int>>;

  ClassSchedule() = default;  // none
  explicit ClassSchedule(const Turns& turns);
  // Counts, in one trial on the simulator with cases of a different seed, the dot products of each
  // class that detect each one-parameter neighbor of the model and that reach each of its coverage
  // bins. A round has 4 turns per class. Each class gets two. Each other turn goes to the class
  // that best reaches the target that the turns so far reach least. Equal for equal models and
  // seeds, on any machine, whatever else the run contains.
  static ClassSchedule Plan(const Operation& op, uint64_t seed);

  // The strategy of turn `turn`, from 0. Rounds repeat. Within a round, the turns of each class are
  // spread as evenly as possible.
  const Strategy& of(uint64_t turn) const { return *turns_[turn % turns_.size()]; }
  // "bits 4, band 1, tie 12"; ParseSchedule() reads it.
  std::string text() const;
  size_t size() const { return turns_.size(); }

 private:
  std::vector<const Strategy*> turns_;
};

// kDataLoss: not a schedule for the instruction.
absl::StatusOr<ClassSchedule> ParseSchedule(absl::string_view text, const Instruction& instruction);

// The stream of cases of a unit of a run. kDataLoss: this program does not support the strategy or
// the schedule in the manifest.
absl::StatusOr<CaseStream> StreamOfUnit(const RunManifest& manifest, const Operation& op,
                                        const RunManifest::Instruction& planned, uint64_t unit);

}  // namespace mmadiff
