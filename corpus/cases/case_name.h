// A case is a name: ARCH/INSTRUCTION@gVERSION:SEED:INDEX. SEED is a number, or STRATEGY.NUMBER when
// the strategy is not the default one. The name decides every bit of the inputs; the architecture
// does not, so two architectures see the same inputs of one instruction.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/cases/strategy.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// Increases with any change of any bit of any case; golden digests in generator_test.cc notice.
// Tables of classes grow at their ends alone, so that cases of version 2 can still be made (of
// instructions without scales): recordings name them.
inline constexpr int kGeneratorVersion = 3;

// An infinite sequence of cases of one operation.
struct CaseStream {
  const Operation* op = nullptr;
  const Strategy* strategy = nullptr;
  uint64_t seed = 1;
  int version = kGeneratorVersion;

  std::string name() const;  // without the index: "sm_90/mma...@g3:boundary.1"
  const InputClass& class_of(uint64_t index) const;
  int class_period() const;  // the classes of the cases repeat after so many
};

// Distinguishes the random bits of a strategy on an instruction from those of others.
uint32_t StreamId(const CaseStream& stream);

struct CaseName {
  CaseStream stream;
  uint64_t index = 0;
};

std::string FormatCaseName(const CaseName& name);
// Whether an argument is meant to be one; a *.txtpb is a file.
bool LooksLikeCaseName(absl::string_view argument);
// Errors say which part is wrong: unknown operation (with the nearest), another generator version,
// ...
absl::StatusOr<CaseName> ParseCaseName(absl::string_view text, Models models = Models::kRequired);
// The part before the index.
absl::StatusOr<CaseStream> ParseStreamName(absl::string_view text,
                                           Models models = Models::kRequired);

// Fills `batch` with cases first .. first+count-1 of the stream, in the instruction's own shape.
void Generate(const CaseStream& stream, uint64_t first, int64_t count, Batch& batch);

// The case number `index` of one boundary class (of all strategies' classes for "*"), seed 1; false
// when the instruction has no such class.
bool GenerateClass(const Operation& op, absl::string_view input_class, uint64_t index,
                   Batch& batch);

}  // namespace mmadiff
