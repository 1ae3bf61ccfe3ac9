#include "device/cuda/variant.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "device/cuda/overlap.h"

namespace mmadiff {
namespace {

constexpr SourceOfA kSources[] = {SourceOfA::kShared, SourceOfA::kLanes};

std::vector<Variant> AllVariants() {
  std::vector<Variant> variants;
  for (const SourceOfA a : kSources) {
    for (const bool a_columns : {false, true}) {
      for (const bool b_rows : {false, true}) {
        for (const bool c_columns : {false, true}) {
          variants.push_back({a, a_columns, b_rows, c_columns, ""});
        }
      }
    }
  }
  return variants;
}

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
  if (HasFragments(i)) variant.overlap = wanted.overlap;
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
  std::string suffix = v.a == SourceOfA::kLanes ? ",a=registers" : "";
  if (v.a_columns || v.b_rows) {
    absl::StrAppend(&suffix, ",layout=", v.a_columns ? "col" : "row", ".",
                    v.b_rows ? "row" : "col");
  }
  return absl::StrCat(suffix, v.c_columns ? ",c=col" : "",
                      v.overlap.empty() ? "" : ",overlap=", v.overlap);
}

std::optional<Variant> VariantWithSuffix(absl::string_view suffix) {
  constexpr absl::string_view kOverlap = ",overlap=";
  const size_t at = suffix.find(kOverlap);
  std::string overlap;
  if (at != suffix.npos) {
    overlap = std::string(suffix.substr(at + kOverlap.size()));
    suffix = suffix.substr(0, at);
    if (!IsOverlap(overlap)) return std::nullopt;
  }
  for (Variant& v : AllVariants()) {
    if (SuffixOf(v) != suffix) continue;
    v.overlap = overlap;
    return v;
  }
  return std::nullopt;
}

}  // namespace mmadiff
