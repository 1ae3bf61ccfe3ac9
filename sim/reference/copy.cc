#include "sim/reference/copy.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "sim/reference/copy_element.h"

namespace mmadiff::reference {
namespace {

constexpr int64_t kLine = 128, kChunk = 16;  // bytes
constexpr int64_t kWide128Pixels = 128, kWide128Group = 32;

using Coordinates = std::array<int64_t, kMaxRank>;

// PTX ISA 5.5.7. For each line of 128 bytes: the logical number of the 16-byte chunk in each place.
struct SwizzleTable {
  int64_t unit;  // bytes: chunks move within aligned units of this size
  int64_t span;  // bytes: distance of the rows of a tile; 0: none
  std::vector<const char*> lines;
};

const SwizzleTable& TableOf(Swizzle swizzle) {
  static const SwizzleTable k16Byte = {128,
                                       128,
                                       {"01234567", "10325476", "23016745", "32107654", "45670123",
                                        "54761032", "67452301", "76543210"}};
  static const SwizzleTable k32Byte = {128, 128, {"01234567", "23016745", "45670123", "67452301"}};
  static const SwizzleTable k64Byte = {128, 128, {"01234567", "45670123"}};
  static const SwizzleTable k32 = {32, 32, {"01234567", "10325476"}};
  static const SwizzleTable k64 = {64, 64, {"01234567", "10325476", "23016745", "32107654"}};
  static const SwizzleTable k96 = {32, 96, {"01234567", "10325476"}};
  static const SwizzleTable kNone = {1, 0, {"01234567"}};
  switch (swizzle) {
    case Swizzle::kNone:
      return kNone;
    case Swizzle::k32B:
      return k32;
    case Swizzle::k64B:
      return k64;
    case Swizzle::k96B:
      return k96;
    case Swizzle::k128B:
      return k16Byte;
    case Swizzle::k128BAtom32B:
    case Swizzle::k128BAtom32BFlip8B:
      return k32Byte;
    case Swizzle::k128BAtom64B:
      return k64Byte;
  }
  std::abort();
}

// The address that the swizzle exchanges with `address`: the tables are their own inverses.
uint64_t Swizzled(const TensorCopy& copy, const CopyRules& rules, uint64_t address) {
  const SwizzleTable& table = TableOf(copy.map.swizzle);
  const bool by_address = rules.line == CopyRules::Line::kAddress;
  const uint64_t line = (by_address ? address : address - copy.shared) / kLine;
  const char* chunks = table.lines[line % table.lines.size()];
  const uint64_t chunk = chunks[address % kLine / kChunk] - '0';
  uint64_t byte = address % kChunk;
  // Adjacent 8 bytes of the 16 are exchanged in every other line.
  if (copy.map.swizzle == Swizzle::k128BAtom32BFlip8B && line % 2 == 1) byte = (byte + 8) % kChunk;
  return address / kLine * kLine + chunk * kChunk + byte;
}

bool IsIm2col(CopyMode mode) { return mode >= CopyMode::kIm2col; }
bool HasHalo(CopyMode mode) { return mode == CopyMode::kIm2colW || mode == CopyMode::kIm2colW128; }

// Indices of dimension d of a box. The stride of dimension 0 counts only with interleave (5.5.3.2).
int64_t Steps(const TensorCopy& copy, const CopyRules& rules, int d) {
  const int64_t box = copy.map.box[d], stride = copy.map.traversal[d];
  if (d == 0 && copy.map.interleave == Interleave::kNone) return box;
  return rules.steps == CopyRules::Steps::kRoundedUp ? (box + stride - 1) / stride : box / stride;
}

// Pixels of a column of im2col_w or im2col_w_128: groups, each of which has a halo.
struct Groups {
  int64_t count, pixels, halo;
};
Groups GroupsOf(const TensorCopy& copy) {
  if (copy.form->mode == CopyMode::kIm2colW) return {1, copy.map.pixels, copy.offset[0]};
  return {kWide128Pixels / kWide128Group, kWide128Group, copy.offset[0]};
}

int64_t SliceBytes(Interleave interleave) { return interleave == Interleave::k16B ? 16 : 32; }

// Row r of the tile is of pixel r % pixels, slice r / pixels % slices and image r / pixels / slices. Without
// interleave there is one slice, and with im2col one image: the pixels are all rows.
struct Tile {
  CellLayout cell;
  int64_t columns;  // elements of a row of all slices
  int64_t slice;    // elements of a slice
  int64_t pixels, slices, images;
  int64_t filled_bytes;  // of a row, before its padding
  int64_t pitch;

  int64_t rows() const { return pixels * slices * images; }
};

void CountRows(const TensorCopy& copy, const CopyRules& rules, Tile& tile) {
  const CopyMode mode = copy.form->mode;
  tile.pixels = tile.images = 1;
  if (mode == CopyMode::kGather4 || mode == CopyMode::kScatter4) {
    tile.pixels = 4;
  } else if (HasHalo(mode)) {
    const Groups groups = GroupsOf(copy);
    tile.pixels = groups.count * (groups.pixels + groups.halo);
  } else if (IsIm2col(mode)) {
    tile.pixels = copy.map.pixels;
  } else {
    const int rank = copy.form->rank;
    for (int d = 1; d < rank; ++d) {
      const bool image = d == rank - 1 && copy.map.interleave != Interleave::kNone;
      (image ? tile.images : tile.pixels) *= Steps(copy, rules, d);
    }
  }
}

Tile TileOf(const TensorCopy& copy, const CopyRules& rules) {
  Tile tile = {};
  tile.cell = CellLayoutOf(copy.map.type, copy.form->direction);
  tile.columns = IsIm2col(copy.form->mode) ? copy.map.channels : Steps(copy, rules, 0);
  tile.slice = tile.columns;
  tile.slices = 1;
  const Interleave interleave = copy.map.interleave;
  if (interleave != Interleave::kNone) {
    tile.slice = SliceBytes(interleave) * 8 / tile.cell.bits;
    tile.slices = (tile.columns + tile.slice - 1) / tile.slice;
  }
  const int64_t cells = (tile.slice + tile.cell.elements - 1) / tile.cell.elements;
  tile.filled_bytes = cells * tile.cell.shared_bytes;
  // Slices are never padded to the span: the driver's manual bounds rows by it only without interleave.
  const int64_t span = TableOf(copy.map.swizzle).span;
  const bool padded = interleave == Interleave::kNone && rules.pitch == CopyRules::Pitch::kSpan;
  tile.pitch = padded ? std::max(span, tile.filled_bytes) : tile.filled_bytes;
  CountRows(copy, rules, tile);
  return tile;
}

// A walk along a dimension: from `first` in strides; past `upper` it restarts at `lower`, and the next dimension
// takes one step.
struct Walk {
  int64_t first, lower, upper, stride;
};
struct Place {
  int64_t coordinate, restarts;
};

Place PlaceAfter(const Walk& walk, int64_t steps) {
  const auto places = [&](int64_t from) {
    return from > walk.upper ? 1 : (walk.upper - from) / walk.stride + 1;
  };
  const int64_t of_first = places(walk.first), of_others = places(walk.lower);
  if (steps < of_first) return {walk.first + steps * walk.stride, 0};
  const int64_t rest = steps - of_first;
  return {walk.lower + rest % of_others * walk.stride, 1 + rest / of_others};
}

// 5.5.4.1: corners of the box are relative to the tensor's; offsets move the box and the start.
Walk WalkOf(const TensorCopy& copy, int spatial, int64_t offset) {
  const TensorMap& map = copy.map;
  const int d = 1 + spatial;
  return {copy.x[d] + offset, map.lower[spatial] + offset,
          static_cast<int64_t>(map.dim[d]) - 1 + map.upper[spatial] + offset, map.traversal[d]};
}

void Im2colPixel(const TensorCopy& copy, int64_t pixel, Coordinates& c) {
  const bool offsets = copy.form->mode == CopyMode::kIm2col;
  const int rank = copy.form->rank;
  int64_t steps = pixel;
  for (int spatial = 0; spatial < rank - 2; ++spatial) {
    const Walk walk = WalkOf(copy, spatial, offsets ? copy.offset[spatial] : 0);
    const Place place = PlaceAfter(walk, steps);
    c[1 + spatial] = place.coordinate;
    steps = place.restarts;
  }
  c[rank - 1] = copy.x[rank - 1] + steps;
}

// 5.5.5. The halo of a group starts after the group's last pixel: with im2col_w_128, the next group starts with
// the same pixels.
void WidePixel(const TensorCopy& copy, const CopyRules& rules, int64_t row, Coordinates& c) {
  const Groups groups = GroupsOf(copy);
  const int64_t pixels = groups.count * groups.pixels;
  int64_t group = row / (groups.pixels + groups.halo), n = row % (groups.pixels + groups.halo);
  if (rules.halos == CopyRules::Halos::kAfterAll) {
    const bool halo = row >= pixels;
    group = halo ? (row - pixels) / groups.halo : row / groups.pixels;
    n = halo ? groups.pixels + (row - pixels) % groups.halo : row % groups.pixels;
  }
  const int64_t last = groups.pixels - 1;
  const bool beyond = n > last && rules.halo == CopyRules::Halo::kBeyond;
  const Walk walk = WalkOf(copy, 0, copy.offset[1]);
  const Place place = PlaceAfter(walk, group * groups.pixels + (beyond ? last : n));
  for (int d = 2; d < copy.form->rank; ++d) c[d] = copy.x[d];
  c[1] = place.coordinate + (beyond ? (n - last) * walk.stride : 0);
  c[copy.form->rank - 1] += place.restarts;
}

void BoxRow(const TensorCopy& copy, const CopyRules& rules, int64_t row, Coordinates& c) {
  for (int d = 1; d < copy.form->rank; ++d) {
    const int64_t steps = Steps(copy, rules, d);
    c[d] = copy.x[d] + row % steps * copy.map.traversal[d];
    row /= steps;
  }
}

// An element of a tile.
struct Element {
  bool exists = false;  // false: padding
  bool in_bounds = false;
  uint64_t address = 0;  // in global memory, if in bounds: that of the byte with its lowest bit ...
  int shift = 0;         // ... and the bit's place there
};

Element Locate(const TensorCopy& copy, const Tile& tile, const Coordinates& c) {
  const TensorMap& map = copy.map;
  Element element;
  element.exists = true;
  for (int d = 0; d < copy.form->rank; ++d) {
    if (c[d] < 0 || static_cast<uint64_t>(c[d]) >= map.dim[d]) return element;
  }
  element.in_bounds = true;
  uint64_t channel = c[0], address = map.base;
  if (map.interleave != Interleave::kNone) {
    // PTX does not say how strides describe slices. Here each follows all pixels of the slice before: the
    // stride of the outermost spatial dimension times its size.
    const int outermost = copy.form->rank - 2;
    address += channel / tile.slice * map.stride[outermost] * map.dim[outermost];
    channel %= tile.slice;
  }
  for (int d = 1; d < copy.form->rank; ++d) address += c[d] * map.stride[d];
  const uint64_t bit = channel * tile.cell.bits;
  element.address = address + bit / 8;
  element.shift = static_cast<int>(bit % 8);
  return element;
}

// Element `slot` of a row of the tile.
Element ElementAt(const TensorCopy& copy, const CopyRules& rules, const Tile& tile, int64_t row,
                  int64_t slot) {
  const int64_t column = row / tile.pixels % tile.slices * tile.slice + slot;
  if (slot >= tile.slice || column >= tile.columns || row >= tile.rows()) return {};
  const int64_t pixel = row % tile.pixels + row / tile.pixels / tile.slices * tile.pixels;
  const CopyMode mode = copy.form->mode;
  Coordinates c = {};
  const bool strided = mode == CopyMode::kTile && copy.map.interleave != Interleave::kNone;
  c[0] = copy.x[0] + column * (strided ? copy.map.traversal[0] : 1);
  if (mode == CopyMode::kGather4 || mode == CopyMode::kScatter4) {
    c[1] = copy.x[1 + pixel];
  } else if (HasHalo(mode)) {
    WidePixel(copy, rules, pixel, c);
  } else if (IsIm2col(mode)) {
    Im2colPixel(copy, pixel, c);
  } else {
    BoxRow(copy, rules, pixel, c);
  }
  return Locate(copy, tile, c);
}

// `bits` bits from bit `shift` of byte(0) on, in little-endian order.
template <class Bytes>
uint64_t ReadBits(int shift, int bits, const Bytes& byte) {
  uint64_t word = 0, current = 0;
  for (int n = 0; n < bits; ++n) {
    const int place = shift + n;
    if (n == 0 || place % 8 == 0) current = byte(place / 8);
    word |= (current >> place % 8 & 1) << n;
  }
  return word;
}

uint64_t GlobalWord(const CopyMemory& memory, uint64_t address, int shift, int bits) {
  return ReadBits(shift, bits, [&](int n) { return memory.Global(address + n); });
}

// The word that a load writes for an element of the tile, if there is one.
std::optional<uint64_t> WordAt(const TensorCopy& copy, const CopyRules& rules,
                               const CopyMemory& memory, const Tile& tile, int64_t row,
                               int64_t slot) {
  const Element e = ElementAt(copy, rules, tile, row, slot);
  if (!e.exists) return std::nullopt;
  if (!e.in_bounds) {
    const uint64_t word = FillWord(copy.map.type, copy.map.fill, rules);
    const bool rounded = rules.tf32_fill == CopyRules::Tf32Fill::kRounded;
    return rounded ? LoadedWord(copy.map.type, word, rules) : word;
  }
  const uint64_t word = GlobalWord(memory, e.address, e.shift, tile.cell.bits);
  return LoadedWord(copy.map.type, word, rules);
}

// The byte at a logical offset of the tile, or nothing if no bit of it belongs to an element.
std::optional<uint8_t> LoadedByte(const TensorCopy& copy, const CopyRules& rules,
                                  const CopyMemory& memory, const Tile& tile, int64_t offset) {
  const CellLayout& cell = tile.cell;
  const int64_t in_row = offset % tile.pitch;
  unsigned byte = 0;
  bool written = false;
  int64_t slot = -1;
  std::optional<uint64_t> word;  // at `slot`
  for (int n = 0; n < 8; ++n) {
    const int64_t bit = in_row % cell.shared_bytes * 8 + n;
    const int64_t of_cell = bit / cell.shared_bits, of_element = bit % cell.shared_bits;
    if (of_cell >= cell.elements || of_element >= cell.bits) continue;
    const int64_t next = in_row / cell.shared_bytes * cell.elements + of_cell;
    if (next != slot) word = WordAt(copy, rules, memory, tile, offset / tile.pitch, next);
    slot = next;
    if (!word) continue;
    written = true;
    byte |= (*word >> of_element & 1) << n;
  }
  if (!written) return std::nullopt;
  return static_cast<uint8_t>(byte);
}

CopyResult Load(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory) {
  const Tile tile = TileOf(copy, rules);
  CopyResult result = {.first = copy.shared, .bytes = {}, .specified = {}};
  const uint64_t size = ReferenceTileBytes(copy, rules);
  for (uint64_t address = copy.shared; address < copy.shared + size; ++address) {
    const uint64_t offset = Swizzled(copy, rules, address) - copy.shared;
    const auto byte = LoadedByte(copy, rules, memory, tile, static_cast<int64_t>(offset));
    result.bytes.push_back(byte.value_or(memory.Shared(address)));
    result.specified.push_back(byte.has_value());
  }
  return result;
}

// An element in bounds, in its place in the tile.
struct Placed {
  Element element;
  int64_t row, slot;
};

std::vector<Placed> InBounds(const TensorCopy& copy, const CopyRules& rules, const Tile& tile) {
  std::vector<Placed> placed;
  for (int64_t row = 0; row < tile.rows(); ++row) {
    for (int64_t slot = 0; slot < tile.slice; ++slot) {
      const Element element = ElementAt(copy, rules, tile, row, slot);
      if (element.in_bounds) placed.push_back({element, row, slot});
    }
  }
  return placed;
}

GlobalRange RangeOf(const std::vector<Placed>& placed, int bits) {
  if (placed.empty()) return {};
  GlobalRange range = {std::numeric_limits<uint64_t>::max(), 0};
  for (const auto& [element, row, slot] : placed) {
    range.first = std::min(range.first, element.address);
    range.last = std::max(range.last, element.address + (element.shift + bits + 7) / 8);
  }
  return range;
}

// An element of the tile in shared memory, and its lowest bit counted from the first touched byte.
struct Source {
  uint64_t bit;
  uint64_t word;
};

// By ascending bit.
std::vector<Source> SourcesOf(const TensorCopy& copy, const CopyRules& rules,
                              const CopyMemory& memory, const Tile& tile,
                              const std::vector<Placed>& placed, uint64_t first) {
  const CellLayout& cell = tile.cell;
  std::vector<Source> sources;
  for (const Placed& p : placed) {
    const int64_t start = p.row * tile.pitch + p.slot / cell.elements * cell.shared_bytes;
    const auto byte = [&](int n) {
      return memory.Shared(Swizzled(copy, rules, copy.shared + start + n));
    };
    const int shift = static_cast<int>(p.slot % cell.elements) * cell.shared_bits;
    sources.push_back(
        {(p.element.address - first) * 8 + p.element.shift, ReadBits(shift, cell.bits, byte)});
  }
  std::ranges::sort(sources, {}, &Source::bit);
  return sources;
}

// A global byte after the copy.
struct Written {
  uint8_t byte;
  bool specified;
};

Written StoredByte(std::span<const Source> sources, int bits, uint64_t first_bit, uint8_t old) {
  unsigned byte = old;
  for (int n = 0; n < 8; ++n) {
    int writers = 0;
    for (const Source& source : sources) {
      const uint64_t bit = first_bit + n - source.bit;
      if (first_bit + n < source.bit || bit >= static_cast<uint64_t>(bits)) continue;
      if (++writers > 1) return {old, false};
      byte = (byte & ~(1u << n)) | (source.word >> bit & 1) << n;
    }
  }
  return {static_cast<uint8_t>(byte), true};
}

// Elements of reductions are whole bytes, and overlap entirely or not at all: strides are multiples of 16.
Written ReducedByte(const TensorCopy& copy, std::span<const Source> sources, uint64_t first_bit,
                    uint64_t old, uint8_t old_byte) {
  if (sources.empty()) return {old_byte, true};
  if (sources.size() > 1 && OrderMatters(copy.reduction, copy.map.type)) return {old_byte, false};
  const uint64_t start = sources[0].bit;
  for (const Source& source : sources) {
    if (source.bit != start) std::abort();
    old = ReducedWord(copy.reduction, copy.map.type, old, source.word);
  }
  return {static_cast<uint8_t>(old >> (first_bit - start)), true};
}

CopyResult StoreOrReduce(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory) {
  const Tile tile = TileOf(copy, rules);
  const int bits = tile.cell.bits;
  const std::vector<Placed> placed = InBounds(copy, rules, tile);
  const GlobalRange range = RangeOf(placed, bits);
  const auto sources = SourcesOf(copy, rules, memory, tile, placed, range.first);
  CopyResult result = {.first = range.first, .bytes = {}, .specified = {}};
  for (uint64_t address = range.first; address < range.last; ++address) {
    const uint64_t bit = (address - range.first) * 8;
    // Those that reach into the byte: lowest bit in (bit - bits, bit + 8).
    const uint64_t least = bit < static_cast<uint64_t>(bits) ? 0 : bit - bits + 1;
    const auto begin = std::ranges::lower_bound(sources, least, {}, &Source::bit);
    const auto end = std::ranges::lower_bound(sources, bit + 8, {}, &Source::bit);
    const std::span<const Source> here(begin, end);
    Written written = {};
    if (copy.form->direction == CopyDirection::kStore) {
      written = StoredByte(here, bits, bit, memory.Global(address));
    } else {
      const uint64_t element = here.empty() ? address : range.first + here[0].bit / 8;
      written = ReducedByte(copy, here, bit, GlobalWord(memory, element, 0, bits),
                            memory.Global(address));
    }
    result.bytes.push_back(written.byte);
    result.specified.push_back(written.specified);
  }
  return result;
}

}  // namespace

uint64_t ReferenceTileBytes(const TensorCopy& copy, const CopyRules& rules) {
  const Tile tile = TileOf(copy, rules);
  const int64_t unit = TableOf(copy.map.swizzle).unit;
  return (tile.rows() * tile.pitch + unit - 1) / unit * unit;
}

GlobalRange ReferenceTouchedRange(const TensorCopy& copy, const CopyRules& rules) {
  const Tile tile = TileOf(copy, rules);
  return RangeOf(InBounds(copy, rules, tile), tile.cell.bits);
}

CopyResult ReferenceCopy(const TensorCopy& copy, const CopyRules& rules, const CopyMemory& memory) {
  if (copy.form->direction == CopyDirection::kLoad) return Load(copy, rules, memory);
  return StoreOrReduce(copy, rules, memory);
}

}  // namespace mmadiff::reference
