// The way of a mismatch from the device to the stored case and back, for the tests.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "corpus/regression_case.h"
#include "device/clock.h"
#include "device/line_protocol.h"
#include "gmock/gmock.h"
#include "sim/simulate.h"
#include "triage/explain_text.h"
#include "triage/minimize/minimize.h"
#include "triage/testing/device.h"
#include "triage/testing/minimize.h"
#include "triage/verdict.h"

namespace mmadiff {

struct RoundTripFigures {
  int planted = 0, found = 0, plain_scales = 0, exactly_explained = 0;
  int64_t executions = 0;
  double seconds = 0, slowest = 0;  // of minimisation
  std::string slowest_name;
  std::vector<std::string> missed;  // changes that no random input showed
};

// A single dot product in which the change shows; empty inputs without one.
inline Mismatch FindMismatch(const Operation& op, const std::string& change, int tries) {
  std::mt19937_64 random(11);
  ChangedDevice device(change);
  for (int i = 0; i < tries; ++i) {
    const Batch inputs = RandomTile(op, DotProductShape(op.shape()), random);
    const uint64_t model = Simulate(op.model, Extract(inputs, 0));
    if (!SameResult(op, model, (*device.Run(op, inputs))[0])) return {&op, inputs, 0};
  }
  return {&op, {}, 0};
}

inline bool HasPlainScales(const Model& m, const DotProductCase& dot) {
  for (int s = m.k; s < m.k + m.scales(); ++s) {
    for (const uint64_t word : {dot.a[s], dot.b[s]}) {
      const Value scale = DecodeValue(m.scale, word);
      if (scale.kind != Value::Class::kFinite || scale.exponent != 0 || scale.fraction != 0) {
        return false;
      }
    }
  }
  return true;
}

// Through the text of a regression case and through a line, words and answer come back.
inline void CheckStored(const Operation& op, const DotProductCase& dot, uint64_t d,
                        const std::string& signature) {
  RegressionCase c;
  c.op = &op;
  c.inputs = MakeDotProductBatch(op.shape(), {dot});
  c.answers = {{"faulty:x=1", "test", "", {d}}};
  c.bucket = ParseBucket(Family::kFusedSum, signature);
  const std::string text = FormatCase(c);
  const auto parsed = ParseCase(text, "x");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(FormatCase(*parsed), text);
  EXPECT_EQ(Extract(parsed->inputs, 0), dot) << text;
  EXPECT_EQ(parsed->answers[0].d, std::vector<uint64_t>{d});

  const std::string line = FormatLine(*op.instruction, dot, d);
  const auto read = ParseLine(*op.instruction, line);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->dot, dot) << line;
  EXPECT_EQ(read->d, d);
}

// The planted change, or one that is preferred as an explanation, is among those shown.
inline void CheckExplained(const Operation& op, const Observed& observed, const std::string& change,
                           RoundTripFigures& figures) {
  const std::vector<Neighbour> explaining = ExplainingNeighbours(op, {&observed, 1});
  ASSERT_FALSE(explaining.empty()) << op.name << " " << change;
  figures.exactly_explained +=
      std::ranges::any_of(explaining, [&](const Neighbour& n) { return Name(n) == change; });
  const std::string text = ExplainText(op, observed, {});
  EXPECT_THAT(text, testing::HasSubstr(Name(explaining[0]) + " reproduces the device's bits"));
  const size_t mark = text.find("<--");
  ASSERT_NE(mark, std::string::npos) << text;
  EXPECT_EQ(text.find("<--", mark + 1), std::string::npos) << text;
}

inline void CheckRoundTrip(const Operation& op, const std::string& change, int tries,
                           RoundTripFigures& figures) {
  ++figures.planted;
  const Mismatch start = FindMismatch(op, change, tries);
  if (start.inputs.count == 0) return figures.missed.push_back(op.name + " " + change);
  ++figures.found;
  ChangedDevice device(change);
  const auto clock = MonotonicNow();
  const absl::StatusOr<Minimized> m = Minimize(device, start);
  const double seconds = absl::ToDoubleSeconds(MonotonicNow() - clock);
  ASSERT_TRUE(m.ok()) << op.name << " " << change << ": " << m.status();
  ASSERT_EQ(m->repeatability, Repeatability::kReproduced) << op.name << " " << change;
  const DotProductCase dot = Extract(m->mismatch.inputs, 0);
  EXPECT_FALSE(SameResult(op, Simulate(op.model, dot), m->mismatch.device[0])) << op.name << change;
  EXPECT_EQ((*device.Run(op, m->mismatch.inputs)), m->mismatch.device);
  figures.plain_scales += HasPlainScales(op.model, dot);
  figures.executions += m->executions;
  figures.seconds += seconds;
  if (seconds > figures.slowest) {
    figures.slowest = seconds;
    figures.slowest_name = op.name + " " + change;
  }
  CheckExplained(op, {dot, m->mismatch.device[0]}, change, figures);
  CheckStored(op, dot, m->mismatch.device[0], Name(m->bucket));
}

}  // namespace mmadiff
