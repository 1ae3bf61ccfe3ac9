// Which class of cases each turn of a run takes: those that most often reach what the others reach
// least. A schedule says how often; the cases are those of the class's own strategy, so their names
// need no schedule.
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

// Of a run by a schedule, as `--strategy` and the manifest name it. Its own stream is that of
// `mixed` under another name; no case is named by it.
const Strategy& Scheduled();

// Scheduled() or FindStrategy().
const Strategy* StrategyOfRun(absl::string_view name);

class ClassSchedule {
 public:
  // Each class so many turns of a round.
  using Turns = std::vector<std::pair<const Strategy*, int>>;

  ClassSchedule() = default;  // none
  explicit ClassSchedule(const Turns& turns);
  // In one trial on the simulator, with cases of another seed, how many dot products of each class
  // showed each of the model's one-parameter neighbours and reached each bin of its coverage. Of 4
  // turns for each class two are its own; each further one goes to the class that best reaches the
  // target which all turns so far reach least. The same for equal models and seeds
  // (whatever the run has besides), on any machine.
  static ClassSchedule Plan(const Operation& op, uint64_t seed);

  // Of turn `turn`, from 0; they repeat. Classes come as evenly as their numbers of turns allow.
  const Strategy& of(uint64_t turn) const { return *turns_[turn % turns_.size()]; }
  // "bits 4, band 1, tie 12"; ParseSchedule() reads it.
  std::string text() const;
  size_t size() const { return turns_.size(); }

 private:
  std::vector<const Strategy*> turns_;
};

// kDataLoss: no schedule of the instruction.
absl::StatusOr<ClassSchedule> ParseSchedule(absl::string_view text, const Instruction& instruction);

// The stream that a unit of a run has its cases of. kDataLoss: the manifest names a strategy or a
// schedule that this program does not know.
absl::StatusOr<CaseStream> StreamOfUnit(const RunManifest& manifest, const Operation& op,
                                        const RunManifest::Instruction& planned, uint64_t unit);

}  // namespace mmadiff
