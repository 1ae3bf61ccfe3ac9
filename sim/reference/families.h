// The families of sim/algorithm.h, each implemented in its own file.
#pragma once

#include <cstdint>

#include "sim/algorithm.h"
#include "sim/batch.h"

namespace mmadiff::reference {

uint64_t FmaChain(const Model& model, const DotProductCase& dot);
uint64_t PairwiseSum(const Model& model, const DotProductCase& dot);
uint64_t FusedSum(const Model& model, const DotProductCase& dot);
uint64_t ScaledSum(const Model& model, const DotProductCase& dot);
uint64_t ExactSum(const Model& model, const DotProductCase& dot);
uint64_t TwoStageSum(const Model& model, const DotProductCase& dot);
uint64_t IntegerDot(const Model& model, const DotProductCase& dot);
uint64_t Conversion(const Model& model, const DotProductCase& dot);
uint64_t SumOfTree(const Model& model, const DotProductCase& dot);

}  // namespace mmadiff::reference
