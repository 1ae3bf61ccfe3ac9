#include "sim/row.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace mmadiff {
namespace {

constexpr std::pair<const char*, const char*> kAliases[] = {
    {"volta", "sm_70"},  {"turing", "sm_75"},     {"ampere", "sm_80"},         {"ada", "sm_89"},
    {"hopper", "sm_90"}, {"blackwell", "sm_100"}, {"rtx_blackwell", "sm_120"},
};

std::vector<Row> MakeRows() {
  std::vector<Row> rows;
  for (const Numerics& n : AllNumerics()) {
    const Instruction* i = FindInstruction(n.instruction);
    if (i == nullptr) std::abort();  // a numerics row names no instruction: programmer error
    const Model model = {*i->a, *i->b, *i->c, *i->d, i->shape.k, n.algorithm};
    rows.push_back({i, &n, model, std::string(n.arch) + "/" + i->name});
  }
  return rows;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

}  // namespace

std::span<const Row> Rows() {
  static const std::vector<Row>& rows = *new std::vector<Row>(MakeRows());
  return rows;
}

std::string ResolveAlias(std::string_view name) {
  const size_t slash = name.find('/');
  for (const auto& [alias, arch] : kAliases) {
    if (name.substr(0, slash) == alias) {
      return slash == name.npos ? arch : arch + std::string(name.substr(slash));
    }
  }
  return std::string(name);
}

const Row* FindRow(std::string_view name) {
  const std::string resolved = ResolveAlias(name);
  for (const Row& row : Rows()) {
    if (row.name == resolved) return &row;
  }
  return nullptr;
}

std::vector<const Row*> MatchRows(std::string_view glob) {
  const std::string pattern = ResolveAlias(glob);
  std::vector<const Row*> rows;
  for (const Row& row : Rows()) {
    if (fnmatch(pattern.c_str(), row.name.c_str(), 0) == 0) rows.push_back(&row);
  }
  return rows;
}

std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> candidates,
                                 size_t count) {
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& c : candidates) ranked.emplace_back(EditDistance(name, c), c);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<std::string> nearest;
  for (size_t i = 0; i < std::min(count, ranked.size()); ++i) nearest.push_back(ranked[i].second);
  return nearest;
}

std::vector<std::string> NearestRows(std::string_view name) {
  std::vector<std::string> names;
  for (const Row& row : Rows()) names.push_back(row.name);
  return Nearest(ResolveAlias(name), names, 3);
}

Model WithAlgorithm(const Row& row, const Algorithm& algorithm) {
  Model model = row.model;
  model.algorithm = algorithm;
  return model;
}

}  // namespace mmadiff
