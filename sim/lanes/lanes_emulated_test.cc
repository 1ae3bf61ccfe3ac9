// lanes_test in the lanes of Highway's emulated vectors, which this program is linked with.
#include <string>

#include "sim/lanes/lanes_test.cc"

namespace mmadiff {
namespace {

TEST(Lanes, AreEmulated) {
  ASSERT_EQ(LaneTargets().size(), 1u);
  EXPECT_EQ(LaneTargets()[0].name, std::string("EMU128"));
  EXPECT_EQ(LaneTargets()[0].lanes, 4);
}

}  // namespace
}  // namespace mmadiff
