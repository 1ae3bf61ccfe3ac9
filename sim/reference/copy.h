// Tensor copies, written from PTX ISA 5.5 and 9.7.9.27 alone, for tests: slow, and the other way round. A copy
// steps from pixel to pixel; here each byte of the destination looks for its source by division.
//
// The tile. Its logical byte L is at pitch * row + byte of the row. The rows follow each other as dimension 1
// (fastest), 2, 3, 4 (tile), as the four rows (gather4, scatter4), or as the pixels of the column with its halos
// (im2col). With interleave, a row holds one slice of the channels, and the slices of a tile come after its
// spatial dimensions and before its images (im2col: after all its pixels).
// L is stored at the address that the swizzle maps copy.shared + L to; copy.shared is a multiple of 128.
#pragma once

#include "sim/copy/tensor_copy.h"

namespace mmadiff::reference {

// All rows times the pitch (the padding of the last row counts), rounded up to whole units within which the
// swizzle permutes: 32, 64 or 128 bytes. The rounding matters where rows are tight or interleaved.
uint64_t ReferenceTileBytes(const TensorCopy& copy, const CopyRules& rules = {});

// [0, 0) if no element is in bounds.
GlobalRange ReferenceTouchedRange(const TensorCopy& copy, const CopyRules& rules = {});

// The result of a legal copy. A load covers [copy.shared, + ReferenceTileBytes()), a store or reduction
// ReferenceTouchedRange().
// Not specified, and with their old values: padding of the tile (of rows, of cells, of the last slice); global
// bytes that several elements of a store write; results of several reductions in one place if their order
// matters (inc, dec, floating-point add). Global bytes that the copy must not touch are specified.
CopyResult ReferenceCopy(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory);

}  // namespace mmadiff::reference
