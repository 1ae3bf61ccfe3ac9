#include "device/sass/opcodes.h"

#include <utility>

namespace mmadiff::sass {
namespace {

constexpr OpcodeInfo kOpcodes[] = {
    {"IADD3", Op::kAdd3, true, false, true, false},
    {"VIADD", Op::kAdd3, true, false, true, false},
    {"UIADD3", Op::kAdd3, true, false, true, true},
    {"IMAD", Op::kMultiplyAdd, true, false, true, false},
    {"UIMAD", Op::kMultiplyAdd, true, false, true, true},
    {"LOP3", Op::kLogic, true, true, false, false},
    {"ULOP3", Op::kLogic, true, true, false, true},
    {"PLOP3", Op::kPredicateLogic, false, true, false, false},
    {"UPLOP3", Op::kPredicateLogic, false, true, false, true},
    {"SHF", Op::kShift, true, false, false, false},
    {"USHF", Op::kShift, true, false, false, true},
    {"ISETP", Op::kCompare, false, true, false, false},
    {"UISETP", Op::kCompare, false, true, false, true},
    {"SEL", Op::kSelect, true, false, false, false},
    {"USEL", Op::kSelect, true, false, false, true},
    {"PRMT", Op::kPermute, true, false, false, false},
    {"UPRMT", Op::kPermute, true, false, false, true},
    {"LEA", Op::kLea, true, false, true, false},
    {"ULEA", Op::kLea, true, false, true, true},
    {"MOV", Op::kMove, true, false, false, false},
    {"UMOV", Op::kMove, true, false, false, true},
    {"VIMNMX", Op::kMinMax, true, false, false, false},
    {"VIMNMX3", Op::kMinMax3, true, false, false, false},
    {"VIADDMNMX", Op::kAddMinMax, true, false, false, false},
    {"IABS", Op::kAbsolute, true, false, false, false},
    {"SGXT", Op::kSignExtend, true, false, false, false},
    {"USGXT", Op::kSignExtend, true, false, false, true},
    {"FLO", Op::kLeadingOne, true, false, true, false},
    {"UFLO", Op::kLeadingOne, true, false, true, true},
    {"POPC", Op::kPopulation, true, false, false, false},
    {"UPOPC", Op::kPopulation, true, false, false, true},
    {"I2F", Op::kToFloat, true, false, false, false},
    {"F2I", Op::kToInteger, true, false, false, false},
    {"MUFU", Op::kReciprocal, true, false, false, false},
    {"R2UR", Op::kToUniform, true, true, false, false},
    {"P2R", Op::kPredicatesToRegister, true, false, false, false},
    {"R2P", Op::kRegisterToPredicates, true, false, false, false},
    {"S2R", Op::kSpecialRegister, true, false, false, false},
    {"CS2R", Op::kSpecialRegister, true, false, false, false},
    {"S2UR", Op::kSpecialRegister, true, false, false, true},
    {"VOTE", Op::kVote, true, false, true, false},
    {"VOTEU", Op::kVote, true, false, true, true},
    {"REDUX", Op::kReduceWarp, true, false, false, false},
    {"SHFL", Op::kShuffle, true, true, false, false},
    {"LDC", Op::kLoadConstant, true, false, false, false},
    {"ULDC", Op::kLoadConstant, true, false, false, true},
    {"LDG", Op::kLoad, true, false, false, false},
    {"LD", Op::kLoad, true, false, false, false},
    {"STG", Op::kStore, false, false, false, false},
    {"ST", Op::kStore, false, false, false, false},
    {"REDG", Op::kReduce, false, false, false, false},
    {"RED", Op::kReduce, false, false, false, false},
    {"ATOMG", Op::kAtomic, true, true, false, false},
    {"ATOM", Op::kAtomic, true, true, false, false},
    {"LDS", Op::kLoadShared, true, false, false, false},
    {"STS", Op::kStoreShared, false, false, false, false},
    {"LDL", Op::kLoadLocal, true, false, false, false},
    {"STL", Op::kStoreLocal, false, false, false, false},
    {"BRA", Op::kBranch, false, false, false, false},
    {"CALL", Op::kCall, false, false, false, false},
    {"RET", Op::kReturn, false, false, false, false},
    {"EXIT", Op::kExit, false, false, false, false},
    {"BSSY", Op::kSetBarrier, false, false, false, false},
    {"BSYNC", Op::kWaitBarrier, false, false, false, false},
    {"BREAK", Op::kLeaveBarrier, false, false, false, false},
    {"BAR", Op::kBlock, false, false, false, false},
    {"WARPSYNC", Op::kNothing, false, false, false, false},
    {"YIELD", Op::kNothing, false, false, false, false},
    {"NOP", Op::kNothing, false, false, false, false},
    {"MEMBAR", Op::kNothing, false, false, false, false},
    {"ERRBAR", Op::kNothing, false, false, false, false},
    {"CCTL", Op::kNothing, false, false, false, false},
};

constexpr std::pair<const char*, uint64_t> kModifiers[] = {
    {"X", kX},       {"EX", kEx},          {"U32", kU32}, {"S32", kS32},   {"U64", kU64},
    {"S64", kS64},   {"HI", kHi},          {"W", kWrap},  {"WIDE", kWide}, {"64", k64},
    {"128", k128},   {"U8", kU8},          {"S8", kS8},   {"U16", kU16},   {"S16", kS16},
    {"OR", kOr},     {"XOR", kXor},        {"LT", kLt},   {"LE", kLe},     {"GT", kGt},
    {"GE", kGe},     {"EQ", kEq},          {"NE", kNe},   {"SX32", kSx32}, {"L", kLeft},
    {"ADD", kAdd},   {"SH", kShiftAmount}, {"ALL", kAll}, {"32", k32},     {"IDX", kIndex},
    {"DOWN", kDown}, {"BFLY", kButterfly}, {"SUM", kSum},
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
