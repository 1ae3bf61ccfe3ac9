// ParsePrograms() survives any text. The programs that it accepts are executed for a few instructions:
// each ends or is an error, and writes nothing beside its memory.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "device/sass/machine.h"
#include "device/sass/natives.h"
#include "fuzz/targets/input.h"

using namespace mmadiff;
using namespace mmadiff::fuzz;

namespace {

constexpr uint64_t kMaxInstructions = 300;
constexpr size_t kBytes = 4096, kBeside = 256;
constexpr uint8_t kOld = 0x5a;

// The first and last registers, numbers and modifiers.
constexpr char kWords[] =
    "R0 R253 R254 RZ UR0 UR62 URZ P0 P6 PT UP6 !P0 -R4 ~R4 B15 0x0 0xffffffff 0x80000000 "
    "0x7fffffff "
    "0x1f [R0] [R2.64] [R254.64+UR62+-0x4] c[0x0][0xfff0] c[0x0][R4+-0x10] `(.L_x_0) `(.L_x_1) "
    "SR_TID.X PR SRZ R4.SIGN R4.H1 R4.H1_H1 R4.reuse.COL gdesc[UR59] gsb0 .64 .128 .U8 .X .HI";

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Replaces one word of the text, or changes anything.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  std::minstd_rand random(seed);
  const absl::string_view text = Text(data, size);
  const size_t at =
      random() % 4 == 0 || size == 0 ? text.npos : text.find_first_of(" .", random() % size);
  if (at == text.npos) return LLVMFuzzerMutate(data, size, max_size);
  const size_t end = std::min(text.find_first_of(" ,;.\n", at + 1), size);
  static const std::vector<std::string> words = absl::StrSplit(kWords, ' ');
  const std::string& word = words[random() % words.size()];
  const std::string changed =
      absl::StrCat(text.substr(0, at), word[0] == '.' ? "" : " ", word, text.substr(end));
  if (changed.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}

// Without the lines that are refused on their own, so that the others are executed.
static std::string Supported(absl::string_view text) {
  std::string kept;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const auto alone =
        sass::ParsePrograms(absl::StrCat("\t.section\t.text.k\n.L_x_0:\n.L_x_1:\nf:\n", line));
    if (alone.ok()) absl::StrAppend(&kept, line, "\n");
  }
  return kept;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const sass::Natives& natives = *new sass::Natives("sm_90");
  auto programs = sass::ParsePrograms(Text(data, size));
  if (!programs.ok()) programs = sass::ParsePrograms(Supported(Text(data, size)));
  if (!programs.ok()) return 0;
  for (const auto& [name, program] : *programs) {
    std::vector<uint8_t> bytes(kBytes + 2 * kBeside, kOld);
    uint8_t* const begin = bytes.data() + kBeside;
    std::memset(begin, 0, kBytes);
    const uint8_t* const parameters[] = {begin, begin + kBytes / 2, begin + kBytes};
    const sass::MemoryRange memory[] = {{begin, kBytes}};
    sass::Counts counts;
    (void)sass::Execute(
        program, {2, 64, 1024, parameters, sizeof(parameters), &natives, memory, kMaxInstructions},
        counts);
    Check(counts.instructions <= kMaxInstructions + 1);
    for (size_t i = 0; i < kBeside; ++i) {
      Check(bytes[i] == kOld && bytes[kBeside + kBytes + i] == kOld);
    }
  }
  return 0;
}
