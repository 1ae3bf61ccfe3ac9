// Table 2 of 2: what an architecture was measured (or is believed) to compute, with the evidence.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/instruction.h"

namespace mmadiff {

enum class Grade : uint8_t {
  kMeasured,   // by this project, on hardware; `file` proves it
  kPublished,  // somebody else's recordings, bit-accurate claim or specification
  kAssumed,    // inferred from a relative
  kContested,  // sources contradict each other: `mmadiff list differences` says who says what
  kUnknown,    // nobody has published it: the operation is listed and refuses to simulate
};

struct Evidence {
  Grade grade;
  const char* text;
  const char* file = "";    // below the repository root; required for kMeasured
  const char* others = "";  // of a Measurement: what others said who recorded answers
};

// Which bits of a NaN result are promised.
enum class NanVerdict : uint8_t {
  kBits,    // all of them
  kAnyNan,  // any NaN equals any NaN: nobody has measured the payload
};

struct Numerics {
  const char* arch;
  const Instruction* instruction;
  Algorithm algorithm;
  Evidence evidence;
  NanVerdict nan_verdict = NanVerdict::kBits;
};

// A line of the table: some instructions of some architectures that share an algorithm.
struct NumericsEntry {
  const char* archs;         // separated by spaces
  const char* instructions;  // patterns of sim/pattern.h whose choices are shell globs, by spaces
  Algorithm (*algorithm)(const Instruction&);
  Evidence evidence;
  NanVerdict nan_verdict = NanVerdict::kBits;
  // A pattern of another line of the architecture, from which this line takes its instructions out.
  const char* except_from = "";
};
std::span<const NumericsEntry> NumericsEntries();

// Operations that this project ran on hardware: their evidence, before that of their line. NaNs were
// compared bit by bit.
struct Measurement {
  const char* archs;         // separated by spaces; not their relatives
  const char* instructions;  // as NumericsEntry::instructions
  const char* text;
  const char* file;
};
std::span<const Measurement> Measurements();

// What the lines mean (sim/resolve.h): by architecture, then in the order of the instruction table.
std::span<const Numerics> AllNumerics();

// Instructions that exist and that nobody can simulate bit for bit.
struct UnknownNumerics {
  const char* arch;
  std::string instruction;
  Evidence evidence;
};
std::span<const UnknownNumerics> AllUnknown();

// What an instruction without a model may compute: what questions to a device start from, no
// prediction. An algorithm of sim/algorithms.h, and why it.
struct Hypothesis {
  const char* archs;         // separated by spaces
  const char* instructions;  // as NumericsEntry::instructions
  Algorithm (*algorithm)(const Instruction&);
  const char* text;
};
std::span<const Hypothesis> Hypotheses();

// An architecture, the name people give it, and the one whose operations it has by assumption.
struct Architecture {
  const char* name;
  const char* alias = "";
  bool emulates = false;  // ptxas makes other instructions of what is not native
  const char* like = "";
  Evidence evidence = {Grade::kAssumed, ""};  // that it is
};
std::span<const Architecture> Architectures();

const char* Name(Grade grade);

// Increases with any change of an operation or of the arithmetic that changes a result bit.
inline constexpr int kModelVersion = 4;

}  // namespace mmadiff
