// Files of safetensors, made from bytes: each type, each rule of the format, each error.
#include "corpus/arrays/safetensors.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/testing/folder.h"
#include "device/little_endian.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string File(absl::string_view header, absl::string_view buffer) {
  std::string file;
  AppendLittleEndian(header.size(), 8, file);
  return absl::StrCat(file, header, buffer);
}
std::string Tensor(absl::string_view name, absl::string_view type, absl::string_view shape,
                   int64_t begin, int64_t end) {
  return absl::StrCat("\"", name, "\":{\"dtype\":\"", type, "\",\"shape\":", shape,
                      ",\"data_offsets\":[", begin, ",", end, "]}");
}
template <class... Tensors>
std::string Header(const Tensors&... tensors) {
  return absl::StrCat("{", absl::StrJoin({std::string(tensors)...}, ","), "}");
}

class SafetensorsTest : public TestFolder {
 protected:
  absl::StatusOr<Array> Read(absl::string_view bytes, const std::string& tensor = "") {
    return ReadArray(Put("x.safetensors", bytes) + tensor);
  }
  std::string WhyNot(absl::string_view bytes, StatusCode code, const std::string& tensor = "") {
    const absl::Status s = Read(bytes, tensor).status();
    EXPECT_EQ(s.code(), code) << s;
    const std::string message(s.message());
    EXPECT_THAT(message, HasSubstr("x.safetensors: "));
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    return message;
  }
  std::string Damage(absl::string_view bytes) { return WhyNot(bytes, StatusCode::kDataLoss); }
  std::string Usage(absl::string_view bytes, const std::string& tensor = "") {
    return WhyNot(bytes, StatusCode::kInvalidArgument, tensor);
  }
};

TEST_F(SafetensorsTest, TensorsByName) {
  const std::string file =
      File(absl::StrCat("{\"__metadata__\":{\"format\":\"pt\",\"dtype\":\"x\"},",
                        Tensor("b.w", "BF16", "[2,2]", 4, 12), ",", Tensor("", "F32", "[1]", 0, 4),
                        "}   "),
           "\1\2\3\4abcdefgh");
  const absl::StatusOr<Array> array = Read(file, ":b.w");
  ASSERT_TRUE(array.ok()) << array.status();
  EXPECT_EQ(array->name, Path("x.safetensors:b.w"));
  EXPECT_EQ(array->format, &kBf16);
  EXPECT_THAT(array->shape, ElementsAre(2, 2));
  EXPECT_EQ(Load(*AsMatrix(*array), 0, 1), 0x6463u);
  EXPECT_EQ(Load(*AsMatrix(*array), 1, 0), 0x6665u);
  const absl::StatusOr<Array> unnamed = Read(file, ":");
  ASSERT_TRUE(unnamed.ok()) << unnamed.status();
  EXPECT_EQ(unnamed->format, &kF32);
  EXPECT_THAT(Usage(file), HasSubstr("has several tensors; append :NAME, one of b.w, "));
  EXPECT_THAT(Usage(file, ":b.v"),
              HasSubstr("no tensor 'b.v'; nearest: b.w; append :NAME, one of"));
  EXPECT_THAT(Usage(file, ":__metadata__"), HasSubstr("no tensor '__metadata__'"));
}

TEST_F(SafetensorsTest, TheOnlyTensorNeedsNoName) {
  const std::string file = File(Header(Tensor("w", "U8", "[1,2]", 0, 2)), "ab");
  EXPECT_EQ(Load(*AsMatrix(*Read(file)), 0, 1), uint64_t{'b'});
  EXPECT_EQ(Read(file)->name, Path("x.safetensors:w"));
  EXPECT_THAT(Usage(File("{}", "")), HasSubstr("has no tensors"));
  EXPECT_THAT(Usage(File("{\"__metadata__\":{}}", "")), HasSubstr("has no tensors"));
}

TEST_F(SafetensorsTest, LongListsOfNamesAreCut) {
  std::vector<std::string> tensors;
  for (int i = 0; i < 25; ++i)
    tensors.push_back(Tensor(absl::StrCat("w", i), "U8", "[1]", i, i + 1));
  tensors.push_back(Tensor(std::string(5000, 'x'), "U8", "[0]", 25, 25));
  const std::string file =
      File(absl::StrCat("{", absl::StrJoin(tensors, ","), "}"), std::string(25, 'a'));
  EXPECT_THAT(Usage(file), HasSubstr("one of w0, w1, w2, w3, w4, w5, w6, w7, w8, w9 and 16 more"));
  EXPECT_LT(Usage(file, ":" + std::string(5001, 'x')).size(), 2000u);
}

TEST_F(SafetensorsTest, Types) {
  const std::tuple<const char*, int, const char*> all[] = {{"F64", 8, "f64"},
                                                           {"F32", 4, "f32"},
                                                           {"F16", 2, "f16"},
                                                           {"BF16", 2, "bf16"},
                                                           {"I64", 8, "s64"},
                                                           {"I32", 4, "s32"},
                                                           {"I16", 2, "s16"},
                                                           {"I8", 1, "s8"},
                                                           {"U64", 8, "u64"},
                                                           {"U32", 4, "u32"},
                                                           {"U16", 2, "u16"},
                                                           {"U8", 1, "u8"},
                                                           {"F8_E4M3", 1, "e4m3"},
                                                           {"F8_E5M2", 1, "e5m2"},
                                                           {"F8_E8M0", 1, "ue8m0"},
                                                           {"F8_E4M3FNUZ", 1, "e4m3fnuz"},
                                                           {"F8_E5M2FNUZ", 1, "e5m2fnuz"}};
  for (const auto& [type, bytes, name] : all) {
    const std::string file = File(Header(Tensor("w", type, "[1,1]", 0, bytes)),
                                  absl::string_view("\1\2\3\4\5\6\7\x88").substr(0, bytes));
    const absl::StatusOr<Array> array = Read(file);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->type, name);
    EXPECT_EQ(array->bits, 8 * bytes);
    EXPECT_EQ(Load(*AsMatrix(*array), 0, 0), 0x8807060504030201 & LowBits(8 * bytes)) << type;
  }
}

TEST_F(SafetensorsTest, TypesThatAreNotRead) {
  for (const auto& [type, bytes] : {std::pair("BOOL", 2), {"C64", 16}, {"F99", 3}}) {
    EXPECT_THAT(Usage(File(Header(Tensor("w", type, "[1,2]", 0, bytes)), std::string(bytes, 'a'))),
                HasSubstr(absl::StrCat("tensor 'w': type ", type, " is not read; store a")));
  }
  EXPECT_THAT(Usage(File(Header(Tensor("w", "F4", "[1,2]", 0, 1)), "a")),
              HasSubstr("type F4 is not read; unpack it to one element per byte"));
  EXPECT_THAT(Usage(File(Header(Tensor("w", "F6_E2M3", "[4]", 0, 3)), "abc")),
              HasSubstr("unpack it"));
  EXPECT_THAT(Damage(File(Header(Tensor("w", "F4", "[1]", 0, 1)), "a")), HasSubstr("wrong for F4"));
  // Beside one of those, others are read.
  EXPECT_TRUE(
      Read(File(Header(Tensor("v", "BOOL", "[1]", 0, 1), Tensor("w", "U8", "[1]", 1, 2)), "ab"),
           ":w")
          .ok());
  EXPECT_THAT(Usage(File(Header(Tensor("w", "U8", "[1,1,1,1,1,1,1,1,1]", 0, 1)), "a")),
              HasSubstr("has 9 dimensions"));
}

TEST_F(SafetensorsTest, ScalarsAndEmptyTensors) {
  const std::string file =
      File(Header(Tensor("a", "F16", "[]", 0, 2), Tensor("b", "F16", "[0,3]", 2, 2),
                  Tensor("c", "F16", "[1]", 2, 4)),
           "abcd");
  EXPECT_THAT(Read(file, ":a")->shape, ElementsAre());
  EXPECT_THAT(Read(file, ":b")->shape, ElementsAre(0, 3));
  EXPECT_THAT(Read(file, ":c")->shape, ElementsAre(1));
}

TEST_F(SafetensorsTest, BuffersHaveNoOverlapsAndNoHoles) {
  const auto two = [](int begin, int end, absl::string_view buffer) {
    return File(Header(Tensor("v", "U8", "[2]", 0, 2), Tensor("w", "U8", "[2]", begin, end)),
                buffer);
  };
  EXPECT_TRUE(Read(two(2, 4, "abcd"), ":w").ok());
  EXPECT_THAT(Damage(two(1, 3, "abc")),
              HasSubstr("tensor 'w' begins at 1 and overlaps what ends at 2"));
  EXPECT_THAT(Damage(two(0, 2, "ab")), HasSubstr("overlaps"));
  EXPECT_THAT(Damage(two(3, 5, "abcde")),
              HasSubstr("tensor 'w' begins at 3, behind a hole from 2"));
  EXPECT_THAT(Damage(two(2, 1, "abcd")), HasSubstr("ends at 1, before its begin at 2"));
  EXPECT_THAT(Damage(two(2, 5, "abcde")),
              HasSubstr("has 3 bytes, which is wrong for U8 of shape (2)"));
  EXPECT_THAT(Damage(two(2, 4, "abcde")),
              HasSubstr("its tensors have 4 bytes, but 5 follow the header"));
  EXPECT_THAT(Damage(two(2, 4, "abc")),
              HasSubstr("truncated: its tensors have 4 bytes, but 3 follow"));
  EXPECT_THAT(Damage(File(Header(Tensor("w", "U8", "[2]", 1, 3)), "abc")),
              HasSubstr("behind a hole from 0"));
  EXPECT_THAT(Damage(File("{}", "a")), HasSubstr("its tensors have 0 bytes, but 1 follow"));
}

TEST_F(SafetensorsTest, SizesAreCheckedBeforeAnythingIsAllocated) {
  for (const char* shape : {"[4611686018427387904,4611686018427387904]", "[9223372036854775807]",
                            "[0,9223372036854775807,9223372036854775807]"}) {
    EXPECT_THAT(Damage(File(Header(Tensor("w", "F64", shape, 0, 8)), "12345678")),
                HasSubstr("wrong for F64"));
  }
  EXPECT_THAT(
      Damage(File(Header(Tensor("w", "U8", "[9223372036854775800]", 0, 9223372036854775800)), "a")),
      HasSubstr("wrong for U8"));  // the bits do not fit
  EXPECT_THAT(Damage(File(Header(Tensor("w", "U8", "[1000000000000]", 0, 1000000000000)), "a")),
              HasSubstr("truncated: its tensors have 1000000000000 bytes, but 1 follow"));
  EXPECT_THAT(Damage(std::string(8, '\xff') + "{}"),
              HasSubstr("truncated, or not a safetensors file"));
  const std::string path =
      Put("x.safetensors", File("", "").replace(0, 8, std::string("\0\0\0\6\0\0\0\0", 8)));
  std::filesystem::resize_file(path, 200'000'000);
  EXPECT_THAT(ReadArray(path).status().message(),
              HasSubstr("has 100663296 bytes, more than the 100000000"));
}

TEST_F(SafetensorsTest, EveryTruncationIsDamage) {
  const std::string whole = File(Header(Tensor("w", "U8", "[2]", 0, 2)), "ab");
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_THAT(Damage(absl::string_view(whole).substr(0, bytes)), HasSubstr("truncated")) << bytes;
  }
}

TEST_F(SafetensorsTest, HeadersThatAreNoObjectOfTensors) {
  const std::pair<std::string, const char*> all[] = {
      {"", "does not begin with '{'"},
      {" {}", "does not begin with '{'"},
      {"[]", "does not begin with '{'"},
      {"{", "is not JSON at byte 2"},
      {"{}x", "is not JSON"},
      {"{\"w\":1}", "'w': unexpected: the number 1"},
      {"{\"w\":\"x\"}", "unexpected: a string"},
      {"{\"w\":[]}", "unexpected: a list"},
      {"{\"w\":null}", "unexpected: null"},
      {"{\"w\":true}", "unexpected: a Boolean"},
      {"{\"w\":{}}", "a tensor without 'dtype', 'shape' or 'data_offsets'"},
      {"{\"w\":{\"dtype\":\"U8\",\"shape\":[1]}}", "a tensor without"},
      {"{\"w\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1]}}", "a second 'dtype'"},
      {Header(Tensor("w", "U8", "[1]", 0, 1), Tensor("w", "U8", "[1]", 0, 1)), "a second 'w'"},
      {"{\"w\":{\"more\":1}}", "the key 'more'"},
      {"{\"w\":{\"dtype\":[]}}", "a list"},
      {"{\"w\":{\"dtype\":{}}}", "an object"},
      {"{\"w\":{\"shape\":\"1\"}}", "a string"},
      {"{\"w\":{\"shape\":1}}", "the number 1"},
      {"{\"w\":{\"shape\":[[1]]}}", "a list"},
      {"{\"w\":{\"shape\":[{}]}}", "an object"},
      {"{\"w\":{\"shape\":[\"1\"]}}", "a string"},
      {"{\"w\":{\"shape\":[-1]}}", "the number -1"},
      {"{\"w\":{\"shape\":[1.0]}}", "a fraction"},
      {"{\"w\":{\"shape\":[9223372036854775808]}}", "the number 9223372036854775808"},
      {"{\"w\":{\"shape\":[99999999999999999999]}}", "a fraction"},
      {"{\"w\":{\"shape\":[1e999]}}", "is not JSON"},
      {"{\"w\":{\"data_offsets\":[0]}}", "'data_offsets' without two numbers"},
      {"{\"w\":{\"data_offsets\":[0,1,2]}}", "'data_offsets' without two numbers"},
      {"{\"__metadata__\":{\"a\":1}}", "the number 1"},
      {"{\"__metadata__\":{\"a\":{}}}", "an object"},
      {"{\"__metadata__\":[]}", "a list"},
      {"{\"\xff\":{}}", "is not JSON"},
      {"{\"\\u001b[31m\":1}", "'\\x1b[31m': unexpected"}};
  for (const auto& [header, expected] : all) {
    EXPECT_THAT(Damage(File(header, "a")), HasSubstr(expected)) << header;
  }
  const std::string deep(1'000'000, '[');
  EXPECT_THAT(Damage(File("{\"w\":" + deep, "a")), HasSubstr("a list"));
  EXPECT_LT(Damage(File("{\"" + std::string(100'000, 'w') + "\":1}", "a")).size(), 1000u);
}

// Each tensor has the name of its type, and the words 1 to 6 by rows.
TEST_F(SafetensorsTest, FilesOfTheFormatsOwnLibraryAreRead) {
  const std::string command =
      absl::StrCat("python3 corpus/arrays/testing/numpy_files.py safetensors '", Path(""), "'");
  const int code = WEXITSTATUS(std::system(command.c_str()));
  constexpr int kNoSafetensors = 77, kNoPython = 127;
  if (code == kNoSafetensors || code == kNoPython) GTEST_SKIP() << "python3 has no safetensors";
  ASSERT_EQ(code, 0);
  for (const char* type :
       {"f64", "f32", "f16", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"}) {
    const absl::StatusOr<Array> array = ReadArray(absl::StrCat(Path("a.safetensors:"), type));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->type, type);
    EXPECT_THAT(array->shape, ElementsAre(2, 3));
    for (int i = 0; i < 6; ++i) EXPECT_EQ(Load(*AsMatrix(*array), i / 3, i % 3), 1u + i) << type;
  }
}

}  // namespace
}  // namespace mmadiff
