// Asks a device the questions of triage/probe/questions.h about one operation.
//
// A question about parameters is a set of candidates: the model with one of its parameters changed,
// one for each possible value. Cases are chosen, by simulation, until each candidate differs from
// the model in some of them; the device runs them; what fits all of its bits is the answer. When
// the table's model does not fit, the single changes that make it fit most answers of all questions
// are taken over one by one, so that one discovery does not spoil the other questions.
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

// Why an answer that is held against a model agrees, contradicts it, or is open.
enum class Decision : uint8_t {
  kAgrees,          // and nothing else fits
  kAgreesAmong,     // and the cases leave other values open
  kAgreesInNans,    // where the table promises no bits of them
  kContradicts,     // another value fits
  kNothingFits,     // no candidate gives all answers
  kNanNotPromised,  // only bits of NaNs differ
};

struct ProbeAnswer {
  const Question* question = nullptr;
  std::string answer = {};   // the values that fit all answers; "none"; for people
  std::string decides = {};  // what that says about the table; for people
  // What `answer` says in words that do not change: two devices that give the same answers have the
  // same. Changes that fit, "or CHANGE" beside them; "NAME: READING"; of payloads the number of words
  // and the first of them; "MODE COUNT".
  std::vector<std::string> facts = {};
  // Of questions that need a model: `decides` is made from both.
  Decision decision = Decision::kAgrees;
  std::string detail = {};
  Scope scope = Scope::kWholeExecutions;
  Agreement agreement = Agreement::kAgrees;
  bool partial = false;                   // of kPairs: not all were asked
  std::optional<Reason> left = {};        // why nothing was asked
  uint64_t cases = 0;                     // dot products asked, or executions of the layout probe
  std::vector<Observed> observed = {};    // them with the device's words; not of kLayout, kPairs
  std::optional<Observed> refuting = {};  // the first that no candidate explains
};

// The operation's model with what the device taught, and the answers in the order of the questions.
// Questions that do not apply to the operation or the device, and kPairs, have none. Those that need a model start
// from HypothesisOf() where there is none, and are open; without that either the device is not asked.
// Errors are the device's.
struct OperationAnswers {
  Model model;
  std::vector<ProbeAnswer> answers;
};
absl::StatusOr<OperationAnswers> ProbeOperation(Device& device, const Operation& op,
                                                std::span<const Question* const> questions);

// Whether the question can be asked of the operation: kPairs by triage/probe/operand_sweep.h, the
// others by ProbeOperation().
bool Applies(const Question& question, const Operation& op);

}  // namespace mmadiff
