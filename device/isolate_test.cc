#include "device/isolate.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

const Operation& TestOperation() { return *FindOperation("x86/vdpbf16ps"); }

using Inputs = std::function<bool(const DotProductCase&)>;

// How a program fails.
struct Fault {
  Inputs dies = nullptr;         // before it answers
  Inputs dies_behind = nullptr;  // once it has answered
  int64_t answers = INT64_MAX;   // of a process
  bool at_once = false;          // it dies behind the last one, else when it is asked the next
  int one_death_in = 0;          // so many answers, by chance
  int one_refusal_in = 0;        // so many starts
  bool flushes = true;           // else the answers of a process that dies are lost
  bool kept = false;             // as restart=never
  bool ends_well = false;        // so that nobody knows whose the answers before are
  bool echoes = true;
  Inputs mute = nullptr;  // does not answer it
};

// A process of it. The result of a dot product is its addend.
class Process {
 public:
  Process(const Fault& fault, std::mt19937& random)
      : fault_(fault),
        random_(random),
        dying_(fault.one_refusal_in > 0 && random() % fault.one_refusal_in == 0) {}

  Asked Ask(const Batch& batch, int64_t first, int64_t count) {
    Asked asked;
    for (int64_t i = first; i < first + count; ++i) {
      const DotProductCase dot = Extract(batch, i);
      const bool chance = fault_.one_death_in > 0 && random_() % fault_.one_death_in == 0;
      if (dying_ || chance || age_ >= fault_.answers || (fault_.dies && fault_.dies(dot))) {
        return Die(std::move(asked));
      }
      if (fault_.mute && fault_.mute(dot)) {
        missing_ = true;
      } else {
        asked.answers.d.push_back(dot.c);
      }
      dying_ = fault_.dies_behind && fault_.dies_behind(dot);
      ++age_;
    }
    asked.echoed = fault_.echoes;
    if (missing_) {
      asked.status = absl::DeadlineExceededError("no answer");
      asked.failure = {.kind = FailureKind::kHang};
      asked.trusted = false;
      asked.answers = {};
      dead_ = true;
    }
    const bool dying = dying_ || age_ >= fault_.answers;
    return dying && fault_.at_once && !fault_.kept ? Die(std::move(asked)) : asked;
  }
  int64_t age() const { return age_; }
  bool dead() const { return dead_; }

 private:
  Asked Die(Asked asked) {
    if (!fault_.flushes) asked.answers = {};
    asked.trusted = !fault_.ends_well;
    asked.echoed = fault_.echoes;
    if (!asked.trusted && !fault_.kept) asked.answers = {};
    asked.status = absl::UnavailableError("ended");
    asked.failure = {.kind = asked.trusted ? FailureKind::kCrash : FailureKind::kEarlyEnd};
    dead_ = true;
    return asked;
  }

  const Fault& fault_;
  std::mt19937& random_;
  int64_t age_ = 0;
  bool dying_, dead_ = false, missing_ = false;
};

class Program : public FreshAsker {
 public:
  explicit Program(Fault fault) : fault_(std::move(fault)) {}

  // Everything, as a device of the program asks it: the failing inputs, with the age that it takes.
  // A status that ends it is stored.
  std::map<int64_t, uint64_t> FailuresOf(const Batch& batch) {
    std::map<int64_t, uint64_t> failures;
    Process process(fault_, random_);
    for (int64_t next = 0; next < batch.dot_products();) {
      if (!fault_.kept || process.dead()) new (&process) Process(fault_, random_);
      const int64_t count = std::min(batch.dot_products() - next, longest_ - process.age());
      const int64_t age = process.age();
      Asked asked = process.Ask(batch, next, count);
      if (asked.failure) asked = Isolate(*this, batch, next, count, age, std::move(asked));
      for (const auto& [index, failure] : asked.answers.failures) {
        failures[next + index] = failure.age;
        if (failure.age > 0) longest_ = static_cast<int64_t>(failure.age);
      }
      for (int64_t i = 0; i < asked.answers.size(); ++i) {
        if (!asked.answers.failures.contains(i)) {
          answered_ = Extract(batch, next + i);
          EXPECT_EQ(asked.answers.d[i], answered_->c);
        }
      }
      next += asked.answers.size();
      status_ = asked.status;
      if (!status_.ok()) break;
      if (fault_.kept && process.age() >= longest_) new (&process) Process(fault_, random_);
    }
    return failures;
  }

  const absl::Status& status() const { return status_; }
  int starts() const { return starts_; }

  Asked AskFresh(const Batch& batch, int64_t first, int64_t count, bool singly) override {
    ++starts_;
    Process process(fault_, random_);
    if (!singly) return process.Ask(batch, first, count);
    Asked all;
    while (all.status.ok() && all.answers.size() < count) {
      Asked one = process.Ask(batch, first + all.answers.size(), 1);
      if (one.status.ok()) all.answers.Append(std::move(one.answers));
      all.status = one.status;
      all.failure = one.failure;
    }
    return all;
  }
  bool AnswersSingly() const override { return fault_.kept; }
  Batch Neighbours() const override {
    std::vector<DotProductCase> dots = PlainDotProducts(TestOperation());
    if (answered_) dots.insert(dots.begin(), *answered_);
    return MakeDotProductBatch(TestOperation().shape(), dots);
  }

 private:
  const Fault fault_;
  std::mt19937 random_{1};
  std::optional<DotProductCase> answered_;
  int64_t longest_ = INT64_MAX;
  absl::Status status_;
  int starts_ = 0;
};

constexpr int64_t kCount = 200;

// Addends are numbers from 1 on.
Batch Numbered(int64_t count = kCount) {
  Batch batch;
  batch.Resize(DotProductShape(TestOperation().shape()), count);
  for (int64_t i = 0; i < count; ++i) batch.c[i] = i + 1;
  return batch;
}

Inputs Every(uint64_t period, uint64_t offset) {
  return [=](const DotProductCase& dot) { return dot.c < 1000 && dot.c % period == offset; };
}

std::map<int64_t, uint64_t> Expected(const Inputs& inputs) {
  std::map<int64_t, uint64_t> failures;
  const Batch batch = Numbered();
  for (int64_t i = 0; i < kCount; ++i) {
    if (inputs(Extract(batch, i))) failures[i] = 0;
  }
  return failures;
}

std::vector<Fault> Forms() {
  return {{.flushes = true},
          {.flushes = false},
          {.kept = true},
          {.ends_well = true},
          {.kept = true, .ends_well = true}};
}

std::string Text(const Fault& f) {
  return absl::StrCat(f.flushes ? "flushes" : "keeps its output", f.kept ? ", kept" : "",
                      f.ends_well ? ", ends well" : "");
}

// First, last, neighbors, one in so many.
TEST(Isolate, EveryInputThatFailsAndNoOther) {
  for (Fault fault : Forms()) {
    for (const auto& [period, offset] :
         {std::pair(500, 1), {500, 200}, {500, 100}, {2, 1}, {2, 0}, {5, 3}, {50, 7}}) {
      fault.dies = Every(period, offset);
      Program program(fault);
      EXPECT_EQ(program.FailuresOf(Numbered()), Expected(fault.dies))
          << Text(fault) << ", each " << period << " from " << offset << ": " << program.status();
      EXPECT_TRUE(program.status().ok());
    }
  }
}

// Also if it fails on all that is nothing special.
TEST(Isolate, NeighboursThatFailToo) {
  for (Fault fault : Forms()) {
    fault.dies = [](const DotProductCase& dot) {
      return dot.c == 0 || dot.c >= 1000 || dot.c % 5 < 2;
    };
    Program program(fault);
    EXPECT_EQ(program.FailuresOf(Numbered()), Expected(fault.dies)) << Text(fault);
    EXPECT_TRUE(program.status().ok()) << program.status();
  }
}

TEST(Isolate, InputsBehindWhoseAnswersItDiesAtOnce) {
  for (Fault fault : Forms()) {
    fault.at_once = true;
    if (fault.kept || fault.ends_well) continue;
    fault.dies_behind = [](const DotProductCase& dot) { return dot.c % 7 == 1 || dot.c % 7 == 2; };
    Program program(fault);
    EXPECT_EQ(program.FailuresOf(Numbered()), Expected(fault.dies_behind)) << Text(fault);
  }
}

// The last of all is followed by nothing.
TEST(Isolate, InputsBehindWhoseAnswersItDies) {
  for (Fault fault : Forms()) {
    for (const auto& [period, offset] :
         {std::pair(500, 1), {500, 199}, {500, 100}, {7, 1}, {5, 3}, {50, 7}, {2, 1}}) {
      fault.dies_behind = Every(period, offset);
      std::map<int64_t, uint64_t> expected = Expected(fault.dies_behind);
      expected.erase(kCount - 1);
      Program program(fault);
      EXPECT_EQ(program.FailuresOf(Numbered()), expected)
          << Text(fault) << ", each " << period << " from " << offset << ": " << program.status();
      EXPECT_TRUE(program.status().ok());
    }
  }
}

TEST(Isolate, BothKinds) {
  for (Fault fault : Forms()) {
    fault.dies = Every(10, 3);
    fault.dies_behind = Every(10, 7);
    Program program(fault);
    std::map<int64_t, uint64_t> expected = Expected(fault.dies);
    expected.merge(Expected(fault.dies_behind));
    EXPECT_EQ(program.FailuresOf(Numbered()), expected) << Text(fault);
    EXPECT_TRUE(program.status().ok()) << program.status();
  }
}

// What comes behind an answer that is missing is no answer to what it seems to be.
TEST(Isolate, AnswersThatDoNotNameTheirInput) {
  for (Fault fault : Forms()) {
    if (fault.ends_well) continue;
    fault.echoes = false;
    fault.mute = Every(10, 3);
    fault.dies = Every(10, 7);
    Program program(fault);
    std::map<int64_t, uint64_t> expected = Expected(fault.mute);
    expected.merge(Expected(fault.dies));
    EXPECT_EQ(program.FailuresOf(Numbered()), expected) << Text(fault);
    EXPECT_TRUE(program.status().ok()) << program.status();
  }
}

TEST(Isolate, Age) {
  for (Fault fault : Forms()) {
    for (const int64_t answers : {1, 2, 3, 50, 100, 199}) {
      fault.answers = answers;
      Program program(fault);
      const std::map<int64_t, uint64_t> expected = {{answers, answers}};
      EXPECT_EQ(program.FailuresOf(Numbered()), expected) << Text(fault) << ", age " << answers;
      EXPECT_TRUE(program.status().ok()) << program.status();
    }
  }
}

TEST(Isolate, AgeBehindTheLastAnswer) {
  for (Fault fault : Forms()) {
    fault.at_once = true;
    if (fault.kept || fault.ends_well) continue;
    for (const int64_t answers : {2, 3, 50, 100, 199}) {
      fault.answers = answers;
      Program program(fault);
      const std::map<int64_t, uint64_t> found = program.FailuresOf(Numbered());
      ASSERT_EQ(found.size(), 1u) << Text(fault) << ", age " << answers;
      EXPECT_EQ(found.begin()->second, static_cast<uint64_t>(answers - 1)) << Text(fault);
      EXPECT_TRUE(program.status().ok()) << program.status();
    }
  }
}

TEST(Isolate, InputsAndAge) {
  for (Fault fault : Forms()) {
    fault.dies = Every(23, 5);
    fault.answers = 40;
    Program program(fault);
    std::map<int64_t, uint64_t> found = program.FailuresOf(Numbered());
    int aged = 0;
    for (const auto& [index, age] : found) aged += age > 0;
    std::erase_if(found, [](const auto& f) { return f.second > 0; });
    EXPECT_EQ(found, Expected(fault.dies)) << Text(fault);
    EXPECT_LE(aged, 1) << Text(fault);
    EXPECT_TRUE(program.status().ok()) << program.status();
  }
}

TEST(Isolate, WhatAlwaysFailsHasNoFailingInput) {
  for (Fault fault : Forms()) {
    fault.answers = 0;
    Program program(fault);
    EXPECT_TRUE(program.FailuresOf(Numbered()).empty()) << Text(fault);
    EXPECT_TRUE(absl::IsUnavailable(program.status())) << program.status();
  }
}

// Chance may repeat, but not often.
TEST(Isolate, ChanceIsNoInputs) {
  for (Fault fault : Forms()) {
    for (const int one_in : {50, 200, 1000}) {
      fault.one_death_in = one_in;
      int blamed = 0;
      for (int i = 0; i < 50; ++i) {
        Program program(fault);
        for (int skipped = 0; skipped < i; ++skipped) program.AskFresh(Numbered(1), 0, 1, false);
        blamed += !program.FailuresOf(Numbered()).empty();
      }
      EXPECT_LE(blamed, 1) << Text(fault) << ", one in " << one_in;
    }
  }
}

TEST(Isolate, AStartThatFailsIsNoInputs) {
  for (Fault fault : Forms()) {
    for (const int one_in : {3, 10}) {
      fault.one_refusal_in = one_in;
      int blamed = 0;
      for (int i = 0; i < 50; ++i) {
        Program program(fault);
        for (int skipped = 0; skipped < i; ++skipped) program.AskFresh(Numbered(1), 0, 1, false);
        blamed += !program.FailuresOf(Numbered()).empty();
      }
      EXPECT_LE(blamed, fault.kept && !fault.ends_well ? 0 : 3)
          << Text(fault) << ", one in " << one_in;
    }
  }
}

// Answers that came say where to look; else starts grow with the logarithm of the request.
TEST(Isolate, Starts) {
  for (Fault fault : Forms()) {
    fault.dies = [](const DotProductCase& dot) { return dot.c == 3000; };
    Program program(fault);
    EXPECT_EQ(program.FailuresOf(Numbered(4096)).size(), 1u);
    const bool at_once = fault.kept || (fault.flushes && !fault.ends_well);
    EXPECT_LE(program.starts(), at_once ? 7 : 20) << Text(fault);
  }
}

}  // namespace
}  // namespace mmadiff
