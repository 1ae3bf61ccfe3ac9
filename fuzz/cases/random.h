// Random bits of one case: Philox4x32-10 (Random123) in counter mode, so that the bits of a case
// are a pure function of its name and cases can be made in any order, anywhere.
#pragma once

#include <Random123/philox.h>

#include <cstdint>

#include "sim/host_device.h"

namespace mmadiff {

// The bytes of the blocks in order; a draw of n bits takes the next ceil(n/8) bytes. What is left
// of the last 8 bytes of a group of blocks is dropped.
class Random {
 public:
  MMADIFF_HD Random(uint64_t seed, uint32_t stream, uint64_t index)
      : counter_{{0, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream}},
        key_{{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}} {}

  // `n` fresh random bits, 0 <= n <= 64.
  MMADIFF_HD uint64_t Bits(int n) {
    if (position_ > kBytes - 8) Refill();
    // Eight bytes from any byte on: two aligned words, for GPUs have no other loads.
    const int word = position_ / 8, shift = position_ % 8 * 8;
    const uint64_t bits = words_[word] >> shift | words_[word + 1] << 1 << (63 - shift);
    position_ += (n + 7) / 8;
    return bits & (n == 64 ? ~0ull : (1ull << n) - 1);
  }
  // 0 .. n-1, 1 <= n <= 4096. No value is more than 1/16 likelier than another.
  MMADIFF_HD int Below(int n) {
    return static_cast<int>((Bits(16) * static_cast<uint64_t>(n)) >> 16);
  }
  // low .. high, both included.
  MMADIFF_HD int Between(int low, int high) { return low + Below(high - low + 1); }
  // True once in n.
  MMADIFF_HD bool OneIn(int n) { return Below(n) == 0; }
  MMADIFF_HD bool Coin() { return Bits(1); }

 private:
  // Blocks made at a time: independent work that hides the latency of the rounds.
  static constexpr int kBlocks = 4;
  static constexpr int kBytes = 16 * kBlocks;

  MMADIFF_HD_CALL void Refill() {
    r123::Philox4x32 philox;
    for (int i = 0; i < kBlocks; ++i) {
      const auto block = philox(counter_, key_);
      for (int half = 0; half < 2; ++half) {
        words_[2 * i + half] = block.v[2 * half] | static_cast<uint64_t>(block.v[2 * half + 1])
                                                       << 32;
      }
      ++counter_[0];
    }
    position_ = 0;
  }

  r123::Philox4x32::ctr_type counter_;  // {block, case index low, high, stream}
  r123::Philox4x32::key_type key_;      // {seed low, high}
  int position_ = kBytes;
  uint64_t words_[kBytes / 8 + 1] = {};  // the last one is only shifted out
};

}  // namespace mmadiff
