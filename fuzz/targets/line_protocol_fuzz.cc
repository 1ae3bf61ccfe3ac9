// ParseLine() survives any bytes; FormatLine() writes accepted lines as the same dot product. The
// first byte selects the instruction, the rest is the line.
#include "device/line_protocol.h"
#include "fuzz/targets/input.h"

using namespace mmadiff::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto instructions = mmadiff::Instructions();
  const mmadiff::Instruction& instruction = instructions[data[0] % instructions.size()];
  const absl::string_view line = Text(data + 1, size - 1);
  if (mmadiff::IsComment(line)) return 0;
  const auto parsed = mmadiff::ParseLine(instruction, line);
  if (!parsed.ok()) return 0;
  const std::string text = mmadiff::FormatLine(instruction, parsed->dot, parsed->d);
  const auto again = mmadiff::ParseLine(instruction, text);
  Check(again.ok() && again->dot == parsed->dot && again->d == parsed->d);
  return 0;
}
