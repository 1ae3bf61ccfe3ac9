// What the passes of the minimiser overlook: a random search for cases with fewer terms around each
// minimal case of three terms and more. Prints what the minimisations cost, too.
#include <algorithm>
#include <ctime>
#include <iostream>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "triage/explain.h"
#include "triage/minimize/minimize.h"
#include "triage/minimize/reducer.h"
#include "triage/minimize/sparse.h"
#include "triage/minimize/terms.h"
#include "triage/testing/device.h"
#include "triage/testing/minimize.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

constexpr int kOperationsOfAFamily = 2;
constexpr const char* kMoreOperations[] = {"sm_90/mma.m16n8k16.f32.f16.f16.f32",
                                           "sm_80/mma.m16n8k8.f32.bf16.bf16.f32"};
constexpr int kStarts = 2;
constexpr int kTries = 300;  // random dot products in search of a difference
constexpr int kCandidates = 200000;

// Two parameters changed, which mostly no single change explains.
class TwiceChangedDevice : public ChangedDevice {
 public:
  TwiceChangedDevice(const std::string& x, std::string y)
      : ChangedDevice(absl::StrCat(x, "+", y)), x_(x), y_(std::move(y)) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    executions += batch.count;
    Model model = op.model;
    for (const std::string& change : {x_, y_}) {
      const std::vector<Neighbour> neighbours = Neighbours(model);
      for (const Neighbour& n : neighbours) {
        if (Name(n) == change) model.algorithm = n.algorithm;
      }
    }
    d.resize(batch.dot_products());
    Simulate(model, batch, d);
    return absl::OkStatus();
  }

 private:
  std::string x_, y_;
};

struct Figures {
  std::vector<int64_t> executions;
  std::vector<double> seconds;
  std::string slowest;
  std::vector<int> terms;
  int searched = 0, beaten = 0, beaten_by_more = 0;
};

// "median p90 max" of the sorted values.
template <class T>
std::string Quantiles(std::vector<T> values) {
  if (values.empty()) return "-";
  std::ranges::sort(values);
  const size_t last = values.size() - 1;
  return absl::StrCat(values[last / 2], " ", values[last * 9 / 10], " ", values[last]);
}

void Print(const std::string& name, const Figures& f) {
  std::map<int, int> histogram;
  for (const int terms : f.terms) ++histogram[terms];
  std::string terms;
  for (const auto& [n, count] : histogram) absl::StrAppend(&terms, " ", n, ":", count);
  std::cout << name << ": " << f.terms.size() << " minimisations, executions "
            << Quantiles(f.executions) << " (median p90 max), seconds of CPU "
            << Quantiles(f.seconds) << " (" << f.slowest << "), terms" << terms << ", searched "
            << f.searched << ", beaten " << f.beaten << ", by more than one term "
            << f.beaten_by_more << std::endl;
}

int TermsOf(const Model& m, const DotProductCase& dot) {
  return static_cast<int>(ActiveTerms(m, dot).size());
}

// Random dot products near a minimal case.
class Search {
 public:
  Search(const Model& model, const DotProductCase& minimal)
      : model_(model), minimal_(minimal), places_(ActiveProducts(model, minimal)) {
    for (const int w : ActiveWords(model, minimal)) {
      const Value o = ValueAt(model, minimal, w);
      operands_.push_back(o);
      if (o.kind == Value::Class::kFinite) exponents_.push_back(o.exponent);
    }
    for (const int t : ActiveTerms(model, minimal)) {
      const std::optional<int> e = TermExponent(model, minimal, t);
      if (e) exponents_.push_back(*e);
    }
    exponents_.push_back(0);
  }

  // At most `terms` terms.
  DotProductCase Next(int terms) {
    DotProductCase dot =
        Random(4) == 0 ? NeutralDotProduct(model_) : WithoutTerms(model_, minimal_);
    const int products = 1 + Random(terms);
    if (products < terms && Random(3) != 0) dot.c = Word(2 * model_.k);
    for (int i = 0; i < products; ++i) {
      const int k =
          Random(5) == 0 || places_.empty() ? Random(model_.k) : places_[Random(places_.size())];
      if (Random(3) == 0 && !places_.empty()) {
        const int from = places_[Random(places_.size())];
        dot.a[k] = minimal_.a[from];
        dot.b[k] = minimal_.b[from];
      } else {
        dot.a[k] = Word(2 * k);
        dot.b[k] = Word(2 * k + 1);
      }
    }
    return dot;
  }

 private:
  int Random(size_t count) { return static_cast<int>(random_() % count); }

  // Near an exponent of the minimal case, mostly that of 1.0.
  int Exponent() {
    if (Random(3) == 0) return 0;
    const int e = exponents_[Random(exponents_.size())];
    return Random(2) == 0 ? e : e + Random(9) - 4;
  }

  Value RandomValue() {
    const int kind = Random(16);
    Value o = {Value::Class::kFinite, Random(2) == 0, Exponent(), 0};
    if (kind < 4) {
      const int w = Random(operands_.size());
      o = operands_[w];
      if (kind == 1) o.negative = !o.negative;
      if (kind == 2 && o.kind == Value::Class::kFinite) o.exponent += Random(5) - 2;
      if (kind == 3 && o.kind == Value::Class::kFinite) o.fraction = 0;
    } else if (kind == 4) {
      o.fraction = 1ull << (63 - Random(24));
    } else if (kind == 5) {
      o.fraction = ~0ull << (40 + Random(24));
    } else if (kind == 6) {
      o = {Random(3) == 0 ? Value::Class::kInfinite : Value::Class::kZero, Random(2) == 0, 0, 0};
    }
    return o;
  }

  uint64_t Word(int w) {
    const Format& format = FormatOfWord(model_, w);
    uint64_t word = 0;
    if (Random(32) == 0) return random_() & LowBits(format.bits);
    for (int i = 0; i < 4 && !EncodeValue(format, RandomValue(), &word); ++i) {
    }
    return word;
  }

  const Model& model_;
  const DotProductCase& minimal_;
  std::vector<int> places_;
  std::vector<Value> operands_;
  std::vector<int> exponents_;
  std::mt19937_64 random_{7};
};

std::string Text(const Model& m, const DotProductCase& dot) {
  std::string text;
  for (int k = 0; k < m.k + m.scales(); ++k) {
    if (dot.a[k] == NeutralWord(m, k) && dot.b[k] == NeutralWord(m, k)) continue;
    absl::StrAppend(&text, absl::Hex(dot.a[k]), "*", absl::Hex(dot.b[k]), "@", k, " ");
  }
  return absl::StrCat(text, absl::Hex(dot.c));
}

// The simplest in number of terms that the search finds to differ in the same way.
DotProductCase Simplest(const Operation& op, const Target& target, ChangedDevice& device,
                        const DotProductCase& minimal) {
  Search search(op.model, minimal);
  DotProductCase best = minimal;
  int terms = TermsOf(op.model, minimal);
  for (int i = 0; i < kCandidates && terms > 1; ++i) {
    const DotProductCase dot = search.Next(terms - 1);
    const int n = TermsOf(op.model, dot);
    if (n == 0 || n >= terms || !target.Possible(dot)) continue;
    const uint64_t d = (*device.Run(op, MakeDotProductBatch(op.shape(), {dot})))[0];
    if (SameResult(op, SimulateSparse(op.model, dot), d) || !target.Holds(dot, d)) continue;
    best = dot;
    terms = n;
  }
  return best;
}

void MinimizeAndSearch(const Operation& op, ChangedDevice& device, const Batch& start,
                       Figures& explained, Figures& unexplained) {
  const std::clock_t clock = std::clock();
  const absl::StatusOr<Minimized> m = Minimize(device, {&op, start, 0});
  const double seconds = static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC;
  ASSERT_TRUE(m.ok()) << m.status();
  const DotProductCase minimal = Extract(m->mismatch.inputs, 0);
  const Target target = TargetOfMismatch(op, minimal, m->mismatch.device[0]);
  Figures& figures = target.explained() ? explained : unexplained;
  const int terms = TermsOf(op.model, minimal);
  figures.executions.push_back(m->executions);
  if (std::ranges::all_of(figures.seconds, [&](double s) { return s < seconds; })) {
    figures.slowest = absl::StrCat(op.name, " ", device.name());
  }
  figures.seconds.push_back(seconds);
  figures.terms.push_back(terms);
  if (terms < 3) return;
  ++figures.searched;
  const DotProductCase simplest = Simplest(op, target, device, minimal);
  const int fewest = TermsOf(op.model, simplest);
  if (fewest == terms) return;
  ++figures.beaten;
  std::cout << op.name << " " << device.name() << " " << Name(m->bucket) << "\n  "
            << Text(op.model, minimal) << "\n  " << Text(op.model, simplest) << std::endl;
  if (fewest == terms - 1) return;
  ++figures.beaten_by_more;
  if (target.explained()) ADD_FAILURE() << "beaten by more than one term";
}

class MinimizeSearch : public testing::TestWithParam<const Operation*> {
 protected:
  static void TearDownTestSuite() {
    Print("explained", explained);
    Print("unexplained", unexplained);
  }

  static void CheckDevice(ChangedDevice& device) {
    const Operation& op = *GetParam();
    std::mt19937_64 random(3);
    int found = 0;
    for (int i = 0; i < kTries && found < kStarts; ++i) {
      const Batch start = RandomTile(op, DotProductShape(op.shape()), random);
      const DotProductCase dot = Extract(start, 0);
      if (SameResult(op, Simulate(op.model, dot), (*device.Run(op, start))[0])) continue;
      ++found;
      MinimizeAndSearch(op, device, start, explained, unexplained);
    }
  }

  static inline Figures explained, unexplained;
};

TEST_P(MinimizeSearch, FindsNoneWithTwoTermsLess) {
  const std::vector<Neighbour> neighbours = Neighbours(GetParam()->model);
  for (const Neighbour& n : neighbours) {
    ChangedDevice device(Name(n));
    CheckDevice(device);
  }
  CountingDevice counting;
  CheckDevice(counting);
  for (size_t i = 0; i < neighbours.size(); i += 3) {
    const size_t other = (i + neighbours.size() / 2) % neighbours.size();
    TwiceChangedDevice device(Name(neighbours[i]), Name(neighbours[other]));
    CheckDevice(device);
  }
}

std::vector<const Operation*> OperationsToSearch() {
  std::vector<const Operation*> ops = OperationsOfEachFamily(kOperationsOfAFamily);
  for (const char* name : kMoreOperations) ops.push_back(FindOperation(name));
  return ops;
}

INSTANTIATE_TEST_SUITE_P(, MinimizeSearch, testing::ValuesIn(OperationsToSearch()),
                         [](const testing::TestParamInfo<const Operation*>& info) {
                           std::string name = info.param->name;
                           for (char& c : name) {
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           }
                           return name;
                         });

}  // namespace
}  // namespace mmadiff
