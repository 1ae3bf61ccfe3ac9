#include "device/hip/testing/fake_code.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "device/gpu/elf.h"
#include "device/hip/code_object.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

using enum FakeStep::Op;
using Compute = decltype(FakeStep::compute);
using Scc = FakeStep::Scc;
constexpr Compute kAdd = [](uint64_t a, uint64_t b, bool) { return a + b; },
                  kAddCarry = [](uint64_t a, uint64_t b, bool scc) { return a + b + scc; },
                  kMultiply = [](uint64_t a, uint64_t b, bool) { return a * b; },
                  kMultiplyHigh = [](uint64_t a, uint64_t b, bool) { return a * b >> 32; },
                  kShiftLeft = [](uint64_t a, uint64_t b, bool) { return a << b % 32; },
                  kShiftRight = [](uint64_t a, uint64_t b, bool) { return a >> b % 32; },
                  kOr = [](uint64_t a, uint64_t b, bool) { return a | b; },
                  kAnd = [](uint64_t a, uint64_t b, bool) { return a & b; },
                  kMultiply24 = [](uint64_t a, uint64_t b,
                                   bool) { return (a & 0xffffff) * (b & 0xffffff); },
                  kMove = [](uint64_t a, uint64_t, bool) { return a; };

struct Encoding {
  int from, to;  // generations
  uint32_t mask, value;
  FakeStep::Op op;
  Compute compute = nullptr;
  Scc scc = Scc::kKept;
};
constexpr Encoding kEncodings[] = {
    {9, 12, 0xff800000, 0x80000000, kScalar, kAdd, Scc::kCarry},
    {9, 12, 0xff800000, 0x82000000, kScalar, kAddCarry, Scc::kCarry},
    {9, 9, 0xff800000, 0x92000000, kScalar, kMultiply},
    {11, 12, 0xff800000, 0x96000000, kScalar, kMultiply},
    {9, 9, 0xff800000, 0x96000000, kScalar, kMultiplyHigh},
    {11, 12, 0xff800000, 0x96800000, kScalar, kMultiplyHigh},
    {9, 9, 0xff800000, 0x8e000000, kScalar, kShiftLeft, Scc::kNotZero},
    {9, 9, 0xff800000, 0x8f000000, kScalar, kShiftRight, Scc::kNotZero},
    {11, 12, 0xff800000, 0x85000000, kScalar, kShiftRight, Scc::kNotZero},
    {9, 9, 0xff800000, 0x87000000, kScalar, kOr, Scc::kNotZero},
    {12, 12, 0xff80ff00, 0xbe800000, kScalar, kMove},
    {9, 12, 0xff800000, 0xb9000000, kSetReg},
    {9, 12, 0xff800000, 0xb8800000, kGetReg},
    {9, 12, 0xffff0000, 0xbf800000, kNop},
    {9, 9, 0xffff0000, 0xbf810000, kEnd},
    {11, 12, 0xffff0000, 0xbfb00000, kEnd},
    {9, 9, 0xffff0000, 0xbf8c0000, kWait},
    {11, 11, 0xffff0000, 0xbf890000, kWait},
    {12, 12, 0xffff0000, 0xbfc00000, kWaitLoads},
    {12, 12, 0xffff0000, 0xbfc70000, kWaitScalars},
    {9, 9, 0xffffe000, 0xc00a0000, kLoad4Scalars},
    {9, 9, 0xffffe000, 0xc00e0000, kLoad8Scalars},
    {11, 11, 0xffffe000, 0xf4080000, kLoad4Scalars},
    {11, 11, 0xffffe000, 0xf40c0000, kLoad8Scalars},
    {12, 12, 0xffffe000, 0xf4004000, kLoad4Scalars},
    {12, 12, 0xffffe000, 0xf4006000, kLoad8Scalars},
    {9, 9, 0xfe000000, 0x26000000, kVector, kAnd},
    {11, 12, 0xfe000000, 0x36000000, kVector, kAnd},
    {9, 9, 0xfe000000, 0x10000000, kVector, kMultiply24},
    {11, 12, 0xfe000000, 0x16000000, kVector, kMultiply24},
    {9, 12, 0xfe01fe00, 0x7e000200, kVector, kMove},
    {9, 9, 0xffffe000, 0xdc508000, kLoad},
    {9, 9, 0xffffe000, 0xdc708000, kStore},
    {11, 11, 0xffffe000, 0xdc520000, kLoad},
    {11, 11, 0xffffe000, 0xdc6a0000, kStore},
    {12, 12, 0xffffff80, 0xee050000, kLoad},
    {12, 12, 0xffffff80, 0xee068000, kStore},
    {9, 9, 0xffffff00, 0xd3d84000, kFromAccumulator},
    {9, 9, 0xffffff00, 0xd3d94000, kToAccumulator},
    {9, 9, 0xffffffff, 0xd3ac0000, kScales},
};

int32_t Signed(uint32_t value, int bits) {
  return static_cast<int32_t>(value << (32 - bits)) >> (32 - bits);
}

void SetGlobal(const uint32_t* w, int generation, FakeStep& step) {
  const bool gfx12 = generation == 12, load = step.op == kLoad;
  step.immediate = gfx12 ? Signed(w[2] >> 8, 24) : Signed(w[0], 13);
  step.s0 = gfx12 ? w[2] & 0xff : w[1] & 0xff;
  step.saddr = gfx12 ? w[0] & 0x7f : w[1] >> 16 & 0x7f;
  step.d =
      load ? (gfx12 ? w[1] & 0xff : w[1] >> 24) : (gfx12 ? w[1] >> 23 & 0xff : w[1] >> 8 & 0xff);
}

void SetOperands(const uint32_t* w, const Encoding& encoding, int generation, FakeStep& step) {
  const uint32_t word = w[0];
  step.op = encoding.op, step.compute = encoding.compute, step.scc = encoding.scc;
  step.literal = w[1];
  const bool one = encoding.compute == kMove;
  switch (step.op) {
    case kScalar:
      step.d = word >> 16 & 0x7f, step.s0 = word & 0xff, step.s1 = one ? 128 : word >> 8 & 0xff;
      break;
    case kVector:
      step.d = word >> 17 & 0xff, step.s0 = word & 0x1ff;
      step.s1 = one ? 128 : (word >> 9 & 0xff) + 256;
      break;
    case kLoad4Scalars:
    case kLoad8Scalars:
      step.d = word >> 6 & 0x7f, step.s0 = (word & 0x3f) * 2;
      step.immediate = Signed(w[1], generation == 12 ? 24 : 21);
      break;
    case kLoad:
    case kStore:
      return SetGlobal(w, generation, step);
    case kToAccumulator:
    case kFromAccumulator:
    case kScales:
      step.d = word & 0xff, step.s0 = w[1] & 0x1ff, step.s1 = w[1] >> 9 & 0x1ff;
      break;
    default:  // SOPK, SOPP
      step.d = step.s0 = word >> 16 & 0x7f, step.immediate = word & 0xffff;
  }
}

// Whether the second word says what no kernel of ours has: a register for an offset of s_load, lesser
// sources of scales.
bool HasMore(const FakeStep& step, uint32_t word, int generation) {
  const uint32_t no_register = generation == 9 ? 0 : 0x7c;
  if (step.op == kLoad4Scalars || step.op == kLoad8Scalars) return word >> 25 != no_register;
  return step.op == kScales && (word >> 18 != 0 || step.s0 < 256 || step.s1 < 256);
}

// False if it has modifiers that no kernel of ours has, or sources that are no registers.
bool SetMatrix(const uint32_t* w, int generation, const HipTarget& target, FakeStep& step) {
  FakeMatrix& m = step.matrix;
  const uint32_t low = w[0], high = w[1];
  const int a = high & 0x1ff, b = high >> 9 & 0x1ff, c = high >> 18 & 0x1ff;
  if (a < 256 || b < 256 || c < 256) return false;
  const bool only = target.accumulators == Accumulators::kOnlyAccumulators;
  const bool gfx9 = generation == 9, d_there = gfx9 && (only || (low >> 15 & 1));
  const uint32_t there = gfx9 ? high >> 27 & 3 : 0;  // A, B in accumulators
  m.a = a - 256 + (there & 1 ? kFirstAccumulator : 0);
  m.b = b - 256 + (there & 2 ? kFirstAccumulator : 0);
  m.c = c - 256 + (d_there ? kFirstAccumulator : 0);
  m.d = int(low & 0xff) + (d_there ? kFirstAccumulator : 0);
  if (gfx9) {
    m.a_format = low >> 8 & 7, m.b_format = high >> 29;
    return (low & 0x7800) == (m.scale_a >= 0 ? 0x800 : 0);  // ABID; that scales come before
  }
  m.negated = high >> 29;
  return (low & 0xbf00) == 0;  // NEG_HI, OP_SEL, CLAMP
}

// The bytes from a place on that is `offset` bytes behind `from` when the file is loaded.
absl::string_view Loaded(absl::string_view file, const Elf64_Ehdr& header, absl::string_view from,
                         int64_t offset) {
  const auto convert = [&](uint64_t value, uint64_t Elf64_Phdr::*in, uint64_t Elf64_Phdr::*out) {
    Elf64_Phdr part;
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      if (!ReadAt(file, header.e_phoff + i * sizeof(part), &part) || part.p_type != PT_LOAD)
        continue;
      if (value - part.*in < part.p_filesz) return value - part.*in + part.*out;
    }
    return ~uint64_t{0};
  };
  const uint64_t at =
      convert(from.data() - file.data(), &Elf64_Phdr::p_offset, &Elf64_Phdr::p_vaddr);
  const uint64_t there = convert(at + offset, &Elf64_Phdr::p_vaddr, &Elf64_Phdr::p_offset);
  return there < file.size() ? file.substr(there) : absl::string_view();
}

// LLVM, User Guide for AMDGPU Backend, "Kernel Descriptor". Gives where the code is, from there.
absl::StatusOr<int64_t> ReadDescriptor(absl::string_view descriptor, const HipTarget& target,
                                       FakeCode& code) {
  int64_t entry;
  uint32_t resources[3];  // COMPUTE_PGM_RSRC3, 1, 2
  uint16_t properties;
  if (!ReadAt(descriptor, 16, &entry) || !ReadAt(descriptor, 8, &code.argument_bytes) ||
      !ReadAt(descriptor, 44, &resources) || !ReadAt(descriptor, 56, &properties)) {
    return absl::DataLossError("a descriptor that is not whole");
  }
  if ((properties & 0x7f) != 8 || (properties >> 10 & 1) != (target.wave == 32)) {
    return absl::DataLossError("a descriptor with other registers at the start, or another wave");
  }
  const bool unified = target.accumulators == Accumulators::kUnified,
             apart = target.accumulators == Accumulators::kOnlyAccumulators;
  const int registers = ((resources[1] & 0x3f) + 1) * (apart ? 4 : 8);
  code.registers = unified ? ((resources[0] & 0x3f) + 1) * 4 : registers;
  code.accumulators = unified ? registers - code.registers : apart ? registers : 0;
  code.user_scalars = resources[2] >> 1 & 0x1f;
  code.has_block = resources[2] >> 7 & 1;
  return entry;
}

// The instruction of these words, of which the one before was kScales if there are `scales`. False if
// no kernel of ours has it.
bool DecodeStep(const uint32_t* w, const HipTarget& target, int generation, const FakeStep* scales,
                FakeStep& step) {
  if (const auto opcode = HipMatrixOpcode(w[0], generation)) {
    step.op = kMatrix;
    step.matrix.opcode = *opcode;
    if (scales != nullptr) {
      step.matrix.scale_a = scales->s0 - 256, step.matrix.scale_b = scales->s1 - 256;
    }
    return SetMatrix(w, generation, target, step);
  }
  const auto encoding = std::ranges::find_if(kEncodings, [&](const Encoding& e) {
    return e.from <= generation && generation <= e.to && (w[0] & e.mask) == e.value;
  });
  if (encoding == std::end(kEncodings) || scales != nullptr) return false;
  SetOperands(w, *encoding, generation, step);
  return !HasMore(step, w[1], generation);
}

}  // namespace

absl::StatusOr<FakeCode> DecodeFake(absl::string_view code_object, absl::string_view kernel,
                                    const HipTarget& target) {
  const absl::StatusOr<ElfFile> file = ElfFile::Read(code_object);
  ASSIGN_OR_RETURN(const uint32_t mode, HipModeOf(code_object, kernel));
  FakeCode code;
  code.generation = HipGenerationOf(file->header().e_flags);
  code.lanes = target.wave;
  code.mode = mode;
  const absl::string_view descriptor = *file->Symbol(absl::StrCat(kernel, ".kd"));
  ASSIGN_OR_RETURN(const int64_t entry, ReadDescriptor(descriptor, target, code));

  const absl::string_view bytes = Loaded(code_object, file->header(), descriptor, entry);
  for (uint32_t at = 0; code.steps.empty() || code.steps.back().op != kEnd;) {
    uint32_t w[4] = {};
    if (!ReadAt(bytes, at, &w[0])) return absl::DataLossError("code without an end");
    std::memcpy(w, bytes.data() + at, std::min(sizeof(w), bytes.size() - at));
    const bool scaled = !code.steps.empty() && code.steps.back().op == kScales;
    FakeStep step;
    step.at = at;
    if (!DecodeStep(w, target, code.generation, scaled ? &code.steps.back() : nullptr, step)) {
      return absl::DataLossError(
          absl::StrCat(kernel, ": at ", absl::Hex(at), " unknown ", absl::Hex(w[0])));
    }
    code.steps.push_back(step);
    at += HipBytesOf(w[0], code.generation);
  }
  return code;
}

}  // namespace mmadiff
