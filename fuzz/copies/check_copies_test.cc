// Every planted change of the model is found by generated copies, minimized, and named.
#include "fuzz/copies/check_copies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "sim/copy/copy_parameter.h"

namespace mmadiff {
namespace {

using testing::Contains;
using testing::HasSubstr;

CopyRow Checked(const std::string& device, const char* form, int64_t cases = 900) {
  const auto opened = OpenCopyDevice(device);
  EXPECT_TRUE(opened.ok()) << opened.status();
  const auto row =
      CheckCopies(**opened, {.arch = "sm_100", .form = FindCopyForm(form), .cases = cases});
  EXPECT_TRUE(row.ok()) << row.status();
  return row.value_or(CopyRow());
}

TEST(CheckCopies, TheModelEqualsItself) {
  for (const CopyForm& form : CopyForms()) {
    const CopyRow row = Checked("faulty:none=0", form.name.c_str(), 90);
    EXPECT_EQ(row.mismatches, 0) << form.name;
    EXPECT_GT(row.bytes, 0) << form.name;
  }
}

TEST(CheckCopies, NamesEveryPlantedChange) {
  for (const CopyChange& change : CopyNeighbors()) {
    const std::string name = Name(change);
    int found = 0;
    for (const char* form : {"load.tile.3d", "load.im2col.4d", "load.im2col_w.4d",
                             "load.im2col_w_128.3d", "store.tile.2d", "load.tile_gather4.2d"}) {
      if (!Concerns(*change.parameter, *FindCopyForm(form))) continue;
      const CopyRow row = Checked(absl::StrCat("faulty:", name), form);
      if (!row.first.has_value()) continue;
      ++found;
      EXPECT_THAT(row.first->explanations, Contains(name)) << form;
      EXPECT_THAT(row.first->where, HasSubstr("bytes differ")) << form;
    }
    EXPECT_GT(found, 0) << name;
  }
}

// 2 rows of 16 bytes are the smallest box in which the distance of rows shows.
TEST(CheckCopies, MismatchesAreMinimized) {
  const CopyRow row = Checked("faulty:pitch=tight", "load.tile.2d");
  ASSERT_TRUE(row.first.has_value());
  EXPECT_THAT(row.first->minimized, HasSubstr("dim=1,1 swizzle=32B box="));
  EXPECT_THAT(row.first->minimized, HasSubstr(",2"));
}

TEST(OpenCopyDevice, ListsTheFaults) {
  EXPECT_THAT(OpenCopyDevice("faulty:pitch=wide").status().message(), HasSubstr("pitch=tight"));
  EXPECT_TRUE(absl::IsNotFound(OpenCopyDevice("host").status()));
}

}  // namespace
}  // namespace mmadiff
