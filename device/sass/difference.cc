#include "device/sass/difference.h"

#include <algorithm>
#include <iterator>
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

// The operands in which two expressions differ. Those of commutative instructions may be in other
// places.
std::pair<int, int> Unequal(const Expression& x, const Expression& y) {
  std::vector<int> all_x = x.of, all_y = y.of, only_x, only_y;
  std::ranges::sort(all_x), std::ranges::sort(all_y);
  std::ranges::set_difference(all_x, all_y, std::back_inserter(only_x));
  std::ranges::set_difference(all_y, all_x, std::back_inserter(only_y));
  if (only_x.size() == 1 && only_y.size() == 1) return {only_x[0], only_y[0]};
  const auto at = std::ranges::mismatch(x.of, y.of);
  return {*at.in1, *at.in2};
}

}  // namespace

std::string DifferenceText(const Expressions& pool, const Origins& code, int got,
                           const Origins& reference, int wanted) {
  const Instruction* reads = nullptr;
  while (true) {
    const Expression &x = pool[got], &y = pool[wanted];
    const bool same = x.kind == Expression::kComputed && y.kind == x.kind && x.name == y.name &&
                      x.number == y.number && x.of.size() == y.of.size();
    if (!same) break;
    if (const Instruction* maker = code.MakerOf(got)) reads = maker;
    std::tie(got, wanted) = Unequal(x, y);
  }
  return absl::StrCat(
      reads == nullptr ? "the code stores " : absl::StrCat(PlaceOf(*reads), " reads "),
      Text(pool, code, got), "; it should ", reads == nullptr ? "store " : "read ",
      Text(pool, reference, wanted));
}

}  // namespace mmadiff::sass
