#include "device/sass/warp.h"

#include "absl/strings/str_cat.h"
#include "device/sass/memory.h"
#include "device/sass/natives.h"
#include "device/sass/opcodes.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

absl::Status Unknown(const Instruction& in) {
  return absl::UnimplementedError(absl::StrCat(in.form, " at 0x", absl::Hex(in.address),
                                               " is not supported with these operands"));
}

}  // namespace

// shfl of the PTX ISA: bits 12:8 of the third operand are equal in all lanes of a segment, bits 4:0 are
// the last lane of each segment, for UP the first.
std::optional<int> ShuffledFrom(const Instruction& in, int lane, const Lanes& warp) {
  const int with = static_cast<int>(warp.Source(in.sources[1], lane, false)) & 31;
  const int limits = static_cast<int>(warp.Source(in.sources[2], lane, false));
  const int mask = limits >> 8 & 31, end = (lane & mask) | (limits & 31 & ~mask);
  const int from = (in.has & kIndex) != 0       ? (lane & mask) | (with & ~mask)
                   : (in.has & kButterfly) != 0 ? lane ^ with
                   : (in.has & kDown) != 0      ? lane + with
                                                : lane - with;
  const bool up = (in.has & (kIndex | kButterfly | kDown)) == 0;
  return (up ? from >= end : from <= end) ? std::optional(from) : std::nullopt;
}

Warp::Warp(Block& block, int first_thread, int threads) : Lanes(block, first_thread) {
  live_ = threads >= 32 ? ~0u : (1u << threads) - 1;
}

absl::Status Warp::Run() {
  while (true) {
    int at = -1;
    for (const int lane : LanesIn(live_)) {
      if (state_[lane] == kRunning && (at < 0 || position_[lane] < at)) at = position_[lane];
    }
    if (at < 0) {
      for (const int lane : LanesIn(live_)) {
        if (state_[lane] == kAtBarrier) return absl::InternalError("lanes wait for each other");
      }
      return absl::OkStatus();
    }
    uint32_t lanes = 0;
    for (const int lane : LanesIn(live_)) {
      if (state_[lane] == kRunning && position_[lane] == at) lanes |= 1u << lane;
    }
    if (static_cast<size_t>(at) >= block().program->instructions.size()) {
      return absl::InternalError("execution reached the end of the code");
    }
    const Instruction& in = block().program->instructions[at];
    if (++block().counts->instructions > block().most_instructions) {
      return absl::ResourceExhaustedError(
          absl::StrCat("more than ", block().most_instructions, " instructions"));
    }
    for (const int lane : LanesIn(lanes)) ++position_[lane];
    RETURN_IF_ERROR(Step(in, lanes));
  }
}

absl::Status Warp::Step(const Instruction& in, uint32_t lanes) {
  const uint32_t guarded = Guard(in, lanes);
  Observer* const observer = block().observer;
  if (observer == nullptr) return StepGuarded(in, guarded);
  RETURN_IF_ERROR(observer->Before(in, lanes, guarded, *this));
  RETURN_IF_ERROR(StepGuarded(in, guarded));
  return observer->After(in, *this);
}

absl::Status Warp::StepGuarded(const Instruction& in, uint32_t guarded) {
  const Op op = Opcodes()[in.opcode].op;
  if (IsControl(op)) return Control(in, guarded);
  if (guarded == 0) return absl::OkStatus();
  switch (op) {
    case Op::kVote:
    case Op::kReduceWarp:
    case Op::kShuffle:
    case Op::kToUniform:
    case Op::kPredicatesToRegister:
    case Op::kRegisterToPredicates:
    case Op::kSpecialRegister:
      return Exchange(in, guarded);
    case Op::kNative:
      return block().natives == nullptr ? Unknown(in)
                                        : block().natives->Execute(in, guarded, *this);
    case Op::kGroupMatrix:
      RETURN_IF_ERROR(TakePartInGroup(in, guarded));
      return block().natives == nullptr ? Unknown(in)
                                        : block().natives->Execute(in, guarded, *this);
    case Op::kMoveMatrix:
      return MoveMatrix(in, guarded);
    default:
      return IsMemory(op) ? AccessMemory(in, guarded, *this) : Arithmetic(in, guarded);
  }
}

absl::Status Warp::Arithmetic(const Instruction& in, uint32_t lanes) {
  if (in.uniform()) lanes &= -lanes;
  for (const int lane : LanesIn(lanes)) {
    Inputs x = {};
    Outputs out;
    for (size_t i = 0; i < in.sources.size() && i < 4; ++i) {
      x.source[i] = Source(in.sources[i], lane, ReadsPair(in, static_cast<int>(i)));
    }
    for (size_t i = 0; i < in.conditions.size() && i < 4; ++i) {
      x.condition[i] = Condition(in.conditions[i], lane);
    }
    if (!Compute(in, x, out)) return Unknown(in);
    if (!in.results.empty()) {
      Set(in.results[0], lane, static_cast<uint32_t>(out.value));
      const auto high = static_cast<uint32_t>(out.value >> 32);
      if (WritesPair(in)) Set(WordOf(in.results[0], 1), lane, high);
    }
    for (size_t i = 0; i < in.flags.size() && i < 2; ++i) SetFlag(in.flags[i], lane, out.flag[i]);
  }
  return absl::OkStatus();
}

// Instructions that use other lanes, predicates as bits, or the position of the lane.
absl::Status Warp::Exchange(const Instruction& in, uint32_t lanes) {
  const Op op = Opcodes()[in.opcode].op;
  const bool once = in.uniform() || op == Op::kToUniform || op == Op::kReduceWarp;
  const uint32_t writers = once ? lanes & -lanes : lanes;
  const auto source = [&](int i, int lane) {
    return static_cast<uint32_t>(Source(in.sources[i], lane, false));
  };
  uint32_t all = 0;  // result over all lanes
  if (op == Op::kReduceWarp && (in.has & (kOr | kSum)) == 0) return Unknown(in);
  for (const int lane : LanesIn(lanes)) {
    if (op == Op::kReduceWarp) {
      all = (in.has & kSum) != 0 ? all + source(0, lane) : all | source(0, lane);
    }
    if (op == Op::kVote) all |= uint32_t{Condition(in.conditions[0], lane)} << lane;
  }
  uint32_t value[32] = {};
  for (const int lane : LanesIn(writers)) {
    value[lane] = all;
    if (op == Op::kVote && !in.flags.empty()) {
      SetFlag(in.flags[0], lane, (in.has & kAll) != 0 ? all == lanes : all != 0);
    } else if (op == Op::kShuffle) {
      const std::optional<int> from = ShuffledFrom(in, lane, *this);
      value[lane] = source(0, from.value_or(lane));
      if (!in.flags.empty()) SetFlag(in.flags[0], lane, from.has_value());
    } else if (op == Op::kToUniform) {
      value[lane] = source(0, lane);
    } else if (op == Op::kPredicatesToRegister) {
      const uint32_t mask = source(2, lane);
      value[lane] = (Predicates(lane) & mask) | (source(1, lane) & ~mask);
    } else if (op == Op::kRegisterToPredicates) {
      SetPredicates(lane, source(0, lane), source(1, lane));
    } else if (op == Op::kSpecialRegister) {
      value[lane] = Special(in.sources[0], lane);
    }
  }
  if (in.results.empty() || op == Op::kRegisterToPredicates) return absl::OkStatus();
  for (const int lane : LanesIn(writers)) {
    Set(in.results[0], lane, value[lane]);
    if (WritesPair(in)) Set(WordOf(in.results[0], 1), lane, 0);
  }
  return absl::OkStatus();
}

// Lane 4 g + t holds row g of a matrix of 8 rows. MT88: columns 2 t and 2 t + 1 of 16 bits; transposes.
// U4TO8.M832: nibbles of k = 8 t to 8 t + 7 become bytes of k = 4 t to 4 t + 3 and of 16 + 4 t to
// 16 + 4 t + 3 in two registers. NVIDIA documents neither; the emulated rows of b1 and the wmma of
// transposed matrices give exact results with them (fuzz/unit/sass_device_test.cc).
absl::Status Warp::MoveMatrix(const Instruction& in, uint32_t lanes) {
  if (lanes != ~0u || in.sources.size() != 1) return Unknown(in);
  const auto from = [&](int row, int word) {
    return Register(in.sources[0].index, 4 * row + word);
  };
  uint32_t first[32] = {}, second[32] = {};
  for (int lane = 0; lane < 32; ++lane) {
    const int g = lane / 4, t = lane % 4;
    if ((in.has & kNibbles) == 0) {
      for (int half = 0; half < 2; ++half) {
        first[lane] |= (from(2 * t + half, g / 2) >> 16 * (g % 2) & 0xffff) << 16 * half;
      }
      continue;
    }
    for (int j = 0; j < 4; ++j) {
      const auto nibble = [&](int k) { return from(g, k / 8) >> 4 * (k % 8) & 15; };
      first[lane] |= nibble(4 * t + j) << 8 * j;
      second[lane] |= nibble(16 + 4 * t + j) << 8 * j;
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    Set(in.results[0], lane, first[lane]);
    if ((in.has & kNibbles) != 0) Set(WordOf(in.results[0], 1), lane, second[lane]);
  }
  return absl::OkStatus();
}

absl::Status Warp::TakePartInGroup(const Instruction& in, uint32_t lanes) {
  if (lanes != ~0u) {
    return absl::InternalError(absl::StrCat(in.form, " at 0x", absl::Hex(in.address),
                                            " is not executed by all lanes of a warp"));
  }
  block().group_steps[number()].push_back(in.address);
  return absl::OkStatus();
}

void Warp::ReleaseBarrier(int barrier) {
  uint32_t waiting = 0, released = 0;
  for (const int lane : LanesIn(live_)) {
    if (state_[lane] == kAtBarrier && waits_for_[lane] == barrier) waiting |= 1u << lane;
  }
  for (const int lane : LanesIn(waiting)) {
    if ((barriers_[barrier][lane] & live_ & ~waiting) == 0) released |= 1u << lane;
  }
  for (const int lane : LanesIn(released)) state_[lane] = kRunning;
}

absl::Status Warp::Control(const Instruction& in, uint32_t lanes) {
  for (const Operand& o : in.conditions) {  // BRA P0, label
    for (const int lane : LanesIn(lanes)) {
      if (!Condition(o, lane)) lanes &= ~(1u << lane);
    }
  }
  const int barrier = in.sources.empty() ? 0 : in.sources[0].index & 15;
  switch (Opcodes()[in.opcode].op) {
    case Op::kBranch:
    case Op::kCall:
      for (const int lane : LanesIn(lanes)) position_[lane] = in.target;
      break;
    case Op::kReturn:
      for (const int lane : LanesIn(lanes)) {
        const uint64_t address = Source(in.sources[0], lane, true), at = address / 16;
        const std::vector<Instruction>& all = block().program->instructions;
        if (at >= all.size() || static_cast<uint64_t>(all[at].address) != address) {
          return absl::InternalError(
              absl::StrCat(in.form, " at 0x", absl::Hex(in.address),
                           " returns to no instruction: ", absl::Hex(address)));
        }
        position_[lane] = static_cast<int>(at);
      }
      break;
    case Op::kExit:
      live_ &= ~lanes;
      for (int b = 0; b < 16; ++b) ReleaseBarrier(b);
      break;
    case Op::kSetBarrier:
      for (const int lane : LanesIn(lanes)) barriers_[barrier][lane] = lanes;
      break;
    case Op::kLeaveBarrier:
      for (uint32_t& waits_for : barriers_[barrier]) waits_for &= ~lanes;
      ReleaseBarrier(barrier);
      break;
    case Op::kWaitBarrier:
      for (const int lane : LanesIn(lanes)) {
        if ((barriers_[barrier][lane] >> lane & 1) == 0) continue;  // it left
        state_[lane] = kAtBarrier;
        waits_for_[lane] = barrier;
      }
      ReleaseBarrier(barrier);
      break;
    case Op::kWarpgroup:
      if (lanes != 0) return TakePartInGroup(in, lanes);
      break;
    case Op::kBlock:
      for (const int lane : LanesIn(lanes)) state_[lane] = kAtBlock;
      break;
    default:
      break;
  }
  return absl::OkStatus();
}

void Warp::Release() {
  for (State& state : state_) {
    if (state == kAtBlock) state = kRunning;
  }
}

}  // namespace mmadiff::sass
