#include "device/hip/testing/fake_machine.h"

#include <algorithm>
#include <bitset>
#include <string>

#include "absl/strings/str_cat.h"
#include "device/gpu/elf.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

using enum FakeStep::Op;

constexpr int kScalarRegisters = 106, kTtmp = 108, kBlockOfGfx12 = 117;  // ttmp9
constexpr int kMode = 1, kHwId = 4, kXccId = 20, kHwId1 = 23;            // hwreg()

// The wave of one block after the other. Kernels of ours have no branches, and EXEC is what it was: all
// lanes.
class FakeWave : public FakeRegisters {
 public:
  FakeWave(const FakeCode& code, absl::string_view arguments, const FakeMemory& memory,
           const FakeMatrixFunction& matrix)
      : code_(code),
        arguments_(arguments),
        memory_(memory),
        matrix_(matrix),
        values_(2 * kFirstAccumulator * code.lanes) {}

  absl::Status Run(unsigned block, unsigned unit) {
    std::fill(std::begin(cells_), std::end(cells_), Cell());
    known_.reset(), loading_.reset(), lost_.reset(), lanes_read_.reset();
    now_ = issued_ = done_ = 0, set_mode_ = -kLong;
    mode_ = code_.mode;
    unit_ = unit;
    const uint64_t address = reinterpret_cast<uint64_t>(arguments_.data());
    SetScalar(0, address), SetScalar(1, address >> 32);
    if (code_.user_scalars < 2) return absl::InternalError("no address of arguments");
    if (code_.generation == 12) {
      SetScalar(kBlockOfGfx12, block, true);
    } else if (code_.has_block) {
      SetScalar(code_.user_scalars, block);
    }
    // Other numbers may share v0 with that of the lane.
    for (int lane = 0; lane < code_.lanes; ++lane) values_[lane] = ~0x3ffu | lane;
    cells_[0].by = By::kMemory;
    for (const FakeStep& step : code_.steps) {
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
    words.resize(at + size_t(count) * code_.lanes);
    for (int r = 0; r < count; ++r) {
      const uint32_t* const from = Used(first + r, Use::kMatrix);
      for (int lane = 0; lane < code_.lanes; ++lane) words[at + lane * count + r] = from[lane];
    }
  }
  void Write(int first, int count, const uint32_t* words) override {
    for (int r = 0; r < count; ++r) {
      uint32_t* const to = Define(first + r, By::kMatrix);
      for (int lane = 0; lane < code_.lanes; ++lane) to[lane] = words[lane * count + r];
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
  uint32_t* Lanes(int r) { return &values_[wrong_.empty() ? size_t(r) * code_.lanes : 0]; }

  // Wait states that an earlier write of a register and this use need.
  int Needed(By by, Use use) const {
    if (code_.generation != 9) return 0;
    if (by == By::kMatrix) return 20;
    if (use == Use::kMatrix && (by == By::kVector || by == By::kFromAccumulator)) return 3;
    return use == Use::kStore && by == By::kFromAccumulator ? 2 : 0;
  }
  void Check(int r, Use use) {
    const bool accumulator = r >= kFirstAccumulator;
    const int number = accumulator ? r - kFirstAccumulator : r;
    const auto name = [&] { return absl::StrCat(accumulator ? "a" : "v", number); };
    if (number >= (accumulator ? code_.accumulators : code_.registers)) {
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
    if (lost_[s]) Wrong("what was written to s", s, " may be lost");
    return scalars_[s];
  }
  void SetScalar(int s, uint64_t value, bool at_start = false) {
    if (s >= kScalarRegisters && !at_start) return Wrong("writes s", s);  // VCC, EXEC, ...
    if (loading_[s]) Wrong("a load of s", s, " is outstanding");
    known_.set(s);
    lost_[s] = lanes_read_[s / 2];
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
    if (id == kHwId && code_.generation == 9) return ~0xff00u | unit_ << 8;
    if (id == kXccId && code_.generation == 9) return ~0xfu | unit_ % 2;
    if (id == kHwId1 && code_.generation != 9) return ~(0x7ffu << 10) | unit_ << 10;
    return Wrong("register ", id, " of the hardware"), 0;
  }
  void Hardware(const FakeStep& step) {
    const int id = step.immediate & 0x3f, offset = step.immediate >> 6 & 0x1f;
    const uint32_t bits = (2u << (step.immediate >> 11)) - 1;
    if (step.op == kGetReg) return SetScalar(step.d, Hardware(id) >> offset & bits);
    if (id != kMode) return Wrong("sets register ", id, " of the hardware");
    if (code_.generation == 9 && now_ - set_mode_ - 1 < 2) Wrong("MODE needs 2 wait states");
    set_mode_ = now_;
    mode_ = (mode_ & ~(bits << offset)) | (Scalar(step.s0) & bits) << offset;
  }

  void LoadScalars(const FakeStep& step) {
    const uint64_t from = Address(step.s0) + step.immediate;
    const uint64_t offset = from - reinterpret_cast<uint64_t>(arguments_.data());
    const size_t bytes = std::min<size_t>(code_.argument_bytes, arguments_.size());
    for (int i = 0; i < (step.op == kLoad4Scalars ? 4 : 8) && wrong_.empty(); ++i) {
      uint32_t word = 0;
      if (!ReadAt(arguments_.substr(0, bytes), offset + 4 * i, &word))
        Wrong("arguments end before");
      SetScalar(step.d + i, word);
      if (wrong_.empty()) loading_.set(step.d + i);
    }
  }
  void WaitLoads(int outstanding) { done_ = std::max(done_, issued_ - outstanding); }
  void Wait(int bits) {
    const bool gfx9 = code_.generation == 9;
    WaitLoads(gfx9 ? (bits & 0xf) | (bits >> 14 & 3) << 4 : bits >> 10 & 0x3f);
    const int scalars = gfx9 ? bits >> 8 & 0xf : bits >> 4 & 0x3f;
    if (scalars == 0) loading_.reset();  // they come in any order
  }

  void Global(const FakeStep& step) {
    const bool load = step.op == kLoad;
    const uint64_t base = Address(step.saddr) + int64_t{step.immediate};
    const uint32_t* const offsets = Used(step.s0, Use::kStore);
    if (!load) Check(step.d, Use::kStore);
    uint32_t* const data = load ? Define(step.d, By::kMemory) : Lanes(step.d);
    if (load || code_.generation == 9) ++issued_;  // others count stores apart
    if (load && wrong_.empty()) cells_[step.d].load = issued_;
    for (int lane = 0; lane < code_.lanes && wrong_.empty(); ++lane) {
      uint32_t* const word = Word(base + offsets[lane]);
      if (word == nullptr) return;
      if (load) data[lane] = *word;
      if (!load) *word = data[lane];
    }
  }

  void Vector(const FakeStep& step) {
    const uint32_t* from[2] = {};
    uint32_t same[2] = {};
    for (int i = 0; i < 2; ++i) {
      const int source = i == 0 ? step.s0 : step.s1;
      if (source >= 256) from[i] = Used(source - 256, Use::kVector);
      if (source < 256) same[i] = Source(source, step.literal);
      if (source < 128 && code_.generation == 12) lanes_read_.set(source / 2);
    }
    uint32_t* const d = Define(step.d, By::kVector);
    for (int lane = 0; lane < code_.lanes; ++lane) {
      const uint32_t a = from[0] != nullptr ? from[0][lane] : same[0];
      d[lane] = step.compute(a, from[1] != nullptr ? from[1][lane] : same[1], scc_);
    }
  }
  void Accumulator(const FakeStep& step) {
    const bool to = step.op == kToAccumulator;
    const int source = step.s0 - 256 + (to ? 0 : kFirstAccumulator);
    if (step.s0 < 256) return Wrong("v_accvgpr of no register");
    const uint32_t* const from = Used(source, to ? Use::kMatrix : Use::kVector);
    uint32_t* const d =
        Define(step.d + (to ? kFirstAccumulator : 0), to ? By::kVector : By::kFromAccumulator);
    std::copy_n(from, code_.lanes, d);
  }

  void Arithmetic(const FakeStep& step) {
    const uint64_t a = Source(step.s0, step.literal), b = Source(step.s1, step.literal);
    const uint64_t d = step.compute(a, b, scc_);
    SetScalar(step.d, d);
    if (step.scc == FakeStep::Scc::kCarry) scc_ = d >> 32 & 1;
    if (step.scc == FakeStep::Scc::kNotZero) scc_ = static_cast<uint32_t>(d) != 0;
  }

  void Do(const FakeStep& step) {
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
      case kLoad4Scalars:
      case kLoad8Scalars:
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

  const FakeCode& code_;
  const absl::string_view arguments_;
  const FakeMemory& memory_;
  const FakeMatrixFunction& matrix_;
  std::string wrong_;
  uint32_t mode_ = 0, unit_ = 0;
  bool scc_ = false;
  uint32_t scalars_[128] = {};
  std::bitset<128> known_, loading_, lost_;
  std::bitset<64> lanes_read_;    // pairs of scalar registers
  std::vector<uint32_t> values_;  // [register][lane]
  Cell cells_[2 * kFirstAccumulator];
  int64_t now_ = 0, set_mode_ = 0;  // wait states since the start
  int64_t issued_ = 0, done_ = 0;   // loads
  uint64_t begin_ = 0, size_ = 0;   // the allocation of the last address
};

}  // namespace

absl::Status RunFake(const FakeCode& code, unsigned grid, absl::string_view arguments,
                     const FakeMemory& memory, int units, const FakeMatrixFunction& matrix) {
  FakeWave wave(code, arguments, memory, matrix);
  for (unsigned block = 0; block < grid; ++block) {
    RETURN_IF_ERROR(wave.Run(block, block % units));
  }
  return absl::OkStatus();
}

}  // namespace mmadiff
