// Random bits of one case: Philox4x32-10 (Random123) in counter mode, so that the bits of a case
// are a pure function of its name and cases can be made in any order, anywhere.
#pragma once

#include <Random123/philox.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fuzz/cases/philox.h"
#include "sim/host_device.h"

namespace mmadiff {

// A draw is a few instructions, and not worth a call.
#if defined(__GNUC__) && !defined(MMADIFF_ON_GPU)
#define MMADIFF_HD_DRAW [[gnu::always_inline]] MMADIFF_HD
#else
#define MMADIFF_HD_DRAW MMADIFF_HD
#endif

// The bytes of the blocks in order; a draw of n bits takes the next ceil(n/8) bytes. What is left
// of the last 8 bytes of a group of blocks is dropped.
class Random {
 public:
  MMADIFF_HD Random(uint64_t seed, uint32_t stream, uint64_t index)
      : counter_{{0, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream}},
        key_{{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}} {
    words_[kGroups * kBytes / 4] = 0;
  }
#if !defined(MMADIFF_ON_GPU)
  // The same, of which the first kPhiloxBlocksOfShort blocks are made already.
  Random(uint64_t seed, uint32_t stream, uint64_t index, const uint32_t* first_blocks)
      : Random(seed, stream, index) {
    static_assert(kPhiloxBlocksOfShort * 16 == kBytes);
    position_ = end_ - kBytes;
    std::memcpy(words_ + position_ / 4, first_blocks, kBytes);
    counter_[0] = kPhiloxBlocksOfShort;
  }
#endif

  // `n` fresh random bits, 0 <= n <= 64.
  MMADIFF_HD_DRAW uint64_t Bits(int n) {
    const int byte = Take(n);
#if defined(MMADIFF_ON_GPU)
    if (n <= 32) return WordFrom(byte) & static_cast<uint32_t>((1ull << n) - 1);
    return (static_cast<uint64_t>(WordFrom(byte + 4)) << 32 | WordFrom(byte)) & (~0ull >> (64 - n));
#else
    return EightFrom(byte) & (n == 0 ? 0 : ~0ull >> (64 - n));
#endif
  }
  // The same for 0 <= n <= 32.
  MMADIFF_HD_DRAW uint32_t Bits32(int n) {
    return WordFrom(Take(n)) & static_cast<uint32_t>((1ull << n) - 1);
  }
  // 0 .. n-1, 1 <= n <= 4096. No value is more than 1/16 likelier than another.
  MMADIFF_HD_DRAW int Below(int n) {
    return static_cast<int>((Bits32(16) * static_cast<uint32_t>(n)) >> 16);
  }
  // low .. high, both included.
  MMADIFF_HD_DRAW int Between(int low, int high) { return low + Below(high - low + 1); }
  // True once in n.
  MMADIFF_HD_DRAW bool OneIn(int n) { return Below(n) == 0; }
  MMADIFF_HD_DRAW bool Coin() { return Bits32(1) != 0; }

  // use(i, draw) for i = 0 .. count-1, of draws of all bits of T.
  template <class T, class Use>
  MMADIFF_HD void Each(int count, Use use) {
#if defined(MMADIFF_ON_GPU)
    for (int i = 0; i < count; ++i) use(i, static_cast<T>(Bits(8 * sizeof(T))));
#else
    constexpr int kSome = 64;
    T draws[kSome + kBytes / sizeof(T)];
    for (int done = 0; done < count; done += kSome) {
      const int some = std::min(count - done, kSome);
      Draw(draws, some);
      for (int i = 0; i < some; ++i) use(done + i, draws[i]);
    }
#endif
  }

#if !defined(MMADIFF_ON_GPU)
  // `count` draws of all bits of T. kBytes bytes behind them are written too.
  template <class T>
  void Draw(T* draws, int count) {
    constexpr int kSize = sizeof(T);
    while (count > 0) {
      if (position_ > end_ - 8) NextGroup();
      const int some = std::min(count, (end_ - 8 - position_) / kSize + 1);
      std::memcpy(draws, reinterpret_cast<const uint8_t*>(words_) + position_, kBytes);
      position_ += some * kSize;
      draws += some;
      count -= some;
    }
  }
#endif
  static constexpr int kBytes = 64;  // of a group of blocks

 private:
  // Groups made at a time: independent work that hides the latency of the rounds.
#if defined(MMADIFF_ON_GPU)
  static constexpr int kGroups = 1;
#else
  static constexpr int kGroups = kPhiloxBlocks * 16 / kBytes;
#endif

  // The first of the bytes that hold the next n bits.
  MMADIFF_HD_DRAW int Take(int n) {
    if (position_ > end_ - 8) NextGroup();
    const int byte = position_;
    position_ += (n + 7) / 8;
    return byte;
  }
  // Four bytes from any byte on.
  MMADIFF_HD uint32_t WordFrom(int byte) const {
#if defined(MMADIFF_ON_GPU)  // two aligned words: it has no other loads
    const uint64_t both = static_cast<uint64_t>(words_[byte / 4 + 1]) << 32 | words_[byte / 4];
    return static_cast<uint32_t>(both >> byte % 4 * 8);
#else
    return static_cast<uint32_t>(EightFrom(byte));
#endif
  }
#if !defined(MMADIFF_ON_GPU)
  uint64_t EightFrom(int byte) const {
    uint64_t eight;
    std::memcpy(&eight, reinterpret_cast<const uint8_t*>(words_) + byte, sizeof eight);
    return eight;
  }
#endif

  MMADIFF_HD void NextGroup() {
#if defined(MMADIFF_ON_GPU)
    Refill();
    position_ = 0;
#else
    if (end_ == kGroups * kBytes) {
      Refill();
      end_ = 0;
    }
    position_ = end_;
    end_ += kBytes;
#endif
  }
  MMADIFF_HD_CALL void Refill() {
#if defined(MMADIFF_ON_GPU)
    r123::Philox4x32 philox;
    for (int i = 0; i < kBytes / 16; ++i) {
      const auto block = philox(counter_, key_);
      for (int word = 0; word < 4; ++word) words_[4 * i + word] = block.v[word];
      ++counter_[0];
    }
#else
    const uint64_t index = static_cast<uint64_t>(counter_[2]) << 32 | counter_[1];
    MakePhiloxBlocks({index, counter_[3], counter_[0], 0}, key_.v, words_);
    counter_[0] += kPhiloxBlocks;
#endif
  }

  r123::Philox4x32::ctr_type counter_;  // {block, case index low, high, stream}
  r123::Philox4x32::key_type key_;      // {seed low, high}
  int position_ = kGroups * kBytes;
  // Of the group, in bytes of words_.
#if defined(MMADIFF_ON_GPU)
  static constexpr int end_ = kBytes;
#else
  int end_ = kGroups * kBytes;
#endif
#if defined(MMADIFF_ON_GPU)
  static constexpr int kBehind = 1;  // words that are only shifted out
#else
  static constexpr int kBehind = kBytes / 4;  // or copied
#endif
  uint32_t words_[kGroups * kBytes / 4 + kBehind];
};

}  // namespace mmadiff
