// The vectors of each family of instructions, and what their tables share.
#pragma once

#include <string>
#include <vector>

#include "sim/reference/golden_vectors.h"

namespace mmadiff::reference {

// Operands of a sum of f16 or bf16 products, k ascending, and an f32 addend, in hex.
struct Operands {
  const char *inputs, *a, *b, *c;
};

// By the id of the table in golden_vectors.cc.
Operands SumOperands(const std::string& id);

// Missing k are +0. a, b, c and d are hex words.
Golden MakeGolden(const std::string& id, const std::string& suffix, const Model& m, const char* a,
                  const char* b, const char* c, const char* d);

void AddAmd(std::vector<Golden>& all);
void AddScaled(std::vector<Golden>& all);
void AddCpus(std::vector<Golden>& all);

}  // namespace mmadiff::reference
