// The registers and predicates that an instruction reads and writes.
#pragma once

#include <string>
#include <vector>

#include "device/sass/natives.h"
#include "device/sass/program.h"

namespace mmadiff::sass {

// "R4", "UR6", "P0", "UP1"; never RZ, URZ, PT or UPT.
struct Storage {
  Operand::Kind kind;
  int index;
  friend bool operator==(const Storage&, const Storage&) = default;
};
std::string NameOf(const Storage& storage);

struct Uses {
  std::vector<Storage> reads, writes;
  std::vector<Storage> guard;  // at most one
};
// Operands of matrix instructions have the registers of their row, those of other forms one.
Uses UsesOf(const Instruction& in, const Natives& natives);

}  // namespace mmadiff::sass
