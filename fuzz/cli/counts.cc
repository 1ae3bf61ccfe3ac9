#include "fuzz/cli/counts.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "corpus/vector_file.h"
#include "sim/operation.h"

namespace mmadiff {
namespace {

std::string GroupOf(absl::string_view architecture) {
  if (architecture == "sm_90") return "sm_90";
  if (absl::StartsWith(architecture, "sm_")) return "nvidia";
  if (absl::StartsWith(architecture, "gfx")) return "amd";
  return absl::StartsWith(architecture, "tpu") ? "tpu" : std::string(architecture);
}

// Counts by name, in the order of first use.
class Tally {
 public:
  void Add(const std::string& name, const std::string& what) {
    const auto [at, first] = at_.emplace(name, counts_.size());
    if (first) counts_.push_back({name, 0, what});
    ++counts_[at->second].number;
  }
  std::vector<Count> Take() && { return std::move(counts_); }

 private:
  std::vector<Count> counts_;
  std::map<std::string, size_t> at_;
};

bool IsFirstOfModel(const Operation& op) {
  const auto same = [&](const Operation& other) { return SameModel(other.model, op.model); };
  return &*std::ranges::find_if(Operations(), same) == &op;
}

void AddOperation(absl::string_view architecture, const char* grade, Tally& tally) {
  const std::string what = absl::StrCat("operations with a model that is ", grade);
  const std::string group = GroupOf(architecture);
  tally.Add(grade, what);
  tally.Add(absl::StrCat(group, ".", grade), absl::StrCat(what, ", for ", group));
}

}  // namespace

Fields<Count> FieldsOf(const Count*) {
  using C = Count;
  return {{"name", &C::name}, {"number", &C::number}, {"what", &C::what, Prose()}};
}

std::vector<Count> Counts() {
  Tally tally;
  std::set<std::string> instructions;
  for (const Operation& op : Operations()) {
    tally.Add("modelled", "operations with a model");
    if (instructions.insert(op.instruction->name).second) {
      tally.Add("instructions", "instructions with a model on some architecture");
    }
    if (IsFirstOfModel(op)) tally.Add("models", "distinct models");
    AddOperation({op.arch().data(), op.arch().size()}, Name(op.numerics->evidence.grade), tally);
  }
  for (const UnknownNumerics& u : AllUnknown()) {
    AddOperation(u.arch, Name(u.evidence.grade), tally);
  }
  for (const Operation& op : UnmodelledOperations()) {
    tally.Add(absl::StrCat(GroupOf({op.arch().data(), op.arch().size()}), ".formats"),
              "operations with known formats and layouts but without a model");
  }
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) {
      tally.Add("vectors", "vectors from the literature");
      for (const VectorCase& c : CasesOf(v)) {
        tally.Add(absl::StrCat("vectors.", Name(c.answer->kind)), "dot products of vectors");
      }
    }
  }
  return std::move(tally).Take();
}

}  // namespace mmadiff
