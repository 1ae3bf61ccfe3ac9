#include "corpus/arrays/array.h"

#include <algorithm>
#include <bit>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "corpus/arrays/array_file.h"
#include "corpus/arrays/npy.h"
#include "corpus/arrays/safetensors.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "sim/quoted_name.h"

namespace mmadiff {
namespace {

constexpr ElementType kRawTypes[] = {{"u8", nullptr, 8},
                                     {"u16", nullptr, 16},
                                     {"u32", nullptr, 32},
                                     {"u64", nullptr, 64},
                                     {"s64", nullptr, 64}};
constexpr char kSpellings[] =
    "PATH.npy, PATH.safetensors:TENSOR or PATH.bin:ROWSxCOLUMNS:TYPE, for example x.bin:64x32:bf16";

// The dimensions in "64x32"; nullopt for anything else.
std::optional<std::vector<int64_t>> DimensionsOf(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, 'x');
  std::vector<int64_t> shape(parts.size());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!absl::SimpleAtoi(parts[i], &shape[i]) || shape[i] <= 0) return std::nullopt;
  }
  if (shape.size() != 2) return std::nullopt;
  return shape;
}

// `layout` is ROWSxCOLUMNS:TYPE.
absl::StatusOr<Array> ReadRaw(const std::string& path, absl::string_view layout,
                              const std::string& name) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(layout, absl::MaxSplits(':', 1));
  const auto invalid = [&](auto... what) {
    return absl::InvalidArgumentError(absl::StrCat(PlainLine(name), ": ", what...));
  };
  const std::optional<std::vector<int64_t>> shape = DimensionsOf(parts.first);
  if (!shape) return invalid("write ", kSpellings);
  const std::optional<ElementType> type = FindElementType(parts.second);
  if (!type) return invalid("no type '", PlainLine(parts.second), "'; use ", ElementTypeNames());
  ASSIGN_OR_RETURN(const ArrayFile file, ArrayFile::Open(path));
  if (const std::optional<uint64_t> bytes = BytesOf(*type, *shape); bytes != file.bytes()) {
    return invalid("needs ", bytes ? absl::StrCat(*bytes) : "too many", " bytes, but the file has ",
                   file.bytes(), "; give the shape of its words");
  }
  return ReadWords(file, name, {*type, *shape, false, std::endian::native == std::endian::big, 0});
}

bool MayHold(const Array& array, const Format& format) {
  if (array.bits != ElementTypeOf(format).bits) return false;
  // Raw words of a whole type are unsigned: a signed type needs signed integers.
  const bool is_signed = IsInteger(format) && format.is_signed && format.bits == array.bits;
  if (array.format == nullptr) return !is_signed;
  const std::string_view has = array.format->name, takes = format.name;
  if (has == kE4m3.name && takes == kUe4m3.name) return true;  // files have no type for ue4m3
  return has == takes || (has == kF32.name && (takes == kTf32.name || takes == kTf32Amx.name));
}

}  // namespace

std::optional<ElementType> FindElementType(absl::string_view name) {
  for (const ElementType& raw : kRawTypes) {
    if (name == raw.name) return raw;
  }
  for (const Format* f : kFormats) {
    if (name == f->name) return ElementTypeOf(*f);
  }
  const std::vector<std::string> quoted = QuotedFormats(std::string(name));
  return quoted.size() == 1 ? FindElementType(quoted.front()) : std::nullopt;
}

ElementType ElementTypeOf(const Format& format) {
  return {format.name, &format, 4 * HexDigits(format)};
}

std::string ElementTypeNames() {
  std::vector<absl::string_view> names;
  for (const Format* f : kFormats) names.push_back(f->name);
  for (const ElementType& raw : kRawTypes) {
    if (!std::ranges::count(names, raw.name)) names.push_back(raw.name);
  }
  return absl::StrJoin(names, ", ");
}

std::optional<uint64_t> BytesOf(const ElementType& type, std::span<const int64_t> shape) {
  int64_t bytes = type.bits / 8;
  for (const int64_t n : shape) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(n, 1), &bytes)) return std::nullopt;
  }
  return std::ranges::count(shape, 0) > 0 ? 0 : bytes;
}

std::string ShapeText(std::span<const int64_t> shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), ")");
}

absl::StatusOr<Array> ReadArray(absl::string_view name) {
  constexpr absl::string_view kTensor = ".safetensors:", kRaw = ".bin:";
  const std::string whole(name);
  if (const size_t at = name.find(kTensor); at != name.npos) {
    const size_t colon = at + kTensor.size() - 1;
    return ReadSafetensors(std::string(name.substr(0, colon)), name.substr(colon + 1));
  }
  if (const size_t at = name.find(kRaw); at != name.npos) {
    const size_t colon = at + kRaw.size() - 1;
    return ReadRaw(std::string(name.substr(0, colon)), name.substr(colon + 1), whole);
  }
  if (absl::EndsWith(name, ".npy")) return ReadNpy(whole);
  if (absl::EndsWith(name, ".safetensors")) return ReadSafetensors(whole, std::nullopt);
  return absl::InvalidArgumentError(
      absl::StrCat("'", PlainLine(name), "' is not the name of an array; write ", kSpellings));
}

absl::StatusOr<Words> AsMatrix(const Array& array) {
  const auto invalid = [&](auto... what) {
    return absl::InvalidArgumentError(
        absl::StrCat(PlainLine(array.name), ": shape ", ShapeText(array.shape), what...));
  };
  if (array.shape.size() == 1) {
    return invalid(" has one dimension, a matrix has two: reshape it to (", array.shape[0],
                   ", 1) or (1, ", array.shape[0], ")");
  }
  if (array.shape.size() != 2) return invalid(" is not that of a matrix, which has two dimensions");
  if (array.bytes.empty()) return invalid(" has no elements");
  return Words{array.bytes.data(), array.strides[0], array.strides[1], array.bits};
}

absl::Status CheckHolds(const Array& array, const Format& format) {
  if (!MayHold(array, format)) {
    return absl::InvalidArgumentError(absl::StrCat(PlainLine(array.name), ": holds ", array.type,
                                                   ", not ", format.name, ": convert it first"));
  }
  const uint64_t all = LowBits(format.bits);
  const size_t size = array.bits / 8;
  for (size_t at = 0; format.bits < array.bits && at < array.bytes.size(); at += size) {
    const Words word = {array.bytes.data() + at, 0, 0, array.bits};
    if (Load(word, 0, 0) <= all) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: the word %0*x at byte %d of its data has bits above the %d of %s; "
                        "store one right-aligned "
                        "word per element",
                        PlainLine(array.name), static_cast<int>(2 * size), Load(word, 0, 0), at,
                        format.bits, format.name));
  }
  return absl::OkStatus();
}

}  // namespace mmadiff
