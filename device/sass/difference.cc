#include "device/sass/difference.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mmadiff::sass {
namespace {

constexpr int kDepth = 2;  // of expressions in the text

std::string PlaceOf(const Instruction& in) {
  return absl::StrCat(in.text, " at 0x", absl::Hex(in.address, absl::kZeroPad4));
}

std::string Text(const Expressions& pool, const Origins& program, int e) {
  const Instruction* maker = program.MakerOf(e);
  const bool result = maker != nullptr && pool[e].kind == Expression::kComputed;
  return result ? absl::StrCat("the result of ", PlaceOf(*maker)) : pool.Text(e, kDepth);
}

// Compares one computation in two programs.
class Comparison {
 public:
  Comparison(const Expressions& pool, const Origins& code, const Origins& reference)
      : pool_(pool), code_(code), reference_(reference) {}

  // Whether both are results of the same instruction.
  bool SameOperation(int x, int y) const {
    const Expression &a = pool_[x], &b = pool_[y];
    return a.kind == Expression::kComputed && b.kind == a.kind && a.name == b.name &&
           a.number == b.number && a.of.size() == b.of.size();
  }

  // The operands in which two such results differ, first by value: expressions may differ in bits
  // that nothing reads. Those of commutative instructions may be in other places.
  std::pair<int, int> Unequal(int got, int wanted) {
    const Expression &x = pool_[got], &y = pool_[wanted];
    std::vector<int> all_x = x.of, all_y = y.of, only_x, only_y;
    std::ranges::sort(all_x), std::ranges::sort(all_y);
    std::ranges::set_difference(all_x, all_y, std::back_inserter(only_x));
    std::ranges::set_difference(all_y, all_x, std::back_inserter(only_y));
    if (only_x.size() == 1 && only_y.size() == 1) return {only_x[0], only_y[0]};
    for (size_t i = 0; i < 2; ++i) {
      if (x.of.size() != 2 || Differ(x.of[i], y.of[1 - i])) continue;
      return {x.of[1 - i], y.of[i]};  // they are equal the other way round
    }
    for (size_t i = 0; i < x.of.size(); ++i) {
      if (Differ(x.of[i], y.of[i])) return {x.of[i], y.of[i]};
    }
    const auto at = std::ranges::mismatch(x.of, y.of);
    return {*at.in1, *at.in2};
  }

 private:
  // Whether they have different values, or if one has none, whether some operands have.
  bool Differ(int x, int y) {
    if (x == y) return false;
    const auto [at, first] = differ_.try_emplace({x, y}, true);
    if (!first) return at->second;
    const std::optional<uint32_t> a = code_.ValueOf(x), b = reference_.ValueOf(y);
    bool differ = true;
    if (a.has_value() && b.has_value()) {
      differ = *a != *b;
    } else if (SameOperation(x, y)) {
      differ = false;
      for (size_t i = 0; i < pool_[x].of.size() && !differ; ++i) {
        differ = Differ(pool_[x].of[i], pool_[y].of[i]);
      }
    }
    return differ_[{x, y}] = differ;
  }

  const Expressions& pool_;
  const Origins &code_, &reference_;
  std::map<std::pair<int, int>, bool> differ_;
};

}  // namespace

std::string DifferenceText(const Expressions& pool, const Origins& code, int got,
                           const Origins& reference, int wanted) {
  Comparison comparison(pool, code, reference);
  const Instruction* reads = nullptr;
  while (comparison.SameOperation(got, wanted)) {
    if (const Instruction* maker = code.MakerOf(got)) reads = maker;
    std::tie(got, wanted) = comparison.Unequal(got, wanted);
  }
  return absl::StrCat(
      reads == nullptr ? "the code stores " : absl::StrCat(PlaceOf(*reads), " reads "),
      Text(pool, code, got), "; it should ", reads == nullptr ? "store " : "read ",
      Text(pool, reference, wanted));
}

}  // namespace mmadiff::sass
