#include "corpus/arrays/npy.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <optional>
#include <span>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "corpus/arrays/array_file.h"
#include "corpus/arrays/npy_header.h"
#include "corpus/durable_file.h"
#include "device/little_endian.h"
#include "device/plain_text.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kNpyMagic = "\x93NUMPY";
constexpr size_t kBytesBeforeLength = 8;    // the magic and two bytes of the version
constexpr size_t kMaxNpyHeader = 64 << 10;  // bytes; NumPy refuses headers above 10,000
constexpr size_t kNpyAlignment = 64;        // of the first element in written files
constexpr bool kBigEndianMachine = std::endian::native == std::endian::big;

struct NumpyType {
  const char* name;     // kind and bytes
  const char* element;  // FindElementType()
};
constexpr NumpyType kNumpyTypes[] = {{"f8", "f64"}, {"f4", "f32"}, {"f2", "f16"}, {"f1", "e5m2"},
                                     {"i1", "s8"},  {"i2", "s16"}, {"i4", "s32"}, {"i8", "s64"},
                                     {"u1", "u8"},  {"u2", "u16"}, {"u4", "u32"}, {"u8", "u64"},
                                     {"V1", "u8"},  {"V2", "u16"}, {"V4", "u32"}, {"V8", "u64"}};

struct NpyDescr {
  ElementType type;
  bool big_endian;
};

absl::StatusOr<NpyDescr> ParseNpyDescr(absl::string_view descr) {
  const auto not_read = [&](absl::string_view why) {
    return absl::InvalidArgumentError(absl::StrCat("type '", PlainLine(descr), "'", why));
  };
  absl::string_view name = descr;
  const bool little = absl::ConsumePrefix(&name, "<"), big = absl::ConsumePrefix(&name, ">");
  const bool any = absl::ConsumePrefix(&name, "|");
  if (absl::StartsWith(name, "O")) {
    return not_read(
        ": object arrays hold pickled Python objects, which are never read; save numbers, for "
        "example x.astype('f4')");
  }
  const auto found = std::ranges::find(kNumpyTypes, name, &NumpyType::name);
  if (found == std::end(kNumpyTypes)) {
    return not_read(" is not read; save f2, f4, f8, integers, or raw words as u1, u2, u4, u8");
  }
  const ElementType type = *FindElementType(found->element);
  const bool raw = name[0] == 'V';
  if (little + big + any != 1 || (any && type.bits > 8 && !raw)) {
    return not_read(" has no byte order; begin it with '<' or '>'");
  }
  if (big && raw) return not_read(": raw words are read with '<' or '|' only");
  return NpyDescr{type, big};
}

// The first bytes of the file and the length of the header.
struct NpyPreamble {
  size_t bytes;
  uint64_t header;
};

absl::StatusOr<NpyPreamble> ReadNpyPreamble(const ArrayFile& file) {
  unsigned char bytes[kBytesBeforeLength + 4] = {};
  const size_t available = std::min<uint64_t>(file.bytes(), sizeof(bytes));
  RETURN_IF_ERROR(file.Read(0, {bytes, available}));
  const absl::string_view text(reinterpret_cast<const char*>(bytes), available);
  if (!absl::StartsWith(text, kNpyMagic)) return file.Damaged("is not an .npy file");
  const int major = bytes[6], minor = bytes[7];
  if (text.size() < kBytesBeforeLength) return file.Damaged("truncated within its first bytes");
  if (major < 1 || major > 3 || minor != 0) {
    return file.Damaged(absl::StrCat("has version ", major, ".", minor,
                                     " of the format; 1.0, 2.0 and 3.0 are read"));
  }
  const size_t length = major == 1 ? 2 : 4;
  if (text.size() < kBytesBeforeLength + length)
    return file.Damaged("truncated within its first bytes");
  return NpyPreamble{kBytesBeforeLength + length,
                     ReadLittleEndian(text.substr(kBytesBeforeLength, length))};
}

absl::StatusOr<std::string> ReadNpyHeader(const ArrayFile& file, const NpyPreamble& preamble) {
  if (preamble.header > file.bytes() - preamble.bytes) {
    return file.Damaged(absl::StrCat("truncated: its header has ", preamble.header,
                                     " bytes, but only ", file.bytes() - preamble.bytes,
                                     " follow"));
  }
  if (preamble.header > kMaxNpyHeader) {
    return file.Damaged(absl::StrCat("its header has ", preamble.header, " bytes, more than the ",
                                     kMaxNpyHeader, " that are read"));
  }
  std::string header(preamble.header, '\0');
  RETURN_IF_ERROR(
      file.Read(preamble.bytes, {reinterpret_cast<unsigned char*>(header.data()), header.size()}));
  return header;
}

absl::Status CheckNpyLength(const ArrayFile& file, uint64_t offset, const ElementType& type,
                            std::span<const int64_t> shape) {
  const uint64_t available = file.bytes() - offset;
  const std::optional<uint64_t> bytes = BytesOf(type, shape);
  if (available == bytes) return absl::OkStatus();
  const std::string needs = absl::StrCat(type.name, " of shape ", ShapeText(shape), " needs ",
                                         bytes ? absl::StrCat(*bytes) : "too many", " bytes");
  return file.Damaged(
      bytes && *bytes < available
          ? absl::StrCat("has ", available, " bytes of words, but ", needs)
          : absl::StrCat("truncated: ", needs, ", but only ", available, " follow"));
}

// The name of the type in a file of this machine.
std::string NpyDescrOf(const Format& format) {
  const ElementType type = ElementTypeOf(format);
  absl::string_view element = format.name;
  if (&format == &kTf32 || &format == &kTf32Amx) element = kF32.name;
  const auto known = std::ranges::find(kNumpyTypes, element, &NumpyType::element);
  const bool raw = known == std::end(kNumpyTypes) || &format == &kE5m2;
  const std::string name = raw ? absl::StrCat("V", type.bits / 8) : known->name;
  return absl::StrCat(type.bits == 8 && !raw ? "|" : kBigEndianMachine ? ">" : "<", name);
}

// With the preamble, as NumPy writes it: blanks align the words.
std::string NpyHeaderBytes(absl::string_view descr, int64_t rows, int64_t columns) {
  std::string header = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                    rows, ", ", columns, "), }");
  const size_t used = kBytesBeforeLength + 2 + header.size() + 1;
  header.append((kNpyAlignment - used % kNpyAlignment) % kNpyAlignment, ' ');
  header.push_back('\n');
  std::string bytes = absl::StrCat(kNpyMagic, absl::string_view("\x01\0", 2));
  AppendLittleEndian(header.size(), 2, bytes);
  return bytes + header;
}

}  // namespace

absl::StatusOr<Array> ReadNpy(const std::string& path) {
  ASSIGN_OR_RETURN(const ArrayFile file, ArrayFile::Open(path));
  const auto named = [&](const absl::Status& s) {
    return absl::IsDataLoss(s) ? file.Damaged(s.message()) : file.NotRead(s.message());
  };
  ASSIGN_OR_RETURN(const NpyPreamble preamble, ReadNpyPreamble(file));
  ASSIGN_OR_RETURN(const std::string text, ReadNpyHeader(file, preamble));
  const absl::StatusOr<NpyHeader> header = ParseNpyHeader(text);
  if (!header.ok()) return named(header.status());
  const absl::StatusOr<NpyDescr> descr = ParseNpyDescr(header->descr);
  if (!descr.ok()) return named(descr.status());
  const uint64_t offset = preamble.bytes + preamble.header;
  RETURN_IF_ERROR(CheckNpyLength(file, offset, descr->type, header->shape));
  return ReadWords(file, path,
                   {descr->type, header->shape, header->fortran_order,
                    descr->big_endian != kBigEndianMachine, offset});
}

absl::StatusOr<std::string> NpyBytes(const Words& words, int64_t rows, int64_t columns,
                                     const Format& format) {
  const ElementType type = ElementTypeOf(format);
  if (words.bits != type.bits) {
    return absl::InvalidArgumentError(absl::StrCat("words of ", words.bits, " bits are not ",
                                                   format.name, ", which has ", type.bits));
  }
  if (rows < 0 || columns < 0) return absl::InvalidArgumentError("a negative number of elements");
  std::string bytes = NpyHeaderBytes(NpyDescrOf(format), rows, columns);
  bytes.reserve(bytes.size() + rows * columns * (type.bits / 8));
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      bytes.append(reinterpret_cast<const char*>(words.At(i, j)), type.bits / 8);
    }
  }
  return bytes;
}

absl::Status WriteNpy(const std::string& path, const Words& words, int64_t rows, int64_t columns,
                      const Format& format) {
  const absl::StatusOr<std::string> bytes = NpyBytes(words, rows, columns, format);
  if (!bytes.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(PlainLine(path), ": not written: ", bytes.status().message()));
  }
  return WriteFileDurably(path, *bytes);
}

}  // namespace mmadiff
