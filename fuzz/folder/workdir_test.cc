// One run and one writer in a folder, whatever else wants it.
#include "fuzz/folder/workdir.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "corpus/testing/folder.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RunManifest Manifest(uint64_t seed = 1) {
  RunManifest manifest;
  manifest.seed = seed;
  manifest.instructions = {{"x86/vdpbf16ps", 200, 100}};
  return manifest;
}

UnitResult Unit(uint64_t number) {
  UnitResult unit;
  unit.unit = number;
  unit.first_case = 100 * number;
  unit.cases = 100;
  unit.dot_products = 1600;
  return unit;
}

class WorkdirTest : public TestFolder {
 protected:
  absl::StatusOr<std::unique_ptr<Workdir>> Claim(const RunManifest& manifest = Manifest(),
                                                 bool anew = false) {
    return Workdir::Claim(Path("w"), manifest, anew);
  }
  void Attempt(const std::vector<uint64_t>& units) {
    const auto workdir = Claim();
    ASSERT_TRUE(workdir.ok()) << workdir.status();
    for (const uint64_t unit : units) ASSERT_TRUE((*workdir)->log->Append(Unit(unit)).ok());
    ASSERT_TRUE((*workdir)->log->Flush().ok());
    ASSERT_TRUE((*workdir)->Check().ok());
  }
};

TEST_F(WorkdirTest, RemembersItsUnits) {
  Attempt({1});
  EXPECT_FALSE(IsComplete(Path("w")));
  Attempt({0});
  EXPECT_TRUE(IsComplete(Path("w")));
  const auto workdir = Claim();
  ASSERT_TRUE(workdir.ok()) << workdir.status();
  EXPECT_EQ((*workdir)->stored.units, 2u);
  EXPECT_THAT((*workdir)->stored.damage, IsEmpty());
}

TEST_F(WorkdirTest, HasOneWriterAtATime) {
  auto first = Claim();
  ASSERT_TRUE(first.ok()) << first.status();
  const absl::Status second = Claim().status();
  EXPECT_EQ(second.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.message()),
              HasSubstr("another process is writing to " + Path("w") + " (pid " +
                        std::to_string(getpid()) + " on "));
  first->reset();
  EXPECT_TRUE(Claim().ok());
}

TEST_F(WorkdirTest, TheLockGoesWithItsProcess) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto workdir = Claim();
    [[maybe_unused]] const ssize_t written = write(ready[1], workdir.ok() ? "y" : "n", 1);
    pause();
  }
  char answer = 0;
  ASSERT_EQ(read(ready[0], &answer, 1), 1);
  EXPECT_EQ(answer, 'y');
  EXPECT_THAT(std::string(Claim().status().message()), HasSubstr("pid " + std::to_string(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(Claim().ok());
  close(ready[0]);
  close(ready[1]);
}

// Starts of different runs at the same time: exactly one of them has the folder.
TEST_F(WorkdirTest, OfManyStartsOneWins) {
  for (int round = 0; round < 20; ++round) {
    std::vector<std::thread> threads;
    std::vector<absl::StatusOr<std::unique_ptr<Workdir>>> claims(4);
    for (uint64_t t = 0; t < claims.size(); ++t) {
      threads.emplace_back([&, t] { claims[t] = Claim(Manifest(t)); });
    }
    for (std::thread& thread : threads) thread.join();
    int winners = 0;
    for (uint64_t t = 0; t < claims.size(); ++t) {
      if (claims[t].ok()) {
        ++winners;
        EXPECT_EQ(Get(Path("w/manifest.txtpb")), FormatManifest(Manifest(t)));
      } else {
        EXPECT_EQ(claims[t].status().code(), absl::StatusCode::kFailedPrecondition)
            << claims[t].status();
      }
    }
    EXPECT_EQ(winners, 1);
    std::filesystem::remove_all(Path("w"));
  }
}

TEST_F(WorkdirTest, AnotherRunIsRefusedWithTheDifference) {
  Attempt({0});
  const absl::Status s = Claim(Manifest(2)).status();
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(s.message()), HasSubstr("seed: stored 1, wanted 2"));
}

// A flipped bit in the manifest is damage; it never costs the units of a default folder.
TEST_F(WorkdirTest, ADamagedManifestDeletesNothing) {
  Attempt({0, 1});
  const std::string good = Get(Path("w/manifest.txtpb"));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    Put("w/manifest.txtpb", bad);
    const absl::Status s = Claim(Manifest(), true).status();
    ASSERT_EQ(s.code(), absl::StatusCode::kAborted) << i << s;
    ASSERT_THAT(std::string(s.message()), HasSubstr(Path("w/manifest.txtpb")));
    ASSERT_FALSE(IsComplete(Path("w")));
  }
  Put("w/manifest.txtpb", good);
  EXPECT_TRUE(IsComplete(Path("w")));
}

TEST_F(WorkdirTest, AnewOnlyWhereAllIsDoneAndGood) {
  Attempt({0});
  EXPECT_EQ((*Claim(Manifest(), true))->stored.units, 1u) << "not done";
  Attempt({1});
  const std::string log = *UnitLogsIn(Path("w"))->rbegin();
  const std::string good = Get(log);
  Put("w/units-000009-1.log", "damage");
  EXPECT_EQ((*Claim(Manifest(), true))->stored.units, 2u) << "a log does not verify";
  std::filesystem::remove(Path("w/units-000009-1.log"));
  EXPECT_EQ((*Claim(Manifest(), true))->stored.units, 0u);
  EXPECT_THAT(*UnitLogsIn(Path("w")), SizeIs(1)) << "the one of the last claim";
}

TEST_F(WorkdirTest, LogsOfARunThatWasHereBeforeAreDamage) {
  Attempt({0, 1});
  std::filesystem::remove(Path("w/manifest.txtpb"));
  const auto workdir = Claim(Manifest(2));
  ASSERT_TRUE(workdir.ok()) << workdir.status();
  EXPECT_EQ((*workdir)->stored.units, 0u);
  ASSERT_THAT((*workdir)->stored.damage, SizeIs(1));
  EXPECT_EQ((*workdir)->stored.damage[0].kind, DamageKind::kOtherRun);
}

TEST_F(WorkdirTest, FoldersOfOthersAreForRootAndSharedRuns) {
  const absl::Status s = CheckOwner(Path(""), false, geteuid() + 1);
  EXPECT_EQ(s.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(s.message(), HasSubstr("--shared"));
  EXPECT_TRUE(CheckOwner(Path(""), true, geteuid() + 1).ok());
  EXPECT_TRUE(CheckOwner(Path(""), false, 0).ok());
  EXPECT_TRUE(CheckOwner(Path(""), false).ok());
  EXPECT_TRUE(CheckOwner(Path("none"), false, geteuid() + 1).ok());
}

TEST_F(WorkdirTest, LinksAreNotWrittenThrough) {
  Put("mine", "precious");
  std::filesystem::create_directories(Path("w"));
  std::filesystem::create_symlink(Path("mine"), Path("w/writer.lock"));
  EXPECT_EQ(Claim().status().code(), absl::StatusCode::kDataLoss);
  std::filesystem::remove(Path("w/writer.lock"));
  const auto workdir = Claim();
  ASSERT_TRUE(workdir.ok()) << workdir.status();
  std::filesystem::create_symlink(Path("mine"), DistrustedPath(Path("w")));
  EXPECT_EQ((*workdir)->Distrust("op", "why").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Get(Path("mine")), "precious");
}

TEST_F(WorkdirTest, WhatIsTakenAwayIsNoticed) {
  const auto workdir = Claim();
  ASSERT_TRUE(workdir.ok());
  EXPECT_TRUE((*workdir)->Check().ok());
  std::filesystem::remove_all(Path("w"));
  EXPECT_EQ((*workdir)->Check().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ((*workdir)->log->Flush().code(), absl::StatusCode::kDataLoss);
  // Another run in a folder of the same name is not this one.
  std::filesystem::create_directories(Path("w"));
  Put("w/manifest.txtpb", FormatManifest(Manifest(2)));
  EXPECT_EQ((*workdir)->Check().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace mmadiff
