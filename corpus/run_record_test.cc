#include "corpus/run_record.h"

#include <gmock/gmock.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "corpus/text_proto.h"

namespace mmadiff {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

RunManifest SomeManifest() {
  return {.tool_version = "0.1.0",
          .model_version = "3",
          .generator_version = 2,
          .seed = 0xfedcba9876543210,
          .strategy = "mixed",
          .device = "cuda:0",
          .device_identity = Identity().Add("hardware", "NVIDIA A100").Add("driver", "\"580\""),
          .instructions = {{"sm_80/x", 1000000000000, 65536}, {"sm_80/y", 5, 1, true}},
          .shard = 2,
          .shards = 5};
}

UnitResult SomeUnit() {
  return {.instruction = 1,
          .unit = 7,
          .first_case = 1ull << 63,
          .cases = 4096,
          .dot_products = 524288,
          .mismatches = 2,
          .mismatching_cases = {(1ull << 63) + 1, (1ull << 63) + 4095},
          .device_digest = Digest{0xfeedfeedfeedfeed} << 64 | 0x0123456789abcdef,
          .model_digest = ~Digest{0},
          .counts = {{"operand/subnormal", 12}, {"event/carry_out", 1ull << 40}},
          .seconds = 0.125,
          .coverage = {3, 0, uint64_t{1} << 40},
          .ended = 1795000000,
          .machine = {"node7", {"GPU-0", "0000:17:00.0", Hardware::kComputeUnits, 3, 14}},
          .canary = {1ull << 63, {7, ~uint64_t{0}}}};
}

TEST(Manifest, RoundTripsAsText) {
  const std::string text = FormatManifest(SomeManifest());
  EXPECT_THAT(text, HasSubstr("# proto-message: mmadiff.proto.Manifest\n"));
  const auto parsed = ParseManifest(text, "manifest.txtpb");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, SomeManifest());
  EXPECT_EQ(FormatManifest(*parsed), text);
}

TEST(Manifest, MalformedTextIsRefusedWithItsPlace) {
  const std::string good = FormatManifest(SomeManifest());
  const auto error = [](const std::string& text) {
    const auto parsed = ParseManifest(Seal(text), "m.txtpb");
    EXPECT_EQ(parsed.status().code(), absl::StatusCode::kDataLoss) << text;
    return std::string(parsed.status().message());
  };
  EXPECT_THAT(error("seed: 1\nseed: 2\n"), HasSubstr("m.txtpb:2:"));
  EXPECT_THAT(error("seeds: 1\n"), AllOf(HasSubstr("m.txtpb:1:"), HasSubstr("seeds")));
  EXPECT_THAT(error("seed: 18446744073709551616\n"), HasSubstr("out of range"));
  EXPECT_THAT(error(""), HasSubstr("no instruction"));
  EXPECT_THAT(error(absl::StrReplaceAll(good, {{"unit_cases: 1\n", ""}})),
              HasSubstr("instruction[1]"));
  EXPECT_THAT(error(absl::StrReplaceAll(good, {{"shard: 2", "shard: 5"}})),
              HasSubstr("shard 5 of 5"));
  EXPECT_THAT(error(std::string(5 << 20, '#')), HasSubstr("bytes"));
}

TEST(Manifest, EveryChangedByteShows) {
  const std::string good = FormatManifest(SomeManifest());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    const absl::Status s = ParseManifest(bad, "m.txtpb").status();
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss) << i;
    EXPECT_THAT(s.message(), HasSubstr("m.txtpb: its last line does not match the checksum")) << i;
    EXPECT_FALSE(ParseManifest(good.substr(0, i), "m.txtpb").ok()) << i;
  }
}

TEST(Manifest, HugeNumbersOfCasesHaveUnits) {
  RunManifest::Instruction i = {"x", UINT64_MAX, 2};
  EXPECT_EQ(i.Units(), uint64_t{1} << 63);
  EXPECT_EQ(i.CasesOf(i.Units() - 1), 1u);
  i = {"x", 10, UINT64_MAX};
  EXPECT_EQ(i.Units(), 1u);
  EXPECT_EQ(i.CasesOf(0), 10u);
}

TEST(Manifest, RaisedCasesLeaveTheRunIdAsItWas) {
  RunManifest raised = SomeManifest();
  raised.instructions[1].cases = 9;
  EXPECT_FALSE(RunIdOf(raised) == RunIdOf(SomeManifest()));  // another run
  raised.instructions[1].earlier_cases = {5, 7};
  EXPECT_TRUE(RunIdOf(raised) == RunIdOf(SomeManifest()));
  const std::string text = FormatManifest(raised);
  const auto parsed = ParseManifest(text, "m.txtpb");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(*parsed, raised);
  RunManifest other = raised;
  other.instructions[1].earlier_cases = {5};
  EXPECT_EQ(ManifestDifference(raised, other), "");
  other.instructions[1].earlier_cases = {6};
  EXPECT_THAT(
      ManifestDifference(raised, other),
      AllOf(HasSubstr("9 cases in units of 1, emulated, at first 5"), HasSubstr("first 6")));
  for (const std::vector<uint64_t>& wrong : {std::vector<uint64_t>{5, 9}, {5, 5}, {7, 5}}) {
    raised.instructions[1].earlier_cases = wrong;
    const absl::Status s = ParseManifest(FormatManifest(raised), "m.txtpb").status();
    EXPECT_EQ(s.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(s.message()),
                HasSubstr("instruction[1]: expected ascending earlier_cases"));
  }
}

TEST(Manifest, EveryFactIsInTheRunId) {
  RunManifest other = SomeManifest();
  EXPECT_TRUE(RunIdOf(other) == RunIdOf(SomeManifest()));
  other.shard = 1;
  EXPECT_FALSE(RunIdOf(other) == RunIdOf(SomeManifest()));
  other = SomeManifest();
  other.seed ^= 1;
  EXPECT_FALSE(RunIdOf(other) == RunIdOf(SomeManifest()));
}

TEST(Manifest, IdsAreOfFactsButThoseOfEarlierVersions) {
  RunManifest run = SomeManifest();
  const char* const name = "NVIDIA A100, driver";  // as Name() says it
  EXPECT_THAT(Name(run.device_identity), HasSubstr(name));
  EXPECT_THAT(CanonicalManifest(run), AllOf(Not(HasSubstr(name)), Not(HasSubstr("#"))));
  run.id_of_text = true;
  EXPECT_THAT(CanonicalManifest(run), HasSubstr(name));
  EXPECT_FALSE(RunIdOf(run) == RunIdOf(SomeManifest()));
  const std::string text = FormatManifest(run);
  EXPECT_EQ(*ParseManifest(text, "m.txtpb"), run);
  const std::string without =
      Seal(absl::StrReplaceAll(std::string(*Unseal(text, "m.txtpb")),
                               {{absl::StrCat("run: \"", FormatRunId(RunIdOf(run)), "\"\n"), ""}}));
  EXPECT_NE(text, without);
  EXPECT_EQ(*ParseManifest(without, "m.txtpb"), run);
}

TEST(Manifest, DifferenceIsEmptyForTheSameRun) {
  EXPECT_EQ(ManifestDifference(SomeManifest(), SomeManifest()), "");
}

TEST(Manifest, DifferenceNamesEveryField) {
  RunManifest other = SomeManifest();
  other.seed = 1;
  other.device_identity = Identity::Named("");
  EXPECT_EQ(ManifestDifference(other, SomeManifest()),
            "seed: stored 1, wanted 18364758544493064720; device_identity: stored (none), wanted "
            "NVIDIA A100, driver \"580\"");
  other = SomeManifest();
  other.instructions.pop_back();
  other.instructions[0].unit_cases = 3;
  EXPECT_EQ(
      ManifestDifference(SomeManifest(), other),
      "instruction[0]: stored sm_80/x (1000000000000 cases in units of 65536), wanted sm_80/x "
      "(1000000000000 cases in units of 3); instruction[1]: stored sm_80/y (5 cases in units "
      "of 1, emulated), wanted (none)");
}

TEST(Manifest, DifferenceSeesEachField) {
  const auto changed = [](auto change) {
    RunManifest m = SomeManifest();
    change(m);
    return ManifestDifference(SomeManifest(), m);
  };
  EXPECT_THAT(changed([](auto& m) { m.tool_version = "x"; }), HasSubstr("tool_version: "));
  EXPECT_THAT(changed([](auto& m) { m.model_version = "x"; }), HasSubstr("model_version: "));
  EXPECT_THAT(changed([](auto& m) { m.generator_version = 9; }), HasSubstr("generator_version: "));
  EXPECT_THAT(changed([](auto& m) { m.seed = 9; }), HasSubstr("seed: "));
  EXPECT_THAT(changed([](auto& m) { m.strategy = "x"; }), HasSubstr("strategy: "));
  EXPECT_THAT(changed([](auto& m) { m.shard = 1; }), HasSubstr("shard: stored 2, wanted 1"));
  EXPECT_THAT(changed([](auto& m) { m.shards = 6; }), HasSubstr("shards: stored 5, wanted 6"));
  EXPECT_THAT(changed([](auto& m) { m.device = "x"; }), HasSubstr("device: "));
  EXPECT_THAT(changed([](auto& m) { m.device_identity = Identity::Named("x"); }),
              HasSubstr("device_identity: "));
  EXPECT_THAT(changed([](auto& m) { m.instructions[1].cases = 6; }), HasSubstr("instruction[1]: "));
}

TEST(Unit, RoundTripsAsBytes) {
  const auto parsed = ParseUnit(SerializeUnit(SomeUnit()));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(*parsed == SomeUnit());
  EXPECT_EQ(SerializeUnit(*parsed), SerializeUnit(SomeUnit()));
}

TEST(Unit, ADropHasNoResults) {
  UnitResult drop;
  drop.part = true;
  drop.drop = absl::AbortedError("it has changed");
  const auto parsed = ParseUnit(SerializeUnit(drop));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(*parsed == drop);
  EXPECT_EQ(BlockVersionOf(drop), kBlocksWithDrops);
  drop.drop = absl::OkStatus();
  EXPECT_TRUE(*ParseUnit(SerializeUnit(drop)) == drop);
  for (uint64_t UnitResult::*count :
       {&UnitResult::cases, &UnitResult::dot_products, &UnitResult::mismatches}) {
    UnitResult with = drop;
    with.*count = 1;
    EXPECT_TRUE(absl::IsDataLoss(ParseUnit(SerializeUnit(with)).status()));
  }
  drop.part = false;
  EXPECT_TRUE(absl::IsDataLoss(ParseUnit(SerializeUnit(drop)).status()));
  drop.part = true;
  drop.drop = absl::InternalError(std::string(1 << 20, '\n'));
  EXPECT_LE(SerializeUnit(drop).size(), size_t{63 << 10});
}

TEST(Unit, AStopHasNoResults) {
  UnitResult stop;
  stop.part = true;
  stop.mismatch_limit = 20;
  const auto parsed = ParseUnit(SerializeUnit(stop));
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_TRUE(*parsed == stop);
  EXPECT_EQ(BlockVersionOf(stop), kBlocksWithStops);
  stop.mismatches = 1;
  EXPECT_TRUE(absl::IsDataLoss(ParseUnit(SerializeUnit(stop)).status()));
}

TEST(Unit, APartMayHaveDigestsAndFailures) {
  UnitResult part = SomeUnit();
  part.part = true;
  for (const uint64_t failures : {0, 2}) {
    part.failures = failures;
    const auto parsed = ParseUnit(SerializeUnit(part));
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_TRUE(*parsed == part);
    EXPECT_TRUE(parsed->IsBegun());
    EXPECT_EQ(BlockVersionOf(part), kBlocksWithBegun);
  }
  part.part = false;  // a unit that is done has no failures
  EXPECT_TRUE(absl::IsDataLoss(ParseUnit(SerializeUnit(part)).status()));
  UnitResult empty;
  empty.part = true;
  EXPECT_TRUE(absl::IsDataLoss(ParseUnit(SerializeUnit(empty)).status()));
  empty.failures = 1;
  EXPECT_TRUE(*ParseUnit(SerializeUnit(empty)) == empty);
  EXPECT_EQ(BlockVersionOf(empty), kBlocksWithBegun);
  EXPECT_FALSE(empty.IsBegun());
}

TEST(Unit, LargestFitsARecord) {
  UnitResult unit = SomeUnit();
  unit.mismatching_cases.assign(kMaxListedCases, ~0ull);
  for (int i = 0; i < 500; ++i) unit.counts[absl::StrCat(std::string(77, 'x'), 100 + i)] = ~0ull;
  EXPECT_LE(SerializeUnit(unit).size(), size_t{63 << 10});
}

TEST(Unit, OtherBytesAreDataLoss) {
  const auto code = [](const UnitResult& unit) {
    return ParseUnit(SerializeUnit(unit)).status().code();
  };
  EXPECT_EQ(ParseUnit("").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseUnit("garbage").status().code(), absl::StatusCode::kDataLoss);
  const std::string bytes = SerializeUnit(SomeUnit());
  EXPECT_EQ(ParseUnit(bytes.substr(0, bytes.size() - 1)).status().code(),
            absl::StatusCode::kDataLoss);
  UnitResult unit = SomeUnit();
  unit.mismatches = unit.dot_products + 1;
  EXPECT_EQ(code(unit), absl::StatusCode::kDataLoss);
  unit = SomeUnit();
  unit.mismatches = 0;  // but the digests differ
  EXPECT_EQ(code(unit), absl::StatusCode::kDataLoss);
  unit = SomeUnit();
  unit.model_digest = unit.device_digest;
  EXPECT_EQ(code(unit), absl::StatusCode::kDataLoss);
  unit = SomeUnit();
  unit.seconds = -1;
  EXPECT_EQ(code(unit), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace mmadiff
