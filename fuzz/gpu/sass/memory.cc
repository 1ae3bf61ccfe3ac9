// Loads, stores and atomics of a warp, and what they cost.
#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "absl/strings/str_cat.h"
#include "fuzz/gpu/sass/warp.h"

namespace mmadiff::sass {

int Warp::SizeOf(const Instruction& in) const {
  if ((in.has & k128) != 0) return 16;
  if ((in.has & k64) != 0) return 8;
  if ((in.has & (kU8 | kS8)) != 0) return 1;
  return (in.has & (kU16 | kS16)) != 0 ? 2 : 4;
}

uint8_t* Warp::Locate(uint64_t address, int lane, int bytes) {
  const uint64_t local = address - kLocalWindow;
  if (local < kLocalBytes) return local_.data() + size_t{kLocalBytes} * lane + local;
  return address < 4096 || address + bytes < address ? nullptr
                                                     : reinterpret_cast<uint8_t*>(address);
}

// The distinct words of each bank, for as many lanes at once as 128 bytes serve.
void Warp::CountShared(const Instruction& in, uint32_t lanes) {
  const int bytes = SizeOf(in), at_once = 32 * 4 / std::max(4, bytes);
  const Operand& at = in.results.empty() ? in.sources[0] : in.sources[0];
  for (int first = 0; first < 32; first += at_once) {
    std::set<uint64_t> words[32];
    size_t most = 0;
    for (int lane = first; lane < first + at_once; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      for (int b = 0; b < bytes; b += 4) {
        const uint64_t word = (Address(at, lane) + b) / 4;
        words[word % 32].insert(word);
        most = std::max(most, words[word % 32].size());
      }
    }
    block_.counts->shared_wavefronts += most;
  }
}

void Warp::CountGlobal(const Instruction& in, uint32_t lanes) {
  std::set<uint64_t> lines, sectors;
  uint64_t local = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t address = Address(in.sources[0], lane);
    if (address - kLocalWindow < kLocalBytes) {
      ++local;
      continue;
    }
    for (int b = 0; b < SizeOf(in); b += 4) {
      lines.insert((address + b) / 128);
      sectors.insert((address + b) / 32);
    }
  }
  // Local memory is laid out so that the same byte of 32 lanes is one line for each 4 bytes.
  if (local != 0) block_.counts->local_lines += std::max(1, SizeOf(in) / 4);
  block_.counts->global_lines += lines.size();
  block_.counts->global_sectors += sectors.size();
}

absl::Status Warp::Global(const Instruction& in, uint32_t lanes) {
  const Op op = Opcodes()[in.opcode].op;
  const int bytes = SizeOf(in);
  CountGlobal(in, lanes);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint8_t* const at = Locate(Address(in.sources[0], lane), lane, bytes);
    if (at == nullptr) {
      return absl::InternalError(absl::StrCat(
          in.name, " at ", absl::Hex(in.address),
          " reaches outside of memory: ", absl::Hex(Address(in.sources[0], lane)), " lane ", lane));
    }
    uint32_t words[4] = {};
    if (op == Op::kStore) {
      for (int w = 0; w < 4 && 4 * w < bytes; ++w) {
        Operand from = in.sources[1];
        if (from.index != kZeroRegister) from.index += w;
        words[w] = static_cast<uint32_t>(Source(from, lane, false));
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
        Set(to, lane, words[w]);
      }
    }
    if (op == Op::kLoad) continue;
    ++block_.counts->atomics;
    uint64_t old = 0;
    std::memcpy(&old, at, bytes);
    const uint64_t operand = Source(in.sources[1], lane, bytes == 8);
    const uint64_t now = (in.has & kAdd) != 0 ? old + operand : old | operand;
    std::memcpy(at, &now, bytes);
  }
  return absl::OkStatus();
}

absl::Status Warp::Memory(const Instruction& in, uint32_t lanes) {
  const Op op = Opcodes()[in.opcode].op;
  if (op == Op::kLoad || op == Op::kStore || op == Op::kReduce || op == Op::kAtomic) {
    return Global(in, lanes);
  }
  if (op == Op::kShuffle) return absl::OkStatus();
  if (in.uniform()) lanes &= -lanes;
  const bool shared = op == Op::kLoadShared || op == Op::kStoreShared;
  const bool loads = op != Op::kStoreShared && op != Op::kStoreLocal;
  const int bytes = SizeOf(in);
  if (shared) CountShared(in, lanes);
  if (op == Op::kLoadLocal || op == Op::kStoreLocal) {
    block_.counts->local_lines += std::max(1, bytes / 4);
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const Operand& source = in.sources[0];
    const uint64_t address = Address(source, lane);
    const uint64_t end = shared                    ? block_.shared.size()
                         : op == Op::kLoadConstant ? block_.constants->size()
                                                   : kLocalBytes;
    if (address + bytes > end || (shared && address < kSharedAt) || address % bytes != 0) {
      return absl::InternalError(
          absl::StrCat(in.name, " at ", absl::Hex(in.address), " reaches outside: ", address));
    }
    uint8_t* const at = shared ? block_.shared.data() + address
                        : op == Op::kLoadConstant
                            ? const_cast<uint8_t*>(block_.constants->data()) + address
                            : local_.data() + size_t{kLocalBytes} * lane + address;
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
      if (loads && o.index != zero) Set(o, lane, words[w]);
      if (!loads) words[w] = static_cast<uint32_t>(Source(o, lane, false));
    }
    if (!loads) std::memcpy(at, words, bytes);
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
