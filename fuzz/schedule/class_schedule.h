// Chooses the class of cases for each turn of a run, preferring classes that reach targets which
// the others rarely reach. A schedule sets the number of turns per class; the cases come from the
// class's own strategy, so their names do not depend on a schedule.
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

// The strategy of a scheduled run, as named in `--strategy` and the manifest. Its own stream equals
// that of `mixed`, but no case name uses it.
const Strategy& Scheduled();

// Scheduled() or FindStrategy().
const Strategy* StrategyOfRun(absl::string_view name);

class ClassSchedule {
 public:
  // The number of turns per round for each class.
  using Turns = std::vector<std::pair<const Strategy*, int>>;

  ClassSchedule() = default;  // no schedule
  explicit ClassSchedule(const Turns& turns);
  // Plans a schedule from a trial on the simulator with a different seed. The trial counts, for
  // each class, the dot products that reveal each one-parameter neighbor of the model and those
  // that reach each bin of its coverage. A round has four turns per class on average. Each class
  // gets two; every further turn goes to the class that best reaches the target least reached by
  // the turns so far. The result depends only on model and seed, not on the rest of the run or the
  // machine.
  static ClassSchedule Plan(const Operation& op, uint64_t seed);

  // The class of turn `turn`, from 0. Rounds repeat; each class is spread evenly over a round.
  const Strategy& of(uint64_t turn) const { return *turns_[turn % turns_.size()]; }
  // "bits 4, band 1, tie 12"; ParseSchedule() reads it.
  std::string text() const;
  size_t size() const { return turns_.size(); }

 private:
  std::vector<const Strategy*> turns_;
};

// kDataLoss: not a schedule for the instruction.
absl::StatusOr<ClassSchedule> ParseSchedule(absl::string_view text, const Instruction& instruction);

// The stream that supplies the cases of a unit. kDataLoss: the manifest names a strategy or a
// schedule that this program does not have.
absl::StatusOr<CaseStream> StreamOfUnit(const RunManifest& manifest, const Operation& op,
                                        const RunManifest::Instruction& planned, uint64_t unit);

}  // namespace mmadiff
