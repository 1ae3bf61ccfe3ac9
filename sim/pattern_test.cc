#include "sim/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mmadiff {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Texts(std::string_view pattern) {
  std::vector<std::string> texts;
  for (const Expansion& e : Expand(pattern)) texts.push_back(e.text);
  return texts;
}

TEST(Pattern, ExpandsEveryChoice) {
  EXPECT_THAT(Texts("plain"), ElementsAre("plain"));
  EXPECT_THAT(Texts("{a,b}"), ElementsAre("a", "b"));
  EXPECT_THAT(Texts("x{a,b}y{c,d}"), ElementsAre("xayc", "xayd", "xbyc", "xbyd"));
  EXPECT_THAT(Texts("m{,.rz}.f64"), ElementsAre("m.f64", "m.rz.f64"));
  EXPECT_THAT(Texts("{a,b}{c,d}$1$2"), ElementsAre("acac", "adad", "bcbc", "bdbd"));
  EXPECT_THAT(Expand("{a,b}-{c}")[1].choices, ElementsAre("b", "c"));
}

TEST(Pattern, Substitutes) {
  EXPECT_EQ(Substitute("$18 $2$1", {"s", "u"}), "s8 us");
  EXPECT_DEATH(Substitute("$2", {"a"}), "");
  EXPECT_DEATH(Expand("{a"), "");
}

TEST(Pattern, SplitWords) {
  EXPECT_THAT(SplitWords(" a  bc "), ElementsAre("a", "bc"));
  EXPECT_THAT(SplitWords(""), IsEmpty());
}

}  // namespace
}  // namespace mmadiff
