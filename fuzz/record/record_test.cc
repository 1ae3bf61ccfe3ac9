// Folders of recordings: what is in them, that everything is verified again, and every kind of
// damage.
#include "fuzz/record/record.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/recordings/recording_folder.h"
#include "corpus/testing/folder.h"
#include "device/faulty.h"
#include "device/status_macros.h"
#include "device/testing/flipping.h"
#include "fuzz/engine/recompute.h"
#include "fuzz/record/raw_cases.h"
#include "sim/simulate.h"
#include "triage/testing/device.h"
#include "triage/verdict.h"

namespace mmadiff {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

constexpr char kMma[] = "sm_90/mma.m16n8k16.f32.f16.f16.f32";
constexpr char kBigTile[] = "sm_90/wgmma.m64n256k16.f32.f16.f16";  // 64 KB of answers
constexpr char kSmallMma[] = "sm_90/mma.m16n8k8.f32.f16.f16.f32";
constexpr char kFma[] = "x86/vfmadd231ss", kDpbusd[] = "x86/vpdpbusd";
constexpr char kAnyNan[] = "sm_90/mma.m8n8k4.f64.f64.f64.f64";

// Answers as the model, but with other NaN payloads where the operation says that they are not
// known.
class OtherNans : public Device {
 public:
  std::string name() const override { return "nans"; }
  Identity identity() const override { return Identity::Named("other NaNs"); }
  bool Emulates(const Operation& op) const override { return !IsNative(op); }
  absl::Status Supports(const Operation&) const override { return absl::OkStatus(); }
  absl::Status Execute(const Operation& op, const Batch& batch, std::vector<uint64_t>& d) override {
    d.resize(batch.dot_products());
    Simulate(op.model, batch, d);
    for (uint64_t& word : d) {
      if (op.numerics->nan_verdict == NanVerdict::kAnyNan && IsNan(op.model.d, word)) word ^= 1;
    }
    return absl::OkStatus();
  }
};

struct Verified {
  uint64_t dot_products = 0, differing = 0, units = 0, differing_units = 0;
  std::vector<std::string> damage;
  std::map<std::string, uint64_t> by_op;
};

Verified Verify(const std::string& folder) {
  Verified v;
  RecordingStats stats;
  const absl::Status read = ReadRecordingFolder(
      folder,
      [&v](const Recording& r) -> absl::Status {
        ASSIGN_OR_RETURN(const auto inputs, InputsOf(r));
        std::vector<uint64_t> model(inputs.dot_products());
        Simulate(r.op->model, inputs, model);
        v.dot_products += model.size();
        v.by_op[r.op->name] += model.size();
        v.differing += Differences(*r.op, model, r.d).size();
        return absl::OkStatus();
      },
      stats);
  EXPECT_TRUE(read.ok()) << read;
  const auto damage = VerifyDigests(folder, {}, [&v](const RecomputedUnit& unit) {
    ++v.units;
    v.differing_units += unit.recorded != unit.model;
    return absl::OkStatus();
  });
  EXPECT_TRUE(damage.ok()) << damage.status();
  for (const Damage& d : stats.damage) v.damage.push_back(Text(d));
  for (const Damage& d : *damage) v.damage.push_back(Text(d));
  return v;
}

class RecordTest : public TestFolder {
 protected:
  static RecordOptions Options(const std::vector<const char*>& names) {
    RecordOptions options;
    for (const char* name : names) options.ops.push_back(FindOperation(name));
    options.strategy = &Strategies().front();
    options.cases = 50;
    options.max_bytes = 4'000'000;
    options.limit = TimeLimit::After(absl::Seconds(0.2));
    options.regressions = "corpus/regressions";
    return options;
  }

  absl::StatusOr<RecordOutcome> Record(const RecordOptions& options, const char* fault) {
    const DeviceOr device = OpenFaulty(fault);
    EXPECT_TRUE(device.ok()) << device.status();
    return Record(options, **device);
  }

  absl::StatusOr<RecordOutcome> Record(const RecordOptions& options, Device& device) {
    HostEngine engine(device);
    return RecordFolder(options, engine, Path("out"), console_);
  }

  // Changes one file of the recording.
  void Damage(const std::string& name, const std::function<void(std::string&)>& change) {
    std::string bytes = Get(Path("out/" + name));
    change(bytes);
    Put("out/" + name, bytes);
  }

  Console console_{Color::kNever, true};
};

// One bit in one answer of 300: at most one of a hundred devices is recorded.
TEST_F(RecordTest, WhatDoesNotRepeatIsNotRecorded) {
  RecordOptions options = Options({kFma, kSmallMma});
  options.cases = 1000;
  options.regressions = "";
  int refused = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    FlippingDevice device(seed, 300);
    HostEngine engine(device);
    const bool recorded = RecordFolder(options, engine, Path(absl::StrCat(seed)), console_).ok();
    refused += !recorded;
    EXPECT_EQ(std::filesystem::exists(Path(absl::StrCat(seed))), recorded);
  }
  EXPECT_GE(refused, 99);
}

TEST_F(RecordTest, SaysHowManyAnswersRepeated) {
  RecordOptions options = Options({kFma, kSmallMma});
  const auto outcome = Record(options, "none=0");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const auto manifest = ReadRecordingManifest(Path("out"));
  ASSERT_TRUE(manifest.ok());
  const uint64_t strategies = Strategies().size();
  EXPECT_EQ(manifest->instructions[0].repeated, strategies * 50);
  EXPECT_EQ(manifest->instructions[1].repeated, strategies * 16 * 128);
  EXPECT_EQ(outcome->repeated, strategies * (50 + 16 * 128));
}

// One operation fails from its first answer on, one later; the third goes on.
TEST_F(RecordTest, OperationsThatFailAloneAreDropped) {
  class TwoBadOperations : public OtherNans {
   public:
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      if (op.name == kBigTile) return absl::NotFoundError("no layout");
      if (op.name == kMma && !batch.stream.empty() && ++runs_ > 4)
        return absl::NotFoundError("no such case");
      return OtherNans::Execute(op, batch, d);
    }
    int runs_ = 0;
  } device;
  RecordOptions options = Options({kMma, kBigTile, kAnyNan});
  options.regressions = "";
  const auto outcome = Record(options, device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_EQ(outcome->dropped.size(), 2u);
  EXPECT_EQ(outcome->dropped.front().status.message(), "no layout");
  const auto manifest = ReadRecordingManifest(Path("out"));
  // What the other had answered before is in the log, and no evidence.
  ASSERT_EQ(manifest->instructions.size(), 1u);
  EXPECT_EQ(manifest->instructions[0].name, kAnyNan);
  EXPECT_EQ(manifest->instructions[0].raw_cases, 50u);
  EXPECT_GT(manifest->instructions[0].digest_units, 0u);
  const Verified v = Verify(Path("out"));
  EXPECT_EQ(v.differing, 0u);
  EXPECT_EQ(v.dot_products, outcome->raw_dot_products + outcome->regressions);
  EXPECT_FALSE(v.by_op.contains(kBigTile));
  RecordingStats stats;
  const auto none = [](const Recording&) { return absl::OkStatus(); };
  ASSERT_TRUE(ReadRecordingFolder(Path("out"), none, stats).ok());
  EXPECT_EQ(stats.dropped, std::set<std::string>({kMma}));
}

// What cannot be trusted is not kept beside what looks alike.
TEST_F(RecordTest, AnswersThatAreLostLeaveNoRecording) {
  class Losing : public OtherNans {
   public:
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      if (++runs_ > 4) return absl::DataLossError("not confirmed");
      return OtherNans::Execute(op, batch, d);
    }
    int runs_ = 0;
  } device;
  RecordOptions options = Options({kMma});
  options.regressions = "";
  EXPECT_FALSE(Record(options, device).ok());
  EXPECT_FALSE(fs::exists(Path("out")));
}

TEST_F(RecordTest, EverythingIsVerifiedAgain) {
  const RecordOptions options = Options({kMma, kBigTile, kAnyNan});
  OtherNans device;
  const auto outcome = Record(options, device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  const Verified v = Verify(Path("out"));
  EXPECT_EQ(v.differing, 0);
  EXPECT_EQ(v.differing_units, 0);
  EXPECT_THAT(v.damage, testing::IsEmpty());
  EXPECT_EQ(v.units, outcome->digest_units);
  EXPECT_GE(v.units, 1);
  EXPECT_GE(outcome->regressions, 50);
  EXPECT_EQ(v.dot_products, outcome->raw_dot_products + outcome->regressions);
  EXPECT_GE(v.by_op.at(kBigTile), 3 * kFewCases * 64 * 256);
  EXPECT_GE(v.by_op.at(kMma), 3 * 50 * 128 + 50);
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(Path("out"))) bytes += entry.file_size();
  EXPECT_LE(bytes, options.max_bytes);

  const auto manifest = ReadRecordingManifest(Path("out"));
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(Name(manifest->device_identity), "other NaNs");
  EXPECT_EQ(manifest->files.size(), 3);
  EXPECT_EQ(Record(options, device).status().code(), absl::StatusCode::kAlreadyExists);
}

// The same folder is a device, and an operation that several instructions make says so.
TEST_F(RecordTest, IsADeviceAndNamesEmulation) {
  const char* name = "sm_90/mma.m16n8k32.f32.e4m3.e4m3.f32";
  OtherNans device;
  ASSERT_TRUE(Record(Options({name}), device).ok());
  const DeviceOr recorded = OpenRecorded(Path("out"));
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_EQ(Name((*recorded)->identity()), "other NaNs, instruction emulated by ptxas");
  Batch batch;
  Generate({FindOperation(name), FindStrategy("bits"), 1}, 7, 40, batch);
  const auto d = (*recorded)->Run(*FindOperation(name), batch);
  ASSERT_TRUE(d.ok()) << d.status();
  EXPECT_EQ(*d, *device.Run(*FindOperation(name), batch));
  EXPECT_TRUE(ReadRecordingManifest(Path("out"))->instructions[0].emulated);
}

TEST_F(RecordTest, AnotherMachineIsFound) {
  ASSERT_TRUE(Record(Options({kMma}), "fraction_bits=24").ok());
  const Verified v = Verify(Path("out"));
  EXPECT_GT(v.differing, 100);
  EXPECT_EQ(v.differing_units, v.units);
  EXPECT_GE(v.units, 1);
}

TEST_F(RecordTest, DamageIsReportedAndTheRestIsUsed) {
  ASSERT_TRUE(Record(Options({kMma}), "none=0").ok());
  const Verified whole = Verify(Path("out"));
  const std::string raw = Get(Path("out/raw-1.log")), digests = Get(Path("out/digests.log")),
                    lines = Get(Path("out/regressions.txt")),
                    manifest = Get(Path("out/recording.txtpb"));
  const auto expect = [&](const char* text, bool fewer, bool fewer_units) {
    const Verified v = Verify(Path("out"));
    EXPECT_THAT(v.damage, testing::Contains(HasSubstr(text)));
    EXPECT_EQ(v.differing + v.differing_units, 0) << text;
    EXPECT_EQ(v.dot_products < whole.dot_products, fewer) << text;
    EXPECT_EQ(v.units < whole.units, fewer_units) << text;
    EXPECT_GT(v.dot_products, 0);
    Put("out/raw-1.log", raw);
    Put("out/digests.log", digests);
    Put("out/regressions.txt", lines);
    Put("out/recording.txtpb", manifest);
  };
  Damage("raw-1.log", [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; });
  expect("raw-1.log does not match its recorded checksum", true, false);
  Damage("raw-1.log", [](std::string& bytes) { bytes.resize(bytes.size() - 7); });
  expect("raw-1.log: truncated block", false, false);  // it was the end mark
  Damage("raw-1.log", [](std::string& bytes) {         // the end mark and the block before it
    bytes.resize(bytes.rfind("\x93mmalog\n"));
    bytes.resize(bytes.rfind("\x93mmalog\n"));
  });
  expect("raw-1.log: has no end mark", true, false);
  fs::remove(Path("out/raw-1.log"));
  expect("raw-1.log is missing", true, false);
  Damage("regressions.txt", [](std::string& bytes) { bytes[bytes.size() - 2] ^= 1; });
  expect("none of it was used", true, false);
  fs::remove(Path("out/regressions.txt"));
  expect("regressions.txt is missing", true, false);
  Damage("digests.log", [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; });
  expect("digests.log: payload checksum", false, true);
  fs::remove(Path("out/digests.log"));
  expect("digests.log is missing", false, true);
  Put("out/recording.txtpb", "nonsense");
  expect("recording.txtpb", true, false);  // nothing vouches for the answers in text
  Damage("recording.txtpb", [](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; });
  expect("recording.txtpb: its last line does not match the checksum", true, false);
  fs::remove(Path("out/recording.txtpb"));
  expect("recording.txtpb", true, false);
  EXPECT_THAT(Verify(Path("out")).damage, testing::IsEmpty());
}

// Another recording of the same cases by another machine, file by file.
TEST_F(RecordTest, FilesOfAnotherRecordingAreDamage) {
  ASSERT_TRUE(Record(Options({kMma}), "fraction_bits=24").ok());
  fs::rename(Path("out"), Path("other"));
  ASSERT_TRUE(Record(Options({kMma}), "none=0").ok());
  for (const char* name : {"raw-1.log", "digests.log", "regressions.txt"}) {
    const std::string own = Get(Path(absl::StrCat("out/", name)));
    Put(absl::StrCat("out/", name), Get(Path(absl::StrCat("other/", name))));
    const Verified v = Verify(Path("out"));
    EXPECT_THAT(v.damage, testing::Contains(HasSubstr(name)));
    EXPECT_EQ(v.differing + v.differing_units, 0) << name;
    Put(absl::StrCat("out/", name), own);
  }
  // One more file than was recorded.
  Put("out/raw-2.log", Get(Path("other/raw-1.log")));
  const Verified v = Verify(Path("out"));
  EXPECT_THAT(v.damage, testing::Contains(HasSubstr("raw-2.log is not in recording.txtpb")));
  EXPECT_EQ(v.differing, 0);
}

TEST_F(RecordTest, DigestsThatNoRecorderWritesAreRefusedInNoTime) {
  const Operation& op = *FindOperation(kMma);
  const std::string stream = CaseStream{&op, FindStrategy("mixed"), 1}.name();
  const auto refused = [&](RecordedDigests d, absl::string_view why) {
    auto writer = RecordingFolderWriter::Create(Path("out"));
    ASSERT_TRUE(writer.ok() && (*writer)->WriteDigests({d}).ok());
    ASSERT_TRUE((*writer)->Commit({}).ok());
    const auto ignore = [](const RecomputedUnit&) { return absl::OkStatus(); };
    const absl::Status s = VerifyDigests(Path("out"), {}, ignore).status();
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss) << s;
    EXPECT_THAT(std::string(s.message()), HasSubstr(why));
    fs::remove_all(Path("out"));
  };
  refused({&op, stream, 0, uint64_t{1} << 60, {1}, "x"}, "units with 1152921504606846976 cases");
  refused({&op, stream, UINT64_MAX - 3, 2, {1, 2}, "x"}, "2 units of 2 cases");
  refused({&op, "nothing", 0, 2, {1}, "x"}, "nothing");
  refused({FindOperation(kBigTile), stream, 0, 2, {1}, "x"}, "answers to cases of");
}

TEST_F(RecordTest, RecordingsOfOtherCasesAreRefused) {
  Recording r;
  r.op = FindOperation(kMma);
  r.inputs.shape = r.op->shape();
  r.inputs.count = 1;
  r.inputs.stream = CaseStream{r.op, FindStrategy("mixed"), 1}.name();
  EXPECT_TRUE(InputsOf(r).ok());
  Recording other = r;
  other.op = FindOperation(kBigTile);
  EXPECT_EQ(InputsOf(other).status().code(), absl::StatusCode::kDataLoss);
  other = r;
  other.inputs.shape = DotProductShape(r.op->shape());
  EXPECT_EQ(InputsOf(other).status().code(), absl::StatusCode::kDataLoss);
  other = r;
  other.inputs.stream = "x";
  EXPECT_EQ(InputsOf(other).status().code(), absl::StatusCode::kDataLoss);
}

// The first unit is asked again in small batches, which a device may answer otherwise.
TEST_F(RecordTest, DigestsThatDependOnTheBatchAreNotKept) {
  class WrongInLongBatches : public UnevenDevice {
   public:
    WrongInLongBatches() : UnevenDevice("") {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      const absl::Status s = UnevenDevice::Execute(op, batch, d);
      if (batch.dot_products() > 4096) d.back() ^= 1;
      return s;
    }
  } device;
  RecordOptions options = Options({kFma});
  options.regressions = "";
  EXPECT_EQ(Record(options, device).status().code(), absl::StatusCode::kAborted);
  EXPECT_FALSE(fs::exists(Path("out")));
}

// Also of an operation that fails alone in its third unit: what came before it stays.
TEST_F(RecordTest, DigestsAreTheSameWhateverTheThreads) {
  class FailsLater : public UnevenDevice {
   public:
    FailsLater() : UnevenDevice("") {}
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      if (op.name == kFma && batch.first >= 2 << 18) return absl::InternalError("third unit");
      return UnevenDevice::Execute(op, batch, d);
    }
  };
  // Room for some units of the first operation after the second ended.
  RecordOptions options = Options({kDpbusd, kFma});
  options.regressions = "";
  options.cases = 3;
  options.max_bytes = 10'500;
  options.limit = TimeLimit();
  options.open = [] { return std::make_unique<HostEngine>(std::make_unique<FailsLater>()); };
  const auto digests = [&](int threads) {
    options.threads = threads;
    FailsLater device;
    const auto outcome = Record(options, device);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->dropped.size(), 1u);
    std::vector<std::pair<std::string, std::vector<Digest>>> all;
    const auto damage = ReadDigests(Path("out"), [&](const RecordedDigests& d) {
      all.emplace_back(absl::StrCat(d.op->name, " ", d.stream, ":", d.first, " ", d.unit_cases),
                       d.digests);
      return absl::OkStatus();
    });
    EXPECT_TRUE(damage.ok()) << damage.status();
    const Verified v = Verify(Path("out"));
    EXPECT_EQ(v.units, outcome->digest_units);
    EXPECT_EQ(v.differing_units, 0u);
    fs::remove_all(Path("out"));
    return all;
  };
  const auto one = digests(1);
  ASSERT_EQ(one.size(), 2u);
  EXPECT_GT(one[0].second.size(), 8u) << one[0].second.size();
  EXPECT_EQ(one[1].second.size(), 2u);
  for (const int threads : {2, 3}) EXPECT_EQ(digests(threads), one) << threads;
}

TEST_F(RecordTest, ALostDeviceEndsAllThreads) {
  RecordOptions options = Options({kMma, kAnyNan});
  options.limit = TimeLimit();
  options.threads = 3;
  options.open = [] { return std::make_unique<HostEngine>(*OpenFaulty("dead=9")); };
  const absl::Status s = Record(options, "none=0").status();
  EXPECT_EQ(s.code(), absl::StatusCode::kUnavailable) << s;
  EXPECT_FALSE(fs::exists(Path("out")));
  // One that cannot be opened again answers alone.
  options.limit = TimeLimit::After(absl::ZeroDuration());
  options.open = [] { return absl::NotFoundError("there is one"); };
  const auto outcome = Record(options, "none=0");
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->digest_units, 2u);
}

TEST_F(RecordTest, NothingStaysAfterAFailure) {
  EXPECT_EQ(Record(Options({kMma}), "dead=2").status().code(), absl::StatusCode::kUnavailable);
  RecordOptions tight = Options({kMma, kBigTile});
  tight.max_bytes = 500'000;
  const absl::Status s = Record(tight, "none=0").status();
  EXPECT_EQ(s.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(s.message()), HasSubstr("raise --max_bytes"));
  EXPECT_TRUE(fs::is_empty(Path("")));
}

// One log of answers: whole, or not there.
class RecordLogTest : public TestFolder {
 protected:
  absl::StatusOr<RecordOutcome> Record(Device& device, uint64_t cases = 100) {
    HostEngine engine(device);
    return RecordLog({.ops = {FindOperation(kFma), FindOperation(kSmallMma)},
                      .cases = cases,
                      .strategy = &Strategies().front()},
                     engine, Path("x.log"), console_);
  }
  bool Exists() const { return std::filesystem::exists(Path("x.log")); }

  Console console_{Color::kNever, /*quiet=*/true};
};

TEST_F(RecordLogTest, HoldsTheAnswersToTheFirstCases) {
  ChangedDevice device("");
  const auto outcome = Record(device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->raw_dot_products, 100u * (1 + 128));
  EXPECT_THAT(outcome->dropped, SizeIs(0));
  uint64_t read = 0;
  const auto stats = ReadRecordings(Path("x.log"), "", [&](const Recording& r) {
    read += r.d.size();
    return absl::OkStatus();
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_THAT(stats->damage, SizeIs(0));
  EXPECT_EQ(read, outcome->raw_dot_products);
  EXPECT_TRUE(absl::IsAlreadyExists(Record(device).status()));
  EXPECT_TRUE(Exists());
}

TEST_F(RecordLogTest, AnOperationThatFailsAloneIsDropped) {
  ChangedDevice device("fraction_bits=24");  // the fused multiply-add has no such parameter
  const auto outcome = Record(device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->raw_dot_products, 100u * 128);
  EXPECT_THAT(outcome->dropped, SizeIs(1));
}

TEST_F(RecordLogTest, AnOperationWhoseAnswersCannotBeReadTakesNothingFromTheOthers) {
  class Garbling : public OtherNans {
   public:
    absl::Status Execute(const Operation& op, const Batch& batch,
                         std::vector<uint64_t>& d) override {
      if (op.name == kFma && ++runs_ > 2) return absl::DataLossError("x is no word");
      return OtherNans::Execute(op, batch, d);
    }
    int runs_ = 0;
  } device;
  const auto outcome = Record(device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->raw_dot_products, 100u * 128);
  EXPECT_THAT(outcome->dropped, SizeIs(1));
  EXPECT_TRUE(Exists());
}

TEST_F(RecordLogTest, NothingIsLeftWithoutAnswers) {
  DyingDevice dying("", 4);
  EXPECT_TRUE(absl::IsUnavailable(Record(dying).status()));
  EXPECT_FALSE(Exists());
  ChangedDevice none("no_such_parameter=1");
  const auto outcome = Record(none);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->raw_dot_products, 0u);
  EXPECT_THAT(outcome->dropped, SizeIs(2));
  EXPECT_FALSE(Exists());
}

TEST(PlanRawCases, OperationsShareWhatOthersLeave) {
  const std::vector<const Operation*> ops = {FindOperation(kMma), FindOperation(kBigTile)};
  const auto few = PlanRawCases(ops, "x", 4096, 700'000);
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_EQ((*few)[1], kFewCases);
  EXPECT_GT((*few)[0], 50);
  const auto many = PlanRawCases(ops, "x", 100, 10'000'000);
  ASSERT_TRUE(many.ok());
  EXPECT_EQ((*many)[0], 100);
  EXPECT_GT((*many)[1], 45);  // of 10 MB less 0.15 MB, 3 * 64 KB each
  EXPECT_LT((*many)[1], 52);
}

}  // namespace
}  // namespace mmadiff
