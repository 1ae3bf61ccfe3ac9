// Number formats that are in no table, described by their names: "e4m3b11fnuz", "ue5m3fn".
#pragma once

#include <string>
#include <string_view>

#include "sim/format.h"

namespace mmadiff {

// An error in a description, and its column, counted from 1.
struct FormatError {
  std::string what;
  int column = 1;
};

// The format of a description [u]eEmF[bBIAS][iBITS][KIND]. u: no sign bit; E exponent bits and F
// fraction bits; BIAS of the exponent field, by default 2^(E-1) - 1, for fnuz 2^(E-1); BITS low bits
// that the hardware does not read. KIND: "ieee", the default; "ieeeall" (Nonfinite::kIeeeAllBits);
// "fn" (kNanAllOnes); "fnuz" (kNanMinusZero); "finite" (kNone). A format of the tables, in whatever
// description, is the table's; any other has the shortest description as its name. Letters of
// either case; a prefix such as "float8_", "fp8_" or "f8" is skipped.
//
// nullptr with the error if the text does not have this form; if the KIND is missing although a format
// of the tables, such as "e4m3", has the same letters and is not "ieee"; or if the format has numbers
// that f32 does not have, for which no algorithm is written, or does not have 1. Thread-safe; formats live forever.
const Format* DescribedFormat(std::string_view text, FormatError* error = nullptr);

}  // namespace mmadiff
