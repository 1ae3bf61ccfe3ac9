#include "device/plain_text.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace mmadiff {
namespace {

TEST(PlainText, ControlCharactersAreEscaped) {
  EXPECT_EQ(PlainText("a\x1b[2J\r\n\tb\x7f"), "a\\x1b[2J\\x0d\n\tb\\x7f");
  EXPECT_EQ(PlainLine("a\n\tb"), "a\\x0a\\x09b");
  EXPECT_EQ(PlainText(absl::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(PlainText("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J");  // CSI in one character
}

TEST(PlainText, Utf8StaysAndOtherBytesAreEscaped) {
  EXPECT_EQ(PlainText("µ €𝄞\\"), "µ €𝄞\\");
  EXPECT_EQ(PlainText("\x9b\xff\xc2"), "\\x9b\\xff\\xc2");
  EXPECT_EQ(PlainText("\xc0\x80"), "\\xc0\\x80");           // not the shortest form
  EXPECT_EQ(PlainText("\xe0\x80\x80"), "\\xe0\\x80\\x80");  // nor this
  EXPECT_EQ(PlainText("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(PlainText("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(PlainText("\xef\xbf\xbf"), "\\xef\\xbf\\xbf");  // no character of XML
  EXPECT_EQ(PlainText("\xe2\x82"), "\\xe2\\x82");           // cut off
}

TEST(PlainText, MarksAreNotTheTextsOwnColours) {
  const std::string text = absl::StrCat("\x1b[31m", kMarkBegin, "1", kMarkEnd);
  EXPECT_EQ(PlainText(text, "<", ">"), "\\x1b[31m<1>");
  EXPECT_EQ(PlainText(text), "\\x1b[31m\\xfe1\\xff");
}

// Once is enough: what is plain stays as it is.
TEST(PlainText, IsIdempotent) {
  const std::string once = PlainText("\x1b[2J \xff\n");
  EXPECT_EQ(PlainText(once), once);
}

}  // namespace
}  // namespace mmadiff
