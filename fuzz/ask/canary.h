// Checks whether the device that resumes a run is the one that began it. The identity of a device
// does not cover an imported module, the environment or the CPU core, so a few earlier dot products
// are executed again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "corpus/cases/case_name.h"
#include "corpus/run_record.h"
#include "device/device.h"
#include "fuzz/engine/engine.h"
#include "triage/explain.h"

namespace mmadiff {

// Limits on the dot products of a canary, which has as many as the device answers in a second.
// Number i is taken from case first_case + i, so that many classes occur; it is element
// 37 i modulo the elements of an execution.
inline constexpr int kMinCanaries = 8, kMaxCanaries = 64;
// Units that took longer are not executed again in place of a canary.
inline constexpr double kMaxCanarySeconds = 10;

// Executes the first canary of a stream. The canary is empty if the device, like a recording, has
// answers only to cases of its own. Other errors are the device's.
absl::StatusOr<Canary> AskCanary(Device& device, const CaseStream& stream, uint64_t first_case);

// The first dot product of a canary on which the model and the device differ; nothing if there is
// no such dot product.
struct CanaryDifference {
  uint64_t index = 0;  // number of the case
  std::string line;    // line protocol, with the device's answer
};
std::optional<CanaryDifference> FirstDifference(const CaseStream& stream, const Canary& canary);

// The device's answers in an earlier attempt.
std::vector<Observed> AnswersOf(const CaseStream& stream, const Canary& canary);

// Repeats the earlier dot products, at least the first `least`, then as many as the device answers
// in a second, and returns their number. kAborted with the first dot product that has a different
// answer now: the device changed if it gives that answer twice, otherwise it does not repeat.
absl::StatusOr<uint64_t> AskAgain(Device& device, const Operation& op,
                                  std::span<const Observed> earlier, size_t least);

// For a run without a canary: executes a finished unit again and returns its number of dot
// products. kAborted if the digest is different.
absl::StatusOr<uint64_t> ExecuteAgain(Engine& engine, const CaseStream& stream,
                                      const UnitResult& earlier);

}  // namespace mmadiff
