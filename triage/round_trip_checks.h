// The way of a mismatch from the device to the stored case and back, for the tests.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "corpus/regression_case.h"
#include "device/line_protocol.h"
#include "gmock/gmock.h"
#include "sim/simulate.h"
#include "triage/explain_text.h"
#include "triage/minimize/minimize.h"
#include "triage/testing_device.h"
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
inline Mismatch FindMismatch(const Row& row, const std::string& change, int tries) {
  std::mt19937_64 random(11);
  ChangedDevice device(change);
  for (int i = 0; i < tries; ++i) {
    const Batch inputs = RandomTile(row, DotProductShape(row.shape()), random);
    const uint64_t model = Simulate(row.model, Extract(inputs, 0));
    if (!SameResult(row, model, (*device.Run(row, inputs))[0])) return {&row, inputs, 0};
  }
  return {&row, {}, 0};
}

inline bool HasPlainScales(const Model& m, const DotProductCase& dot) {
  for (int s = m.k; s < m.k + m.scales(); ++s) {
    for (const uint64_t word : {dot.a[s], dot.b[s]}) {
      const Operand scale = Unpack(m.scale, word);
      if (scale.kind != Operand::Class::kFinite || scale.exponent != 0 || scale.fraction != 0) {
        return false;
      }
    }
  }
  return true;
}

// Through the text of a regression case and through a line, words and answer come back.
inline void CheckStored(const Row& row, const DotProductCase& dot, uint64_t d,
                        const std::string& signature) {
  RegressionCase c;
  c.row = &row;
  c.inputs = MakeDotProductBatch(row.shape(), {dot});
  c.answers = {{"faulty:x=1", "test", "", {d}}};
  c.signature = signature;
  const std::string text = FormatCase(c);
  const auto parsed = ParseCase(text, "x");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(FormatCase(*parsed), text);
  EXPECT_EQ(Extract(parsed->inputs, 0), dot) << text;
  EXPECT_EQ(parsed->answers[0].d, std::vector<uint64_t>{d});

  const std::string line = FormatLine(*row.instruction, dot, d);
  const auto read = ParseLine(*row.instruction, line);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->dot, dot) << line;
  EXPECT_EQ(read->d, d);
}

// The planted change, or one that is preferred as an explanation, is among those shown.
inline void CheckExplained(const Row& row, const Observed& observed, const std::string& change,
                           RoundTripFigures& figures) {
  const std::vector<Neighbour> explaining = ExplainingNeighbours(row, {&observed, 1});
  ASSERT_FALSE(explaining.empty()) << row.name << " " << change;
  figures.exactly_explained += std::any_of(explaining.begin(), explaining.end(),
                                           [&](const Neighbour& n) { return n.name == change; });
  const std::string text = ExplainText(row, observed, false);
  EXPECT_THAT(text, testing::HasSubstr(explaining[0].name + " gives the device's bits"));
  const size_t mark = text.find("<--");
  ASSERT_NE(mark, std::string::npos) << text;
  EXPECT_EQ(text.find("<--", mark + 1), std::string::npos) << text;
}

inline void CheckRoundTrip(const Row& row, const std::string& change, int tries,
                           RoundTripFigures& figures) {
  ++figures.planted;
  const Mismatch start = FindMismatch(row, change, tries);
  if (start.inputs.count == 0) return figures.missed.push_back(row.name + " " + change);
  ++figures.found;
  ChangedDevice device(change);
  const auto clock = std::chrono::steady_clock::now();
  const absl::StatusOr<Minimized> m = Minimize(device, start);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - clock).count();
  ASSERT_TRUE(m.ok()) << row.name << " " << change << ": " << m.status();
  ASSERT_EQ(m->repeatability, Repeatability::kReproduced) << row.name << " " << change;
  const DotProductCase dot = Extract(m->mismatch.inputs, 0);
  EXPECT_FALSE(SameResult(row, Simulate(row.model, dot), m->device[0])) << row.name << change;
  EXPECT_EQ((*device.Run(row, m->mismatch.inputs)), m->device);
  figures.plain_scales += HasPlainScales(row.model, dot);
  figures.executions += m->executions;
  figures.seconds += seconds;
  if (seconds > figures.slowest) {
    figures.slowest = seconds;
    figures.slowest_name = row.name + " " + change;
  }
  CheckExplained(row, {dot, m->device[0]}, change, figures);
  CheckStored(row, dot, m->device[0], m->signature);
}

}  // namespace mmadiff
