#include "device/cuda/overlap.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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
constexpr absl::string_view kSharing[] = {
    "a_broadcast", "b_broadcast", "c_broadcast", "c_broadcast_d", "a_is_b", "c_is_a", "c_is_b"};

struct Place {
  char operand;  // 'a', 'b', 'c', 'd'
  int word;      // the number of the register

  friend auto operator<=>(const Place&, const Place&) = default;
};

// The register of an operand is that of D or of another operand.
struct Overlap {
  Place operand, in;
};

std::string Name(const Overlap& o) {
  return absl::StrCat(std::string(1, o.operand.operand), o.operand.word,
                      std::string(1, o.in.operand), o.in.word);
}

// "c3"
std::optional<Place> ParsePlace(absl::string_view text) {
  Place place;
  if (text.empty() || text[0] < 'a' || text[0] > 'd' || text.size() > 3) return std::nullopt;
  const absl::string_view digits = text.substr(1);
  if (!absl::c_all_of(digits, absl::ascii_isdigit) || !absl::SimpleAtoi(digits, &place.word)) {
    return std::nullopt;
  }
  place.operand = text[0];
  return place;
}

// "c3d2"
std::optional<Overlap> ParseOverlap(absl::string_view text) {
  const size_t second = std::min(text.find_first_of("abcd", 1), text.size());
  const std::optional<Place> operand = ParsePlace(text.substr(0, second)),
                             in = ParsePlace(text.substr(second));
  if (!operand.has_value() || !in.has_value() || operand->operand == 'd') return std::nullopt;
  return Overlap{*operand, *in};
}

bool IsName(absl::string_view text) {
  return absl::c_linear_search(kNames, text) || absl::c_linear_search(kSharing, text);
}

int CountOf(const RegisterCounts& counts, char operand) {
  return operand == 'a'   ? counts.a
         : operand == 'b' ? counts.b
         : operand == 'c' ? counts.c
                          : counts.d;
}

std::vector<Overlap> OverlapsOfName(absl::string_view name, const RegisterCounts& counts) {
  std::vector<Overlap> overlaps;
  const char operand = name[0];
  if (absl::StrContains(name, "_broadcast")) {
    for (int word = 1; word < CountOf(counts, operand); ++word) {
      overlaps.push_back({{operand, word}, {operand, 0}});
    }
    if (absl::EndsWith(name, "_d")) overlaps.push_back({{operand, 0}, {'d', 0}});
    return overlaps;
  }
  const char in = absl::StrContains(name, "_is_") ? name.back() : 'd';
  const int n = std::min(CountOf(counts, operand), CountOf(counts, in));
  for (int word = 0; word < n; ++word) {
    const int to = absl::EndsWith(name, "_reversed")  ? n - 1 - word
                   : absl::EndsWith(name, "_rotated") ? (word + 1) % n
                                                      : word;
    overlaps.push_back({{operand, word}, {in, to}});
  }
  return overlaps;
}

std::vector<Overlap> OverlapsOf(absl::string_view text, const RegisterCounts& counts) {
  std::vector<Overlap> overlaps;
  for (const absl::string_view one : absl::StrSplit(text, '+', absl::SkipEmpty())) {
    if (IsName(one)) {
      absl::c_copy(OverlapsOfName(one, counts), std::back_inserter(overlaps));
    } else {
      overlaps.push_back(*ParseOverlap(one));
    }
  }
  return overlaps;
}

// The overlap of a register, that of the register in which it then is, and so on. Ends within a circle.
std::vector<Overlap> Chain(const std::vector<Overlap>& overlaps, Place place) {
  std::vector<Overlap> chain;
  while (chain.size() <= overlaps.size()) {
    const auto next =
        absl::c_find_if(overlaps, [&](const Overlap& o) { return o.operand == place; });
    if (next == overlaps.end()) break;
    chain.push_back(*next);
    place = next->in;
  }
  return chain;
}

// The names of the registers of an instruction.
struct RegisterNames {
  const std::vector<Overlap>& overlaps;
  absl::string_view prefix;
  int step;

  std::string Of(Place place) const {
    return absl::StrCat("%", prefix, std::string(1, place.operand), place.word * step);
  }
  // `place`, or the register that it shares; with `in_d` also if that is one of D.
  Place Shared(Place place, bool in_d) const {
    for (const Overlap& o : Chain(overlaps, place)) {
      if (in_d || o.in.operand != 'd') place = o.in;
    }
    return place;
  }
  template <typename PlaceOf>
  std::string Vector(char operand, int count, PlaceOf place_of) const {
    std::vector<std::string> names;
    for (int word = 0; word < count; ++word) names.push_back(Of(place_of(Place{operand, word})));
    return absl::StrCat("{", absl::StrJoin(names, ", "), "}");
  }
  template <typename PlaceOf>
  AssignedRegisters Vectors(const RegisterCounts& counts, PlaceOf place_of) const {
    AssignedRegisters assigned;
    assigned.a = Vector('a', counts.a, place_of);
    assigned.b = Vector('b', counts.b, place_of);
    assigned.c = Vector('c', counts.c, place_of);
    assigned.d = Vector('d', counts.d, place_of);
    return assigned;
  }
};

}  // namespace

std::span<const absl::string_view> NamedOverlaps() { return kNames; }

std::span<const absl::string_view> NamedSharing() { return kSharing; }

bool HasFragments(const Instruction& i) {
  return i.layout == Layout::kNvidiaMma || i.layout == Layout::kNvidiaMmaBytes ||
         i.layout == Layout::kNvidiaMma884 || i.layout == Layout::kNvidiaWmma;
}

bool IsOverlap(absl::string_view text) {
  const std::vector<absl::string_view> list = absl::StrSplit(text, '+');
  return absl::c_all_of(
      list, [](absl::string_view one) { return IsName(one) || ParseOverlap(one).has_value(); });
}

bool SharesOperands(absl::string_view overlap) {
  const std::vector<absl::string_view> list = absl::StrSplit(overlap, '+', absl::SkipEmpty());
  return absl::c_any_of(list, [](absl::string_view one) {
    return IsName(one) ? absl::c_linear_search(kSharing, one)
                       : ParseOverlap(one)->in.operand != 'd';
  });
}

absl::Status CheckOverlap(absl::string_view text, const RegisterCounts& counts) {
  const auto error = [text](const auto&... why) {
    return absl::NotFoundError(absl::StrCat("overlap=", text, why...));
  };
  std::set<int> used;
  std::set<Place> places;
  const std::vector<Overlap> overlaps = OverlapsOf(text, counts);
  for (const Overlap& o : overlaps) {
    for (const Place& place : {o.operand, o.in}) {
      if (place.word < CountOf(counts, place.operand)) continue;
      return error(" names a register that the instruction does not have; it has ", counts.a,
                   " of A, ", counts.b, " of B, ", counts.c, " of C and ", counts.d, " of D");
    }
    if ((o.in.operand == 'd' && !used.insert(o.in.word).second) ||
        !places.insert(o.operand).second) {
      return error(" names a register twice");
    }
    if (Chain(overlaps, o.operand).size() > overlaps.size()) {
      return error(" names registers in a circle");
    }
  }
  if (overlaps.empty() && !text.empty()) return error(" needs an operand with several registers");
  return absl::OkStatus();
}

std::vector<std::string> SingleOverlaps(absl::string_view overlap, const RegisterCounts& counts) {
  std::vector<std::string> names;
  for (const Overlap& o : OverlapsOf(overlap, counts)) names.push_back(Name(o));
  return names;
}

std::vector<std::string> ChainedOverlaps(absl::string_view overlap, const RegisterCounts& counts) {
  const std::vector<Overlap> overlaps = OverlapsOf(overlap, counts);
  std::vector<std::string> lists;
  for (const Overlap& o : overlaps) {
    const std::vector<Overlap> chain = Chain(overlaps, o.operand);
    if (chain.size() < 2) continue;
    lists.push_back(absl::StrJoin(
        chain, "+", [](std::string* out, const Overlap& one) { out->append(Name(one)); }));
  }
  return lists;
}

AssignedRegisters AssignRegisters(absl::string_view overlap, const RegisterCounts& counts,
                                  absl::string_view prefix, int step, int bits) {
  const std::vector<Overlap> overlaps = OverlapsOf(overlap, counts);
  const RegisterNames names = {overlaps, prefix, step};
  AssignedRegisters assigned =
      names.Vectors(counts, [&](Place place) { return names.Shared(place, true); });
  assigned.operand_c =
      names.Vector('c', counts.c, [&](Place place) { return names.Shared(place, false); });
  for (const Overlap& o : overlaps) {
    if (o.in.operand != 'd') continue;
    absl::StrAppend(&assigned.moves, "  mov.b", bits, " ", names.Of(o.in), ", ",
                    names.Of(o.operand), ";\n");
  }
  return assigned;
}

AssignedRegisters CopiedRegisters(absl::string_view overlap, const RegisterCounts& counts,
                                  absl::string_view prefix, int step, int bits) {
  const std::vector<Overlap> overlaps = OverlapsOf(overlap, counts);
  const RegisterNames names = {overlaps, prefix, step};
  AssignedRegisters assigned = names.Vectors(counts, [](Place place) { return place; });
  assigned.operand_c = assigned.c;
  assigned.moves =
      "  .reg .pred %copied;\n  .reg .b32 %other_blocks;\n  mov.u32 %other_blocks, %ctaid.y;\n"
      "  setp.eq.u32 %copied, %other_blocks, 0;\n";
  for (const Overlap& o : overlaps) {
    const Place from = names.Shared(o.operand, false);
    if (from == o.operand) continue;
    absl::StrAppend(&assigned.moves, "  @%copied mov.b", bits, " ", names.Of(o.operand), ", ",
                    names.Of(from), ";\n");
  }
  return assigned;
}

}  // namespace mmadiff
