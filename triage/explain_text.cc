#include "triage/explain_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "device/plain_text.h"
#include "sim/round.h"
#include "sim/simulate.h"
#include "triage/divergence.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr size_t kMostColumns = 3;  // neighbours shown beside the model
constexpr size_t kMostNamed = 20;   // below the table

// Where an event stands: two models' events of one key are shown in one line. Stages without a k
// may come several times in a step: additions of a tree of pairs, both sums of a two-stage sum.
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

// (-1)^negative * magnitude * 2^lsb_exponent with a leading one before the point.
std::string CompactHex(bool negative, unsigned __int128 magnitude, int lsb_exponent) {
  if (magnitude == 0) return negative ? "-0" : "0";
  const int leading = BitWidth(magnitude) - 1;
  std::string digits;
  unsigned __int128 rest = leading == 0 ? 0 : magnitude << (128 - leading);
  for (; rest != 0; rest <<= 4) digits += "0123456789abcdef"[static_cast<int>(rest >> 124)];
  return absl::StrFormat("%s0x1%s%sp%+d", negative ? "-" : "", digits.empty() ? "" : ".", digits,
                         leading + lsb_exponent);
}

std::string WordText(const Format& d, uint64_t word) {
  return absl::StrFormat("0x%0*x = %s", HexDigits(d), word, HexFloat(d, word));
}

std::string ValueOf(const Model& model, const Event& e) {
  const char* inexact = e.inexact ? " inexact" : "";
  if (e.stage == Stage::kAlignExponent) {
    return e.lsb_exponent == kNoFloor ? "none" : absl::StrFormat("2^%d", e.lsb_exponent);
  }
  if (e.stage == Stage::kRounded || e.stage == Stage::kSpecial) {
    return absl::StrCat(WordText(model.d, static_cast<uint64_t>(e.magnitude)), inexact);
  }
  const char* sign = e.negative ? "-" : "+";
  if (e.magnitude == 0) return absl::StrCat(sign, "0", inexact);
  if (model.algorithm.family == Family::kIntegerDot) {
    return absl::StrCat(sign, Hex(e.magnitude), " = ", e.negative ? "-" : "",
                        static_cast<uint64_t>(e.magnitude));
  }
  return absl::StrCat(sign, Hex(e.magnitude), "*2^", e.lsb_exponent, " = ",
                      CompactHex(e.negative, e.magnitude, e.lsb_exponent), inexact);
}

// "k=3"; of a group of products that are added before alignment "k=0..15".
std::string TermText(const Model& model, int k) {
  const Algorithm& alg = model.algorithm;
  const int terms = alg.family == Family::kScaledSum ? alg.group_terms : 1;
  return absl::StrCat("k=", k, terms == 1 ? "" : absl::StrCat("..", k + terms - 1));
}

// "product", "sum with addend", "summand #2".
std::string StageText(const Model& model, const Key& key) {
  if (model.algorithm.family == Family::kTwoStageSum && key.stage == Stage::kSum) {
    return key.occurrence == 0 ? "sum of products" : "sum with addend";
  }
  const std::string number = key.occurrence == 0 ? "" : absl::StrCat(" #", key.occurrence + 1);
  // What looks like a product of no k is the first operand of an addition.
  if (key.k < 0 && key.stage == Stage::kProduct) return "summand" + number;
  return StageName(key.stage) + number;
}

// "step 1 product k=3"; the addend of an aligned sum has k = -1.
std::string LineName(const Model& model, const Key& key, bool steps) {
  std::string name = steps ? absl::StrCat("step ", key.step, " ") : "";
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
  std::vector<Key> keys;  // of the events

  const Event* Find(const Key& key) const {
    const auto found = std::find(keys.begin(), keys.end(), key);
    return found == keys.end() ? nullptr : &events[found - keys.begin()];
  }
};

// The keys of all columns in the order of the model; what only a neighbour has follows the key that
// precedes it there, and those that the neighbour has not.
std::vector<Key> MergeKeys(const std::vector<Column>& columns) {
  std::vector<Key> keys;
  for (const Column& column : columns) {
    size_t place = 0;
    for (const Key& key : column.keys) {
      const auto found = std::find(keys.begin(), keys.end(), key);
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

// Where the model and the first neighbour part.
struct Divergence {
  Key key;
  const Model* model;  // that has the event
};

std::optional<Divergence> FindDivergence(const std::vector<Column>& columns) {
  if (columns.size() < 2) return std::nullopt;
  const Event* event = FirstDivergence(columns[0].events, columns[1].events);
  for (const Column& c : columns) {
    for (size_t i = 0; i < c.events.size(); ++i) {
      if (&c.events[i] == event) return Divergence{c.keys[i], &c.model};
    }
  }
  return std::nullopt;
}

struct Line {
  Key key;
  std::vector<std::string> cells;  // the name, then one for each column
  std::string term;                // "k=3"
  bool zero;                       // nothing but products of zero
};

Line MakeLine(const std::vector<Column>& columns, const Key& key, bool steps) {
  Line line{key, {""}, "", true};
  for (const Column& column : columns) {
    const Event* e = column.Find(key);
    line.cells.push_back(e == nullptr ? "-" : ValueOf(column.model, *e));
    line.zero &= e == nullptr || (e->stage == Stage::kProduct && e->k >= 0 && e->magnitude == 0);
    if (e == nullptr || !line.cells[0].empty()) continue;
    line.cells[0] = LineName(column.model, key, steps);
    line.term = TermText(column.model, key.k);
  }
  return line;
}

// Three and more alike products of zero become one line; the marked one stays.
std::vector<Line> Condense(const std::vector<Line>& lines,
                           const std::optional<Divergence>& marked) {
  const auto alike = [&](const Line& x, const Line& y) {
    return y.zero && !(marked && y.key == marked->key) &&
           std::equal(x.cells.begin() + 1, x.cells.end(), y.cells.begin() + 1);
  };
  std::vector<Line> condensed;
  for (size_t i = 0; i < lines.size();) {
    size_t end = i;
    while (end < lines.size() && alike(lines[i], lines[end])) ++end;
    if (end - i < 3) {
      condensed.push_back(lines[i++]);
      continue;
    }
    Line line = lines[i];
    line.cells[0] = absl::StrCat("... ", lines[end - 1].term);
    condensed.push_back(lines[i]);
    condensed.push_back(std::move(line));
    i = end;
  }
  return condensed;
}

std::string Table(const std::vector<Column>& columns, const std::optional<Divergence>& divergence,
                  bool color) {
  bool steps = false;
  for (const Column& c : columns) steps |= c.events.back().step > 0;
  std::vector<Line> lines;
  for (const Key& key : MergeKeys(columns)) lines.push_back(MakeLine(columns, key, steps));
  lines = Condense(lines, divergence);
  std::vector<std::string> title = {"stage"};
  for (const Column& c : columns) title.push_back(c.title);
  std::vector<size_t> widths;
  for (size_t i = 0; i < title.size(); ++i) {
    widths.push_back(title[i].size());
    for (const Line& line : lines) widths[i] = std::max(widths[i], line.cells[i].size());
  }
  std::string text;
  const auto append = [&](const std::vector<std::string>& cells, bool marked) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      absl::StrAppend(&line, cells[i], std::string(widths[i] - cells[i].size() + 2, ' '));
    }
    while (line.back() == ' ') line.pop_back();
    if (marked) line += "  <--";
    absl::StrAppend(&text, marked && color ? kMarkBegin : "", line, marked && color ? kMarkEnd : "",
                    "\n");
  };
  append(title, false);
  for (const Line& line : lines) {
    append(line.cells, divergence && line.key == divergence->key);
  }
  return text;
}

std::vector<Column> Columns(const Operation& op, const std::vector<Neighbour>& neighbours,
                            const DotProductCase& dot) {
  std::vector<Column> columns = {{"model", op.model, dot}};
  for (size_t i = 0; i < std::min(neighbours.size(), kMostColumns); ++i) {
    columns.emplace_back(neighbours[i].name, WithAlgorithm(op, neighbours[i].algorithm), dot);
  }
  return columns;
}

std::string Conclusion(const Operation& op, const Observed& observed, const Diagnosis& diagnosis,
                       const std::optional<Divergence>& divergence) {
  const std::vector<Neighbour>& neighbours = diagnosis.changes;
  if (Gives(op, op.model, observed.dot, observed.d)) {
    return "The device agrees with the model.\n";
  }
  if (neighbours.empty()) {
    return absl::StrCat("No change of one parameter (", diagnosis.singles, " tried) or of two (",
                        diagnosis.pairs,
                        ") gives the device's bits; the stages are the model's own.\n");
  }
  std::string text = absl::StrCat(neighbours[0].name, " gives the device's bits");
  if (divergence) {
    const Key& key = divergence->key;
    absl::StrAppend(&text, "; first differing stage: ", StageText(*divergence->model, key));
    if (key.k >= 0) absl::StrAppend(&text, " of ", TermText(*divergence->model, key.k));
    if (key.k < 0 && key.stage == Stage::kAlignedTerm) {
      absl::StrAppend(&text, " of the addend");
    }
  }
  absl::StrAppend(&text, ".\n");
  const size_t named = std::min(neighbours.size(), kMostNamed);
  for (size_t i = 1; i < named; ++i) {
    absl::StrAppend(&text, i == 1 ? "So do: " : ", ", neighbours[i].name);
  }
  if (named < neighbours.size()) {
    absl::StrAppend(&text, " and ", neighbours.size() - named, " more");
  }
  if (named > 1) absl::StrAppend(&text, ".\n");
  return text;
}

}  // namespace

std::string ExplainText(const Operation& op, const Observed& observed, bool color) {
  return ExplainText(op, observed, DiagnosisOfAnswer(op, observed), color);
}

Diagnosis DiagnosisOfAnswer(const Operation& op, const Observed& observed) {
  Diagnosis d = FindChange(op, {observed});
  std::vector<Neighbour> near =
      d.changes.empty() ? d.changes : ExplainingNeighbours(op, {&observed, 1});
  if (!near.empty()) d.changes = std::move(near);
  return d;
}

std::string ExplainText(const Operation& op, const Observed& observed, const Diagnosis& diagnosis,
                        bool color) {
  const Format& d = op.model.d;
  const std::vector<Neighbour>& neighbours = diagnosis.changes;
  const std::vector<Column> columns = Columns(op, neighbours, observed.dot);
  const std::optional<Divergence> divergence = FindDivergence(columns);
  std::string text = absl::StrCat(op.name, "\n", Table(columns, divergence, color));
  for (const Column& c : columns) {
    absl::StrAppend(&text, "result of ", c.title, ": ",
                    WordText(d, Simulate(c.model, observed.dot)), "\n");
  }
  absl::StrAppend(&text, "answer of the device: ", WordText(d, observed.d), "\n");
  return text + Conclusion(op, observed, diagnosis, divergence);
}

}  // namespace mmadiff
