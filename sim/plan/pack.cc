#include "sim/plan/pack.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "sim/plan/convert.h"

namespace mmadiff {
namespace {

// Rows and k that are copied together, for the cache.
constexpr int64_t kRows = 16, kKs = 64;

// Words of arrays need not be aligned.
template <class Word>
Word LoadWord(const Word* from) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// A row's words `from_step` apart become words `to_step` apart.
template <class From, class To, class Widen>
void CopyRow(const From* from, int64_t from_step, const Widen& widen, int64_t count, To* to,
             int64_t to_step) {
  if (from_step == 1 && to_step == 1) {
    for (int64_t p = 0; p < count; ++p) to[p] = static_cast<To>(widen(LoadWord(from + p)));
    return;
  }
  for (; count > 0; --count, from += from_step, to += to_step) {
    *to = static_cast<To>(widen(LoadWord(from)));
  }
}

template <class From, class To, class Widen>
void CopyBlocks(const Words& words, const Widen& widen, std::span<const int64_t> rows,
                std::span<const int64_t> ks, const PackedLayout& layout, To* out) {
  const auto* from = reinterpret_cast<const From*>(words.data);
  const int64_t step = words.column_stride, count = std::ssize(ks);
  for (int64_t r0 = 0; r0 < std::ssize(rows); r0 += kRows) {
    const int64_t r1 = std::min(r0 + kRows, std::ssize(rows));
    for (int64_t p0 = 0; p0 < count;) {
      int64_t p1 = p0 + 1;  // consecutive k
      while (p1 < std::min(p0 + kKs, count) && ks[p1] == ks[p1 - 1] + 1) ++p1;
      for (int64_t r = r0; r < r1; ++r) {
        CopyRow(from + rows[r] * words.row_stride + ks[p0] * step, step, widen, p1 - p0,
                out + layout.At(r, p0), layout.lanes);
      }
      p0 = p1;
    }
  }
}

template <class From, class To>
void Copy(const Words& words, const Widening& widening, std::span<const int64_t> rows,
          std::span<const int64_t> ks, const PackedLayout& layout, To* out) {
  if (widening.is_same()) {
    return CopyBlocks<From, To>(
        words, [](From word) { return word; }, rows, ks, layout, out);
  }
  CopyBlocks<From, To>(words, widening, rows, ks, layout, out);
}

template <class To>
void CopyTo(const Words& words, const Widening& widening, std::span<const int64_t> rows,
            std::span<const int64_t> ks, const PackedLayout& layout, To* out) {
  switch (words.bits) {
    case 8:
      return Copy<uint8_t>(words, widening, rows, ks, layout, out);
    case 16:
      return Copy<uint16_t>(words, widening, rows, ks, layout, out);
    case 32:
      return Copy<uint32_t>(words, widening, rows, ks, layout, out);
    default:
      return Copy<uint64_t>(words, widening, rows, ks, layout, out);
  }
}

// Tables are kept: plans are executed by the thousand with one pair of formats.
const std::vector<uint64_t>& TableOf(const Format& from, const Format& to) {
  thread_local std::map<std::pair<std::string, std::string>, std::vector<uint64_t>> tables;
  std::vector<uint64_t>& table = tables[{from.name, to.name}];
  if (!table.empty()) return table;
  table.resize(int64_t{1} << from.bits);
  for (uint64_t word = 0; word < table.size(); ++word) {
    table[word] = Convert(from, to, NanRule::kPropagate, word);
  }
  return table;
}

}  // namespace

Widening::Widening(const Format& from, const Format& to)
    : from_(from), to_(to), same_(HasWordsOf(to, from)), table_(nullptr) {
  if (!same_ && from.bits <= 16) table_ = &TableOf(from, to);
}

uint64_t Widening::Converted(uint64_t word) const {
  return Convert(from_, to_, NanRule::kPropagate, word);
}

void Pack(const Words& words, const Widening& widening, std::span<const int64_t> rows,
          std::span<const int64_t> ks, const PackedLayout& layout, LaneArray& out) {
  const bool full = std::ssize(rows) % layout.lanes == 0 && std::ssize(ks) == layout.words;
  if (!full) out.Fill(0);
  out.bits() == 32 ? CopyTo(words, widening, rows, ks, layout, out.As<uint32_t>())
                   : CopyTo(words, widening, rows, ks, layout, out.As<uint64_t>());
}

}  // namespace mmadiff
