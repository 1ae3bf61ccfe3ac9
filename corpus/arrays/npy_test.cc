// Files of NumPy, made from bytes: each version of the format, each type, each error.
#include "corpus/arrays/npy.h"

#include <gmock/gmock.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "corpus/testing/folder.h"
#include "device/little_endian.h"

namespace mmadiff {
namespace {

using absl::StatusCode;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Bytes(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

std::string Npy(absl::string_view header, absl::string_view data, int version = 1) {
  std::string file = absl::StrCat("\x93NUMPY", std::string(1, static_cast<char>(version)),
                                  absl::string_view("\0", 1));
  AppendLittleEndian(header.size(), version == 1 ? 2 : 4, file);
  return absl::StrCat(file, header, data);
}
std::string Header(absl::string_view descr, absl::string_view shape, bool fortran = false) {
  return absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                      ", 'shape': ", shape, ", }   \n");
}

class NpyTest : public TestFolder {
 protected:
  absl::StatusOr<Array> Read(absl::string_view bytes) { return ReadArray(Put("x.npy", bytes)); }
  std::string WhyNot(absl::string_view bytes, StatusCode code) {
    const absl::Status s = Read(bytes).status();
    EXPECT_EQ(s.code(), code) << s;
    const std::string message(s.message());
    EXPECT_THAT(message, HasSubstr("x.npy: "));
    EXPECT_EQ(message.find('\n'), message.npos) << message;
    return message;
  }
  std::string Damage(absl::string_view bytes) { return WhyNot(bytes, StatusCode::kDataLoss); }
  std::string Usage(absl::string_view bytes) { return WhyNot(bytes, StatusCode::kInvalidArgument); }
};

TEST_F(NpyTest, AllVersionsAndOrders) {
  const std::string data = Bytes({1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0});
  for (const int version : {1, 2, 3}) {
    for (const bool fortran : {false, true}) {
      const absl::StatusOr<Array> array =
          Read(Npy(Header("<f2", "(2, 3)", fortran), data, version));
      ASSERT_TRUE(array.ok()) << array.status();
      EXPECT_EQ(array->type, "f16");
      EXPECT_EQ(array->format, &kF16);
      EXPECT_THAT(array->shape, ElementsAre(2, 3));
      const Words words = *AsMatrix(*array);
      EXPECT_EQ(Load(words, 0, 1), fortran ? 3u : 2u);
      EXPECT_EQ(Load(words, 1, 0), fortran ? 2u : 4u);
      EXPECT_EQ(Load(words, 1, 2), 6u);
    }
  }
}

TEST_F(NpyTest, Types) {
  const std::tuple<const char*, const char*, const Format*> all[] = {
      {"<f8", "f64", &kF64},   {"<f4", "f32", &kF32},   {"<f2", "f16", &kF16},
      {"<f1", "e5m2", &kE5m2}, {"|i1", "s8", &kS8},     {"<i2", "s16", &kS16},
      {"<i4", "s32", &kS32},   {"<i8", "s64", nullptr}, {"|u1", "u8", nullptr},
      {"<u2", "u16", nullptr}, {"<u4", "u32", nullptr}, {"<u8", "u64", nullptr},
      {"<V1", "u8", nullptr},  {"|V1", "u8", nullptr},  {"<V2", "u16", nullptr},
      {"|V2", "u16", nullptr}, {"|V4", "u32", nullptr}, {"|V8", "u64", nullptr}};
  for (const auto& [descr, type, format] : all) {
    const std::string word = Bytes({0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88});
    const size_t bytes = descr[2] - '0';
    const absl::StatusOr<Array> array =
        Read(Npy(Header(descr, "(1, 1)"), absl::string_view(word).substr(0, bytes)));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_EQ(array->type, type) << descr;
    EXPECT_EQ(array->format, format) << descr;
    EXPECT_EQ(array->bits, static_cast<int>(8 * bytes)) << descr;
    EXPECT_EQ(Load(*AsMatrix(*array), 0, 0), 0x8807860584038201 & LowBits(array->bits)) << descr;
  }
}

TEST_F(NpyTest, BigEndianIsSwapped) {
  const std::string data = Bytes({1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(Load(*AsMatrix(*Read(Npy(Header(">f4", "(1, 2)"), data))), 0, 1), 0x05060708u);
  EXPECT_EQ(Load(*AsMatrix(*Read(Npy(Header(">f8", "(1, 1)"), data))), 0, 0), 0x0102030405060708u);
  EXPECT_EQ(Load(*AsMatrix(*Read(Npy(Header(">u2", "(4, 1)"), data))), 2, 0), 0x0506u);
}

TEST_F(NpyTest, ShapesAndSpellings) {
  EXPECT_THAT(Read(Npy(Header("<f2", "()"), "12"))->shape, ElementsAre());
  EXPECT_THAT(Read(Npy(Header("<f2", "(3,)"), "123456"))->shape, ElementsAre(3));
  EXPECT_THAT(Read(Npy(Header("<f2", "(0, 3)"), ""))->shape, ElementsAre(0, 3));
  const absl::StatusOr<Array> deep = Read(Npy(Header("|u1", "(1, 2, 1, 1, 1, 1, 1, 2)"), "1234"));
  ASSERT_TRUE(deep.ok()) << deep.status();
  EXPECT_THAT(deep->strides, ElementsAre(4, 2, 2, 2, 2, 2, 2, 1));
  for (const char* header :
       {"{'descr':'|u1','fortran_order':False,'shape':(1,1)}",
        " {\"shape\" : ( 1 , 1 , ) ,\n\t\"fortran_order\":False,\"descr\" : \"|u1\" , } \n"}) {
    EXPECT_TRUE(Read(Npy(header, "1")).ok()) << header;
  }
}

TEST_F(NpyTest, HeadersThatAreNoDictionaryOfLiterals) {
  EXPECT_THAT(Damage(Npy("", "1")), HasSubstr("header: expected '{' at byte 0"));
  const std::pair<const char*, const char*> all[] = {
      {"{", "a string"},
      {"[]", "'{'"},
      {"{}", "the keys 'descr', 'fortran_order' and 'shape' at byte 2"},
      {"{'descr': '|u1', 'fortran_order': False, }", "the keys"},
      {"{'descr': '|u1', 'descr': '|u1', 'shape': (1, 1)}", "each key once"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), 'more': 1}", "the keys"},
      {"{'descr': '|u1' 'fortran_order': False, 'shape': (1, 1)}", "',' or '}'"},
      {"{'descr' '|u1', 'fortran_order': False, 'shape': (1, 1)}", "':'"},
      {"{'descr': '|u1, }", "a string"},
      {"{'descr': '|\\x75\\x31', 'fortran_order': False, 'shape': (1, 1)}", "a string"},
      {"{'descr': u1, 'fortran_order': False, 'shape': (1, 1)}", "a string"},
      {"{'descr': __import__('os').abort(), 'fortran_order': False, 'shape': (1, 1)}", "a string"},
      {"{'descr': '|u1', 'fortran_order': 0, 'shape': (1, 1)}", "True or False"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': [1, 1]}", "a tuple"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1)}", "a tuple, '(N,)'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (,)}", "a number"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1 1)}", "',' or ')'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,,1)}", "a number"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (01, 1)}", "a number"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (-1, -1)}", "a number from 0"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1.0, 1)}", "',' or ')'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775808,)}", "a number"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)}}", "nothing behind '}'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1)", "',' or '}'"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, ", "a number"}};
  for (const auto& [header, expected] : all) {
    EXPECT_THAT(Damage(Npy(header, "1")), HasSubstr(absl::StrCat("expected ", expected))) << header;
  }
  EXPECT_THAT(Damage(Npy("{'\n\x1b[31m", "1")), HasSubstr("not ''\\x0a\\x1b[31m'"));
}

TEST_F(NpyTest, TypesThatAreNotRead) {
  EXPECT_THAT(
      Usage(Npy(Header("|O", "(1, 1)"), "12345678")),
      HasSubstr("type '|O': object arrays hold pickled Python objects, which are never read"));
  EXPECT_THAT(
      Usage(Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }", "1234")),
      HasSubstr("structured arrays are not read; save one field"));
  for (const char* descr :
       {"<c8", "|b1", "|S3", "<U2", "<M8[s]", "<f16", "|V3", "<W4", "<", "", "f", "|<f4"}) {
    EXPECT_THAT(Usage(Npy(Header(descr, "(1, 1)"), "12345678")),
                HasSubstr(absl::StrCat("type '", descr, "' is not read; save f2, f4")));
  }
  for (const char* descr : {"f4", "|f4", "<>f4", "u1"}) {
    EXPECT_THAT(Usage(Npy(Header(descr, "(1, 1)"), "1234")), HasSubstr("has no byte order"))
        << descr;
  }
  EXPECT_THAT(Usage(Npy(Header(">V2", "(1, 1)"), "12")), HasSubstr("with '<' or '|' only"));
  EXPECT_THAT(Usage(Npy(Header("|u1", "(1, 1, 1, 1, 1, 1, 1, 1, 1)"), "1")),
              HasSubstr("has 9 dimensions; at most 8 are read"));
}

TEST_F(NpyTest, EveryTruncationIsDamage) {
  for (const int version : {1, 2, 3}) {
    const std::string whole = Npy(Header("<f2", "(2, 2)"), "12345678", version);
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const std::string message = Damage(absl::string_view(whole).substr(0, bytes));
      EXPECT_THAT(message, HasSubstr(bytes < 6 ? "is not an .npy file" : "truncated")) << bytes;
    }
    EXPECT_TRUE(Read(whole).ok());
    EXPECT_THAT(Damage(whole + "9"),
                HasSubstr("has 9 bytes of words, but f16 of shape (2, 2) needs 8"));
  }
}

TEST_F(NpyTest, SizesAreCheckedBeforeAnythingIsAllocated) {
  for (const char* shape : {"(4611686018427387904, 4611686018427387904)", "(9223372036854775807,)",
                            "(0, 9223372036854775807, 9223372036854775807)"}) {
    EXPECT_THAT(Damage(Npy(Header("<f8", shape), "12345678")), HasSubstr("needs too many bytes"));
  }
  EXPECT_THAT(Damage(Npy(Header("<f8", "(1000000, 1000000)"), "12345678")),
              HasSubstr("needs 8000000000000 bytes, but only 8 follow"));
  EXPECT_THAT(Damage(Npy("", "", 2).replace(8, 4, "\xff\xff\xff\xff")),
              HasSubstr("its header has 4294967295 bytes, but only 0 follow"));
  EXPECT_THAT(Damage(Npy(std::string(70000, ' '), "", 2)), HasSubstr("more than the 65536"));
  // A file with holes, which needs no space on the disk.
  const std::string path = Put("x.npy", Npy(Header("|u1", "(17179869185, 1)"), ""));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + (uint64_t{1} << 34) + 1);
  EXPECT_THAT(ReadArray(path).status().message(),
              HasSubstr("an array of 17179869185 bytes; at most"));
  EXPECT_EQ(ReadArray(path).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(NpyTest, OtherFilesAndVersions) {
  EXPECT_THAT(Damage("PK\x03\x04 of an .npz file"), HasSubstr("is not an .npy file"));
  EXPECT_THAT(Damage(""), HasSubstr("is not an .npy file"));
  EXPECT_THAT(Damage(Npy(Header("|u1", "(1, 1)"), "1", 4)), HasSubstr("has version 4.0"));
  EXPECT_THAT(Damage(Npy(Header("|u1", "(1, 1)"), "1").replace(7, 1, "\x02")),
              HasSubstr("version 1.2"));
}

TEST_F(NpyTest, WrittenFilesAreReadBack) {
  for (const Format* f : kFormats) {
    const int bits = ElementTypeOf(*f).bits;
    std::vector<unsigned char> bytes(6 * bits / 8);
    const MutableWords words = {bytes.data(), 1, 2, bits};  // by columns
    for (int i = 0; i < 6; ++i)
      Store(words, i / 3, i % 3, (0x0102030405060708 + i) & LowBits(f->bits));
    const Words in = {bytes.data(), 1, 2, bits};
    const absl::Status s = WriteNpy(Path("w.npy"), in, 2, 3, *f);
    ASSERT_TRUE(s.ok()) << s;
    const absl::StatusOr<Array> array = ReadArray(Path("w.npy"));
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_TRUE(CheckHolds(*array, *f).ok()) << f->name << " is " << array->type;
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(Load(*AsMatrix(*array), i / 3, i % 3), Load(in, i / 3, i % 3)) << f->name;
    }
  }
}

TEST_F(NpyTest, WrittenBytes) {
  const uint32_t word = 0x3f800000;
  const Words words = {reinterpret_cast<const unsigned char*>(&word), 1, 1, 32};
  EXPECT_EQ(*NpyBytes(words, 1, 1, kF32),
            Npy(absl::StrCat("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }",
                             std::string(58, ' '), "\n"),
                Bytes({0, 0, 0x80, 0x3f})));
  const std::pair<const Format*, const char*> all[] = {
      {&kF64, "'<f8'"},  {&kTf32, "'<f4'"}, {&kF16, "'<f2'"}, {&kBf16, "'<V2'"}, {&kE4m3, "'<V1'"},
      {&kE5m2, "'<V1'"}, {&kE2m1, "'<V1'"}, {&kS32, "'<i4'"}, {&kS8, "'|i1'"},   {&kU8, "'|u1'"}};
  for (const auto& [format, descr] : all) {
    EXPECT_THAT(*NpyBytes({nullptr, 0, 0, ElementTypeOf(*format).bits}, 0, 0, *format),
                HasSubstr(descr));
  }
  EXPECT_EQ(NpyBytes(words, 1, 1, kF16).status().message(),
            "words of 32 bits are not f16, which has 16");
  EXPECT_EQ(WriteNpy(Path("w.npy"), words, -1, 1, kF32).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(WriteNpy(Path("none/w.npy"), words, 1, 1, kF32).code(), StatusCode::kDataLoss);
}

// Runs corpus/arrays/testing/numpy_files.py. Skips where Python has no NumPy.
class NumpyTest : public NpyTest {
 protected:
  int Python(absl::string_view arguments) const {
    const std::string command = absl::StrCat("python3 corpus/arrays/testing/numpy_files.py ",
                                             arguments, " '", Path(""), "'");
    return WEXITSTATUS(std::system(command.c_str()));
  }
  static constexpr int kNoNumpy = 77, kNoPython = 127;
};

// The script names each file TYPE.ORDER.npy; its words are 1 to 6 by rows.
TEST_F(NumpyTest, FilesOfNumpyAreRead) {
  const int code = Python("write");
  if (code == kNoNumpy || code == kNoPython) GTEST_SKIP() << "python3 has no NumPy";
  ASSERT_EQ(code, 0);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Path(""))) {
    const absl::StatusOr<Array> array = ReadArray(entry.path().string());
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_THAT(array->shape, ElementsAre(2, 3)) << entry.path();
    const std::string file = entry.path().filename().string();
    EXPECT_EQ(array->type, file.substr(0, file.find('.'))) << file;
    for (int i = 0; i < 6; ++i)
      EXPECT_EQ(Load(*AsMatrix(*array), i / 3, i % 3), 1u + i) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 30);
}

// The script compares the words of FORMAT.npy with 1 to 6.
TEST_F(NumpyTest, NumpyReadsWrittenFiles) {
  for (const Format* f : kFormats) {
    if (f == &kB1) continue;
    std::vector<unsigned char> bytes(6 * ElementTypeOf(*f).bits / 8);
    const MutableWords words = {bytes.data(), 3, 1, ElementTypeOf(*f).bits};
    for (int i = 0; i < 6; ++i) Store(words, i / 3, i % 3, 1 + i);
    ASSERT_TRUE(
        WriteNpy(Path(absl::StrCat(f->name, ".npy")), {bytes.data(), 3, 1, words.bits}, 2, 3, *f)
            .ok());
  }
  const int code = Python("check");
  if (code == kNoNumpy || code == kNoPython) GTEST_SKIP() << "python3 has no NumPy";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace mmadiff
