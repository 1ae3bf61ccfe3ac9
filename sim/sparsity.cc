#include "sim/sparsity.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "sim/reading.h"

namespace mmadiff {
namespace {

bool SelectsStored(const Model& m) {
  return m.algorithm.selection == Selection::kStored ||
         m.algorithm.selection == Selection::kFirstsThenSeconds;
}

bool StoresAll(std::span<const uint64_t> words, uint64_t metadata) {
  const int group = static_cast<int>(words.size());
  for (int p = 0; p < group; ++p) {
    if (words[p] != 0 && !IsStored(group, metadata, p)) return false;
  }
  return true;
}

// Writes the k of the stored products of a row, in the order in which they are added.
void PutStoredK(const Model& m, const uint64_t* metadata, int* k) {
  const int group = m.sparse_group, stored = group / 2, groups = m.k / group;
  const bool firsts = m.algorithm.selection == Selection::kFirstsThenSeconds && stored > 1;
  const int run = stored / 2;  // elements of a stored quarter
  for (int g = 0; g < groups; ++g) {
    for (int n = 0; n < stored; ++n) {
      const int at = firsts ? (n / run * groups + g) * run + n % run : g * stored + n;
      k[at] = g * group + StoredPosition(group, metadata[g], n);
    }
  }
}

// One dot product's words, from the words of a sparse one.
class Selector {
 public:
  explicit Selector(const Model& m) : m_(m), metadata_(m.groups()), k_(m.k) {
    std::iota(k_.begin(), k_.end(), 0);
    if (SelectsStored(m)) k_.resize(m.k / 2);
  }

  // `metadata` may be nullptr: not given.
  void Read(const uint64_t* a, const uint64_t* metadata) {
    const int group = m_.sparse_group;
    for (int g = 0; g < m_.groups(); ++g) {
      metadata_[g] = StoredMetadata({a + g * group, static_cast<size_t>(group)},
                                    metadata == nullptr ? 0 : metadata[g]);
    }
    if (SelectsStored(m_)) PutStoredK(m_, metadata_.data(), k_.data());
  }

  void Put(const uint64_t* from, bool of_b, uint64_t* to) const {
    const bool zeros = m_.algorithm.selection != Selection::kInPlace || !of_b;
    for (const int k : k_) {
      const bool stored =
          SelectsStored(m_) || !zeros ||
          IsStored(m_.sparse_group, metadata_[k / m_.sparse_group], k % m_.sparse_group);
      *to++ = stored ? from[k] : 0;
    }
    std::copy_n(from + m_.k, m_.scales(), to);
  }

  const std::vector<int>& k() const { return k_; }

 private:
  const Model& m_;
  std::vector<uint64_t> metadata_;
  std::vector<int> k_;
};

// For words of A that differ from +0: "; -0 differs from +0" if some are -0.
std::string MinusZeroText(const Format& a, std::span<const uint64_t> words) {
  const bool any = !IsInteger(a) && std::ranges::count(words, 1ull << SignBit(a)) > 0;
  return any ? "; -0 differs from +0" : "";
}

}  // namespace

std::span<const uint64_t> LegalMetadata(int group) {
  static constexpr uint64_t kOfHalves[] = {0x4, 0xe};
  if (group < 4) return kOfHalves;
  return kLegalMetadata;
}

bool IsLegalMetadata(int group, uint64_t metadata) {
  return std::ranges::count(LegalMetadata(group), metadata) > 0;
}

bool IsStored(int group, uint64_t metadata, int position) {
  for (int n = 0; n < group / 2; ++n) {
    if (StoredPosition(group, metadata, n) == position) return true;
  }
  return false;
}

uint64_t MetadataFor(std::span<const uint64_t> words) {
  for (const uint64_t metadata : LegalMetadata(static_cast<int>(words.size()))) {
    if (StoresAll(words, metadata)) return metadata;
  }
  return 0;
}

uint64_t StoredMetadata(std::span<const uint64_t> words, uint64_t metadata) {
  if (metadata != 0) return metadata;
  const uint64_t fits = MetadataFor(words);
  return fits != 0 ? fits : kLegalMetadata[0];
}

std::vector<uint64_t> StoredMetadata(const Shape& s, const DotProductCase& dot) {
  std::vector<uint64_t> all(s.groups);
  for (int g = 0; g < s.groups; ++g) {
    const size_t group = s.k / s.groups;
    all[g] = StoredMetadata(std::span(dot.a).subspan(g * group, group),
                            dot.metadata.empty() ? 0 : dot.metadata[g]);
  }
  return all;
}

std::vector<uint64_t> StoredMetadata(const Batch& batch) {
  const Shape& s = batch.shape;
  std::vector<uint64_t> all = batch.metadata;
  all.resize(batch.count * s.metadata_words());
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t row = i / s.groups, g = i % s.groups, group = s.k / s.groups;
    all[i] = StoredMetadata({&batch.a[row * s.row_words() + g * group], group}, all[i]);
  }
  return all;
}

void PutStored(std::span<const uint64_t> stored, Batch& batch) {
  const Shape& s = batch.shape;
  const int group = s.k / s.groups, each = group / 2;
  for (size_t i = 0; i < stored.size(); ++i) {
    const size_t word = i / each, row = word / s.groups;
    const int position = StoredPosition(group, batch.metadata[word], static_cast<int>(i) % each);
    batch.a[row * s.row_words() + word % s.groups * group + position] = stored[i];
  }
}

bool FitMetadata(const Shape& s, DotProductCase& dot) {
  const size_t group = s.k / std::max(s.groups, 1);
  for (int g = 0; g < s.groups; ++g) {
    const std::span<const uint64_t> words = std::span(dot.a).subspan(g * group, group);
    if (dot.metadata.empty() || dot.metadata[g] == 0 || !StoresAll(words, dot.metadata[g])) {
      dot.metadata.resize(s.groups);
      dot.metadata[g] = MetadataFor(words);
    }
    if (dot.metadata[g] == 0) return false;
  }
  return true;
}

void DropUnstored(uint64_t metadata, std::span<uint64_t> words) {
  const int group = static_cast<int>(words.size());
  for (int p = 0; p < group; ++p) {
    if (!IsStored(group, metadata, p)) words[p] = 0;
  }
}

void Prune(const Shape& s, uint64_t first, DotProductCase& dot) {
  dot.metadata.resize(s.groups);
  for (int g = 0; g < s.groups; ++g) {
    const int group = s.k / s.groups;
    const std::span<const uint64_t> legal = LegalMetadata(group);
    dot.metadata[g] = legal[(first + g) % legal.size()];
    DropUnstored(dot.metadata[g], std::span(dot.a).subspan(g * group, group));
  }
}

std::string WhyUndefined(const Instruction& instruction, std::span<const uint64_t> metadata) {
  const int group = instruction.shape.k / std::max(instruction.shape.groups, 1);
  for (size_t i = 0; i < metadata.size(); ++i) {
    if (IsLegalMetadata(group, metadata[i])) continue;
    std::string legal;
    for (const uint64_t m : LegalMetadata(group))
      legal += std::string(" 0") + "0123456789abcdef"[m];
    char word[24];
    std::snprintf(word, sizeof(word), "%02llx", static_cast<unsigned long long>(metadata[i]));
    return instruction.name + ": metadata word e" + std::to_string(i % instruction.shape.groups) +
           " is " + word + ", which is undefined; defined are" + legal;
  }
  return "";
}

std::string WhyNotSparse(const Instruction& instruction, std::span<const uint64_t> a,
                         std::span<const uint64_t> metadata) {
  if (!instruction.sparse()) return "";
  const Shape& s = instruction.shape;
  const int group = s.k / s.groups;
  const size_t rows = a.size() / s.row_words();
  for (size_t i = 0; i < rows * s.groups; ++i) {
    const size_t row = i / s.groups, g = i % s.groups, first = g * group;
    const std::span<const uint64_t> words = a.subspan(row * s.row_words() + first, group);
    const std::string in_row = rows == 1 ? "" : " in row " + std::to_string(row);
    if (metadata.empty() || metadata[i] == 0) {
      if (MetadataFor(words) != 0) continue;
      const char* const most = group == 2   ? "one of each group of two elements"
                               : group == 4 ? "two of each group of four elements"
                                            : "two pairs of each group of eight elements";
      return instruction.name + " is sparse: at most " + most +
             " of A may differ from +0; too many differ: a" + std::to_string(first) + " to a" +
             std::to_string(first + group - 1) + in_row + MinusZeroText(*instruction.a, words);
    }
    for (int p = 0; p < group; ++p) {
      if (words[p] == 0 || IsStored(group, metadata[i], p)) continue;
      return instruction.name + ": a" + std::to_string(first + p) + in_row +
             " differs from +0, but metadata word e" + std::to_string(g) + " does not store it" +
             MinusZeroText(*instruction.a, words.subspan(p, 1));
    }
  }
  return "";
}

std::string SparsityText(const Model& sparse) {
  return std::to_string(sparse.sparse_group / 2) + ":" + std::to_string(sparse.sparse_group);
}

Model SelectedModel(const Model& m) {
  Model selected = m;
  selected.sparse_group = 0;
  selected.algorithm.selection = Selection::kStored;
  if (SelectsStored(m)) {
    selected.k = m.k / 2;
    selected.scale_block = m.scale_block / 2;
  } else {
    selected.algorithm.terms = 2 * m.algorithm.terms;
    selected.algorithm.group_terms = 2 * m.algorithm.group_terms;
  }
  return selected;
}

DotProductCase Selected(const Model& m, const DotProductCase& dot) {
  Selector selector(m);
  selector.Read(dot.a.data(), dot.metadata.empty() ? nullptr : dot.metadata.data());
  const size_t words = selector.k().size() + m.scales();
  DotProductCase selected = {std::vector<uint64_t>(words), std::vector<uint64_t>(words), dot.c};
  selector.Put(dot.a.data(), false, selected.a.data());
  selector.Put(dot.b.data(), true, selected.b.data());
  return selected;
}

Batch Selected(const Model& m, const Batch& batch) {
  const Shape& s = batch.shape;
  Selector selector(m);
  const int k = static_cast<int>(selector.k().size()), words = k + s.scales;
  Batch selected;
  selected.Resize({1, 1, k, 1, s.scales}, batch.dot_products());
  selected.c = batch.c;
  uint64_t *a = selected.a.data(), *b = selected.b.data();
  for (int64_t row = 0; row < batch.count * s.blocks * s.m; ++row) {
    const uint64_t* const from = &batch.a[row * s.row_words()];
    selector.Read(from, batch.metadata.empty() ? nullptr : &batch.metadata[row * s.groups]);
    for (int column = 0; column < s.n; ++column, a += words, b += words) {
      selector.Put(from, false, a);
      selector.Put(&batch.b[(row / s.m * s.n + column) * s.row_words()], true, b);
    }
  }
  return selected;
}

std::vector<int> SelectedK(const Model& m, const DotProductCase& dot) {
  Selector selector(m);
  selector.Read(dot.a.data(), dot.metadata.empty() ? nullptr : dot.metadata.data());
  return selector.k();
}

}  // namespace mmadiff
