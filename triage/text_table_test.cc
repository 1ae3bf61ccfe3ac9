#include "triage/text_table.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/plain_text.h"

namespace mmadiff {
namespace {

TEST(Columns, CharactersNotBytesAndNoMarks) {
  EXPECT_EQ(Columns(""), 0u);
  EXPECT_EQ(Columns("h\xc3\xa4 \xe2\x82\xac"), 4u);
  EXPECT_EQ(Columns(absl::StrCat(kMarkBegin, "ab", kMarkEnd)), 2u);
}

TEST(Wrap, BreaksBetweenWordsAlone) {
  EXPECT_EQ(Wrap("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(Wrap("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(Wrap("one two three", 13, 2), "one two three");
  EXPECT_EQ(Wrap("one unbreakable two", 6, 2), "one\nunbreakable\n  two");
  EXPECT_EQ(Wrap("one  two\n  three four\n", 10, 2), "one  two\n  three\n    four\n");
  EXPECT_EQ(Wrap("", 5, 2), "");
  EXPECT_EQ(Wrap("any length of a line", kAnyWidth, 2), "any length of a line");
}

TEST(Labelled, FollowsTheFirstWord) {
  EXPECT_EQ(Labelled("  bucket  ", "aa bb cc dd", 20), "  bucket  aa bb cc\n          dd\n");
  EXPECT_EQ(Labelled("  bucket  ", "aa", kAnyWidth), "  bucket  aa\n");
}

TextTable Example() {
  TextTable table({{"name"}, {"count", true, 1}, {"rate", true, 2}, {"what it says"}});
  table.Add({"first", "1", "10.5", "a long text of words"}, true);
  table.Add({"second_name", "1000000", "7", ""});
  return table;
}

TEST(TextTable, AsWideAsNeeded) {
  EXPECT_EQ(Example().Text({}),
            "name           count  rate  what it says\n"
            "first              1  10.5  a long text of words\n"
            "second_name  1000000     7\n");
}

TEST(TextTable, DropsThenBreaksThenStacks) {
  EXPECT_EQ(Example().Text({.width = 47}),
            "name           count  what it says\n"
            "first              1  a long text of words\n"
            "second_name  1000000\n");
  EXPECT_EQ(Example().Text({.width = 24}),
            "name         what it\n"
            "             says\n"
            "first        a long text\n"
            "             of words\n"
            "second_name\n");
  EXPECT_EQ(Example().Text({.width = 16}),
            "first\n"
            "  what it says\n"
            "        a long\n"
            "        text of\n"
            "        words\n"
            "second_name\n");
}

TEST(TextTable, NoLineIsTooWideAndNoWordIsCut) {
  for (size_t width = 20; width < 60; ++width) {
    const std::string text = Example().Text({.width = width});
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      EXPECT_LE(Columns(line), width) << text;
    }
    for (const char* word : {"second_name", "long", "words"}) {
      EXPECT_NE(text.find(word), text.npos) << text;
    }
  }
}

TEST(TextTable, ColorMarksLines) {
  EXPECT_EQ(Example().Text({.color = true}).find(absl::StrCat(kMarkBegin, "first  ")), 41u);
  EXPECT_EQ(Example().Text({}).find(kMarkBegin), std::string::npos);
}

}  // namespace
}  // namespace mmadiff
