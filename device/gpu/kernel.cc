#include "device/gpu/kernel.h"

#include <algorithm>
#include <utility>

namespace mmadiff {
namespace {

// The elements of A, of B, or of their scales in the order of a Batch.
std::vector<Element> InOrderOfBatch(const Instruction& i, Operand operand) {
  const bool columns =
      operand == Operand::kB || operand == Operand::kBRows || operand == Operand::kScaleB;
  std::vector<Element> elements = Elements(i, operand);
  if (columns) {
    std::ranges::stable_sort(elements, [](const Element& x, const Element& y) {
      return std::pair(x.block, x.column) < std::pair(y.block, y.column);
    });
  }
  return elements;
}

bool IsA(Operand operand) { return operand == Operand::kA || operand == Operand::kALanes; }

Operand ScalesOf(Operand operand) {
  return operand == Operand::kB ? Operand::kScaleB : Operand::kScaleA;
}

}  // namespace

OperandWords WordsOf(const Instruction& i, Operand operand) {
  OperandWords words;
  const auto slots = [&](Operand part) {
    const Extent extent = ExtentOf(i, part);
    std::vector<Slot> all;
    for (const Element& e : InOrderOfBatch(i, part)) {
      const std::vector<Place> places = PlacesOf(i, part, e);
      const auto word = [&](const Place& p) {
        return words.words + p.lane * extent.registers + p.reg;
      };
      all.push_back({word(places[0]), places[0].bit});
      for (size_t copy = 1; copy < places.size(); ++copy) {
        words.copies.push_back({word(places[0]), word(places[copy])});
      }
    }
    words.words += extent.lanes * extent.registers;
    return all;
  };
  words.slots = slots(operand);
  if (i.sparse() && IsA(operand)) words.metadata = slots(Operand::kMetadata);
  std::ranges::sort(words.copies);
  // clang 14 with this library has no std::ranges::unique, nor other subranges and views.
  words.copies.erase(std::unique(words.copies.begin(), words.copies.end()), words.copies.end());
  if (i.scale == nullptr || operand == Operand::kC || operand == Operand::kD) return words;
  const std::vector<Slot> elements = std::exchange(words.slots, {}),
                          scales = slots(ScalesOf(operand));
  const int k = i.shape.k, per_row = i.shape.scales;
  for (size_t row = 0; row * k < elements.size(); ++row) {
    words.slots.insert(words.slots.end(), &elements[row * k], &elements[row * k] + k);
    words.slots.insert(words.slots.end(), &scales[row * per_row], &scales[row * per_row] + per_row);
  }
  return words;
}

}  // namespace mmadiff
