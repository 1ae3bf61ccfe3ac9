// Draws the tile of a tensor copy in shared memory: which element of the tensor is at which address.
#pragma once

#include <string>

#include "sim/copy/tensor_copy.h"
#include "triage/text_table.h"

namespace mmadiff {

// "8 rows of 128 bytes at 0 to 1023 of shared memory; 12 of 512 elements are out of bounds".
std::string CopySummary(const TensorCopy& copy);

// A line for each 128 bytes of shared memory with the coordinates, dimension 0 first, of the element at the
// start of each 16 bytes (8 where the swizzle flips these). "fill": out of bounds, "-": no element. At most
// `lines` lines; 0: all.
std::string CopyText(const TensorCopy& copy, int lines, const TextStyle& style);

// The same as SVG. A color is a row of the tile.
std::string CopySvg(const TensorCopy& copy, int lines);

}  // namespace mmadiff
