// wmma.load and wmma.store (PTX ISA 9.0, 9.7.14.4.2): a matrix is stored row by row or column by
// column. Each row or column begins at a multiple of the size of a lane's fragment, which has at
// most 32 bytes.
#include "sim/layout_wmma.h"

#include <algorithm>

#include "sim/layout_shared.h"

namespace mmadiff {
namespace {

constexpr int kLineBits = 32 * 8;

}  // namespace

bool ByColumns(Operand operand) {
  return operand == Operand::kB || operand == Operand::kAColumns || operand == Operand::kCColumns ||
         operand == Operand::kDColumns;
}

int LeadingDimension(const Instruction& in, Operand operand) {
  const Matrix matrix = MatrixOf(in, operand);
  const int length = ByColumns(operand) ? matrix.rows : matrix.columns;
  return std::max(length, kLineBits / FormatOf(in, operand).bits);
}

Extent WmmaExtent(const Instruction& in, Operand operand) {
  const Matrix matrix = MatrixOf(in, operand);
  const int lines = ByColumns(operand) ? matrix.columns : matrix.rows;
  return {1, lines * LeadingDimension(in, operand) * FormatOf(in, operand).bits / 32};
}

Place WmmaPlace(const Instruction& in, Operand operand, const Element& e) {
  const int line = ByColumns(operand) ? e.column : e.row;
  const int index = ByColumns(operand) ? e.row : e.column;
  const int bit = (line * LeadingDimension(in, operand) + index) * FormatOf(in, operand).bits;
  return {0, bit / 32, bit % 32};
}

}  // namespace mmadiff
