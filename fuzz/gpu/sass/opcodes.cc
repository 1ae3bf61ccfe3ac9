#include "fuzz/gpu/sass/opcodes.h"

#include <utility>

namespace mmadiff::sass {
namespace {

constexpr OpcodeInfo kOpcodes[] = {
    {"IADD3", Op::kAdd3, Unit::kAlu, true, false, true, false},
    {"VIADD", Op::kAdd3, Unit::kAlu, true, false, true, false},
    {"UIADD3", Op::kAdd3, Unit::kUniform, true, false, true, true},
    {"IMAD", Op::kMultiplyAdd, Unit::kMultiply, true, false, true, false},
    {"UIMAD", Op::kMultiplyAdd, Unit::kUniform, true, false, true, true},
    {"LOP3", Op::kLogic, Unit::kAlu, true, true, false, false},
    {"ULOP3", Op::kLogic, Unit::kUniform, true, true, false, true},
    {"PLOP3", Op::kPredicateLogic, Unit::kAlu, false, true, false, false},
    {"UPLOP3", Op::kPredicateLogic, Unit::kUniform, false, true, false, true},
    {"SHF", Op::kShift, Unit::kAlu, true, false, false, false},
    {"USHF", Op::kShift, Unit::kUniform, true, false, false, true},
    {"ISETP", Op::kCompare, Unit::kAlu, false, true, false, false},
    {"UISETP", Op::kCompare, Unit::kUniform, false, true, false, true},
    {"SEL", Op::kSelect, Unit::kAlu, true, false, false, false},
    {"USEL", Op::kSelect, Unit::kUniform, true, false, false, true},
    {"PRMT", Op::kPermute, Unit::kAlu, true, false, false, false},
    {"UPRMT", Op::kPermute, Unit::kUniform, true, false, false, true},
    {"LEA", Op::kLea, Unit::kAlu, true, false, true, false},
    {"ULEA", Op::kLea, Unit::kUniform, true, false, true, true},
    {"MOV", Op::kMove, Unit::kAlu, true, false, false, false},
    {"UMOV", Op::kMove, Unit::kUniform, true, false, false, true},
    {"VIMNMX", Op::kMinMax, Unit::kAlu, true, false, false, false},
    {"VIMNMX3", Op::kMinMax3, Unit::kAlu, true, false, false, false},
    {"VIADDMNMX", Op::kAddMinMax, Unit::kAlu, true, false, false, false},
    {"IABS", Op::kAbsolute, Unit::kAlu, true, false, false, false},
    {"SGXT", Op::kSignExtend, Unit::kAlu, true, false, false, false},
    {"USGXT", Op::kSignExtend, Unit::kUniform, true, false, false, true},
    {"FLO", Op::kLeadingOne, Unit::kSlow, true, false, true, false},
    {"UFLO", Op::kLeadingOne, Unit::kUniform, true, false, true, true},
    {"POPC", Op::kPopulation, Unit::kSlow, true, false, false, false},
    {"UPOPC", Op::kPopulation, Unit::kUniform, true, false, false, true},
    {"I2F", Op::kToFloat, Unit::kSlow, true, false, false, false},
    {"F2I", Op::kToInteger, Unit::kSlow, true, false, false, false},
    {"MUFU", Op::kReciprocal, Unit::kSlow, true, false, false, false},
    {"R2UR", Op::kToUniform, Unit::kAlu, true, true, false, false},
    {"P2R", Op::kPredicatesToRegister, Unit::kAlu, true, false, false, false},
    {"R2P", Op::kRegisterToPredicates, Unit::kAlu, true, false, false, false},
    {"S2R", Op::kSpecialRegister, Unit::kSlow, true, false, false, false},
    {"CS2R", Op::kSpecialRegister, Unit::kAlu, true, false, false, false},
    {"S2UR", Op::kSpecialRegister, Unit::kUniform, true, false, false, true},
    {"VOTE", Op::kVote, Unit::kAlu, true, false, true, false},
    {"VOTEU", Op::kVote, Unit::kUniform, true, false, true, true},
    {"REDUX", Op::kReduceWarp, Unit::kSlow, true, false, false, false},
    {"SHFL", Op::kShuffle, Unit::kMemory, true, true, false, false},
    {"LDC", Op::kLoadConstant, Unit::kSlow, true, false, false, false},
    {"ULDC", Op::kLoadConstant, Unit::kUniform, true, false, false, true},
    {"LDG", Op::kLoad, Unit::kMemory, true, false, false, false},
    {"LD", Op::kLoad, Unit::kMemory, true, false, false, false},
    {"STG", Op::kStore, Unit::kMemory, false, false, false, false},
    {"ST", Op::kStore, Unit::kMemory, false, false, false, false},
    {"REDG", Op::kReduce, Unit::kMemory, false, false, false, false},
    {"RED", Op::kReduce, Unit::kMemory, false, false, false, false},
    {"ATOMG", Op::kAtomic, Unit::kMemory, true, true, false, false},
    {"ATOM", Op::kAtomic, Unit::kMemory, true, true, false, false},
    {"LDS", Op::kLoadShared, Unit::kMemory, true, false, false, false},
    {"STS", Op::kStoreShared, Unit::kMemory, false, false, false, false},
    {"LDL", Op::kLoadLocal, Unit::kMemory, true, false, false, false},
    {"STL", Op::kStoreLocal, Unit::kMemory, false, false, false, false},
    {"BRA", Op::kBranch, Unit::kControl, false, false, false, false},
    {"CALL", Op::kCall, Unit::kControl, false, false, false, false},
    {"RET", Op::kReturn, Unit::kControl, false, false, false, false},
    {"EXIT", Op::kExit, Unit::kControl, false, false, false, false},
    {"BSSY", Op::kSetBarrier, Unit::kControl, false, false, false, false},
    {"BSYNC", Op::kWaitBarrier, Unit::kControl, false, false, false, false},
    {"BREAK", Op::kLeaveBarrier, Unit::kControl, false, false, false, false},
    {"BAR", Op::kBlock, Unit::kControl, false, false, false, false},
    {"WARPSYNC", Op::kNothing, Unit::kControl, false, false, false, false},
    {"YIELD", Op::kNothing, Unit::kControl, false, false, false, false},
    {"NOP", Op::kNothing, Unit::kControl, false, false, false, false},
    {"MEMBAR", Op::kNothing, Unit::kControl, false, false, false, false},
    {"ERRBAR", Op::kNothing, Unit::kControl, false, false, false, false},
    {"CCTL", Op::kNothing, Unit::kControl, false, false, false, false},
};

constexpr std::pair<const char*, uint64_t> kModifiers[] = {
    {"X", kX},     {"EX", kEx},   {"U32", kU32},   {"S32", kS32},        {"U64", kU64},
    {"S64", kS64}, {"HI", kHi},   {"W", kWrap},    {"WIDE", kWide},      {"64", k64},
    {"128", k128}, {"U8", kU8},   {"S8", kS8},     {"U16", kU16},        {"S16", kS16},
    {"AND", kAnd}, {"OR", kOr},   {"XOR", kXor},   {"LT", kLt},          {"LE", kLe},
    {"GT", kGt},   {"GE", kGe},   {"EQ", kEq},     {"NE", kNe},          {"SX32", kSx32},
    {"R", kRight}, {"L", kLeft},  {"ADD", kAdd},   {"SH", kShiftAmount}, {"ANY", kAny},
    {"ALL", kAll}, {"32", k32},   {"IDX", kIndex}, {"DOWN", kDown},      {"BFLY", kButterfly},
    {"MIN", kMin}, {"MAX", kMax}, {"UP", kUp},     {"SUM", kSum},
};

}  // namespace

std::span<const OpcodeInfo> Opcodes() { return kOpcodes; }

int FindOpcode(const std::string& name) {
  for (size_t i = 0; i < std::size(kOpcodes); ++i) {
    if (name == kOpcodes[i].name) return static_cast<int>(i);
  }
  return -1;
}

uint64_t ModifierBit(const std::string& name) {
  for (const auto& [text, bit] : kModifiers) {
    if (name == text) return bit;
  }
  return 0;
}

}  // namespace mmadiff::sass
