// Turns the text of a question into models and operands.
#include "triage/probe/candidates.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "corpus/vector_file.h"
#include "sim/equivalence.h"
#include "sim/parameter.h"
#include "sim/pattern.h"
#include "sim/tree/tree.h"

namespace mmadiff {
namespace {

std::string_view StdView(absl::string_view s) { return {s.data(), s.size()}; }

// The values of a parameter; `list` is as in Question::parameters.
std::vector<int> ValuesOf(const Parameter& p, int value, absl::string_view list) {
  std::vector<int> values;
  if (list.empty()) {
    for (size_t i = 0; i < p.values.size(); ++i) values.push_back(static_cast<int>(i));
  }
  for (absl::string_view item : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> range = absl::StrSplit(item, "..");
    int low, high, number;
    if (absl::SimpleAtoi(range.first, &low) && absl::SimpleAtoi(range.second, &high)) {
      if (value == kNoFloor) continue;  // there is no base for relative values
      for (int offset = low; offset <= high; ++offset) values.push_back(value + offset);
    } else if (ParseValue(p, StdView(item), &number)) {
      values.push_back(number);
    }
  }
  if (p.values.empty()) std::erase_if(values, [&](int v) { return v < p.min || v > p.max; });
  return values;
}

// The parameter of that name, or the fields of that name in all nodes of a tree.
std::vector<const Parameter*> Named(const Algorithm& algorithm, absl::string_view name) {
  if (const Parameter* p = FindParameter(algorithm.family, StdView(name))) return {p};
  std::vector<const Parameter*> named;
  for (const Parameter* p : ParametersOf(algorithm)) {
    if (p->field != nullptr && p->field->name == name) named.push_back(p);
  }
  return named;
}

}  // namespace

std::vector<Neighbour> Candidates(const Question& question, const Model& model) {
  if (absl::string_view(question.parameters) == "*") return AllNeighbours(model);
  std::vector<Neighbour> candidates;
  for (absl::string_view item : absl::StrSplit(question.parameters, ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(item, absl::MaxSplits('=', 1));
    for (const Parameter* p : Named(model.algorithm, parts.first)) {
      const int value = p->get(model.algorithm);
      for (const int candidate : ValuesOf(*p, value, parts.second)) {
        Model changed = model;
        p->set(changed.algorithm, candidate);
        if (candidate == value || !WhyInvalid(changed).empty() ||
            !WhyEquivalent(model, changed.algorithm).empty()) {
          continue;
        }
        candidates.push_back({{{p, candidate}}, changed.algorithm});
      }
    }
  }
  return candidates;
}

std::vector<const Vector*> VectorsOf(const Question& question) {
  std::vector<const Vector*> vectors;
  for (const std::string& names : SplitWords(question.vectors)) {
    for (const Expansion& name : Expand(names)) vectors.push_back(FindVector(name.text));
  }
  return vectors;
}

std::vector<VectorDot> VectorDotsOf(const Question& question, const Operation& op) {
  std::vector<VectorDot> all;
  for (const Vector* v : VectorsOf(question)) {
    for (const std::string& operands : v->operands) {
      absl::StatusOr<DotProductCase> dot = DotProductOf(*v, operands, op);
      if (dot.ok()) all.push_back({v, *std::move(dot)});
    }
  }
  return all;
}

}  // namespace mmadiff
