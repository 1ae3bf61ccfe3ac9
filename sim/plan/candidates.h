// Plans that kernels use, as candidates for FindPlans(). Sources: cuBLASLt (bitequiv), CUTLASS,
// DeepGEMM, Tensile, OpenBLAS, BLIS, MKL and oneDNN; the references are in corpus/plans.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/plan/plan.h"

namespace mmadiff {

// The operands of a product but A and B. Plans read all of these.
struct UsedOperands {
  bool alpha = false, beta = false;  // alpha is not 1, beta is not 0
  bool adds_c = false;               // beta is 1: fma(beta, c, x) is x + c
  bool bias = false;
  int64_t scale_block = 0;  // so many k have one scale of A and one of B; 0 without scales
  const Format* block_scale = nullptr;  // of the operation
};

// Those with which plans for operands A and B in these formats and results in `d` are possible, first
// those of these formats. Sums
// have the format `sum`, any if it is nullptr.
std::vector<const Operation*> OperationsFor(std::span<const Operation* const> operations,
                                            const Format& a, const Format& b, const Format& d,
                                            const Format* sum = nullptr,
                                            const UsedOperands& used = {});
// Why OperationsFor() returns none.
std::string WhyNoOperations(const Format& a, const Format& b, const Format& d,
                            const Format* sum = nullptr, const UsedOperands& used = {});

// Candidates of each operation in turn, the simplest first, for results in this format; WhyNotScales()
// may refuse some. Of those with
// one order (OrderAt()) at each of these k, and of operations with one model, only the first.
std::vector<Plan> CandidatePlans(std::span<const Operation* const> operations,
                                 std::span<const int64_t> ks, const Format& d,
                                 const UsedOperands& used = {});
inline std::vector<Plan> CandidatePlans(std::span<const Operation* const> operations, int64_t k,
                                        const Format& d, const UsedOperands& used = {}) {
  return CandidatePlans(operations, {&k, 1}, d, used);
}

}  // namespace mmadiff
