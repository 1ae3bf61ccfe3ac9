// A program on the other side of the protocols for tests: the simulator, with ways to misbehave.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "device/line_protocol.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

constexpr int kHeadBytes = 4;

// The input on which it does what it does on one input.
bool IsChosen(const DotProductCase& dot) { return (dot.a[0] & 0xff) == 7; }

// How a process ends that has a fault.
void Fail(const std::string& how) {
  if (how == "exit") std::exit(3);
  if (how == "abort") std::abort();
  if (how == "end") std::exit(0);
  if (how == "hang") sleep(1000);
}

// Modes: `line` repeats every line with its result, `bare` prints results only, `wrong_echo`
// repeats line 2 with another operand, `few` leaves out the last answer, `many` prints one more,
// `no_result` repeats lines without d, `verbose` adds comments, blank lines, upper case and CR LF.
// `flush` answers at once. On the chosen input `x`, `wide`, `warn` (before the answer), `mutter` (behind it)
// and `talk` (in its place) print what is no word, and `exit`, `abort`, `end` and `hang` do so; with `at=N` on line N instead.
// `late=N`: wrong from line N on.
class Program {
 public:
  Program(const Operation& op, std::vector<std::string> modes) : op_(op), modes_(std::move(modes)) {
    for (const std::string& mode : modes_) {
      const auto number = [&mode] { return std::stoll(mode.substr(mode.find('=') + 1)); };
      if (mode.starts_with("at=")) at_ = number();
      if (mode.starts_with("late=")) late_ = number();
    }
  }

  int AnswerLines() {
    std::string last = Is("greet") ? "Good morning\n" : "";
    for (std::string line; std::getline(std::cin, line);) {
      absl::StatusOr<ProtocolLine> parsed = ParseLine(*op_.instruction, line);
      if (!parsed.ok()) {
        std::cerr << "line " << number_ + 1 << ": " << parsed.status() << "\n";
        return 2;
      }
      std::cout << last;
      if (Is("flush")) std::cout << std::flush;
      const uint64_t d = Result(parsed->dot);
      if (Is("wrong_echo") && number_ == 2) parsed->dot.b.back() ^= 1;
      last = Is("bare")        ? HexWord(*op_.instruction->d, d)
             : Is("no_result") ? FormatLine(*op_.instruction, parsed->dot)
                               : FormatLine(*op_.instruction, parsed->dot, d);
      const size_t word =
          last.size() - std::min<size_t>(last.size(), HexDigits(*op_.instruction->d));
      if (chosen_ && Is("x")) last.replace(word, last.npos, "0000xxZz");
      if (chosen_ && Is("wide")) last += "00";
      if (chosen_ && Is("talk")) last = "%Error: none";
      if (chosen_ && Is("warn")) last = "%Warning: look at this\n" + last;
      if (Is("verbose")) {
        for (char& c : last) c = static_cast<char>(std::toupper(c));
        last = "# a comment\n\n  " + last + "\r";
      }
      last += "\n";
      if (Is("flush")) std::cout << std::exchange(last, "") << std::flush;
      if (chosen_ && Is("mutter")) last += "%Warning: look at that\n";
      if (Is("flush")) std::cout << std::exchange(last, "") << std::flush;
    }
    if (!Is("few")) std::cout << last;
    if (Is("many")) std::cout << last;
    return 0;
  }

  int AnswerFrames() {
    const Instruction& i = *op_.instruction;
    for (;;) {
      const uint64_t length = Read(kHeadBytes);
      if (std::cin.eof()) return 0;
      const int k = i.shape.k, scales = i.shape.scales;
      std::string answer;
      const int bytes = HexDigits(*i.d) / 2;
      uint64_t taken = 0;
      const auto take = [&](const Format& f) {
        taken += HexDigits(f) / 2;
        return Read(HexDigits(f) / 2);
      };
      while (taken < length) {
        DotProductCase dot;
        for (int n = 0; n < k; ++n) dot.a.push_back(take(*i.a));
        for (int n = 0; n < k; ++n) dot.b.push_back(take(*i.b));
        dot.c = take(*i.c);
        for (int n = 0; n < scales; ++n) dot.a.push_back(take(*i.scale));
        for (int n = 0; n < scales; ++n) dot.b.push_back(take(*i.scale));
        for (int n = 0; n < i.shape.groups; ++n) dot.metadata.push_back(take(kMetadataFormat));
        const uint64_t d = Result(dot);
        if (answer.empty() || Is("frame_each")) Put(bytes, kHeadBytes, answer);
        Put(d, bytes, answer);
      }
      if (!Is("frame_each")) {
        std::string head;
        Put(answer.size() - kHeadBytes, kHeadBytes, head);
        answer.replace(0, kHeadBytes, head);
      }
      std::cout << answer << std::flush;
    }
  }

  bool Is(const char* mode) const { return std::ranges::find(modes_, mode) != modes_.end(); }

 private:
  uint64_t Result(const DotProductCase& dot) {
    ++number_;
    chosen_ = at_ > 0 ? number_ == at_ : IsChosen(dot);
    if (chosen_) {
      if (!Is("flush")) std::cout << std::flush;
      for (const std::string& mode : modes_) Fail(mode);
    }
    const uint64_t d = Simulate(op_.model, dot);
    return late_ > 0 && number_ >= late_ ? d ^ 1 : d;
  }
  static uint64_t Read(int bytes) {
    uint64_t word = 0;
    for (int i = 0; i < bytes; ++i) word |= static_cast<uint64_t>(std::cin.get() & 0xff) << 8 * i;
    return word;
  }
  static void Put(uint64_t word, int bytes, std::string& out) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(word >> 8 * i);
  }

  const Operation& op_;
  const std::vector<std::string> modes_;
  int64_t at_ = 0, late_ = 0, number_ = 0;
  bool chosen_ = false;
};

}  // namespace
}  // namespace mmadiff

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  const char* name = std::getenv("MMADIFF_INSTRUCTION");
  const mmadiff::Operation* op = name == nullptr ? nullptr : mmadiff::FindOperation(name);
  if (op == nullptr || argc < 2) {
    std::fprintf(stderr, "usage: MMADIFF_INSTRUCTION=ARCH/INSTRUCTION %s MODE...\n", argv[0]);
    return 2;
  }
  mmadiff::Program program(*op, {argv + 1, argv + argc});
  return program.Is("binary") ? program.AnswerFrames() : program.AnswerLines();
}
