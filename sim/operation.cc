#include "sim/operation.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>

#include "sim/own_model.h"
#include "sim/pattern.h"
#include "sim/product.h"
#include "sim/quoted_name.h"
#include "sim/unlisted.h"

namespace mmadiff {
namespace {

Operation MakeOperation(const Numerics& n, const Instruction& i) {
  Model model = {*i.a, *i.b, *i.c, *i.d, i.shape.k, n.algorithm};
  if (i.shape.scales > 0) {
    model.scale = *i.scale;
    model.scale_block = i.shape.k / i.shape.scales;
  }
  if (i.sparse()) model.sparse_group = i.shape.k / i.shape.groups;
  return {&i, &n, model, std::string(n.arch) + "/" + i.name};
}

std::vector<Operation> MakeOperations() {
  std::vector<Operation> ops;
  for (const Numerics& n : AllNumerics()) ops.push_back(MakeOperation(n, *n.instruction));
  return ops;
}

// Whether the instruction is native on the architecture or emulated by its assembler.
bool HasInstruction(std::string_view arch, const Instruction& i) {
  const std::span<const Architecture> all = Architectures();
  return IsNativeOn(i, arch) || std::ranges::any_of(all, [arch](const Architecture& a) {
           return a.name == arch && a.emulates;
         });
}

std::vector<Numerics> MakeUnmodelledNumerics() {
  std::vector<Numerics> all;
  for (const UnknownNumerics& u : AllUnknown()) {
    const Instruction* i = FindInstruction(u.instruction, u.arch);
    if (i == nullptr || !HasInstruction(u.arch, *i)) continue;
    all.push_back({u.arch, i, {.family = Family::kNone}, u.evidence, NanVerdict::kAnyNan});
  }
  return all;
}

std::vector<Operation> MakeUnmodelled() {
  static const auto& numerics = *new std::vector<Numerics>(MakeUnmodelledNumerics());
  std::vector<Operation> ops;
  for (const Numerics& n : numerics) ops.push_back(MakeOperation(n, *n.instruction));
  return ops;
}

// The m and n of "mMnNk" in a name, and the text before and after.
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
  return std::ranges::any_of(sizes, [m, n](const Sizes& s) {
    return m == s.m && n >= s.n_min && n <= s.n_max && (n - s.n_min) % s.n_step == 0;
  });
}

// The table's operation whose name equals `name` except perhaps for m and n, legal or not.
const Operation* TableOperationOfAnySize(const std::string& name, SizedName* wanted) {
  if (!ParseSizes(name, wanted)) return nullptr;
  for (const Operation& op : Operations()) {
    if (op.instruction->sizes.empty()) continue;
    SizedName own;
    if (ParseSizes(op.name, &own) && own.before == wanted->before && own.behind == wanted->behind) {
      return &op;
    }
  }
  return nullptr;
}

// An operation with a different size; created at its first use and kept.
const Operation* SizedOperation(const std::string& name) {
  struct Made {
    Instruction instruction;
    Operation op;
  };
  static std::mutex& mutex = *new std::mutex;
  static auto& made = *new std::map<std::string, Made>;
  SizedName wanted;
  const Operation* op = TableOperationOfAnySize(name, &wanted);
  if (op == nullptr || !IsLegal(op->instruction->sizes, wanted.m, wanted.n)) return nullptr;
  const Instruction sized = WithSize(*op->instruction, wanted.m, wanted.n);
  if (std::string(op->arch()) + "/" + sized.name != name) return nullptr;  // "n08"
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = made.try_emplace(name, Made{sized, {}});
  if (is_new) entry->second.op = MakeOperation(*op->numerics, entry->second.instruction);
  return &entry->second.op;
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

// Edit distances from the first 128 characters of one text to other texts: Myers' bit-parallel
// algorithm (1999) in the form of Hyyro (2003), with one step per character of the other text. Bit
// i of a word describes the first i + 1 characters.
class EditDistances {
 public:
  explicit EditDistances(std::string_view name) : length_(std::min<size_t>(name.size(), 128)) {
    for (size_t i = 0; i < length_; ++i) places_[static_cast<uint8_t>(name[i])] |= Bits{1} << i;
  }

  size_t To(std::string_view other) const {
    if (length_ == 0) return other.size();
    Bits more = ~Bits{0}, less = 0;  // where the distance grows or falls down the column
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

std::span<const Operation> Operations() {
  static const std::vector<Operation>& ops = *new std::vector<Operation>(MakeOperations());
  return ops;
}

std::span<const Operation> UnmodelledOperations() {
  static const std::vector<Operation>& ops = *new std::vector<Operation>(MakeUnmodelled());
  return ops;
}

bool IsModelled(const Operation& op) { return op.model.algorithm.family != Family::kNone; }

const Hypothesis* HypothesisOf(const Operation& op) {
  if (IsModelled(op)) return nullptr;
  for (const Hypothesis& h : Hypotheses()) {
    if (MatchesAny(h.archs, std::string(op.arch())) &&
        MatchesAny(h.instructions, op.instruction->name)) {
      return &h;
    }
  }
  return nullptr;
}

std::vector<const Operation*> DistinctOperations() {
  std::vector<const Operation*> distinct;
  for (const Operation& op : Operations()) {
    const bool known = std::ranges::any_of(
        distinct, [&op](const Operation* other) { return SameModel(op.model, other->model); });
    if (!known) distinct.push_back(&op);
  }
  return distinct;
}

std::string ResolveAlias(std::string_view name) {
  const size_t slash = name.find('/');
  for (const Architecture& arch : Architectures()) {
    if (IsAlias(arch, name.substr(0, slash))) {
      return slash == name.npos ? arch.name : arch.name + std::string(name.substr(slash));
    }
  }
  return std::string(name);
}

const Operation* FindOperation(std::string_view name, Models models) {
  static const auto& by_name = *[] {
    auto* map = new std::map<std::string, const Operation*>;
    for (const Operation& op : Operations()) map->emplace(op.name, &op);
    return map;
  }();
  const std::string resolved = ResolveAlias(name);
  const auto found = by_name.find(resolved);
  const Operation* op = found == by_name.end() ? SizedOperation(resolved) : found->second;
  if (op == nullptr) op = FindOwn(resolved);
  return op == nullptr && models == Models::kOptional ? FindUnmodelled(resolved) : op;
}

const Operation* FindUnmodelled(std::string_view name) {
  const std::string resolved = ResolveAlias(name);
  for (const Operation& op : UnmodelledOperations()) {
    if (op.name == resolved) return &op;
  }
  return FindUnlisted(resolved);
}

bool IsNative(const Operation& op) { return IsNativeOn(*op.instruction, op.arch()); }

std::vector<const Operation*> MatchOperations(std::string_view glob, Models models) {
  const std::string pattern = ResolveAlias(glob);
  if (const Operation* op = FindOperation(pattern, models)) return {op};
  std::vector<const Operation*> ops;
  const auto add = [&](std::span<const Operation> all) {
    for (const Operation& op : all) {
      if (fnmatch(pattern.c_str(), op.name.c_str(), 0) == 0) ops.push_back(&op);
    }
  };
  add(Operations());
  if (models == Models::kOptional) add(UnmodelledOperations());
  return ops;
}

std::vector<std::string> MatchUnknown(std::string_view glob) {
  const std::string pattern = ResolveAlias(glob);
  std::vector<std::string> names;
  for (const UnknownNumerics& u : AllUnknown()) {
    const std::string name = std::string(u.arch) + "/" + u.instruction;
    if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
    if (FindOperation(name, Models::kOptional) == nullptr) names.push_back(name);
  }
  return names;
}

namespace {

// For names without a similar one: "; h100 is sm_90", the nearest architectures, or a glob that
// finds the text.
std::string Hint(std::string_view name) {
  const std::string product(name.substr(0, name.find('/')));
  const std::string arch = ArchitectureOf(product);
  if (!arch.empty() && arch != product) return "; " + product + " is " + arch;
  std::vector<std::string> archs;
  for (const Architecture& a : Architectures()) {
    archs.push_back(a.name);
    std::ranges::move(SplitWords(a.aliases), std::back_inserter(archs));
  }
  const bool known = std::ranges::count(archs, product) != 0;
  if (!known && product.size() > 2 && product.size() < name.size()) {
    const std::string near = NearestText("; nearest architectures: ", product, archs, 2);
    if (!near.empty()) return near;
  }
  if (const auto formats = QuotedFormats(name); !formats.empty() && formats[0] != name) {
    std::string hint = "; " + std::string(name) + " is ";
    for (const std::string& f : formats) hint += (f == formats[0] ? "" : ", ") + f;
    return hint + ": '*" + formats[0] + "*'";
  }
  const auto within = std::ranges::count_if(
      Operations(), [&](const Operation& op) { return op.name.find(name) != op.name.npos; });
  if (name.empty() || within == 0) return "";
  return "; '*" + std::string(name) + "*' matches " + std::to_string(within);
}

}  // namespace

std::string WhyNoOperation(std::string_view name) {
  const std::string resolved = ResolveAlias(name);
  const std::string instruction = resolved.substr(std::min(resolved.find('/'), resolved.size()));
  std::string elsewhere;
  const auto add = [&elsewhere](std::string_view arch) {
    elsewhere += (elsewhere.empty() ? "" : ", ") + std::string(arch);
  };
  for (const UnknownNumerics& u : AllUnknown()) {
    if (u.arch + ("/" + u.instruction) == resolved) {
      return "'" + resolved + "' exists, but cannot be simulated: " + Text(u.evidence);
    }
  }
  if (std::string why; FindOwn(resolved, &why) == nullptr && !why.empty()) return why;
  if (FindUnlisted(resolved) != nullptr) {
    return "'" + resolved + "' is not in the tables and has no model; `infer` searches for one";
  }
  SizedName wanted;
  if (const Operation* op = TableOperationOfAnySize(resolved, &wanted)) {
    return "'" + resolved + "' has no such size; it has " + LegalSizes(op->instruction->sizes);
  }
  for (const Operation& op : Operations()) {
    if (!instruction.empty() && instruction.substr(1) == op.instruction->name) add(op.arch());
  }
  // If the architecture exists, suggest only its names.
  const std::string_view arch = std::string_view(resolved).substr(0, resolved.find('/'));
  std::vector<std::string> names;
  for (const Operation& op : Operations()) {
    if (op.arch() == arch) names.push_back(op.name);
  }
  if (names.empty()) {
    for (const Operation& op : Operations()) names.push_back(op.name);
  }
  const std::string near = NearestText("; nearest names: ", resolved, names, 3);
  return "no instruction '" + std::string(name) + "'" +
         (elsewhere.empty() ? "" : "; it exists on " + elsewhere) +
         (near.empty() && elsewhere.empty() ? Hint(name) : near) + " (mmadiff list instructions)";
}

std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> candidates,
                                 size_t count) {
  std::vector<std::pair<size_t, size_t>> ranked;  // distance and index
  const EditDistances distances(name);
  const size_t most = std::max<size_t>(2, std::min<size_t>(name.size(), 128) / 3);
  for (size_t i = 0; i < candidates.size(); ++i) {
    const size_t distance = distances.To(candidates[i]);
    const bool begins = !name.empty() && candidates[i].rfind(name, 0) == 0;
    if (distance <= most || begins) ranked.emplace_back(distance, i);
  }
  count = std::min(count, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + count, ranked.end());
  std::vector<std::string> nearest;
  for (size_t i = 0; i < count; ++i) nearest.push_back(candidates[ranked[i].second]);
  return nearest;
}

std::string NearestText(std::string_view lead, std::string_view name,
                        std::span<const std::string> candidates, size_t count) {
  std::string text;
  for (const std::string& n : Nearest(name, candidates, count)) {
    text += (text.empty() ? std::string(lead) : ", ") + n;
  }
  return text;
}

Model WithAlgorithm(const Operation& op, const Algorithm& algorithm) {
  Model model = op.model;
  model.algorithm = algorithm;
  return model;
}

bool SameModel(const Model& x, const Model& y) {
  const auto same = [](const Format& f, const Format& g) {
    return f.name == g.name ||
           (f.name != nullptr && g.name != nullptr && std::string_view(f.name) == g.name);
  };
  return same(x.a, y.a) && same(x.b, y.b) && same(x.c, y.c) && same(x.d, y.d) && x.k == y.k &&
         x.executions == y.executions && x.algorithm == y.algorithm && same(x.scale, y.scale) &&
         x.scale_block == y.scale_block && x.sparse_group == y.sparse_group;
}

}  // namespace mmadiff
