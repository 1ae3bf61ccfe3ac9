#include "device/sass/lanes.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/strip.h"

namespace mmadiff::sass {

Lanes::Lanes(Block& block, int first_thread) : block_(block), first_thread_(first_thread) {
  flags_[kTrue] = ~0u;
  uniform_flags_ = 1u << kTrue;
}

int ParametersAt(absl::string_view target) {
  const int number = std::atoi(std::string(absl::StripPrefix(target, "sm_")).c_str());
  return target.empty() || number == 90 ? 0x210 : number < 90 ? 0x160 : 0x380;
}

uint32_t Lanes::Predicates(int lane) const {
  uint32_t bits = 0;
  for (int p = 0; p < 7; ++p) bits |= (flags_[p] >> lane & 1) << p;
  return bits;
}

void Lanes::SetPredicates(int lane, uint32_t bits, uint32_t mask) {
  for (int p = 0; p < 7; ++p) {
    if (mask >> p & 1) flags_[p] = (flags_[p] & ~(1u << lane)) | (bits >> p & 1) << lane;
  }
}

uint32_t Lanes::Guard(const Instruction& in, uint32_t lanes) const {
  uint32_t holds = flags_[in.guard];
  if (in.guard_uniform) holds = uniform_flags_ >> in.guard & 1 ? ~0u : 0;
  return lanes & (in.guard_inverted ? ~holds : holds);
}

bool Lanes::Condition(const Operand& o, int lane) const {
  if (o.part == Operand::kSign) return (Register(o.index, lane) >> 31 != 0) != o.inverted;
  const bool holds = o.kind == Operand::kUniformPredicate ? uniform_flags_ >> o.index & 1
                                                          : flags_[o.index] >> lane & 1;
  return holds != o.inverted;
}

uint32_t Lanes::Special(const Operand& o, int lane) const {
  if (o.text == "SR_TID.X") return first_thread_ + lane;
  if (o.text == "SR_CTAID.X") return static_cast<uint32_t>(block_.number);
  if (o.text == "SR_LANEID") return lane;
  if (o.text == "SR_LTMASK") return (1u << lane) - 1;
  return 0;  // SRZ, and the others of a grid of one row
}

uint64_t Lanes::Address(const Operand& o, int lane) const {
  uint64_t address = o.offset;
  if (o.base != kZeroRegister) {
    address += o.pair ? Register(o.base, lane) | uint64_t{Register(o.base + 1, lane)} << 32
                      : static_cast<uint64_t>(static_cast<int32_t>(Register(o.base, lane)));
  }
  if (o.uniform != kZeroUniform) address += uniform_[o.uniform];
  if (o.uniform != kZeroUniform && o.wide) address += uint64_t{uniform_[o.uniform + 1]} << 32;
  return address;
}

uint64_t Lanes::Source(const Operand& o, int lane, bool pair) const {
  uint64_t value = 0;
  switch (o.kind) {
    case Operand::kRegister:
      value = Register(o.index, lane);
      if (pair && o.index != kZeroRegister) value |= uint64_t{Register(o.index + 1, lane)} << 32;
      break;
    case Operand::kUniform:
      value = o.index == kZeroUniform ? 0 : uniform_[o.index];
      if (pair && o.index != kZeroUniform) value |= uint64_t{uniform_[o.index + 1]} << 32;
      break;
    case Operand::kConstant:
      std::memcpy(&value, block_.constants->data() + Address(o, lane), pair ? 8 : 4);
      break;
    case Operand::kSpecial:
      return Special(o, lane);
    default:
      return o.offset;
  }
  return o.inverted ? ~value : value;
}

void Lanes::Set(const Operand& o, int lane, uint32_t value) {
  if (o.kind == Operand::kUniform) {
    if (o.index != kZeroUniform) uniform_[o.index] = value;
  } else if (o.index != kZeroRegister) {
    registers_[o.index][lane] = value;
  }
}

void Lanes::SetFlag(const Operand& o, int lane, bool value) {
  if (o.index == kTrue) return;
  uint32_t& flags = o.kind == Operand::kUniformPredicate ? uniform_flags_ : flags_[o.index];
  const uint32_t bit = 1u << (o.kind == Operand::kUniformPredicate ? o.index : lane);
  flags = value ? flags | bit : flags & ~bit;
}

}  // namespace mmadiff::sass
