#include "corpus/copies/copy_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "sim/copy/copy_parameter.h"
#include "sim/copy/legal.h"

namespace mmadiff {
namespace {

using testing::HasSubstr;

// Calls f(case, name) for the first cases of every form on every architecture that has it.
template <class F>
void ForEachCase(int cases, F f) {
  for (const char* arch : CopyArchitectures()) {
    for (const CopyForm& form : CopyForms()) {
      for (int i = 0; i < cases; ++i) {
        const CopyCaseName name = {arch, &form, 1, static_cast<uint64_t>(i)};
        const bool native = std::string_view(form.native_on).find(arch) != std::string_view::npos;
        if (native) f(GenerateCopy(name), name);
      }
    }
  }
}

TEST(CopyCase, FieldsAreLegalAndSmall) {
  CopyResult result;
  int64_t cases = 0;
  ForEachCase(360, [&](const CopyCase& c, const CopyCaseName& name) {
    ++cases;
    const CopyRule* broken = BrokenLimit(c.copy, name.arch);
    ASSERT_EQ(broken, nullptr) << FormatCopyCase(name) << ": " << broken->name;
    ASSERT_LE(TileBytes(c.copy), kMaxTileBytes) << FormatCopyCase(name);
    ASSERT_LE(TouchedRange(c.copy).last, kCopyWindow) << FormatCopyCase(name);
    Execute(c.copy, {}, c.memory, result);
    ASSERT_EQ(result.bytes.size(), result.specified.size());
  });
  EXPECT_GT(cases, 20000);
}

// Every choice of the model shows in some of the first cases of each form that it concerns.
TEST(CopyCase, FindsEveryNeighbor) {
  const auto shows = [](const CopyForm& form, const char* arch, const CopyRules& changed) {
    CopyResult own, other;
    for (uint64_t i = 0; i < 1800; ++i) {
      const CopyCase c = GenerateCopy({arch, &form, 1, i});
      Execute(c.copy, {}, c.memory, own);
      Execute(c.copy, changed, c.memory, other);
      if (own != other) return true;
    }
    return false;
  };
  for (const CopyChange& change : CopyNeighbors()) {
    for (const CopyForm& form : CopyForms()) {
      const bool concerned = Concerns(*change.parameter, form);
      if (concerned) {
        EXPECT_TRUE(shows(form, "sm_100", With({}, change))) << Name(change) << " " << form.name;
      }
    }
  }
}

TEST(CopyCase, NamesAreParsed) {
  const auto name = ParseCopyCase("sm_90/load.tile.3d@g1:7:12");
  ASSERT_TRUE(name.ok()) << name.status();
  EXPECT_EQ(FormatCopyCase(*name), "sm_90/load.tile.3d@g1:7:12");
  for (const auto& [text, error] : {std::pair("sm_91/load.tile.3d@g1:7:12", "sm_91"),
                                    {"sm_90/load.tile.6d@g1:7:12", "load.tile.6d"},
                                    {"sm_90/load.tile.3d@g0:7:12", "version"},
                                    {"sm_90/load.tile.3d", "version"},
                                    {"sm_90/load.tile.3d@g1:7:-1", "numbers"}}) {
    EXPECT_THAT(ParseCopyCase(text).status().message(), HasSubstr(error)) << text;
  }
}

}  // namespace
}  // namespace mmadiff
