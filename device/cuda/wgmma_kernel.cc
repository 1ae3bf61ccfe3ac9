// wgmma.mma_async: one warpgroup of 128 lanes. B is in shared memory, A in shared memory or
// registers, the accumulators in registers.
#include "device/cuda/wgmma_kernel.h"

#include "absl/strings/str_cat.h"
#include "device/cuda/kernel.h"
#include "device/cuda/lane_words.h"

namespace mmadiff {
namespace {

constexpr int kLanes = 128;

// Matrix descriptor without the address in bits 0 to 13, for an operand of `k_bytes` along K. Bytes
// between core matrices of the image that sim/layout_wgmma.cc describes: adjacent in K (leading
// dimension byte offset, 128) and in M or N (stride dimension byte offset). For K-major operands
// without swizzle these are the meanings in the PTX ISA 9.0, 9.7.15, and in CUTLASS,
// make_gmma_desc<Major::K>, INTERLEAVE (cute/atom/mma_traits_sm90_gmma.hpp). That the four core
// matrices along K of B of a sparse instruction have one distance is a guess. Offsets are in units of
// 16 bytes; base offset 0, swizzle mode 0.
constexpr uint64_t DescriptorOf(int k_bytes) {
  return uint64_t{128 / 16} << 16 | static_cast<uint64_t>(k_bytes / 16 * 128 / 16) << 32;
}

// Copies an image of `words` words, a multiple of 64, to shared memory, word by word, and sets its
// descriptor. The operand has `all` words.
std::string LoadImage(absl::string_view name, int words, int all_words, int k_bytes) {
  std::string text = absl::StrCat(LaneBase(name, all_words, 1), "  mov.u32 %image, shared_", name,
                                  ";\n  mad.lo.u32 %to, %lane, 4, %image;\n");
  for (int first = 0; first < words; first += kLanes) {
    // The lanes without a word in the last step are whole warps.
    const bool all = words - first >= kLanes;
    if (!all) absl::StrAppend(&text, "  setp.lt.u32 %some, %lane, ", words - first, ";\n");
    const char* guard = all ? "  " : "  @%some ";
    absl::StrAppend(&text, guard, "ld.global.b32 %word, [%base+", 4 * first, "];\n", guard,
                    "st.shared.b32 [%to+", 4 * first, "], %word;\n");
  }
  // Bits 4 to 17 of the address become the lowest bits of the descriptor.
  absl::StrAppend(&text, "  bfe.u32 %image, %image, 4, 14;\n  cvt.u64.u32 %desc_", name,
                  ", %image;\n  or.b64 %desc_", name, ", %desc_", name, ", 0x",
                  absl::Hex(DescriptorOf(k_bytes), absl::kZeroPad16), ";\n");
  return text;
}

std::string LoadRegisters(absl::string_view from, absl::string_view to, int registers, int all) {
  return LaneBase(from, all, registers) + LoadLane(to, registers);
}

// The lane's metadata behind the `words` words of A.
std::string LoadMetadata(int words) {
  return absl::StrCat(LaneBase("a", words + kLanes, 1), "  ld.global.b32 %metadata, [%base+",
                      4 * words, "];\n");
}

// The operands after the descriptors: scale-d; for floating-point types imm-scale-a and
// imm-scale-b; for 16-bit types imm-trans for each operand in shared memory (PTX ISA 9.0, 9.7.15).
std::string Immediates(const Instruction& i, bool lanes) {
  if (IsInteger(*i.a)) return "%accumulate";
  const char* transpose = i.a->bits != 16 ? "" : lanes ? ", 0" : ", 0, 0";
  return absl::StrCat("%accumulate, 1, 1", transpose);
}

}  // namespace

std::string WgmmaBody(const Instruction& i, SourceOfA source) {
  const bool lanes = source == SourceOfA::kLanes;
  const int a = ExtentOf(i, Operand::kALanes).registers;
  const int a_words = ExtentOf(i, Operand::kA).registers;
  const int b_words = ExtentOf(i, Operand::kB).registers;
  const int d = ExtentOf(i, Operand::kD).registers;
  const int first = lanes ? kLanes * a : a_words, all = first + (i.sparse() ? kLanes : 0);
  const auto k_bytes = [](int k, const Format& f) { return k * f.bits / 8; };
  const char* shared = "  .shared .align 128 .b8 shared_";
  return absl::StrCat(
      lanes ? "" : absl::StrCat(shared, "a[", 4 * a_words, "];\n"), shared, "b[", 4 * b_words,
      "];\n  .reg .b32 %a<", a, ">, %d<", d,
      ">, %word, %image, %to, %lane, %execution, %metadata;\n",
      "  .reg .b64 %base, %desc_a, %desc_b;\n  .reg .pred %some, %accumulate;\n",
      "  mov.u32 %execution, %ctaid.x;\n  mov.u32 %lane, %tid.x;\n",
      lanes ? LoadRegisters("a", "a", a, all)
            : LoadImage("a", a_words, all, k_bytes(i.products(), *i.a)),
      LoadImage("b", b_words, b_words, k_bytes(i.shape.k, *i.b)),
      i.sparse() ? LoadMetadata(first) : "",
      // The warpgroup reads shared memory through the asynchronous proxy: every lane makes its own
      // stores visible to it, then waits for the others.
      "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n", LoadRegisters("c", "d", d, kLanes * d),
      "  setp.eq.u32 %accumulate, 0, 0;\n  wgmma.fence.sync.aligned;\n", "  wgmma.mma_async.",
      i.sparse() ? "sp." : "", "sync.aligned.", i.name.substr(i.name.find(".m") + 1), " ",
      Vector("d", d), ", ", lanes ? Vector("a", a) : "%desc_a", ", %desc_b, ",
      i.sparse() ? "%metadata, 0, " : "", Immediates(i, lanes),
      ";\n  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\n",
      LaneBase("d", kLanes * d, d), StoreLane("d", d));
}

}  // namespace mmadiff
