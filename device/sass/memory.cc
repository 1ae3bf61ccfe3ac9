#include "device/sass/memory.h"

#include <cstring>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "device/sass/lanes.h"
#include "device/sass/opcodes.h"

namespace mmadiff::sass {
namespace {

// The host location of an address; nullptr if there is no such memory, or the address is not
// aligned in shared, constant or local memory.
uint8_t* Locate(Op op, uint64_t address, int lane, int bytes, Lanes& warp) {
  Block& block = warp.block();
  const auto within = [bytes](const uint8_t* memory, uint64_t at, uint64_t begin, uint64_t end) {
    const bool inside = at >= begin && at <= end - bytes && at % bytes == 0;
    return inside ? const_cast<uint8_t*>(memory) + at : nullptr;
  };
  switch (op) {
    case Op::kLoadShared:
    case Op::kStoreShared:
      return within(block.shared.data(), address, kSharedAt, block.shared.size());
    case Op::kLoadConstant:
      return within(block.constants->data(), address, 0, block.constants->size());
    case Op::kLoadLocal:
    case Op::kStoreLocal:
      return within(warp.Local(lane), address, 0, kLocalBytes);
    default:  // a generic address
      break;
  }
  const uint64_t local = address - kLocalWindow;
  if (local < kLocalBytes) return within(warp.Local(lane), local, 0, kLocalBytes);
  if (address < 4096 || address + bytes < address) return nullptr;
  const bool allowed =
      block.memory.empty() || absl::c_any_of(block.memory, [&](const MemoryRange& m) {
        const auto begin = reinterpret_cast<uint64_t>(m.begin);
        return address >= begin && address + bytes <= begin + m.bytes;
      });
  return allowed ? reinterpret_cast<uint8_t*>(address) : nullptr;
}

}  // namespace

int AccessedBytes(const Instruction& in) {
  if ((in.has & k128) != 0) return 16;
  if ((in.has & k64) != 0) return 8;
  if ((in.has & (kU8 | kS8)) != 0) return 1;
  return (in.has & (kU16 | kS16)) != 0 ? 2 : 4;
}

absl::Status AccessMemory(const Instruction& in, uint32_t lanes, Lanes& warp) {
  const Op op = Opcodes()[in.opcode].op;
  const bool stores = op == Op::kStore || op == Op::kStoreShared || op == Op::kStoreLocal;
  const int bytes = AccessedBytes(in), words = (bytes + 3) / 4;
  const Operand& data = stores ? in.sources[1] : in.results.empty() ? in.sources[0] : in.results[0];
  if (data.kind == Operand::kRegister && data.index != kZeroRegister && data.index % words != 0) {
    return absl::InternalError(absl::StrCat(in.text, " at 0x", absl::Hex(in.address), ": R",
                                            data.index, " is not a multiple of ", words));
  }
  bool local = op == Op::kLoadLocal || op == Op::kStoreLocal;
  if (in.uniform()) lanes &= -lanes;
  for (const int lane : LanesIn(lanes)) {
    const uint64_t address = warp.Address(in.sources[0], lane);
    uint8_t* const at = Locate(op, address, lane, bytes, warp);
    if (at == nullptr) {
      return absl::InternalError(absl::StrCat(in.form, " at 0x", absl::Hex(in.address),
                                              " reaches outside of memory: ", absl::Hex(address),
                                              " lane ", lane));
    }
    if (address % bytes != 0) {
      return absl::InternalError(absl::StrCat(in.form, " at 0x", absl::Hex(in.address),
                                              " has a misaligned address: ", absl::Hex(address),
                                              " lane ", lane));
    }
    local |= address - kLocalWindow < kLocalBytes;
    uint32_t word[4] = {};
    if (stores) {
      for (int w = 0; w < words; ++w) {
        word[w] = static_cast<uint32_t>(warp.Source(WordOf(in.sources[1], w), lane, false));
      }
      std::memcpy(at, word, bytes);
      continue;
    }
    std::memcpy(word, at, bytes);
    if (op == Op::kReduce || op == Op::kAtomic) {
      uint64_t old = 0;
      std::memcpy(&old, at, bytes);
      const uint64_t operand = warp.Source(in.sources[1], lane, bytes == 8);
      const uint64_t now = (in.has & kAdd) != 0 ? old + operand : old | operand;
      std::memcpy(at, &now, bytes);
    }
    if (op == Op::kReduce) continue;
    if ((in.has & kS8) != 0) word[0] = static_cast<int8_t>(word[0]);
    if ((in.has & kS16) != 0) word[0] = static_cast<int16_t>(word[0]);
    for (int w = 0; w < words; ++w) warp.Set(WordOf(in.results[0], w), lane, word[w]);
  }
  warp.block().counts->local_accesses += local;
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
