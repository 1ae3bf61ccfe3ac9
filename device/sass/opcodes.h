// The machine instructions in kernels of this project: those of single mma, wmma, wgmma and fma
// instructions for sm_75 to sm_120a, and those of fuzz/gpu/resident.cu for sm_90. Learned from nvdisasm.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/strings/string_view.h"

namespace mmadiff::sass {

enum class Op : uint8_t {
  kAdd3,
  kFloatAdd,
  kFloatMultiply,
  kHalfAdd,
  kHalfConstant,
  kToHalf,
  kPackHalves,
  kNative,       // matrix instructions and fused multiply-adds
  kGroupMatrix,  // matrix instructions of a warpgroup
  kMoveMatrix,
  kMultiplyAdd,
  kLogic,
  kPredicateLogic,
  kShift,
  kCompare,
  kSelect,
  kPermute,
  kLea,
  kMove,
  kMinMax,
  kMinMax3,
  kAddMinMax,
  kAbsolute,
  kSignExtend,
  kLeadingOne,
  kPopulation,
  kToFloat,
  kToInteger,
  kReciprocal,
  kToUniform,
  kPredicatesToRegister,
  kRegisterToPredicates,
  kSpecialRegister,
  kVote,
  kReduceWarp,
  kShuffle,
  kLoadConstant,
  kLoad,
  kStore,
  kReduce,
  kAtomic,
  kLoadShared,
  kStoreShared,
  kLoadLocal,
  kStoreLocal,
  kBranch,
  kCall,
  kReturn,
  kExit,
  kSetBarrier,
  kWaitBarrier,
  kLeaveBarrier,
  kBlock,
  kScoreboard,
  kWarpgroup,
  kFence,
  kNothing,
};

struct OpcodeInfo {
  const char* name;
  Op op;
  bool has_result, flags_first, flags_behind, uniform;
  // The modifiers with which it is executed: patterns separated by "|"; in each, groups separated by
  // "."; in each, one of the names separated by "/", or none if "?" ends the group.
  const char* forms;
};

inline bool IsMemory(Op op) { return op >= Op::kLoadConstant && op <= Op::kStoreLocal; }
inline bool IsControl(Op op) { return op >= Op::kBranch; }

std::span<const OpcodeInfo> Opcodes();
int FindOpcode(const std::string& name);  // -1: unknown
// Whether the instruction is executed with exactly these modifiers: "U32.AND".
bool HasForm(const OpcodeInfo& info, absl::string_view modifiers);

enum Modifier : uint64_t {
  kX = 1 << 0,
  kEx = 1 << 1,
  kU32 = 1 << 2,
  kS32 = 1 << 3,
  kU64 = 1 << 4,
  kS64 = 1 << 5,
  kHi = 1 << 6,
  kWrap = 1 << 7,
  kWide = 1 << 8,
  k64 = 1 << 9,
  k128 = 1 << 10,
  kU8 = 1 << 11,
  kS8 = 1 << 12,
  kU16 = 1 << 13,
  kS16 = 1 << 14,
  kOr = 1 << 15,
  kXor = 1 << 16,
  kLt = 1 << 17,
  kLe = 1 << 18,
  kGt = 1 << 19,
  kGe = 1 << 20,
  kEq = 1 << 21,
  kNe = 1 << 22,
  kSx32 = 1 << 23,
  kLeft = 1 << 24,
  kAdd = 1 << 25,
  kShiftAmount = 1 << 26,
  kAll = 1 << 27,
  k32 = 1 << 28,
  kIndex = 1 << 29,
  kDown = 1 << 30,
  kButterfly = 1ull << 31,
  kSum = 1ull << 32,
  kSaturate = 1ull << 33,
  kF32Result = 1ull << 34,
  kFromE4m3 = 1ull << 35,
  kFromE5m2 = 1ull << 36,
  kNibbles = 1ull << 37,
  kArrive = 1ull << 38,
};
uint64_t ModifierBit(const std::string& name);  // 0: without a meaning for the result

}  // namespace mmadiff::sass
