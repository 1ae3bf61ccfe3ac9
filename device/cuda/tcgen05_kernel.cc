// tcgen05.mma: one warpgroup, one thread of which issues the instruction. A and B are in shared
// memory (A also in tensor memory), C, D and the scales in tensor memory.
#include "device/cuda/tcgen05_kernel.h"

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "device/cuda/kernel.h"

namespace mmadiff {
namespace {

struct Code {
  const Format* format;
  uint32_t code;
};

// PTX ISA 9.0, tables of 9.7.16.4.2; e2m1 is 1 for the kinds mxf4 and mxf4nvf4.
constexpr Code kFactorCodes[] = {{&kF16, 0},  {&kBf16, 1}, {&kTf32, 2}, {&kE4m3, 0}, {&kE5m2, 1},
                                 {&kE2m3, 3}, {&kE3m2, 4}, {&kE2m1, 5}, {&kU8, 0},   {&kS8, 1}};
constexpr Code kResultCodes[] = {{&kF16, 0}, {&kF32, 1}, {&kS32, 2}};
constexpr Code kScaleCodes[] = {{&kUe4m3, 0}, {&kUe8m0, 1}};

template <size_t size>
uint32_t CodeOf(const Code (&codes)[size], const Format* format) {
  for (const Code& c : codes) {
    if (c.format == format) return c.code;
  }
  std::abort();  // the table of instructions has a format that tcgen05 lacks: programmer error
}

bool Has(const Instruction& i, const char* part) { return i.name.find(part) != i.name.npos; }
bool IsFp4Only(const Instruction& i) { return i.products() == 64; }  // mxf4, mxf4nvf4

// ".kind::f16"; with scales ".kind::mxf4.block_scale.scale_vec::2X".
std::string Kind(const Instruction& i) {
  if (i.scale != nullptr) {
    const char* kind = Has(i, ".mxf4nvf4.") ? "mxf4nvf4" : IsFp4Only(i) ? "mxf4" : "mxf8f6f4";
    return absl::StrCat(".kind::", kind, ".block_scale.scale_vec::", i.shape.scales, "X");
  }
  if (IsInteger(*i.a)) return ".kind::i8";
  return i.a->bits == 32 ? ".kind::tf32" : i.a->bits == 16 ? ".kind::f16" : ".kind::f8f6f4";
}

// Columns of tensor memory, counted from the allocated one: D, A, the metadata of a sparse A or the
// scales of A and of B.
struct Columns {
  int a, metadata, scale_a, scale_b, allocated;
};
constexpr int kMetadataColumns = 4;
int MetadataWords(const Instruction& i) { return i.sparse() ? 128 * kMetadataColumns : 0; }
int WordsOfB(const Instruction& i) { return i.shape.n * (i.sparse() ? 16 : 8); }  // without scales

Columns ColumnsOf(const Instruction& i, SourceOfA source) {
  const int a = i.shape.n;  // a multiple of 8
  const int scale_a =
      a + (source == SourceOfA::kLanes ? ExtentOf(i, Operand::kALanes).registers : 0);
  int scale_b = scale_a, end = scale_a + (i.sparse() ? kMetadataColumns : 0);
  if (i.scale != nullptr) {
    scale_b += ExtentOf(i, Operand::kScaleA).registers;
    end = scale_b + ExtentOf(i, Operand::kScaleB).registers;
  }
  int allocated = 32;  // a power of two, at least 32
  while (allocated < end) allocated *= 2;
  return {a, scale_a, scale_a, scale_b, allocated};
}

// Sets %base to the words of an operand of this execution.
std::string Base(char operand, int words) {
  return absl::Substitute(
      "  ld.param.u64 %base, [p$0];\n  mad.wide.u32 %base, %execution, $1, %base;\n",
      std::string(1, operand), 4 * words);
}

// Copies `words` words from %base to shared memory, with all threads.
std::string ToShared(const std::string& name, int words) {
  return absl::Substitute(R"(  mov.u32 %i, %thread;
  mov.u32 %to, $0;
  mad.lo.u32 %to, %thread, 4, %to;
  mad.wide.u32 %at, %thread, 4, %base;
copy_$0:
  setp.ge.u32 %end, %i, $1;
  @%end bra copied_$0;
  ld.global.b32 %v0, [%at];
  st.shared.b32 [%to], %v0;
  add.u32 %i, %i, 128;
  add.u32 %to, %to, 512;
  add.u64 %at, %at, 512;
  bra copy_$0;
copied_$0:
  bar.warp.sync 0xffffffff;
)",
                          name, words);
}

// Fills columns of the warp's 32 lanes from the words of lane `index`, `first` words after %base,
// in steps of `step` columns (4 or 8).
std::string ToTensorMemory(const std::string& name, const std::string& index, int first, int column,
                           int columns, int step) {
  const bool eight = step == 8;
  return absl::Substitute(
      R"(  mad.wide.u32 %at, $1, $2, %base;
  add.u32 %column, %lanes, $3;
  mov.u32 %i, 0;
store_$0:
  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%at+$4];
$6  tcgen05.st.sync.aligned.32x32b.x$5.b32 [%column], {%v0, %v1, %v2, %v3$7};
  add.u64 %at, %at, $8;
  add.u32 %column, %column, $5;
  add.u32 %i, %i, $5;
  setp.lt.u32 %more, %i, $9;
  @%more bra store_$0;
)",
      name, index, 4 * columns, column, 4 * first, step,
      eight ? absl::StrCat("  ld.global.v4.b32 {%v4, %v5, %v6, %v7}, [%at+", 4 * first + 16, "];\n")
            : "",
      eight ? ", %v4, %v5, %v6, %v7" : "", 4 * step, columns);
}

// Loads the scales of an operand, which follow `first` words at %base. Each of the four warps
// writes them to its own 32 lanes (9.7.16.10.7: "duplicated to all 32 lane partitions").
std::string Scales(const Instruction& i, Operand operand, int first, int column) {
  return ToTensorMemory(Name(operand), "%lane", first, column, ExtentOf(i, operand).registers, 4);
}

// Shared memory descriptor (9.7.16.4.1) of a matrix of rows of 32 or 64 bytes: no swizzle, 128 bytes to
// the next core matrix in K, `stride` bytes in M or N, constant 1 in bits 46 to 48. Sets %desc_NAME.
std::string SharedDescriptor(const std::string& name, uint64_t stride) {
  const uint64_t constant = uint64_t{128 >> 4} << 16 | stride >> 4 << 32 | 1ull << 46;
  return absl::Substitute(R"(  mov.u32 %to, $0;
  bfe.u32 %to, %to, 4, 14;
  cvt.u64.u32 %desc_$0, %to;
  or.b64 %desc_$0, %desc_$0, $1;
)",
                          name, constant);
}

std::string Load(const Instruction& i, SourceOfA source, const Columns& columns) {
  const bool lanes = source == SourceOfA::kLanes;
  const int a = lanes ? 128 * 8 : i.shape.m * 8, b = WordsOfB(i);  // words, scales not counted
  const int scales_a =
      i.scale == nullptr ? MetadataWords(i) : 32 * ExtentOf(i, Operand::kScaleA).registers;
  const int scales_b = i.scale == nullptr ? 0 : 32 * ExtentOf(i, Operand::kScaleB).registers;
  // Shared memory is written through the generic proxy and read through the async proxy; all
  // threads have the allocated address after the barrier.
  std::string text =
      absl::StrCat(lanes ? "" : Base('a', a + scales_a) + ToShared("a", a), Base('b', b + scales_b),
                   ToShared("b", b), R"(  fence.proxy.async.shared::cta;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  ld.shared.b32 %tmem, [address];
  mad.lo.u32 %lanes, %warp, 0x200000, %tmem;
)",  // an address has the lane in bits 16 and up
                   Base('c', 128 * i.shape.n), ToTensorMemory("c", "%thread", 0, 0, i.shape.n, 8));
  if (lanes || scales_a > 0) absl::StrAppend(&text, Base('a', a + scales_a));
  if (lanes) absl::StrAppend(&text, ToTensorMemory("a", "%thread", 0, columns.a, 8, 8));
  if (i.sparse()) {
    absl::StrAppend(
        &text, ToTensorMemory("metadata", "%thread", a, columns.metadata, kMetadataColumns, 4));
  } else if (scales_a > 0) {
    absl::StrAppend(&text, Scales(i, Operand::kScaleA, a, columns.scale_a), Base('b', b + scales_b),
                    Scales(i, Operand::kScaleB, b, columns.scale_b));
  }
  return text;
}

// One thread of warp 0 issues the instruction; all wait until its completion arrives at the barrier
// in shared memory.
std::string Issue(const Instruction& i, SourceOfA source, const Columns& columns) {
  const bool lanes = source == SourceOfA::kLanes;
  return absl::StrCat(
      R"(  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  @!%first_warp bra issued;
  elect.sync %i|%elected, 0xffffffff;
  @!%elected bra issued;
)",
      lanes ? absl::StrCat("  add.u32 %a_column, %tmem, ", columns.a, ";\n")
            : SharedDescriptor("a", 256),
      SharedDescriptor("b", 4 * 8 * WordsOfB(i) / i.shape.n),
      i.sparse() ? absl::StrCat("  add.u32 %metadata, %tmem, ", columns.metadata, ";\n") : "",
      "  add.u32 %scale_a, %tmem, ", columns.scale_a, ";\n  add.u32 %scale_b, %tmem, ",
      columns.scale_b, ";\n  setp.eq.u32 %accumulate, 0, 0;\n  tcgen05.mma",
      i.sparse() ? ".sp" : "", ".cta_group::1", Kind(i), " [%tmem], ",
      lanes ? "[%a_column]" : "%desc_a", ", %desc_b, ", i.sparse() ? "[%metadata], " : "",
      Tcgen05Descriptor(i), i.scale == nullptr ? "" : ", [%scale_a], [%scale_b]", R"(, %accumulate;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];
issued:
  bar.warp.sync 0xffffffff;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %end, [done], 0;
  @!%end bra wait;
  bar.warp.sync 0xffffffff;
  tcgen05.fence::after_thread_sync;
)");
}

// Stores D to global memory; the warp that allocated the columns frees them.
std::string Store(const Instruction& i, const Columns& columns) {
  return absl::StrCat(Base('d', 128 * i.shape.n), "  mad.wide.u32 %at, %thread, ", 4 * i.shape.n,
                      R"(, %base;
  mov.u32 %i, 0;
load_d:
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%v0, %v1, %v2, %v3, %v4, %v5, %v6, %v7}, [%lanes];
  tcgen05.wait::ld.sync.aligned;
  st.global.v4.b32 [%at], {%v0, %v1, %v2, %v3};
  st.global.v4.b32 [%at+16], {%v4, %v5, %v6, %v7};
  add.u64 %at, %at, 32;
  add.u32 %lanes, %lanes, 8;
  add.u32 %i, %i, 8;
  setp.lt.u32 %more, %i, )",
                      i.shape.n, R"(;
  @%more bra load_d;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  @!%first_warp bra freed;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tmem, )",
                      columns.allocated, ";\nfreed:\n");
}

}  // namespace

uint32_t Tcgen05Descriptor(const Instruction& i) {
  const auto factor = [&i](const Format* f) { return IsFp4Only(i) ? 1 : CodeOf(kFactorCodes, f); };
  const uint32_t both = factor(i.a) << 7 | factor(i.b) << 10 |
                        static_cast<uint32_t>(i.shape.n / 8) << 17 |
                        static_cast<uint32_t>(i.shape.m / 16) << 24;
  if (i.scale != nullptr) return both | CodeOf(kScaleCodes, i.scale) << 23;  // scale ids 0
  const uint32_t sparse = i.sparse() ? 1u << 2 : 0;                          // selector 0
  return both | sparse | CodeOf(kResultCodes, i.d) << 4 | (Has(i, ".satfinite.") ? 1u << 3 : 0);
}

std::string Tcgen05Body(const Instruction& i, SourceOfA source) {
  const Columns columns = ColumnsOf(i, source);
  return absl::StrCat("  .shared .align 128 .b32 a[",
                      source == SourceOfA::kLanes ? 1 : i.shape.m * 8,
                      "];\n  .shared .align 128 .b32 b[", WordsOfB(i), R"(];
  .shared .align 8 .b64 done;
  .shared .align 4 .b32 address;
  .reg .b32 %execution, %thread, %warp, %lane, %tmem, %lanes, %column, %i, %to, %v<8>;
  .reg .b32 %a_column, %metadata, %scale_a, %scale_b;
  .reg .b64 %base, %at, %desc_a, %desc_b;
  .reg .pred %first, %first_warp, %elected, %accumulate, %more, %end;
  mov.u32 %execution, %ctaid.x;
  mov.u32 %thread, %tid.x;
  and.b32 %lane, %thread, 31;
  shr.u32 %warp, %thread, 5;
  setp.eq.u32 %first, %thread, 0;
  setp.eq.u32 %first_warp, %warp, 0;
  @!%first_warp bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [address], )",
                      columns.allocated, R"(;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  @%first mbarrier.init.shared::cta.b64 [done], 1;
  @%first fence.mbarrier_init.release.cluster;
allocated:
)",
                      Load(i, source, columns), Issue(i, source, columns), Store(i, columns));
}

}  // namespace mmadiff
