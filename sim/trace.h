// The arithmetic reports its stages to a tracer, which is a template parameter. NullTrace compiles
// to nothing; TraceStages() of sim/stages.h records the stages for `explain`.
#pragma once

#include <cstdint>

#include "sim/host_device.h"

namespace mmadiff {

enum class Stage : uint8_t {
  kProduct,        // exact product of term k; k = -1: first summand of a separate addition
  kSpecial,        // a NaN or an infinity decides the step; magnitude is the result word
  kAlignExponent,  // lsb_exponent is the common exponent
  kAlignedTerm,    // product k after alignment; k = -1 is the addend
  kSum,            // exact sum of the aligned terms; the operand of a conversion
  kRounded,        // result word of the step
};
inline constexpr const char* kStageNames[] = {"product",      "special", "align_exponent",
                                              "aligned_term", "sum",     "rounded"};
inline const char* Name(Stage stage) { return kStageNames[static_cast<int>(stage)]; }

// value = (-1)^negative * magnitude * 2^lsb_exponent, except as noted at the stage.
struct Event {
  Stage stage;
  int step;
  int k;
  bool negative;
  unsigned __int128 magnitude;
  int lsb_exponent;
  bool inexact;  // nonzero bits were lost to reach this value

  friend bool operator==(const Event&, const Event&) = default;
};

struct NullTrace {
  MMADIFF_HD void operator()(const Event&) const {}
};

// Whether events are used.
template <class Trace>
inline constexpr bool kTraces = true;
template <>
inline constexpr bool kTraces<NullTrace> = false;

}  // namespace mmadiff
