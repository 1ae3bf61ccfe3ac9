#include "sim/layout_shared.h"

namespace mmadiff {
const Format& FormatOf(const Instruction& i, Operand operand) {
  switch (operand) {
    case Operand::kA:
    case Operand::kALanes:
    case Operand::kAColumns:
      return *i.a;
    case Operand::kB:
    case Operand::kBRows:
      return *i.b;
    case Operand::kC:
    case Operand::kCColumns:
      return *i.c;
    case Operand::kD:
    case Operand::kDColumns:
      return *i.d;
    case Operand::kScaleA:
    case Operand::kScaleB:
      return *i.scale;
    case Operand::kMetadata:
      break;
  }
  return kMetadataFormat;
}

Matrix MatrixOf(const Instruction& in, Operand operand) {
  const Shape& s = in.shape;
  switch (operand) {
    case Operand::kA:
    case Operand::kALanes:
    case Operand::kAColumns:
      return {s.m, in.products()};
    case Operand::kMetadata:
      return {s.m, s.groups};
    case Operand::kB:
    case Operand::kBRows:
      return {s.k, s.n};
    case Operand::kScaleA:
      return {s.m, s.scales};
    case Operand::kScaleB:
      return {s.scales, s.n};
    case Operand::kC:
    case Operand::kD:
    case Operand::kCColumns:
    case Operand::kDColumns:
      break;
  }
  return {s.m, s.n};
}

// A lane is thread lane % 4 of group lane / 4. A register holds `per` consecutive elements along k.
Place MmaFragment(Operand operand, int m, int bits, const Element& e) {
  const int per = bits >= 32 ? 1 : 32 / bits;
  if (operand == Operand::kC || operand == Operand::kD) {
    const int value = (e.row >= 8 ? 2 : 0) + e.column % 2;  // index among the lane's values of C
    const int reg = bits == 16 ? value / 2 : value;
    return {e.row % 8 * 4 + e.column / 2, bits == 64 ? 2 * reg : reg,
            bits == 16 ? value % 2 * 16 : 0};
  }
  const int k = operand == Operand::kA ? e.column : e.row;
  const int group = operand == Operand::kA ? e.row % 8 : e.column;
  const int chunk = k / (4 * per);  // four threads side by side cover 4 * per elements of k
  const int reg = operand == Operand::kA && m == 16 ? chunk * 2 + e.row / 8 : chunk;
  return {group * 4 + k % (4 * per) / per, bits == 64 ? 2 * reg : reg, k % per * bits};
}

Place MmaMetadata(const Instruction& in, const Element& e) {
  const int group = e.column, quad = e.row % 8 * 4, half = e.row % 16 / 8;
  if (in.a->bits >= 16) return {quad + group / 4, 0, 16 * half + group % 4 * 4};
  return {quad + half + group / 8 * 2, 0, group % 8 * 4};
}

int LanesOfSelector(const Instruction& in) { return in.a->bits >= 16 ? in.shape.groups / 4 : 2; }

}  // namespace mmadiff
