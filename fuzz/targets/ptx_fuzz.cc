// ReadPtx() survives any bytes; the registers that it calls shared have the same name.
#include <algorithm>

#include "device/cuda/ptx_file.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text = Text(data, size);
  const auto read = mmadiff::ReadPtx(text);
  if (!read.ok()) return 0;
  const auto lines = std::ranges::count(text, '\n') + 1;
  int line = 1;
  for (const mmadiff::PtxMatrixInstruction& m : read->matrix) {
    Check(line <= m.line && m.line <= lines);
    line = m.line;
    for (const mmadiff::SharedRegister& s : m.shared) {
      const auto& operand = s.operand == 'a' ? m.a : s.operand == 'b' ? m.b : m.c;
      Check(operand.at(s.word) == m.d.at(s.d));
    }
  }
  return 0;
}
