#include "device/hip/fake_machine.h"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/gpu/elf.h"
#include "device/hip/code_object.h"

namespace mmadiff {

enum class FakeMachine::Op : uint8_t {
  kScalar,
  kVector,
  kSetReg,
  kGetReg,
  kNop,
  kWait,
  kWaitLoads,
  kWaitScalars,
  kEnd,
  kLoadScalars,
  kLoad,
  kStore,
  kToAccumulator,
  kFromAccumulator,
  kScales,
  kMatrix
};

namespace {

using enum FakeMachine::Op;
using Step = FakeMachine::Step;

constexpr int kScalarRegisters = 106, kTtmp = 108, kBlockOfGfx12 = 117;  // ttmp9
constexpr int kMode = 1, kHwId = 4, kXccId = 20, kHwId1 = 23;            // hwreg()

// What arithmetic computes of two words and SCC.
using Compute = uint64_t (*)(uint64_t, uint64_t, bool);
constexpr Compute kAdd = [](uint64_t a, uint64_t b, bool) { return a + b; },
                  kAddCarry = [](uint64_t a, uint64_t b, bool scc) { return a + b + scc; },
                  kMultiply = [](uint64_t a, uint64_t b, bool) { return a * b; },
                  kMultiplyHigh = [](uint64_t a, uint64_t b, bool) { return a * b >> 32; },
                  kShiftLeft = [](uint64_t a, uint64_t b, bool) { return a << b % 32; },
                  kShiftRight = [](uint64_t a, uint64_t b, bool) { return a >> b % 32; },
                  kOr = [](uint64_t a, uint64_t b, bool) { return a | b; },
                  kAnd = [](uint64_t a, uint64_t b, bool) { return a & b; },
                  kMultiply24 = [](uint64_t a, uint64_t b, bool) {
                    return (a & 0xffffff) * (b & 0xffffff);
                  };
constexpr Compute kMove = nullptr;

struct Encoding {
  int from, to;  // generations
  uint32_t mask, value;
  FakeMachine::Op op;
  Compute compute = nullptr;
  int words = 0;  // that are loaded
};
constexpr Encoding kEncodings[] = {
    {9, 12, 0xff800000, 0x80000000, kScalar, kAdd},
    {9, 12, 0xff800000, 0x82000000, kScalar, kAddCarry},
    {9, 9, 0xff800000, 0x92000000, kScalar, kMultiply},
    {11, 12, 0xff800000, 0x96000000, kScalar, kMultiply},
    {9, 9, 0xff800000, 0x96000000, kScalar, kMultiplyHigh},
    {11, 12, 0xff800000, 0x96800000, kScalar, kMultiplyHigh},
    {9, 9, 0xff800000, 0x8e000000, kScalar, kShiftLeft},
    {9, 9, 0xff800000, 0x8f000000, kScalar, kShiftRight},
    {11, 12, 0xff800000, 0x85000000, kScalar, kShiftRight},
    {9, 9, 0xff800000, 0x87000000, kScalar, kOr},
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
    {9, 9, 0xffffe000, 0xc00a0000, kLoadScalars, nullptr, 4},
    {9, 9, 0xffffe000, 0xc00e0000, kLoadScalars, nullptr, 8},
    {11, 11, 0xffffe000, 0xf4080000, kLoadScalars, nullptr, 4},
    {11, 11, 0xffffe000, 0xf40c0000, kLoadScalars, nullptr, 8},
    {12, 12, 0xffffe000, 0xf4004000, kLoadScalars, nullptr, 4},
    {12, 12, 0xffffe000, 0xf4006000, kLoadScalars, nullptr, 8},
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

void SetGlobal(const uint32_t* w, int generation, Step& step) {
  const bool gfx12 = generation == 12, load = step.op == kLoad;
  step.immediate = gfx12 ? Signed(w[2] >> 8, 24) : Signed(w[0], 13);
  step.s0 = gfx12 ? w[2] & 0xff : w[1] & 0xff;
  step.saddr = gfx12 ? w[0] & 0x7f : w[1] >> 16 & 0x7f;
  step.d =
      load ? (gfx12 ? w[1] & 0xff : w[1] >> 24) : (gfx12 ? w[1] >> 23 & 0xff : w[1] >> 8 & 0xff);
}

void SetOperands(const uint32_t* w, const Encoding& encoding, int generation, Step& step) {
  const uint32_t word = w[0];
  step.op = encoding.op, step.compute = encoding.compute, step.literal = w[1];
  const bool one = encoding.compute == kMove;
  switch (step.op) {
    case kScalar:
      step.d = word >> 16 & 0x7f, step.s0 = word & 0xff, step.s1 = one ? 128 : word >> 8 & 0xff;
      break;
    case kVector:
      step.d = word >> 17 & 0xff, step.s0 = word & 0x1ff;
      step.s1 = one ? 128 : (word >> 9 & 0xff) + 256;
      break;
    case kLoadScalars:
      step.d = word >> 6 & 0x7f, step.s0 = (word & 0x3f) * 2, step.s1 = encoding.words;
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

// False if it has modifiers that no kernel of ours has, or sources that are no registers.
bool SetMatrix(const uint32_t* w, int generation, const HipTarget& target, Step& step) {
  FakeMatrix& m = step.matrix;
  const uint32_t low = w[0], high = w[1];
  const int sources[] = {int(high & 0x1ff), int(high >> 9 & 0x1ff), int(high >> 18 & 0x1ff)};
  for (const int s : sources) {
    if (s < 256) return false;
  }
  const bool only = target.accumulators == Accumulators::kOnlyAccumulators;
  const bool gfx9 = generation == 9, d_there = gfx9 && (only || (low >> 15 & 1));
  const uint32_t there = gfx9 ? high >> 27 & 3 : 0;  // A, B in accumulators
  m.a = sources[0] - 256 + (there & 1 ? kFirstAccumulator : 0);
  m.b = sources[1] - 256 + (there & 2 ? kFirstAccumulator : 0);
  m.c = sources[2] - 256 + (d_there ? kFirstAccumulator : 0);
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

}  // namespace

absl::StatusOr<FakeMachine> FakeMachine::Decode(absl::string_view code_object,
                                                absl::string_view kernel, const HipTarget& target) {
  const absl::StatusOr<ElfFile> file = ElfFile::Read(code_object);
  const absl::StatusOr<uint32_t> mode = HipModeOf(code_object, kernel);
  if (!mode.ok()) return mode.status();
  FakeMachine m;
  m.generation_ = HipGenerationOf(file->header().e_flags);
  m.lanes_ = target.wave;
  m.mode_ = *mode;

  // LLVM, User Guide for AMDGPU Backend, "Kernel Descriptor".
  const absl::string_view descriptor = *file->Symbol(absl::StrCat(kernel, ".kd"));
  int64_t entry;
  uint32_t resources[3];  // COMPUTE_PGM_RSRC3, 1, 2
  uint16_t properties;
  if (!ReadAt(descriptor, 16, &entry) || !ReadAt(descriptor, 8, &m.argument_bytes_) ||
      !ReadAt(descriptor, 44, &resources) || !ReadAt(descriptor, 56, &properties)) {
    return absl::DataLossError("a descriptor that is not whole");
  }
  if ((properties & 0x7f) != 8 || (properties >> 10 & 1) != (target.wave == 32)) {
    return absl::DataLossError("a descriptor with other registers at the start, or another wave");
  }
  const bool unified = target.accumulators == Accumulators::kUnified;
  const int granule = target.accumulators == Accumulators::kOnlyAccumulators ? 4 : 8;
  const int vectors = ((resources[1] & 0x3f) + 1) * granule;
  m.registers_ = unified ? ((resources[0] & 0x3f) + 1) * 4 : vectors;
  m.accumulators_ = unified ? vectors - m.registers_ : granule == 4 ? vectors : 0;
  m.user_scalars_ = resources[2] >> 1 & 0x1f;
  m.has_block_ = resources[2] >> 7 & 1;

  const absl::string_view code = Loaded(code_object, file->header(), descriptor, entry);
  std::optional<Step> scales;
  for (uint32_t at = 0; m.steps_.empty() || m.steps_.back().op != kEnd;) {
    uint32_t w[4] = {};
    if (!ReadAt(code, at, &w[0])) return absl::DataLossError("code without an end");
    std::memcpy(w, code.data() + at, std::min(sizeof(w), code.size() - at));
    Step step = {.at = at};
    at += HipBytesOf(w[0], m.generation_);
    const auto unknown = absl::DataLossError(
        absl::StrCat(kernel, ": at ", absl::Hex(step.at), " unknown ", absl::Hex(w[0])));
    if (const auto opcode = HipMatrixOpcode(w[0], m.generation_)) {
      step.op = kMatrix;
      step.matrix = {.opcode = *opcode, .scale_a = -1, .scale_b = -1};
      if (scales) step.matrix.scale_a = scales->s0 - 256, step.matrix.scale_b = scales->s1 - 256;
      scales.reset();
      if (!SetMatrix(w, m.generation_, target, step)) return unknown;
      m.steps_.push_back(step);
      continue;
    }
    const auto encoding = std::ranges::find_if(kEncodings, [&](const Encoding& e) {
      return e.from <= m.generation_ && m.generation_ <= e.to && (w[0] & e.mask) == e.value;
    });
    if (encoding == std::end(kEncodings) || scales) return unknown;
    SetOperands(w, *encoding, m.generation_, step);
    if (step.op != kScales) {
      m.steps_.push_back(step);
    } else if (w[1] >> 18 != 0 || step.s0 < 256 || step.s1 < 256) {
      return unknown;
    } else {
      scales = step;
    }
  }
  return m;
}

// The wave of one block after the other.
class FakeWave : public FakeRegisters {
 public:
  FakeWave(const FakeMachine& machine, absl::string_view arguments,
           const FakeMachine::Memory& memory, const FakeMachine::Matrix& matrix)
      : m_(machine),
        arguments_(arguments),
        memory_(memory),
        matrix_(matrix),
        values_(2 * kFirstAccumulator * machine.lanes_) {}

  absl::Status Run(unsigned block, unsigned unit) {
    std::fill(std::begin(cells_), std::end(cells_), Cell());
    known_.reset(), loading_.reset();
    now_ = issued_ = done_ = 0, set_mode_ = -kLong;
    mode_ = m_.mode_;
    unit_ = unit;
    const uint64_t address = reinterpret_cast<uint64_t>(arguments_.data());
    SetScalar(0, address), SetScalar(1, address >> 32);
    if (m_.user_scalars_ < 2) return absl::InternalError("no address of arguments");
    if (m_.generation_ == 12) {
      SetScalar(kBlockOfGfx12, block, true);
    } else if (m_.has_block_) {
      SetScalar(m_.user_scalars_, block);
    }
    for (int lane = 0; lane < m_.lanes_; ++lane) values_[lane] = lane;
    cells_[0].by = By::kMemory;
    for (const Step& step : m_.steps_) {
      Do(step);
      if (!wrong_.empty()) {
        return absl::InternalError(
            absl::StrCat("block ", block, ", at ", absl::Hex(step.at), ": ", wrong_));
      }
      now_ += step.op == kNop ? step.immediate + 1 : 1;
    }
    return absl::OkStatus();
  }

  void Read(int first, int count, std::vector<uint32_t>& words) override {
    const size_t at = words.size();
    words.resize(at + size_t(count) * m_.lanes_);
    for (int r = 0; r < count; ++r) {
      const uint32_t* const from = Used(first + r, Use::kMatrix);
      for (int lane = 0; lane < m_.lanes_; ++lane) words[at + lane * count + r] = from[lane];
    }
  }
  void Write(int first, int count, const uint32_t* words) override {
    for (int r = 0; r < count; ++r) {
      uint32_t* const to = Define(first + r, By::kMatrix);
      for (int lane = 0; lane < m_.lanes_; ++lane) to[lane] = words[lane * count + r];
    }
  }

 private:
  enum class By : uint8_t { kNothing, kMemory, kVector, kFromAccumulator, kMatrix };
  enum class Use : uint8_t { kVector, kMatrix, kStore, kOverwrite };
  struct Cell {
    By by = By::kNothing;
    int64_t at = 0;    // when it was written
    int64_t load = 0;  // which load writes it
  };
  static constexpr int64_t kLong = 1 << 20;

  template <class... Parts>
  void Wrong(const Parts&... parts) {
    if (wrong_.empty()) wrong_ = absl::StrCat(parts...);
  }

  // Of what is none after an error, those of v0.
  uint32_t* Lanes(int r) { return &values_[wrong_.empty() ? size_t(r) * m_.lanes_ : 0]; }

  // Wait states that an earlier write of a register and this use need.
  int Needed(By by, Use use) const {
    if (m_.generation_ != 9) return 0;
    if (by == By::kMatrix) return 20;
    if (use == Use::kMatrix && (by == By::kVector || by == By::kFromAccumulator)) return 3;
    return use == Use::kStore && by == By::kFromAccumulator ? 2 : 0;
  }
  void Check(int r, Use use) {
    const bool accumulator = r >= kFirstAccumulator;
    const auto name = [&] { return absl::StrCat(accumulator ? "a" : "v", r % kFirstAccumulator); };
    if (r % kFirstAccumulator >= (accumulator ? m_.accumulators_ : m_.registers_)) {
      return Wrong("the kernel has no ", name());
    }
    const Cell& cell = cells_[r];
    if (cell.by == By::kNothing && use != Use::kOverwrite) Wrong(name(), " was never written");
    if (cell.load > done_) Wrong("a load of ", name(), " is outstanding");
    const int needed = Needed(cell.by, use);
    if (cell.by != By::kNothing && now_ - cell.at - 1 < needed) {
      Wrong(name(), " needs ", needed, " wait states, has ", now_ - cell.at - 1);
    }
  }
  const uint32_t* Used(int r, Use use) {
    Check(r, use);
    return Lanes(r);
  }
  uint32_t* Define(int r, By by) {
    Check(r, Use::kOverwrite);
    if (wrong_.empty()) cells_[r] = {by, now_};
    return Lanes(r);
  }

  uint32_t Scalar(int s) {
    if (s >= kScalarRegisters && (s < kTtmp || s > 123)) return Wrong("s", s, " is none"), 0;
    if (!known_[s]) Wrong("s", s, " was never written");
    if (loading_[s]) Wrong("a load of s", s, " is outstanding");
    return scalars_[s];
  }
  void SetScalar(int s, uint64_t value, bool at_start = false) {
    if (s >= kScalarRegisters && !at_start) return Wrong("writes s", s);  // VCC, EXEC, ...
    if (loading_[s]) Wrong("a load of s", s, " is outstanding");
    known_.set(s);
    scalars_[s] = static_cast<uint32_t>(value);
  }
  uint32_t Source(int source, uint32_t literal) {
    if (source < 128) return Scalar(source);
    if (source <= 192) return source - 128;
    if (source <= 208) return 192 - source;
    if (source != 255) Wrong("source ", source);
    return literal;
  }
  uint64_t Address(int s) { return Scalar(s) | uint64_t{Scalar(s + 1)} << 32; }

  // The word at an address; nullptr if it is of no allocation.
  uint32_t* Word(uint64_t address) {
    if (address - begin_ >= size_) {
      auto at = memory_.upper_bound(address);
      if (at != memory_.begin()) --at, begin_ = at->first, size_ = at->second;
    }
    if (address - begin_ >= size_ || size_ - (address - begin_) < 4 || address % 4 != 0) {
      return Wrong("address ", absl::Hex(address), " is of no allocation"), nullptr;
    }
    return reinterpret_cast<uint32_t*>(address);
  }

  // MODE, and numbers of the unit among ones.
  uint32_t Hardware(int id) {
    if (id == kHwId && m_.generation_ == 9) return ~0xff00u | unit_ << 8;
    if (id == kXccId && m_.generation_ == 9) return ~0xfu | unit_ % 2;
    if (id == kHwId1 && m_.generation_ != 9) return ~(0x7ffu << 10) | unit_ << 10;
    return Wrong("register ", id, " of the hardware"), 0;
  }
  void Hardware(const Step& step) {
    const int id = step.immediate & 0x3f, offset = step.immediate >> 6 & 0x1f;
    const uint32_t bits = (2u << (step.immediate >> 11)) - 1;
    if (step.op == kGetReg) return SetScalar(step.d, Hardware(id) >> offset & bits);
    if (id != kMode) return Wrong("sets register ", id, " of the hardware");
    if (m_.generation_ == 9 && now_ - set_mode_ - 1 < 2) Wrong("MODE needs 2 wait states");
    set_mode_ = now_;
    mode_ = (mode_ & ~(bits << offset)) | (Scalar(step.s0) & bits) << offset;
  }

  void LoadScalars(const Step& step) {
    const uint64_t from = Address(step.s0) + step.immediate;
    const uint64_t offset = from - reinterpret_cast<uint64_t>(arguments_.data());
    const size_t bytes = std::min<size_t>(m_.argument_bytes_, arguments_.size());
    for (int i = 0; i < step.s1; ++i) {
      uint32_t word = 0;
      if (!ReadAt(arguments_.substr(0, bytes), offset + 4 * i, &word))
        Wrong("arguments end before");
      SetScalar(step.d + i, word);
      loading_.set(step.d + i);
    }
  }
  void WaitLoads(int outstanding) { done_ = std::max(done_, issued_ - outstanding); }
  void Wait(int bits) {
    const bool gfx9 = m_.generation_ == 9;
    WaitLoads(gfx9 ? (bits & 0xf) | (bits >> 14 & 3) << 4 : bits >> 10 & 0x3f);
    const int scalars = gfx9 ? bits >> 8 & 0xf : bits >> 4 & 0x3f;
    if (scalars == 0) loading_.reset();  // they come in any order
  }

  void Global(const Step& step) {
    const bool load = step.op == kLoad;
    const uint64_t base = Address(step.saddr) + int64_t{step.immediate};
    const uint32_t* const offsets = Used(step.s0, Use::kStore);
    if (!load) Check(step.d, Use::kStore);
    uint32_t* const data = load ? Define(step.d, By::kMemory) : Lanes(step.d);
    if (load || m_.generation_ == 9) ++issued_;  // others count stores apart
    if (load && wrong_.empty()) cells_[step.d].load = issued_;
    for (int lane = 0; lane < m_.lanes_ && wrong_.empty(); ++lane) {
      uint32_t* const word = Word(base + offsets[lane]);
      if (word != nullptr) load ? data[lane] = *word : * word = data[lane];
    }
  }

  void Vector(const Step& step) {
    const uint32_t* from[2] = {};
    uint32_t same[2] = {};
    for (int i = 0; i < 2; ++i) {
      const int source = i == 0 ? step.s0 : step.s1;
      if (source >= 256) from[i] = Used(source - 256, Use::kVector);
      if (source < 256) same[i] = Source(source, step.literal);
    }
    uint32_t* const d = Define(step.d, By::kVector);
    for (int lane = 0; lane < m_.lanes_; ++lane) {
      const uint32_t a = from[0] != nullptr ? from[0][lane] : same[0];
      d[lane] = step.compute == kMove
                    ? a
                    : step.compute(a, from[1] != nullptr ? from[1][lane] : same[1], scc_);
    }
  }
  void Accumulator(const Step& step) {
    const bool to = step.op == kToAccumulator;
    const int source = step.s0 - 256 + (to ? 0 : kFirstAccumulator);
    if (step.s0 < 256) return Wrong("v_accvgpr of no register");
    const uint32_t* const from = Used(source, to ? Use::kMatrix : Use::kVector);
    uint32_t* const d =
        Define(step.d + (to ? kFirstAccumulator : 0), to ? By::kVector : By::kFromAccumulator);
    std::copy_n(from, m_.lanes_, d);
  }

  void Arithmetic(const Step& step) {
    const uint64_t a = Source(step.s0, step.literal), b = Source(step.s1, step.literal);
    const uint64_t d = step.compute == kMove ? a : step.compute(a, b, scc_);
    SetScalar(step.d, d);
    if (step.compute == kAdd || step.compute == kAddCarry) scc_ = d >> 32 & 1;
    if (step.compute == kShiftLeft || step.compute == kShiftRight || step.compute == kOr) {
      scc_ = static_cast<uint32_t>(d) != 0;
    }
  }

  void Do(const Step& step) {
    switch (step.op) {
      case kScalar:
        return Arithmetic(step);
      case kVector:
        return Vector(step);
      case kSetReg:
      case kGetReg:
        return Hardware(step);
      case kWait:
        return Wait(step.immediate);
      case kWaitLoads:
        return WaitLoads(step.immediate);
      case kWaitScalars:
        if (step.immediate == 0) loading_.reset();
        return;
      case kLoadScalars:
        return LoadScalars(step);
      case kLoad:
      case kStore:
        return Global(step);
      case kToAccumulator:
      case kFromAccumulator:
        return Accumulator(step);
      case kMatrix:
        if (absl::Status s = matrix_(step.matrix, mode_, *this); !s.ok()) Wrong(s.message());
        return;
      default:
        return;
    }
  }

  const FakeMachine& m_;
  const absl::string_view arguments_;
  const FakeMachine::Memory& memory_;
  const FakeMachine::Matrix& matrix_;
  std::string wrong_;
  uint32_t mode_ = 0, unit_ = 0;
  bool scc_ = false;
  uint32_t scalars_[128] = {};
  std::bitset<128> known_, loading_;
  std::vector<uint32_t> values_;  // [register][lane]
  Cell cells_[2 * kFirstAccumulator];
  int64_t now_ = 0, set_mode_ = 0;  // wait states since the start
  int64_t issued_ = 0, done_ = 0;   // loads
  uint64_t begin_ = 0, size_ = 0;   // the allocation of the last address
};

absl::Status FakeMachine::Run(unsigned grid, absl::string_view arguments, const Memory& memory,
                              int units, const Matrix& matrix) const {
  FakeWave wave(*this, arguments, memory, matrix);
  for (unsigned block = 0; block < grid; ++block) {
    if (absl::Status s = wave.Run(block, block % units); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace mmadiff
