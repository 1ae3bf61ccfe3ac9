#include "device/sass/expressions.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xxhash.h"

namespace mmadiff::sass {
namespace {

// How many of the first operands may be exchanged.
size_t Commutes(std::string_view form) {
  const std::string_view name = form.substr(0, form.find('.'));
  for (const std::string_view two : {"FADD", "FMUL", "HADD2", "IMAD", "FFMA"}) {
    if (name == two) return 2;
  }
  return form == "IADD" || form == "IADD3" || form == "IADD3.X" ? 3 : 0;
}

}  // namespace

int Expressions::Add(Expression e) {
  const auto [at, first] =
      numbers_.try_emplace({e.kind, e.number, e.name, e.of}, static_cast<int>(all_.size()));
  if (first) all_.push_back(std::move(e));
  return at->second;
}

int Expressions::Computed(const std::string& name, uint32_t word, std::vector<int> of) {
  std::sort(of.begin(), of.begin() + std::min(of.size(), Commutes(name)));
  return Add({Expression::kComputed, word, name, std::move(of)});
}

uint64_t Expressions::Digest(int number) const {
  const auto known = digests_.find(number);
  if (known != digests_.end()) return known->second;
  const Expression& e = all_[number];
  std::vector<uint64_t> parts;
  for (const int of : e.of) parts.push_back(Digest(of));
  std::sort(parts.begin(), parts.begin() + std::min(parts.size(), Commutes(e.name)));
  const std::string text = absl::StrCat(static_cast<int>(e.kind), " ", e.number, " ", e.name, " ",
                                        absl::StrJoin(parts, " "));
  return digests_[number] = XXH3_64bits(text.data(), text.size());
}

std::string Expressions::Text(int number, int depth) const {
  const Expression& e = all_[number];
  if (e.kind == Expression::kConstant) {
    return e.number < 10 ? absl::StrCat(e.number) : absl::StrCat("0x", absl::Hex(e.number));
  }
  if (e.kind == Expression::kInput) return absl::StrCat(e.name, "[", e.number, "]");
  if (depth == 0) return "...";
  if (e.name.empty()) return absl::StrCat("{", Text(e.of[0], depth), ", ...}");
  if (e.name == "-" || e.name == "~" || e.name == "!") {
    return absl::StrCat(e.name, Text(e.of[0], depth));
  }
  return absl::StrCat(
      e.name, "(",
      absl::StrJoin(e.of, ", ",
                    [&](std::string* out, int of) { absl::StrAppend(out, Text(of, depth - 1)); }),
      ")");
}

}  // namespace mmadiff::sass
