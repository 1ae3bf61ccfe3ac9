#include "sim/copy/tensor_copy.h"

#include <algorithm>
#include <cstring>

#include "sim/copy/element.h"

namespace mmadiff {
namespace {

// A row of the tile: consecutive cells in global memory.
struct Row {
  uint64_t address = 0;    // of the first cell, which may be out of bounds; modulo 2^64
  int cells = 0;           // fewer than the others in the last slice of an interleaved tensor
  int begin = 0, end = 0;  // its cells in bounds
  std::array<int64_t, kMaxRank> at = {};  // coordinates of its first element
};

// The rows of a tile, in the order of shared memory.
class Rows {
 public:
  Rows(const TensorCopy& copy, const CopyRules& rules)
      : copy_(copy), map_(copy.map), info_(Info(map_.type)), mode_(copy.form->mode) {
    if (mode_ == CopyMode::kTile) {
      InitTile(rules);
    } else if (mode_ == CopyMode::kGather4 || mode_ == CopyMode::kScatter4) {
      cells_ = static_cast<int>(map_.box[0]) / info_.elements;
      count_ = 4;
    } else {
      InitIm2col(rules);
    }
    const SwizzleInfo& swizzle = Info(map_.swizzle);
    pitch_ = cells_ * info_.shared_bytes;
    if (rules.pitch == CopyRules::Pitch::kSpan) pitch_ = std::max(pitch_, swizzle.span);
  }

  int64_t count() const { return count_; }
  int pitch() const { return pitch_; }

  // Calls f(row) for each.
  template <class F>
  void ForEach(F f) const {
    if (mode_ == CopyMode::kTile) return ForEachOfTile(f);
    if (mode_ == CopyMode::kGather4 || mode_ == CopyMode::kScatter4) {
      for (int i = 0; i < 4; ++i) f(At({copy_.x[0], copy_.x[1 + i]}));
      return;
    }
    ForEachOfColumn(f);
  }

 private:
  using Coordinates = std::array<int64_t, kMaxRank>;

  Row At(const Coordinates& c) const {
    Row row = {.address = map_.base, .cells = cells_, .at = c};
    bool inside = true;
    for (int d = 1; d < map_.rank; ++d) {
      row.address += static_cast<uint64_t>(c[d]) * map_.stride[d];
      inside = inside && c[d] >= 0 && c[d] < static_cast<int64_t>(map_.dim[d]);
    }
    const int64_t first = FloorOf(c[0]), last = FloorOf(static_cast<int64_t>(map_.dim[0]));
    row.address += first * info_.global_bytes;
    if (slice_ != 0) {  // the channels of a slice are dense, slices are a plane apart
      const int64_t slice = c[0] >= 0 ? c[0] / slice_ : -((slice_ - 1 - c[0]) / slice_);
      const uint64_t plane = map_.stride[map_.rank - 2] * map_.dim[map_.rank - 2];
      row.address += static_cast<uint64_t>(slice) * (plane - uint64_t(slice_) * info_.global_bytes);
      const int64_t rest = channels_ - (c[0] - copy_.x[0]);
      row.cells = static_cast<int>(std::min<int64_t>(slice_, rest));
    }
    if (!inside) return row;
    row.begin = static_cast<int>(std::clamp<int64_t>(-first, 0, row.cells));
    row.end = static_cast<int>(std::clamp<int64_t>(last - first, row.begin, row.cells));
    return row;
  }
  // The cell of an element. Elements of a cell share bounds.
  int64_t FloorOf(int64_t element) const {
    const int n = info_.elements;
    return element >= 0 ? element / n : -((n - 1 - element) / n);
  }

  void InitSlices(int channels) {
    channels_ = channels;
    cells_ = channels / info_.elements;
    if (map_.interleave == Interleave::kNone) return;
    slice_ = (map_.interleave == Interleave::k16B ? 16 : 32) / info_.global_bytes;
    slices_ = (channels + slice_ - 1) / slice_;
    cells_ = slice_;
  }

  void InitTile(const CopyRules& rules) {
    InitSlices(static_cast<int>(map_.box[0]));
    const uint32_t up = rules.steps == CopyRules::Steps::kRoundedUp ? 1 : 0;
    count_ = slices_;
    for (int d = 1; d < map_.rank; ++d) {
      const uint32_t e = map_.traversal[d];
      steps_[d] = (map_.box[d] + up * (e - 1)) / e;
      count_ *= steps_[d];
    }
  }

  template <class F>
  void ForEachOfTile(F f) const {
    // Slices are between the images and their other dimensions.
    const int last = map_.rank - 1;
    std::array<int64_t, kMaxRank> i = {};
    for (int64_t row = 0; row < count_; ++row) {
      int64_t rest = row;
      for (int d = 1; d < last; ++d) {
        i[d] = rest % steps_[d];
        rest /= steps_[d];
      }
      const int64_t slice = rest % slices_;
      if (last > 0) i[last] = rest / slices_;
      Coordinates c = {copy_.x[0] + slice * slice_};
      for (int d = 1; d <= last; ++d) c[d] = copy_.x[d] + i[d] * map_.traversal[d];
      f(At(c));
    }
  }

  bool wide() const { return IsWide(mode_); }

  void InitIm2col(const CopyRules& rules) {
    InitSlices(static_cast<int>(map_.channels));
    halo_ = rules.halo;
    halos_ = rules.halos;
    pixels_ = mode_ == CopyMode::kIm2colW128 ? 128 : map_.pixels;
    count_ = pixels_ * slices_;
    if (mode_ == CopyMode::kIm2colW) count_ += copy_.offset[0];
    if (mode_ == CopyMode::kIm2colW128) count_ += 4 * copy_.offset[0];
    moving_ = wide() ? 1 : map_.spatial();
    for (int s = 0; s < map_.spatial(); ++s) {
      const int64_t offset = wide()                       ? (s == 0 ? copy_.offset[1] : 0)
                             : mode_ == CopyMode::kIm2col ? copy_.offset[s]
                                                          : 0;
      low_[s] = map_.lower[s] + offset;
      high_[s] = static_cast<int64_t>(map_.dim[s + 1]) - 1 + map_.upper[s] + offset;
      start_[s + 1] = copy_.x[s + 1] + offset;
    }
    start_[0] = copy_.x[0];
    start_[map_.rank - 1] = copy_.x[map_.rank - 1];
  }

  void Step(Coordinates& p) const {
    for (int s = 0; s < moving_; ++s) {
      p[s + 1] += map_.traversal[s + 1];
      if (p[s + 1] <= high_[s]) return;
      p[s + 1] = low_[s];
    }
    ++p[map_.rank - 1];
  }

  Coordinates After(Coordinates p, int64_t steps) const {
    while (steps-- > 0) Step(p);
    return p;
  }

  template <class F>
  void ForEachOfColumn(F f) const {
    const auto pixels = [&](Coordinates p, int64_t count) {
      for (int64_t q = 0; q < count; ++q, Step(p)) f(At(p));
    };
    if (!wide()) {
      for (int slice = 0; slice < slices_; ++slice) {
        Coordinates p = start_;
        p[0] += slice * slice_;
        pixels(p, pixels_);
      }
      return;
    }
    const int64_t groups = mode_ == CopyMode::kIm2colW128 ? 4 : 1, each = pixels_ / groups;
    const auto halo = [&](int64_t group) {
      const bool inside = halo_ == CopyRules::Halo::kInside;
      if (inside) return pixels(After(start_, each * (group + 1)), copy_.offset[0]);
      Coordinates p = After(start_, each * (group + 1) - 1);
      for (int j = 0; j < copy_.offset[0]; ++j) {
        p[1] += map_.traversal[1];
        f(At(p));
      }
    };
    const bool after_each = halos_ == CopyRules::Halos::kAfterEach;
    for (int64_t group = 0; group < groups; ++group) {
      pixels(After(start_, each * group), each);
      if (after_each) halo(group);
    }
    for (int64_t group = 0; group < groups && !after_each; ++group) halo(group);
  }

  const TensorCopy& copy_;
  const TensorMap& map_;
  const TensorTypeInfo& info_;
  const CopyMode mode_;
  int64_t count_ = 0;
  int channels_ = 0, cells_ = 0, pitch_ = 0;
  int slice_ = 0, slices_ = 1;  // channels of a slice of an interleaved tensor; 0: none
  std::array<int64_t, kMaxRank> steps_ = {};  // of a tile
  int64_t pixels_ = 0;                        // of a column, without halos
  int moving_ = 0;                            // spatial dimensions in which pixels move
  Coordinates start_ = {};
  std::array<int64_t, kMaxSpatial> low_ = {}, high_ = {};
  CopyRules::Halo halo_ = {};
  CopyRules::Halos halos_ = {};
};

// The address of a byte after the flips of the swizzle.
uint64_t Swizzled(const SwizzleInfo& swizzle, uint64_t address, uint64_t line_of) {
  const uint64_t line = line_of >> 7;
  const uint64_t flip = (line & 1) != 0 ? swizzle.flip : 0;
  return address ^ ((line & swizzle.lines) << swizzle.shift) ^ flip;
}

// The tile in shared memory, row by row.
class Tile {
 public:
  Tile(const TensorCopy& copy, const CopyRules& rules)
      : swizzle_(Info(copy.map.swizzle)),
        shared_(copy.shared),
        base_(rules.line == CopyRules::Line::kOffset ? copy.shared : 0) {}

  // The address of a byte of the tile.
  uint64_t AddressOf(int64_t offset) const {
    const uint64_t address = shared_ + offset;
    return Swizzled(swizzle_, address, address - base_);
  }

  // Calls f(address, offset, bytes) for the parts of a row, none of which the swizzle divides. The
  // address is in shared memory, the offset in the row.
  template <class F>
  void ForEachPart(int64_t row_offset, int bytes, F f) const {
    const int part = swizzle_.span == 0 ? bytes : swizzle_.flip != 0 ? 8 : 16;
    for (int i = 0; i < bytes;) {
      const uint64_t address = shared_ + row_offset + i;
      const int n =
          std::min(bytes - i, part - (swizzle_.span == 0 ? 0 : static_cast<int>(address % part)));
      f(Swizzled(swizzle_, address, address - base_), i, n);
      i += n;
    }
  }

 private:
  const SwizzleInfo& swizzle_;
  const uint64_t shared_, base_;
};

constexpr int kMaxRowBytes = 256 * 8;

// Copies the bytes at an address; `word(i)` has those of the addresses from 8 * i on.
template <class Word>
void Fill(uint64_t address, int64_t bytes, uint8_t* to, Word word) {
  for (int64_t i = 0; i < bytes;) {
    const int skip = static_cast<int>((address + i) % 8);
    const int n = static_cast<int>(std::min<int64_t>(8 - skip, bytes - i));
    const uint64_t rest = word((address + i) >> 3) >> (8 * skip);
    std::memcpy(to + i, &rest, n);
    i += n;
  }
}
void FillGlobal(const CopyMemory& memory, uint64_t address, int64_t bytes, uint8_t* to) {
  Fill(address, bytes, to, [&](uint64_t i) { return memory.GlobalWord(i); });
}
void FillShared(const CopyMemory& memory, uint64_t address, int64_t bytes, uint8_t* to) {
  Fill(address, bytes, to, [&](uint64_t i) { return memory.SharedWord(i); });
}

// Replaces the words of n cells at `to`.
template <class T, class F>
void ForEachWord(uint8_t* to, int n, F f) {
  for (int i = 0; i < n; ++i) {
    T word;
    std::memcpy(&word, to + i * sizeof word, sizeof word);
    word = f(word);
    std::memcpy(to + i * sizeof word, &word, sizeof word);
  }
}

void Load(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory,
          CopyResult& result) {
  const TensorTypeInfo& info = Info(copy.map.type);
  const Rows rows(copy, rules);
  const Tile tile(copy, rules);
  const int payload = info.global_bytes, cell = info.shared_bytes;
  uint8_t bytes[kMaxRowBytes], packed[kMaxRowBytes];
  int64_t offset = 0;
  rows.ForEach([&](const Row& row) {
    const int cells = row.cells;
    const auto fill = [&](int from, int to) {
      const int begin = from * payload, end = to * payload;
      std::memset(packed + begin, 0, end - begin);
      if (copy.map.fill == FillMode::kNan) {
        ForEachWord<uint16_t>(packed + begin, (end - begin) / 2,
                              [&](uint16_t) { return NanFillWord(rules); });
      }
    };
    fill(0, row.begin);
    fill(row.end, cells);
    FillGlobal(memory, row.address + int64_t{row.begin} * payload, (row.end - row.begin) * payload,
               packed + row.begin * payload);
    if (Converts(copy.map.type, rules)) {
      const auto convert = [&](uint32_t word) { return Loaded(copy.map.type, word, rules); };
      const bool all = rules.tf32_fill == CopyRules::Tf32Fill::kRounded;
      const int begin = all ? 0 : row.begin, end = all ? cells : row.end;
      ForEachWord<uint32_t>(packed + begin * payload, end - begin, convert);
    }
    uint8_t* from = packed;
    if (cell != payload) {
      from = bytes;
      for (int i = 0; i < cells; ++i) std::memcpy(bytes + i * cell, packed + i * payload, payload);
    }
    tile.ForEachPart(offset, cells * cell, [&](uint64_t address, int at, int n) {
      std::memcpy(&result.bytes[address - result.first], from + at, n);
      for (int i = 0; i < n; ++i) {
        result.specified[address - result.first + i] = (at + i) % cell < payload;
      }
    });
    offset += rows.pitch();
  });
}

// States of a byte of global memory. The order in which elements reach one place is not specified.
constexpr uint8_t kUntouched = 0, kOnce = 1, kOpen = 2;

// Writes an element, or combines it with the one there.
void Put(const TensorCopy& copy, const uint8_t* from, uint64_t at, CopyResult& result) {
  const int n = Info(copy.map.type).global_bytes;
  uint8_t* const to = &result.bytes[at];
  bool specified = true;
  if (copy.form->direction == CopyDirection::kReduce) {
    uint64_t global = 0, shared = 0;
    std::memcpy(&global, to, n);
    std::memcpy(&shared, from, n);
    const Reduced reduced = Reduce(copy.map.type, copy.reduction, global, shared);
    std::memcpy(to, &reduced.word, n);
    specified = reduced.specified;
  } else {
    std::memcpy(to, from, n);
  }
  const bool in_any_order = copy.form->direction == CopyDirection::kReduce &&
                            !OrderMatters(copy.map.type, copy.reduction);
  for (int i = 0; i < n; ++i) {
    uint8_t& state = result.specified[at + i];
    const bool first = state == kUntouched || (in_any_order && state == kOnce);
    state = first && specified ? kOnce : kOpen;
  }
}

void StoreOrReduce(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory,
                   CopyResult& result) {
  const TensorTypeInfo& info = Info(copy.map.type);
  const Rows rows(copy, rules);
  const Tile tile(copy, rules);
  const int payload = info.global_bytes, cell = info.shared_bytes;
  uint8_t bytes[kMaxRowBytes];
  int64_t offset = 0;
  rows.ForEach([&](const Row& row) {
    const int cells = row.cells;
    tile.ForEachPart(offset, cells * cell, [&](uint64_t address, int at, int n) {
      FillShared(memory, address, n, bytes + at);
    });
    offset += rows.pitch();
    if (cell != payload) {
      for (int i = 0; i < cells; ++i) PackSixBits(bytes + i * cell, bytes + i * payload);
    }
    for (int i = row.begin; i < row.end; ++i) {
      Put(copy, bytes + i * payload, row.address + int64_t{i} * payload - result.first, result);
    }
  });
  for (uint8_t& state : result.specified) state = state == kUntouched || state == kOnce;
}

}  // namespace

uint64_t TileBytes(const TensorCopy& copy, const CopyRules& rules) {
  const Rows rows(copy, rules);
  const uint64_t unit = Info(copy.map.swizzle).unit;
  return (static_cast<uint64_t>(rows.count()) * rows.pitch() + unit - 1) / unit * unit;
}

GlobalRange TouchedRange(const TensorCopy& copy, const CopyRules& rules) {
  const Rows rows(copy, rules);
  const int64_t payload = Info(copy.map.type).global_bytes;
  GlobalRange range;
  rows.ForEach([&](const Row& row) {
    if (row.begin == row.end) return;
    const uint64_t first = row.address + row.begin * payload,
                   last = row.address + row.end * payload;
    const bool none = range.first == range.last;
    range.first = none ? first : std::min(range.first, first);
    range.last = none ? last : std::max(range.last, last);
  });
  return range;
}

std::vector<CopyElement> Elements(const TensorCopy& copy) {
  const CopyRules rules;
  const TensorTypeInfo& info = Info(copy.map.type);
  const Rows rows(copy, rules);
  const Tile tile(copy, rules);
  std::vector<CopyElement> elements;
  int64_t offset = 0;
  rows.ForEach([&](const Row& row) {
    for (int i = 0; i < row.cells; ++i) {
      CopyElement& e = elements.emplace_back();
      e.at = row.at;
      e.at[0] += int64_t{i} * info.elements;
      e.inside = row.begin <= i && i < row.end;
      e.global = row.address + int64_t{i} * info.global_bytes;
      e.shared = tile.AddressOf(offset + int64_t{i} * info.shared_bytes);
    }
    offset += rows.pitch();
  });
  return elements;
}

void Execute(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory,
             CopyResult& result) {
  const bool load = copy.form->direction == CopyDirection::kLoad;
  // Changed rules need no more than the model's.
  const GlobalRange range =
      load ? GlobalRange{copy.shared, copy.shared + TileBytes(copy)} : TouchedRange(copy);
  const uint64_t size = range.last - range.first;
  result.first = range.first;
  result.bytes.resize(size);
  if (load) {
    FillShared(memory, range.first, static_cast<int64_t>(size), result.bytes.data());
    result.specified.assign(size, 0);
    Load(copy, rules, memory, result);
  } else {
    FillGlobal(memory, range.first, static_cast<int64_t>(size), result.bytes.data());
    result.specified.assign(size, kUntouched);
    StoreOrReduce(copy, rules, memory, result);
  }
}

}  // namespace mmadiff
