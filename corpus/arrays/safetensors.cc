#include "corpus/arrays/safetensors.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/arrays/array_file.h"
#include "corpus/arrays/safetensors_header.h"
#include "device/little_endian.h"
#include "device/plain_text.h"
#include "device/status_macros.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

constexpr uint64_t kHeaderLengthBytes = 8;
constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // bytes, as in the format's own library
constexpr size_t kMaxListedTensors = 10;                 // names in a message
constexpr size_t kMaxTensorMessage = 1000;               // bytes, as names may be very long

struct TensorType {
  const char* name;
  int bits;                       // per element
  const char* element = nullptr;  // FindElementType(); nullptr: not read
};
constexpr TensorType kTensorTypes[] = {{"F64", 64, "f64"},
                                       {"F32", 32, "f32"},
                                       {"F16", 16, "f16"},
                                       {"BF16", 16, "bf16"},
                                       {"F8_E4M3", 8, "e4m3"},
                                       {"F8_E5M2", 8, "e5m2"},
                                       {"F8_E8M0", 8, "ue8m0"},
                                       {"F8_E4M3FNUZ", 8, "e4m3fnuz"},
                                       {"I8", 8, "s8"},
                                       {"F8_E5M2FNUZ", 8, "e5m2fnuz"},
                                       {"I16", 16, "s16"},
                                       {"I32", 32, "s32"},
                                       {"I64", 64, "s64"},
                                       {"U8", 8, "u8"},
                                       {"U16", 16, "u16"},
                                       {"U32", 32, "u32"},
                                       {"U64", 64, "u64"},
                                       {"BOOL", 8},
                                       {"C64", 64},
                                       {"F4", 4},
                                       {"F6_E2M3", 6},
                                       {"F6_E3M2", 6}};

std::string TensorMessage(absl::string_view text) {
  return PlainLine(text.substr(0, kMaxTensorMessage));
}

// nullptr: a type that was added to the format later.
const TensorType* FindTensorType(absl::string_view name) {
  const auto found = std::ranges::find(kTensorTypes, name, &TensorType::name);
  return found == std::end(kTensorTypes) ? nullptr : &*found;
}

// Bytes that the tensor needs; nullopt: no whole number, or more than int64_t holds.
std::optional<int64_t> BytesOf(const TensorType& type, const StoredTensor& tensor) {
  int64_t bits = type.bits;
  for (const int64_t n : tensor.shape) {
    if (__builtin_mul_overflow(bits, std::max<int64_t>(n, 1), &bits)) return std::nullopt;
  }
  if (std::ranges::count(tensor.shape, 0) > 0) return 0;
  return bits % 8 == 0 ? std::optional(bits / 8) : std::nullopt;
}

// Why the tensor's offsets are wrong if those before it end at `begin`; "" if they are not.
std::string WhyWrongOffsets(const StoredTensor& tensor, int64_t begin) {
  const int64_t from = tensor.offsets[0], to = tensor.offsets[1];
  if (to < from) return absl::StrCat("ends at ", to, ", before its begin at ", from);
  if (from < begin) return absl::StrCat("begins at ", from, " and overlaps what ends at ", begin);
  if (from > begin) return absl::StrCat("begins at ", from, ", behind a hole from ", begin);
  const TensorType* const type = FindTensorType(tensor.type);
  if (type == nullptr || BytesOf(*type, tensor) == to - from) return "";
  return absl::StrCat("has ", to - from, " bytes, which is wrong for ", tensor.type, " of shape ",
                      ShapeText(tensor.shape));
}

// `buffer` is the bytes behind the header.
absl::Status CheckTensorOffsets(const ArrayFile& file, std::vector<StoredTensor> tensors,
                                uint64_t buffer) {
  std::ranges::sort(tensors, {}, &StoredTensor::offsets);
  int64_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    if (const std::string why = WhyWrongOffsets(tensor, end); !why.empty()) {
      return file.Damaged(TensorMessage(absl::StrCat("tensor '", tensor.name, "' ", why)));
    }
    end = tensor.offsets[1];
  }
  if (static_cast<uint64_t>(end) == buffer) return absl::OkStatus();
  return file.Damaged(absl::StrCat(static_cast<uint64_t>(end) > buffer ? "truncated: " : "",
                                   "its tensors have ", end, " bytes, but ", buffer,
                                   " follow the header"));
}

absl::StatusOr<std::string> ReadTensorHeader(const ArrayFile& file) {
  if (file.bytes() < kHeaderLengthBytes) return file.Damaged("truncated within its first bytes");
  std::string header(kHeaderLengthBytes, '\0');
  const auto read = [&](uint64_t offset) {
    return file.Read(offset, {reinterpret_cast<unsigned char*>(header.data()), header.size()});
  };
  RETURN_IF_ERROR(read(0));
  const uint64_t length = ReadLittleEndian(header), available = file.bytes() - kHeaderLengthBytes;
  if (length > available) {
    return file.Damaged(absl::StrCat("truncated, or not a safetensors file: its header has ",
                                     length, " bytes, but only ", available, " follow"));
  }
  if (length > kMaxSafetensorsHeader) {
    return file.Damaged(absl::StrCat("its header has ", length, " bytes, more than the ",
                                     kMaxSafetensorsHeader, " that the format allows"));
  }
  header.resize(length);
  RETURN_IF_ERROR(read(kHeaderLengthBytes));
  return header;
}

absl::StatusOr<StoredTensor> ChooseTensor(const ArrayFile& file,
                                          const std::vector<StoredTensor>& tensors,
                                          std::optional<absl::string_view> name) {
  if (tensors.empty()) return file.NotRead("has no tensors");
  if (!name && tensors.size() == 1) return tensors[0];
  std::vector<std::string> names;
  for (const StoredTensor& tensor : tensors) {
    if (name == tensor.name) return tensor;
    names.push_back(tensor.name);
  }
  std::string text = "has several tensors";
  if (name) {
    const std::string_view wanted(name->data(), name->size());
    text = absl::StrCat("no tensor '", *name, "'", NearestText("; nearest: ", wanted, names, 1));
  }
  const size_t more = names.size() - std::min(names.size(), kMaxListedTensors);
  names.resize(names.size() - more);
  absl::StrAppend(&text, "; append :NAME, one of ", absl::StrJoin(names, ", "));
  if (more > 0) absl::StrAppend(&text, " and ", more, " more");
  return file.NotRead(TensorMessage(text));
}

absl::StatusOr<ElementType> ElementTypeIn(const ArrayFile& file, const StoredTensor& tensor) {
  const TensorType* const type = FindTensorType(tensor.type);
  if (type != nullptr && type->element != nullptr) return *FindElementType(type->element);
  return file.NotRead(TensorMessage(absl::StrCat(
      "tensor '", tensor.name, "': type ", tensor.type, " is not read; ",
      type != nullptr && type->bits < 8 ? "unpack it to one element per byte, and store it as U8"
                                        : "store a floating-point type or integers")));
}

}  // namespace

absl::StatusOr<Array> ReadSafetensors(const std::string& path,
                                      std::optional<absl::string_view> tensor) {
  ASSIGN_OR_RETURN(const ArrayFile file, ArrayFile::Open(path));
  ASSIGN_OR_RETURN(const std::string text, ReadTensorHeader(file));
  const absl::StatusOr<std::vector<StoredTensor>> tensors = ParseSafetensorsHeader(text);
  if (!tensors.ok()) return file.Damaged(tensors.status().message());
  const uint64_t begin = kHeaderLengthBytes + text.size();
  RETURN_IF_ERROR(CheckTensorOffsets(file, *tensors, file.bytes() - begin));
  ASSIGN_OR_RETURN(const StoredTensor chosen, ChooseTensor(file, *tensors, tensor));
  ASSIGN_OR_RETURN(const ElementType type, ElementTypeIn(file, chosen));
  return ReadWords(file, absl::StrCat(path, ":", chosen.name),
                   {type, chosen.shape, false, std::endian::native == std::endian::big,
                    begin + static_cast<uint64_t>(chosen.offsets[0])});
}

}  // namespace mmadiff
