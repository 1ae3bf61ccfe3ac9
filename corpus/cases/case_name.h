// A case is a name: ARCH/INSTRUCTION@gVERSION:SEED:INDEX. SEED is a number, or STRATEGY.NUMBER for
// a strategy other than the default. The name determines every bit of the inputs. The architecture
// does not affect them, so two architectures get the same inputs for the same instruction.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "corpus/cases/strategy.h"
#include "sim/batch.h"
#include "sim/operation.h"

namespace mmadiff {

// Increases with any change of any bit of any case; golden digests in generator_test.cc detect such
// changes. Tables of classes grow only at their ends, so version 2 cases can still be made for
// instructions without scales: recordings name them.
inline constexpr int kGeneratorVersion = 3;

// An infinite sequence of cases of one operation.
struct CaseStream {
  const Operation* op = nullptr;
  const Strategy* strategy = nullptr;
  uint64_t seed = 1;
  int version = kGeneratorVersion;

  std::string name() const;  // without index: "sm_90/mma...@g3:boundary.1"
  const InputClass& class_of(uint64_t index) const;
  int class_period() const;  // the classes repeat after this many cases
};

// Separates the random bits of a strategy on an instruction from all others.
uint32_t StreamId(const CaseStream& stream);

struct CaseName {
  CaseStream stream;
  uint64_t index = 0;
};

std::string FormatCaseName(const CaseName& name);
// Whether an argument looks like a case name; a *.txtpb is a file.
bool LooksLikeCaseName(absl::string_view argument);
// Errors name the wrong part: unknown operation (with the nearest name), different generator
// version, ...
absl::StatusOr<CaseName> ParseCaseName(absl::string_view text, Models models = Models::kRequired);
// The part before the index.
absl::StatusOr<CaseStream> ParseStreamName(absl::string_view text,
                                           Models models = Models::kRequired);

// Fills `batch` with cases first .. first+count-1 of the stream, in the instruction's own shape.
void Generate(const CaseStream& stream, uint64_t first, int64_t count, Batch& batch);

// Generates case number `index` of one boundary class, or for "*" of all strategies' classes, with
// seed 1. False if the instruction has no such class.
bool GenerateClass(const Operation& op, absl::string_view input_class, uint64_t index,
                   Batch& batch);

}  // namespace mmadiff
