// Whether the device that goes on with a run is the one that began it. Its identity cannot see a module that a program
// imports, an environment, a core: a few of its earlier answers are asked for again.
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

// Dot products: as many as the device answers in a second, at least the first and at most the second
// number. Number i is of case first_case + i, so that they are of many classes, and there element
// 37 i modulo the elements of an execution.
inline constexpr int kMinCanaries = 8, kMaxCanaries = 64;
// A unit that took longer is not executed again in place of a canary.
inline constexpr double kMaxCanarySeconds = 10;

// Asks for the first canary of a stream. Without results where the device has answers to
// cases of its own only, as a recording has. Other errors are the device's.
absl::StatusOr<Canary> AskCanary(Device& device, const CaseStream& stream, uint64_t first_case);

// The first of these dot products that the model answers otherwise, as a line for people and its case; nothing if it gives all.
struct CanaryDifference {
  uint64_t index = 0;  // of the case
  std::string line;    // of the line protocol, with the device's answer
};
std::optional<CanaryDifference> FirstDifference(const CaseStream& stream, const Canary& canary);

// What the device of an earlier attempt answered.
std::vector<Observed> AnswersOf(const CaseStream& stream, const Canary& canary);

// Asks for the same again, for the first `least` in any case and for as many as it answers in a second, and says for how
// many. kAborted with the first dot product that has another answer now: changed if it has that twice, else not
// repeating.
absl::StatusOr<uint64_t> AskAgain(Device& device, const Operation& op,
                                  std::span<const Observed> earlier, size_t least);

// Of a run without a canary: executes a finished unit again and says of how many dot products. kAborted if
// its digest is another.
absl::StatusOr<uint64_t> ExecuteAgain(Engine& engine, const CaseStream& stream,
                                      const UnitResult& earlier);

}  // namespace mmadiff
