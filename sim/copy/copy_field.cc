#include "sim/copy/copy_field.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace mmadiff {
namespace {

using Copy = TensorCopy;

constexpr const char* kInterleaves[] = {"none", "16B", "32B"};
constexpr const char* kFills[] = {"zero", "nan"};
constexpr const char* kReductions[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};

bool Always(const CopyForm&) { return true; }
bool Tiled(const CopyForm& form) { return IsTiled(form.mode); }
bool Column(const CopyForm& form) { return !Tiled(form); }
bool HasOffsets(const CopyForm& form) {
  return Column(form) && form.mode != CopyMode::kIm2colNoOffs;
}
bool Reduces(const CopyForm& form) { return form.direction == CopyDirection::kReduce; }
bool Loads(const CopyForm& form) { return form.direction == CopyDirection::kLoad; }

template <class T>
bool Parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "1,2,3": exactly `count` numbers.
template <class T>
bool ParseEach(std::string_view text, T* values, int count) {
  for (int i = 0; i < count; ++i) {
    const size_t comma = text.find(',');
    if ((comma == text.npos) != (i == count - 1)) return false;
    if (!Parse(text.substr(0, comma), values[i])) return false;
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return true;
}

template <class T>
std::string Join(const T* values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::to_string(values[i]);
  return text;
}

// The value whose name `name_of(i)` is, for i below `count`.
template <class T, class F>
bool ParseName(std::string_view text, int count, F name_of, T& value) {
  for (int i = 0; i < count; ++i) {
    if (text != name_of(i)) continue;
    value = static_cast<T>(i);
    return true;
  }
  return false;
}
template <class T>
bool ParseName(std::string_view text, std::span<const char* const> names, T& value) {
  return ParseName(
      text, static_cast<int>(names.size()), [&](int i) { return names[i]; }, value);
}

int Coordinates(const Copy& c) {
  return c.form->mode == CopyMode::kGather4 || c.form->mode == CopyMode::kScatter4 ? 5 : c.map.rank;
}
int Offsets(const Copy& c) { return c.form->mode == CopyMode::kIm2col ? c.map.spatial() : 2; }

#define MMADIFF_EACH(values, count)                         \
  [](const Copy& c) { return Join(values.data(), count); }, \
      [](Copy& c, std::string_view t) { return ParseEach(t, values.data(), count); }
#define MMADIFF_NUMBER(value)                          \
  [](const Copy& c) { return std::to_string(value); }, \
      [](Copy& c, std::string_view t) { return Parse(t, value); }
#define MMADIFF_NAME(names, value)                                           \
  [](const Copy& c) { return std::string(names[static_cast<int>(value)]); }, \
      [](Copy& c, std::string_view t) { return ParseName(t, names, value); }

constexpr CopyField kFields[] = {
    {"type", "type of the elements", true,
     "u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32.ftz tf32 tf32.ftz "
     "b4x16 b4x16_p64 b6x16",
     Always, [](const Copy& c) { return std::string(Info(c.map.type).name); },
     [](Copy& c, std::string_view t) {
       const auto types = TensorTypes();
       return ParseName(
           t, static_cast<int>(types.size()), [&](int i) { return types[i].name; }, c.map.type);
     }},
    {"dim", "sizes of the tensor in elements, dense dimension first", true, "", Always,
     MMADIFF_EACH(c.map.dim, c.map.rank)},
    {"stride", "strides in bytes of the dimensions from 1 on", false, "",
     [](const CopyForm& form) { return form.rank > 1; },
     [](const Copy& c) { return Join(c.map.stride.data() + 1, c.map.rank - 1); },
     [](Copy& c, std::string_view t) {
       return ParseEach(t, c.map.stride.data() + 1, c.map.rank - 1);
     }},
    {"base", "address of the tensor in global memory, in bytes", false, "", Always,
     MMADIFF_NUMBER(c.map.base)},
    {"traversal", "traversal strides in elements", false, "", Always,
     MMADIFF_EACH(c.map.traversal, c.map.rank)},
    {"interleave", "interleaved layout", false, "none 16B 32B", Always,
     MMADIFF_NAME(kInterleaves, c.map.interleave)},
    {"swizzle", "swizzle of shared memory", false,
     "none 32B 64B 128B 128B_atom_32B 128B_atom_32B_flip_8B 128B_atom_64B 96B", Always,
     [](const Copy& c) { return std::string(Info(c.map.swizzle).name); },
     [](Copy& c, std::string_view t) {
       const auto all = Swizzles();
       return ParseName(
           t, static_cast<int>(all.size()), [&](int i) { return all[i].name; }, c.map.swizzle);
     }},
    {"fill", "value of elements out of bounds", false, "zero nan", Loads,
     MMADIFF_NAME(kFills, c.map.fill)},
    {"box", "sizes of the box in elements", false, "", Tiled, MMADIFF_EACH(c.map.box, c.map.rank)},
    {"lower", "lower corner of the bounding box: W, H, D", false, "", Column,
     MMADIFF_EACH(c.map.lower, c.map.spatial())},
    {"upper", "upper corner of the bounding box: W, H, D", false, "", Column,
     MMADIFF_EACH(c.map.upper, c.map.spatial())},
    {"channels", "channels per pixel", false, "", Column, MMADIFF_NUMBER(c.map.channels)},
    {"pixels", "pixels per column", false, "", Column, MMADIFF_NUMBER(c.map.pixels)},
    {"at", "coordinates, dimension 0 first; for gather4 and scatter4 the column and four rows",
     false, "", Always, MMADIFF_EACH(c.x, Coordinates(c))},
    {"offset", "im2col offsets: W, H, D; for im2col_w the halo and the offset of W", false, "",
     HasOffsets, MMADIFF_EACH(c.offset, Offsets(c))},
    {"reduction", "operation of a reduction", false, "add min max inc dec and or xor", Reduces,
     MMADIFF_NAME(kReductions, c.reduction)},
    {"shared", "address of the tile in shared memory, in bytes", false, "", Always,
     MMADIFF_NUMBER(c.shared)},
};
#undef MMADIFF_EACH
#undef MMADIFF_NUMBER
#undef MMADIFF_NAME

}  // namespace

std::span<const CopyField> CopyFields() { return kFields; }

const CopyField* FindCopyField(std::string_view name) {
  const auto* found = std::ranges::find(kFields, name, &CopyField::name);
  return found == std::end(kFields) ? nullptr : found;
}

void SetDefaults(TensorCopy& copy) {
  TensorMap& map = copy.map;
  const TensorTypeInfo& info = Info(map.type);
  const uint64_t align = AlignmentOf(map);
  map.stride[0] = info.global_bytes / info.elements;
  uint64_t dense = map.dim[0] * info.global_bytes / info.elements;
  if (map.interleave != Interleave::kNone) dense = align;
  for (int d = 0; d < map.rank; ++d) {
    if (map.traversal[d] == 0) map.traversal[d] = 1;
    if (map.box[d] == 0) map.box[d] = static_cast<uint32_t>(std::min<uint64_t>(map.dim[d], 256));
    if (d == 0) continue;
    if (map.stride[d] == 0) map.stride[d] = (dense + align - 1) / align * align;
    dense = map.stride[d] * map.dim[d];
  }
  if (copy.form->mode == CopyMode::kGather4 || copy.form->mode == CopyMode::kScatter4)
    map.box[1] = 1;
  if (map.channels == 0) map.channels = static_cast<uint32_t>(std::min<uint64_t>(map.dim[0], 256));
  if (map.pixels == 0) map.pixels = 1;
}

std::string FieldsText(const TensorCopy& copy) {
  TensorCopy plain;
  plain.form = copy.form;
  plain.map.rank = copy.map.rank;
  plain.map.type = copy.map.type;
  plain.map.dim = copy.map.dim;
  SetDefaults(plain);
  std::string text;
  for (const CopyField& field : kFields) {
    if (!field.applies(*copy.form)) continue;
    if (!field.is_kind && field.get(plain) == field.get(copy)) continue;
    text += (text.empty() ? "" : " ") + std::string(field.name) + "=" + field.get(copy);
  }
  return text;
}

}  // namespace mmadiff
