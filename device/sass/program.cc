#include "device/sass/program.h"

#include <cctype>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/sass/opcodes.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

bool ReadNumber(absl::string_view text, int64_t& value) {
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return false;
  value = static_cast<int64_t>(std::strtoull(std::string(text).c_str(), nullptr, 0));
  return true;
}

// "R12", "RZ", "UR4", "URZ", "P0", "PT", "UP1", "UPT", "B3": the kind and the number.
bool ReadRegister(absl::string_view text, Operand& operand) {
  const std::pair<const char*, Operand::Kind> prefixes[] = {{"UR", Operand::kUniform},
                                                            {"UP", Operand::kUniformPredicate},
                                                            {"R", Operand::kRegister},
                                                            {"P", Operand::kPredicate},
                                                            {"B", Operand::kBarrier}};
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
    for (size_t i = 1; i < name.size(); ++i) operand.pair |= name[i] == "64";
    (part.kind == Operand::kUniform ? operand.uniform : operand.base) = part.index;
  }
  return true;
}

absl::StatusOr<Operand> ReadOperand(absl::string_view text) {
  Operand operand;
  const std::string whole(text);
  if (absl::ConsumePrefix(&text, "`(")) {
    operand.kind = Operand::kLabel;
    operand.text = std::string(absl::StripSuffix(text, ")"));
    return operand;
  }
  if (absl::ConsumePrefix(&text, "-")) operand.negative = true;
  if (absl::ConsumePrefix(&text, "~") || absl::ConsumePrefix(&text, "!")) operand.inverted = true;
  if (absl::ConsumePrefix(&text, "|")) text = text.substr(0, text.find('|'));
  if (absl::StartsWith(text, "desc[")) text = text.substr(text.find(']') + 1);
  if (absl::StartsWith(text, "c[")) {
    const size_t middle = text.find("][");
    int64_t bank = 0;
    operand.kind = Operand::kConstant;
    if (!ReadNumber(text.substr(2, middle - 2), bank) || bank != 0 ||
        !ReadAddress(text.substr(middle + 2, text.size() - middle - 3), operand)) {
      return absl::InvalidArgumentError(whole);
    }
    return operand;
  }
  if (absl::StartsWith(text, "[")) {
    operand.kind = Operand::kMemory;
    if (!ReadAddress(text.substr(1, text.size() - 2), operand)) {
      return absl::InvalidArgumentError(whole);
    }
    return operand;
  }
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  if (ReadRegister(parts[0], operand)) return operand;
  if (ReadNumber(text, operand.offset)) {
    operand.kind = Operand::kImmediate;
    if (operand.negative) operand.offset = static_cast<uint32_t>(-operand.offset);
    operand.negative = false;
    return operand;
  }
  operand.text = whole;
  return operand;
}

bool IsFlag(const Operand& o) {
  return o.kind == Operand::kPredicate || o.kind == Operand::kUniformPredicate;
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

// "@!P0 IADD3.X R4, P1, R2, R3, RZ, P0, !PT"
absl::StatusOr<Instruction> ReadInstruction(absl::string_view text) {
  Instruction in;
  if (absl::ConsumePrefix(&text, "@")) {
    const size_t space = text.find(' ');
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
  in.name = name[0];
  for (size_t i = 1; i < name.size(); ++i) in.has |= ModifierBit(name[i]);
  in.opcode = FindOpcode(in.name);
  if (in.opcode < 0) return absl::InvalidArgumentError(absl::StrCat("unknown instruction: ", text));
  std::vector<Operand> operands;
  for (absl::string_view part :
       absl::StrSplit(text.substr(space), absl::ByAnyChar(","), absl::SkipWhitespace())) {
    for (absl::string_view word : absl::StrSplit(part, ' ', absl::SkipWhitespace())) {
      ASSIGN_OR_RETURN(Operand operand, ReadOperand(word));
      operands.push_back(std::move(operand));
    }
  }
  Distribute(Opcodes()[in.opcode], operands, in);
  return in;
}

}  // namespace

bool Instruction::uniform() const { return Opcodes()[opcode].uniform; }

absl::StatusOr<Programs> ParsePrograms(absl::string_view text) {
  Programs programs;
  std::map<std::string, int> labels;
  Program* program = nullptr;
  const auto resolve = [&]() -> absl::Status {
    if (program == nullptr) return absl::OkStatus();
    for (Instruction& in : program->instructions) {
      for (const Operand& o : in.sources) {
        if (o.kind != Operand::kLabel || in.name == "RET") continue;
        const auto label = labels.find(o.text);
        if (label == labels.end()) return absl::InvalidArgumentError(o.text);
        in.target = label->second;
      }
    }
    labels.clear();
    return absl::OkStatus();
  };
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    line = absl::StripAsciiWhitespace(line);
    if (absl::ConsumePrefix(&line, ".section")) {
      RETURN_IF_ERROR(resolve());
      line = absl::StripLeadingAsciiWhitespace(line);
      program = nullptr;
      if (!absl::ConsumePrefix(&line, ".text.")) continue;
      const std::string name(line.substr(0, line.find(',')));
      program = &programs[name];
      program->name = name;
    } else if (program == nullptr || absl::StartsWith(line, "//")) {
      continue;
    } else if (absl::ConsumeSuffix(&line, ":")) {
      labels[std::string(line)] = static_cast<int>(program->instructions.size());
    } else if (absl::ConsumePrefix(&line, "/*")) {
      const int64_t address = std::strtoll(std::string(line).c_str(), nullptr, 16);
      line.remove_prefix(line.find("*/") + 2);
      line = line.substr(0, line.rfind(';'));
      ASSIGN_OR_RETURN(Instruction in, ReadInstruction(absl::StripAsciiWhitespace(line)));
      in.address = address;
      program->instructions.push_back(std::move(in));
    }
  }
  RETURN_IF_ERROR(resolve());
  return programs;
}

}  // namespace mmadiff::sass
