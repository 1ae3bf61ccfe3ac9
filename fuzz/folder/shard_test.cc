#include "fuzz/folder/shard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

using Variables = std::map<std::string, std::string>;

// "I/N", or the message.
std::string Parsed(absl::string_view text, const Variables& variables = {}) {
  const absl::StatusOr<Shard> shard = ParseShard(text, [&](const char* name) -> const char* {
    const auto it = variables.find(name);
    return it == variables.end() ? nullptr : it->second.c_str();
  });
  return shard.ok() ? absl::StrCat(shard->index, "/", shard->count)
                    : std::string(shard.status().message());
}

Variables Array(const char* id, const char* count, const char* min, const char* max) {
  return {{"SLURM_ARRAY_TASK_ID", id},
          {"SLURM_ARRAY_TASK_COUNT", count},
          {"SLURM_ARRAY_TASK_MIN", min},
          {"SLURM_ARRAY_TASK_MAX", max},
          {"SLURM_PROCID", "0"}};  // as a batch script has it
}

Variables Both(Variables a, const Variables& b) {
  for (const auto& [name, value] : b) a[name] = value;
  return a;
}

const Variables kRank = {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}};
const Variables kStep = {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "2"}};

TEST(ShardTest, AsWritten) {
  EXPECT_EQ(Parsed(""), "0/1");
  EXPECT_EQ(Parsed("3/16"), "3/16");
  for (const char* wrong : {"3/2", "2/2", "0/0", "-1/2", "1/-2", " 1/2", "1/2/3", "1", "a/b", "/",
                            "1/", "/2", "automatic", "auto/", "auto/0", "auto/x", "1.0/2"}) {
    EXPECT_THAT(Parsed(wrong), testing::HasSubstr("is not I/N")) << wrong;
  }
}

// The environment of every scheduler as it was seen: Slurm 22.05, Open MPI 4.1; MPICH and Kubernetes
// as documented.
TEST(ShardTest, SchedulersNumberProcesses) {
  EXPECT_EQ(Parsed("auto", Array("3", "16", "0", "15")), "3/16");
  EXPECT_EQ(Parsed("auto", Array("16", "16", "1", "16")), "15/16");
  EXPECT_EQ(Parsed("auto", kRank), "2/4");
  EXPECT_EQ(Parsed("auto", kStep), "1/2");
  EXPECT_EQ(Parsed("auto", {{"PMI_RANK", "5"}, {"PMI_SIZE", "6"}}), "5/6");
  EXPECT_EQ(Parsed("auto/8", {{"JOB_COMPLETION_INDEX", "7"}}), "7/8");
}

TEST(ShardTest, ProcessesInTasksAreNumberedThrough) {
  const Variables array = Array("3", "16", "0", "15");
  EXPECT_EQ(Parsed("auto", Both(array, kRank)), "14/64");
  EXPECT_EQ(Parsed("auto", Both(array, kStep)), "7/32");
  EXPECT_EQ(Parsed("auto", Both(kStep, kRank)), "2/4");  // mpirun starts its daemons by srun
  EXPECT_EQ(Parsed("auto/40", Both({{"JOB_COMPLETION_INDEX", "7"}}, kRank)), "30/40");
}

// The tasks that failed, submitted again: their numbers are those of the whole array.
TEST(ShardTest, SomeTasksAgain) {
  EXPECT_EQ(Parsed("auto/16", Array("7", "2", "3", "7")), "7/16");
  EXPECT_THAT(Parsed("auto", Array("7", "2", "3", "7")), testing::HasSubstr("auto/N"));
  EXPECT_THAT(Parsed("auto/16", Array("16", "16", "1", "16")), testing::HasSubstr("0 to 15"));
}

TEST(ShardTest, SaysWhatIsMissing) {
  EXPECT_THAT(Parsed("auto"), testing::HasSubstr("no scheduler"));
  EXPECT_THAT(Parsed("auto", {{"SLURM_PROCID", "0"}}), testing::HasSubstr("no scheduler"));
  EXPECT_THAT(Parsed("auto", {{"JOB_COMPLETION_INDEX", "7"}}), testing::HasSubstr("auto/N"));
  EXPECT_THAT(Parsed("auto", {{"SLURM_ARRAY_TASK_ID", "7"}}),
              testing::HasSubstr("SLURM_ARRAY_TASK_COUNT is not set"));
  EXPECT_THAT(Parsed("auto/9", {{"JOB_COMPLETION_INDEX", "7x"}}),
              testing::HasSubstr("JOB_COMPLETION_INDEX is not a number"));
  EXPECT_THAT(Parsed("auto", {{"PMI_RANK", "6"}, {"PMI_SIZE", "6"}}),
              testing::HasSubstr("PMI_RANK=6 of 6"));
}

}  // namespace
}  // namespace mmadiff
