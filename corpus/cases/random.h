// Random bits of one case: Philox4x32-10 (Random123) in counter mode. The bits of a case are a pure
// function of its name, so cases can be made in any order and anywhere.
#pragma once

#include <Random123/philox.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

#include "corpus/cases/philox.h"
#include "sim/host_device.h"

namespace mmadiff {

// Inlined: a draw is only a few instructions.
#if defined(__GNUC__) && !defined(MMADIFF_ON_GPU)
#define MMADIFF_HD_DRAW [[gnu::always_inline]] MMADIFF_HD
#else
#define MMADIFF_HD_DRAW MMADIFF_HD
#endif

// The bytes of the blocks in order. A draw of n bits takes the next ceil(n/8) bytes. If fewer than
// 8 bytes of a group of blocks are left, they are dropped.
class Random {
 public:
  MMADIFF_HD Random(uint64_t seed, uint32_t stream, uint64_t index)
      : counter_{{0, static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), stream}},
        key_{{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}} {
    words_[kBefore + kGroups * kBytes / 4] = 0;
  }
#if !defined(MMADIFF_ON_GPU)
  // The same, with some first groups of blocks already made.
  Random(uint64_t seed, uint32_t stream, uint64_t index, std::span<const uint32_t> first_groups)
      : Random(seed, stream, index) {
    const int bytes = static_cast<int>(first_groups.size_bytes());
    position_ -= bytes;
    end_ = position_ + kBytes;
    for (int done = 0; done < bytes; done += kBytes) {
      std::memcpy(words_ + kBefore + (position_ + done) / 4, &first_groups[done / 4], kBytes);
    }
    counter_[0] = static_cast<uint32_t>(bytes / 16);
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
  // 0 .. n-1, 1 <= n <= 4096. No value is more than 1/16 likelier than any other.
  MMADIFF_HD_DRAW int Below(int n) { return BelowOf(Bits32(16), n); }
  // The same for a given draw of 16 bits.
  MMADIFF_HD_DRAW static int BelowOf(uint32_t draw, int n) {
    return static_cast<int>((draw * static_cast<uint32_t>(n)) >> 16);
  }
  // The same if `draws`, else 0 and takes nothing. No branch.
  MMADIFF_HD_DRAW int BelowIf(bool draws, int n) { return BelowOf(Bits32(16 * draws), n); }
  // low .. high, inclusive.
  MMADIFF_HD_DRAW int Between(int low, int high) { return low + Below(high - low + 1); }
  // True once in n on average.
  MMADIFF_HD_DRAW bool OneIn(int n) { return Below(n) == 0; }
  MMADIFF_HD_DRAW bool Coin() { return Bits32(1) != 0; }

  // Calls use(i, draw) for i = 0 .. count-1; each draw has all bits of T.
  template <class T, class Use>
  MMADIFF_HD void Each(int count, Use use) {
#if defined(MMADIFF_ON_GPU)
    for (int i = 0; i < count; ++i) use(i, static_cast<T>(Bits(8 * sizeof(T))));
#else
    constexpr int kFew = 4, kSome = 64;
    if (count <= kFew) {
      for (int i = 0; i < count; ++i) use(i, static_cast<T>(Bits(8 * sizeof(T))));
      return;
    }
    T draws[kSome + kBytes / sizeof(T)];
    for (int done = 0; done < count; done += kSome) {
      const int some = std::min(count - done, kSome);
      Draw(draws, some);
      for (int i = 0; i < some; ++i) use(done + i, draws[i]);
    }
#endif
  }

  // For i = 0 .. count-1, calls either one(i), which draws, or use(i, bytes), which is faster and
  // only on the host. use() gets the next eight bytes and returns the number of bytes it took. The
  // last draw of i must begin at most `span` bytes after the first.
  template <class Use, class One>
  MMADIFF_HD void EachByBytes(int count, int span, Use use, One one) {
#if defined(MMADIFF_ON_GPU)
    (void)span, (void)use;
    for (int i = 0; i < count; ++i) one(i);
#else
    for (int i = 0; i < count;) {
      int position = position_;
      const int last = end_ - 8 - span;
      for (; i < count && position <= last; ++i) position += use(i, EightFrom(position));
      position_ = position;
      if (i < count) one(i++);
    }
#endif
  }

#if !defined(MMADIFF_ON_GPU)
  // Adjacent draws of one size.
  struct Run {
    const uint8_t* at;
    int count;
  };
  // Takes the next draws of `bytes` bytes, 1 to 8: all adjacent ones, at most `most`. Until the
  // next draw, kBytes bytes before and after them may be read.
  Run TakeRun(int bytes, int most) {
    if (position_ > end_ - 8) NextGroup();
    const Run run = {begin() + position_, std::min(most, (end_ - 8 - position_) / bytes + 1)};
    position_ += run.count * bytes;
    return run;
  }
  // `count` draws, adjacent except for one gap: the first `first` draws are at `at`, the later ones
  // are placed as if all draws began at `rest`.
  struct TwoRuns {
    const uint8_t* at;
    const uint8_t* rest;
    int first;
  };
  // Takes the next `count` draws, as TakeRun(), but without a branch that depends on where a group
  // ends. False if more runs or groups are needed; then nothing was taken.
  bool TakeTwoRuns(int bytes, int count, TwoRuns& runs) {
    const int first = std::clamp((end_ - 8 - position_ + bytes) / bytes, 0, count);
    const int more = count - first, end = end_ + (more > 0 ? kBytes : 0);
    if (end > kGroups * kBytes || more > (kBytes - 8) / bytes + 1) return false;
    runs = {begin() + position_, begin() + end_ - first * bytes, first};
    position_ = more > 0 ? end_ + more * bytes : position_ + count * bytes;
    end_ = end;
    return true;
  }
  // Alternating draws of 2 bytes and of a second size. Byte n, not counting the gap at the end of a
  // group, is at[n] if n < first, else rest[n].
  struct Pairs {
    const uint8_t* at;
    const uint8_t* rest;
    int first;
  };
  // Takes the next `count` pairs of `bytes` bytes each, at most 56 bytes in total. False if a
  // further group is needed; then nothing was taken.
  bool TakePairs(int bytes, int count, Pairs& pairs) {
    const int room = end_ - 8 - position_, all = bytes * count;  // the last start of a draw
    const int whole = room < 0 ? -1 : room / bytes;
    const int first = whole < 0 ? 0 : whole * bytes + (room - whole * bytes < 2 ? 2 : bytes);
    const int end = end_ + (first < all ? kBytes : 0);
    if (end > kGroups * kBytes) return false;
    pairs = {begin() + position_, begin() + end_ - first, first};
    position_ = first < all ? end_ + all - first : position_ + all;
    end_ = end;
    return true;
  }
  // Makes `count` draws of all bits of T. Also overwrites kBytes bytes after them.
  template <class T>
  void Draw(T* draws, int count) {
    while (count > 0) {
      const Run run = TakeRun(sizeof(T), count);
      std::memcpy(draws, run.at, kBytes);
      draws += run.count;
      count -= run.count;
    }
  }
#endif
  static constexpr int kBytes = 64;  // bytes of a group of blocks

 private:
  // Groups made at a time: independent work hides the latency of the rounds.
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
  // Four bytes, starting at any byte.
  MMADIFF_HD uint32_t WordFrom(int byte) const {
#if defined(MMADIFF_ON_GPU)  // two aligned words: GPUs have no unaligned loads
    const uint64_t both = static_cast<uint64_t>(words_[byte / 4 + 1]) << 32 | words_[byte / 4];
    return static_cast<uint32_t>(both >> byte % 4 * 8);
#else
    return static_cast<uint32_t>(EightFrom(byte));
#endif
  }
#if !defined(MMADIFF_ON_GPU)
  uint64_t EightFrom(int byte) const {
    uint64_t eight;
    std::memcpy(&eight, begin() + byte, sizeof eight);
    return eight;
  }
  const uint8_t* begin() const { return reinterpret_cast<const uint8_t*>(words_ + kBefore); }
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
    MakePhiloxBlocks({index, counter_[3], counter_[0]}, key_.v, words_ + kBefore);
    counter_[0] += kPhiloxBlocks;
#endif
  }

  r123::Philox4x32::ctr_type counter_;  // {block, case index low, high, stream}
  r123::Philox4x32::key_type key_;      // {seed low, high}
  int position_ = kGroups * kBytes;
  // End of the group, in bytes of words_.
#if defined(MMADIFF_ON_GPU)
  static constexpr int end_ = kBytes;
#else
  int end_ = kGroups * kBytes;
#endif
#if defined(MMADIFF_ON_GPU)
  static constexpr int kBefore = 0, kBehind = 1;  // read but shifted out
#else
  static constexpr int kBefore = kBytes / 4, kBehind = kBytes / 4;  // may be read with other bytes
#endif
  uint32_t words_[kBefore + kGroups * kBytes / 4 + kBehind];
};

}  // namespace mmadiff
