// Whether an assembler translates an mma or wmma.mma correctly whose operands are in registers of its
// result: the machine code with and without the overlap, executed for the same cases.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/cuda/mnemonic.h"
#include "device/cuda/ptx_file.h"
#include "device/device.h"

namespace mmadiff {

enum class OverlapVerdict : uint8_t { kWrong, kRight, kNotTried };
inline constexpr int kOverlapVerdicts = 3;
const char* Name(OverlapVerdict verdict);  // "not_tried"

struct OverlapProof {
  OverlapVerdict verdict = OverlapVerdict::kNotTried;
  // kNotTried: why not. kWrong: which machine instruction reads a wrong register, "" if unknown.
  std::string reason;
  std::string instruction;           // ARCH/NAME; "" if the tables have none
  int register_bits = 32;            // of D
  std::string device;                // "sass:..." without the overlap
  std::string target;                // of ptxas; "" if not tried
  std::vector<std::string> tried;    // overlaps, each in a kernel of its own
  std::vector<std::string> suffice;  // single overlaps that alone give wrong results
  uint64_t differing = 0;            // dot products that differ with any of `tried`
  uint64_t dot_products = 0;         // compared
};

class OverlapProver {
 public:
  struct Options {
    std::string ptxas = {};  // path; "": as sass: finds it
    int level = 3;           // optimization, 0 to 3
    uint64_t cases = 300;    // executions of each kernel, on inputs of the default strategy
  };
  explicit OverlapProver(const Options& options) : options_(options) {}

  // `target`: as in ".target" or -arch. Remembers proofs of the same overlap.
  const OverlapProof& Prove(const PtxMatrixInstruction& instruction, const std::string& target);

 private:
  struct Differences {
    uint64_t any = 0, dot_products = 0;
    std::vector<uint64_t> of;  // one for each overlap
    std::string reason;        // Device::Reason() of the first that differs
  };
  // Executes the kernel without an overlap and with each of these.
  absl::StatusOr<Differences> Differing(const MnemonicKernel& kernel, const std::string& device,
                                        const std::vector<std::string>& overlaps);
  absl::Status Try(const PtxMatrixInstruction& instruction, const std::string& target,
                   OverlapProof& proof);

  const Options options_;
  std::map<std::string, OverlapProof> proofs_;  // by target, mnemonic and overlap
};

}  // namespace mmadiff
