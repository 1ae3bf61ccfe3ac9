/* A matrix unit for exec: in C: d = c + the sum of 16 products of f16, all aligned to the largest
 * exponent, truncated after 25 fraction bits, added exactly, and truncated to f32. One dot product per line:
 *   cc -O2 -o unit unit.c
 *   ./mmadiff run --device='exec:./unit,restart=never' --instr='sm_90/mma.m16n8k16.f32.f16.f16.f32'
 * Binary protocol:
 *   cc -O2 -DBINARY -o unit unit.c
 *   ./mmadiff run --device='exec:./unit,restart=never,protocol=binary' --instr='sm_90/mma.m16n8k16.f32.f16.f16.f32' */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FRACTION
#define FRACTION 25
#endif
enum { K = 16, NONE = -100000 };

struct term { int special, exponent, negative; uint64_t significand; }; /* 1: infinity, 2: NaN */

/* Its value is significand * 2^(exponent - bits). */
static struct term decode(uint64_t word, int exponent_bits, int bits) {
  int all = (1 << exponent_bits) - 1, field = (word >> bits) & all;
  uint64_t fraction = word & ((1ull << bits) - 1);
  struct term t = {0, field - all / 2, (word >> (exponent_bits + bits)) & 1, fraction};
  if (field == all) t.special = fraction ? 2 : 1;
  if (field == 0) t.exponent++; else t.significand |= 1ull << bits;
  if (t.significand == 0) t.exponent = NONE;
  return t;
}

uint32_t unit(const uint16_t a[K], const uint16_t b[K], uint32_t c) {
  struct term terms[K + 1];
  int top = NONE, nan = 0, infinities[2] = {0, 0};
  for (int i = 0; i <= K; i++) {
    struct term t = decode(c, 8, 23);
    if (i < K) {
      struct term y = decode(b[i], 5, 10);
      t = decode(a[i], 5, 10);
      nan |= t.special == 2 || y.special == 2 || (t.special && !y.significand) || (y.special && !t.significand);
      t.special |= y.special;
      t.exponent = t.significand && y.significand ? t.exponent + y.exponent : NONE;
      t.significand *= y.significand << 3; /* 23 fraction bits, like c */
      t.negative ^= y.negative;
    }
    nan |= t.special == 2;
    if (t.special == 1) infinities[t.negative] = 1;
    if (t.exponent > top) top = t.exponent;
    terms[i] = t;
  }
  if (nan || (infinities[0] && infinities[1])) return 0x7fffffff;
  if (infinities[0] || infinities[1]) return infinities[1] ? 0xff800000 : 0x7f800000;
  int64_t sum = 0; /* in units of 2^(top - FRACTION) */
  for (int i = 0; i <= K; i++) {
    int shift = top - terms[i].exponent;
    uint64_t cut = shift > 60 ? 0 : (terms[i].significand << 2 >> shift) >> (25 - FRACTION);
    sum += terms[i].negative ? -(int64_t)cut : (int64_t)cut;
  }
  if (sum == 0) return 0;
  uint64_t magnitude = sum < 0 ? -sum : sum;
  int exponent = top - FRACTION + 23; /* of the f32 whose significand is the magnitude */
  while (magnitude >> 24) magnitude >>= 1, exponent++;
  while (!(magnitude >> 23) && exponent > -126) magnitude <<= 1, exponent--;
  for (; exponent < -126; exponent++) magnitude >>= 1;
  uint32_t sign = sum < 0 ? 0x80000000u : 0;
  if (exponent > 127) return sign | 0x7f800000;
  return sign | (magnitude >> 23 ? (uint32_t)(exponent + 127) << 23 : 0) | (magnitude & 0x7fffff);
}

#if defined BINARY
#include "binary.c"

int main(void) {
  while (next_dot(4 * K + 4)) {
    uint16_t a[K], b[K];
    for (int i = 0; i < K; i++) a[i] = next_word(2);
    for (int i = 0; i < K; i++) b[i] = next_word(2);
    answer(unit(a, b, next_word(4)), 4);
  }
  return 0;
}
#elif !defined NO_MAIN
int main(void) {
  char line[1024];
  while (fgets(line, sizeof line, stdin)) {
    uint32_t words[2 * K + 1];
    uint16_t a[K], b[K];
    char *at = line;
    for (int i = 0; i <= 2 * K; i++) words[i] = strtoul(at, &at, 16);
    for (int i = 0; i < K; i++) a[i] = words[i], b[i] = words[K + i];
    line[strcspn(line, "\r\n")] = 0;
    printf("%s %08x\n", line, unit(a, b, words[2 * K]));
    fflush(stdout); /* the next line may be sent only after this answer */
  }
  return 0;
}
#endif
