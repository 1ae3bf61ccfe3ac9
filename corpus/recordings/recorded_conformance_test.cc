// recorded:PATH keeps the promises of all devices for recordings of all that it is asked: a file of
// lines, and a folder of text cases.
#include "absl/strings/strip.h"
#include "corpus/recordings/recorded_device.h"
#include "corpus/regression_case.h"
#include "corpus/testing/folder.h"
#include "device/line_protocol.h"
#include "device/testing/conformance.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using testing::ValuesIn;

// The model's answers to ConformanceBatches().
class Recordings : public TestFolder {
 public:
  Recordings() {
    std::filesystem::create_directory(Path("cases"));
    std::string lines;
    for (const Operation* op : ops_) {
      absl::StrAppend(&lines, "# instruction: ", op->name, "\n");
      for (const Batch& batch : ConformanceBatches(*op)) {
        std::vector<uint64_t> d(batch.dot_products());
        Simulate(op->model, batch, d);
        for (size_t i = 0; i < d.size(); ++i) {
          const std::string line = FormatLine(*op->instruction, Extract(batch, i), d[i]);
          absl::StrAppend(&lines, line, "\n");
        }
        PutCases(*op, batch, d);
      }
    }
    Put("lines", lines);
  }

  std::vector<TestedDevice> Devices() const {
    const auto open = [](absl::string_view spec) {
      return OpenRecorded(std::string(absl::StripPrefix(spec, "recorded:")));
    };
    return {{"lines", "recorded:" + Path("lines"), ops_, open},
            {"cases", "recorded:" + Path("cases"), ops_, open}};
  }

 private:
  void TestBody() override {}

  // Each execution.
  void PutCases(const Operation& op, const Batch& batch, const std::vector<uint64_t>& d) {
    const Shape& s = batch.shape;
    for (int64_t i = 0; i < batch.count; ++i) {
      const auto part = [i](const std::vector<uint64_t>& words, int each) {
        return std::vector<uint64_t>(words.begin() + i * each, words.begin() + (i + 1) * each);
      };
      RegressionCase c;
      c.op = &op;
      c.inputs.Resize(s, 1);
      c.inputs.a = part(batch.a, s.a_words());
      c.inputs.b = part(batch.b, s.b_words());
      c.inputs.c = part(batch.c, s.d_words());
      c.inputs.metadata = part(batch.metadata, s.metadata_words());
      c.answers = {{"cuda:0", "A100", "", part(d, s.d_words())}};
      Put(absl::StrCat("cases/", cases_++, ".txtpb"), FormatCase(c));
    }
  }

  const std::vector<const Operation*> ops_ = OperationsOfEachFamily(1);
  int cases_ = 0;
};

std::vector<TestedDevice> Devices() {
  static const Recordings recordings;
  return recordings.Devices();
}

INSTANTIATE_TEST_SUITE_P(Recorded, DeviceConformance, ValuesIn(Devices()), TestName());
INSTANTIATE_TEST_SUITE_P(Recorded, Conformance, ValuesIn(OfEachOperation(Devices())), TestName());

}  // namespace
}  // namespace mmadiff
