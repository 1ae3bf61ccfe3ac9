#include "triage/copies/copy_drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/copy/copy_field.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;
using testing::Not;

TensorCopy Copy(const char* form,
                std::initializer_list<std::pair<const char*, const char*>> fields) {
  TensorCopy copy;
  copy.form = FindCopyForm(form);
  copy.map.rank = copy.form->rank;
  for (const auto& [name, value] : fields)
    EXPECT_TRUE(FindCopyField(name)->set(copy, value)) << name;
  SetDefaults(copy);
  return copy;
}

// The first lines of the figure of the 128-byte swizzle in PTX ISA 5.5.7: 16-byte chunk i of row r is at
// place i ^ r.
TEST(CopyDrawing, ShowsTheSwizzle) {
  const TensorCopy copy =
      Copy("load.tile.2d", {{"type", "f16"}, {"dim", "64,3"}, {"swizzle", "128B"}});
  EXPECT_EQ(CopyText(copy, 0, {}),
            "address    +0   +16   +32   +48   +64   +80   +96  +112\n"
            "      0   0,0   8,0  16,0  24,0  32,0  40,0  48,0  56,0\n"
            "    128   8,1   0,1  24,1  16,1  40,1  32,1  56,1  48,1\n"
            "    256  16,2  24,2   0,2   8,2  48,2  56,2  32,2  40,2\n");
  EXPECT_THAT(CopyText(copy, 2, {}), HasSubstr("1 more lines"));
}

TEST(CopyDrawing, ShowsWhatIsFilledAndWhatIsNotWritten) {
  const TensorCopy copy =
      Copy("load.tile.2d",
           {{"type", "u8"}, {"dim", "16,2"}, {"box", "16,2"}, {"at", "0,1"}, {"swizzle", "32B"}});
  EXPECT_EQ(CopyText(copy, 0, {}),
            "address   +0  +16   +32  +48  +64  +80  +96  +112\n"
            "      0  0,1    -  fill    -    -    -    -     -\n");
  EXPECT_EQ(CopySummary(copy),
            "64 bytes of shared memory from 0 on; 16 of 32 elements are out of bounds");
  const std::string svg = CopySvg(copy, 0);
  EXPECT_THAT(svg, HasSubstr(">fill<"));
  EXPECT_THAT(svg, HasSubstr(">0,1<"));
  EXPECT_THAT(svg, Not(HasSubstr(">-<")));
}

}  // namespace
}  // namespace mmadiff
