// AMX by inline assembly: no compiler flag and no target attribute is needed, and the program
// starts on any x86-64. Compilers do not allocate tile registers on their own. Each assembly
// statement loads all tiles that it uses, so none has to be declared as changed.
#include "device/host_amx.h"

#include <cpuid.h>

#include <algorithm>

#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace mmadiff {
namespace {

constexpr int kRows = 16;      // per tile
constexpr int kRowBytes = 64;  // per tile row

// Linux, Documentation/arch/x86/xstate.rst: processes must request tile data. Fails if the kernel
// is too old, or an alternative signal stack is too small for the larger frame.
bool AskForTileData() {
#ifdef __linux__
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// Does XCR0 enable TILECFG (17) and TILEDATA (18)? SDM vol. 1, 13.3.
bool TilesEnabled() {
  unsigned eax, ebx, ecx, edx;
  constexpr unsigned kOsxsave = 1u << 27;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & kOsxsave)) return false;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low >> 17 & 3) == 3;
}

// CPUID leaf 7 EDX, or 0 without usable tiles.
unsigned Features() {
  unsigned eax, ebx, ecx, edx;
  constexpr unsigned kAmxTile = 1u << 24;
  if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(edx & kAmxTile)) return 0;
  return TilesEnabled() && AskForTileData() ? edx : 0;
}

// Queries CPUID once: in a virtual machine each CPUID takes as long as hundreds of tiles.
bool HasAmx(int bit) {
  static const unsigned features = Features();
  return features >> bit & 1;
}

// Palette 1 with three full tiles for the calling thread, released at the end: a thread that also
// used tiles itself must then configure them again.
class TileConfiguration {
 public:
  TileConfiguration() {
    // SDM vol. 2, LDTILECFG: the 64 bytes of memory, zero where not set here.
    struct {
      uint8_t palette = 1, start_op = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {kRowBytes, kRowBytes, kRowBytes};
      uint8_t rows[16] = {kRows, kRows, kRows};
    } memory;
    static_assert(sizeof(memory) == 64);
    asm volatile("ldtilecfg %0" : : "m"(memory));
  }
  ~TileConfiguration() { asm volatile("tilerelease"); }
  TileConfiguration(const TileConfiguration&) = delete;
  TileConfiguration& operator=(const TileConfiguration&) = delete;
};

// Images of the three tiles. SDM vol. 2, TDPBF16PS and TDPBSSD: a dword holds kPacked elements, k
// ascending from its low bits; dword i of row m of A is multiplied with dword n of row i of B.
template <class Element>
struct Tiles {
  static constexpr int kPacked = sizeof(uint32_t) / sizeof(Element);
  static constexpr int kDwords = kRowBytes / sizeof(uint32_t);
  static constexpr int k = kPacked * kDwords;

  alignas(64) uint32_t a[kRows][kDwords] = {};
  alignas(64) uint32_t b[kDwords][kRows] = {};
  alignas(64) uint32_t d[kRows * kRows] = {};  // c before the execution

  // Without a loop, which would be three times slower.
  static uint32_t Dword(const uint64_t* w) {
    if constexpr (kPacked == 2) return static_cast<uint32_t>(w[0] | w[1] << 16);
    return static_cast<uint32_t>(w[0] | w[1] << 8 | w[2] << 16 | w[3] << 24);
  }

  // Sets the first `count` rows of A and columns of B, k words each.
  void Pack(const uint64_t* rows, const uint64_t* columns, int count) {
    for (int line = 0; line < count; ++line) {
      for (int i = 0; i < kDwords; ++i) {
        a[line][i] = Dword(rows + line * k + i * kPacked);
        b[i][line] = Dword(columns + line * k + i * kPacked);
      }
    }
  }
};

// One execution. AT&T order: src2 (B), src1 (A), dest.
#define MMADIFF_TILE_INSTRUCTION(Name, mnemonic, ElementType)                              \
  struct Name {                                                                            \
    using Element = ElementType;                                                           \
    static void Do(const void* a, const void* b, void* d) {                                \
      asm volatile(                                                                        \
          "tileloadd (%[d],%[stride],1), %%tmm0\n\t"                                       \
          "tileloadd (%[a],%[stride],1), %%tmm1\n\t"                                       \
          "tileloadd (%[b],%[stride],1), %%tmm2\n\t" mnemonic                              \
          " %%tmm2, %%tmm1, %%tmm0\n\t"                                                    \
          "tilestored %%tmm0, (%[d],%[stride],1)"                                          \
          :                                                                                \
          : [a] "r"(a), [b] "r"(b), [d] "r"(d), [stride] "r"(static_cast<long>(kRowBytes)) \
          : "memory");                                                                     \
    }                                                                                      \
  }
MMADIFF_TILE_INSTRUCTION(Tdpbf16ps, "tdpbf16ps", uint16_t);
MMADIFF_TILE_INSTRUCTION(Tdpbssd, "tdpbssd", uint8_t);
MMADIFF_TILE_INSTRUCTION(Tdpbsud, "tdpbsud", uint8_t);
MMADIFF_TILE_INSTRUCTION(Tdpbusd, "tdpbusd", uint8_t);
MMADIFF_TILE_INSTRUCTION(Tdpbuud, "tdpbuud", uint8_t);
#undef MMADIFF_TILE_INSTRUCTION

// Single dot products are placed 16 at a time on the diagonal, each with its own row and column;
// the words of a and b have the same order in the batch and in a tile. Off-diagonal values, and
// rows that the last execution does not use, reach no result.
template <class Op>
void RunTiles(const Batch& batch, uint64_t* d) {
  using TilesOfOp = Tiles<typename Op::Element>;
  constexpr int k = TilesOfOp::k;
  const bool diagonal = batch.shape.m == 1;
  const int64_t rows = batch.count * batch.shape.m;
  const TileConfiguration configuration;
  TilesOfOp tiles;
  for (int64_t row = 0; row < rows; row += kRows) {
    const int used = static_cast<int>(std::min<int64_t>(kRows, rows - row));
    const int64_t first = diagonal ? row : row * kRows;  // index of the first words of c and d
    const int count = diagonal ? used : kRows * kRows;
    const int step = diagonal ? kRows + 1 : 1;
    tiles.Pack(batch.a.data() + row * k, batch.b.data() + row * k, used);
    for (int i = 0; i < count; ++i) tiles.d[i * step] = batch.c[first + i];
    Op::Do(tiles.a, tiles.b, tiles.d);
    for (int i = 0; i < count; ++i) d[first + i] = tiles.d[i * step];
  }
}

}  // namespace

bool HasAmxBf16() { return HasAmx(22); }
bool HasAmxInt8() { return HasAmx(25); }

void RunTdpbf16ps(const Batch& batch, uint64_t* d) { RunTiles<Tdpbf16ps>(batch, d); }
void RunTdpbssd(const Batch& batch, uint64_t* d) { RunTiles<Tdpbssd>(batch, d); }
void RunTdpbsud(const Batch& batch, uint64_t* d) { RunTiles<Tdpbsud>(batch, d); }
void RunTdpbusd(const Batch& batch, uint64_t* d) { RunTiles<Tdpbusd>(batch, d); }
void RunTdpbuud(const Batch& batch, uint64_t* d) { RunTiles<Tdpbuud>(batch, d); }

}  // namespace mmadiff
