#include "device/sass/uses.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "device/sass/compute.h"
#include "device/sass/memory.h"
#include "device/sass/opcodes.h"

namespace mmadiff::sass {
namespace {

void Add(Operand::Kind kind, int index, int count, std::vector<Storage>& to) {
  const bool registers = kind == Operand::kRegister || kind == Operand::kUniform;
  const int none = kind == Operand::kRegister  ? kZeroRegister
                   : kind == Operand::kUniform ? kZeroUniform
                                               : kTrue;
  if (index == none ||
      !(registers || kind == Operand::kPredicate || kind == Operand::kUniformPredicate)) {
    return;
  }
  for (int i = 0; i < count; ++i) to.push_back({kind, index + i});
}

void AddAddress(const Operand& o, std::vector<Storage>& to) {
  Add(Operand::kRegister, o.base, o.pair ? 2 : 1, to);
  Add(Operand::kUniform, o.uniform, o.wide ? 2 : 1, to);
  Add(Operand::kUniform, o.descriptor, 2, to);
}

int AccessedRegisters(const Instruction& in) { return std::max(AccessedBytes(in) / 4, 1); }

using Native = std::optional<Natives::Registers>;

int RegistersOfSource(const Instruction& in, int index, const Native& native) {
  const Op op = Opcodes()[in.opcode].op;
  if (in.sources[index].kind == Operand::kDescriptor) return 2;
  if (native.has_value() && index < 3) {
    return index == 0 ? native->a : index == 1 ? native->b : native->c;
  }
  if (IsMemory(op) && index == 1) return AccessedRegisters(in);
  return ReadsPair(in, index) || op == Op::kReturn ? 2 : 1;
}

int RegistersOfResult(const Instruction& in, const Native& native) {
  const Op op = Opcodes()[in.opcode].op;
  if (native.has_value()) return native->d;
  if (IsMemory(op)) return AccessedRegisters(in);
  if (op == Op::kMoveMatrix) return (in.has & kNibbles) != 0 ? 2 : 1;
  return WritesPair(in) ? 2 : 1;
}

void AddPredicates(uint32_t mask, std::vector<Storage>& to) {
  for (int p = 0; p < kTrue; ++p) {
    if ((mask >> p & 1) != 0) Add(Operand::kPredicate, p, 1, to);
  }
}

}  // namespace

std::string NameOf(const Storage& storage) {
  const bool uniform =
      storage.kind == Operand::kUniform || storage.kind == Operand::kUniformPredicate;
  const bool whole = storage.kind == Operand::kRegister || storage.kind == Operand::kUniform;
  return absl::StrCat(uniform ? "U" : "", whole ? "R" : "P", storage.index);
}

Uses UsesOf(const Instruction& in, const Natives& natives) {
  Uses uses;
  const Op op = Opcodes()[in.opcode].op;
  const bool matrix = op == Op::kNative || op == Op::kGroupMatrix;
  const Native native = matrix ? natives.RegistersOf(in.form) : std::nullopt;
  Add(in.guard_uniform ? Operand::kUniformPredicate : Operand::kPredicate, in.guard, 1, uses.guard);
  for (size_t i = 0; i < in.sources.size(); ++i) {
    const Operand& o = in.sources[i];
    if (o.kind == Operand::kMemory || o.kind == Operand::kConstant) {
      AddAddress(o, uses.reads);
    } else {
      const auto kind = o.kind == Operand::kDescriptor ? Operand::kUniform : o.kind;
      Add(kind, o.index, RegistersOfSource(in, static_cast<int>(i), native), uses.reads);
    }
  }
  for (const Operand& o : in.conditions) Add(o.kind, o.index, 1, uses.reads);
  for (const Operand& o : in.results) {
    Add(o.kind, o.index, RegistersOfResult(in, native), uses.writes);
  }
  for (const Operand& o : in.flags) Add(o.kind, o.index, 1, uses.writes);
  const auto mask = [&in](int source) {
    const Operand& o = in.sources[source];
    return o.kind == Operand::kImmediate ? static_cast<uint32_t>(o.offset) : ~0u;
  };
  if (op == Op::kPredicatesToRegister) AddPredicates(mask(2), uses.reads);
  if (op == Op::kRegisterToPredicates) AddPredicates(mask(1), uses.writes);
  return uses;
}

}  // namespace mmadiff::sass
