// What must hold of the investigation of a planted change, for the tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "corpus/cases/case_name.h"
#include "device/clock.h"
#include "gtest/gtest.h"
#include "sim/simulate.h"
#include "triage/diagnosis/investigate.h"
#include "triage/minimize/simplicity.h"
#include "triage/testing/device.h"
#include "triage/verdict.h"

namespace mmadiff {

constexpr uint64_t kCheckedDotProducts = 16000;

// Numbers of many investigations.
struct InvestigateFigures {
  int planted = 0, silent = 0;  // changes; those that no case of the search shows
  int right = 0, equal = 0;     // named as planted; as another change that no input distinguishes
  int undecided = 0;            // nothing is named
  std::vector<std::string> wrong;      // a change is named that an input refutes
  std::vector<std::string> unrefuted;  // rivals that an input refutes and no kept case
  std::vector<std::string> rare;       // the same for inputs that the investigation did not see
  std::vector<int64_t> executions;
  std::vector<int> terms, kept;  // of the minimal mismatch; cases
  std::vector<double> seconds;
  std::string largest, slowest;  // with the most terms; seconds
};

template <class T>
T Quantile(std::vector<T> values, double q) {
  if (values.empty()) return T{};
  std::ranges::sort(values);
  return values[std::min(values.size() - 1, static_cast<size_t>(q * values.size()))];
}

// Dot products of generated executions, spread over their results, in portions. Of seed 1 they are
// those that an investigation chooses from.
inline std::vector<Batch> CheckedDots(const Operation& op, uint64_t seed) {
  std::vector<Batch> portions;
  const CaseStream stream = {&op, &Strategies().front(), seed};
  Batch batch;
  std::vector<DotProductCase> dots;
  for (uint64_t i = 0, number = 0; number < kCheckedDotProducts; ++i) {
    Generate(stream, i, 1, batch);
    const int64_t all = batch.dot_products(), count = std::min<int64_t>(all, 8);
    for (int64_t k = 0; k < count; ++k, ++number)
      dots.push_back(Extract(batch, (k * (all / count) + i) % all));
    if (dots.size() < 256 && number < kCheckedDotProducts) continue;
    portions.push_back(MakeDotProductBatch(op.shape(), dots));
    dots.clear();
  }
  return portions;
}

// Dot products and a device's answers to them, which are found when they are needed.
class CheckedAnswers {
 public:
  CheckedAnswers(const Operation& op, const Model& device, const std::vector<Batch>& portions)
      : op_(op), device_(device), portions_(portions) {}

  // Whether the model gives another word than the device.
  bool Refute(const Model& model) {
    for (size_t i = 0; i < portions_.size(); ++i) {
      if (i == answers_.size()) {
        Simulate(device_, portions_[i], answers_.emplace_back(portions_[i].dot_products()));
      }
      Compare(op_, model, portions_[i], answers_[i], compared_);
      if (!compared_.differing.empty()) return true;
    }
    return false;
  }

 private:
  const Operation& op_;
  const Model& device_;
  const std::vector<Batch>& portions_;
  std::vector<std::vector<uint64_t>> answers_;
  Comparison compared_;
};

// The first mismatch that a run would find.
inline bool FirstMismatch(const Operation& op, Device& device, uint64_t seed, Mismatch& mismatch) {
  const CaseStream stream = {&op, &Strategies().front(), seed};
  Batch batch;
  for (uint64_t i = 0; i < 6000; ++i) {
    Generate(stream, i, 1, batch);
    const std::vector<uint64_t> d = *device.Run(op, batch);
    const Comparison compared = Compare(op, batch, d);
    if (compared.differing.empty()) continue;
    mismatch = {&op, batch, compared.differing.front(), d};
    return true;
  }
  return false;
}

inline bool FirstMismatch(const Operation& op, const Model& changed, uint64_t seed,
                          Mismatch& mismatch) {
  ModelDevice device(changed);
  return FirstMismatch(op, device, seed, mismatch);
}

// Investigates the first mismatch of a device with another model of the operation.
// `dots`: CheckedDots() of seed 1; `others`: of another, which the investigation did not see.
inline void CheckPlanted(const Operation& op, const Algorithm& planted,
                         const std::vector<Batch>& dots, const std::vector<Batch>& others,
                         InvestigateFigures& figures) {
  const std::string name = op.name + " " + Name(*ChangesBetween(op.model.algorithm, planted));
  const Model changed = WithAlgorithm(op, planted);
  ++figures.planted;
  Mismatch mismatch;
  if (!FirstMismatch(op, changed, 1, mismatch)) {
    ++figures.silent;
    return;
  }
  ModelDevice device(changed);
  const CaseStream stream = {&op, &Strategies().front(), 1};
  const auto clock = MonotonicNow();
  const auto i = Investigate(device, mismatch, stream);
  const double seconds = absl::ToDoubleSeconds(MonotonicNow() - clock);
  if (seconds > Quantile(figures.seconds, 1.)) figures.slowest = name;
  figures.seconds.push_back(seconds);
  ASSERT_TRUE(i.ok()) << name << ": " << i.status();
  ASSERT_TRUE(i->bucket.Repeats()) << name;
  ASSERT_EQ(i->executions, device.executions) << name;
  figures.executions.push_back(i->executions);
  figures.kept.push_back(static_cast<int>(i->cases.size()));

  // Every case is what device and model say of it, and the first is a mismatch.
  for (const KeptCase& c : i->cases) {
    const Mismatch& m = c.mismatch;
    EXPECT_EQ(c.mismatch.device, *device.Run(op, m.inputs)) << name << ": " << c.why;
    EXPECT_EQ(c.mismatch.model, Compare(op, m.inputs, c.mismatch.device).model) << name;
  }
  const Mismatch& minimal = i->cases.front().mismatch;
  const DotProductCase dot = Extract(minimal.inputs, minimal.element);
  EXPECT_FALSE(Gives(op, op.model, dot, minimal.device[minimal.element])) << name;
  const Complexity complexity = ComplexityOf(op.model, dot);
  for (const KeptCase& c : i->cases) {  // and none is simpler
    const Mismatch& m = c.mismatch;
    const DotProductCase other = Extract(m.inputs, m.element);
    EXPECT_TRUE(i->diagnosis.changes.empty() || Gives(op, op.model, other, m.device[m.element]) ||
                complexity <= ComplexityOf(op.model, other))
        << name << ": " << c.why;
  }
  const int terms = complexity[0] + complexity[2];
  if (terms > Quantile(figures.terms, 1.)) figures.largest = name;
  figures.terms.push_back(terms);

  // What is named gives every answer that there is.
  CheckedAnswers seen(op, changed, dots), unseen(op, changed, others);
  if (i->diagnosis.changes.empty()) {
    ++figures.undecided;
  } else {
    const Neighbour& named = i->diagnosis.changes.front();
    if (named.algorithm == planted)
      ++figures.right;
    else if (!seen.Refute(WithAlgorithm(op, named.algorithm)) &&
             !unseen.Refute(WithAlgorithm(op, named.algorithm)))
      ++figures.equal;
    else
      figures.wrong.push_back(name + " named " + Name(named));
  }
  // What an input refutes, a kept case refutes.
  for (const Neighbour& n : SingleChanges(op.model)) {
    const Model rival = WithAlgorithm(op, n.algorithm);
    const bool refuted = std::ranges::any_of(i->cases, [&](const KeptCase& c) {
      const Mismatch& m = c.mismatch;
      return !Gives(op, rival, Extract(m.inputs, m.element), c.mismatch.device[m.element]);
    });
    if (refuted) continue;
    if (seen.Refute(rival)) {
      figures.unrefuted.push_back(name + " not " + Name(n));
    } else if (unseen.Refute(rival)) {
      figures.rare.push_back(name + " not " + Name(n));
    }
  }
}

inline void Print(const InvestigateFigures& f) {
  printf(
      "planted %d, silent %d, right %d, equal %d, undecided %d, wrong %zu, unrefuted %zu, rare "
      "%zu\n",
      f.planted, f.silent, f.right, f.equal, f.undecided, f.wrong.size(), f.unrefuted.size(),
      f.rare.size());
  printf("terms median %d p90 %d max %d (%s); cases median %d max %d\n", Quantile(f.terms, .5),
         Quantile(f.terms, .9), Quantile(f.terms, 1.), f.largest.c_str(), Quantile(f.kept, .5),
         Quantile(f.kept, 1.));
  printf("executions median %lld p90 %lld max %lld; seconds median %.3f p90 %.3f max %.3f (%s)\n",
         static_cast<long long>(Quantile(f.executions, .5)),
         static_cast<long long>(Quantile(f.executions, .9)),
         static_cast<long long>(Quantile(f.executions, 1.)), Quantile(f.seconds, .5),
         Quantile(f.seconds, .9), Quantile(f.seconds, 1.), f.slowest.c_str());
  for (const std::string& w : f.wrong) printf("wrong: %s\n", w.c_str());
  for (const std::string& w : f.unrefuted) printf("unrefuted: %s\n", w.c_str());
  for (const std::string& w : f.rare) printf("rare: %s\n", w.c_str());
}

}  // namespace mmadiff
