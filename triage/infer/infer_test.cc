// Hidden algorithms are found; what is no sum of any family, lies or dies gets no row.
#include "triage/infer/infer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>

#include "sim/unlisted.h"
#include "triage/infer/experiments.h"
#include "triage/infer/inference_text.h"
#include "triage/infer/summation_tree.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const InferOptions kQuick = {100000, 20000, {}};

const Operation& F16() { return *FindOperation("sm_90/mma.m16n8k16.f32.f16.f16.f32"); }

// The operation as nobody knows it.
Operation Unknown(const Operation& op) {
  Operation unknown = op;
  unknown.model.algorithm = {.family = Family::kNone};
  return unknown;
}

// An algorithm of any family that the formats can have, every second parameter at random. Floors
// above 2^-20 are left out: with them most products are zero.
Algorithm RandomAlgorithm(const Operation& op, std::mt19937_64& random) {
  const std::vector<Algorithm> starts = StartsOf(op);
  Algorithm hidden = starts[random() % starts.size()];
  for (const Parameter& p : Parameters()) {
    if (FindParameter(hidden.family, p.name) == nullptr || p.unusual == p.families) continue;
    std::vector<int> values = OtherValues(p, p.get(hidden));
    if (p.min == kNoFloor) std::erase_if(values, [](int v) { return v > -20; });
    if (values.empty() || random() % 2 == 0) continue;
    const Algorithm before = hidden;
    p.set(hidden, values[random() % values.size()]);
    if (!WhyInvalid(WithAlgorithm(op, hidden)).empty()) hidden = before;
  }
  return hidden;
}

// The first of `count` generated cases of each class of those that inference did not see that tells two algorithms apart.
std::string Telling(const Operation& op, const Algorithm& x, const Algorithm& y,
                    size_t count = 5000) {
  for (const char* name : ClassNames(op)) {
    const Batch batch = MakeDotProductBatch(op.shape(), ClassCases(op, name, 5000000, count));
    std::vector<uint64_t> of_x(count), of_y(count);
    Simulate(WithAlgorithm(op, x), batch, of_x);
    Simulate(WithAlgorithm(op, y), batch, of_y);
    const auto number = std::ranges::mismatch(of_x, of_y).in1 - of_x.begin();
    if (number < batch.count) return std::string(name) + " " + std::to_string(number);
  }
  return "";
}

// What is said to be fixed is the hidden value, or one that is proved to be no different: of the
// family that was found, if another one gives the same.
void ExpectFixedIsTrue(const Algorithm& hidden, const Inference& inference) {
  if (!inference.algorithm || hidden.family != inference.algorithm->family) return;
  for (const Fixed& f : inference.fixed) {
    const Parameter* p = f.value.parameter;
    ASSERT_EQ(FindParameter(hidden.family, p->name), p);
    if (p->get(hidden) == p->get(*inference.algorithm)) continue;
    const auto open = [&](const Undetermined& u) { return u.changes[0].parameter == p; };
    EXPECT_TRUE(std::ranges::any_of(inference.undetermined, open))
        << Name(f.value) << " is " << ValueText(*p, p->get(hidden));
  }
}

// Hides `count` algorithms; how many were found or cannot be told from what was.
int Found(int count, uint64_t seed, const InferOptions& options) {
  std::mt19937_64 random(seed);
  const std::vector<const Operation*> ops = OperationsOfEachFamily(6);
  int found = 0;
  for (int n = 0; n < count; ++n) {
    const Operation& op = *ops[random() % ops.size()];
    const Algorithm hidden = RandomAlgorithm(op, random);
    ModelDevice device(WithAlgorithm(op, hidden));
    const Operation unknown = Unknown(op);
    const Inference inference = Infer(device, unknown, options);
    EXPECT_TRUE(inference.status.ok()) << inference.status;
    EXPECT_LE(inference.asked, options.budget);
    std::string why = "nothing gives all answers";
    if (inference.algorithm) why = Telling(op, hidden, *inference.algorithm);
    if (why.empty()) ExpectFixedIsTrue(hidden, inference);
    if (why.empty()) {
      ++found;
    } else {
      printf("%d %s hidden %s\n  %s; found %s\n", n, op.name.c_str(), Describe(hidden).c_str(),
             why.c_str(), inference.algorithm ? Describe(*inference.algorithm).c_str() : "none");
    }
    if (!inference.algorithm) continue;
    for (const ExperimentAnswer& a : inference.answers) {  // no answer contradicts it
      EXPECT_EQ(Simulate(WithAlgorithm(op, *inference.algorithm), a.observed.dot), a.observed.d);
    }
  }
  return found;
}

TEST(InferTest, HiddenAlgorithms) { EXPECT_EQ(Found(3, 13, {100000, 100000, {}}), 3); }

// A value that another parameter can make up for is not fixed: outputs that are flushed flush what is
// added next, so that nobody can tell whether addends are.
TEST(InferTest, OneMakesUpForAnother) {
  const Operation& op = F16();
  Algorithm hidden = FindOperation("gfx90a/v_mfma_f32_32x32x8f16")->model.algorithm;
  hidden.terms = 2;
  hidden.input_subnormals = hidden.output_subnormals = Subnormals::kFlushPositive;
  hidden.addend_subnormals = Subnormals::kKeep;
  ASSERT_TRUE(WhyInvalid(WithAlgorithm(op, hidden)).empty());
  ModelDevice device(WithAlgorithm(op, hidden));
  const Inference inference = Infer(device, Unknown(op), {10000, 10000, {}});
  ASSERT_TRUE(inference.algorithm);
  ExpectFixedIsTrue(hidden, inference);
  for (const Fixed& f : inference.fixed) {
    EXPECT_STRNE(f.value.parameter->name, "addend_subnormals");
  };
}

// With few answers another family may fit: then it is said, and nothing is fixed.
TEST(InferTest, AnotherFamily) {
  ModelDevice device(FindOperation("sm_80/mma.m16n8k8.f32.bf16.bf16.f32")->model);
  const Operation& op = *FindOperation("unlisted/k8.f32.bf16.bf16.f32", Models::kOptional);
  const Inference inference = Infer(device, op, {300, 0, {}});
  EXPECT_TRUE(inference.spent);
  ASSERT_TRUE(inference.algorithm);
  EXPECT_FALSE(inference.also.empty());
  EXPECT_TRUE(inference.fixed.empty());
}

TEST(InferTest, DISABLED_ManyHiddenAlgorithms) {
  const int found = Found(300, 12, {100000, 1000000, {}});
  printf("%d of 300\n", found);
  EXPECT_GE(found, 297);
}

// A small budget is kept to, and finds the rows of the table with one parameter wrong.
// One generated dot product of 80000 tells these two apart: the row of the table does not stay because it fits
// what was asked.
TEST(InferTest, RareDifference) {
  const Operation& op = *FindOperation("sm_90/mma.m16n8k32.f32.e4m3.e5m2.f32");
  Algorithm hidden = op.model.algorithm;
  ASSERT_EQ(hidden.product_exponent, ProductExponent::kAsF16);
  hidden.product_exponent = ProductExponent::kRaw;
  ModelDevice device(WithAlgorithm(op, hidden));
  const Inference inference = Infer(device, op, {20000, 10000, {}});
  ASSERT_TRUE(inference.algorithm);
  EXPECT_EQ(inference.algorithm->product_exponent, ProductExponent::kRaw);
}

TEST(InferTest, SmallBudget) {
  for (const char* change : {"terms=8", "fraction_bits=24", "align_rounding=nearest_even"}) {
    ChangedDevice device(change);
    const Inference inference = Infer(device, F16(), {10000, 0, {}});
    ASSERT_TRUE(inference.status.ok()) << inference.status;
    ASSERT_TRUE(inference.algorithm) << change;
    EXPECT_LE(inference.asked, 10000);
    EXPECT_TRUE(ContradictsTable(F16(), inference));
    Algorithm wanted;
    for (const Neighbour& n : SingleChanges(F16().model)) {
      if (Name(n) == change) wanted = n.algorithm;
    }
    if (*inference.algorithm == wanted) continue;
    EXPECT_EQ(Telling(F16(), wanted, *inference.algorithm), "") << change;
  }
}

// A budget that is spent at once is said, and nothing is made of what was not asked.
TEST(InferTest, NoBudget) {
  ChangedDevice device("");
  const Inference inference = Infer(device, F16(), {10, 0, {}});
  EXPECT_TRUE(inference.spent);
  EXPECT_FALSE(inference.algorithm);
  EXPECT_FALSE(ContradictsTable(F16(), inference));
}

// Every class has its part of a small validation, and about as many are asked as were wanted.
TEST(InferTest, SmallValidation) {
  ModelDevice device(F16().model);
  const auto classes = static_cast<int64_t>(ClassNames(F16()).size());
  for (const int64_t wanted : {int64_t{1}, int64_t{10000}}) {
    const Inference inference = Infer(device, F16(), {100000, wanted, {}});
    EXPECT_GE(inference.validated, wanted);
    EXPECT_LE(inference.validated, wanted + classes * 128);
    EXPECT_EQ(inference.validated % classes, 0) << wanted;
  }
}

// What is fixed has no other value that gives all answers, but such as no input tells.
TEST(InferTest, FixedIsNotOpen) {
  std::vector<ExperimentAnswer> answers;
  for (const DotProductCase& dot : ClassCases(F16(), "band", 0, 12)) {
    answers.push_back({{dot, Simulate(F16().model, dot)}, "recorded"});
  }
  ChangedDevice device("");
  const Inference inference = InferFrom(device, Unknown(F16()), answers);
  ASSERT_TRUE(inference.algorithm);
  for (const Fixed& f : inference.fixed) {
    for (const Undetermined& u : inference.undetermined) {
      EXPECT_FALSE(u.proof.empty() && u.changes[0].parameter == f.value.parameter)
          << Name(f.value) << " " << Name(u.changes);
    }
  }
}

// The rows of every family with the table's own model, known and unknown.
TEST(InferTest, Rows) {
  for (const Operation* op : OperationsOfEachFamily(1)) {
    ModelDevice device(op->model);
    if (op->model.algorithm.family == Family::kFusedSum) {
      const Inference known = Infer(device, *op, kQuick);
      EXPECT_EQ(known.algorithm, op->model.algorithm) << op->name;
      EXPECT_FALSE(ContradictsTable(*op, known)) << op->name;
    }
    const Inference unknown = Infer(device, Unknown(*op), kQuick);
    ASSERT_TRUE(unknown.algorithm) << op->name;
    EXPECT_EQ(Telling(*op, *unknown.algorithm, op->model.algorithm, 1000), "") << op->name;
  }
}

// What is said to be fixed is refuted by an answer, and what is open is not.
TEST(InferTest, FixedAndOpen) {
  ModelDevice device(F16().model);
  const Inference inference = Infer(device, F16(), kQuick);
  ASSERT_TRUE(inference.algorithm);
  EXPECT_FALSE(inference.fixed.empty());
  for (const Undetermined& u : inference.undetermined) {
    if (u.changes.size() > 1) continue;
    const Algorithm other = WithChanges(*inference.algorithm, u.changes);
    EXPECT_EQ(Telling(F16(), *inference.algorithm, other, 200), "") << Name(u.changes);
  }
}

// Counts the questions about other models than the instruction's, to which a faulty device would give other answers.
class OwnOperationDevice : public CountingDevice {
 public:
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    others += op.model.algorithm != F16().model.algorithm;
    return CountingDevice::Execute(op, batch, d);
  }
  int others = 0;
};

// Bit 2 of every sum of two products and more is wrong: no family has that.
TEST(InferTest, NoFamily) {
  OwnOperationDevice device;
  const Inference inference = Infer(device, F16(), {3000, 1000, {}});
  EXPECT_EQ(device.others, 0);
  EXPECT_FALSE(inference.algorithm);
  ASSERT_TRUE(inference.refuting);
  const Model nearest = WithAlgorithm(F16(), inference.nearest.algorithm);
  EXPECT_NE(Simulate(nearest, inference.refuting->dot), inference.refuting->d);
  const Batch batch = MakeDotProductBatch(F16().shape(), {inference.refuting->dot});
  EXPECT_EQ((*device.Run(F16(), batch))[0], inference.refuting->d);
  EXPECT_FALSE(inference.refuted.empty());
  for (const Refuted& r : inference.refuted) EXPECT_GT(r.missed, 0u);
}

// The model, but one answer in `period` has a wrong bit: by its operands, or by its number.
class LyingDevice : public ChangedDevice {
 public:
  LyingDevice(uint64_t period, bool repeats)
      : ChangedDevice(""), period_(period), repeats_(repeats) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      const DotProductCase dot = Extract(batch, i);
      uint64_t hash = dot.c + 1;
      for (const uint64_t word : dot.a) hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      for (const uint64_t word : dot.b) hash = (hash ^ word) * 0x9e3779b97f4a7c15;
      if ((repeats_ ? hash >> 20 : ++asked_) % period_ == 0) d[i] ^= 1;
    }
    return status;
  }

 private:
  const uint64_t period_;
  const bool repeats_;
  uint64_t asked_ = 0;
};

// What a device does not repeat is no answer: the row is that of the others, and it is said.
TEST(InferTest, Flaky) {
  for (const uint64_t period : {997, 99991}) {
    LyingDevice device(period, false);
    const Inference inference = Infer(device, F16(), {100000, 200000, {}});
    EXPECT_GT(inference.flaky, 0u) << period;
    EXPECT_EQ(inference.algorithm, F16().model.algorithm) << period;
    for (const DotProductCase& dot : inference.flaky_cases) {
      EXPECT_EQ(
          std::ranges::count_if(inference.answers,
                                [&](const ExperimentAnswer& a) { return a.observed.dot == dot; }),
          0);
    }
  }
}

// Another device from some execution on, as after a repair: the answers of the first one are not
// mixed with those of the second, whichever are more.
class ReplacedDevice : public ModelDevice {
 public:
  ReplacedDevice(int64_t at) : ModelDevice(F16().model), left_(at) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    return --left_ < 0 ? second_.Execute(op, batch, d) : ModelDevice::Execute(op, batch, d);
  }

 private:
  int64_t left_;
  ModelDevice second_{FindOperation("sm_80/mma.m16n8k16.f32.f16.f16.f32")->model};
};

TEST(InferTest, Replaced) {
  const Algorithm second = FindOperation("sm_80/mma.m16n8k16.f32.f16.f16.f32")->model.algorithm;
  for (const int64_t at : {6, 20}) {
    ReplacedDevice device(at);
    const Inference inference = Infer(device, Unknown(F16()), kQuick);
    EXPECT_GT(inference.flaky, 0u) << at;
    ASSERT_TRUE(inference.algorithm) << at;
    EXPECT_EQ(Telling(F16(), *inference.algorithm, second, 1000), "") << at;
    for (const Refuted& r : inference.refuted) EXPECT_GT(r.missed, 0u);
  }
}

// A lie that is repeated is an answer: there is no row, and the nearest is not called one.
TEST(InferTest, LiesThatRepeat) {
  for (const uint64_t period : {99991}) {
    LyingDevice device(period, true);
    const Inference inference = Infer(device, F16(), {100000, 200000, {}});
    EXPECT_FALSE(inference.algorithm) << period;
    EXPECT_EQ(inference.flaky, 0u) << period;
    EXPECT_TRUE(inference.refuting) << period;
    EXPECT_TRUE(inference.missed_repeat) << period;
    EXPECT_THAT(InferenceText(F16(), inference, {}),
                AllOf(HasSubstr("the device repeats the"), HasSubstr("`run` finds"),
                      Not(HasSubstr("may be wrong"))));
    EXPECT_THAT(InferenceText(Unknown(F16()), inference, {}),
                AllOf(HasSubstr("the device repeats the"), Not(HasSubstr("`run`"))));
  }
}

// Only answers that were asked again are said to repeat, and a recording repeats none.
TEST(InferTest, FewMissesThatWereNotAskedAgain) {
  std::vector<ExperimentAnswer> answers;
  for (const DotProductCase& dot : ClassCases(F16(), "band", 0, 400)) {
    answers.push_back({{dot, Simulate(F16().model, dot)}, "recorded"});
  }
  answers[0].observed.d ^= 1;
  ChangedDevice device("");
  Inference inference = InferFrom(device, F16(), answers);
  ASSERT_EQ(inference.nearest.missed, 1u);
  EXPECT_FALSE(inference.missed_repeat);
  EXPECT_THAT(InferenceText(F16(), inference, {}), HasSubstr("or in the recording"));
  inference.asked = 400;
  EXPECT_THAT(InferenceText(F16(), inference, {}),
              AllOf(HasSubstr("not asked again"), Not(HasSubstr("repeats the"))));
}

// The NaN of infinity minus infinity is 1, always.
class NanFaultDevice : public ChangedDevice {
 public:
  NanFaultDevice() : ChangedDevice("") {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    const absl::Status status = ChangedDevice::Execute(op, batch, d);
    for (int64_t i = 0; i < batch.dot_products(); ++i) {
      if (batch.c[i] == 0xff800000 && IsNan(op.model.d, d[i])) d[i] = 0x3f800000;
    }
    return status;
  }
};

TEST(InferTest, AFaultOfNansIsNamed) {
  NanFaultDevice device;
  const Inference inference = Infer(device, F16(), {20000, 20000, {}});
  EXPECT_FALSE(inference.algorithm);
  EXPECT_THAT(InferenceText(F16(), inference, {}),
              AllOf(HasSubstr("special case for NaNs"), Not(HasSubstr("may be wrong"))));
}

// After a number of executions the device is gone.
class DyingDevice : public ModelDevice {
 public:
  explicit DyingDevice(int64_t runs) : ModelDevice(F16().model), left_(runs) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (--left_ < 0) return absl::UnavailableError("gone");
    return ModelDevice::Execute(op, batch, d);
  }

 private:
  int64_t left_;
};

// Wherever it dies: an error, and everything that was answered is kept.
TEST(InferTest, Dying) {
  for (int64_t runs = 0; runs < 60; runs += 15) {
    DyingDevice device(runs);
    const Inference inference = Infer(device, Unknown(F16()), {100000, 2000000, {}});
    EXPECT_TRUE(absl::IsUnavailable(inference.status)) << runs;
    EXPECT_EQ(inference.answers.empty(), runs == 0) << runs;
  }
}

// Given answers alone: none of them is contradicted, and what they leave open is open.
TEST(InferTest, FromAnswers) {
  std::vector<ExperimentAnswer> answers;
  for (const DotProductCase& dot : ClassCases(F16(), "band", 0, 200)) {
    answers.push_back({{dot, Simulate(F16().model, dot)}, "recorded"});
  }
  ChangedDevice device("");
  const Inference inference = InferFrom(device, Unknown(F16()), answers);
  ASSERT_TRUE(inference.algorithm);
  EXPECT_EQ(inference.asked, 0);
  EXPECT_EQ(device.executions, 0);
  const auto open = [&](const char* name) {
    return std::ranges::any_of(inference.undetermined,
                               [&](const Undetermined& u) { return Name(u.changes) == name; });
  };
  EXPECT_TRUE(open("zero_sign=ieee"));
  EXPECT_FALSE(open("terms=8"));
}

// Rules of reading are adopted if no sum reproduces the answers, and then the sum is found.
TEST(InferTest, AdoptsReadings) {
  struct {
    const char *op, *change;
  } const cases[] = {
      {"sm_80/mma.m16n8k8.f32.f16.f16.f32", "terms=4 b_reading=cut_3"},
      {"sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32", "a_reading=nan_zero b_reading=nan_zero"},
      {"x86/vpdpbusd", "b_reading=sign_magnitude"},
      {"sm_90/mma.m16n8k16.f32.f16.f16.f32", "addend_reading=subnormals_zero"}};
  for (const auto& [name, change] : cases) {
    const Operation& op = *FindOperation(name);
    const auto changes = ParseChanges(op.model.algorithm.family, change);
    ASSERT_TRUE(changes.has_value()) << change;
    const Algorithm hidden = WithChanges(op.model.algorithm, *changes);
    ModelDevice device(WithAlgorithm(op, hidden));
    const Inference inference = Infer(device, Unknown(op), kQuick);
    ASSERT_TRUE(inference.algorithm.has_value()) << name << " " << change;
    EXPECT_EQ(Telling(op, hidden, *inference.algorithm), "") << name << " " << change;
  }
}

// Faults of operands that no rule gives are named, and no family is excluded.
TEST(InferTest, NamesMisplacedAndMisreadOperands) {
  const Operation& op = *FindOperation("sm_80/mma.m16n8k8.f32.f16.f16.f32");
  const auto text = [&](std::function<void(DotProductCase&)> change) {
    ChangedOperands device(op, std::move(change));
    return InferenceText(op, Infer(device, op, kQuick), {});
  };
  const std::string swapped = text([](DotProductCase& dot) { std::swap(dot.b[0], dot.b[2]); });
  EXPECT_THAT(swapped, HasSubstr("operands k = 0 of a meets k = 2 of b, 2 meets 0"));
  EXPECT_THAT(swapped, Not(HasSubstr("\nnot ")));
  EXPECT_THAT(text([](DotProductCase& dot) { dot.b[5] &= 0xfff0; }),
              HasSubstr("operands single words, times one: b: for k = 5 alone, "));
}

// Sums without an addend, which no device receives: a chain from the first product and one from +0,
// pairs, a fused sum, and integers.
TEST(InferTest, NoAddend) {
  const char* const kHalf = "unlisted/k4.f32.f16.f16.-";
  Algorithm chain = {.family = Family::kFmaChain, .output_fraction_bits = 23};
  Algorithm from_zero = chain;
  from_zero.addend_joins = AddendJoins::kLastAdd;
  Algorithm pairs = chain, fused = chain;
  pairs.family = Family::kPairwiseSum;
  pairs.terms = 2;
  fused.family = Family::kFusedSum;
  fused.terms = 4;
  fused.fraction_bits = 25;
  fused.output_rounding = Rounding::kTowardZero;
  fused.zero_sign = ZeroSign::kPositive;
  const Algorithm scaled =
      FindOperation("sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e4m3.f32.ue8m0")->model.algorithm;
  const Algorithm integer = {.family = Family::kIntegerDot, .terms = 4};
  const std::tuple<const char*, Algorithm, const char*> kCases[] = {
      {kHalf, chain, "((k0 + k1) + k2) + k3"},
      {kHalf, from_zero, "((k0 + k1) + k2) + k3"},
      {kHalf, pairs, "(k0 + k1) + (k2 + k3)"},
      {kHalf, fused, "k0..3"},
      {"unlisted/k32.f32.e4m3.e4m3.-.ue8m0.32", scaled, "k0..31"},
      {"unlisted/k4.s32.s8.u8.-", integer, nullptr}};
  for (const auto& [name, hidden, tree] : kCases) {
    const Operation& op = *FindUnlisted(name);
    ModelDevice device(WithAlgorithm(op, hidden));
    const Inference inference = Infer(device, op, {20000, 20000, {}});
    ASSERT_TRUE(inference.algorithm) << InferenceText(op, inference, {});
    EXPECT_GT(inference.validated, 0) << Describe(hidden);
    EXPECT_EQ(Telling(op, hidden, *inference.algorithm, 1000), "") << name;
    for (const ExperimentAnswer& a : inference.answers) ASSERT_EQ(a.observed.dot.c, 0u) << name;
    if (tree == nullptr) continue;
    ASSERT_TRUE(inference.structure->tree) << inference.structure->why_not;
    EXPECT_EQ(TreeText(*inference.structure->tree, op.model.k), tree);
    EXPECT_THAT(InferenceText(op, inference, {}), Not(HasSubstr("c +")));
  }
}

// Interleaved nodes lie beside one another; each has its label.
TEST(TreeSvgTest, LeavesInTheOrderOfTheTree) {
  const SummationTree even = {-1, {{0}, {2}}}, odd = {-1, {{1}, {3}}};
  const SummationTree tree = {-1, {{-1, {even, odd}}, {4}}};
  const std::string svg = TreeSvg(tree, 4, "t", [](const SummationTree& node) {
    return std::to_string(LeavesOf(node).size()) + " terms";
  });
  size_t last = 0;
  for (const char* leaf : {">c<", ">k0<", ">k2<", ">k1<", ">k3<"}) {
    const size_t at = svg.find(leaf);
    ASSERT_NE(at, std::string::npos) << leaf;
    EXPECT_GT(at, last) << leaf;
    last = at;
  }
  for (const char* label : {">5 terms<", ">4 terms<", ">2 terms<"}) {
    EXPECT_NE(svg.find(label), std::string::npos) << label;
  }
}

// Cases of an odd number of products; a sanitizer sees whether their rows hold them.
TEST(ClassCases, OddNumbersOfProducts) {
  for (const char* name :
       {"unlisted/k1.f32.f16.f16.f32", "unlisted/k3.f32.f16.f16.f32",
        "unlisted/k5.f32.e4m3.e5m2.f32", "unlisted/k7.s32.s8.s8.s32", "unlisted/k9.f64.f64.f64.f64",
        "unlisted/k9.f32.e4m3.e4m3.f32.ue8m0.3", "unlisted/k3.f32.f16.f16.-",
        "unlisted/k5.s32.s8.s8.-", "unlisted/k6.f32.e4m3b11fnuz.e3m4.f32",
        "unlisted/k5.e6m9.e3m0finite.e6m5i4.e6m9", "unlisted/k8.f32.e4m3.e2m2finite.-.ue5m3fn.4"}) {
    const Operation* op = FindUnlisted(name);
    ASSERT_NE(op, nullptr) << name;
    for (const char* of : ClassNames(*op)) {
      for (const DotProductCase& dot : ClassCases(*op, of, 0, 300)) {
        ASSERT_EQ(dot.a.size(), op->shape().row_words()) << name << " " << of;
        for (int k = 0; k < op->shape().row_words(); ++k) {
          ASSERT_LE(dot.a[k], LowBits(op->instruction->a_format(k).bits)) << name << " " << of;
          ASSERT_LE(dot.b[k], LowBits(op->instruction->b_format(k).bits)) << name << " " << of;
        }
        ASSERT_LE(dot.c, LowBits(op->instruction->c->bits)) << name << " " << of;
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
