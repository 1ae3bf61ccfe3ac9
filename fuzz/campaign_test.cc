// Campaigns in this process: the same totals however the work is cut, nothing lost by interruption
// and damage, and every planted fault of the harness found or reported for what it is.
#include "fuzz/campaign.h"

#include <gmock/gmock.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "corpus/recordings/recording.h"
#include "corpus/regression_case.h"
#include "corpus/test_folder.h"
#include "fuzz/cases/generate.h"
#include "fuzz/devices.h"
#include "fuzz/digest.h"
#include "fuzz/report.h"
#include "fuzz/testing_rows.h"
#include "fuzz/unit_log.h"
#include "fuzz/unit_runner.h"
#include "fuzz/workdir.h"
#include "sim/parameter.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

constexpr char kMma[] = "sm_80/mma.m16n8k8.f32.f16.f16.f32";  // 2048 cases a unit
constexpr char kHopper[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
constexpr char kInteger[] = "x86/vpdpbusd";  // 16384 cases a unit

// A healthy simulator under a name of its own, with what a test lets happen in each Run().
class Scripted : public Device {
 public:
  using Script = std::function<absl::Status(int64_t run)>;  // an error instead of an answer
  explicit Scripted(Script script) : script_(std::move(script)) {}

  std::string name() const override { return "scripted"; }
  std::string identity() const override { return "scripted"; }
  bool Emulates(const Row& row) const override { return !IsNative(row); }
  absl::Status Supports(const Row&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
    if (absl::Status s = script_(++runs_); !s.ok()) return s;
    return simulator_->Run(row, batch, d);
  }

 private:
  Script script_;
  int64_t runs_ = 0;
  std::unique_ptr<Device> simulator_ = *OpenDevice("faulty:none=0");
};

using DeviceOpener = std::function<DeviceOr()>;

DeviceOpener Opener(Scripted::Script script) {
  return [script]() -> DeviceOr { return std::make_unique<Scripted>(script); };
}

class CampaignTest : public TestFolder {
 protected:
  CampaignOptions Options(const std::string& folder, std::vector<const char*> rows = {kMma}) const {
    CampaignOptions options;
    for (const char* row : rows) options.rows.push_back(FindRow(row));
    options.strategy = &Strategies().front();
    options.cases = 9000;  // of kMma: four units and a rest
    options.print_findings = false;
    options.workdir = Path(folder);
    return options;
  }

  absl::StatusOr<CampaignOutcome> Try(const CampaignOptions& options, const DeviceOpener& open) {
    const auto open_engine = [&open]() -> EngineOr {
      DeviceOr device = open();
      if (!device.ok()) return device.status();
      return std::make_unique<HostEngine>(*std::move(device));
    };
    return RunCampaign(options, open_engine, console_);
  }
  CampaignOutcome Run(const CampaignOptions& options, const DeviceOpener& open) {
    absl::StatusOr<CampaignOutcome> outcome = Try(options, open);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return outcome.ok() ? *std::move(outcome) : CampaignOutcome();
  }
  CampaignOutcome Run(const CampaignOptions& options, const std::string& device = "faulty:none=0") {
    return Run(options, [device] { return OpenDevice(device); });
  }
  // With a time limit in which at least so much is answered: one that doubles until it is so, for
  // that depends on the machine.
  CampaignOutcome RunLimited(CampaignOptions options, const DeviceOpener& open,
                             uint64_t dot_products = 1) {
    for (absl::Duration limit = absl::Milliseconds(10);; limit *= 2) {
      options.limit = TimeLimit::After(limit);
      CampaignOutcome outcome = Run(options, open);
      if (outcome.attempt_dot_products >= dot_products) return outcome;
      std::filesystem::remove_all(options.workdir);
    }
  }

 private:
  Console console_{Color::kNever, true};
};

std::vector<std::string> Files(const std::string& folder, const char* extension) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// ---- The same totals however the work is cut

TEST_F(CampaignTest, TheNumberOfThreadsDoesNotMatter) {
  std::string digest;
  for (const int threads : {1, 2, 3}) {
    CampaignOptions options = Options("t" + std::to_string(threads), {kMma, kInteger});
    options.threads = threads;
    const CampaignOutcome outcome = Run(options);
    ASSERT_THAT(outcome.rows, SizeIs(2));
    EXPECT_TRUE(outcome.rows[0].finished && outcome.rows[1].finished);
    EXPECT_EQ(outcome.rows[0].total.cases, 9000u);
    EXPECT_EQ(outcome.rows[0].total.dot_products, 9000u * 128);
    EXPECT_EQ(outcome.rows[1].total.dot_products, 9000u * 16);
    EXPECT_TRUE(outcome.rows[0].total.device_digest == outcome.rows[0].total.model_digest);
    if (digest.empty()) digest = RunDigest(outcome);
    EXPECT_THAT(digest, SizeIs(32));
    EXPECT_EQ(RunDigest(outcome), digest) << threads;
  }
}

// So that an accidental change of the digest itself is noticed too.
TEST_F(CampaignTest, TheDigestDependsOnSeedStrategyDeviceAndCases) {
  const auto digest = [&](const char* folder, uint64_t seed, const char* strategy, uint64_t cases,
                          const char* device) {
    CampaignOptions options = Options(folder);
    options.seed = seed;
    options.strategy = FindStrategy(strategy);
    options.cases = cases;
    options.errors = 0;
    return RunDigest(Run(options, device));
  };
  const std::set<std::string> all = {
      digest("0", 1, "mixed", 500, "faulty:none=0"), digest("1", 2, "mixed", 500, "faulty:none=0"),
      digest("2", 1, "bits", 500, "faulty:none=0"), digest("3", 1, "mixed", 501, "faulty:none=0"),
      digest("4", 1, "mixed", 500, "faulty:wrong_lane=3")};
  EXPECT_EQ(all.size(), 5u);
}

// Sum over the executions of XXH3-128 of the result words, seeded with the case index.
TEST(DigestOf, IsXxh3OfEveryWord) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t word = random() >> random() % 64, number = random() >> random() % 64;
    const XXH128_hash_t hash = XXH3_128bits_withSeed(&word, 8, number);
    EXPECT_TRUE(HashOfResult(word, number) ==
                (static_cast<Digest>(hash.high64) << 64 | hash.low64));
  }
}

TEST(DigestOf, CountsEveryWordAtItsCase) {
  using Words = std::vector<uint64_t>;
  const Row& row = *FindRow(kInteger);
  Batch batch;
  batch.Resize({1, 2, 1, 1}, 2);  // two executions of two results
  batch.first = 10;
  const Digest digest = DigestOf(row, batch, Words{1, 2, 3, 4});
  EXPECT_TRUE(digest == DigestOf(row, batch, Words{1, 2, 3, 4}));
  EXPECT_FALSE(digest ==
               DigestOf(row, batch, Words{3, 4, 1, 2}));  // the answers of two cases swapped
  EXPECT_FALSE(digest == DigestOf(row, batch, Words{2, 1, 3, 4}));
  EXPECT_FALSE(digest == DigestOf(row, batch, Words{1, 2, 3, 5}));
  batch.first = 11;
  EXPECT_FALSE(digest == DigestOf(row, batch, Words{1, 2, 3, 4}));
  Batch one = batch;
  one.Resize({1, 2, 1, 1}, 1);
  one.first = 10;
  Digest sum = DigestOf(row, one, Words{1, 2});
  one.first = 11;
  sum += DigestOf(row, one, Words{3, 4});
  EXPECT_TRUE(sum == digest);
}

TEST_F(CampaignTest, ShardsAddUpToTheWhole) {
  const CampaignOutcome whole = Run(Options("whole"));
  Digest digest = 0;
  uint64_t cases = 0, planned = 0;
  for (uint64_t shard = 0; shard < 3; ++shard) {
    CampaignOptions options = Options("shard" + std::to_string(shard));
    options.shard = shard;
    options.shards = 3;
    const CampaignOutcome outcome = Run(options);
    EXPECT_TRUE(outcome.rows[0].finished);
    EXPECT_TRUE(IsComplete(options.workdir));
    EXPECT_EQ(outcome.rows[0].total.cases, outcome.rows[0].planned_cases);
    digest += outcome.rows[0].total.device_digest;
    cases += outcome.rows[0].total.cases;
    planned += outcome.rows[0].planned_cases;
  }
  EXPECT_TRUE(digest == whole.rows[0].total.device_digest);
  EXPECT_EQ(cases, 9000u);
  EXPECT_EQ(planned, 9000u);
  EXPECT_TRUE(IsComplete(Path("whole")));
}

TEST_F(CampaignTest, MoreShardsThanUnits) {
  CampaignOptions options = Options("w");
  options.shard = 7;
  options.shards = 8;
  const CampaignOutcome outcome = Run(options);
  EXPECT_EQ(outcome.attempt_dot_products, 0u);
  EXPECT_EQ(outcome.rows[0].planned_cases, 0u);
}

TEST_F(CampaignTest, AFolderBelongsToOneShard) {
  CampaignOptions options = Options("w");
  options.shards = 2;
  Run(options);
  const CampaignOutcome again = Run(options);
  EXPECT_EQ(again.resumed_units, 3u);
  EXPECT_EQ(again.attempt_dot_products, 0u);
  options.shard = 1;
  const absl::Status status = Try(options, [] { return OpenDevice("faulty:none=0"); }).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("shard: stored 0, wanted 1"));
}

TEST_F(CampaignTest, AFinishedRunStartsAnewOnlyIfAsked) {
  CampaignOptions options = Options("w");
  const std::string digest = RunDigest(Run(options));
  EXPECT_EQ(Run(options).resumed_units, 5u);
  options.anew = true;
  const CampaignOutcome anew = Run(options);
  EXPECT_EQ(anew.resumed_units, 0u);
  EXPECT_EQ(RunDigest(anew), digest);
}

TEST_F(CampaignTest, AFolderThatIsTakenAwayDuringTheRunIsNotDurable) {
  for (const char* what : {"w", "w/manifest.txtpb"}) {
    const CampaignOutcome outcome = Run(Options("w"), Opener([&](int64_t run) {
                                          if (run == 40) std::filesystem::remove_all(Path(what));
                                          return absl::OkStatus();
                                        }));
    EXPECT_EQ(outcome.durable.code(), absl::StatusCode::kDataLoss) << what;
    EXPECT_THAT(std::string(outcome.durable.message()), HasSubstr(Path("w/")));
    std::filesystem::remove_all(Path("w"));
  }
}

// ---- Interruption and damage

// In its second unit it waits until it is told to stop.
class SlowLater : public Scripted {
 public:
  SlowLater() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
  absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
    answered_ += batch.count;
    while (answered_ > 2048 && !StopRequested()) std::this_thread::yield();
    return Scripted::Execute(row, batch, d);
  }

 private:
  int64_t answered_ = 0;  // cases
};

TEST_F(CampaignTest, ATimeLimitStopsAndTheSameOptionsResume) {
  const CampaignOptions options = Options("w");
  const CampaignOutcome stopped = RunLimited(
      options, []() -> DeviceOr { return std::make_unique<SlowLater>(); }, 2048 * 128);
  EXPECT_EQ(stopped.stopped_by, "time limit");
  EXPECT_FALSE(stopped.rows[0].finished);
  EXPECT_EQ(RunDigest(stopped), "");
  EXPECT_LT(stopped.rows[0].total.cases, 2u * 2048);
  EXPECT_FALSE(IsComplete(options.workdir));

  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  const CampaignOutcome resumed = Run(options, healthy);
  EXPECT_EQ(resumed.resumed_units, 1u);
  EXPECT_EQ(resumed.attempt_dot_products, (9000u - 2048) * 128);
  EXPECT_TRUE(resumed.rows[0].finished);
  EXPECT_EQ(RunDigest(resumed), RunDigest(Run(Options("whole"), healthy)));
  EXPECT_EQ(resumed.rows[0].total.counts, Run(Options("other"), healthy).rows[0].total.counts);
  EXPECT_TRUE(IsComplete(options.workdir));
}

TEST_F(CampaignTest, ADeviceThatDiesLosesNothing) {
  const CampaignOutcome dead =
      Run(Options("w"), Opener([](int64_t run) {
            return run < 50 ? absl::OkStatus() : absl::UnavailableError("fell off the bus");
          }));
  EXPECT_EQ(dead.device.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(dead.device.message()), HasSubstr("fell off the bus"));
  EXPECT_TRUE(dead.durable.ok());
  EXPECT_THAT(dead.findings, IsEmpty());
  EXPECT_EQ(dead.rows[0].total.mismatches, 0u);
  EXPECT_FALSE(dead.rows[0].finished);
  // What was compared counts, but the digest covers only the unit that is done.
  EXPECT_EQ(dead.rows[0].total.dot_products, 49u * 64 * 128);
  const std::string manifest = Path("w/manifest.txtpb");
  const auto stored = ReadUnits(Path("w"), *ParseManifest(Get(manifest), manifest));
  EXPECT_TRUE(dead.rows[0].total.device_digest == stored->totals[0].device_digest);
  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  const CampaignOutcome resumed = Run(Options("w"), healthy);
  EXPECT_EQ(resumed.resumed_units, 1u);  // 49 runs: 32 of the first unit, 17 of the second
  EXPECT_EQ(RunDigest(resumed), RunDigest(Run(Options("whole"), healthy)));
}

TEST_F(CampaignTest, DamageRunsOnlyThoseUnitsAgain) {
  // Two attempts: one unit, then the other four.
  const auto healthy = Opener([](int64_t) { return absl::OkStatus(); });
  Run(Options("w"), Opener([](int64_t run) {
        return run < 50 ? absl::OkStatus() : absl::UnavailableError("dead");
      }));
  Run(Options("w"), healthy);
  const std::vector<std::string> logs = Files(Path("w"), ".log");
  ASSERT_THAT(logs, SizeIs(2));
  std::string bytes = Get(logs[1]);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(logs[1], std::ios::binary) << bytes;

  EXPECT_FALSE(IsComplete(Path("w")));
  const CampaignOutcome repaired = Run(Options("w"), healthy);
  ASSERT_THAT(repaired.warnings, SizeIs(1));
  EXPECT_THAT(repaired.warnings[0], HasSubstr(logs[1]));
  EXPECT_THAT(repaired.warnings[0], HasSubstr("run again"));
  // A block for each half a second: a slow machine has more of them, and loses fewer units.
  EXPECT_GE(repaired.resumed_units, 1u);
  EXPECT_LT(repaired.resumed_units, 5u);
  EXPECT_GT(repaired.attempt_dot_products, 0u);
  EXPECT_EQ(repaired.rows[0].total.cases, 9000u);
  EXPECT_EQ(RunDigest(repaired), RunDigest(Run(Options("whole"), healthy)));
}

TEST_F(CampaignTest, AnotherRunsFolderIsRefusedWithTheDifference) {
  CampaignOptions options = Options("w");
  options.cases = 100;
  Run(options);
  const auto refused = [&](const CampaignOptions& other, const std::string& device) {
    const absl::Status status = Try(other, [&] { return OpenDevice(device); }).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr("belongs to another run"));
    return std::string(status.message());
  };
  CampaignOptions other = options;
  other.seed = 2;
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("seed: stored 1, wanted 2"));
  other = options;
  other.strategy = FindStrategy("bits");
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("strategy: stored mixed, wanted bits"));
  other = options;
  other.cases = 101;
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("101 cases"));
  other = options;
  other.rows.push_back(FindRow(kInteger));
  EXPECT_THAT(refused(other, "faulty:none=0"), HasSubstr("instruction[1]: stored (none)"));
  EXPECT_THAT(refused(options, "faulty:dead=9"), HasSubstr("device: stored faulty:none=0"));
  // What may differ: threads, error limit, time limit.
  other = options;
  other.threads = 2;
  other.errors = 3;
  EXPECT_EQ(Run(other).resumed_units, 1u);
}

TEST_F(CampaignTest, AFolderWhoseContentsContradictThemselves) {
  CampaignOptions options = Options("w");
  options.cases = 100;
  Run(options);
  const auto open = [] { return OpenDevice("faulty:none=0"); };
  const std::string manifest = options.workdir + "/manifest.txtpb", good = Get(manifest);
  std::string changed = good;
  changed[good.find("seed: 1") + 6] = '2';
  std::ofstream(manifest) << changed;
  absl::Status status = Try(options, open).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("manifest.txtpb"));
  std::ofstream(manifest) << good;

  UnitResult other = Run(options).rows[0].total;
  other.device_digest += 1;
  other.mismatches = 1;
  {
    const auto log =
        UnitLog::Create(options.workdir, RunIdOf(*ParseManifest(good, "manifest.txtpb")));
    ASSERT_TRUE((*log)->Append(other).ok());
    ASSERT_TRUE((*log)->Flush().ok());
  }
  status = Try(options, open).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("two different answers"));
}

TEST_F(CampaignTest, FoldersThatCannotBeWritten) {
  const auto open = [] { return OpenDevice("faulty:none=0"); };
  CampaignOptions options = Options("w");
  Put("file", "");
  for (const std::string& folder : {Path("file"), Path("file/below"), std::string("/proc/none")}) {
    options.workdir = folder;
    EXPECT_EQ(Try(options, open).status().code(), absl::StatusCode::kDataLoss) << folder;
  }
}

TEST_F(CampaignTest, AFindingThatCannotBeFiledIsNoDeviceFailure) {
  CampaignOptions options = Options("w");
  std::filesystem::create_directories(options.workdir);
  Put("w/findings", "a file where the folder must be");
  const CampaignOutcome outcome = Run(options, "faulty:output_rounding=up");
  EXPECT_EQ(outcome.durable.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(outcome.device.ok()) << outcome.device;
  EXPECT_GT(outcome.rows[0].total.mismatches, 0u);
  EXPECT_FALSE(outcome.rows[0].finished);
}

// ---- Faults of the device

// Some tiles of a changed alignment rounding look like other changes too; the bucket is narrowed to
// what explains all its cases, filed under that, and nothing of the first guess stays.
TEST_F(CampaignTest, EveryRowOfAChangedParameterIsOneBucket) {
  std::vector<const Row*> rows;
  for (const Row* row : SmallestRows()) {
    const Algorithm& algorithm = row->model.algorithm;
    // Each of the faults is one of their neighbours.
    if (algorithm.family == Family::kFusedSum && algorithm.fraction_bits == 24) {
      rows.push_back(row);
    }
  }
  ASSERT_GT(rows.size(), 5u);
  for (const char* fault : {"align_rounding=down", "output_rounding=up", "fraction_bits=25"}) {
    CampaignOptions options = Options(fault);
    options.rows = rows;
    options.cases = 2000;
    const CampaignOutcome outcome = Run(options, absl::StrCat("faulty:", fault));
    EXPECT_EQ(outcome.findings.size(), rows.size()) << fault;
    for (const Finding& finding : outcome.findings) {
      EXPECT_THAT(finding.signature, testing::EndsWith(fault)) << finding.row;
      EXPECT_EQ(finding.cases, 20u) << finding.row << " " << fault;
      EXPECT_THAT(finding.path, HasSubstr(finding.signature.substr(0, 5)));
    }
    size_t files = 1;  // the manifest
    for (const Finding& finding : outcome.findings) files += 1 + finding.beside.size();
    EXPECT_THAT(Files(options.workdir, ".txtpb"), SizeIs(files));
  }
}

TEST_F(CampaignTest, OneChangedParameterIsOneBucket) {
  CampaignOptions options = Options("w", {kHopper});
  options.cases = 4000;
  options.errors = 0;
  options.threads = 2;
  const CampaignOutcome outcome = Run(options, "faulty:fraction_bits=24");
  ASSERT_THAT(outcome.findings, SizeIs(1));
  const Finding& finding = outcome.findings[0];
  EXPECT_THAT(finding.signature, HasSubstr("fraction_bits=24"));
  EXPECT_FALSE(finding.flaky);
  EXPECT_EQ(finding.row, kHopper);
  EXPECT_GT(finding.cases, 100u);
  EXPECT_TRUE(ParseCaseName(finding.case_name).ok()) << finding.case_name;
  EXPECT_TRUE(outcome.rows[0].finished);
  EXPECT_GT(outcome.rows[0].total.mismatches, 1000u);
  EXPECT_FALSE(outcome.rows[0].total.device_digest == outcome.rows[0].total.model_digest);

  // The filed case holds the minimum: one dot product of two terms, both answers.
  ASSERT_THAT(Files(options.workdir, ".txtpb"), SizeIs(2 + finding.beside.size()));
  const auto filed = ReadCase(finding.path);
  ASSERT_TRUE(filed.ok()) << filed.status();
  EXPECT_EQ(filed->inputs.shape, DotProductShape(FindRow(kHopper)->shape()));
  EXPECT_EQ(filed->signature, finding.signature);
  EXPECT_EQ(filed->source, finding.case_name);
  ASSERT_THAT(filed->answers, SizeIs(2));
  EXPECT_EQ(filed->answers[0].device, "faulty:fraction_bits=24");
  EXPECT_THAT(filed->answers[1].device, StartsWith("model"));
  EXPECT_NE(filed->answers[0].d, filed->answers[1].d);
  int nonzero = filed->inputs.c[0] != 0;
  for (const uint64_t word : filed->inputs.a) nonzero += word != 0;
  EXPECT_EQ(nonzero, 2);
}

// The bits of this minimal case are part of the promise: the same on every machine.
TEST_F(CampaignTest, TheMinimalCaseDoesNotDependOnThreads) {
  std::vector<std::string> names;
  for (const int threads : {1, 3}) {
    CampaignOptions options = Options("t" + std::to_string(threads), {kHopper});
    options.cases = 1000;  // one unit: the first mismatch is found by one thread
    options.threads = threads;
    const CampaignOutcome outcome = Run(options, "faulty:fraction_bits=24");
    ASSERT_THAT(outcome.findings, SizeIs(1));
    names.push_back(std::filesystem::path(outcome.findings[0].path).filename().string());
  }
  EXPECT_EQ(names[0], names[1]);
}

TEST_F(CampaignTest, NoFaultIsCleanOnEveryModel) {
  CampaignOptions options = Options("w");
  options.rows = SmallestRows();
  options.cases = 200;
  options.threads = 2;
  const CampaignOutcome outcome = Run(options);
  for (const RowOutcome& row : outcome.rows) {
    EXPECT_EQ(row.total.mismatches, 0u) << row.row->name;
    EXPECT_EQ(row.total.cases, 200u) << row.row->name;
    EXPECT_TRUE(row.finished) << row.row->name;
    EXPECT_THAT(row.planted, HasSubstr(" found in case ")) << row.row->name;
    EXPECT_THAT(EmptyClasses(options, row), IsEmpty()) << row.row->name;
  }
  EXPECT_THAT(outcome.findings, IsEmpty());
}

TEST_F(CampaignTest, AWrongLaneIsAMismatchInItsTile) {
  CampaignOptions options = Options("w");
  const CampaignOutcome outcome = Run(options, "faulty:wrong_lane=5");
  ASSERT_FALSE(outcome.findings.empty());
  for (const Finding& f : outcome.findings) EXPECT_FALSE(f.flaky) << f.signature;
  const auto filed = ReadCase(outcome.findings[0].path);
  ASSERT_TRUE(filed.ok());
  EXPECT_EQ(filed->inputs.shape, FindRow(kMma)->shape());
  const int64_t element = IndexOf(filed->inputs.shape, filed->position);
  EXPECT_TRUE(element == 5 || element == 6) << element;
}

TEST_F(CampaignTest, AnswersThatDoNotRepeatAreFlaky) {
  for (const char* fault : {"lost_batch=7", "flaky_bit=20000"}) {
    CampaignOptions options = Options(fault);
    const CampaignOutcome outcome = Run(options, std::string("faulty:") + fault);
    ASSERT_FALSE(outcome.findings.empty()) << fault;
    for (const Finding& f : outcome.findings) {
      EXPECT_TRUE(f.flaky) << fault << " " << f.signature;
      EXPECT_THAT(f.signature, StartsWith("flaky:"));
      const auto filed =
          ReadCase(f.path);  // as it was seen, not shrunk, with the device's identity
      ASSERT_TRUE(filed.ok()) << filed.status();
      EXPECT_EQ(filed->inputs.shape, FindRow(kMma)->shape());
      EXPECT_NE(filed->answers[0].d, filed->answers[1].d);
      EXPECT_THAT(filed->answers[0].identity, HasSubstr(fault));
    }
    EXPECT_TRUE(outcome.device.ok());
    // The row is not said to be wrong.
    EXPECT_THAT(FormatReport(options, outcome), testing::Not(HasSubstr("differs from the device")));
    EXPECT_THAT(FormatReport(options, outcome), HasSubstr("answers do not repeat"));
  }
}

TEST_F(CampaignTest, AnUnreadableAnswerWhileShrinkingIsTheDevicesFault) {
  // Right, then one wrong answer, then garbage while it is confirmed.
  class Garbage : public Device {
   public:
    std::string name() const override { return "garbage"; }
    std::string identity() const override { return "garbage"; }
    absl::Status Supports(const Row&) const override { return absl::OkStatus(); }
    absl::Status Execute(const Row&, const Batch& batch, std::vector<uint64_t>& d) override {
      if (runs_++ > 0) return absl::DataLossError("cannot be read");
      d.assign(batch.dot_products(), 0x12345);
      return absl::OkStatus();
    }
    int runs_ = 0;
  };
  const CampaignOutcome outcome =
      Run(Options("w"), []() -> DeviceOr { return std::make_unique<Garbage>(); });
  EXPECT_TRUE(outcome.durable.ok()) << outcome.durable;
  EXPECT_FALSE(outcome.device.ok());
  EXPECT_THAT(std::string(outcome.device.message()), HasSubstr("cannot be read"));
}

TEST_F(CampaignTest, AWrongNumberOfAnswersDropsTheRow) {
  class Short : public Device {
   public:
    std::string name() const override { return "short"; }
    std::string identity() const override { return "short"; }
    absl::Status Supports(const Row&) const override { return absl::OkStatus(); }
    absl::Status Execute(const Row&, const Batch& batch, std::vector<uint64_t>& d) override {
      d.resize(batch.dot_products() - 1);
      return absl::OkStatus();
    }
  };
  const CampaignOutcome outcome =
      Run(Options("w"), []() -> DeviceOr { return std::make_unique<Short>(); });
  EXPECT_EQ(outcome.rows[0].dropped.code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(outcome.durable.ok());
  EXPECT_THAT(outcome.findings, IsEmpty());
}

TEST_F(CampaignTest, TheErrorLimitStopsARowButNotTheOthers) {
  class OneWrongRow : public Scripted {
   public:
    OneWrongRow() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
      return row.name == kHopper ? wrong_->Run(row, batch, d) : Scripted::Execute(row, batch, d);
    }
    std::unique_ptr<Device> wrong_ = *OpenDevice("faulty:wrong_lane=100");
  };
  CampaignOptions options = Options("w", {kHopper, kInteger});
  options.errors = 7;
  const CampaignOutcome outcome =
      Run(options, []() -> DeviceOr { return std::make_unique<OneWrongRow>(); });
  const RowOutcome &stopped = outcome.rows[0], &other = outcome.rows[1];
  EXPECT_TRUE(stopped.stopped);
  EXPECT_FALSE(stopped.finished);
  EXPECT_THAT(stopped.total.mismatching_cases, SizeIs(7));
  EXPECT_LT(stopped.total.cases, 2048u);
  EXPECT_FALSE(other.stopped);
  EXPECT_TRUE(other.finished);
  uint64_t cases = 0;
  for (const Finding& f : outcome.findings) cases += f.cases;
  EXPECT_EQ(cases, 7u);
  EXPECT_EQ(RunDigest(outcome), "");
}

// The answers of what is dropped, flaky or stopped.

TEST_F(CampaignTest, ARowThatFailsAloneIsDropped) {
  class OneBadRow : public Scripted {
   public:
    explicit OneBadRow(absl::Status s)
        : Scripted([](int64_t) { return absl::OkStatus(); }), s_(s) {}
    absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
      return row.name == kHopper && ++runs_ > 3 ? s_ : Scripted::Execute(row, batch, d);
    }
    const absl::Status s_;
    int runs_ = 0;
  };
  for (const absl::Status& s :
       {absl::NotFoundError("no layout"), absl::DataLossError("not confirmed"),
        absl::InternalError("the self-test failed")}) {
    const CampaignOptions options = Options(std::string(s.message()), {kMma, kHopper, kInteger});
    const CampaignOutcome outcome =
        Run(options, [&s]() -> DeviceOr { return std::make_unique<OneBadRow>(s); });
    EXPECT_TRUE(outcome.rows[0].finished && outcome.rows[2].finished);
    EXPECT_FALSE(outcome.rows[1].finished);
    EXPECT_EQ(outcome.rows[1].dropped, s);
    EXPECT_TRUE(outcome.device.ok());
    const std::string report = FormatReport(options, outcome);
    EXPECT_THAT(report, HasSubstr("stat::dropped: 1\n"));
    EXPECT_THAT(report, HasSubstr(absl::StrCat("dropped:  ", kHopper, ": ", s.message())));
    EXPECT_THAT(report, testing::Not(HasSubstr("stat::digest")));
  }
}

// Lost answers are remembered: the next attempt is not clean either.
TEST_F(CampaignTest, LostAnswersAreRemembered) {
  const CampaignOptions options = Options("w");
  const auto lose = [](int64_t run) {
    return run == 2 ? absl::DataLossError("differed once\n") : absl::OkStatus();
  };
  EXPECT_FALSE(Run(options, Opener(lose)).rows[0].dropped.ok());
  const CampaignOutcome again = Run(options, Opener([](int64_t) { return absl::OkStatus(); }));
  EXPECT_TRUE(again.rows[0].finished);
  EXPECT_THAT(again.distrusted, ElementsAre(std::string(kMma) + ": differed once\\x0a"));
  EXPECT_THAT(FormatReport(options, again), HasSubstr("distrusted: " + std::string(kMma)));
}

TEST_F(CampaignTest, AnotherWrongWordEachTimeIsFlaky) {
  class Random : public Scripted {
   public:
    Random() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(row, batch, d);
      for (uint64_t& word : d) word = random_() & LowBits(row.model.d.bits);
      return s;
    }
    std::mt19937_64 random_;
  };
  const CampaignOptions options = Options("w");
  const CampaignOutcome outcome =
      Run(options, []() -> DeviceOr { return std::make_unique<Random>(); });
  ASSERT_FALSE(outcome.findings.empty());
  for (const Finding& f : outcome.findings) EXPECT_TRUE(f.flaky) << f.signature;
}

// It answers five dot products, the last two wrong, and waits until it is told to stop.
class Slow : public Scripted {
 public:
  Slow() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
  absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
    absl::Status s = Scripted::Execute(row, batch, d);
    if (s.ok()) d.resize(std::min<size_t>(d.size(), 5));
    for (size_t i = 3; i < d.size(); ++i) d[i] ^= wrong_;
    while (!StopRequested()) std::this_thread::yield();
    return absl::CancelledError("stopped");
  }
  uint64_t wrong_ = 0;
};

TEST_F(CampaignTest, AStopIsSeenInsideAUnitAndWhatWasAnsweredCounts) {
  const CampaignOptions options = Options("w");
  const CampaignOutcome outcome =
      RunLimited(options, []() -> DeviceOr { return std::make_unique<Slow>(); });
  EXPECT_EQ(outcome.stopped_by, "time limit");
  EXPECT_TRUE(outcome.device.ok());
  EXPECT_EQ(outcome.attempt_dot_products, 5u);
  EXPECT_EQ(outcome.attempt_units, 0u);
  EXPECT_EQ(outcome.rows[0].total.mismatches, 0u);
  EXPECT_EQ(Run(options, Opener([](int64_t) { return absl::OkStatus(); })).resumed_units, 0u);
}

TEST_F(CampaignTest, AMismatchThatCannotBeAskedAgainIsFiledAsSeen) {
  const CampaignOutcome outcome = RunLimited(Options("w"), []() -> DeviceOr {
    auto slow = std::make_unique<Slow>();
    slow->wrong_ = 1;
    return slow;
  });
  EXPECT_EQ(outcome.rows[0].total.mismatches, 2u);
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_THAT(outcome.findings[0].signature, StartsWith("unconfirmed:"));
  EXPECT_TRUE(ReadCase(outcome.findings[0].path).ok());
}

TEST_F(CampaignTest, AResumedRunListsWhatItsFolderHas) {
  CampaignOptions options = Options("w");
  options.errors = 0;
  options.cases = 2000;
  const CampaignOutcome first = Run(options, "faulty:fraction_bits=23");
  ASSERT_FALSE(first.findings.empty());
  const CampaignOutcome again = Run(options, "faulty:fraction_bits=23");
  std::set<std::string> filed, listed;
  for (const Finding& f : first.findings) filed.insert(f.path);
  for (const Finding& f : again.findings) {
    listed.insert(f.path);
    EXPECT_EQ(f.cases, 0u);
    EXPECT_EQ(f.row, kMma);
    EXPECT_EQ(f.signature, ReadCase(f.path)->signature);
  }
  EXPECT_EQ(listed, filed);
  const std::string report = FormatReport(options, again);
  EXPECT_THAT(report, HasSubstr("of an earlier attempt  " + first.findings[0].path));
  EXPECT_THAT(report, HasSubstr("note: 1 of 1 units from earlier attempts, nothing executed"));
  EXPECT_THAT(FormatReport(options, first), testing::Not(HasSubstr("nothing executed")));
  // A finding that cannot be read is no finding less.
  std::ofstream(first.findings[0].path) << "instruction: 7";
  EXPECT_TRUE(Run(options, "faulty:fraction_bits=23").damaged_findings);
}

// Mismatches that were filed and do not come again are no pass; nor is another run's finding.
TEST_F(CampaignTest, FiledMismatchesThatDoNotComeAgain) {
  class Changing : public Scripted {
   public:
    explicit Changing(bool wrong)
        : Scripted([](int64_t) { return absl::OkStatus(); }), wrong_(wrong) {}
    absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(row, batch, d);
      if (wrong_ && !d.empty()) d[0] ^= 1;
      return s;
    }
    const bool wrong_;
  };
  const auto of = [](bool wrong) {
    return [wrong]() -> DeviceOr { return std::make_unique<Changing>(wrong); };
  };
  CampaignOptions options = Options("w");
  options.errors = 1;  // the unit is not done
  ASSERT_FALSE(Run(options, of(true)).findings.empty());
  const CampaignOutcome later = Run(options, of(false));
  EXPECT_EQ(later.rows[0].total.mismatches, 0u);
  EXPECT_TRUE(later.rows[0].unrepeated);
  EXPECT_THAT(FormatReport(options, later), HasSubstr("answers do not repeat"));
  CampaignOptions other = Options("v");
  other.seed = 2;
  ASSERT_FALSE(Run(other, of(false)).rows[0].unrepeated);
  std::filesystem::copy(Path("w/findings"), Path("v/findings"),
                        std::filesystem::copy_options::recursive);
  const CampaignOutcome foreign = Run(other, of(false));
  EXPECT_TRUE(foreign.damaged_findings);
  EXPECT_THAT(foreign.findings, IsEmpty());
}

// What repeats is found behind a hiccup with the same signature.
TEST_F(CampaignTest, OneHiccupDoesNotHideWhatRepeats) {
  class Hiccup : public Scripted {
   public:
    Hiccup() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(row, batch, d);
      const int run = ++runs_;
      for (uint64_t& word : d) word ^= run >= 2 && run <= 6 ? 0 : 4;
      return s;
    }
    int runs_ = 0;
  };
  CampaignOptions options = Options("w", {kInteger});
  options.cases = 100;
  options.errors = 0;
  const CampaignOutcome outcome =
      Run(options, []() -> DeviceOr { return std::make_unique<Hiccup>(); });
  EXPECT_TRUE(std::any_of(outcome.findings.begin(), outcome.findings.end(),
                          [](const Finding& f) { return !f.flaky; }));
}

// A recording has no answers to smaller cases: what differs in it is filed all the same.
TEST_F(CampaignTest, AMismatchOfARecordingIsFiled) {
  const CampaignOptions options = Options("w");
  const DeviceOr faulty = OpenDevice("faulty:fraction_bits=22");
  const CaseStream stream = {options.rows[0], options.strategy, options.seed};
  Batch batch;
  Generate(stream, 0, 2048, batch);
  const auto d = (*faulty)->Run(*stream.row, batch);
  ASSERT_TRUE(d.ok());
  auto writer = RecordingWriter::Create(Path("a.log"));
  ASSERT_TRUE(writer.ok() && (*writer)->Append(*stream.row, batch, *d, "a chip").ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  const CampaignOutcome outcome = Run(options, "recorded:" + Path("a.log"));
  EXPECT_TRUE(outcome.device.ok()) << outcome.device;
  EXPECT_TRUE(outcome.rows[0].stopped);
  ASSERT_FALSE(outcome.findings.empty());
  for (const Finding& f : outcome.findings) {
    EXPECT_FALSE(f.flaky);
    const auto filed = ReadCase(f.path);
    ASSERT_TRUE(filed.ok()) << filed.status();
    EXPECT_EQ(filed->answers[0].identity, "a chip");
    // What is filed is what the recorded device says to these operands.
    EXPECT_EQ(filed->answers[0].d, *(*faulty)->Run(*filed->row, filed->inputs)) << f.path;
  }
}

// A name that later answers refute goes, whichever attempt filed it.
TEST_F(CampaignTest, ALaterAttemptRefutesTheNameOfAnEarlierOne) {
  // One parameter changed in the first attempt; two, of which the second shows seldom, in the next.
  class Deeper : public Scripted {
   public:
    explicit Deeper(bool second)
        : Scripted([](int64_t) { return absl::OkStatus(); }), second_(second) {}
    absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
      Model model = row.model;
      model.algorithm.fraction_bits -= 1;
      if (second_) model.algorithm.output_subnormals = Subnormals::kFlush;
      d.resize(batch.dot_products());
      Simulate(model, batch, d);
      return absl::OkStatus();
    }
    const bool second_;
  };
  CampaignOptions options = Options("w", {kHopper});
  options.errors = 3;
  const auto open = [](bool second) {
    return [second]() -> DeviceOr { return std::make_unique<Deeper>(second); };
  };
  CampaignOutcome outcome = Run(options, open(false));
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_EQ(outcome.findings[0].signature, "aligned_term:fraction_bits=24");
  const std::string path = outcome.findings[0].path;
  outcome = Run(options, open(true));
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_EQ(outcome.findings[0].signature, "aligned_term:fraction_bits=24 output_subnormals=flush");
  EXPECT_FALSE(ReadCase(path).ok());
}

// What nothing explains is one bucket, with a case for each way in which it differs.
TEST_F(CampaignTest, EveryWayInWhichAnUnexplainedDeviceDiffersIsFiled) {
  class TwoBugs : public Scripted {
   public:
    TwoBugs() : Scripted([](int64_t) { return absl::OkStatus(); }) {}
    absl::Status Execute(const Row& row, const Batch& batch, std::vector<uint64_t>& d) override {
      const absl::Status s = Scripted::Execute(row, batch, d);
      for (uint64_t& word : d)
        word = word % 331 == 5 ? 0x7f800000 : word % 3 == 0 ? word ^ 4 : word;
      return s;
    }
  };
  CampaignOptions options = Options("w");
  options.errors = 0;
  options.cases = 300;
  const CampaignOutcome outcome =
      Run(options, []() -> DeviceOr { return std::make_unique<TwoBugs>(); });
  ASSERT_THAT(outcome.findings, SizeIs(1));
  EXPECT_EQ(outcome.findings[0].signature, "unexplained");
  int infinities = 0;
  for (const std::string& path : Files(options.workdir, ".txtpb")) {
    const auto c = ReadCase(path);
    if (!c.ok()) continue;  // the manifest
    const std::vector<uint64_t>& d = c->answers[0].d;
    infinities += std::count(d.begin(), d.end(), 0x7f800000) > 0 &&
                  std::count(c->answers[1].d.begin(), c->answers[1].d.end(), 0x7f800000) == 0;
  }
  EXPECT_GT(infinities, 0);
}

TEST_F(CampaignTest, EveryMismatchingCaseIsInABucket) {
  CampaignOptions options = Options("w");
  options.errors = 0;
  options.cases = 4000;
  const CampaignOutcome outcome = Run(options, "faulty:fraction_bits=23");
  uint64_t cases = 0, differing = 0;
  for (const Finding& f : outcome.findings) cases += f.cases;
  const CaseStream stream = {options.rows[0], options.strategy, options.seed};
  const DeviceOr device = OpenDevice("faulty:fraction_bits=23");
  UnitResult all;
  const auto count = [&differing](const MismatchingCase&) { return ++differing, absl::OkStatus(); };
  ASSERT_TRUE(UnitRunner(**device, stream).Run(0, options.cases, all, count).ok());
  EXPECT_GT(differing, 1000u);
  EXPECT_EQ(cases, differing);
}

// ---- The run tests itself

void FillWithZeros(const Tile& t, Random&) {
  std::fill_n(t.a, t.rows() * t.k(), 0);
  std::fill_n(t.b, t.columns() * t.k(), 0);
  std::fill_n(t.c, t.results(), 0);
}
constexpr InputClass kZeros = {"zeros", "nothing but zeros", FillWithZeros};
constexpr Strategy kBlind = {
    "blind", "cannot find anything",
    [](const Instruction&, int, uint64_t) -> const InputClass& { return kZeros; }};

TEST_F(CampaignTest, AGeneratorThatCannotFindThePlantedFaultFails) {
  CampaignOptions options = Options("w");
  options.strategy = &kBlind;
  const CampaignOutcome outcome = Run(options);
  const absl::Status& status = outcome.rows[0].dropped;
  EXPECT_EQ(outcome.attempt_dot_products, 0u);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("was not found in 4096 cases"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(Neighbours(options.rows[0]->model)[0].name));
}

TEST_F(CampaignTest, ClassesWithoutACaseAreReported) {
  CampaignOptions options = Options("w");
  options.cases = 3;  // bits, band, cancel
  const CampaignOutcome outcome = Run(options);
  const std::vector<std::string> empty = EmptyClasses(options, outcome.rows[0]);
  EXPECT_EQ(empty.size(), BoundaryClasses(*options.rows[0]->instruction).size() - 2);
  EXPECT_EQ(empty.front(), "tie");
  EXPECT_THAT(FormatReport(options, outcome),
              HasSubstr("incomplete: " + std::string(kMma) + " has no case of class tie, "));
}

TEST_F(CampaignTest, EveryCaseHasAClassAndOneInThirteenIsTraced) {
  const CampaignOutcome outcome = Run(Options("w"));
  uint64_t classes = 0;
  for (const auto& [name, count] : outcome.rows[0].total.counts) {
    if (absl::StartsWith(name, "class.")) classes += count;
  }
  EXPECT_EQ(classes, 9000u);
  EXPECT_EQ(outcome.rows[0].total.counts.at("event.sampled"), 693u);  // ceil(9000 / 13)
  EXPECT_GT(outcome.rows[0].total.counts.at("event.tie"), 10u);
}

// ---- Reports

TEST_F(CampaignTest, ReportsOfACleanRun) {
  CampaignOptions options = Options("w", {kMma, kInteger});
  options.cases = 1000;
  const CampaignOutcome outcome = Run(options);
  const std::string text = FormatReport(options, outcome);
  for (const char* line :
       {"stat::cases: 2000\n", "stat::dot_products: 144000\n", "stat::mismatches: 0\n",
        "stat::flaky: 0\n", "stat::buckets: 0\n", "stat::resumed_units: 0\n",
        "stat::class.bits: 500\n", "rate < 2.3e-05, model published"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, HasSubstr("stat::digest: " + RunDigest(outcome) + "\n"));
  const auto json = nlohmann::json::parse(FormatJsonReport(options, outcome));
  EXPECT_EQ(json["cases"], 2000);
  EXPECT_EQ(json["digest"], RunDigest(outcome));
  EXPECT_EQ(json["instructions"].size(), 2u);
  EXPECT_EQ(json["instructions"][1]["name"], kInteger);
  EXPECT_EQ(json["instructions"][1]["counts"]["class.bits"], 250);
  EXPECT_TRUE(json["findings"].empty());
}

TEST_F(CampaignTest, EmulatedInstructionsAreNoted) {
  CampaignOptions options = Options("w", {kHopper, "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32"});
  options.cases = 100;
  const CampaignOutcome outcome = Run(options, Opener([](int64_t) { return absl::OkStatus(); }));
  EXPECT_THAT(FormatReport(options, outcome), HasSubstr("note: 1 of 2 instructions are emulated"));
  const auto json = nlohmann::json::parse(FormatJsonReport(options, outcome));
  EXPECT_EQ(json["instructions"][0]["emulated"], false);
  EXPECT_EQ(json["instructions"][1]["emulated"], true);
  const CampaignOptions native = Options("native", {kHopper});
  EXPECT_THAT(FormatReport(native, Run(native)), testing::Not(HasSubstr("emulated")));
}

TEST_F(CampaignTest, ReportsOfMismatches) {
  CampaignOptions options = Options("w", {kHopper});
  const CampaignOutcome outcome = Run(options, "faulty:fraction_bits=24");
  EXPECT_THAT(FormatReport(options, outcome), HasSubstr("differs from the device"));
  const auto json = nlohmann::json::parse(FormatJsonReport(options, outcome));
  ASSERT_EQ(json["findings"].size(), 1u);
  EXPECT_EQ(json["findings"][0]["path"], outcome.findings[0].path);
  EXPECT_EQ(json["findings"][0]["flaky"], false);
  EXPECT_EQ(json["digest"], "");
}

// ---- This CPU

TEST_F(CampaignTest, ThisCpuAgreesWithTheModel) {
  const DeviceOr host = OpenDevice("host");
  ASSERT_TRUE(host.ok());
  CampaignOptions options = Options("w");
  options.rows.clear();
  for (const Row& row : Rows()) {
    if ((*host)->Supports(row).ok()) options.rows.push_back(&row);
  }
  if (options.rows.empty()) GTEST_SKIP() << "this CPU has none of the instructions";
  options.threads = 2;
  const CampaignOutcome outcome = Run(options, "host");
  for (const RowOutcome& row : outcome.rows) {
    EXPECT_EQ(row.total.mismatches, 0u) << row.row->name;
    EXPECT_TRUE(row.finished) << row.row->name;
  }
}

TEST(PlannedCases, StopAtTheDotProducts) {
  const Row& row = *FindRow("sm_90/mma.m16n8k16.f32.f16.f16.f32");  // 128 an execution
  CampaignOptions options;
  options.cases = 1000;
  EXPECT_EQ(PlannedCases(options, row), 1000u);
  options.dot_products = 1280;
  EXPECT_EQ(PlannedCases(options, row), 10u);
  options.dot_products = 1281;
  EXPECT_EQ(PlannedCases(options, row), 11u);
  options.cases = 3;
  EXPECT_EQ(PlannedCases(options, row), 3u);
}

}  // namespace
}  // namespace mmadiff
