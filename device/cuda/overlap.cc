#include "device/cuda/overlap.h"

#include <algorithm>
#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace mmadiff {
namespace {

constexpr absl::string_view kNames[] = {"c",          "c_reversed", "c_rotated", "a",
                                        "a_reversed", "b",          "b_reversed"};

struct Overlap {
  char operand;  // 'a', 'b', 'c'
  int word, d;   // numbers of registers
};

// "c3d2"
std::optional<Overlap> ParseOverlap(absl::string_view text) {
  Overlap overlap;
  const size_t at = text.find('d');
  if (text.empty() || at == text.npos || text[0] < 'a' || text[0] > 'c') return std::nullopt;
  const absl::string_view word = text.substr(1, at - 1), d = text.substr(at + 1);
  const auto number = [](absl::string_view digits, int& value) {
    return digits.size() <= 2 && absl::c_all_of(digits, absl::ascii_isdigit) &&
           absl::SimpleAtoi(digits, &value);
  };
  if (!number(word, overlap.word) || !number(d, overlap.d)) return std::nullopt;
  overlap.operand = text[0];
  return overlap;
}

int CountOf(const RegisterCounts& counts, char operand) {
  return operand == 'a' ? counts.a : operand == 'b' ? counts.b : counts.c;
}

std::vector<Overlap> OverlapsOf(absl::string_view text, const RegisterCounts& counts) {
  std::vector<Overlap> overlaps;
  if (text.empty()) return overlaps;
  if (std::ranges::count(kNames, text) == 0) {
    for (const absl::string_view one : absl::StrSplit(text, '+')) {
      overlaps.push_back(*ParseOverlap(one));
    }
    return overlaps;
  }
  const int n = std::min(CountOf(counts, text[0]), counts.d);
  for (int word = 0; word < n; ++word) {
    const int d = absl::EndsWith(text, "_reversed")  ? n - 1 - word
                  : absl::EndsWith(text, "_rotated") ? (word + 1) % n
                                                     : word;
    overlaps.push_back({text[0], word, d});
  }
  return overlaps;
}

}  // namespace

std::span<const absl::string_view> NamedOverlaps() { return kNames; }

bool HasFragments(const Instruction& i) {
  return i.layout == Layout::kNvidiaMma || i.layout == Layout::kNvidiaMmaBytes ||
         i.layout == Layout::kNvidiaMma884 || i.layout == Layout::kNvidiaWmma;
}

bool IsOverlap(absl::string_view text) {
  if (std::ranges::count(kNames, text) > 0) return true;
  const std::vector<absl::string_view> list = absl::StrSplit(text, '+');
  return std::ranges::all_of(list,
                             [](absl::string_view one) { return ParseOverlap(one).has_value(); });
}

absl::Status CheckOverlap(absl::string_view text, const RegisterCounts& counts) {
  std::set<int> used;
  std::set<std::pair<char, int>> words;
  for (const Overlap& o : OverlapsOf(text, counts)) {
    if (o.word >= CountOf(counts, o.operand) || o.d >= counts.d) {
      return absl::NotFoundError(absl::StrCat(
          "overlap=", text, " names a register that the instruction does not have; it has ",
          counts.a, " of A, ", counts.b, " of B, ", counts.c, " of C and ", counts.d, " of D"));
    }
    if (!used.insert(o.d).second || !words.insert({o.operand, o.word}).second) {
      return absl::NotFoundError(absl::StrCat("overlap=", text, " names a register twice"));
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> SingleOverlaps(absl::string_view overlap, const RegisterCounts& counts) {
  std::vector<std::string> names;
  for (const Overlap& o : OverlapsOf(overlap, counts)) {
    names.push_back(absl::StrCat(std::string(1, o.operand), o.word, "d", o.d));
  }
  return names;
}

AssignedRegisters AssignRegisters(absl::string_view overlap, const RegisterCounts& counts,
                                  absl::string_view prefix, int step, int bits) {
  const std::vector<Overlap> overlaps = OverlapsOf(overlap, counts);
  const auto own = [&](char operand, int word) {
    return absl::StrCat("%", prefix, std::string(1, operand), word * step);
  };
  AssignedRegisters assigned;
  const auto vector = [&](char operand, int count) {
    std::vector<std::string> names;
    for (int word = 0; word < count; ++word) {
      names.push_back(own(operand, word));
      for (const Overlap& o : overlaps) {
        if (o.operand != operand || o.word != word) continue;
        const std::string in_d = own('d', o.d);
        absl::StrAppend(&assigned.moves, "  mov.b", bits, " ", in_d, ", ", names.back(), ";\n");
        names.back() = in_d;
      }
    }
    return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
  };
  assigned.a = vector('a', counts.a);
  assigned.b = vector('b', counts.b);
  assigned.c = vector('c', counts.c);
  assigned.d = vector('d', counts.d);
  return assigned;
}

}  // namespace mmadiff
