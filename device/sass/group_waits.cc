#include "device/sass/group_waits.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "device/sass/memory.h"
#include "device/sass/opcodes.h"
#include "device/status_macros.h"

namespace mmadiff::sass {
namespace {

std::string LineOf(const Instruction& in) {
  return absl::StrCat(in.text, " at 0x", absl::Hex(in.address));
}

}  // namespace

absl::Status GroupWaits::CheckRegisters(const Instruction& in, const Uses& uses,
                                        const WarpState& own) const {
  constexpr char kArrival[] = ", without WARPGROUP.ARRIVE in between";
  for (const auto* const some : {&uses.reads, &uses.writes}) {
    for (const Storage& s : *some) {
      const auto written = own.written.find(s.index);
      if (s.kind != Operand::kRegister || written == own.written.end()) continue;
      return absl::InternalError(absl::StrCat(LineOf(in), " uses ", NameOf(s), ", which ",
                                              LineOf(*written->second), " writes", kArrival));
    }
  }
  if (own.arrived) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(LineOf(in), " comes without WARPGROUP.ARRIVE before it"));
}

std::string GroupWaits::MissingAfter(const SharedWrite& write, const WarpState& reader) {
  for (const Fence& fence : reader.fences) {
    if (fence.lanes == ~0u && fence.begun_after > write.after && fence.done_after >= 0) return "";
  }
  std::string missing = "FENCE.VIEW.ASYNC in between";
  for (size_t i = write.fences; i < write.warp->fences.size(); ++i) {
    const Fence& fence = write.warp->fences[i];
    if ((fence.lanes >> write.lane & 1) == 0) continue;
    const bool done = fence.done_after >= 0;
    if (done && reader.barriers > fence.done_after) return "";
    missing = (done ? "a barrier after " : "waiting for ") + LineOf(*fence.in);
  }
  return missing;
}

absl::Status GroupWaits::CheckShared(const Instruction& in, const WarpState& own,
                                     const Memory& memory, Lanes& warp) const {
  const std::optional<GroupMatrix> matrix = natives_.GroupMatrixOf(in.form);
  if (!matrix.has_value()) return absl::OkStatus();  // its execution is an error
  ASSIGN_OR_RETURN(GroupMatrix::Words words, matrix->SharedWords(in, warp));
  words.a.insert(words.a.end(), words.b.begin(), words.b.end());
  for (const uint32_t word : words.a) {
    const auto written = memory.find(word);
    if (written == memory.end()) continue;
    const SharedWrite& write = written->second;
    const std::string missing = MissingAfter(write, own);
    if (missing.empty()) continue;
    return absl::InternalError(absl::StrCat(LineOf(in), " reads shared memory, which ",
                                            LineOf(*write.in), " writes, without ", missing));
  }
  return absl::OkStatus();
}

absl::Status GroupWaits::Before(const Instruction& in, uint32_t lanes, const Uses& uses,
                                Lanes& warp, absl::FunctionRef<bool(const Instruction&)> pending) {
  WarpState& own = warps_[{warp.block().number, &warp}];
  Memory& memory = memories_[warp.block().number];
  for (Fence& fence : own.fences) {
    if (fence.done_after < 0 && !pending(*fence.in)) fence.done_after = own.barriers;
  }
  if (lanes == 0) return absl::OkStatus();
  switch (Opcodes()[in.opcode].op) {
    case Op::kGroupMatrix:
      RETURN_IF_ERROR(CheckRegisters(in, uses, own));
      return CheckShared(in, own, memory, warp);
    case Op::kWarpgroup:
      if ((in.has & kArrive) == 0) break;
      own.arrived = true;
      std::erase_if(own.written, [&](const auto& w) { return !pending(*w.second); });
      break;
    case Op::kFence:
      own.fences.push_back({&in, lanes, own.barriers});
      break;
    case Op::kBlock:
      ++own.barriers;
      break;
    case Op::kStoreShared:
      for (const int lane : LanesIn(lanes)) {
        const uint64_t address = warp.Address(in.sources[0], lane);
        for (int byte = 0; byte < AccessedBytes(in); byte += 4) {
          memory[static_cast<uint32_t>((address + byte) / 4)] = {&in, &own, lane, own.barriers,
                                                                 own.fences.size()};
        }
      }
      break;
    default:
      break;
  }
  for (const Storage& s : uses.writes) {
    if (s.kind == Operand::kRegister) own.written[s.index] = &in;
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
