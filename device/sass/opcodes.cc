#include "device/sass/opcodes.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace mmadiff::sass {
namespace {

// Matrix instructions: the rows of the architecture decide (natives.h).
constexpr char kAnyForm[] = "*";
constexpr char kComparisons[] = "LT/LE/GT/GE/EQ/NE.U32?.AND/OR/XOR.EX?";

constexpr OpcodeInfo kOpcodes[] = {
    {"IADD3", Op::kAdd3, true, false, true, false, "X?"},
    {"VIADD", Op::kAdd3, true, false, true, false, "|S32.ISAT"},
    {"UIADD3", Op::kAdd3, true, false, true, true, "X/64?"},
    {"IMAD", Op::kMultiplyAdd, true, false, true, false,
     "HI.U32|IADD|MOV.U32?|SHL.U32|U32?|WIDE.U32?.X?|X"},
    {"UIMAD", Op::kMultiplyAdd, true, false, true, true, "|WIDE.U32.X?"},
    {"LOP3", Op::kLogic, true, true, false, false, "LUT"},
    {"ULOP3", Op::kLogic, true, true, false, true, "LUT"},
    {"PLOP3", Op::kPredicateLogic, false, true, false, false, "LUT"},
    {"UPLOP3", Op::kPredicateLogic, false, true, false, true, "LUT"},
    {"SHF", Op::kShift, true, false, false, false, "L.W?.U32|L.U64.HI|R.S32/U32.HI|R.U64"},
    {"USHF", Op::kShift, true, false, false, true, "L.U32|L.U64.HI|R.S32/U32.HI|R.U64"},
    {"ISETP", Op::kCompare, false, true, false, false, kComparisons},
    {"UISETP", Op::kCompare, false, true, false, true, kComparisons},
    {"SEL", Op::kSelect, true, false, false, false, ""},
    {"USEL", Op::kSelect, true, false, false, true, ""},
    {"PRMT", Op::kPermute, true, false, false, false, ""},
    {"UPRMT", Op::kPermute, true, false, false, true, ""},
    {"LEA", Op::kLea, true, false, true, false, "HI?.X?.SX32?"},
    {"ULEA", Op::kLea, true, false, true, true, "HI?.X?"},
    {"MOV", Op::kMove, true, false, false, false, ""},
    {"UMOV", Op::kMove, true, false, false, true, ""},
    {"VIMNMX", Op::kMinMax, true, false, false, false, "U32?"},
    {"VIMNMX3", Op::kMinMax3, true, false, false, false, "U32?"},
    {"VIADDMNMX", Op::kAddMinMax, true, false, false, false, "U32?"},
    {"IABS", Op::kAbsolute, true, false, false, false, ""},
    {"SGXT", Op::kSignExtend, true, false, false, false, "U32?"},
    {"USGXT", Op::kSignExtend, true, false, false, true, "U32?"},
    {"FLO", Op::kLeadingOne, true, false, true, false, "U32.SH?"},
    {"UFLO", Op::kLeadingOne, true, false, true, true, "U32.SH?"},
    {"POPC", Op::kPopulation, true, false, false, false, ""},
    {"UPOPC", Op::kPopulation, true, false, false, true, ""},
    {"I2F", Op::kToFloat, true, false, false, false, "U32/U64?.RP"},
    {"F2I", Op::kToInteger, true, false, false, false, "FTZ.U32.TRUNC.NTZ|U64.TRUNC"},
    {"MUFU", Op::kReciprocal, true, false, false, false, "RCP"},
    {"R2UR", Op::kToUniform, true, true, false, false, ""},
    {"P2R", Op::kPredicatesToRegister, true, false, false, false, ""},
    {"R2P", Op::kRegisterToPredicates, true, false, false, false, ""},
    {"S2R", Op::kSpecialRegister, true, false, false, false, ""},
    {"CS2R", Op::kSpecialRegister, true, false, false, false, "32?"},
    {"S2UR", Op::kSpecialRegister, true, false, false, true, ""},
    {"VOTE", Op::kVote, true, false, true, false, "ANY/ALL"},
    {"VOTEU", Op::kVote, true, false, true, true, "ANY/ALL"},
    {"REDUX", Op::kReduceWarp, true, false, false, false, "OR/SUM"},
    {"SHFL", Op::kShuffle, true, true, false, false, "IDX/BFLY/DOWN/UP"},
    {"LDC", Op::kLoadConstant, true, false, false, false, "64/U16/U8?"},
    {"ULDC", Op::kLoadConstant, true, false, false, true, "64/U16/U8?"},
    {"LDG", Op::kLoad, true, false, false, false, "E.64/128/U8?.SYS?"},
    {"LD", Op::kLoad, true, false, false, false, "E.64/U8?"},
    {"STG", Op::kStore, false, false, false, false, "E.64/128?.SYS?"},
    {"ST", Op::kStore, false, false, false, false, "E.64"},
    {"REDG", Op::kReduce, false, false, false, false, "E.ADD/OR.64?.STRONG.GPU"},
    {"RED", Op::kReduce, false, false, false, false, "E.ADD/OR.64?.STRONG.GPU"},
    {"ATOMG", Op::kAtomic, true, true, false, false, "E.ADD/OR.64?.STRONG.GPU"},
    {"ATOM", Op::kAtomic, true, true, false, false, "E.ADD/OR.64?.STRONG.GPU"},
    {"LDS", Op::kLoadShared, true, false, false, false, "64/128/U8/U16?"},
    {"STS", Op::kStoreShared, false, false, false, false, "64/128/U8/U16?"},
    {"LDL", Op::kLoadLocal, true, false, false, false, "LU?.64/128/U8/U16/S16?"},
    {"STL", Op::kStoreLocal, false, false, false, false, "64/128/U8/U16/S16?"},
    {"BRA", Op::kBranch, false, false, false, false, "U?"},
    {"CALL", Op::kCall, false, false, false, false, "REL.NOINC"},
    {"RET", Op::kReturn, false, false, false, false, "REL.NODEC"},
    {"EXIT", Op::kExit, false, false, false, false, ""},
    {"BSSY", Op::kSetBarrier, false, false, false, false, ""},
    {"BSYNC", Op::kWaitBarrier, false, false, false, false, ""},
    {"BREAK", Op::kLeaveBarrier, false, false, false, false, ""},
    {"BAR", Op::kBlock, false, false, false, false, "SYNC.DEFER_BLOCKING"},
    {"DEPBAR", Op::kScoreboard, false, false, false, false, "LE"},
    {"WARPGROUP", Op::kWarpgroup, false, false, false, false, "ARRIVE|DEPBAR.LE"},
    {"FENCE", Op::kFence, false, false, false, false, "VIEW.ASYNC.S"},
    {"WARPSYNC", Op::kNothing, false, false, false, false, "ALL?"},
    {"YIELD", Op::kNothing, false, false, false, false, ""},
    {"NOP", Op::kNothing, false, false, false, false, ""},
    {"MEMBAR", Op::kNothing, false, false, false, false, "|ALL.CTA"},
    {"ERRBAR", Op::kNothing, false, false, false, false, ""},
    {"CCTL", Op::kNothing, false, false, false, false, ""},
    {"IADD", Op::kAdd3, true, false, false, false, "64?"},
    {"LDCU", Op::kLoadConstant, true, false, false, true, "64/128?"},
    {"FADD", Op::kFloatAdd, true, false, false, false, ""},
    {"FMUL", Op::kFloatMultiply, true, false, false, false, ""},
    {"FFMA", Op::kNative, true, false, false, false, "RM/RP/RZ?"},
    {"DFMA", Op::kNative, true, false, false, false, "RM/RP/RZ?"},
    {"HADD2", Op::kHalfAdd, true, false, false, false, "F32?"},
    {"HFMA2", Op::kHalfConstant, true, false, false, false, "MMA?"},
    {"F2F", Op::kToHalf, true, false, false, false, "F16.F32"},
    {"F2FP", Op::kPackHalves, true, false, false, false,
     "PACK_AB|F16.F32.PACK_AB|F16.E4M3/E5M2.UNPACK_B"},
    {"MOVM", Op::kMoveMatrix, true, false, false, false, "16.MT88|U4TO8.M832"},
    {"HMMA", Op::kNative, true, false, false, false, kAnyForm},
    {"IMMA", Op::kNative, true, false, false, false, kAnyForm},
    {"BMMA", Op::kNative, true, false, false, false, kAnyForm},
    {"DMMA", Op::kNative, true, false, false, false, kAnyForm},
    {"QMMA", Op::kNative, true, false, false, false, kAnyForm},
    {"OMMA", Op::kNative, true, false, false, false, kAnyForm},
    {"HGMMA", Op::kGroupMatrix, true, false, false, false, kAnyForm},
    {"IGMMA", Op::kGroupMatrix, true, false, false, false, kAnyForm},
    {"QGMMA", Op::kGroupMatrix, true, false, false, false, kAnyForm},
    {"BGMMA", Op::kGroupMatrix, true, false, false, false, kAnyForm},
};

constexpr std::pair<const char*, uint64_t> kModifiers[] = {
    {"X", kX},           {"EX", kEx},         {"U32", kU32},        {"S32", kS32},
    {"U64", kU64},       {"S64", kS64},       {"HI", kHi},          {"W", kWrap},
    {"WIDE", kWide},     {"64", k64},         {"128", k128},        {"U8", kU8},
    {"S8", kS8},         {"U16", kU16},       {"S16", kS16},        {"OR", kOr},
    {"XOR", kXor},       {"LT", kLt},         {"LE", kLe},          {"GT", kGt},
    {"GE", kGe},         {"EQ", kEq},         {"NE", kNe},          {"SX32", kSx32},
    {"L", kLeft},        {"ADD", kAdd},       {"SH", kShiftAmount}, {"ALL", kAll},
    {"32", k32},         {"IDX", kIndex},     {"DOWN", kDown},      {"BFLY", kButterfly},
    {"SUM", kSum},       {"ISAT", kSaturate}, {"F32", kF32Result},  {"E4M3", kFromE4m3},
    {"E5M2", kFromE5m2}, {"U4TO8", kNibbles}, {"ARRIVE", kArrive},
};

}  // namespace

std::span<const OpcodeInfo> Opcodes() { return kOpcodes; }

int FindOpcode(const std::string& name) {
  for (size_t i = 0; i < std::size(kOpcodes); ++i) {
    if (name == kOpcodes[i].name) return static_cast<int>(i);
  }
  return -1;
}

// Whether the modifiers are one of each group of the pattern, in its order; "?" ends a group that may
// be absent.
static bool Matches(absl::string_view pattern, absl::string_view modifiers) {
  std::vector<absl::string_view> left = absl::StrSplit(modifiers, '.', absl::SkipEmpty());
  for (absl::string_view group : absl::StrSplit(pattern, '.', absl::SkipEmpty())) {
    const bool optional = absl::ConsumeSuffix(&group, "?");
    const std::vector<absl::string_view> names = absl::StrSplit(group, '/');
    if (!left.empty() && absl::c_linear_search(names, left.front())) {
      left.erase(left.begin());
    } else if (!optional) {
      return false;
    }
  }
  return left.empty();
}

bool HasForm(const OpcodeInfo& info, absl::string_view modifiers) {
  if (absl::string_view(info.forms) == kAnyForm) return true;
  for (const absl::string_view pattern : absl::StrSplit(info.forms, '|')) {
    if (Matches(pattern, modifiers)) return true;
  }
  return false;
}

uint64_t ModifierBit(const std::string& name) {
  for (const auto& [text, bit] : kModifiers) {
    if (name == text) return bit;
  }
  return 0;
}

}  // namespace mmadiff::sass
