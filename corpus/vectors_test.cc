// Every answer of corpus/vectors, against the simulator and against the reference, with the model
// of the operation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "corpus/vector_file.h"
#include "corpus/vector_folder.h"
#include "device/line_protocol.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

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
  const uint64_t simulated = Simulate(c.op->model, c.dot);
  const bool wanted = c.answer->kind != AnswerKind::kContested;
  const std::string where = absl::StrCat(
      v.name, ": ", Name(c.answer->kind), " ", WordText(v, *c.answer), ", the simulator has ",
      HexWord(*v.d, simulated), "\n", c.op->name, " ", FormatLine(*c.op->instruction, c.dot));
  EXPECT_EQ(Is(*c.answer, *c.op, simulated), wanted) << where;
  EXPECT_EQ(ReferenceDotProduct(c.op->model, c.dot), simulated) << where;
}

TEST(Vectors, SimulatorAndReferenceGiveEveryAnswer) {
  std::set<std::string> names;
  std::map<AnswerKind, int> checked;
  for (const VectorFile& file : Files()) {
    for (const Vector& v : file.vectors) {
      EXPECT_NE(FindVector(v.name), nullptr) << v.name << " is not in the program";
      names.insert(v.name);
      for (const VectorCase& c : CasesOf(v)) {
        Check(v, c);
        ++checked[c.answer->kind];
      }
    }
  }
  EXPECT_EQ(checked.size(), 4u);
  // A file that is missing or cut, or a record that is gone: counts_test has the numbers of docs/evidence.md.
  std::set<std::string> embedded;
  for (const VectorFile& file : EmbeddedVectors()) {
    for (const Vector& v : file.vectors) embedded.insert(v.name);
  }
  EXPECT_EQ(embedded, names);
}

// Of every operation that a vector with readings fits, the model gives one of them.
TEST(Vectors, ModelsGiveOneOfTheReadings) {
  int checked = 0;
  for (const VectorFile& file : Files()) {
    for (const Vector& v : file.vectors) {
      for (const Operation& op : Operations()) {
        const auto dot = DotProductOf(v, v.operands.front(), op);
        if (v.readings.empty() || !dot.ok()) continue;
        ++checked;
        const uint64_t d = Simulate(op.model, *dot);
        EXPECT_NE(ReadingOf(v, d), nullptr) << v.name << " " << op.name << HexWord(*v.d, d);
        EXPECT_TRUE(ReadingOf(v, d ^ 4) == nullptr || IsNan(*v.d, d));
      }
    }
  }
  EXPECT_GT(checked, 100);
}

// A dot product as any k has it: without the products of zeros at its end.
std::string Essence(const Vector& v, DotProductCase dot) {
  if (v.scale == nullptr) {
    while (!dot.a.empty() && dot.a.back() == 0 && dot.b.back() == 0) {
      dot.a.pop_back();
      dot.b.pop_back();
    }
  }
  const auto hex = [](const auto& out, uint64_t word) { absl::StrAppend(out, absl::Hex(word)); };
  return absl::StrCat(v.d->name, v.a->name, v.b->name, v.c->name, " ",
                      absl::StrJoin(dot.a, " ", hex), " | ", absl::StrJoin(dot.b, " ", hex), " | ",
                      absl::Hex(dot.c));
}

// But for an experiment that both papers made: each has its own answers.
TEST(Vectors, EachStandsOnce) {
  std::map<std::string, std::string> seen;
  for (const VectorFile& file : Files()) {
    for (const Vector& v : file.vectors) {
      for (const VectorCase& c : CasesOf(v)) {
        if (c.answer != &v.answers[0] || c.op != v.answers[0].ops[0]) continue;
        const auto [at, added] = seen.emplace(Essence(v, c.dot), v.name);
        const bool both = absl::StrContains(at->second + v.name, "fasi_2021/") &&
                          absl::StrContains(at->second + v.name, "hickmann_bradford_2019/");
        EXPECT_TRUE(added || both) << v.name << " repeats " << at->second << ": " << at->first;
      }
    }
  }
}

}  // namespace
}  // namespace mmadiff
