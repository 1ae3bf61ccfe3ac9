// Arrays by name, as matrices, and as operands of a format; raw words.
#include "corpus/arrays/array.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "corpus/testing/folder.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::HasSubstr;

class ArrayTest : public TestFolder {
 protected:
  // The message, which must be one line; "" if OK.
  template <class Status>
  static std::string Message(const Status& s, StatusCode code = StatusCode::kInvalidArgument) {
    EXPECT_EQ(s.code(), code) << s;
    const std::string message(s.message());
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    return message;
  }
  std::string WhyNot(const std::string& name, StatusCode code = StatusCode::kInvalidArgument) {
    return Message(ReadArray(name).status(), code);
  }
  static Array OneWord(const char* type, uint64_t word) {
    const ElementType t = *FindElementType(type);
    Array array = {"x.npy", t.name, t.format, t.bits, {1, 1}, {1, 1}, {}};
    array.bytes.resize(t.bits / 8);
    Store({array.bytes.data(), 0, 0, t.bits}, 0, 0, word);
    return array;
  }
};

TEST_F(ArrayTest, TypesAreFormatsOrRawWords) {
  for (const Format* f : kFormats) {
    const std::optional<ElementType> type = FindElementType(f->name);
    ASSERT_TRUE(type) << f->name;
    EXPECT_EQ(type->format, f == &kU8 ? nullptr : f) << f->name;
    EXPECT_GE(type->bits, f->bits);
    EXPECT_THAT(ElementTypeNames(), HasSubstr(f->name));
  }
  for (const int bits : {8, 16, 32, 64}) {
    const std::optional<ElementType> type = FindElementType(absl::StrCat("u", bits));
    ASSERT_TRUE(type);
    EXPECT_EQ(type->format, nullptr);
    EXPECT_EQ(type->bits, bits);
  }
  EXPECT_FALSE(FindElementType("fp8"));  // one of several
  EXPECT_EQ(FindElementType("bfloat16")->format, &kBf16);
  EXPECT_FALSE(FindElementType(""));
}

TEST_F(ArrayTest, RawWordsAreRead) {
  const std::string path = Put("x.bin", "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c");
  const absl::StatusOr<Array> array = ReadArray(path + ":2x3:bf16");
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->format, &kBf16);
  const absl::StatusOr<Words> words = AsMatrix(*array);
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(Load(*words, 0, 1), 0x0403u);
  EXPECT_EQ(Load(*words, 1, 0), 0x0807u);
  EXPECT_EQ(Load(*words, 1, 2), 0x0c0bu);
  const absl::StatusOr<Array> raw = ReadArray(path + ":3x1:u32");
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_EQ(raw->format, nullptr);
  EXPECT_EQ(Load(*AsMatrix(*raw), 2, 0), 0x0c0b0a09u);
}

TEST_F(ArrayTest, WrongNamesSayWhatToWrite) {
  const std::string path = Put("x.bin", "12345678");
  EXPECT_THAT(WhyNot("x.txt"),
              HasSubstr("write PATH.npy, PATH.safetensors:TENSOR or PATH.bin:ROWS"));
  EXPECT_THAT(WhyNot(path), HasSubstr("PATH.bin:ROWSxCOLUMNS:TYPE"));
  for (const char* layout : {":", ":2", ":2x", ":x2", ":2x2x2:u8", ":-1x8:u8", ":0x8:u8", ":8:u8",
                             ":2x2e1:u8", ":99999999999999999999x1:u8"}) {
    EXPECT_THAT(WhyNot(path + layout), HasSubstr("ROWSxCOLUMNS")) << layout;
  }
  EXPECT_THAT(WhyNot(path + ":2x2"), HasSubstr("no type ''; use f64, f32"));
  EXPECT_THAT(WhyNot(path + ":2x2:f17"), HasSubstr("no type 'f17'; use f64, f32"));
  EXPECT_THAT(WhyNot(path + ":2x2:u8"), HasSubstr("needs 4 bytes, but the file has 8; give"));
  EXPECT_THAT(WhyNot(path + ":3x3:u8"), HasSubstr("needs 9 bytes, but the file has 8"));
  EXPECT_THAT(WhyNot(path + ":8x1152921504606846976:f32"), HasSubstr("needs too many bytes"));
  EXPECT_THAT(WhyNot("a\nb\x1b.txt"), HasSubstr("a\\x0ab\\x1b.txt"));
}

TEST_F(ArrayTest, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(mkdir(Path("folder").c_str(), 0700), 0);
  for (const char* rest : {".npy", ".safetensors", ".safetensors:w", ".bin:1x1:u8"}) {
    const std::string file = absl::StrCat(rest).substr(0, std::string(rest).find(':'));
    std::filesystem::create_symlink("pipe", Path("p" + file));
    std::filesystem::create_symlink("folder", Path("f" + file));
    EXPECT_THAT(WhyNot(Path("p") + rest), HasSubstr("not a regular file; save it to a file first"));
    EXPECT_THAT(WhyNot(Path("f") + rest), HasSubstr("is a folder"));
    EXPECT_THAT(WhyNot(Path("none") + rest), HasSubstr("no such file"));
    std::filesystem::remove(Path("p" + file));
    std::filesystem::remove(Path("f" + file));
  }
  EXPECT_THAT(WhyNot("/dev/zero.npy"), HasSubstr("no such file"));
}

TEST_F(ArrayTest, MatricesHaveTwoDimensions) {
  Array array = OneWord("f32", 1);
  EXPECT_TRUE(AsMatrix(array).ok());
  array.shape = {3}, array.strides = {1}, array.bytes.resize(12);
  EXPECT_THAT(
      Message(AsMatrix(array).status()),
      HasSubstr("x.npy: shape (3) has one dimension, a matrix has two: reshape it to (3, 1)"));
  array.shape = {1, 3, 1}, array.strides = {3, 1, 1};
  EXPECT_THAT(Message(AsMatrix(array).status()),
              HasSubstr("shape (1, 3, 1) is not that of a matrix"));
  array.shape = array.strides = {};
  EXPECT_THAT(Message(AsMatrix(array).status()), HasSubstr("shape () is not that of a matrix"));
  array.shape = {0, 3}, array.strides = {3, 1}, array.bytes = {};
  EXPECT_THAT(Message(AsMatrix(array).status()), HasSubstr("shape (0, 3) has no elements"));
}

TEST_F(ArrayTest, OperandsHaveTheFormat) {
  EXPECT_TRUE(CheckHolds(OneWord("f32", 1), kF32).ok());
  EXPECT_TRUE(CheckHolds(OneWord("f32", 1), kTf32).ok());
  EXPECT_TRUE(CheckHolds(OneWord("u32", 1), kTf32Amx).ok());
  EXPECT_TRUE(CheckHolds(OneWord("u8", 0xff), kE4m3).ok());
  EXPECT_TRUE(CheckHolds(OneWord("u8", 0xff), kU8).ok());
  EXPECT_TRUE(CheckHolds(OneWord("u64", ~0ull), kF64).ok());
  const Format copy = kF32;  // as in a model
  EXPECT_TRUE(CheckHolds(OneWord("f32", 1), copy).ok());
  EXPECT_THAT(Message(CheckHolds(OneWord("u8", 1), kS8)), HasSubstr("holds u8, not s8"));
  EXPECT_TRUE(CheckHolds(OneWord("u8", 0xf), kE2m1).ok());
  EXPECT_EQ(Message(CheckHolds(OneWord("f32", 1), kF16)),
            "x.npy: holds f32, not f16: convert it first");
  EXPECT_THAT(Message(CheckHolds(OneWord("tf32", 1), kF32)), HasSubstr("holds tf32, not f32"));
  EXPECT_THAT(Message(CheckHolds(OneWord("s8", 1), kE4m3)), HasSubstr("holds s8, not e4m3"));
  EXPECT_THAT(Message(CheckHolds(OneWord("u16", 1), kF32)), HasSubstr("holds u16, not f32"));
  EXPECT_THAT(Message(CheckHolds(OneWord("u8", 0x10), kE2m1)),
              HasSubstr("the word 10 at byte 0 of its data has bits above the 4 of e2m1"));
}

}  // namespace
}  // namespace mmadiff
