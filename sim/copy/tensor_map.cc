#include "sim/copy/tensor_map.h"

namespace mmadiff {
namespace {

constexpr TensorTypeInfo kTypes[] = {
    {"u8", 1, 1, 1, false},      {"u16", 1, 2, 2, false},    {"u32", 1, 4, 4, false},
    {"s32", 1, 4, 4, false},     {"u64", 1, 8, 8, false},    {"s64", 1, 8, 8, false},
    {"f16", 1, 2, 2, true},      {"f32", 1, 4, 4, true},     {"f64", 1, 8, 8, true},
    {"bf16", 1, 2, 2, true},     {"f32.ftz", 1, 4, 4, true}, {"tf32", 1, 4, 4, true},
    {"tf32.ftz", 1, 4, 4, true}, {"b4x16", 2, 1, 1, false},  {"b4x16_p64", 16, 8, 16, false},
    {"b6x16", 16, 12, 16, false}};

// 5.5.7: the tables of its figures.
constexpr SwizzleInfo kSwizzles[] = {{"none", 0, 1, 0, 0},
                                     {"32B", 32, 32, 1, 4},
                                     {"64B", 64, 64, 3, 4},
                                     {"128B", 128, 128, 7, 4},
                                     {"128B_atom_32B", 128, 128, 3, 5},
                                     {"128B_atom_32B_flip_8B", 128, 128, 3, 5, 8},
                                     {"128B_atom_64B", 128, 128, 1, 6},
                                     {"96B", 96, 32, 1, 4}};

}  // namespace

std::span<const TensorTypeInfo> TensorTypes() { return kTypes; }
const TensorTypeInfo& Info(TensorType type) { return kTypes[static_cast<int>(type)]; }

std::span<const SwizzleInfo> Swizzles() { return kSwizzles; }
const SwizzleInfo& Info(Swizzle swizzle) { return kSwizzles[static_cast<int>(swizzle)]; }

}  // namespace mmadiff
