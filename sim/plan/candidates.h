// Plans that kernels use, as candidates for FindPlans(). Sources: cuBLASLt (bitequiv), CUTLASS,
// DeepGEMM, Tensile, OpenBLAS, BLIS, MKL and oneDNN; the references are in corpus/plans.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/plan/plan.h"

namespace mmadiff {

// Those with which plans for operands A and B in these formats and results in `d` are possible.
std::vector<const Operation*> OperationsFor(std::span<const Operation* const> operations,
                                            const Format& a, const Format& b, const Format& d);

// The factors that a product has: alpha is not 1, beta is not 0. Plans use all of them.
struct UsedFactors {
  bool alpha = false, beta = false;
};

// Candidates of each operation in turn, the simplest first, for results in this format. Of those with
// one order (OrderAt()) at each of these k, and of operations with one model, only the first.
std::vector<Plan> CandidatePlans(std::span<const Operation* const> operations,
                                 std::span<const int64_t> ks, const Format& d,
                                 const UsedFactors& used = {});
inline std::vector<Plan> CandidatePlans(std::span<const Operation* const> operations, int64_t k,
                                        const Format& d, const UsedFactors& used = {}) {
  return CandidatePlans(operations, {&k, 1}, d, used);
}

}  // namespace mmadiff
