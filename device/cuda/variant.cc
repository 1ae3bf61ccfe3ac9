#include "device/cuda/variant.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "device/cuda/overlap.h"
#include "device/cuda/surroundings.h"

namespace mmadiff {
namespace {

constexpr SourceOfA kSources[] = {SourceOfA::kShared, SourceOfA::kLanes};

std::vector<Variant> AllVariants() {
  std::vector<Variant> variants;
  for (const SourceOfA a : kSources) {
    for (const bool a_columns : {false, true}) {
      for (const bool b_rows : {false, true}) {
        for (const bool c_columns : {false, true}) {
          variants.push_back({a, a_columns, b_rows, c_columns});
        }
      }
    }
  }
  return variants;
}

// A part of a suffix: "c=col".
struct Property {
  absl::string_view name;
  std::string (*value)(const Variant&);                    // "": that of Variant()
  bool (*set)(absl::string_view value, Variant& variant);  // false: no such value
  std::string (*values)();                                 // of VariantUsage
  const char* what;
};

constexpr Property kProperties[] = {
    {"a",
     [](const Variant& v) -> std::string { return v.a == SourceOfA::kLanes ? "registers" : ""; },
     [](absl::string_view value, Variant& v) {
       v.a = SourceOfA::kLanes;
       return value == "registers";
     },
     [] { return std::string("registers"); }, "A of wgmma and tcgen05"},
    {"layout",
     [](const Variant& v) -> std::string {
       if (!v.a_columns && !v.b_rows) return "";
       return absl::StrCat(v.a_columns ? "col" : "row", ".", v.b_rows ? "row" : "col");
     },
     [](absl::string_view value, Variant& v) {
       v.a_columns = absl::StartsWith(value, "col");
       v.b_rows = absl::EndsWith(value, "row");
       return value == "row.row" || value == "col.row" || value == "col.col";
     },
     [] { return std::string("row.row, col.row or col.col"); }, "A and B of wmma; default row.col"},
    {"c", [](const Variant& v) -> std::string { return v.c_columns ? "col" : ""; },
     [](absl::string_view value, Variant& v) {
       v.c_columns = true;
       return value == "col";
     },
     [] { return std::string("col"); }, "C and D of wmma"},
    {"overlap", [](const Variant& v) { return v.overlap; },
     [](absl::string_view value, Variant& v) {
       v.overlap = std::string(value);
       return IsOverlap(value);
     },
     [] {
       return absl::StrCat(absl::StrJoin(NamedOverlaps(), ", "),
                           ", any, or a list such as c3d2+a0d1; for sass: also ",
                           absl::StrJoin(NamedSharing(), ", "), " or c1c0");
     },
     "registers of D that are also operands; sass: those that operands share"},
    {"around", [](const Variant& v) { return v.around; },
     [](absl::string_view value, Variant& v) {
       v.around = std::string(value);
       return IsSurrounding(value);
     },
     [] { return absl::StrCat(absl::StrJoin(NamedSurroundings(), ", "), " or any"); },
     "of mma and wmma"},
    // Only a name for kernels.
    {"registers", [](const Variant& v) -> std::string { return v.copied ? "copied" : ""; },
     [](absl::string_view, Variant&) { return false; }, [] { return std::string(); }, ""},
};

}  // namespace

std::vector<Variant> VariantsOf(const Instruction& i) {
  std::vector<Variant> variants;
  for (const Variant& v : AllVariants()) {
    if (VariantFor(i, v) == v) variants.push_back(v);
  }
  return variants;
}

Variant VariantFor(const Instruction& i, const Variant& wanted) {
  Variant variant;
  if (i.layout == Layout::kNvidiaWgmma || i.layout == Layout::kNvidiaTcgen05) {
    variant.a = wanted.a;
  }
  if (i.layout == Layout::kNvidiaWmma) {
    variant.c_columns = wanted.c_columns;
    variant.a_columns = wanted.a_columns && i.a->bits >= 8;
    variant.b_rows = wanted.b_rows && i.b->bits >= 8;
  }
  if (HasFragments(i)) {
    variant.overlap = wanted.overlap;
    variant.around = wanted.around;
    variant.copied = wanted.copied;
  }
  return variant;
}

VariantOperands OperandsOf(const Variant& v) {
  return {v.a == SourceOfA::kLanes ? Operand::kALanes
          : v.a_columns            ? Operand::kAColumns
                                   : Operand::kA,
          v.b_rows ? Operand::kBRows : Operand::kB, v.c_columns ? Operand::kCColumns : Operand::kC,
          v.c_columns ? Operand::kDColumns : Operand::kD};
}

std::string SuffixOf(const Variant& v) {
  std::string suffix;
  for (const Property& p : kProperties) {
    const std::string value = p.value(v);
    if (!value.empty()) absl::StrAppend(&suffix, ",", p.name, "=", value);
  }
  return suffix;
}

std::vector<VariantUsage> VariantUsages() {
  std::vector<VariantUsage> usages;
  for (const Property& p : kProperties) {
    if (!p.values().empty()) usages.push_back({std::string(p.name), p.values(), p.what});
  }
  return usages;
}

std::string VariantValues() {
  return absl::StrJoin(VariantUsages(), ", ", [](std::string* out, const VariantUsage& u) {
    absl::StrAppend(out, u.name, "=", u.values, " (", u.what, ")");
  });
}

std::optional<Variant> VariantWithSuffix(absl::string_view suffix) {
  Variant variant;
  if (suffix.empty()) return variant;
  if (!absl::ConsumePrefix(&suffix, ",")) return std::nullopt;
  std::set<absl::string_view> seen;
  for (const absl::string_view part : absl::StrSplit(suffix, ',')) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(part, absl::MaxSplits('=', 1));
    const auto* p = std::ranges::find(kProperties, pair.first, &Property::name);
    if (p == std::end(kProperties) || !seen.insert(pair.first).second ||
        !p->set(pair.second, variant)) {
      return std::nullopt;
    }
  }
  return variant;
}

}  // namespace mmadiff
