#include "device/sass/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "device/sass/lanes.h"
#include "device/sass/opcodes.h"

namespace mmadiff::sass {
namespace {

// Bytes of an access of one lane.
int SizeOf(const Instruction& in) {
  if ((in.has & k128) != 0) return 16;
  if ((in.has & k64) != 0) return 8;
  if ((in.has & (kU8 | kS8)) != 0) return 1;
  return (in.has & (kU16 | kS16)) != 0 ? 2 : 4;
}

// Where a generic address lies here; nullptr: nowhere.
uint8_t* Locate(Lanes& warp, uint64_t address, int lane, int bytes) {
  const uint64_t local = address - kLocalWindow;
  if (local < kLocalBytes) return warp.Local(lane) + local;
  return address < 4096 || address + bytes < address ? nullptr
                                                     : reinterpret_cast<uint8_t*>(address);
}

absl::Status AccessGlobal(const Instruction& in, uint32_t lanes, Lanes& warp) {
  const Op op = Opcodes()[in.opcode].op;
  const int bytes = SizeOf(in);
  bool local = false;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t address = warp.Address(in.sources[0], lane);
    uint8_t* const at = Locate(warp, address, lane, bytes);
    if (at == nullptr) {
      return absl::InternalError(absl::StrCat(in.name, " at ", absl::Hex(in.address),
                                              " reaches outside of memory: ", absl::Hex(address),
                                              " lane ", lane));
    }
    local |= address - kLocalWindow < kLocalBytes;
    uint32_t words[4] = {};
    if (op == Op::kStore) {
      for (int w = 0; w < 4 && 4 * w < bytes; ++w) {
        Operand from = in.sources[1];
        if (from.index != kZeroRegister) from.index += w;
        words[w] = static_cast<uint32_t>(warp.Source(from, lane, false));
      }
      std::memcpy(at, words, bytes);
      continue;
    }
    std::memcpy(words, at, bytes);
    if (op != Op::kReduce) {
      if ((in.has & kS8) != 0) words[0] = static_cast<int8_t>(words[0]);
      if ((in.has & kS16) != 0) words[0] = static_cast<int16_t>(words[0]);
      for (int w = 0; w < 4 && 4 * w < bytes; ++w) {
        Operand to = in.results[0];
        if (to.index == kZeroRegister) break;
        to.index += w;
        warp.Set(to, lane, words[w]);
      }
    }
    if (op == Op::kLoad) continue;
    uint64_t old = 0;
    std::memcpy(&old, at, bytes);
    const uint64_t operand = warp.Source(in.sources[1], lane, bytes == 8);
    const uint64_t now = (in.has & kAdd) != 0 ? old + operand : old | operand;
    std::memcpy(at, &now, bytes);
  }
  warp.block().counts->local_accesses += local;
  return absl::OkStatus();
}

}  // namespace

absl::Status AccessMemory(const Instruction& in, uint32_t lanes, Lanes& warp) {
  const Op op = Opcodes()[in.opcode].op;
  if (op == Op::kLoad || op == Op::kStore || op == Op::kReduce || op == Op::kAtomic) {
    return AccessGlobal(in, lanes, warp);
  }
  if (in.uniform()) lanes &= -lanes;
  const bool shared = op == Op::kLoadShared || op == Op::kStoreShared;
  const bool loads = op != Op::kStoreShared && op != Op::kStoreLocal;
  const int bytes = SizeOf(in);
  warp.block().counts->local_accesses += op == Op::kLoadLocal || op == Op::kStoreLocal;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Operand& source = in.sources[0];
    const uint64_t address = warp.Address(source, lane);
    const uint64_t end = shared                    ? warp.block().shared.size()
                         : op == Op::kLoadConstant ? warp.block().constants->size()
                                                   : kLocalBytes;
    if (address + bytes > end || (shared && address < kSharedAt) || address % bytes != 0) {
      return absl::InternalError(
          absl::StrCat(in.name, " at ", absl::Hex(in.address), " reaches outside: ", address));
    }
    uint8_t* const at = shared ? warp.block().shared.data() + address
                        : op == Op::kLoadConstant
                            ? const_cast<uint8_t*>(warp.block().constants->data()) + address
                            : warp.Local(lane) + address;
    uint32_t words[4] = {};
    if (loads) {
      std::memcpy(words, at, bytes);
      if ((in.has & kS8) != 0) words[0] = static_cast<int8_t>(words[0]);
      if ((in.has & kS16) != 0) words[0] = static_cast<int16_t>(words[0]);
    }
    for (int w = 0; w < 4 && 4 * w < std::max(bytes, 4); ++w) {
      Operand o = loads ? in.results[0] : in.sources[1];
      const int zero = o.kind == Operand::kUniform ? kZeroUniform : kZeroRegister;
      if (o.index != zero) o.index += w;
      if (loads && o.index != zero) warp.Set(o, lane, words[w]);
      if (!loads) words[w] = static_cast<uint32_t>(warp.Source(o, lane, false));
    }
    if (!loads) std::memcpy(at, words, bytes);
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
