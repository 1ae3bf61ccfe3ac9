// Questions about many operations: who is asked what, in which order, what ends when time is over
// or an operation fails, and what is filed.
#include "fuzz/ask/prober.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "corpus/list_files.h"
#include "corpus/testing/folder.h"
#include "device/testing/flipping.h"
#include "sim/sparsity.h"
#include "triage/testing/device.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

const Operation& Mma() { return *FindOperation("sm_80/mma.m16n8k8.f32.bf16.bf16.f32"); }
const Operation& Fma() { return *FindOperation("x86/vfmadd231ss"); }  // has no pairs
const Operation& Dot() { return *FindOperation("x86/vdpbf16ps"); }

// Fails in one operation with one error; counts its calls.
class FailingDevice : public ChangedDevice {
 public:
  FailingDevice(const Operation& op, absl::Status error)
      : ChangedDevice(""), op_(op), error_(std::move(error)) {}
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    if (&op != &op_) return ChangedDevice::Execute(op, batch, d);
    ++failures;
    return error_;
  }
  int failures = 0;

 private:
  const Operation& op_;
  const absl::Status error_;
};

// An engine with a self-test, which one operation does not pass.
class SelfTestingEngine : public HostEngine {
 public:
  SelfTestingEngine(Device& device, const Operation& wrong) : HostEngine(device), wrong_(wrong) {}
  bool resident() const override { return true; }
  absl::Status Try(const CaseStream& stream) override {
    return stream.op == &wrong_ ? absl::InternalError("self-test") : absl::OkStatus();
  }

 private:
  const Operation& wrong_;
};

class ProberTest : public TestFolder {
 protected:
  absl::StatusOr<ProberOutcome> Ask(Engine& engine, const std::vector<const Operation*>& ops,
                                    const std::vector<const char*>& ids) {
    ProberOptions options = {ops, {}, limit_, folder_, threads_, open_};
    for (const char* id : ids) options.questions.push_back(FindQuestion(id));
    answers_.clear();
    texts_.clear();
    return ProbeOperations(
        options, engine,
        [this](const Operation& op, const ProbeAnswer& answer) {
          answers_.push_back(op.name + " " + answer.question->id);
          texts_.push_back(answer.answer);
          last_ = answer.agreement;
          if (on_answer_ != nullptr) on_answer_();
        },
        console_);
  }
  absl::StatusOr<ProberOutcome> Ask(Device& device, const std::vector<const Operation*>& ops,
                                    const std::vector<const char*>& ids) {
    HostEngine engine(device);
    return Ask(engine, ops, ids);
  }

  Console console_{Color::kNever, /*quiet=*/true};
  TimeLimit limit_ = TimeLimit::After(absl::Minutes(10));
  std::string folder_;
  int threads_ = 1;
  EngineOpener open_;
  std::function<void()> on_answer_;
  Agreement last_ = {};               // of the last answer
  std::vector<std::string> answers_;  // "OPERATION QUESTION"
  std::vector<std::string> texts_;    // the answers to them
};

// One bit in one answer of 300: at most one of a hundred devices passes for one that repeats, and
// nothing that any of them says is filed.
TEST_F(ProberTest, WhatDoesNotRepeatIsNoEvidence) {
  folder_ = Path("");
  int dropped = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    FlippingDevice device(seed, 300);
    const auto outcome = Ask(device, {&Mma()}, {"layout", "width", "steps", "order", "model"});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    const bool unrepeated =
        std::ranges::count(outcome->dropped, DropCause::kDoesNotRepeat, &Drop::cause) == 1;
    dropped += unrepeated;
    if (unrepeated) {
      for (const std::string& answer : answers_) EXPECT_THAT(answer, EndsWith(" layout"));
      EXPECT_THAT(outcome->dropped[0].status.message(),
                  Not(HasSubstr("the layout differs from the tables")));
      EXPECT_TRUE(std::filesystem::is_empty(folder_)) << seed;
    }
  }
  EXPECT_GE(dropped, 99);
}

TEST_F(ProberTest, LayoutsFirstAndPairsLast) {
  ChangedDevice device("");
  absl::StatusOr<ProberOutcome> outcome;
  for (absl::Duration limit = absl::Milliseconds(500);;
       limit *= 2) {  // that depends on the machine
    limit_ = TimeLimit::After(limit);
    outcome = Ask(device, {&Fma(), &Mma()}, {"layout", "order", "pairs"});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    if (outcome->late.empty()) break;
  }
  EXPECT_THAT(answers_,
              ElementsAre(Fma().name + " layout", Mma().name + " layout", Fma().name + " order",
                          Mma().name + " order", Mma().name + " pairs"));
  EXPECT_THAT(texts_.back(), StartsWith("0 of "));
  EXPECT_THAT(outcome->dropped, IsEmpty());
  EXPECT_THAT(outcome->late, IsEmpty());
}

TEST_F(ProberTest, AfterTheLimitOnlyTheFirstOperationIsAsked) {
  ChangedDevice device("");
  limit_ = TimeLimit::After(absl::ZeroDuration());
  const auto outcome = Ask(device, {&Fma(), &Mma(), &Dot()}, {"layout", "order"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(answers_, ElementsAre(Fma().name + " layout", Fma().name + " order"));
  EXPECT_THAT(outcome->late, ElementsAre(&Mma(), &Dot()));
}

TEST_F(ProberTest, OperationsWhoseLayoutWasAskedAreLateToo) {
  ChangedDevice device("");
  on_answer_ = [this] {
    while (answers_.size() == 2 && !limit_.Reached()) {
    }
  };
  absl::StatusOr<ProberOutcome> outcome;
  for (absl::Duration limit = absl::Milliseconds(100);;
       limit *= 2) {  // that depends on the machine
    limit_ = TimeLimit::After(limit);
    outcome = Ask(device, {&Fma(), &Dot()}, {"layout", "order"});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    if (answers_.size() == 3) break;  // both layouts were in time
  }
  EXPECT_THAT(answers_,
              ElementsAre(Fma().name + " layout", Dot().name + " layout", Fma().name + " order"));
  EXPECT_THAT(outcome->late, ElementsAre(&Dot()));
}

TEST_F(ProberTest, OneOperationsErrorDoesNotEndTheOthers) {
  for (const absl::Status& error : {absl::InternalError("here"), absl::DataLossError("here")}) {
    FailingDevice device(Dot(), error);
    const auto outcome = Ask(device, {&Fma(), &Dot(), &Mma()}, {"order"});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_THAT(answers_, ElementsAre(Fma().name + " order", Mma().name + " order"));
    EXPECT_THAT(outcome->dropped, ElementsAre(Field(&Drop::status, error)));
    EXPECT_EQ(device.failures, 1);
  }
}

TEST_F(ProberTest, AnErrorInPairsDropsTheOperation) {
  for (const absl::Status& error : {absl::InternalError("here"), absl::DataLossError("here")}) {
    FailingDevice device(Mma(), error);
    const auto outcome = Ask(device, {&Mma()}, {"pairs"});
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_THAT(answers_, IsEmpty());
    EXPECT_THAT(outcome->dropped, ElementsAre(Field(&Drop::status, error)));
  }
}

TEST_F(ProberTest, ALostDeviceEndsAll) {
  FailingDevice device(Dot(), absl::UnavailableError("gone"));
  const auto outcome = Ask(device, {&Fma(), &Dot(), &Mma()}, {"order"});
  EXPECT_TRUE(absl::IsUnavailable(outcome.status())) << outcome.status();
  EXPECT_THAT(answers_, ElementsAre(Fma().name + " order"));
}

TEST_F(ProberTest, OfAWrongLayoutNothingElseIsAsked) {
  SwappedLanesDevice device;  // of more than 20 results
  const auto outcome = Ask(device, {&Mma(), &Fma()}, {"layout", "order", "pairs"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(answers_,
              ElementsAre(Mma().name + " layout", Fma().name + " layout", Fma().name + " order"));
  EXPECT_EQ(outcome->dropped.size(), 1u);
}

TEST_F(ProberTest, TheSelfTestOfAGpuComesBeforeAllButTheLayout) {
  ChangedDevice device("");
  SelfTestingEngine engine(device, Dot());
  auto outcome = Ask(engine, {&Dot(), &Fma()}, {"layout", "order"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(answers_,
              ElementsAre(Dot().name + " layout", Fma().name + " layout", Fma().name + " order"));
  EXPECT_THAT(outcome->dropped,
              ElementsAre(Field(&Drop::status, absl::InternalError("self-test"))));
  outcome = Ask(engine, {&Dot()}, {"layout"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(outcome->dropped, IsEmpty());
}

TEST_F(ProberTest, PairsAreNotAskedWhereNothingExplainsTheOtherAnswers) {
  CountingDevice device;
  const auto outcome = Ask(device, {&Mma()}, {"order", "pairs"});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_THAT(answers_, ElementsAre(Mma().name + " order", Mma().name + " pairs"));
  EXPECT_EQ(texts_.back(), "not asked");
  const int64_t executions = device.executions;
  ASSERT_TRUE(Ask(device, {&Mma()}, {"order"}).ok());
  EXPECT_EQ(device.executions, 2 * executions);
}

TEST_F(ProberTest, PairsAreHeldAgainstWhatTheDeviceTaught) {
  ChangedDevice device("fraction_bits=23");
  limit_ = TimeLimit::After(absl::ZeroDuration());
  ASSERT_TRUE(Ask(device, {&Mma()}, {"width", "pairs"}).ok());
  ASSERT_EQ(texts_.size(), 2u);
  EXPECT_THAT(texts_.front(), HasSubstr("fraction_bits=23"));
  EXPECT_THAT(texts_.back(), StartsWith("0 of "));
  ChangedDevice reads("a_reading=subnormals_zero");
  ASSERT_TRUE(Ask(reads, {&Mma()}, {"decoding", "pairs"}).ok());
  EXPECT_THAT(texts_.back(), StartsWith("0 of "));
}

TEST_F(ProberTest, PairsAreNotAskedOfADeviceWithOtherNans) {
  ChangedDevice device("nan_rule=quiet_positive");
  limit_ = TimeLimit::After(absl::ZeroDuration());
  ASSERT_TRUE(Ask(device, {&Mma()}, {"payloads", "pairs"}).ok());
  ASSERT_EQ(texts_.size(), 2u);
  EXPECT_EQ(texts_.back(), "not asked");
}

// Answers and files, of operations that fail alone, too.
TEST_F(ProberTest, AnswersAreTheSameWhateverTheThreads) {
  class WrongSums : public UnevenDevice {
   public:
    WrongSums() : UnevenDevice("") {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      if (&op == &Dot()) return absl::InternalError("here");
      const absl::Status status = UnevenDevice::Execute(op, batch, d);
      for (uint64_t& word : d) word ^= batch.count > 1000 && word % 1000 == 999;
      return status;
    }
    static const Operation& Fp8() { return *FindOperation("sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32"); }
  };
  open_ = [] { return std::make_unique<HostEngine>(std::make_unique<WrongSums>()); };
  const auto filed = [this](int threads) {
    threads_ = threads;
    folder_ = Path(absl::StrCat("threads", threads));
    std::filesystem::create_directory(folder_);
    WrongSums device;
    const auto outcome =
        Ask(device, {&Fma(), &Dot(), &WrongSums::Fp8(), FindOperation("x86/vpdpbusd")},
            {"order", "pairs"});
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_THAT(outcome->dropped, ElementsAre(Field(&Drop::status, absl::InternalError("here"))));
    std::vector<std::string> all = answers_;
    all.insert(all.end(), texts_.begin(), texts_.end());
    const auto files = FilesBelow(folder_);
    EXPECT_TRUE(files.ok()) << files.status();
    for (const std::string& file : *files) {
      const std::string name = file.substr(folder_.size());
      // All but the date, its checksums and the name of the folder.
      const std::regex others("20..-..-..T..:..:..Z|checksum: .*|# answers: .*|threads[0-9]");
      all.push_back(name + ": " + std::regex_replace(Get(file), others, ""));
    }
    return all;
  };
  const std::vector<std::string> one = filed(1);
  EXPECT_THAT(one, Contains(HasSubstr("probe_pairs")));
  for (const int threads : {2, 3}) EXPECT_EQ(filed(threads), one) << threads;
}

TEST_F(ProberTest, FilesEveryAnswerAndWhatNothingExplains) {
  CountingDevice device;
  folder_ = Path("");
  ASSERT_TRUE(Ask(device, {&Mma()}, {"order", "zero_sign"}).ok());
  const auto files = FilesBelow(folder_);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_THAT(*files, UnorderedElementsAre(EndsWith("sm_80.mma.m16n8k8.f32.bf16.bf16.f32.txt"),
                                           HasSubstr("probe_order"), HasSubstr("probe_zero_sign")));
  const std::string text = Get(Path("sm_80.mma.m16n8k8.f32.bf16.bf16.f32.txt"));
  EXPECT_THAT(text, HasSubstr("# question: order: "));
  EXPECT_THAT(text, HasSubstr("# answers: "));
}

// A program that reads metadata word 0e as 0d where two groups have it: no single word is misread.
class MisreadsTwo : public ChangedOperands {
 public:
  explicit MisreadsTwo(const Operation& op)
      : ChangedOperands(op, [&op](DotProductCase& dot) {
          dot.metadata = StoredMetadata(op.shape(), dot);
          if (dot.metadata[0] == 0xe && dot.metadata[1] == 0xe) {
            dot.metadata[0] = 0xd;
            std::swap(dot.a[1], dot.a[2]);
          }
        }) {}
  bool SupportsAny() const override { return true; }
  bool IsSlow() const override { return true; }  // dot products one by one, as programs do
};

TEST_F(ProberTest, ALayoutThatNothingExplainsContradicts) {
  const Operation& op = *FindOperation("sm_80/mma.sp.m16n8k16.f32.f16.f16.f32");
  MisreadsTwo device(op);
  std::vector<Agreement> agreements;
  on_answer_ = [&] { agreements.push_back(last_); };
  ASSERT_TRUE(Ask(device, {&op}, {"layout", "decoding", "order"}).ok());
  EXPECT_THAT(answers_,
              ElementsAre(op.name + " layout", HasSubstr("decoding"), HasSubstr("order")));
  EXPECT_THAT(agreements,
              ElementsAre(Agreement::kContradicts, Agreement::kAgrees, Agreement::kAgrees));
}

TEST_F(ProberTest, WhatCannotBeFiledIsNoDroppedOperation) {
  ChangedDevice device("");
  folder_ = Path("no_such_folder");
  const auto outcome = Ask(device, {&Fma(), &Mma()}, {"order"});
  EXPECT_TRUE(absl::IsDataLoss(outcome.status())) << outcome.status();
  EXPECT_THAT(answers_, ElementsAre(Fma().name + " order"));
}

}  // namespace
}  // namespace mmadiff
