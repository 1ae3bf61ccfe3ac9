// Sparse instructions multiply half of each row of A. Here a row has a word for every k, as that of a
// dense instruction, in which the elements that are not stored are +0; its metadata say which are
// stored, a word of 4 bits for each group of k / groups elements. The four quarters of a group, each
// one element, a pair of elements of 4 bits, or half an element of 32, are numbered from 0; bits 0 and
// 1 of the word are the first stored quarter, bits 2 and 3 the second (PTX ISA, "Sparse matrix
// storage"; AMD's index registers have the same bits).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/instruction.h"

namespace mmadiff {

inline constexpr int kMaxGroup = 8;

// The words of metadata that PTX ISA defines, whose quarters ascend; the first and the last are those
// of groups of two elements. All other words are undefined.
inline constexpr uint64_t kLegalMetadata[] = {0x4, 0x8, 0x9, 0xc, 0xd, 0xe};
std::span<const uint64_t> LegalMetadata(int group);
bool IsLegalMetadata(int group, uint64_t metadata);

// The place within its group of stored element `n`, 0 <= n < group / 2.
constexpr int StoredPosition(int group, uint64_t metadata, int n) {
  const bool second = 2 * n >= group / 2 && group > 2;
  const int quarter = static_cast<int>(metadata >> (second ? 2 : 0) & 3);
  return group < 4 ? quarter / 2 : quarter * (group / 4) + n % (group / 4);
}
bool IsStored(int group, uint64_t metadata, int position);

// Legal metadata with which all words of a group other than +0 are stored, and else the lowest; 0 if
// there are too many.
uint64_t MetadataFor(std::span<const uint64_t> words);

// `metadata`, or if it is 0, not given, MetadataFor() the words; the least word if that fails.
uint64_t StoredMetadata(std::span<const uint64_t> words, uint64_t metadata);
// The same for all groups of a dot product's row, and of the rows of a batch.
std::vector<uint64_t> StoredMetadata(const Shape& shape, const DotProductCase& dot);
std::vector<uint64_t> StoredMetadata(const Batch& batch);

// Sets the stored elements of A of a batch whose metadata are given, row by row, two or more for each
// group: the order in which instructions have them.
void PutStored(std::span<const uint64_t> stored, Batch& batch);

// Replaces metadata that do not store all elements of a that differ from +0; false if none do.
bool FitMetadata(const Shape& shape, DotProductCase& dot);

// Sets the words of a group that the metadata do not store to +0.
void DropUnstored(uint64_t metadata, std::span<uint64_t> words);

// Gives legal metadata, one after another from number `first` on, and sets the elements of a that they
// do not store to +0. Changes nothing if the shape is not sparse.
void Prune(const Shape& shape, uint64_t first, DotProductCase& dot);

// The message about a metadata word that PTX ISA does not define; "" if it defines all.
std::string WhyUndefined(const Instruction& instruction, std::span<const uint64_t> metadata);

// Why rows of A, each with its scales, cannot be operands of a sparse instruction with this metadata,
// or with any where it is not given. "" if they can, or if the instruction is not sparse.
std::string WhyNotSparse(const Instruction& instruction, std::span<const uint64_t> a,
                         std::span<const uint64_t> metadata = {});

// A model of a sparse instruction adds the products that its `selection` names: these functions give
// them as dot products of a dense model.
inline bool IsSparse(const Model& m) { return m.sparse_group != 0; }
std::string SparsityText(const Model& sparse);  // "2:4", two of each four are stored
Model SelectedModel(const Model& m);
DotProductCase Selected(const Model& m, const DotProductCase& dot);
Batch Selected(const Model& m, const Batch& batch);  // of single dot products
// The k of each of these products.
std::vector<int> SelectedK(const Model& m, const DotProductCase& dot);

}  // namespace mmadiff
