#include "triage/race/architectures.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "device/status_macros.h"
#include "sim/chain.h"
#include "sim/sparsity.h"
#include "triage/model_words.h"

namespace mmadiff {
namespace {

using Rows = std::vector<const Operation*>;

// The parts of a name by which the user chooses the arithmetic: rows with different choices are
// different requests.
constexpr const char* kModes[] = {"rz", "rm", "rp", "rna", "satfinite", "relu", "and", "xor"};

std::string ModeOf(const Instruction& i) {
  const std::vector<std::string> parts = absl::StrSplit(i.name, '.');
  std::string modes;
  for (const char* mode : kModes) {
    if (std::ranges::count(parts, mode) == 0) continue;
    absl::StrAppend(&modes, modes.empty() ? "" : ", ", mode);
  }
  return modes;
}

// Wrapping or saturating, for x86 names that state it.
bool Saturates(const Operation& op) { return op.model.algorithm.overflow == Overflow::kSaturate; }

// The group without its rows.
FormatGroup GroupOf(const Operation& op) {
  const Instruction& i = *op.instruction;
  FormatGroup group = {i.a->name, i.b->name, i.d->name, {}, {}, {}, {}};
  std::vector<std::string> also;
  if (i.is_conversion()) {
    also.push_back("conversion");
  } else if (i.c != i.d) {
    also.push_back(absl::StrCat(i.c->name, " addend"));
  }
  if (i.scale != nullptr)
    also.push_back(absl::StrCat(i.scale->name, " scale for ", op.model.scale_block));
  if (i.sparse()) also.push_back(SparsityText(op.model) + " sparse");
  const std::string mode = ModeOf(i);
  if (!mode.empty()) also.push_back(mode);
  if (mode.empty() && Saturates(op)) also.push_back("satfinite");
  if (!also.empty()) absl::StrAppend(&group.d, " (", absl::StrJoin(also, ", "), ")");
  return group;
}

Racer Chained(const Operation& op, int k) { return ChainedRacer(RacerOf(op), k); }

std::vector<RowClass> ClassesOf(const Rows& rows, int k) {
  std::vector<RowClass> classes;
  for (const Operation* row : rows) {
    const auto same = [&](const RowClass& c) {
      return c.emulated != IsNative(*row) && AreSame(Chained(*c.rows.front(), k), Chained(*row, k));
    };
    auto of = std::ranges::find_if(classes, same);
    if (of == classes.end()) of = classes.insert(of, {{}, !IsNative(*row)});
    of->rows.push_back(row);
  }
  return classes;
}

// The rows of two classes with the smallest common k, which one of them has; the other row is
// chained.
std::pair<const Operation*, const Operation*> Nearest(const RowClass& x, const RowClass& y) {
  std::pair<const Operation*, const Operation*> nearest = {x.rows.front(), y.rows.front()};
  const auto cost = [](const Operation& a, const Operation& b) {
    const int least = std::min(a.model.k, b.model.k), most = std::max(a.model.k, b.model.k);
    return std::pair(most % least != 0, most + (most - least));
  };
  for (const Operation* a : x.rows) {
    for (const Operation* b : y.rows) {
      if (cost(*a, *b) < cost(*nearest.first, *nearest.second)) nearest = {a, b};
    }
  }
  return nearest;
}

bool HasNative(const std::vector<RowClass>& classes) {
  return std::ranges::any_of(classes, [](const RowClass& c) { return !c.emulated; });
}

// "mma" for sm_90/mma.m16n8k16...; "tcgen05"; "v_mfma"; the whole name if it has no parts.
std::string VerbOf(const Operation& op) {
  const std::string& name = op.instruction->name;
  const size_t end = name.starts_with("v_") ? name.find('_', 2) : name.find('.');
  return name.substr(0, end);
}

std::string ArchOf(const std::vector<RowClass>& classes) {
  return std::string(classes.front().rows.front()->arch());
}

std::string Subject(const std::vector<RowClass>& classes, size_t index) {
  return absl::StrCat(ArchOf(classes), " ", ClassName(classes, {&index, 1}));
}

// A predicate for the algorithms of a family, to follow a name.
const char* FamilyPredicate(Family family) {
  switch (family) {
    case Family::kFmaChain:
      return "chains fused multiply-adds";
    case Family::kPairwiseSum:
      return "adds rounded products in pairs";
    case Family::kFusedSum:
      return "cuts aligned products and adds them together";
    case Family::kScaledSum:
      return "cuts aligned scaled products and adds them together";
    case Family::kExactSum:
      return "adds products exactly";
    case Family::kTwoStageSum:
      return "cuts aligned products, adds them, then cuts and adds c";
    case Family::kIntegerDot:
      return "adds integers";
    case Family::kConversion:
      return "rounds once";
    case Family::kTree:
      return "adds in a tree";
    case Family::kNone:
      break;
  }
  return "is unknown";
}

bool Agrees(const ClassPair& pair) {
  return pair.race.verdict == PairRace::kSame || pair.race.verdict == PairRace::kProved;
}

// The differences between the classes of pairs, each class once: "sm_90 wgmma keeps 13 bits, sm_100
// tcgen05 keeps 25 bits".
std::string DifferenceText(const FormatGroup& group, const std::vector<const ClassPair*>& told) {
  std::vector<const Parameter*> with_words, all;
  bool families = false;
  std::map<std::pair<bool, size_t>, const Algorithm*> algorithms;  // whether of y, index
  for (const ClassPair* pair : told) {
    const Algorithm &x = pair->race.x.model.algorithm, &y = pair->race.y.model.algorithm;
    algorithms[{false, pair->x}] = &x;
    algorithms[{true, pair->y}] = &y;
    families |= x.family != y.family;
    for (const Change& c : pair->race.changes) {
      for (std::vector<const Parameter*>* some : {&all, &with_words}) {
        const bool fits = some == &all || HasWords(x.family, *c.parameter);
        if (fits && std::ranges::count(*some, c.parameter) == 0) some->push_back(c.parameter);
      }
    }
  }
  const std::vector<const Parameter*>& parameters = with_words.empty() ? all : with_words;
  std::vector<std::string> others;  // without words
  for (const Parameter* p : all) {
    if (!families && std::ranges::count(parameters, p) == 0) others.push_back(p->name);
  }
  struct Part {
    bool of_y;
    std::vector<size_t> classes;
    std::string predicate;
  };
  std::vector<Part> parts;
  for (const auto& [of, algorithm] : algorithms) {
    std::vector<std::string> predicates;
    if (families) predicates.push_back(FamilyPredicate(algorithm->family));
    for (const Parameter* p : parameters) {
      if (!families) predicates.push_back(Predicate(*algorithm, *p));
    }
    if (predicates.empty()) predicates.push_back("differs in its steps");
    const bool of_y = of.first;
    const size_t index = of.second;
    const std::vector<RowClass>& classes = of_y ? group.y : group.x;
    const Part own = {of_y, {index}, absl::StrJoin(predicates, " and ")};
    const auto alike = std::ranges::find_if(parts, [&](const Part& other) {
      return other.of_y == own.of_y && other.predicate == own.predicate &&
             classes[other.classes[0]].emulated == classes[index].emulated;
    });
    if (alike == parts.end()) {
      parts.push_back(own);
    } else {
      alike->classes.push_back(index);
    }
  }
  const auto text = [&](std::string* out, const Part& part) {
    const std::vector<RowClass>& classes = part.of_y ? group.y : group.x;
    absl::StrAppend(out, ArchOf(classes), " ", ClassName(classes, part.classes), " ",
                    part.predicate);
  };
  return absl::StrCat(absl::StrJoin(parts, ", ", text),
                      others.empty() ? "" : "; they also differ in ", absl::StrJoin(others, ", "));
}

// Whether to set the pair aside: emulated classes show nothing about a chip where native classes
// meet.
bool IsBeside(const FormatGroup& group, const ClassPair& pair) {
  const auto meets_native = [&](size_t index, bool of_y) {
    return std::ranges::any_of(group.pairs, [&](const ClassPair& other) {
      return (of_y ? other.y : other.x) == index && !group.x[other.x].emulated &&
             !group.y[other.y].emulated;
    });
  };
  if (!HasNative(group.x) || !HasNative(group.y)) {
    return (HasNative(group.x) && group.x[pair.x].emulated) ||
           (HasNative(group.y) && group.y[pair.y].emulated);
  }
  const bool x = group.x[pair.x].emulated, y = group.y[pair.y].emulated;
  return (x && y) || (x && meets_native(pair.y, true)) || (y && meets_native(pair.x, false));
}

// The verdict on native rows, or on emulated ones if an architecture has no native rows.
std::string VerdictOf(const FormatGroup& group) {
  const bool native_x = HasNative(group.x), native_y = HasNative(group.y);
  const std::string text = native_x && native_y ? ""
                           : native_x           ? ArchOf(group.y) + " only emulates it: "
                           : native_y           ? ArchOf(group.x) + " only emulates it: "
                                                : "emulated on both: ";
  std::vector<std::string> parts;
  std::vector<const ClassPair*> told;
  bool beside = false;
  for (const ClassPair& pair : group.pairs) {
    if (IsBeside(group, pair)) {
      beside |= pair.race.verdict == PairRace::kTold;
      continue;
    }
    const std::string both =
        absl::StrCat(Subject(group.x, pair.x), " and ", Subject(group.y, pair.y));
    if (pair.race.verdict == PairRace::kTold) {
      told.push_back(&pair);
    } else {
      parts.push_back(Agrees(pair) ? both + " agree"
                                   : absl::StrCat(both, ": ", VerdictText(pair.race)));
    }
  }
  if (told.empty() && parts.size() == 1 && std::ranges::all_of(group.pairs, Agrees))
    return text + "the same";
  if (!told.empty()) parts.push_back(DifferenceText(group, told));
  if (beside) parts.push_back("emulated rows differ");
  return text + absl::StrJoin(parts, "; ");
}

// Partners for a class without an equal: native classes for a native one and emulated classes for
// an emulated one, if there are any; among these the ones without an equal, if there are any.
std::vector<size_t> Partners(const RowClass& own, const std::vector<RowClass>& others,
                             const std::set<size_t>& equal) {
  for (const bool alike : {true, false}) {
    for (const bool without_equal : {true, false}) {
      std::vector<size_t> found;
      for (size_t i = 0; i < others.size(); ++i) {
        if ((others[i].emulated == own.emulated) == alike && !(without_equal && equal.contains(i)))
          found.push_back(i);
      }
      if (!found.empty()) return found;
    }
  }
  return {};
}

bool HaveOneName(const RowClass& x, const RowClass& y) {
  return std::ranges::any_of(x.rows, [&](const Operation* row) {
    return std::ranges::any_of(y.rows, [&](const Operation* other) {
      return other->instruction->name == row->instruction->name;
    });
  });
}

// The pairs of classes that meet: equal ones, those with a row of the same name, and each class
// without an equal with its Partners().
std::vector<std::pair<size_t, size_t>> Meetings(const FormatGroup& group, int k) {
  std::set<std::pair<size_t, size_t>> meetings;
  std::set<size_t> met_x, met_y;
  const auto meet = [&](size_t x, size_t y) {
    meetings.emplace(x, y);
    met_x.insert(x);
    met_y.insert(y);
  };
  const auto each = [&](auto&& visit) {
    for (size_t x = 0; x < group.x.size(); ++x) {
      for (size_t y = 0; y < group.y.size(); ++y) visit(x, y);
    }
  };
  for (const bool alike : {true, false}) {  // native with native first
    each([&](size_t x, size_t y) {
      if ((group.x[x].emulated == group.y[y].emulated) != alike ||
          (met_x.contains(x) && met_y.contains(y)))
        return;
      if (AreSame(Chained(*group.x[x].rows.front(), k), Chained(*group.y[y].rows.front(), k)))
        meet(x, y);
    });
  }
  const std::set<size_t> equal_x = met_x, equal_y = met_y;
  each([&](size_t x, size_t y) {
    if (HaveOneName(group.x[x], group.y[y])) meet(x, y);
  });
  for (size_t x = 0; x < group.x.size(); ++x) {
    if (equal_x.contains(x)) continue;
    for (const size_t y : Partners(group.x[x], group.y, equal_y)) meet(x, y);
  }
  for (size_t y = 0; y < group.y.size(); ++y) {
    if (equal_y.contains(y)) continue;
    for (const size_t x : Partners(group.y[y], group.x, equal_x)) meet(x, y);
  }
  return {meetings.begin(), meetings.end()};
}

absl::Status RaceGroup(FormatGroup& group, int most_k, Races& races) {
  for (const auto& [x, y] : Meetings(group, most_k)) {
    const auto [of_x, of_y] = Nearest(group.x[x], group.y[y]);
    const int k = std::max(of_x->model.k, of_y->model.k);
    ASSIGN_OR_RETURN(PairRace race, races.Find(Chained(*of_x, k), Chained(*of_y, k)));
    if (race.verdict == PairRace::kNotComparable) {
      const Operation& shorter = of_x->model.k < of_y->model.k ? *of_x : *of_y;
      race.why = absl::StrCat(shorter.name, " cannot be chained to k = ", k, ": ",
                              WhyNoChain(shorter.model, 2));
    }
    group.pairs.push_back({x, y, std::move(race)});
  }
  group.verdict = VerdictOf(group);
  return absl::OkStatus();
}

// "f16", "{e4m3, e5m2}".
std::string SetText(const std::vector<std::string>& names) {
  return names.size() == 1 ? names.front() : absl::StrCat("{", absl::StrJoin(names, ", "), "}");
}

// Groups with one verdict and one d: "f32, {e4m3, e5m2} x {e4m3, e5m2} to f32": first those with
// equal a and b, then every a with every b.
std::string OperandsText(const std::vector<const FormatGroup*>& groups) {
  using Names = std::vector<std::string>;
  std::vector<std::pair<std::string, Names>> b_of;  // by a
  for (const FormatGroup* g : groups) {
    auto of = std::ranges::find(b_of, g->a, &std::pair<std::string, Names>::first);
    if (of == b_of.end()) of = b_of.insert(of, {g->a, {}});
    of->second.push_back(g->b);
  }
  Names equal;
  std::vector<std::pair<Names, Names>> products;
  for (const auto& [a, b] : b_of) {
    if (b == Names{a} || b == Names{kAbsent.name}) {
      equal.push_back(a);
      continue;
    }
    auto same = std::ranges::find(products, b, &std::pair<Names, Names>::second);
    if (same == products.end()) same = products.insert(same, {{}, b});
    same->first.push_back(a);
  }
  Names parts;
  if (!equal.empty()) parts.push_back(SetText(equal));
  for (const auto& [a, b] : products) parts.push_back(SetText(a) + " x " + SetText(b));
  return absl::StrCat(absl::StrJoin(parts, ", "), " to ", groups.front()->d);
}

std::string OnlyText(const std::vector<RowClass>& classes) {
  std::vector<size_t> native, emulated;
  for (size_t i = 0; i < classes.size(); ++i) {
    (classes[i].emulated ? emulated : native).push_back(i);
  }
  std::vector<std::string> names;
  for (const std::vector<size_t>* some : {&native, &emulated}) {
    if (!some->empty()) names.push_back(ClassName(classes, *some));
  }
  return absl::StrCat("only ", ArchOf(classes), " (", absl::StrJoin(names, ", "), ")");
}

std::string PlainName(const std::vector<RowClass>& classes, std::span<const size_t> indices) {
  const auto verbs = [](const RowClass& c) {
    std::vector<std::string> names;
    for (const Operation* row : c.rows) {
      const std::string verb = VerbOf(*row);
      if (std::ranges::count(names, verb) == 0) names.push_back(verb);
    }
    return absl::StrJoin(names, "/");
  };
  RowClass own = classes[indices[0]];
  for (const size_t i : indices.subspan(1)) {
    own.rows.insert(own.rows.end(), classes[i].rows.begin(), classes[i].rows.end());
  }
  std::string name = verbs(own);
  size_t alike = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    const RowClass& c = classes[i];
    if (c.emulated != own.emulated || std::ranges::count(indices, i) > 0) continue;
    const auto has_verb = [&](const Operation* row) {
      return std::ranges::any_of(own.rows,
                                 [&](const Operation* o) { return VerbOf(*o) == VerbOf(*row); });
    };
    alike += std::ranges::any_of(c.rows, has_verb);
  }
  if (alike > 0) {
    std::set<int> ks;
    for (const Operation* row : own.rows) ks.insert(row->model.k);
    absl::StrAppend(&name, " (k = ", absl::StrJoin(ks, ", "), ")");
  }
  return own.emulated ? absl::StrCat("emulated ", name) : name;
}

}  // namespace

std::string ClassName(const std::vector<RowClass>& classes, std::span<const size_t> indices) {
  const std::string name = PlainName(classes, indices);
  for (size_t i = 0; i < classes.size(); ++i) {
    if (std::ranges::count(indices, i) > 0 || PlainName(classes, {&i, 1}) != name) continue;
    return absl::StrCat(name, " like ", classes[indices[0]].rows.front()->instruction->name);
  }
  return name;
}

bool HaveEqualFormats(const Operation& x, const Operation& y) {
  return GroupOf(x).formats() == GroupOf(y).formats();
}

absl::StatusOr<ArchitectureRace> RaceAll(std::span<const Operation* const> x,
                                         std::span<const Operation* const> y, Races& races) {
  struct Rowed {
    FormatGroup group;
    Rows x, y;
  };
  std::vector<Rowed> by_formats;  // in the order of the rows
  const auto of_formats = [&](const Operation& row) -> Rowed& {
    FormatGroup group = GroupOf(row);
    auto of = std::ranges::find_if(
        by_formats, [&](const Rowed& r) { return r.group.formats() == group.formats(); });
    if (of == by_formats.end()) of = by_formats.insert(of, {std::move(group), {}, {}});
    return *of;
  };
  for (const Operation* row : x) of_formats(*row).x.push_back(row);
  for (const Operation* row : y) of_formats(*row).y.push_back(row);
  ArchitectureRace result;
  for (Rowed& rowed : by_formats) {
    Rows all = rowed.x;
    all.insert(all.end(), rowed.y.begin(), rowed.y.end());
    int k = 1;
    for (const Operation* row : all) k = std::max(k, row->model.k);
    rowed.group.x = ClassesOf(rowed.x, k);
    rowed.group.y = ClassesOf(rowed.y, k);
    if (rowed.x.empty() || rowed.y.empty()) {
      rowed.group.verdict = OnlyText(rowed.x.empty() ? rowed.group.y : rowed.group.x);
      result.only_in_one.push_back(std::move(rowed.group));
      continue;
    }
    RETURN_IF_ERROR(RaceGroup(rowed.group, k, races));
    result.groups.push_back(std::move(rowed.group));
  }
  return result;
}

std::string FormatGroup::formats() const {
  return absl::StrCat(a == b || b == kAbsent.name ? a : absl::StrCat(a, " x ", b), " to ", d);
}

std::string VerdictLines(const ArchitectureRace& race) {
  struct Line {
    std::string verdict;
    enum { kSame, kOnlyInOne, kDiffers } kind;
    std::vector<std::vector<const FormatGroup*>> by_d;
  };
  std::vector<Line> lines;
  const auto add = [&](const FormatGroup& group, auto kind) {
    auto line = std::ranges::find(lines, group.verdict, &Line::verdict);
    if (line == lines.end()) line = lines.insert(line, {group.verdict, kind, {}});
    auto same_d =
        std::ranges::find_if(line->by_d, [&](const auto& g) { return g.front()->d == group.d; });
    if (same_d == line->by_d.end())
      same_d = line->by_d.insert(same_d, std::vector<const FormatGroup*>());
    same_d->push_back(&group);
  };
  for (const FormatGroup& group : race.only_in_one) add(group, Line::kOnlyInOne);
  for (const FormatGroup& group : race.groups) {
    add(group, std::ranges::all_of(group.pairs, Agrees) ? Line::kSame : Line::kDiffers);
  }
  std::ranges::stable_sort(lines, {}, &Line::kind);
  std::string text;
  for (const Line& line : lines) {
    const auto operands = [](std::string* out, const auto& groups) {
      out->append(OperandsText(groups));
    };
    const std::string formats = absl::StrJoin(line.by_d, "; ", operands);
    const bool verdict_first = line.kind == Line::kOnlyInOne;
    absl::StrAppend(&text, verdict_first ? line.verdict : formats, ": ",
                    verdict_first ? formats : line.verdict, "\n");
  }
  return text;
}

}  // namespace mmadiff
