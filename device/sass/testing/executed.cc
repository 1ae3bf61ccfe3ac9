#include "device/sass/testing/executed.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "device/sass/nvdisasm.h"
#include "device/sass/waits.h"

namespace mmadiff::sass {

absl::Status Executed(const Program& program, const Natives& natives, Observer& observer,
                      std::vector<uint32_t>* output) {
  std::array<std::vector<uint32_t>, 5> words;  // a, b, c, d, the processor
  std::array<const void*, 5> parameters;
  std::vector<MemoryRange> memory;
  std::mt19937 random(1);
  for (size_t i = 0; i < words.size(); ++i) {
    words[i].resize(4096);
    for (uint32_t& word : words[i]) word = i < 3 ? static_cast<uint32_t>(random()) : 0;
    parameters[i] = words[i].data();
    memory.push_back({words[i].data(), 4 * words[i].size()});
  }
  const bool group = absl::c_any_of(program.instructions,
                                    [](const Instruction& in) { return in.name == "WARPGROUP"; });
  Counts counts;
  const absl::Status s = Execute(program,
                                 {.blocks = 1,
                                  .threads = group ? 128 : 32,
                                  .shared_bytes = 4096,
                                  .parameters = parameters.data(),
                                  .parameter_bytes = sizeof(parameters),
                                  .natives = &natives,
                                  .memory = memory,
                                  .observer = &observer},
                                 counts);
  if (output != nullptr) *output = words[3];
  return s;
}

std::string Missing(const std::vector<Line>& lines, bool encodings) {
  std::string text = "\t.target\tsm_90a\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n";
  for (size_t i = 0; i < lines.size(); ++i) {
    const Control& c = lines[i].control;
    absl::StrAppendFormat(&text, "        /*%04x*/ %s ; /* 0x0000000000000000 */\n", 16 * i,
                          lines[i].text);
    const uint64_t bits =
        uint64_t{c.waits} << 52 | uint64_t(c.read_barrier) << 49 | uint64_t(c.write_barrier) << 46;
    if (encodings) absl::StrAppendFormat(&text, " /* 0x%016x */\n", bits);
  }
  const absl::StatusOr<Programs> programs = ParsePrograms(text);
  EXPECT_TRUE(programs.ok()) << programs.status();
  const Natives natives("sm_90");
  Waits waits("sm_90a", natives);
  return std::string(Executed(programs->at("k"), natives, waits).message());
}

Programs ProgramsIn(const std::string& cubin, absl::string_view target) {
  Programs programs;
  const absl::StatusOr<std::string> text = DisassembledText(FindDisassembler().value(), cubin);
  EXPECT_TRUE(text.ok()) << text.status();
  for (const absl::string_view part : absl::StrSplit(text.value_or(""), "\n//---")) {
    auto some = ParsePrograms(absl::StrCat("\t.target\t", target, "\n", part));
    if (some.ok()) programs.merge(*some);
  }
  return programs;
}

}  // namespace mmadiff::sass
