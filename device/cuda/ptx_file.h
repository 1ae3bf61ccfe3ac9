// The mma and wmma.mma instructions in PTX text of any origin, and the registers that each uses both
// for its result and for an operand.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "device/cuda/ptx_lines.h"

namespace mmadiff {

inline constexpr size_t kMaxPtxBytes = size_t{64} << 20;

// Register `word` of an operand is register `d` of the result.
struct SharedRegister {
  char operand;  // 'a', 'b', 'c'
  int word, d;

  // The usual accumulation.
  bool in_place() const { return operand == 'c' && word == d; }
  friend bool operator==(const SharedRegister&, const SharedRegister&) = default;
};
std::string Name(const SharedRegister& shared);               // "c3d2", as in Variant::overlap
std::string Name(const std::vector<SharedRegister>& shared);  // "c3d2+a0d1"

struct PtxMatrixInstruction {
  int line;              // of the mnemonic, from 1
  std::string target;    // of its module, "sm_90a"; "" if none is named
  std::string function;  // "" outside functions
  std::string mnemonic;  // "mma.sync.aligned.m16n8k32.row.col...."
  // Elements as written: registers, numbers, "_".
  std::vector<std::string> d = {}, a = {}, b = {}, c = {};
  std::vector<SharedRegister> shared = {};  // of A, B and C, in this order
  // From .loc: the calls through which it was inlined, from the outermost, then its own line.
  std::vector<SourceLine> source = {};

  // Those in another place than the usual accumulation.
  std::vector<SharedRegister> displaced() const;
  // displaced(), or all of `shared` if none is: accumulation in place.
  std::vector<SharedRegister> suspects() const;
};

struct PtxFile {
  std::vector<PtxMatrixInstruction> matrix = {};
  size_t wgmma = 0;  // number of wgmma.mma_async, which are not read
};

// Everything else is skipped: any directives, instructions, and lines of other tools between modules.
// kDataLoss, with the line: text that is not PTX (no .version, zero bytes), ends within a comment,
// function or instruction, or has an mma without four operands of 1 to 32 elements.
// kInvalidArgument: more than kMaxPtxBytes.
absl::StatusOr<PtxFile> ReadPtx(absl::string_view text);

}  // namespace mmadiff
