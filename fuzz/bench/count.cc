#include "fuzz/bench/count.h"

#include <algorithm>
#include <unordered_map>

#include "absl/functional/function_ref.h"
#include "device/clock.h"

#if defined(__linux__) && defined(__x86_64__)
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#define MMADIFF_COUNTS 1
#endif

namespace mmadiff {
#if MMADIFF_COUNTS
namespace {

// Instructions that only move vectors or broadcast a number, by map and opcode: a core may execute
// these in parallel with all others.
bool Moves(int map, int opcode) {
  switch (map << 8 | opcode) {
    case 0x110:
    case 0x111:
    case 0x128:
    case 0x129:  // VMOVUPS, VMOVAPS
    case 0x16e:
    case 0x17e:
    case 0x1d6:
    case 0x1e7:  // VMOVD, VMOVQ, VMOVNTDQ
    case 0x16f:
    case 0x17f:  // VMOVDQA, VMOVDQU
    case 0x218:
    case 0x219:
    case 0x21a:
    case 0x21b:  // VBROADCASTSS to VBROADCASTF64X4
    case 0x258:
    case 0x259:
    case 0x25a:
    case 0x25b:  // VPBROADCASTD to VBROADCASTI64X4
    case 0x278:
    case 0x279:
    case 0x27a:
    case 0x27b:
    case 0x27c:  // VPBROADCASTB to VPBROADCAST from registers
    case 0x177:  // VZEROUPPER
      return true;
    default:
      return false;
  }
}

// Whether the instruction at this address is vector arithmetic: Intel SDM volume 2, 2.3 (VEX), 2.7
// (EVEX).
bool IsVector(const uint8_t* code) {
  if (code[0] == 0x62) return !Moves(code[1] & 7, code[4]);
  const bool two = code[0] == 0xc5, three = code[0] == 0xc4;
  if (!two && !three) return false;
  const int map = two ? 1 : code[1] & 0x1f, opcode = code[two ? 2 : 3];
  if (Moves(map, opcode)) return false;
  if (map == 1) {  // on masks: KAND to KADD, KMOV, KORTEST, KTEST
    return !((opcode >= 0x41 && opcode <= 0x4b) || (opcode >= 0x90 && opcode <= 0x93) ||
             opcode == 0x98 || opcode == 0x99);
  }
  if (map == 2) return opcode < 0xf2 || opcode > 0xf7;        // BMI
  return opcode != 0xf0 && (opcode < 0x30 || opcode > 0x33);  // RORX, KSHIFT
}

// Counts the instructions of a traced process that has stopped before the piece.
std::optional<InstructionCount> CountSteps(pid_t child, int64_t most,
                                           absl::FunctionRef<bool()> stop) {
  std::unordered_map<uint64_t, bool> known;  // by address
  InstructionCount count;
  while (true) {
    user_regs_struct registers;
    if (ptrace(PTRACE_GETREGS, child, nullptr, &registers) != 0) return std::nullopt;
    auto at = known.find(registers.rip);
    if (at == known.end()) {
      uint8_t code[5] = {};
      const iovec here = {code, sizeof code},
                  there = {reinterpret_cast<void*>(registers.rip), sizeof code};
      process_vm_readv(child, &here, 1, &there, 1, 0);
      at = known.emplace(registers.rip, IsVector(code)).first;
    }
    if (++count.all > most || (count.all % 1024 == 0 && stop())) return std::nullopt;
    count.vector += at->second;
    int status = 0;
    if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0 ||
        waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) {
      return std::nullopt;
    }
    if (WSTOPSIG(status) == SIGSTOP) return count;  // after the piece
    if (WSTOPSIG(status) != SIGTRAP) return std::nullopt;
  }
}

template <int kBytes>
void Add64() {
  if constexpr (kBytes == 64) {
    asm volatile(
        ".rept 8\n"
        "vpaddd %%zmm0, %%zmm0, %%zmm0\n vpaddd %%zmm1, %%zmm1, %%zmm1\n"
        "vpaddd %%zmm2, %%zmm2, %%zmm2\n vpaddd %%zmm3, %%zmm3, %%zmm3\n"
        "vpaddd %%zmm4, %%zmm4, %%zmm4\n vpaddd %%zmm5, %%zmm5, %%zmm5\n"
        "vpaddd %%zmm6, %%zmm6, %%zmm6\n vpaddd %%zmm7, %%zmm7, %%zmm7\n"
        ".endr\n vzeroupper" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
  } else {
    asm volatile(
        ".rept 8\n"
        "vpaddd %%ymm0, %%ymm0, %%ymm0\n vpaddd %%ymm1, %%ymm1, %%ymm1\n"
        "vpaddd %%ymm2, %%ymm2, %%ymm2\n vpaddd %%ymm3, %%ymm3, %%ymm3\n"
        "vpaddd %%ymm4, %%ymm4, %%ymm4\n vpaddd %%ymm5, %%ymm5, %%ymm5\n"
        "vpaddd %%ymm6, %%ymm6, %%ymm6\n vpaddd %%ymm7, %%ymm7, %%ymm7\n"
        ".endr\n vzeroupper" ::
            : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
  }
}

template <int kBytes>
double MostAdds() {
  constexpr int kRounds = 50, kTimes = 2000;
  double most = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = MonotonicNow();
    for (int i = 0; i < kTimes; ++i) Add64<kBytes>();
    const double used = absl::ToDoubleNanoseconds(MonotonicNow() - start);
    most = std::max(most, 64 * kTimes / used);
  }
  return most;
}

}  // namespace

std::optional<InstructionCount> CountInstructions(absl::FunctionRef<void()> piece, int64_t most,
                                                  absl::FunctionRef<bool()> stop) {
  // Both processes on one core: waking a second core for each instruction is several times slower.
  cpu_set_t before, one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  const bool moved = sched_getaffinity(0, sizeof before, &before) == 0 &&
                     sched_setaffinity(0, sizeof one, &one) == 0;
  const pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(1);
    raise(SIGSTOP);
    piece();
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  std::optional<InstructionCount> count;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
    if (WSTOPSIG(status) == SIGSTOP) count = CountSteps(child, most, stop);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  if (moved) sched_setaffinity(0, sizeof before, &before);
  return count;
}

double VectorAddsPerNanosecond(int bytes) {
  if (bytes == 64) return __builtin_cpu_supports("avx512f") ? MostAdds<64>() : 0;
  return __builtin_cpu_supports("avx2") ? MostAdds<32>() : 0;
}
#else
std::optional<InstructionCount> CountInstructions(absl::FunctionRef<void()>, int64_t,
                                                  absl::FunctionRef<bool()>) {
  return std::nullopt;
}

double VectorAddsPerNanosecond(int) { return 0; }
#endif

}  // namespace mmadiff
