// Rows for the tests of this folder.
#pragma once

#include <string>
#include <vector>

#include "sim/operation.h"
#include "triage/race/racer.h"

namespace mmadiff {

// Of every family that several architectures have.
inline constexpr const char* kTenInstructions[] = {
    "mma.m16n8k16.f32.f16.f16.f32",   "mma.m16n8k16.f16.f16.f16.f16",
    "mma.m16n8k16.f32.bf16.bf16.f32", "mma.m16n8k4.f32.tf32.tf32.f32",
    "mma.m8n8k4.f32.f16.f16.f32",     "mma.m16n8k32.f32.e4m3.e4m3.f32",
    "mma.m16n8k32.f16.e5m2.e5m2.f16", "mma.m8n8k4.f64.f64.f64.f64",
    "mma.m16n8k32.s32.s8.s8.s32",     "fma.rn.f32"};

// The rows of the architectures that have the instruction and a model of it.
inline std::vector<Racer> RowsNamed(const std::string& instruction) {
  std::vector<Racer> rows;
  for (const Architecture& arch : Architectures()) {
    if (const Operation* op = FindOperation(arch.name + ("/" + instruction))) {
      rows.push_back(RacerOf(*op));
    }
  }
  return rows;
}

}  // namespace mmadiff
