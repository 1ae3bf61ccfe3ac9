// Surveys for tests, whose processes are calls here, of a device that goes wrong as they say.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "corpus/testing/folder.h"
#include "device/status_macros.h"
#include "fuzz/ask/task_server.h"
#include "fuzz/survey/fields.h"
#include "fuzz/survey/files.h"
#include "fuzz/survey/page.h"
#include "fuzz/survey/summary.h"
#include "fuzz/survey/survey.h"
#include "triage/testing/device.h"

namespace mmadiff {

inline constexpr char kBf16Mma[] = "sm_80/mma.m16n8k8.f32.bf16.bf16.f32",
                      kTf32Mma[] = "sm_80/mma.m16n8k4.f32.tf32.tf32.f32",
                      kFma[] = "x86/vfmadd231ss";

struct Died : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What goes wrong with one operation.
struct Fault {
  std::string op;
  std::function<void(const Batch&, int call)> before = {};
  std::function<absl::Status(const Batch&, std::vector<uint64_t>& d)> fails = {};  // after it
  std::string change = {};                                                         // of the model
  bool swap = false;  // the first two results of an execution
};

class TestDevice : public ChangedDevice {
 public:
  // `slow`: of each dot product.
  TestDevice(std::vector<Fault>& faults, int& calls, const std::string& identity,
             absl::Duration slow, bool has_all = false)
      : ChangedDevice(""),
        faults_(faults),
        calls_(calls),
        identity_(identity),
        slow_(slow),
        has_all_(has_all) {}

  std::string name() const override { return "test"; }
  Identity identity() const override { return Identity::Named(identity_); }
  bool IsSlow() const override { return slow_ > absl::ZeroDuration(); }
  absl::Status Supports(const Operation& op) const override {
    const bool has = has_all_ || op.name == kBf16Mma || op.name == kTf32Mma || op.name == kFma;
    return has ? absl::OkStatus() : absl::NotFoundError("no");
  }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    ++calls_;
    if (IsSlow()) absl::SleepFor(batch.dot_products() * slow_);
    for (const Fault& fault : faults_) {
      if (fault.op != op.name) continue;
      if (fault.before) fault.before(batch, calls_);
      RETURN_IF_ERROR(ChangedDevice(fault.change).Run(op, batch, d));
      if (fault.fails) return fault.fails(batch, d);
      if (fault.swap && batch.shape == op.shape() && d.size() > 1) std::swap(d[0], d[1]);
      return absl::OkStatus();
    }
    return ChangedDevice::Execute(op, batch, d);
  }

 private:
  std::vector<Fault>& faults_;
  int& calls_;
  const std::string identity_;
  const absl::Duration slow_;
  const bool has_all_;  // operations, else three
};

inline bool HasNan(const Batch& batch) {
  return std::ranges::any_of(batch.a, [](uint64_t a) { return (a & 0x7fff) > 0x7f80; });
}

// A process that asks is calls here, and its death an exception.
class ProcessHere : public AskProcess {
 public:
  explicit ProcessHere(OpenSpec open)
      : server_(std::move(open), [this](const AskReply& reply) { (*take_)(reply); }) {}
  absl::Status Ask(const AskRequest& request, absl::FunctionRef<void(AskReply)> take,
                   absl::FunctionRef<bool()>) override {
    take_ = &take;
    try {
      server_.Serve(*ParseAskRequest(SerializeRequest(request)));
    } catch (const Died& died) {
      const bool hangs = absl::string_view(died.what()) == "hangs";
      return hangs ? absl::DeadlineExceededError("hangs") : absl::UnavailableError(died.what());
    }
    return absl::OkStatus();
  }

 private:
  const absl::FunctionRef<void(AskReply)>* take_ = nullptr;
  TaskServer server_;
};

inline StartProcess StartHere(const OpenSpec& open) {
  return [open]() -> absl::StatusOr<std::unique_ptr<AskProcess>> {
    return std::make_unique<ProcessHere>(open);
  };
}

class SurveyTest : public TestFolder {
 protected:
  StartProcess Start() {
    const StartProcess start = StartHere([this](const std::string&) -> EngineOr {
      if (gone && gone()) return absl::NotFoundError("no such device");
      return std::make_unique<HostEngine>(
          std::make_unique<TestDevice>(faults, calls, identity, slow, has_all));
    });
    return [this, start] {
      ++processes;
      return start();
    };
  }

  SurveyOutcome Survey(const std::string& folder = "s") {
    Console console(Color::kNever, true);
    SurveyOptions options = {
        .folder = Path(folder), .device = "test", .cases = cases, .patience = absl::ZeroDuration()};
    options.globs = globs;
    options.max_bytes = most_bytes;
    options.time = time;
    options.on_progress = on_progress;
    options.progress_every = absl::ZeroDuration();
    auto outcome = RunSurvey(options, Start(), console);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    if (!outcome.ok()) return {};
    std::string note;
    EXPECT_TRUE(WriteSurveyFiles(Path(folder), Summarize(*outcome), note).ok());
    return *std::move(outcome);
  }

  // All that survey.json says but for times.
  static std::string Said(const SurveyOutcome& outcome) {
    Json json = JsonOf(Summarize(outcome));
    json.erase("seconds");
    for (auto& row : json["rows"]) row.erase("seconds");
    return json.dump(1);
  }

  static const SurveyRow& RowOf(const SurveySummary& summary, const std::string& op) {
    return *std::ranges::find_if(summary.rows, [&](const SurveyRow& row) { return row.op == op; });
  }
  static std::vector<std::string> Texts(const SurveyRow& row) {
    std::vector<std::string> texts;
    for (const SurveyTrouble& trouble : row.troubles) texts.push_back(trouble.Text());
    return texts;
  }
  static void ExpectComplete(const SurveyRow& row) {
    EXPECT_EQ(row.layout, "agrees") << row.op;
    EXPECT_EQ(row.repeat, "agrees") << row.op;
    EXPECT_THAT(row.answers, testing::SizeIs(testing::Ge(4u))) << row.op;
    EXPECT_EQ(row.cases, 600u) << row.op;
    EXPECT_EQ(row.recorded, "yes") << row.op;
    EXPECT_THAT(Texts(row), testing::IsEmpty()) << row.op;
  }

  std::vector<Fault> faults;
  std::function<bool()> gone;
  std::function<absl::Status(const SurveyOutcome&)> on_progress;
  int calls = 0, processes = 0;
  bool has_all = false;  // operations
  std::string identity = "test";
  uint64_t most_bytes = 64'000'000, cases = 600;
  std::vector<std::string> globs = {kBf16Mma, kTf32Mma, kFma};
  absl::Duration time = absl::InfiniteDuration(), slow = absl::ZeroDuration();
};

}  // namespace mmadiff
