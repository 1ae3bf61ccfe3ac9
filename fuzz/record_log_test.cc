// One log of answers: whole, or not there.
#include "fuzz/record_log.h"

#include <gmock/gmock.h>

#include "corpus/recordings/recording.h"
#include "corpus/test_folder.h"
#include "triage/testing_device.h"

namespace mmadiff {
namespace {

using testing::SizeIs;

class RecordLogTest : public TestFolder {
 protected:
  absl::StatusOr<RecordLogOutcome> Record(Device& device, uint64_t cases = 100) {
    HostEngine engine(device);
    return RecordLog(
        {{FindOperation("x86/vfmadd231ss"), FindOperation("sm_90/mma.m16n8k8.f32.f16.f16.f32")},
         &Strategies().front(),
         1,
         cases},
        engine, Path("x.log"), console_);
  }
  bool Exists() const { return std::filesystem::exists(Path("x.log")); }

  Console console_{Color::kNever, /*quiet=*/true};
};

TEST_F(RecordLogTest, HoldsTheAnswersToTheFirstCases) {
  ChangedDevice device("");
  const auto outcome = Record(device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->dot_products, 100u * (1 + 128));
  EXPECT_THAT(outcome->dropped, SizeIs(0));
  uint64_t read = 0;
  const auto stats = ReadRecordings(Path("x.log"), "", [&](const Recording& r) {
    read += r.d.size();
    return absl::OkStatus();
  });
  ASSERT_TRUE(stats.ok()) << stats.status();
  EXPECT_THAT(stats->damage, SizeIs(0));
  EXPECT_EQ(read, outcome->dot_products);
  EXPECT_TRUE(absl::IsAlreadyExists(Record(device).status()));
  EXPECT_TRUE(Exists());
}

TEST_F(RecordLogTest, AnOperationThatFailsAloneIsDropped) {
  ChangedDevice device("fraction_bits=24");  // the fused multiply-add has no such parameter
  const auto outcome = Record(device);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->dot_products, 100u * 128);
  EXPECT_THAT(outcome->dropped, SizeIs(1));
}

TEST_F(RecordLogTest, NothingIsLeftWithoutAnswers) {
  DyingDevice dying("", 4);
  EXPECT_TRUE(absl::IsUnavailable(Record(dying).status()));
  EXPECT_FALSE(Exists());
  ChangedDevice none("no_such_parameter=1");
  const auto outcome = Record(none);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->dot_products, 0u);
  EXPECT_THAT(outcome->dropped, SizeIs(2));
  EXPECT_FALSE(Exists());
}

}  // namespace
}  // namespace mmadiff
