#include "device/sass/warp.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "device/sass/memory.h"
#include "device/sass/opcodes.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

absl::Status Unknown(const Instruction& in) {
  return absl::UnimplementedError(absl::StrCat(in.name, " at ", absl::Hex(in.address)));
}

}  // namespace

Warp::Warp(Block& block, int first_thread, int threads) : Lanes(block, first_thread) {
  live_ = threads >= 32 ? ~0u : (1u << threads) - 1;
}

absl::Status Warp::Run() {
  while (true) {
    int at = -1;
    for (uint32_t left = live_; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (state_[lane] == kRunning && (at < 0 || position_[lane] < at)) at = position_[lane];
    }
    if (at < 0) {
      for (uint32_t left = live_; left != 0; left &= left - 1) {
        if (state_[std::countr_zero(left)] == kAtBarrier) {
          return absl::InternalError("lanes wait for each other");
        }
      }
      return absl::OkStatus();
    }
    uint32_t lanes = 0;
    for (uint32_t left = live_; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (state_[lane] == kRunning && position_[lane] == at) lanes |= 1u << lane;
    }
    if (static_cast<size_t>(at) >= block().program->instructions.size()) {
      return absl::InternalError("the end of the code was reached");
    }
    const Instruction& in = block().program->instructions[at];
    ++block().counts->instructions;
    for (uint32_t left = lanes; left != 0; left &= left - 1) ++position_[std::countr_zero(left)];
    RETURN_IF_ERROR(Step(in, lanes));
  }
}

absl::Status Warp::Step(const Instruction& in, uint32_t lanes) {
  const Op op = Opcodes()[in.opcode].op;
  const uint32_t guarded = Guard(in, lanes);
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
    default:
      return IsMemory(op) ? AccessMemory(in, guarded, *this) : Arithmetic(in, guarded);
  }
}

absl::Status Warp::Arithmetic(const Instruction& in, uint32_t lanes) {
  if (in.uniform()) lanes &= -lanes;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
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
      Operand to = in.results[0];
      const bool nowhere =
          to.index == (to.kind == Operand::kUniform ? kZeroUniform : kZeroRegister);
      Set(to, lane, static_cast<uint32_t>(out.value));
      ++to.index;
      if (WritesPair(in) && !nowhere) Set(to, lane, static_cast<uint32_t>(out.value >> 32));
    }
    for (size_t i = 0; i < in.flags.size() && i < 2; ++i) SetFlag(in.flags[i], lane, out.flag[i]);
  }
  return absl::OkStatus();
}

// What looks at other lanes, at predicates as bits, or at where the lane is.
absl::Status Warp::Exchange(const Instruction& in, uint32_t lanes) {
  const Op op = Opcodes()[in.opcode].op;
  const int first = std::countr_zero(lanes);
  if (op == Op::kReduceWarp && (in.has & (kOr | kSum)) == 0) return Unknown(in);
  uint32_t ballot = 0, reduced = 0, before[32];
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (op == Op::kReduceWarp) {
      const uint32_t x = static_cast<uint32_t>(Source(in.sources[0], lane, false));
      reduced = (in.has & kSum) != 0 ? reduced + x : reduced | x;
    }
    if (op == Op::kVote && Condition(in.conditions[0], lane)) ballot |= 1u << lane;
    if (op == Op::kShuffle)
      before[lane] = static_cast<uint32_t>(Source(in.sources[0], lane, false));
  }
  if (in.uniform() || op == Op::kToUniform || op == Op::kReduceWarp) lanes &= -lanes;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint32_t value = 0;
    if (op == Op::kReduceWarp) {
      value = reduced;
    } else if (op == Op::kVote) {
      value = ballot;
      if (!in.flags.empty()) {
        SetFlag(in.flags[0], lane, (in.has & kAll) != 0 ? ballot == lanes : ballot != 0);
      }
    } else if (op == Op::kShuffle) {
      const int with = static_cast<int>(Source(in.sources[1], lane, false)) & 31;
      const int from = (in.has & kIndex) != 0       ? with
                       : (in.has & kButterfly) != 0 ? lane ^ with
                       : (in.has & kDown) != 0      ? lane + with
                                                    : lane - with;
      const bool inside = from >= 0 && from < 32;
      value = before[inside ? from : lane];
      if (!in.flags.empty()) SetFlag(in.flags[0], lane, inside);
    } else if (op == Op::kToUniform) {
      value = static_cast<uint32_t>(Source(in.sources[0], first, false));
    } else if (op == Op::kPredicatesToRegister) {
      const uint32_t bits = Predicates(lane);
      const uint32_t mask = static_cast<uint32_t>(Source(in.sources[2], lane, false));
      value = (bits & mask) | (static_cast<uint32_t>(Source(in.sources[1], lane, false)) & ~mask);
    } else if (op == Op::kRegisterToPredicates) {
      const uint32_t bits = static_cast<uint32_t>(Source(in.sources[0], lane, false));
      const uint32_t mask = static_cast<uint32_t>(Source(in.sources[1], lane, false));
      for (int p = 0; p < 7; ++p) {
        Operand flag;
        flag.kind = Operand::kPredicate;
        flag.index = p;
        if (mask >> p & 1) SetFlag(flag, lane, bits >> p & 1);
      }
      continue;
    } else {
      value = Special(in.sources[0], lane);
      Operand high = in.results[0];
      ++high.index;
      if (WritesPair(in)) Set(high, lane, 0);
    }
    if (!in.results.empty()) Set(in.results[0], lane, value);
  }
  return absl::OkStatus();
}

void Warp::ReleaseBarrier(int barrier) {
  uint32_t waiting = 0, released = 0;
  for (uint32_t left = live_; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (state_[lane] == kAtBarrier && waits_for_[lane] == barrier) waiting |= 1u << lane;
  }
  for (uint32_t left = waiting; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if ((barriers_[barrier][lane] & live_ & ~waiting) == 0) released |= 1u << lane;
  }
  for (; released != 0; released &= released - 1) state_[std::countr_zero(released)] = kRunning;
}

absl::Status Warp::Control(const Instruction& in, uint32_t lanes) {
  for (const Operand& o : in.conditions) {  // BRA P0, label
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (!Condition(o, lane)) lanes &= ~(1u << lane);
    }
  }
  const int barrier = in.sources.empty() ? 0 : in.sources[0].index & 15;
  switch (Opcodes()[in.opcode].op) {
    case Op::kBranch:
    case Op::kCall:
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        position_[std::countr_zero(left)] = in.target;
      }
      break;
    case Op::kReturn:
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        position_[lane] = static_cast<int>(Register(in.sources[0].index, lane) / 16);
      }
      break;
    case Op::kExit:
      live_ &= ~lanes;
      for (int b = 0; b < 16; ++b) ReleaseBarrier(b);
      break;
    case Op::kSetBarrier:
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        barriers_[barrier][std::countr_zero(left)] = lanes;
      }
      break;
    case Op::kLeaveBarrier:
      for (uint32_t& waits_for : barriers_[barrier]) waits_for &= ~lanes;
      ReleaseBarrier(barrier);
      break;
    case Op::kWaitBarrier:
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        if ((barriers_[barrier][lane] >> lane & 1) == 0) continue;  // it left
        state_[lane] = kAtBarrier;
        waits_for_[lane] = barrier;
      }
      ReleaseBarrier(barrier);
      break;
    case Op::kBlock:
      for (uint32_t left = lanes; left != 0; left &= left - 1) {
        state_[std::countr_zero(left)] = kAtBlock;
      }
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
