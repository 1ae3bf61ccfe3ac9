#include "triage/stage_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/stages.h"
#include "sim/tree/tree.h"
#include "triage/divergence.h"
#include "triage/number_text.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMaxChanges = 3;

// The position of an event: events of two models with the same key share a row. Stages without a k
// may occur several times in a step: additions of a tree of pairs, both sums of a two-stage sum.
struct Key {
  int step;
  Stage stage;
  int k;
  int occurrence;  // from 0

  friend bool operator==(const Key&, const Key&) = default;
};

std::vector<Key> KeysOf(const std::vector<Event>& events) {
  std::map<std::tuple<int, Stage, int>, int> seen;
  std::vector<Key> keys;
  for (const Event& e : events)
    keys.push_back({e.step, e.stage, e.k, seen[{e.step, e.stage, e.k}]++});
  return keys;
}

std::string Hex(unsigned __int128 x) {
  const uint64_t high = static_cast<uint64_t>(x >> 64);
  const uint64_t low = static_cast<uint64_t>(x);
  return high == 0 ? absl::StrFormat("0x%x", low) : absl::StrFormat("0x%x%016x", high, low);
}

std::string ValueOf(const Model& model, const Event& e) {
  const char* inexact = e.inexact ? " inexact" : "";
  if (e.stage == Stage::kAlignExponent) {
    return e.lsb_exponent == kNoFloor ? "none" : absl::StrFormat("2^%d", e.lsb_exponent);
  }
  if (e.stage == Stage::kRounded || e.stage == Stage::kSpecial) {
    const Format& f = *ResultFormat(model, e.step);
    return absl::StrCat(WordText(f, static_cast<uint64_t>(e.magnitude)), inexact);
  }
  const char* sign = e.negative ? "-" : "";
  if (e.magnitude == 0) return absl::StrCat(e.negative ? "-0" : "+0", inexact);
  if (model.algorithm.family == Family::kIntegerDot) {
    return absl::StrCat(sign, Hex(e.magnitude), " = ", sign, static_cast<uint64_t>(e.magnitude));
  }
  return absl::StrCat(sign, Hex(e.magnitude), "*2^", e.lsb_exponent, " = ",
                      NumberText(e.negative, e.magnitude, e.lsb_exponent), inexact);
}

// "product", "sum with addend", "summand #2".
std::string StageText(const Model& model, const Key& key) {
  if (model.algorithm.family == Family::kTwoStageSum && key.stage == Stage::kSum) {
    return key.occurrence == 0 ? "sum of products" : "sum with addend";
  }
  if (model.algorithm.family == Family::kConversion && key.stage == Stage::kSum) {
    return "operand";
  }
  const std::string number = key.occurrence == 0 ? "" : absl::StrCat(" #", key.occurrence + 1);
  // A product without a k is the first operand of an addition.
  if (key.k < 0 && key.stage == Stage::kProduct) return "summand" + number;
  return Name(key.stage) + number;
}

// "step 1 product k=3", of a tree "step 1 (NODE) product k=3"; the addend of an aligned sum has k = -1.
std::string LineName(const Model& model, const Key& key, bool steps, absl::string_view nodes) {
  std::string name = steps ? absl::StrCat("step ", key.step, " ") : "";
  if (!nodes.empty()) absl::StrAppend(&name, "(", nodes, ") ");
  absl::StrAppend(&name, StageText(model, key));
  if (key.k >= 0) absl::StrAppend(&name, " ", TermText(model, key.k));
  if (key.k < 0 && key.stage == Stage::kAlignedTerm) absl::StrAppend(&name, " addend");
  return name;
}

struct Column {
  Column(std::string t, const Model& m, const DotProductCase& dot)
      : title(std::move(t)), model(m), events(TraceStages(m, dot)), keys(KeysOf(events)) {}

  std::string title;
  Model model;
  std::vector<Event> events;
  std::vector<Key> keys;  // one for each event

  const Event* Find(const Key& key) const {
    const auto found = std::ranges::find(keys, key);
    return found == keys.end() ? nullptr : &events[found - keys.begin()];
  }
};

// The keys of all columns in the model's order. A key that only a neighbor has follows the key that
// precedes it there, and any keys that the neighbor lacks.
std::vector<Key> MergeKeys(const std::vector<Column>& columns) {
  std::vector<Key> keys;
  for (const Column& column : columns) {
    size_t place = 0;
    for (const Key& key : column.keys) {
      const auto found = std::ranges::find(keys, key);
      if (found != keys.end()) {
        place = found - keys.begin() + 1;
        continue;
      }
      while (place < keys.size() && column.Find(keys[place]) == nullptr) ++place;
      keys.insert(keys.begin() + place++, key);
    }
  }
  return keys;
}

// Where the model and the first neighbor diverge.
struct Divergence {
  Key key;
  const Model* model;  // the one with the event
};

std::optional<Divergence> FindDivergence(const std::vector<Column>& columns) {
  if (columns.size() < 2) return std::nullopt;
  // Different families, and trees of different shape, have different stages in different orders.
  if (!ChangesBetween(columns[0].model.algorithm, columns[1].model.algorithm)) return std::nullopt;
  const Event* event = FirstDivergence(columns[0].events, columns[1].events);
  for (const Column& c : columns) {
    for (size_t i = 0; i < c.events.size(); ++i) {
      if (&c.events[i] == event) return Divergence{c.keys[i], &c.model};
    }
  }
  return std::nullopt;
}

StageTable::Row MakeRow(const std::vector<Column>& columns, const Key& key, bool steps) {
  StageTable::Row row;
  row.step = key.step;
  row.stage = key.stage;
  row.zero = true;
  std::vector<std::string> nodes;  // of this step, different ones
  for (const Column& column : columns) {
    const std::string node = column.Find(key) == nullptr ? "" : NodeAt(column.model, key.step);
    if (!node.empty() && std::ranges::count(nodes, node) == 0) nodes.push_back(node);
  }
  for (const Column& column : columns) {
    const Event* e = column.Find(key);
    row.values.push_back(e == nullptr ? "-" : ValueOf(column.model, *e));
    row.zero &= e == nullptr || (e->stage == Stage::kProduct && e->k >= 0 && e->magnitude == 0);
    if (e == nullptr || !row.name.empty()) continue;
    row.name = LineName(column.model, key, steps, absl::StrJoin(nodes, " or "));
    row.term = TermText(column.model, key.k);
  }
  return row;
}

// "sum", "product of k=3", "aligned_term of the addend".
std::string PartingText(const Divergence& divergence) {
  const Key& key = divergence.key;
  const std::string stage = StageText(*divergence.model, key);
  if (key.k >= 0) return absl::StrCat(stage, " of ", TermText(*divergence.model, key.k));
  return key.stage == Stage::kAlignedTerm ? stage + " of the addend" : stage;
}

}  // namespace

std::string TermText(const Model& model, int k) {
  const Algorithm& alg = model.algorithm;
  const int terms = alg.family == Family::kScaledSum ? alg.group_terms : 1;
  return absl::StrCat("k=", k, terms == 1 ? "" : absl::StrCat("..", k + terms - 1));
}

NamedModels ModelAndChanges(const Operation& op, const std::vector<Neighbour>& changes) {
  NamedModels models = {{"model", op.model}};
  for (size_t i = 0; i < std::min(changes.size(), kMaxChanges); ++i) {
    models.emplace_back(Name(changes[i]), WithAlgorithm(op, changes[i].algorithm));
  }
  return models;
}

StageTable MakeStageTable(const NamedModels& models, const DotProductCase& dot) {
  std::vector<Column> columns;
  for (const auto& [title, model] : models) columns.emplace_back(title, model, dot);
  StageTable table;
  bool steps = false;
  for (const Column& c : columns) {
    table.columns.push_back(c.title);
    table.results.push_back(Simulate(c.model, dot));
    steps |= c.events.back().step > 0;
  }
  const std::optional<Divergence> divergence = FindDivergence(columns);
  for (const Key& key : MergeKeys(columns)) {
    table.rows.push_back(MakeRow(columns, key, steps));
    table.rows.back().parts = divergence && key == divergence->key;
  }
  if (divergence) table.parting = PartingText(*divergence);
  return table;
}

}  // namespace mmadiff
