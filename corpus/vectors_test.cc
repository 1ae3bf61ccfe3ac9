// Every answer of corpus/vectors, against the simulator and against the reference, with the model
// of the row.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "corpus/vector_file.h"
#include "device/line_protocol.h"
#include "sim/reference/reference.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

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
  size_t vectors = 0, checked = 0;
  for (const std::string& path : ListVectorFiles("corpus/vectors")) {
    const absl::StatusOr<VectorFile> file = ReadVectors(path);
    ASSERT_TRUE(file.ok()) << file.status();
    for (const Vector& v : file->vectors) {
      EXPECT_NE(FindVector(v.name), nullptr) << v.name << " is not in the program";
      const std::vector<VectorCase> cases = CasesOf(v);
      for (const VectorCase& c : cases) Check(v, c);
      checked += cases.size();
      ++vectors;
    }
  }
  EXPECT_GE(vectors, 300);  // a folder that is not found would pass
  EXPECT_GE(checked, 2000);
}

}  // namespace
}  // namespace mmadiff
