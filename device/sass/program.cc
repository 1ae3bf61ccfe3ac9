#include "device/sass/program.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/sass/compute.h"
#include "device/sass/opcodes.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

bool ReadNumber(absl::string_view text, int64_t& value) {
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  const bool hex = absl::StartsWith(text, "0x");
  if (!hex && text.size() > 1 && text[0] == '0') return false;  // would be octal
  const std::string digits(text);
  char* end = nullptr;
  const uint64_t number = std::strtoull(digits.c_str(), &end, 0);
  value = static_cast<int64_t>(number);
  return *end == '\0' && number <= 0xffffffff;  // no operand has more bits
}

// "R12", "RZ", "UR4", "URZ", "P0", "PT", "UP1", "UPT", "B3": the kind and the number.
bool ReadRegister(absl::string_view text, Operand& operand) {
  const std::pair<const char*, Operand::Kind> prefixes[] = {
      {"UR", Operand::kUniform}, {"UP", Operand::kUniformPredicate}, {"SB", Operand::kScoreboard},
      {"R", Operand::kRegister}, {"P", Operand::kPredicate},         {"B", Operand::kBarrier}};
  for (const auto& [prefix, kind] : prefixes) {
    absl::string_view rest = text;
    if (!absl::ConsumePrefix(&rest, prefix)) continue;
    int64_t number = 0;
    if (rest == "Z" || rest == "T") {
      number = kind == Operand::kRegister  ? kZeroRegister
               : kind == Operand::kUniform ? kZeroUniform
                                           : kTrue;
    } else if (!ReadNumber(rest, number)) {
      continue;
    }
    const int64_t most = kind == Operand::kRegister     ? kZeroRegister
                         : kind == Operand::kUniform    ? kZeroUniform
                         : kind == Operand::kBarrier    ? 15
                         : kind == Operand::kScoreboard ? 5
                                                        : kTrue;
    const bool named = rest == "Z" || rest == "T";  // the last number has only a name
    const bool last_has_number = kind == Operand::kBarrier || kind == Operand::kScoreboard;
    if (number < 0 || number > most || (number == most && !named && !last_has_number)) {
      return false;
    }
    operand.kind = kind;
    operand.index = static_cast<int>(number);
    return true;
  }
  return false;
}

// "R4.64+UR6+-0x8"
bool ReadAddress(absl::string_view text, Operand& operand) {
  for (absl::string_view term : absl::StrSplit(text, '+')) {
    Operand part;
    int64_t number = 0;
    const bool minus = absl::ConsumePrefix(&term, "-");
    if (ReadNumber(term, number)) {
      operand.offset += minus ? -number : number;
      continue;
    }
    const std::vector<absl::string_view> name = absl::StrSplit(term, '.');
    if (minus || !ReadRegister(name[0], part)) return false;
    const bool uniform = part.kind == Operand::kUniform;
    int& place = uniform ? operand.uniform : operand.base;
    const bool taken = place != (uniform ? kZeroUniform : kZeroRegister);
    if (taken || (!uniform && part.kind != Operand::kRegister)) return false;
    for (size_t i = 1; i < name.size(); ++i) {
      if (name[i] != "64" && name[i] != "reuse") return false;
      operand.pair |= name[i] == "64";
    }
    place = part.index;
  }
  return true;
}

// What follows the name of a register: "R4.reuse.H0_H0". False: unknown.
bool ReadSuffix(absl::string_view suffix, Operand& operand) {
  if (suffix == "reuse") return true;
  if (suffix == "ROW" || suffix == "COL") {
    operand.order = suffix[0];
    return true;
  }
  if (operand.kind != Operand::kRegister) return false;
  operand.part = suffix == "H0_H0"                     ? Operand::kLowHalf
                 : suffix == "H1_H1" || suffix == "H1" ? Operand::kHighHalf
                 : suffix == "SIGN"                    ? Operand::kSign
                                                       : Operand::kWhole;
  return operand.part != Operand::kWhole;
}

// "UR4" of "gdesc[UR4]": four registers, those of A's descriptor and of B's.
bool ReadDescriptors(absl::string_view text, Operand& operand) {
  constexpr int kLast = kZeroUniform - 4;
  if (!absl::ConsumeSuffix(&text, "]") || !ReadRegister(text, operand) ||
      operand.kind != Operand::kUniform || operand.index > kLast) {
    return false;
  }
  operand.kind = Operand::kDescriptor;
  return true;
}

constexpr absl::string_view kSpecials[] = {"SR_TID.X",       "SR_CTAID.X",  "SR_CTAID.Y",
                                           "SR_LANEID",      "SRZ",         "SR_LTMASK",
                                           "SR_VIRTUALSMID", "SR_CgaCtaId", "PR"};

absl::StatusOr<Operand> ReadOperand(absl::string_view text) {
  Operand operand;
  const std::string whole(text);
  if (absl::ConsumePrefix(&text, "`(")) {
    operand.kind = Operand::kLabel;
    operand.text = std::string(absl::StripSuffix(text, ")"));
    return operand;
  }
  if (absl::ConsumePrefix(&text, "gdesc[")) {
    if (!ReadDescriptors(text, operand)) return absl::InvalidArgumentError(whole);
    return operand;
  }
  if (text == "gsb0") {
    operand.kind = Operand::kGroupScoreboard;
    return operand;
  }
  if (absl::ConsumePrefix(&text, "-")) operand.negative = true;
  if (absl::ConsumePrefix(&text, "~") || absl::ConsumePrefix(&text, "!")) operand.inverted = true;
  if (absl::ConsumePrefix(&text, "desc[")) {
    Operand descriptor;
    const size_t end = text.find(']');
    if (end == text.npos || !ReadRegister(text.substr(0, end), descriptor) ||
        descriptor.kind != Operand::kUniform) {
      return absl::InvalidArgumentError(whole);
    }
    operand.descriptor = descriptor.index;
    text = text.substr(end + 1);
    if (!absl::StartsWith(text, "[")) return absl::InvalidArgumentError(whole);
  }
  if (absl::StartsWith(text, "c[")) {
    const size_t middle = text.find("][");
    int64_t bank = 0;
    operand.kind = Operand::kConstant;
    if (middle == text.npos || !absl::EndsWith(text, "]") ||
        !ReadNumber(text.substr(2, middle - 2), bank) || bank != 0 ||
        !ReadAddress(text.substr(middle + 2, text.size() - middle - 3), operand)) {
      return absl::InvalidArgumentError(whole);
    }
    return operand;
  }
  if (absl::StartsWith(text, "[")) {
    operand.kind = Operand::kMemory;
    if (!absl::EndsWith(text, "]") || !ReadAddress(text.substr(1, text.size() - 2), operand)) {
      return absl::InvalidArgumentError(whole);
    }
    return operand;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  if (ReadRegister(parts[0], operand)) {
    for (size_t i = 1; i < parts.size(); ++i) {
      if (!ReadSuffix(parts[i], operand)) return absl::InvalidArgumentError(whole);
    }
    return operand;
  }
  if (ReadNumber(text, operand.offset)) {
    operand.kind = Operand::kImmediate;
    if (operand.inverted || static_cast<uint64_t>(operand.offset) > 0xffffffff) {
      return absl::InvalidArgumentError(whole);
    }
    if (operand.negative) operand.offset = static_cast<uint32_t>(-operand.offset);
    operand.negative = false;
    return operand;
  }
  if (!absl::c_linear_search(kSpecials, whole)) return absl::InvalidArgumentError(whole);
  operand.text = whole;
  return operand;
}

bool IsFlag(const Operand& o) {
  return o.kind == Operand::kPredicate || o.kind == Operand::kUniformPredicate ||
         o.part == Operand::kSign;
}

// Which operands are written: flags before the register, the register, flags after it.
void Distribute(const OpcodeInfo& info, const std::vector<Operand>& operands, Instruction& in) {
  size_t i = 0;
  while (i < operands.size() && info.flags_first && IsFlag(operands[i])) {
    if (in.flags.size() == 2 && !info.has_result) break;
    in.flags.push_back(operands[i++]);
  }
  const bool votes_flag = info.op == Op::kVote && !operands.empty() && IsFlag(operands[0]);
  if (votes_flag) in.flags.push_back(operands[i++]);
  if (info.has_result && !votes_flag && i < operands.size()) {
    in.results.push_back(operands[i++]);
    const size_t most = in.flags.size() + (info.op == Op::kVote ? 1 : 2);
    while (i < operands.size() && IsFlag(operands[i]) && info.flags_behind &&
           in.flags.size() < most) {
      in.flags.push_back(operands[i++]);
    }
  }
  for (; i < operands.size(); ++i) {
    (IsFlag(operands[i]) ? in.conditions : in.sources).push_back(operands[i]);
  }
}

// "[A,] gdesc[...], C[, gsb0]" becomes A, B and C.
void ArrangeGroupMatrix(Instruction& in) {
  std::vector<Operand>& sources = in.sources;
  if (!sources.empty() && sources.back().kind == Operand::kGroupScoreboard) {
    sources.pop_back();
    in.commits = true;
  }
  const auto a =
      absl::c_find_if(sources, [](const Operand& o) { return o.kind == Operand::kDescriptor; });
  if (a == sources.end()) return;
  Operand b = *a;
  b.index += 2;
  if (a == sources.begin()) {
    sources.insert(a + 1, b);
  } else {
    *a = b;
  }
}

// Numbers of operands that the execution of an instruction reads, and their kinds. Others are refused.
struct Reads {
  size_t sources, conditions = 0;
  size_t most_conditions = 0;  // if more than `conditions`
  bool negates = false;        // "-" has a meaning
  bool parts = false;          // halves have a meaning
};

Reads ReadsOf(const Instruction& in) {
  const auto has = [&in](uint64_t bit) { return size_t{(in.has & bit) != 0}; };
  const bool three = absl::StrContains(in.name, '3'), sparse = absl::StrContains(in.form, ".SP.");
  switch (Opcodes()[in.opcode].op) {
    case Op::kAdd3:
      return {.sources = three ? 3u : 2u,
              .conditions = has(kX),
              .most_conditions = 2 * has(kX),
              .negates = true};
    case Op::kMultiplyAdd:
      return {.sources = 3, .conditions = has(kX), .negates = true};
    case Op::kLogic:
      return {.sources = 4, .conditions = 1};
    case Op::kHalfConstant:
      return {.sources = 4, .negates = true};
    case Op::kPredicateLogic:
      return {.sources = 2, .conditions = 3};
    case Op::kShift:
    case Op::kPermute:
    case Op::kPredicatesToRegister:
    case Op::kShuffle:
      return {.sources = 3};
    case Op::kNative:
      return {.sources = absl::StrContains(in.form, ".SF.") ? 6u
                         : sparse                           ? 5u
                                                            : 3u,
              .negates = in.name == "FFMA" || in.name == "DFMA"};
    case Op::kGroupMatrix:  // of sparse ones, HGMMA has a selector
      return {.sources = !sparse ? 3u : in.name == "HGMMA" ? 5u : 4u, .most_conditions = 1};
    case Op::kCompare:
      return {.sources = 2, .conditions = 1 + has(kEx)};
    case Op::kSelect:
    case Op::kMinMax:
      return {.sources = 2, .conditions = 1, .negates = true};
    case Op::kMinMax3:
    case Op::kAddMinMax:
      return {.sources = 3, .conditions = 1, .negates = true};
    case Op::kLea:
      return {.sources = has(kHi) == 1 && has(kSx32) == 0 ? 4u : 3u,
              .conditions = has(kX),
              .negates = has(kHi) == 0};
    case Op::kFloatAdd:
    case Op::kFloatMultiply:
      return {.sources = 2, .negates = true};
    case Op::kHalfAdd:
      return {.sources = 2, .negates = true, .parts = true};
    case Op::kToHalf:
      return {.sources = 1, .negates = true};
    case Op::kPackHalves:
      return {.sources = 2 - has(kFromE4m3 | kFromE5m2), .negates = true, .parts = true};
    case Op::kSignExtend:
    case Op::kRegisterToPredicates:
    case Op::kStore:
    case Op::kStoreShared:
    case Op::kStoreLocal:
    case Op::kReduce:
    case Op::kAtomic:
    case Op::kSetBarrier:
      return {.sources = 2};
    case Op::kVote:
      return {.sources = 0, .conditions = 1};
    case Op::kBranch:
      return {.sources = 1, .most_conditions = 2};
    case Op::kScoreboard:
      return {.sources = 2};
    case Op::kReturn:
      return {.sources = 2};
    case Op::kWarpgroup:
      return {.sources = 2 - 2 * has(kArrive)};
    case Op::kExit:
      return {.sources = 0, .most_conditions = 1};
    case Op::kFence:
    case Op::kNothing:
      return {.sources = 0};
    default:
      return {.sources = 1};
  }
}

// The kind that a source must have; nullopt: any kind with a value.
std::optional<Operand::Kind> KindOf(Op op, size_t source) {
  if (source == 0 && op == Op::kLoadConstant) return Operand::kConstant;
  if (source == 0 && IsMemory(op)) return Operand::kMemory;
  if (source == 0 && (op == Op::kSpecialRegister || op == Op::kPredicatesToRegister)) {
    return Operand::kSpecial;
  }
  if (op == Op::kMoveMatrix || (source == 0 && op == Op::kReturn)) return Operand::kRegister;
  const bool waits = op == Op::kSetBarrier || op == Op::kWaitBarrier || op == Op::kLeaveBarrier;
  if (source == 0 && waits) return Operand::kBarrier;
  if (op == Op::kGroupMatrix) {
    return source == 1   ? Operand::kDescriptor
           : source == 4 ? Operand::kImmediate
                         : Operand::kRegister;
  }
  if (op == Op::kWarpgroup) {
    return source == 0 ? Operand::kGroupScoreboard : Operand::kImmediate;
  }
  if (op == Op::kScoreboard) return source == 0 ? Operand::kScoreboard : Operand::kImmediate;
  if (IsControl(op) && op != Op::kBlock) return Operand::kLabel;
  return std::nullopt;
}

// The reason why a source is not executed; "" if it is.
std::string WhyNotSource(const Instruction& in, size_t i, const Reads& reads) {
  const Operand& o = in.sources[i];
  const Op op = Opcodes()[in.opcode].op;
  if ((o.negative && !(reads.negates && (op != Op::kLea || i == 0))) ||
      (o.part != Operand::kWhole && !reads.parts)) {
    return "a sign or a half";
  }
  if (op == Op::kGroupMatrix && i == 0 && o.kind == Operand::kDescriptor) return "";
  const std::optional<Operand::Kind> kind = KindOf(op, i);
  const bool has_value = o.kind == Operand::kRegister || o.kind == Operand::kUniform ||
                         o.kind == Operand::kImmediate || o.kind == Operand::kConstant;
  if (kind.has_value() ? o.kind != *kind || o.inverted : !has_value) return "a kind of operand";
  if (o.kind == Operand::kSpecial && (o.text == "PR") != (op == Op::kPredicatesToRegister)) {
    return "a special register";
  }
  if (o.kind == Operand::kConstant && op != Op::kLoadConstant &&
      (o.base != kZeroRegister || o.uniform != kZeroUniform)) {
    return "a constant whose place is computed";
  }
  if (o.kind == Operand::kConstant && (o.offset < 0 || o.offset > kConstantBytes - 16)) {
    return "a constant outside of its bank";
  }
  if (o.order != 0 && !(op == Op::kNative && i < 2 && o.order == "RC"[i])) return "an order";
  if (ReadsPair(in, static_cast<int>(i)) && o.kind == Operand::kImmediate && o.offset > INT32_MAX) {
    return "a negative number of 64 bits";
  }
  return "";
}

// The reason why the operands are not those that are executed; "" if they are.
std::string WhyNot(const Instruction& in) {
  const OpcodeInfo& info = Opcodes()[in.opcode];
  const Reads reads = ReadsOf(in);
  const size_t conditions = in.conditions.size();
  if (in.sources.size() != reads.sources || conditions < reads.conditions ||
      conditions > std::max(reads.conditions, reads.most_conditions)) {
    return "their number";
  }
  for (const Operand& o : in.results) {
    const bool uniform = info.uniform || info.op == Op::kToUniform || info.op == Op::kReduceWarp;
    if (o.kind != (uniform ? Operand::kUniform : Operand::kRegister) || o.negative || o.inverted ||
        o.part != Operand::kWhole || o.order != 0) {
      return "the result";
    }
  }
  if (info.has_result && in.results.empty() && info.op != Op::kVote) return "no result";
  const bool drops_flags =
      info.op == Op::kToUniform || info.op == Op::kAtomic || info.op == Op::kMinMax;
  for (const Operand& o : in.flags) {
    if (o.kind != (info.uniform ? Operand::kUniformPredicate : Operand::kPredicate) || o.negative ||
        o.inverted || (drops_flags && o.index != kTrue)) {
      return "a predicate that is written";
    }
  }
  for (const Operand& o : in.conditions) {
    if (o.negative || (o.part == Operand::kSign && info.op != Op::kPredicateLogic) ||
        (info.op == Op::kGroupMatrix && o.kind != Operand::kUniformPredicate)) {
      return "a condition";
    }
  }
  for (size_t i = 0; i < in.sources.size(); ++i) {
    if (std::string why = WhyNotSource(in, i, reads); !why.empty()) return why;
  }
  if (info.op == Op::kShuffle) {
    const Operand& o = in.sources[2];
    const bool zero = o.kind == Operand::kRegister && o.index == kZeroRegister;
    const bool constant = o.kind == Operand::kImmediate ? (o.offset & ~0x1f1f) == 0 : zero;
    if (!constant) return "segments of a warp";
  }
  if (info.op == Op::kScoreboard && in.sources[1].offset != 0) {
    return "a count of a scoreboard";
  }
  if (info.op == Op::kBlock &&
      (in.sources[0].kind != Operand::kImmediate || in.sources[0].offset != 0)) {
    return "a barrier other than 0";
  }
  return "";
}

// " 0x000fe20000000800 */": the upper half of an encoding.
void AddControl(absl::string_view text, Instruction& in) {
  const uint64_t bits = std::strtoull(std::string(text).c_str(), nullptr, 16);
  in.control = {.known = true,
                .write_barrier = static_cast<int>(bits >> 46 & 7),
                .read_barrier = static_cast<int>(bits >> 49 & 7),
                .waits = static_cast<uint32_t>(bits >> 52 & 0x3f)};
  const bool waits = Opcodes()[in.opcode].op == Op::kScoreboard;
  if (waits) in.control.waits |= 1u << in.sources[0].index;
}

// "@!P0 IADD3.X R4, P1, R2, R3, RZ, P0, !PT"
absl::StatusOr<Instruction> ReadInstruction(absl::string_view text) {
  Instruction in;
  if (absl::ConsumePrefix(&text, "@")) {
    const size_t space = text.find(' ');
    if (space == text.npos) return absl::InvalidArgumentError("a guard alone");
    absl::string_view guard = text.substr(0, space);
    in.guard_inverted = absl::ConsumePrefix(&guard, "!");
    Operand operand;
    if (!ReadRegister(guard, operand) || !IsFlag(operand)) {
      return absl::InvalidArgumentError(text);
    }
    in.guard = operand.index;
    in.guard_uniform = operand.kind == Operand::kUniformPredicate;
    text = absl::StripLeadingAsciiWhitespace(text.substr(space));
  }
  const size_t space = std::min(text.find(' '), text.size());
  const std::vector<std::string> name = absl::StrSplit(text.substr(0, space), '.');
  in.form = std::string(text.substr(0, space));
  in.name = name[0];
  for (size_t i = 1; i < name.size(); ++i) in.has |= ModifierBit(name[i]);
  in.opcode = FindOpcode(in.name);
  if (in.opcode < 0 ||
      !HasForm(Opcodes()[in.opcode], absl::StripPrefix(absl::StripPrefix(in.form, in.name), "."))) {
    return absl::InvalidArgumentError(in.form);
  }
  std::vector<Operand> operands;
  for (absl::string_view part :
       absl::StrSplit(text.substr(space), absl::ByAnyChar(","), absl::SkipWhitespace())) {
    for (absl::string_view word : absl::StrSplit(part, ' ', absl::SkipWhitespace())) {
      ASSIGN_OR_RETURN(Operand operand, ReadOperand(word));
      operands.push_back(std::move(operand));
    }
  }
  Distribute(Opcodes()[in.opcode], operands, in);
  if (Opcodes()[in.opcode].op == Op::kGroupMatrix) ArrangeGroupMatrix(in);
  if (const std::string why = WhyNot(in); !why.empty()) return absl::InvalidArgumentError(why);
  // Generic addresses have 64 bits; before sm_80, registers of them are printed without ".64".
  const Op op = Opcodes()[in.opcode].op;
  if (op == Op::kLoad || op == Op::kStore || op == Op::kReduce || op == Op::kAtomic) {
    in.sources[0].wide = true;
    in.sources[0].pair |= in.sources[0].uniform == kZeroUniform;
  }
  return in;
}

}  // namespace

bool Instruction::uniform() const { return Opcodes()[opcode].uniform; }

std::string TargetIn(absl::string_view text) {
  constexpr absl::string_view kNumber = "EF_CUDA_SM", kAccelerated = "EF_CUDA_ACCELERATORS";
  for (absl::string_view line : absl::StrSplit(text.substr(0, 1 << 16), '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, ".target")) {
      return std::string(absl::StripAsciiWhitespace(line));
    }
    const size_t at = line.find(kNumber);
    if (!absl::StartsWith(line, ".headerflags") || at == line.npos) continue;
    const absl::string_view number = line.substr(at + kNumber.size());
    const auto end = absl::c_find_if_not(number, absl::ascii_isdigit);
    return absl::StrCat("sm_", number.substr(0, end - number.begin()),
                        absl::StrContains(line, kAccelerated) ? "a" : "");
  }
  return "";
}

std::vector<std::string> KernelNamesIn(absl::string_view text) {
  std::vector<std::string> names;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (!absl::ConsumePrefix(&line, ".section\t")) continue;
    line = absl::StripLeadingAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, ".text.")) names.emplace_back(line.substr(0, line.find(',')));
  }
  return names;
}

absl::StatusOr<Programs> ParsePrograms(absl::string_view text, absl::string_view only) {
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the text has ", text.size(), " bytes, more than ", kMaxTextBytes));
  }
  Programs programs;
  const std::string target = TargetIn(text);
  std::map<std::string, int> labels;
  Program* program = nullptr;
  const auto resolve = [&]() -> absl::Status {
    if (program == nullptr) return absl::OkStatus();
    for (Instruction& in : program->instructions) {
      for (const Operand& o : in.sources) {
        if (o.kind != Operand::kLabel || in.name == "RET") continue;
        const auto label = labels.find(o.text);
        if (label == labels.end()) {
          return absl::InvalidArgumentError(
              absl::StrCat(program->name, ": no label ", o.text, " in this kernel"));
        }
        in.target = label->second;
      }
    }
    labels.clear();
    return absl::OkStatus();
  };
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, ".section\t")) {
      RETURN_IF_ERROR(resolve());
      line = absl::StripLeadingAsciiWhitespace(line);
      program = nullptr;
      if (!absl::ConsumePrefix(&line, ".text.")) continue;
      const std::string name(line.substr(0, line.find(',')));
      if (!only.empty() && name != only) continue;
      program = &programs[name];
      *program = {name, target, {}};
    } else if (program == nullptr || absl::StartsWith(line, "//")) {
      continue;
    } else if (absl::ConsumeSuffix(&line, ":")) {
      labels[std::string(line)] = static_cast<int>(program->instructions.size());
    } else if (absl::ConsumePrefix(&line, "/* 0x")) {
      if (!program->instructions.empty()) AddControl(line, program->instructions.back());
    } else if (absl::ConsumePrefix(&line, "/*")) {
      const int64_t address = std::strtoll(std::string(line).c_str(), nullptr, 16);
      const size_t code = line.find("*/");
      if (code == line.npos) {
        return absl::InvalidArgumentError(
            absl::StrCat(program->name, ": '/*", line, "': the comment has no end"));
      }
      line.remove_prefix(code + 2);
      line = line.substr(0, line.rfind(';'));
      line = absl::StripAsciiWhitespace(line.substr(0, line.find("(*")));  // an annotation
      absl::StatusOr<Instruction> in = ReadInstruction(line);
      if (!in.ok()) {
        return absl::InvalidArgumentError(absl::StrCat(program->name, ": '", line, "' at 0x",
                                                       absl::Hex(address), ": ",
                                                       in.status().message(), " is not supported"));
      }
      in->address = address;
      in->text = std::string(line);
      program->instructions.push_back(*std::move(in));
    }
  }
  RETURN_IF_ERROR(resolve());
  return programs;
}

}  // namespace mmadiff::sass
