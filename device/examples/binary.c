/* The binary protocol of mmadiff (docs/formats.md) on stdin and stdout, for units in C or, through DPI, in SystemVerilog:
 *   while (next_dot(bytes)) { a = next_word(2); ... c = next_word(4); answer(d, 4); } */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" { /* Verilator compiles C as C++ */
#endif

static uint64_t left; /* unread bytes of the request */

static uint64_t little_endian(int bytes) {
  uint64_t word = 0;
  for (int i = 0; i < bytes; i++) {
    int byte = getchar_unlocked();
    if (byte == EOF) fprintf(stderr, "the input ends inside a request\n"), exit(1);
    word |= (uint64_t)byte << 8 * i;
  }
  return word;
}

/* Whether another dot product follows; its operands have `bytes` bytes. */
int next_dot(int bytes) {
  while (left == 0) {
    int byte = getchar_unlocked();
    if (byte == EOF) return 0;
    ungetc(byte, stdin);
    left = little_endian(4);
    if (left % bytes) {
      fprintf(stderr, "a request of %u bytes, not a multiple of the %d of a dot product: check protocol=binary and --instr\n", (unsigned)left, bytes);
      exit(1);
    }
  }
  return 1;
}

/* The next word of its operands: 1 byte for formats of up to 8 bits, 2 for f16 and bf16, 4 for f32. */
uint64_t next_word(int bytes) {
  left -= bytes;
  return little_endian(bytes);
}

/* Sends the result in its own frame. */
void answer(uint64_t d, int bytes) {
  for (int i = 0; i < 4; i++) putchar_unlocked(bytes >> 8 * i);
  for (int i = 0; i < bytes; i++) putchar_unlocked(d >> 8 * i & 255);
  if (left == 0) fflush(stdout); /* the next request may be sent only after this answer */
}

/* For a result with x bits, which frames cannot express. */
void unknown(void) {
  fprintf(stderr, "the result has unknown bits\n");
  fflush(stdout);
  abort();
}

#ifdef __cplusplus
}
#endif
