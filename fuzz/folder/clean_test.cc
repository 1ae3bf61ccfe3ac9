// What clean removes is left over, and nothing else goes: the units of the folder stay what they were.
#include "fuzz/folder/clean.h"

#include "fuzz/folder/run_folder.h"
#include "fuzz/testing/folder_fixture.h"

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class CleanTest : public FolderTest {
 protected:
  std::vector<std::string> Names(const Cleaning& cleaning) {
    std::vector<std::string> names;
    for (const Leftover& file : cleaning.files) {
      names.push_back(std::filesystem::path(file.path).filename());
    }
    return names;
  }
  // Lists, removes the same, and finds nothing after; names of what went.
  std::vector<std::string> Clean(const std::string& folder) {
    const auto before = Contents(folder);
    const auto listed = FindLeftovers(folder);
    EXPECT_TRUE(listed.ok()) << listed.status();
    EXPECT_EQ(Contents(folder), before);
    bool not_durable;
    const auto removed = RemoveLeftovers(folder, not_durable);
    EXPECT_TRUE(removed.ok()) << removed.status();
    if (!listed.ok() || !removed.ok()) return {"nothing"};
    EXPECT_EQ(Names(*listed), Names(*removed));
    EXPECT_EQ(Contents(folder).size(), before.size() - removed->files.size());
    for (const Leftover& file : removed->files) {
      EXPECT_FALSE(std::filesystem::exists(file.path)) << file.path;
    }
    EXPECT_THAT(FindLeftovers(folder)->files, IsEmpty());
    return Names(*removed);
  }
  std::string Folder() { return Attempt("run", {Unit(0, 1), Unit(1, 2)}); }
  static Digest DigestOf(const std::string& folder) {
    const auto read = ReadRunFolder(folder);
    EXPECT_TRUE(read.ok()) << read.status();
    EXPECT_THAT(read->warnings, IsEmpty());
    return read->stored.totals[0].device_digest + read->stored.totals[1].device_digest;
  }
};

TEST_F(CleanTest, AFolderOfWhichAllIsNeededStays) { EXPECT_THAT(Clean(Folder()), IsEmpty()); }

TEST_F(CleanTest, TemporaryFilesOfOurNamesGoAndThoseOfOthersStay) {
  const std::string folder = Folder();
  File(folder, 1, 2);
  const std::vector<std::string> ours = {"manifest.txtpb.tmpAb12cd", "distrusted.txt.tmp000000",
                                         "units-merged.log.tmp0a1b2c"};
  for (const std::string& name : ours) Put("run/" + name, "x");
  Put("run/findings/x86/made-1.txtpb.tmpABCdef", "x");
  for (const char* name :
       {"notes.tmp123456", "manifest.txtpb.tmp12345", "report.html", "xmanifest.txtpb.tmp123456",
        "other/manifest.txtpb.tmp123456", "findings/x86/notes.tmp123456"}) {
    Put(std::string("run/") + name, "of the user");
  }
  std::filesystem::create_symlink(Path("run/report.html"), Path("run/hardware.tmp123456"));
  EXPECT_THAT(Clean(folder),
              UnorderedElementsAre(ours[0], ours[1], ours[2], "made-1.txtpb.tmpABCdef"));
  EXPECT_TRUE(std::filesystem::is_symlink(Path("run/hardware.tmp123456")));
}

TEST_F(CleanTest, LogsGoWhoseUnitsOthersHaveAndTheUnitsStay) {
  const std::string folder = Folder();
  Attempt("run", {});
  Attempt("run", {Unit(0, 1)});
  Attempt("run", {Unit(0, 1), Unit(1, 2), Unit(1, 3)});
  const Digest digest = DigestOf(folder);
  EXPECT_EQ(Clean(folder).size(), 3);
  EXPECT_EQ(DigestOf(folder), digest);
  EXPECT_EQ(ReadRunFolder(folder)->stored.units, 3);
}

// Of two logs with the same units one stays, and of a chain no unit is lost.
TEST_F(CleanTest, OfLogsThatHaveEachOthersUnitsOneStays) {
  const std::string folder = Folder();
  Attempt("run", {Unit(1, 2), Unit(0, 1)});
  EXPECT_EQ(Clean(folder).size(), 1);
  Attempt("run", {Unit(0, 1), Unit(0, 3)});
  Attempt("run", {Unit(1, 2), Unit(0, 3)});
  EXPECT_EQ(Clean(folder).size(), 1);
  EXPECT_EQ(ReadRunFolder(folder)->stored.units, 3);
}

TEST_F(CleanTest, ADamagedLogStaysAndIsNamed) {
  const std::string folder = Folder();
  Put("run/units-000009-1.log", "not a log");
  const auto found = FindLeftovers(folder);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(found->files, IsEmpty());
  EXPECT_THAT(found->damage, ElementsAre(HasSubstr("units-000009-1.log")));
}

// Another name of the log, or a copy that is torn, is no reason to remove it.
TEST_F(CleanTest, OnlyWholePlainLogsVouchForUnits) {
  const std::string folder = Folder();
  const std::string log = UnitLogsIn(folder)->front();
  std::filesystem::create_symlink(log, Path("run/units-000009-77.log"));
  EXPECT_THAT(FindLeftovers(folder)->files, IsEmpty());
  std::filesystem::remove(Path("run/units-000009-77.log"));
  Put("run/units-000009-78.log", Get(log) + "garbage");
  EXPECT_THAT(FindLeftovers(folder)->files, IsEmpty());
}

// A log that has no unit may be the one that says what a device was dropped for, or that it is dropped no more.
TEST_F(CleanTest, LogsWithDropsStay) {
  const std::string folder = Folder();
  UnitResult drop;
  drop.part = true;
  drop.drop = absl::AbortedError("it has changed");
  drop.ended = 5;
  Attempt("run", {drop});
  EXPECT_THAT(Clean(folder), IsEmpty());
  drop.drop = absl::OkStatus();
  drop.ended = 6;
  Attempt("run", {drop});
  EXPECT_THAT(Clean(folder), IsEmpty());
}

// An attempt goes on behind the one, the other counts.
TEST_F(CleanTest, LogsWithPartsAndFailuresStay) {
  const std::string folder = Folder();
  UnitResult begun = Unit(1, 3);
  begun.part = true;
  begun.mismatches = 0;
  begun.mismatching_cases = {};
  begun.device_digest = begun.model_digest;
  begun.cases = begun.dot_products = 50;
  UnitResult larger = begun;
  larger.device_digest = larger.model_digest = 0;
  larger.cases = larger.dot_products = 60;
  UnitResult failed = larger;
  failed.cases = failed.dot_products = 0;
  failed.failures = 1;
  for (const UnitResult& unit : {begun, larger, failed}) Attempt("run", {unit});
  EXPECT_THAT(Clean(folder), IsEmpty());
  Attempt("run", {Unit(1, 3)});
  EXPECT_THAT(Clean(folder), testing::SizeIs(3));
}

TEST_F(CleanTest, NothingGoesWhereAPartContradicts) {
  UnitResult part = Unit(1, 2), longer = part;
  part.part = longer.part = true;
  part.device_digest = part.model_digest = longer.device_digest = longer.model_digest = 0;
  part.cases = part.dot_products = 60;
  longer.mismatches = 0;
  longer.mismatching_cases = {};
  UnitResult whole = Unit(1, 2);
  whole.mismatches = 0;
  whole.mismatching_cases = {};
  whole.device_digest = whole.model_digest;
  for (const UnitResult& other : {longer, whole}) {
    const std::string folder = Attempt(other.part ? "parts" : "whole", {part});
    Attempt(other.part ? "parts" : "whole", {other});
    EXPECT_EQ(FindLeftovers(folder).status().code(), absl::StatusCode::kAborted) << other.part;
  }
}

TEST_F(CleanTest, NothingGoesWhereUnitsContradictOrSomebodyWrites) {
  const std::string folder = Folder();
  Put("run/hardware.tmp123456", "x");
  bool not_durable;
  {
    std::string warning;
    const auto lock = FolderLock::Take(folder, warning);
    EXPECT_EQ(FindLeftovers(folder).status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(RemoveLeftovers(folder, not_durable).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
  UnitResult other = Unit(0, 1);
  other.device_digest = 5;
  Attempt("run", {other});
  EXPECT_EQ(FindLeftovers(folder).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(RemoveLeftovers(folder, not_durable).status().code(), absl::StatusCode::kAborted);
  EXPECT_EQ(FindLeftovers(Path("none")).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RemoveLeftovers(Path("none"), not_durable).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(std::filesystem::exists(Path("none")));
  EXPECT_TRUE(std::filesystem::exists(Path("run/hardware.tmp123456")));
}

}  // namespace
}  // namespace mmadiff
