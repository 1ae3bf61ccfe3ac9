// Asks a device the questions of triage/probe/questions.h about one operation.
//
// A question about parameters is a set of candidates: the model with one of its parameters changed,
// one candidate for each possible value. Simulation chooses cases until each candidate differs from
// the model in some of them. The device runs these cases; the candidate that fits all of its bits
// is the answer. If the table's model does not fit, the single-parameter changes that fit the most
// answers to all questions are adopted one by one, so that one discovery does not spoil the other
// questions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/agreement.h"
#include "corpus/ledger.h"
#include "corpus/vector_file.h"
#include "device/device.h"
#include "triage/explain.h"
#include "triage/probe/questions.h"

namespace mmadiff {

// Why an answer that is compared with a model agrees, contradicts it, or is open.
enum class Decision : uint8_t {
  kAgrees,          // and no other candidate fits
  kAgreesAmong,     // and the cases leave other values open
  kAgreesInNans,    // where the table does not promise NaN bits
  kContradicts,     // another value fits
  kNothingFits,     // no candidate reproduces all answers
  kNanNotPromised,  // only bits of NaNs differ
};

struct ProbeAnswer {
  const Question* question = nullptr;
  std::string answer = {};   // the values that fit all answers; "none"; for people
  std::string decides = {};  // its consequence for the table; for people
  std::vector<std::string> table =
      {};  // kDecoding: Decoding::Table(), of which `answer` has the start
  // The content of `answer`, in words that do not change: two devices that give the same answers
  // have the same facts. Changes that fit, "or CHANGE" for further ones; "NAME: READING"; for
  // payloads the number of words and the first of them; "MODE COUNT".
  std::vector<std::string> facts = {};
  // For questions that need a model: `decides` is made from `decision` and `detail`.
  Decision decision = Decision::kAgrees;
  std::string detail = {};
  Scope scope = Scope::kWholeExecutions;
  Agreement agreement = Agreement::kAgrees;
  bool partial = false;                   // kPairs: some pairs were not run
  std::optional<Reason> left = {};        // why the question was skipped
  uint64_t cases = 0;                     // dot products asked, or executions of the layout probe
  std::vector<Observed> observed = {};    // with the device's words; empty for kLayout and kPairs
  std::optional<Observed> refuting = {};  // the first answer that no candidate explains
};

// The operation's model with the changes that the device revealed, and the answers in the order of
// the questions. There is no answer to questions that do not apply to the operation or the device,
// and none to kPairs. If the operation has no model, questions that need one start from
// HypothesisOf() and are open; without a hypothesis the device is not asked. Errors are the
// device's.
struct OperationAnswers {
  Model model;
  std::vector<ProbeAnswer> answers;
};
absl::StatusOr<OperationAnswers> ProbeOperation(Device& device, const Operation& op,
                                                std::span<const Question* const> questions);

// Whether the question fits the operation. kPairs uses triage/probe/operand_sweep.h, the others
// ProbeOperation().
bool Applies(const Question& question, const Operation& op);

}  // namespace mmadiff
