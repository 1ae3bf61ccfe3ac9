// Questions to devices with a planted fault: the question about it must find it, the others must
// agree with the table.
#include "triage/probe/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "corpus/cases/case_name.h"
#include "device/cuda/cuda.h"
#include "device/faulty.h"
#include "device/hip/hip.h"
#include "device/host.h"
#include "device/testing/operations.h"
#include "device/threads.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "triage/model_device.h"
#include "triage/probe/candidates.h"
#include "triage/probe/layout.h"
#include "triage/probe/operand_sweep.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<const Question*> AllQuestions() {
  std::vector<const Question*> all;
  for (const Question& q : Questions()) all.push_back(&q);
  return all;
}

OperationAnswers Probe(Device& device, const Operation& op,
                       const std::vector<const Question*>& questions = AllQuestions()) {
  absl::StatusOr<OperationAnswers> answers = ProbeOperation(device, op, questions);
  EXPECT_TRUE(answers.ok()) << answers.status();
  return answers.ok() ? *std::move(answers) : OperationAnswers{op.model, {}};
}

OperationAnswers Probe(const std::string& fault, const Operation& op) {
  const DeviceOr device = OpenFaulty(fault);
  EXPECT_TRUE(device.ok()) << device.status();
  return Probe(**device, op);
}

const ProbeAnswer& AnswerOf(const OperationAnswers& answers, std::string_view id) {
  static const ProbeAnswer kNone;
  for (const ProbeAnswer& a : answers.answers) {
    if (a.question->id == id) return a;
  }
  ADD_FAILURE() << "no answer to " << id;
  return kNone;
}

// The names of the parameters that a question asks for.
std::set<std::string> ParametersOf(const Question& q) {
  std::set<std::string> names;
  for (const auto item : absl::StrSplit(q.parameters, ' ', absl::SkipEmpty())) {
    names.insert(std::string(item.substr(0, item.find('='))));
  }
  return names;
}

TEST(Questions, AreWellFormed) {
  std::set<std::string> ids, classes, parameters;
  for (const Operation& op : Operations()) {
    for (const InputClass& c : BoundaryClasses(*op.instruction)) classes.insert(c.name);
  }
  for (const Parameter& p : Parameters()) parameters.insert(p.name);
  classes.insert("*"), parameters.insert("*");
  for (const Question& q : Questions()) {
    EXPECT_TRUE(ids.insert(q.id).second) << q.id;
    EXPECT_EQ(FindQuestion(q.id), &q);
    for (const std::string& p : ParametersOf(q)) EXPECT_TRUE(parameters.count(p)) << p;
    for (const auto c : absl::StrSplit(q.classes, ' ')) {
      EXPECT_TRUE(classes.count(std::string(c))) << c;
    }
    for (const Vector* v : VectorsOf(q)) {
      ASSERT_NE(v, nullptr) << q.id << ": " << q.vectors;
      const auto fits = [v](const Operation& op) {
        return DotProductOf(*v, v->operands.front(), op).ok();
      };
      EXPECT_TRUE(std::any_of(Operations().begin(), Operations().end(), fits))
          << q.id << ": " << v->name;
    }
  }
  EXPECT_EQ(FindQuestion("no such"), nullptr);
  // Every parameter is asked for by a question of its own, readings by `decoding`.
  for (const Parameter& p : Parameters()) {
    if (IsReading(p)) parameters.erase(p.name);
  }
  for (const Question& q : Questions()) {
    for (const std::string& p : ParametersOf(q)) parameters.erase(p);
  }
  EXPECT_THAT(parameters, testing::IsEmpty());
}

// Of each family: the table's model has nothing to contradict.
TEST(Probe, TheModelAgrees) {
  for (const Operation* op : OperationsOfEachFamily(2)) {
    for (const ProbeAnswer& a : Probe("none=0", *op).answers) {
      EXPECT_EQ(a.agreement, Agreement::kAgrees)
          << op->name << " " << a.question->id << ": " << a.answer << ": " << a.decides;
    }
  }
}

// Every single change of a model is the answer of its question, and of no other.
void PlantParameters(const std::vector<const Operation*>& ops, int at_least,
                     DeviceOr (*open)(absl::string_view fault) = OpenFaulty) {
  int planted = 0;
  std::vector<const Question*> questions;
  for (const Question* q : AllQuestions()) {
    if (q->method == Method::kParameters || q->method == Method::kPayloads) questions.push_back(q);
  }
  for (const Operation* op : ops) {
    for (const Neighbour& n : Neighbours(op->model)) {
      const std::string parameter = n.single()->parameter->name;
      ++planted;
      const DeviceOr device = open(Name(n));
      ASSERT_TRUE(device.ok()) << device.status();
      const OperationAnswers answers = Probe(**device, *op, questions);
      bool asked = false;
      for (const ProbeAnswer& a : answers.answers) {
        const std::set<std::string> parameters = ParametersOf(*a.question);
        const bool its_own = parameters.count(parameter) + parameters.count("*") > 0;
        // What the change does to NaNs, their sweep sees too.
        if (a.question->method == Method::kPayloads && parameter == "nan_rule") continue;
        if (its_own) {
          asked = true;
          EXPECT_NE(a.agreement, Agreement::kAgrees)
              << op->name << " " << Name(n) << ": " << a.question->id << ": " << a.answer;
          EXPECT_THAT(a.answer, HasSubstr(Name(n))) << op->name << " " << a.question->id;
        } else {
          EXPECT_EQ(a.agreement, Agreement::kAgrees)
              << op->name << " " << Name(n) << ": " << a.question->id << ": " << a.answer << ": "
              << a.decides;
        }
      }
      EXPECT_TRUE(asked) << op->name << " " << Name(n);
    }
  }
  EXPECT_GE(planted, at_least);
}

// The simulator with another model of the operation.
class OtherModel : public Device {
 public:
  explicit OtherModel(const Model& model) : model_(model) {}
  std::string name() const override { return "other model"; }
  Identity identity() const override { return Identity::Named("test"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation&, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    Simulate(model_, batch, d);
    return absl::OkStatus();
  }

 private:
  const Model model_;
};

// Two changes at once, one of which may hide behind another value of the other: both are found.
TEST(Probe, TwoChanges) {
  const std::pair<const char*, const char*> cases[] = {
      {"sm_80/mma.m16n8k8.f32.bf16.bf16.f32", "zero_term=raises exponent_floor=-140"},
      {"sm_80/mma.m16n8k8.f32.bf16.bf16.f32",
       "addend_joins=last_add output_subnormals=flush_positive"},
      {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "fraction_bits=22 output_rounding=up"},
  };
  for (const auto& [name, changes] : cases) {
    const Operation& op = *FindOperation(name);
    const auto planted = ParseChanges(op.model.algorithm.family, changes);
    ASSERT_TRUE(planted.has_value());
    OtherModel device(WithAlgorithm(op, WithChanges(op.model.algorithm, *planted)));
    const OperationAnswers answers = Probe(device, op);
    EXPECT_EQ(Name(*ChangesBetween(op.model.algorithm, answers.model.algorithm)), changes);
    EXPECT_EQ(AnswerOf(answers, "model").agreement, Agreement::kContradicts);
    for (const ProbeAnswer& a : answers.answers) {
      EXPECT_FALSE(a.refuting.has_value()) << name << " " << a.question->id << ": " << a.decides;
    }
  }
}

TEST(Probe, PlantedParameters) {
  PlantParameters({FindOperation("sm_90/mma.m16n8k16.f32.bf16.bf16.f32")}, 20);
}
TEST(Probe, DISABLED_PlantedInEveryFamily) {  // probe_long_test
  PlantParameters(OperationsOfEachFamily(1), 129);
}

TEST(Probe, PlantedSelections) {
  const std::vector<const Question*> question = {FindQuestion("selection")};
  int planted = 0;
  for (const Operation& op : Operations()) {
    if (!IsModelled(op) || !IsSparse(op.model) || IsInteger(op.model.a)) continue;
    for (const Neighbour& n : Candidates(*question[0], op.model)) {  // without equivalent ones
      ++planted;
      OtherModel device(WithAlgorithm(op, n.algorithm));
      const OperationAnswers answers = Probe(device, op, question);
      EXPECT_EQ(AnswerOf(answers, "selection").answer, Name(n)) << op.name;
      EXPECT_EQ(AnswerOf(answers, "selection").agreement, Agreement::kContradicts) << op.name;
    }
  }
  EXPECT_GT(planted, 0);
  // It is omitted where it is usual, but not from its own answer.
  const Operation& op = *FindOperation("sm_80/mma.sp.m16n8k16.f32.bf16.bf16.f32");
  EXPECT_EQ(AnswerOf(Probe("none=0", op), "selection").answer, "selection=stored");
}

// A far value, not only a neighbour.
TEST(Probe, FarValues) {
  const Operation& bf16 = *FindOperation("sm_90/mma.m16n8k16.f32.bf16.bf16.f32");
  const OperationAnswers floor = Probe("exponent_floor=-126", bf16);
  EXPECT_EQ(AnswerOf(floor, "floor").answer, "exponent_floor=-126");
  EXPECT_EQ(AnswerOf(floor, "floor").decides, "contradicts the table: exponent_floor=-133");
  EXPECT_EQ(AnswerOf(floor, "model").answer, "the model with exponent_floor=-126");
  const OperationAnswers width = Probe("fraction_bits=14", bf16);
  EXPECT_EQ(AnswerOf(width, "width").answer, "fraction_bits=14 align_rounding=toward_zero");
  EXPECT_EQ(AnswerOf(width, "floor").agreement, Agreement::kAgrees);
  const OperationAnswers zero = Probe("zero_term=raises", bf16);
  EXPECT_EQ(AnswerOf(zero, "zero_exponent").answer, "zero_term=raises");
}

// A simulator whose results are changed.
class Changing : public Device {
 public:
  using Change = uint64_t (*)(uint64_t word, size_t index);
  explicit Changing(Change change) : change_(change) {}
  std::string name() const override { return "changing"; }
  Identity identity() const override { return Identity::Named("test"); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    Simulate(op.model, batch, d);
    for (size_t i = 0; i < d.size(); ++i) d[i] = change_(d[i], i);
    return absl::OkStatus();
  }

 private:
  const Change change_;
};

// No promise frees the bits of a NaN alone.
// The decoding of words is judged beside the sum that other questions find.
TEST(Probe, Decoding) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  struct {
    const char* change;
    bool of_words;  // else of the sum
  } const cases[] = {{"output_subnormals=flush", false},
                     {"output_rounding=up fraction_bits=22", false},
                     {"b_reading=cut_3", true},
                     {"input_subnormals=flush", true},
                     {"fraction_bits=22 addend_reading=cut_3", true}};
  for (const auto& [change, of_words] : cases) {
    const auto changes = ParseChanges(op.model.algorithm.family, change);
    ASSERT_TRUE(changes.has_value()) << change;
    OtherModel device(WithAlgorithm(op, WithChanges(op.model.algorithm, *changes)));
    const OperationAnswers all = Probe(device, op);
    const ProbeAnswer& answer = AnswerOf(all, "decoding");
    EXPECT_EQ(answer.agreement, of_words ? Agreement::kContradicts : Agreement::kAgrees)
        << change << ": " << answer.answer;
    if (!of_words) continue;
    EXPECT_THAT(answer.facts, Contains(Name(changes->back()))) << change;
  }
  // Without the other questions, what the sum does to single words contradicts too, by its name.
  OtherModel device(WithAlgorithm(
      op, WithChanges(op.model.algorithm,
                      *ParseChanges(op.model.algorithm.family, "output_subnormals=flush"))));
  const ProbeAnswer answer = Probe(device, op, {FindQuestion("decoding")}).answers.at(0);
  EXPECT_EQ(answer.agreement, Agreement::kContradicts);
  EXPECT_THAT(answer.facts, Contains("output_subnormals=flush"));
}

TEST(Probe, ANumberWhereANanMustComeContradicts) {
  const Operation& op = *FindOperation("gfx942/v_mfma_f32_16x16x32_fp8_fp8");
  ASSERT_EQ(op.numerics->nan_verdict, NanVerdict::kAnyNan);
  Changing number([](uint64_t word, size_t) { return word == 0x7fc00000 ? 0x40000000 : word; });
  Changing payload([](uint64_t word, size_t) { return word == 0x7fc00000 ? 0xffc12345 : word; });
  Changing other([](uint64_t word, size_t) { return word == 0x7fc00000 ? word : word ^ 1; });
  EXPECT_EQ(AnswerOf(Probe(other, op, {FindQuestion("nan")}), "nan").agreement,
            Agreement::kContradicts);
  for (const char* const id : {"nan", "payloads"}) {
    const std::vector<const Question*> asked = {FindQuestion(id)};
    EXPECT_EQ(AnswerOf(Probe(number, op, asked), id).agreement, Agreement::kContradicts) << id;
    EXPECT_EQ(AnswerOf(Probe(payload, op, asked), id).agreement, Agreement::kOpen) << id;
  }
}

TEST(Probe, WhatNoCandidateExplains) {
  Changing device([](uint64_t word, size_t) { return word == 0x3f800000 ? 0x3f800001 : word; });
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  const OperationAnswers answers = Probe(device, op, {FindQuestion("width")});
  const ProbeAnswer& width = AnswerOf(answers, "width");
  EXPECT_EQ(width.answer, "none");
  EXPECT_EQ(width.agreement, Agreement::kContradicts);
  ASSERT_TRUE(width.refuting.has_value());
  EXPECT_EQ(width.refuting->d, 0x3f800001u);
  EXPECT_EQ(Simulate(op.model, width.refuting->dot), 0x3f800000u);
}

// Each of the two repeats.
TEST(Probe, ADotProductHasTheAnswerAloneThatItHasInAnExecution) {
  class Alone : public Changing {
   public:
    Alone() : Changing([](uint64_t word, size_t) { return word; }) {}
    bool IsSlow() const override { return true; }  // asked for both
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = Changing::Execute(op, batch, d);
      for (uint64_t& word : d) word ^= batch.shape == op.shape() ? 1 : 0;
      return s;
    }
  };
  Alone device;
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  const OperationAnswers answers = Probe(device, op, {FindQuestion("repeat")});
  EXPECT_EQ(AnswerOf(answers, "repeat").agreement, Agreement::kContradicts);
}

// Each of a row's words of metadata is asked about, in each group, also those that the layout does not use.
TEST(Probe, LayoutOfMetadata) {
  const Operation& op = *FindOperation("sm_80/mma.sp.m16n8k16.f32.f16.f16.f32");
  ChangedOperands device(op, [](DotProductCase& dot) {
    if (dot.metadata[3] == 0xd) dot.b[15] = dot.b[14];
  });
  const ProbeAnswer answer = Probe(device, op, {FindQuestion("layout")}).answers.at(0);
  EXPECT_EQ(answer.answer, "with metadata 0d: k = 15 of a meets k = 14 of b");
  EXPECT_EQ(answer.decides, "contradicts the tables: each k meets its own");
  EXPECT_EQ(answer.agreement, Agreement::kContradicts);
}

TEST(Probe, RepeatsWithMetadata) {
  const Operation& op = *FindOperation("sm_80/mma.sp.m16n8k16.f32.f16.f16.f32");
  std::set<std::vector<uint64_t>> asked;
  ChangedOperands device(op, [&](DotProductCase& dot) { asked.insert(dot.metadata); });
  const ProbeAnswer answer = Probe(device, op, {FindQuestion("repeat")}).answers.at(0);
  EXPECT_EQ(answer.agreement, Agreement::kAgrees);
  for (const Observed& o : answer.observed) EXPECT_TRUE(asked.contains(o.dot.metadata));
  EXPECT_FALSE(asked.contains(std::vector<uint64_t>(op.model.groups())));  // not given
}

TEST(Probe, PlacesThatDiffer) {
  Changing device([](uint64_t word, size_t index) { return index % 128 == 77 ? word ^ 1 : word; });
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  const OperationAnswers answers =
      Probe(device, op, {FindQuestion("layout"), FindQuestion("repeat")});
  EXPECT_THAT(AnswerOf(answers, "repeat").answer, HasSubstr("block 0, row 9, column 5, run 0"));
  EXPECT_EQ(AnswerOf(answers, "repeat").agreement, Agreement::kContradicts);
  EXPECT_EQ(AnswerOf(answers, "layout").agreement, Agreement::kContradicts);
}

// Else the layout and the reading of words would be asked less strictly.
TEST(Probe, ModelsOfTheTablesKeepTheBitsOfWords) {
  for (const Operation& op : Operations()) EXPECT_FALSE(LosesBitsOfWords(op)) << op.name;
}

// A model whose sums lose bits of the words that name elements.
TEST(Probe, LayoutOfNarrowSums) {
  const Operation& op =
      *FindOperation("unlisted/k8.f32.f16.f16.f32:fused_sum,fraction_bits=3,terms=8");
  ModelDevice device(op.model);
  const OperationAnswers answers = Probe(device, op, {FindQuestion("layout")});
  EXPECT_EQ(AnswerOf(answers, "layout").agreement, Agreement::kAgrees);
  EXPECT_THAT(AnswerOf(answers, "layout").answer, HasSubstr("zeros and ones"));
  // Another rounding of sums is no other reading, and a product too small for them is not ignored.
  ModelDevice rounding(
      FindOperation("unlisted/k8.f32.f16.f16.f32:fused_sum,fraction_bits=3,terms=8,"
                    "align_rounding=nearest_even")
          ->model);
  const OperationAnswers read = Probe(rounding, op, {FindQuestion("decoding")});
  EXPECT_EQ(AnswerOf(read, "decoding").agreement, Agreement::kOpen);
  ChangedOperands small(op,
                        [](DotProductCase& dot) { dot.b[3] = dot.b[3] == 0x3c00 ? 1 : dot.b[3]; });
  const OperationAnswers places = Probe(small, op, {FindQuestion("layout")});
  EXPECT_THAT(AnswerOf(places, "layout").answer, Not(HasSubstr("ignored")));
}

// Payloads of all operands where the table promises none.
TEST(Probe, UnpromisedPayloads) {
  const Operation& op = *FindOperation("sm_80/mma.m8n8k4.f64.f64.f64.f64");
  const OperationAnswers answers = Probe("nan_rule=quiet_positive", op);
  EXPECT_EQ(AnswerOf(answers, "payloads").agreement, Agreement::kOpen);  // whatever `nan` says
  EXPECT_EQ(AnswerOf(answers, "nan").agreement, Agreement::kOpen);
  EXPECT_EQ(AnswerOf(answers, "model").agreement, Agreement::kOpen);
  EXPECT_THAT(AnswerOf(answers, "nan").answer, HasSubstr("nan_rule=quiet_positive"));
}

TEST(Pairs, AllOfANarrowInstructionAndSomeOfAWideOne) {
  const DeviceOr good = OpenFaulty("none=0");
  const DeviceOr bad = OpenFaulty("fraction_bits=12");
  const Operation& narrow = *FindOperation("sm_120/mma.m16n8k32.f8f6f4.f32.e2m1.e2m1.f32");
  const Operation& fp8 = *FindOperation("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32");
  const absl::StatusOr<OperandSweep> all = SweepOperands(**good, narrow, narrow.model, TimeLimit());
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(all->done, all->of);
  EXPECT_EQ(all->of % 256, 0u);
  EXPECT_EQ(all->differing, 0u);
  EXPECT_TRUE(all->first.empty());
  const absl::StatusOr<OperandSweep> some =
      SweepOperands(**bad, fp8, fp8.model, TimeLimit::After(absl::ZeroDuration()));
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_LT(some->done, some->of);
  EXPECT_GT(some->differing, 0u);
  ASSERT_FALSE(some->first.empty());
  EXPECT_NE(Simulate(fp8.model, some->first.front().dot), some->first.front().d);
}

// Every triple is asked exactly once.
TEST(Pairs, EveryTripleOnce) {
  class Counting : public Changing {
   public:
    Counting() : Changing([](uint64_t word, size_t) { return word; }) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      for (int64_t i = 0; i < batch.dot_products(); ++i) {
        const DotProductCase dot = Extract(batch, i);
        seen.insert({dot.a[0], dot.b[0], dot.c});
      }
      return Changing::Execute(op, batch, d);
    }
    std::set<std::tuple<uint64_t, uint64_t, uint64_t>> seen;
  } device;
  const Operation& op = *FindOperation("sm_120/mma.m16n8k32.f8f6f4.f32.e2m1.e2m1.f32");
  const auto r = SweepOperands(device, op, op.model, TimeLimit());
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(device.seen.size(), r->of);
}

// Also when the first portion is the last to be answered.
TEST(Pairs, TheSameWhateverTheThreads) {
  class LateFirst : public Changing {
   public:
    LateFirst() : Changing([](uint64_t word, size_t) { return word ^ 1; }) {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const bool first = batch.a[0] == 0 && batch.b[0] == 0 && batch.c[0] == 0;
      if (first) absl::SleepFor(absl::Milliseconds(300));
      return Changing::Execute(op, batch, d);
    }
  } x, y, z;
  const Operation& op = *FindOperation("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32");
  const auto one = SweepOperands(x, op, op.model, TimeLimit());
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->done, one->of);
  EXPECT_GT(one->differing, one->of / 2);
  Device* const devices[] = {&x, &y, &z};
  for (const int threads : {2, 3}) {
    const auto sweep = SweeperOf(op, op.model, TimeLimit(), false);
    InThreads(threads, [&](int thread) { EXPECT_TRUE(sweep->Work(*devices[thread]).ok()); });
    const auto many = sweep->Result();
    ASSERT_TRUE(many.ok()) << many.status();
    EXPECT_EQ(many->done, one->done);
    EXPECT_EQ(many->differing, one->differing);
    EXPECT_EQ(many->first.front().dot, one->first.front().dot);
    EXPECT_EQ(many->first.front().d, one->first.front().d);
  }
}

// Through the kernels and the packing of cuda:N, on a stand-in for the driver.
TEST(Probe, Cuda) {
  setenv("MMADIFF_LIBCUDA", "", 1);
  setenv("FAKE_CUDA_CAPABILITY", "9.0", 1);
  const Operation& op = *FindOperation("sm_90/mma.m16n8k16.f32.bf16.bf16.f32");
  DeviceOr device = OpenCuda("0");
  ASSERT_TRUE(device.ok()) << device.status();
  const OperationAnswers answers = Probe(**device, op);
  EXPECT_EQ(answers.answers.size(), std::ranges::count_if(Questions(), [&op](const Question& q) {
              return Applies(q, op) && q.method != Method::kPairs && q.method != Method::kModes;
            }));
  for (const ProbeAnswer& a : answers.answers)
    EXPECT_EQ(a.agreement, Agreement::kAgrees) << a.decides;

  setenv("FAKE_CUDA_SWAPS", "B", 1);
  device = OpenCuda("0");
  ASSERT_TRUE(device.ok()) << device.status();
  const OperationAnswers wrong = Probe(**device, op, {FindQuestion("layout")});
  unsetenv("FAKE_CUDA_SWAPS");
  EXPECT_EQ(AnswerOf(wrong, "layout").agreement, Agreement::kContradicts);
  EXPECT_THAT(AnswerOf(wrong, "layout").decides, HasSubstr("test values in A and ones in B"));
}

// The GPU of device/hip/testing/fake_driver.cc with a parameter of its models otherwise.
DeviceOr OpenPlantedHip(absl::string_view fault) {
  setenv("MMADIFF_LIBHIP", "", 1);
  setenv("FAKE_HIP_TARGET", "gfx942", 1);
  setenv("FAKE_HIP_PLANTS", std::string(fault).c_str(), 1);
  return OpenHip("0");
}

// What nobody has asked an MI300X: every parameter of its rows.
TEST(Probe, DISABLED_PlantedInCdna3) {  // probe_hip_test
  if (const DeviceOr device = OpenPlantedHip("="); !device.ok()) {
    GTEST_SKIP() << device.status();
  }
  std::vector<const Operation*> ops;
  for (const char* name : {"16x16x16_f16", "16x16x8_xf32", "16x16x32_bf8_bf8", "16x16x4_f32"}) {
    ops.push_back(FindOperation(absl::StrCat("gfx942/v_mfma_f32_", name)));
  }
  PlantParameters(ops, 60, OpenPlantedHip);
}

TEST(Probe, HipReadsModes) {
  DeviceOr device = OpenPlantedHip("=");
  if (!device.ok()) GTEST_SKIP() << device.status();
  const Operation& op = *FindOperation("gfx942/v_mfma_f32_16x16x16_f16");
  const std::vector<const Question*> modes = {FindQuestion("modes")};
  const ProbeAnswer none = AnswerOf(Probe(**device, op, modes), "modes");
  EXPECT_EQ(none.agreement, Agreement::kAgrees) << none.answer;
  EXPECT_THAT(none.answer, HasSubstr("denorm=flush, denorm16=flush, round=up, round=down, "
                                     "round=zero, clamp=0, ieee=0, ovfl=1 change none of 10"));
  setenv("FAKE_HIP_READS_MODE", "1", 1);
  const ProbeAnswer some = AnswerOf(Probe(**device, op, modes), "modes");
  unsetenv("FAKE_HIP_READS_MODE");
  EXPECT_EQ(some.agreement, Agreement::kOpen) << some.answer;
  EXPECT_THAT(some.answer, testing::ContainsRegex("denorm=flush changes [0-9]+, denorm16=flush"));
  EXPECT_THAT(some.answer, HasSubstr("; round=up"));
  EXPECT_THAT(some.decides, HasSubstr(" with denorm=flush"));
}

// This CPU: vdpbf16ps is said to read no MXCSR (SDM), scalar arithmetic does.
TEST(Probe, HostReadsModes) {
  const DeviceOr host = OpenHost();
  const std::vector<const Question*> modes = {FindQuestion("modes")};
  const std::pair<const char*, Agreement> rows[] = {{"x86/vdpbf16ps", Agreement::kAgrees},
                                                    {"x86/vpdpbusd", Agreement::kAgrees},
                                                    {"x86/vfmadd231ss", Agreement::kOpen}};
  for (const auto& [name, agreement] : rows) {
    const Operation& op = *FindOperation(name);
    if (!(*host)->Supports(op).ok()) continue;
    const ProbeAnswer answer = AnswerOf(Probe(**host, op, modes), "modes");
    EXPECT_EQ(answer.agreement, agreement) << name << ": " << answer.answer;
    if (agreement == Agreement::kAgrees) continue;
    for (const std::string& mode : (*host)->Modes()) {
      EXPECT_THAT(answer.answer, HasSubstr(mode + " changes "));
    }
  }
}

// A device of which some words are replaced.
class Replacing : public OtherModel {
 public:
  Replacing(const Operation& op, std::map<uint64_t, uint64_t> words)
      : OtherModel(op.model), words_(std::move(words)) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    absl::Status s = OtherModel::Execute(op, batch, d);
    for (uint64_t& word : d) word = words_.contains(word) ? words_[word] : word;
    return s;
  }

 private:
  std::map<uint64_t, uint64_t> words_;
};

// Readings of hardware that is otherwise, and words that nobody thought of.
TEST(Probe, Readings) {
  const Operation& xf32 = *FindOperation("gfx942/v_mfma_f32_16x16x8_xf32");
  const std::vector<const Question*> low = {FindQuestion("low_bits")};
  Replacing plain(xf32, {});
  EXPECT_EQ(AnswerOf(Probe(plain, xf32, low), "low_bits").agreement, Agreement::kAgrees);
  Replacing rounds(xf32, {{0x3f800000, 0x3f802000}});
  const ProbeAnswer rounded = AnswerOf(Probe(rounds, xf32, low), "low_bits");
  EXPECT_EQ(rounded.agreement, Agreement::kContradicts);
  EXPECT_THAT(rounded.answer, HasSubstr("low_bits_of_tf32: rounded to nearest; "));
  EXPECT_TRUE(rounded.refuting.has_value());
  Replacing strange(xf32, {{0x3f800000, 1}});
  EXPECT_THAT(AnswerOf(Probe(strange, xf32, low), "low_bits").answer,
              HasSubstr("low_bits_of_tf32: a different word, 00000001"));
  const Operation& bf8 = *FindOperation("gfx942/v_mfma_f32_16x16x32_bf8_bf8");
  Replacing drops(bf8, {{0x7f800000, 0x4f440000}, {0x7fc00000, 0x4f440000}});
  const ProbeAnswer dropped =
      AnswerOf(Probe(drops, bf8, {FindQuestion("special_addends")}), "special_addends");
  EXPECT_EQ(dropped.agreement, Agreement::kContradicts);
  EXPECT_THAT(dropped.answer, HasSubstr("infinite_addend_beside_2_31_bf8: it is dropped; nan_"));
}

// Without a model: what is supposed is confirmed or not, and nothing agrees or contradicts.
TEST(Probe, Hypotheses) {
  for (const char* const name : {"gfx950/v_mfma_f32_16x16x32_f16",
                                 "gfx950/v_mfma_scale_f32_16x16x128_f8f6f4.e4m3.e4m3.ue8m0"}) {
    SCOPED_TRACE(name);
    const Operation& op = *FindUnmodelled(name);
    Operation supposed = op;
    supposed.model.algorithm = HypothesisOf(op)->algorithm(*op.instruction);
    Replacing device(supposed, {});
    for (const ProbeAnswer& a : Probe(device, op).answers) {
      if (!NeedsModel(*a.question)) continue;
      EXPECT_EQ(a.agreement, Agreement::kOpen) << a.question->id;
      EXPECT_THAT(a.decides, a.question->method == Method::kPairs
                                 ? std::string("the tables have no model")
                                 : absl::StrCat("as supposed: ", HypothesisOf(op)->text))
          << a.question->id;
    }
    supposed.model.algorithm.fraction_bits -= 2;
    Replacing narrower(supposed, {});
    const ProbeAnswer width = AnswerOf(Probe(narrower, op), "width");
    EXPECT_EQ(width.agreement, Agreement::kOpen);
    EXPECT_THAT(width.answer,
                HasSubstr(absl::StrCat("fraction_bits=", supposed.model.algorithm.fraction_bits)));
    EXPECT_THAT(width.decides, HasSubstr("supposed: "));
  }
}

TEST(Probe, AFailingDeviceIsAnError) {
  const DeviceOr device = OpenFaulty("dead=5");
  const std::vector<const Question*> all = AllQuestions();
  EXPECT_EQ(ProbeOperation(**device, *FindOperation("x86/vdpbf16ps"), all).status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace mmadiff
