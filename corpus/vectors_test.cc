// Every answer of corpus/vectors, against the simulator and against the reference, with the model
// of the row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// What the folder has: a file that is missing or cut, or a record that is gone, would pass unseen.
const std::map<std::string, int> kVectors = {
    {"differences", 0},
    {"expected", 0},
};
constexpr int kObserved = 0, kPublished = 0, kExpected = 0, kContested = 0;  // dot products

std::vector<VectorFile> Files() {
  std::vector<VectorFile> files;
  for (const auto& entry : std::filesystem::directory_iterator("corpus/vectors")) {
    absl::StatusOr<VectorFile> file = ReadVectors(entry.path().string());
    EXPECT_TRUE(file.ok()) << file.status();
    if (file.ok()) files.push_back(*std::move(file));
  }
  return files;
}

// The model must give every answer but the contested ones, and must not give those.
void Check(const Vector& v, const VectorCase& c) {
  const uint64_t simulated = Simulate(c.row->model, c.dot);
  const bool wanted = c.answer->kind != AnswerKind::kContested;
  const std::string where = absl::StrCat(
      v.name, ": ", Name(c.answer->kind), " ", WordText(v, *c.answer), ", the simulator has ",
      HexWord(*v.d, simulated), "\n", c.row->name, " ", FormatLine(*c.row->instruction, c.dot));
  EXPECT_EQ(Is(*c.answer, *c.row, simulated), wanted) << where;
  EXPECT_EQ(ReferenceDotProduct(c.row->model, c.dot), simulated) << where;
}

TEST(Vectors, SimulatorAndReferenceGiveEveryAnswer) {
  std::map<std::string, int> vectors;
  int checked[4] = {};
  for (const VectorFile& file : Files()) {
    for (const Vector& v : file.vectors) {
      EXPECT_NE(FindVector(v.name), nullptr) << v.name << " is not in the program";
      ++vectors[v.name.substr(0, v.name.find('/'))];
      for (const VectorCase& c : CasesOf(v)) {
        Check(v, c);
        ++checked[static_cast<int>(c.answer->kind)];
      }
    }
  }
  EXPECT_EQ(vectors, kVectors);
  EXPECT_THAT(checked, testing::ElementsAre(kObserved, kPublished, kExpected, kContested));
  std::map<std::string, int> embedded;
  for (const VectorFile& file : EmbeddedVectors()) {
    embedded[file.vectors[0].name.substr(0, file.vectors[0].name.find('/'))] +=
        static_cast<int>(file.vectors.size());
  }
  EXPECT_EQ(embedded, kVectors);
}

// Two papers may have made the same experiment; one file has no dot product of one set of formats
// twice, and what belongs to no paper repeats none.
TEST(Vectors, EachStandsOnce) {
  std::map<std::string, std::string> seen;
  for (const VectorFile& file : Files()) {
    for (const Vector& v : file.vectors) {
      for (const VectorCase& c : CasesOf(v)) {
        if (c.answer != &v.answers[0] || c.row != v.answers[0].rows[0]) continue;
        const std::string dot =
            absl::StrCat(c.row->instruction->a->name, c.row->instruction->d->name, " ",
                         FormatLine(*c.row->instruction, c.dot));
        const auto [at, added] = seen.emplace(dot, v.name);
        EXPECT_TRUE(added) << v.name << " repeats " << at->second << ": " << dot;
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
