// Table 2 of 2: the measured or assumed arithmetic of each architecture, with the evidence.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/algorithm.h"
#include "sim/instruction.h"

namespace mmadiff {

enum class Grade : uint8_t {
  kMeasured,  // by this project, on hardware; `file` has the proof
  kPublished,  // recordings, a bit-accurate claim or a specification by others, of the operation or of
               // all instructions that ptxas makes of it
  kAssumed,    // inferred from a related operation or architecture
  kContested,  // sources contradict each other; `mmadiff list differences` shows each one's claim
  kUnknown,    // unpublished: the operation is listed but cannot be simulated
  kOwn,        // a user's own model (sim/own_model.h), in no table
};

struct Evidence {
  Grade grade;
  const char* sources;    // ids of sim/sources.h, separated by spaces; empty for kOwn
  const char* text;       // their claims about the operation, and how this project used them
  const char* open = "";  // questions without an answer
  const char* file = "";  // below the repository root; required for kMeasured
  const char* gpus = "";  // whose answers others recorded: "H100, H200"
  const Evidence* others = nullptr;  // replaced evidence with recordings by others
};
// "recorded on H100, H200: all match; the rest as MMA-Sim".
std::string TextOfClaims(const Evidence& evidence);
// The claims, then "Open: ...": all but grade and sources.
std::string Text(const Evidence& evidence);

// Which bits of a NaN result are promised.
enum class NanVerdict : uint8_t {
  kBits,    // all of them
  kAnyNan,  // none: any NaN equals any other, because the payload was never measured
};

struct Numerics {
  const char* arch;
  const Instruction* instruction;
  Algorithm algorithm;
  Evidence evidence;
  NanVerdict nan_verdict = NanVerdict::kBits;
};

// A line of the table: instructions, on one or more architectures, that share an algorithm.
struct NumericsEntry {
  const char* archs;         // separated by spaces
  const char* instructions;  // space-separated patterns of sim/pattern.h, whose choices are globs
  Algorithm (*algorithm)(const Instruction&);
  Evidence evidence;
  NanVerdict nan_verdict = NanVerdict::kBits;
  // A pattern in a different line of the architecture; this line removes its instructions from it.
  const char* except_from = "";
};
std::span<const NumericsEntry> NumericsEntries();

// Evidence of this project that replaces that of a table line. kMeasured: it ran the operations on
// hardware and compared NaNs bit by bit. kPublished: it executed their machine code, which computes
// the model from published operations; the table line's evidence is kAssumed.
struct Measurement {
  const char* archs;         // separated by spaces; does not extend to their relatives
  const char* instructions;  // as NumericsEntry::instructions
  Evidence evidence;
};
std::span<const Measurement> Measurements();

// The resolved table (sim/resolve.h), by architecture, then in the order of the instruction table.
std::span<const Numerics> AllNumerics();

// Instructions that exist but have no known bit-accurate model.
struct UnknownNumerics {
  const char* arch;
  std::string instruction;
  Evidence evidence;
};
std::span<const UnknownNumerics> AllUnknown();

// A guess at the arithmetic of an instruction without a model: a starting point for questions to a
// device, not a prediction.
struct Hypothesis {
  const char* archs;                           // separated by spaces
  const char* instructions;                    // as NumericsEntry::instructions
  Algorithm (*algorithm)(const Instruction&);  // from sim/algorithms.h
  const char* text;                            // reason
};
std::span<const Hypothesis> Hypotheses();

// An architecture, its other names, and the relative (`like`) whose operations it is assumed to
// have.
struct Architecture {
  const char* name;
  const char* aliases = "";  // separated by spaces
  bool emulates = false;     // ptxas compiles instructions that are not native to others
  const char* like = "";
  Evidence evidence = {Grade::kAssumed, "", ""};  // for `like`
};
std::span<const Architecture> Architectures();
bool IsAlias(const Architecture& architecture, std::string_view name);

const char* Name(Grade grade);

// Increases with every change to an operation or the arithmetic that changes a result bit.
inline constexpr int kModelVersion = 4;

}  // namespace mmadiff
