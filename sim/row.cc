#include "sim/row.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "sim/pattern.h"

namespace mmadiff {
namespace {

Row MakeRow(const Numerics& n, const Instruction& i) {
  Model model = {*i.a, *i.b, *i.c, *i.d, i.shape.k, n.algorithm};
  if (i.shape.scales > 0) {
    model.scale = *i.scale;
    model.scale_block = i.shape.k / i.shape.scales;
  }
  return {&i, &n, model, std::string(n.arch) + "/" + i.name};
}

std::vector<Row> MakeRows() {
  std::vector<Row> rows;
  for (const Numerics& n : AllNumerics()) rows.push_back(MakeRow(n, *n.instruction));
  return rows;
}

// "mMnNk" of a name, the text before it and the text behind.
struct SizedName {
  std::string before, behind;
  int m = 0, n = 0;
};

bool ParseSizes(const std::string& name, SizedName* sized) {
  for (size_t i = name.find('.'); i < name.size(); i = name.find('.', i + 1)) {
    int length = 0;
    if (std::sscanf(&name[i], ".m%3dn%3dk%n", &sized->m, &sized->n, &length) == 2 && length > 0) {
      sized->before = name.substr(0, i);
      sized->behind = name.substr(i + length);
      return true;
    }
  }
  return false;
}

bool IsLegal(std::span<const Sizes> sizes, int m, int n) {
  return std::any_of(sizes.begin(), sizes.end(), [m, n](const Sizes& s) {
    return m == s.m && n >= s.n_min && n <= s.n_max && (n - s.n_min) % s.n_step == 0;
  });
}

// The row of the table that differs from `name` at most in a legal or illegal m and n.
const Row* TableRowOfAnySize(const std::string& name, SizedName* wanted) {
  if (!ParseSizes(name, wanted)) return nullptr;
  for (const Row& row : Rows()) {
    if (row.instruction->sizes.empty()) continue;
    SizedName own;
    if (ParseSizes(row.name, &own) && own.before == wanted->before &&
        own.behind == wanted->behind) {
      return &row;
    }
  }
  return nullptr;
}

// A row of another size, made when it is first asked for and kept.
const Row* SizedRow(const std::string& name) {
  struct Made {
    Instruction instruction;
    Row row;
  };
  static std::mutex& mutex = *new std::mutex;
  static auto& made = *new std::map<std::string, Made>;
  SizedName wanted;
  const Row* row = TableRowOfAnySize(name, &wanted);
  if (row == nullptr || !IsLegal(row->instruction->sizes, wanted.m, wanted.n)) return nullptr;
  const Instruction sized = WithSize(*row->instruction, wanted.m, wanted.n);
  if (std::string(row->arch()) + "/" + sized.name != name) return nullptr;  // "n08"
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = made.try_emplace(name, Made{sized, {}});
  if (is_new) entry->second.row = MakeRow(*row->numerics, entry->second.instruction);
  return &entry->second.row;
}

std::string LegalSizes(std::span<const Sizes> sizes) {
  std::string text;
  for (const Sizes& s : sizes) {
    if (!text.empty()) text += ", or ";
    text += "m = " + std::to_string(s.m) + " and n = " + std::to_string(s.n_min) + ".." +
            std::to_string(s.n_max) + " in steps of " + std::to_string(s.n_step);
  }
  return text;
}

// Edit distances of other texts to the first 128 characters of one: Myers' bit-parallel algorithm
// (1999) in the form of Hyyro (2003), a step for each character of the other text. Bit i of a word
// is about the first i + 1 characters.
class EditDistances {
 public:
  explicit EditDistances(std::string_view name) : length_(std::min<size_t>(name.size(), 128)) {
    for (size_t i = 0; i < length_; ++i) places_[static_cast<uint8_t>(name[i])] |= Bits{1} << i;
  }

  size_t To(std::string_view other) const {
    if (length_ == 0) return other.size();
    Bits more = ~Bits{0}, less = 0;  // where the distance grows and falls down the column
    size_t distance = length_;
    for (const char c : other) {
      const Bits equal = places_[static_cast<uint8_t>(c)];
      const Bits diagonal = (((equal & more) + more) ^ more) | equal;
      const Bits grows = less | ~(diagonal | more), falls = more & diagonal;
      distance += static_cast<size_t>(grows >> (length_ - 1) & 1);
      distance -= static_cast<size_t>(falls >> (length_ - 1) & 1);
      const Bits right = grows << 1 | 1, vertical = equal | less;
      more = falls << 1 | ~(vertical | right);
      less = right & vertical;
    }
    return distance;
  }

 private:
  using Bits = unsigned __int128;
  size_t length_;
  std::array<Bits, 256> places_ = {};
};

}  // namespace

std::span<const Row> Rows() {
  static const std::vector<Row>& rows = *new std::vector<Row>(MakeRows());
  return rows;
}

std::vector<const Row*> DistinctRows() {
  std::vector<const Row*> distinct;
  for (const Row& row : Rows()) {
    const bool known = std::any_of(distinct.begin(), distinct.end(), [&row](const Row* other) {
      return SameModel(row.model, other->model);
    });
    if (!known) distinct.push_back(&row);
  }
  return distinct;
}

std::string ResolveAlias(std::string_view name) {
  const size_t slash = name.find('/');
  for (const Architecture& arch : Architectures()) {
    if (*arch.alias != '\0' && name.substr(0, slash) == arch.alias) {
      return slash == name.npos ? arch.name : arch.name + std::string(name.substr(slash));
    }
  }
  return std::string(name);
}

const Row* FindRow(std::string_view name) {
  static const auto& by_name = *[] {
    auto* map = new std::map<std::string, const Row*>;
    for (const Row& row : Rows()) map->emplace(row.name, &row);
    return map;
  }();
  const std::string resolved = ResolveAlias(name);
  const auto found = by_name.find(resolved);
  return found == by_name.end() ? SizedRow(resolved) : found->second;
}

bool IsNative(const Row& row) {
  const std::vector<std::string> native_on = Words(row.instruction->native_on);
  return std::find(native_on.begin(), native_on.end(), row.arch()) != native_on.end();
}

std::vector<const Row*> MatchRows(std::string_view glob) {
  const std::string pattern = ResolveAlias(glob);
  if (const Row* row = FindRow(pattern)) return {row};
  std::vector<const Row*> rows;
  for (const Row& row : Rows()) {
    if (fnmatch(pattern.c_str(), row.name.c_str(), 0) == 0) rows.push_back(&row);
  }
  return rows;
}

std::string WhyNoRow(std::string_view name) {
  const std::string resolved = ResolveAlias(name);
  const std::string instruction = resolved.substr(std::min(resolved.find('/'), resolved.size()));
  std::string elsewhere;
  const auto add = [&elsewhere](std::string_view arch) {
    elsewhere += (elsewhere.empty() ? "" : ", ") + std::string(arch);
  };
  for (const UnknownNumerics& u : AllUnknown()) {
    if (u.arch + ("/" + u.instruction) == resolved) {
      return "'" + resolved + "' exists, but cannot be simulated: " + u.evidence.text;
    }
  }
  SizedName wanted;
  if (const Row* row = TableRowOfAnySize(resolved, &wanted)) {
    return "'" + resolved + "' has no such size; it has " + LegalSizes(row->instruction->sizes);
  }
  for (const Row& row : Rows()) {
    if (!instruction.empty() && instruction.substr(1) == row.instruction->name) add(row.arch());
  }
  // Of an architecture that exists, names of its own.
  const std::string_view arch = std::string_view(resolved).substr(0, resolved.find('/'));
  std::vector<std::string> names;
  for (const Row& row : Rows()) {
    if (row.arch() == arch) names.push_back(row.name);
  }
  if (names.empty()) {
    for (const Row& row : Rows()) names.push_back(row.name);
  }
  std::string near;
  for (const std::string& n : Nearest(resolved, names, 3)) near += (near.empty() ? "" : ", ") + n;
  return "no instruction '" + std::string(name) + "'" +
         (elsewhere.empty() ? "" : "; it exists on " + elsewhere) + "; the nearest names are " +
         near + " (mmadiff list instructions)";
}

std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> candidates,
                                 size_t count) {
  std::vector<std::pair<size_t, size_t>> ranked;  // distance and index
  const EditDistances distances(name);
  for (size_t i = 0; i < candidates.size(); ++i)
    ranked.emplace_back(distances.To(candidates[i]), i);
  count = std::min(count, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + count, ranked.end());
  std::vector<std::string> nearest;
  for (size_t i = 0; i < count; ++i) nearest.push_back(candidates[ranked[i].second]);
  return nearest;
}

Model WithAlgorithm(const Row& row, const Algorithm& algorithm) {
  Model model = row.model;
  model.algorithm = algorithm;
  return model;
}

bool SameModel(const Model& x, const Model& y) {
  const auto same = [](const Format& f, const Format& g) {
    return f.name == g.name ||
           (f.name != nullptr && g.name != nullptr && std::string_view(f.name) == g.name);
  };
  return same(x.a, y.a) && same(x.b, y.b) && same(x.c, y.c) && same(x.d, y.d) && x.k == y.k &&
         x.algorithm == y.algorithm && same(x.scale, y.scale) && x.scale_block == y.scale_block;
}

}  // namespace mmadiff
