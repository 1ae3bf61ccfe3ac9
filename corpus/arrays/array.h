// Arrays of words in files of other programs: .npy, .safetensors, and words without a header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/format.h"
#include "sim/words.h"

namespace mmadiff {

// How one element is stored: right-aligned in 8, 16, 32 or 64 bits.
struct ElementType {
  const char* name;      // of the format, or u8, u16, u32, u64, s64
  const Format* format;  // nullptr: raw words, whose format the caller must give
  int bits;
};
// `name` of a format of sim/format.h, another name that means only one ("half", "float8_e4m3fn"), or
// of raw words. "u8" is raw, as programs without FP8 store
// FP8 in it. nullopt: no such type.
std::optional<ElementType> FindElementType(absl::string_view name);
ElementType ElementTypeOf(const Format& format);
// "f64, f32, ..., u64": all names.
std::string ElementTypeNames();

// Owns the words of one array, in this machine's byte order.
struct Array {
  std::string name;  // as in ReadArray(), for messages
  std::string type;
  const Format* format = nullptr;
  int bits = 0;
  std::vector<int64_t> shape;    // 0 to kMaxDimensions dimensions
  std::vector<int64_t> strides;  // in elements, one per dimension; Fortran order is kept
  std::vector<unsigned char> bytes;
};
inline constexpr size_t kMaxDimensions = 8;
inline constexpr uint64_t kMaxArrayBytes = uint64_t{1} << 34;

// The bytes of all elements. nullopt: they, or the elements without the dimensions that are 0, do
// not fit int64_t.
std::optional<uint64_t> BytesOf(const ElementType& type, std::span<const int64_t> shape);
// "(2, 3)"
std::string ShapeText(std::span<const int64_t> shape);

// Reads an array by its name:
//   PATH.npy
//   PATH.safetensors:TENSOR               without :TENSOR the only one of the file
//   PATH.bin:ROWSxCOLUMNS:TYPE            little-endian words by rows, TYPE of FindElementType()
// kInvalidArgument: a bad name, no such file, not a regular file, a shape that is not that of the
// .bin file, or an array that is not read; the message has advice. kDataLoss: the file is damaged,
// truncated or longer than its header says. Checks all sizes against the file before it allocates.
absl::StatusOr<Array> ReadArray(absl::string_view name);

// The array, which must outlive the result, as a matrix. kInvalidArgument unless it has two
// dimensions and an element.
absl::StatusOr<Words> AsMatrix(const Array& array);
// OK if the words can be operands of this format: they have this format, or are f32 for tf32, or
// are raw words of its width without bits above the format's. Otherwise kInvalidArgument.
absl::Status CheckHolds(const Array& array, const Format& format);

}  // namespace mmadiff
