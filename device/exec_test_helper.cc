// A program on the other side of the line protocol for tests: the simulator, with ways to
// misbehave.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>

#include "device/line_protocol.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

// Modes: `line` repeats every line with its result, `bare` prints results only, `wrong_echo`
// repeats line 2 with another operand, `few` leaves out the last answer, `many` prints one more,
// `no_result` repeats lines without d, `verbose` adds comments, blank lines, upper case and CR LF.
int Answer(const Operation& op, const std::string& mode) {
  std::string last;
  int64_t number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    absl::StatusOr<ProtocolLine> parsed = ParseLine(*op.instruction, line);
    if (!parsed.ok()) {
      std::cerr << "line " << number + 1 << ": " << parsed.status() << "\n";
      return 2;
    }
    const uint64_t d = Simulate(op.model, parsed->dot);
    std::cout << last;
    if (mode == "wrong_echo" && ++number == 2) parsed->dot.b.back() ^= 1;
    last = mode == "bare"        ? HexWord(*op.instruction->d, d)
           : mode == "no_result" ? FormatLine(*op.instruction, parsed->dot)
                                 : FormatLine(*op.instruction, parsed->dot, d);
    if (mode == "verbose") {
      for (char& c : last) c = static_cast<char>(std::toupper(c));
      last = "# a comment\n\n  " + last + "\r";
    }
    last += "\n";
  }
  if (mode != "few") std::cout << last;
  if (mode == "many") std::cout << last;
  return 0;
}

}  // namespace
}  // namespace mmadiff

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  const char* name = std::getenv("MMADIFF_INSTRUCTION");
  const mmadiff::Operation* op = name == nullptr ? nullptr : mmadiff::FindOperation(name);
  if (op == nullptr || argc != 2) {
    std::fprintf(stderr, "usage: MMADIFF_INSTRUCTION=ARCH/INSTRUCTION %s MODE\n", argv[0]);
    return 2;
  }
  return mmadiff::Answer(*op, argv[1]);
}
