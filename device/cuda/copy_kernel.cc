#include "device/cuda/copy_kernel.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "sim/copy/copy_field.h"
#include "sim/pattern.h"

namespace mmadiff {
namespace {

constexpr char kParameters[] = R"((
  .param .align 64 .b8 map[128], .param .u64 before, .param .u64 after, .param .u64 status,
  .param .align 4 .b8 x[20], .param .align 2 .b8 offset[6],
  .param .u32 expected, .param .u32 bytes, .param .u32 start)
)";

// $0: bytes of shared memory; $1: initializes the barrier. Each thread's writes to the tile, and the
// barrier, become visible to the async proxy.
constexpr char kFill[] = R"({
  .shared .align 1024 .b8 memory[$0];
  .shared .align 8 .b64 barrier;
  .reg .b64 %map, %where, %from;
  .reg .b32 %lane, %bytes, %tile, %expected, %i, %to, %v<4>, %x<5>, %left, %phase, %wrong, %pending;
  .reg .b16 %o<3>;
  .reg .pred %first, %end, %more;
  mov.u32 %lane, %tid.x;
  setp.eq.u32 %first, %lane, 0;
  mov.u32 %wrong, 0;
  mov.u32 %pending, 0;
  ld.param.u32 %bytes, [bytes];
  ld.param.u32 %i, [start];
  mov.u32 %tile, memory;
  add.u32 %tile, %tile, %i;
$1  ld.param.u64 %where, [before];
  shl.b32 %i, %lane, 4;
fill:
  .pragma "nounroll";
  setp.ge.u32 %end, %i, %bytes;
  @%end bra filled;
  cvt.u64.u32 %from, %i;
  add.u64 %from, %where, %from;
  add.u32 %to, %tile, %i;
  ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%from];
  st.shared.v4.b32 [%to], {%v0, %v1, %v2, %v3};
  add.u32 %i, %i, 512;
  bra fill;
filled:
  fence.proxy.async.shared::cta;
  bar.warp.sync 0xffffffff;
  @!%first bra issued;
  mov.b64 %map, map;
  cvta.param.u64 %map, %map;
)";

// $0: the copy; $1: polls; $2: offsets. test_wait, because the time that try_wait suspends is not specified.
constexpr char kLoad[] = R"(  ld.param.u32 %expected, [expected];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [barrier], %expected;
  $0, [barrier]$2;
issued:
  bar.warp.sync 0xffffffff;
  mov.u32 %left, $1;
wait:
  mbarrier.test_wait.parity.shared::cta.b64 %end, [barrier], 0;
  @%end bra complete;
  nanosleep.u32 500;
  sub.u32 %left, %left, 1;
  setp.ne.u32 %more, %left, 0;
  @%more bra wait;
  mov.u32 %wrong, 1;
complete:
  bar.warp.sync 0xffffffff;
)";
// If more bytes arrive than were expected, the barrier completes too early or not at all; in the first case
// the bytes after that keep its next phase from completing. When a phase does not complete, one thread
// balances it byte by byte: `pending` is the sum, negative for more bytes. $0: the most it can be.
constexpr char kCount[] = R"(  @!%first bra counted;
  mov.u32 %phase, 0;
  setp.ne.u32 %more, %wrong, 0;
  @%more bra balance;
  mov.u32 %phase, 1;
  nanosleep.u32 4000;
  mbarrier.arrive.shared::cta.b64 _, [barrier];
  mbarrier.test_wait.parity.shared::cta.b64 %end, [barrier], %phase;
  @%end bra counted;
  mov.u32 %wrong, 1;
balance:
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [barrier], $0;
  add.u32 %left, %expected, $0;
  mov.u32 %pending, -$0;
count:
  .pragma "nounroll";
  setp.eq.u32 %end, %left, 0;
  @%end bra unknown;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [barrier], 1;
  add.u32 %pending, %pending, 1;
  sub.u32 %left, %left, 1;
  mbarrier.test_wait.parity.shared::cta.b64 %end, [barrier], %phase;
  @%end bra counted;
  bra count;
unknown:
  mov.u32 %pending, 0x80000000;
counted:
  bar.warp.sync 0xffffffff;
)";

// $0: the copy. The wait without .read ends when the writes are visible to this thread.
constexpr char kStore[] = R"(  $0, [%tile];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
issued:
  bar.warp.sync 0xffffffff;
)";

constexpr char kWrite[] = R"(  ld.param.u64 %where, [after];
  shl.b32 %i, %lane, 4;
write:
  .pragma "nounroll";
  setp.ge.u32 %end, %i, %bytes;
  @%end bra written;
  cvt.u64.u32 %from, %i;
  add.u64 %from, %where, %from;
  add.u32 %to, %tile, %i;
  ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%to];
  st.global.v4.b32 [%from], {%v0, %v1, %v2, %v3};
  add.u32 %i, %i, 512;
  bra write;
written:
  bar.warp.sync 0xffffffff;
  ld.param.u64 %where, [status];
  @%first st.global.v2.b32 [%where], {%wrong, %pending};
  ret;
}
)";

// "add".
std::string NameOf(Reduction reduction) {
  TensorCopy copy;
  copy.reduction = reduction;
  return FindCopyField("reduction")->get(copy);
}

const char* ModeOf(CopyMode mode) {
  switch (mode) {
    case CopyMode::kTile:
      return "tile";
    case CopyMode::kGather4:
      return "tile::gather4";
    case CopyMode::kScatter4:
      return "tile::scatter4";
    case CopyMode::kIm2col:
      return "im2col";
    case CopyMode::kIm2colNoOffs:
      return "im2col_no_offs";
    case CopyMode::kIm2colW:
      return "im2col::w";
    case CopyMode::kIm2colW128:
      return "im2col::w::128";
  }
  std::abort();  // programmer error
}

int CoordinatesOf(const CopyForm& form) {
  return form.mode == CopyMode::kGather4 || form.mode == CopyMode::kScatter4 ? 5 : form.rank;
}
int OffsetsOf(const CopyForm& form) {
  return form.mode == CopyMode::kIm2col ? form.rank - 2 : form.mode >= CopyMode::kIm2colW ? 2 : 0;
}

// "{%x0, %x1}".
std::string List(const char* prefix, int n) {
  std::string list = "{";
  for (int i = 0; i < n; ++i) absl::StrAppend(&list, i == 0 ? "" : ", ", prefix, i);
  return list + "}";
}

std::string Body(const CopyEntry& e) {
  const CopyForm& f = *e.form;
  const bool load = f.direction == CopyDirection::kLoad;
  const int coordinates = CoordinatesOf(f), offsets = OffsetsOf(f);
  std::string text = absl::Substitute(
      kFill, kCopyShared, load ? "  @%first mbarrier.init.shared::cta.b64 [barrier], 1;\n" : "");
  for (int i = 0; i < coordinates; ++i) {
    absl::StrAppend(&text, "  ld.param.b32 %x", i, ", [x+", 4 * i, "];\n");
  }
  for (int i = 0; i < offsets; ++i) {
    absl::StrAppend(&text, "  ld.param.b16 %o", i, ", [offset+", 2 * i, "];\n");
  }
  const std::string map = absl::StrCat("[%map, ", List("%x", coordinates), "]");
  if (load) {
    const std::string copy = absl::Substitute(
        "cp.async.bulk.tensor.$0d.shared::cta.global.$1.mbarrier::complete_tx::bytes [%tile], $2",
        f.rank, ModeOf(f.mode), map);
    const std::string list = offsets == 0 ? "" : absl::StrCat(", ", List("%o", offsets));
    return absl::StrCat(text, absl::Substitute(kLoad, copy, kCopyPolls, list),
                        absl::Substitute(kCount, 1 << 16), kWrite);
  }
  const std::string reduction =
      f.direction == CopyDirection::kReduce ? absl::StrCat(".", NameOf(e.reduction)) : "";
  const std::string copy =
      absl::Substitute("cp.$0async.bulk.tensor.$1d.global.shared::cta$2.$3.bulk_group $4",
                       reduction.empty() ? "" : "reduce.", f.rank, reduction, ModeOf(f.mode), map);
  return absl::StrCat(text, absl::Substitute(kStore, copy), kWrite);
}

// tensormap.replace takes some values as immediates only: one instruction per value, of which one executes.
std::string Choice(const char* field, const char* parameter, int values) {
  std::string text = absl::StrCat("  ld.param.u32 %v, [", parameter, "];\n");
  for (int i = 0; i < values; ++i) {
    absl::StrAppend(&text, "  setp.eq.u32 %is, %v, ", i, ";\n  @%is tensormap.replace.tile.", field,
                    ".global.b1024.b32 [%map], ", i, ";\n");
  }
  return text;
}

// Strides are those of dimensions 1 and up, in bytes; the rank is encoded less 1.
std::string Encode(const PtxTarget& target) {
  const bool hopper = target.major == 9;
  std::string text = absl::StrCat(".visible .entry ", kEncodeKernelName, R"((
  .param .u64 map, .param .u64 base, .param .align 8 .b8 stride[32], .param .align 4 .b8 dim[20],
  .param .align 4 .b8 box[20], .param .align 4 .b8 traversal[20], .param .u32 rank, .param .u32 type,
  .param .u32 interleave, .param .u32 swizzle, .param .u32 atom, .param .u32 fill)
{
  .reg .b64 %map, %w;
  .reg .b32 %v, %rank;
  .reg .pred %is;
  ld.param.u64 %map, [map];
  ld.param.u32 %rank, [rank];
  mov.u64 %w, 0;
)");
  for (int i = 0; i < 128; i += 8) absl::StrAppend(&text, "  st.global.b64 [%map+", i, "], %w;\n");
  absl::StrAppend(&text, R"(  ld.param.u64 %w, [base];
  tensormap.replace.tile.global_address.global.b1024.b64 [%map], %w;
  sub.u32 %v, %rank, 1;
  tensormap.replace.tile.rank.global.b1024.b32 [%map], %v;
)");
  for (int d = 0; d < kMaxRank; ++d) {
    absl::StrAppend(&text, "  setp.gt.u32 %is, %rank, ", d, ";\n");
    constexpr const char* kFields[][2] = {
        {"global_dim", "dim"}, {"box_dim", "box"}, {"element_stride", "traversal"}};
    for (const auto& [field, parameter] : kFields) {
      absl::SubstituteAndAppend(&text, R"(  ld.param.u32 %v, [$0+$1];
  @%is tensormap.replace.tile.$2.global.b1024.b32 [%map], $3, %v;
)",
                                parameter, 4 * d, field, d);
    }
    if (d == 0) continue;
    absl::SubstituteAndAppend(&text, R"(  ld.param.u64 %w, [stride+$0];
  @%is tensormap.replace.tile.global_stride.global.b1024.b64 [%map], $1, %w;
)",
                              8 * (d - 1), d - 1);
  }
  absl::StrAppend(
      &text, Choice("elemtype", "type", hopper ? 13 : 16),
      Choice("interleave_layout", "interleave", 3),
      Choice("swizzle_mode", "swizzle", target.major == 10 && target.minor == 3 ? 5 : 4),
      hopper ? "" : Choice("swizzle_atomicity", "atom", 4), Choice("fill_mode", "fill", 2),
      "  ret;\n}\n");
  return text;
}

}  // namespace

std::array<void*, 9> CopyArguments::Pointers() {
  return {&map, &before, &after, &status, &x, &offset, &expected, &bytes, &start};
}

std::array<void*, 12> EncodeArguments::Pointers() {
  return {&map,  &base, &stride,     &dim,     &box,  &traversal,
          &rank, &type, &interleave, &swizzle, &atom, &fill};
}

EncodeArguments EncodeArgumentsOf(const TensorMap& map) {
  // By TensorType and Swizzle; swizzle modes with their atoms.
  constexpr uint8_t kTypes[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12, 13, 14, 15};
  constexpr uint8_t kSwizzles[][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0},
                                      {3, 1}, {3, 2}, {3, 3}, {4, 0}};
  EncodeArguments a;
  a.base = map.base;
  a.rank = map.rank;
  for (int d = 0; d < map.rank; ++d) {
    a.dim[d] = static_cast<uint32_t>(map.dim[d]);
    a.box[d] = map.box[d];
    a.traversal[d] = map.traversal[d];
    if (d > 0) a.stride[d - 1] = map.stride[d];
  }
  a.type = kTypes[static_cast<int>(map.type)];
  a.interleave = static_cast<uint32_t>(map.interleave);
  a.swizzle = kSwizzles[static_cast<int>(map.swizzle)][0];
  a.atom = kSwizzles[static_cast<int>(map.swizzle)][1];
  a.fill = static_cast<uint32_t>(map.fill);
  return a;
}

int64_t ExpectedBytes(const TensorCopy& copy) {
  const TensorMap& m = copy.map;
  int64_t rows = 1, elements = m.channels;
  switch (copy.form->mode) {
    case CopyMode::kTile:
      for (int d = 1; d < m.rank; ++d) rows *= (m.box[d] + m.traversal[d] - 1) / m.traversal[d];
      elements = m.box[0];
      break;
    case CopyMode::kGather4:
    case CopyMode::kScatter4:
      rows = 4;
      elements = m.box[0];
      break;
    case CopyMode::kIm2col:
    case CopyMode::kIm2colNoOffs:
      rows = m.pixels;
      break;
    case CopyMode::kIm2colW:
      rows = m.pixels + copy.offset[0];
      break;
    case CopyMode::kIm2colW128:
      rows = 4 * (32 + copy.offset[0]);
      break;
  }
  return rows * elements * Info(m.type).global_bytes / Info(m.type).elements;
}

std::string CopyKernelName(const CopyEntry& e, const PtxTarget& target) {
  const std::vector<std::string> archs = SplitWords(e.form->native_on);
  if (std::ranges::find(archs, target.arch) == archs.end()) return "";
  const bool reduces = e.form->direction == CopyDirection::kReduce;
  return absl::StrCat(absl::StrReplaceAll(e.form->name, {{".", "_"}}),
                      reduces ? absl::StrCat("_", NameOf(e.reduction)) : "");
}

std::vector<CopyEntry> CopyEntries(const PtxTarget& target) {
  std::vector<CopyEntry> entries;
  for (const CopyForm& form : CopyForms()) {
    const bool reduces = form.direction == CopyDirection::kReduce;
    const int kernels = reduces ? static_cast<int>(Reduction::kXor) + 1 : 1;
    for (int i = 0; i < kernels; ++i) {
      const CopyEntry entry = {&form, static_cast<Reduction>(i)};
      if (!CopyKernelName(entry, target).empty()) entries.push_back(entry);
    }
  }
  return entries;
}

std::string CopyModuleOf(const PtxTarget& target, std::span<const CopyEntry> entries) {
  std::string text = absl::StrCat(".version ", target.version, "\n.target ", target.target,
                                  "\n.address_size 64\n");
  for (const CopyEntry& e : entries) {
    absl::StrAppend(&text, ".visible .entry ", CopyKernelName(e, target), kParameters, Body(e));
  }
  return absl::StrCat(text, Encode(target));
}

}  // namespace mmadiff
