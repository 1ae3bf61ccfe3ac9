// Table 2 of 2: what an architecture was measured (or is believed) to compute, with the evidence.
#pragma once

#include <span>

#include "sim/algorithm.h"
#include "sim/instruction.h"

namespace mmadiff {

enum class Grade : uint8_t {
  kMeasured,   // by this project, on hardware; `file` proves it
  kPublished,  // somebody else's recordings or bit-accurate claim
  kAssumed,    // inferred from a relative
};

struct Evidence {
  Grade grade;
  const char* text;
  const char* file = "";  // below the repository root; required for kMeasured
};

// Which bits of a NaN result are promised.
enum class NanVerdict : uint8_t {
  kBits,    // all of them
  kAnyNan,  // any NaN equals any NaN: nobody has measured the payload
};

struct Numerics {
  const char* arch;
  const char* instruction;  // a name of sim/instruction.h
  Algorithm algorithm;
  Evidence evidence;
  NanVerdict nan_verdict = NanVerdict::kBits;
};

std::span<const Numerics> AllNumerics();
const char* Name(Grade grade);

// Increases with any change of a row or of the arithmetic that changes a result bit.
inline constexpr int kModelVersion = 1;

}  // namespace mmadiff
