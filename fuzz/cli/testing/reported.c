/* Faulty devices like those of public bug reports, for exec: (one dot product a line).
 *   reported                                 lists the modes
 *   reported MODE [MMADIFF [INSTRUCTION]]    [mmadiff, $MMADIFF_INSTRUCTION]
 * A unit computes each answer, also with restart=never. A map changes the operands of all lines, and
 * `MMADIFF eval INSTRUCTION` computes the answers: only its reading of operands is wrong. */
#define _GNU_SOURCE
#include <math.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 1024, MOST_TEXT = 32 * 1024, NONE = -100000 };
typedef uint64_t word;

/* a: w[0..k), b: w[k..2k), c: w[2k], then `scales` for a and as many for b. */
struct line { int k, scales, count, digits[MOST_WORDS]; word w[MOST_WORDS]; };

static float f32(word w) { uint32_t u = w; float f; memcpy(&f, &u, 4); return f; }
static word word_of_f32(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static double f64(word w) { double f; memcpy(&f, &w, 8); return f; }
static word word_of_f64(double f) { word w; memcpy(&w, &f, 8); return w; }
static float bf16(word w) { return f32(w << 16); }
static float f16(word w) {
  const int exponent = w >> 10 & 31, fraction = w & 1023;
  double v = exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24);
  if (exponent == 31) v = fraction ? NAN : INFINITY;
  return w >> 15 & 1 ? -v : v;
}
static int64_t s8(word w) { return (int8_t)w; }
static int64_t u8(word w) { return (uint8_t)w; }
static int64_t u4(word w) { return w & 15; }
static int64_t s16_saturated(int64_t v) { return v > 32767 ? 32767 : v < -32768 ? -32768 : v; }
static int64_t s16_wrapped(int64_t v) { return (int16_t)v; }
static int exponent_of(double v) { int e; frexp(v, &e); return e; }
static int is_number(double v) { return isfinite(v) && v != 0; }

/* Units. */

static word chain(const struct line *x, float (*read)(word)) {
  volatile float sum = f32(x->w[2 * x->k]);
  for (int i = 0; i < x->k; i++) {
    volatile float product = read(x->w[i]) * read(x->w[x->k + i]);
    sum = sum + product;
  }
  return word_of_f32(sum);
}
static word simde(const struct line *x) { return chain(x, bf16); }
static word f32mac(const struct line *x) { return chain(x, f32); }

static word killprod(const struct line *x) {
  const double a = f64(x->w[0]), b = f64(x->w[1]), c = f64(x->w[2]);
  const int far = is_number(a * b) && is_number(c) && exponent_of(c) - exponent_of(a * b) >= 53;
  return word_of_f64(far ? c : fma(a, b, c));
}
static word killprod32(const struct line *x) {
  const float a = f32(x->w[0]), b = f32(x->w[1]), c = f32(x->w[2]);
  const double product = (double)a * b;
  const int far = is_number(product) && is_number(c) && exponent_of(c) - exponent_of(product) >= 24;
  return word_of_f32(far ? c : fmaf(a, b, c));
}
static word xsfma(const struct line *x) {
  const float a = f32(x->w[0]), b = f32(x->w[1]), c = f32(x->w[2]);
  const double product = (double)a * b;
  const int far = is_number(product) && is_number(c) && exponent_of(c) - exponent_of(product) >= 24;
  return word_of_f32(far && !signbit(product) != !signbit(c) ? nextafterf(c, 0) : fmaf(a, b, c));
}

static word integers(const struct line *x, int64_t (*of_a)(word), int64_t (*of_b)(word)) {
  int64_t sum = x->w[2 * x->k];
  for (int i = 0; i < x->k; i++) sum += of_a(x->w[i]) * of_b(x->w[x->k + i]);
  return (uint32_t)sum;
}
static word s8_as_u8(const struct line *x) { return integers(x, u8, u8); }
static word a_u8(const struct line *x) { return integers(x, u8, s8); }
static word dpbusd_ss(const struct line *x) { return integers(x, s8, s8); }
static word s4_as_u4(const struct line *x) { return integers(x, u4, u4); }
static word badcore(const struct line *x) { return a_u8(x) ^ (sched_getcpu() == 1 ? 0x100 : 0); }

static word pairs(const struct line *x, int64_t (*narrow)(int64_t)) {
  const word *a = x->w, *b = a + x->k;
  int64_t sum = a[2 * x->k];
  for (int i = 0; i < x->k; i += 2) sum += narrow(u8(a[i]) * s8(b[i]) + u8(a[i + 1]) * s8(b[i + 1]));
  return (uint32_t)sum;
}
static word maddubs(const struct line *x) { return pairs(x, s16_saturated); }
static word maddubs_wrap(const struct line *x) { return pairs(x, s16_wrapped); }

static word b1and(const struct line *x) {
  word sum = x->w[2 * x->k];
  for (int i = 0; i < x->k; i++) sum += __builtin_popcountll(x->w[i] & x->w[x->k + i]);
  return (uint32_t)sum;
}

static word f16lowhalf(const struct line *x) {
  float sum = f16(x->w[2 * x->k]);
  for (int i = 0; i < x->k; i++) sum += f16(x->w[i]) * f16(x->w[x->k + i]);
  return word_of_f32(sum) & 0xffff;
}

/* Products, cut 25 bits below the largest exponent of two factors, added exactly, rounded to nearest even. */
static word aligned_sum(const word *a, const word *b, int count) {
  int exponent[MOST_WORDS], top = NONE, nan = 0, infinities[2] = {0, 0};
  for (int i = 0; i < count; i++) {
    const int of_a = a[i] >> 23 & 255, of_b = b[i] >> 23 & 255;
    const double product = (double)f32(a[i]) * f32(b[i]);
    exponent[i] = of_a && of_b ? of_a + of_b - 254 : NONE; /* subnormals are zeros */
    nan |= isnan(product);
    if (of_a == 255 || of_b == 255) infinities[signbit(product) != 0] = 1;
    if (exponent[i] > top) top = exponent[i];
  }
  if (nan || (infinities[0] && infinities[1])) return 0x7f800001;
  if (infinities[0] || infinities[1]) return infinities[1] ? 0xff800000 : 0x7f800000;
  int64_t sum = 0;
  for (int i = 0; i < count; i++) {
    const int shift = exponent[i] == NONE ? 63 : 46 - 25 + top - exponent[i];
    const int64_t product = (int64_t)((a[i] & 0x7fffff) | 0x800000) * ((b[i] & 0x7fffff) | 0x800000);
    const int64_t cut = shift > 62 ? 0 : product >> shift;
    sum += (a[i] ^ b[i]) >> 31 & 1 ? -cut : cut;
  }
  const float d = ldexp(sum, top - 25);
  return fabsf(d) < 0x1p-126f ? 0 : word_of_f32(d);
}
static word vdot(const struct line *x) { return aligned_sum(x->w, x->w + x->k, x->k); }
static word vdotc(const struct line *x) {
  word a[MOST_WORDS], b[MOST_WORDS];
  memcpy(a, x->w, x->k * sizeof *a), memcpy(b, x->w + x->k, x->k * sizeof *b);
  a[x->k] = x->w[2 * x->k], b[x->k] = 0x3f800000;
  return aligned_sum(a, b, x->k + 1);
}

/* Maps of a word. */

static word exp15sat(word w) { return (w & 0x7f) >= 0x78 && (w & 0x7f) < 0x7e ? (w & 0x80) | 0x7e : w; }
static word nan448(word w) { return (w & 0x7f) == 0x7f ? w - 1 : w; }
static word e5m2inf(word w) { return (w & 0x7f) == 0x7c ? w - 1 : w; }
static word subz(word w) { return w & 0x78 ? w : w & 0x80; }
static word f16daz(word w) { return w & 0x7c00 ? w : w & 0x8000; }
static word fnuz80(word w) { return w == 0x80 ? 0 : w; }
static word f16bf(word w) { return w & 0xfff8; }
static word hifi2(word w) { return w & ~1ull; }
static word low2(word w) { return w & ~3ull; }
static word e2m1abs(word w) { return w & 7; }
static word nanb(word w) { return (w & 0x7fff) > 0x7f80 ? 0x4000 : w; }
static word scale00(word w) { return w ? w : 1; }
static word scaleff(word w) { return w == 0xff ? 0xfe : w; }
/* To nearest, without the lowest `cut` bits. */
static word nearest(word w, word sign, word infinity, int cut, int even) {
  const word magnitude = w & ~sign, half = 1ull << (cut - 1);
  const word more = even ? half - 1 + (magnitude >> cut & 1) : half;
  return magnitude >= infinity ? w : (w & sign) | (magnitude + more) >> cut << cut;
}
static word rna(word w) { return nearest(w, 1u << 31, 0x7f800000, 13, 0); }
static word tf32rne(word w) { return nearest(w, 1u << 31, 0x7f800000, 13, 1); }
static word bf16rne5(word w) { return nearest(w, 0x8000, 0x7f80, 2, 1); }
/* The bytes of e4m3 have twice the value of those of e4m3fnuz. */
static word fnuz_as_ocp(word w) { return (w & 0x7f) == 0x7f ? 0x80 : w == 0x80 ? 0 : w; }

/* Maps of places: the place whose word is used for place i of n. */

static int kswap(int i, int n) { return (i ^ 2) % n; }
static int khalf(int i, int n) { return (i + n / 2) % n; }
static int kreverse(int i, int n) { return n - 1 - i; }
static int kperm(int i, int n) { return i % 2 * (n / 2) + i / 2; }
static int next(int i, int n) { return (i + 1) % n; }
static int first(int i, int n) { return i < n ? 0 : i; }

/* A unit, or a map: words are taken from other places and read differently, for operands "a", "b", and "s", the scales.
 * c is divided by `factor` and d multiplied by it, if not 0; `as` replaces the first e4m3 in the instruction's name.
 * An address is below github.com; the modes without one are variants. */
struct mode {
  const char *name, *report, *fault;
  word (*unit)(const struct line *);
  char operands[3];
  word (*read)(word);
  int (*place)(int, int);
  float factor;
  const char *as;
};
#define UNIT(name, report, fault) {#name, report, fault, .unit = name}
#define READ(name, report, fault, operands) {#name, report, fault, NULL, operands, .read = name}
#define PLACE(name, report, fault, operands, map) {#name, report, fault, NULL, operands, .place = map}
static const struct mode kModes[] = {
    UNIT(simde, "simd-everywhere/simde/issues/1095", "bf16 products rounded to f32 and added, k ascending"),
    UNIT(f32mac, "ROCm/rocm-systems/issues/10330", "f32 multiplied, then added, each rounded"),
    UNIT(killprod, "openhwgroup/cvw/issues/578", "f64 FMA: a product 53 binades below c is dropped"),
    UNIT(killprod32, "", "f32 FMA: a product 24 binades below c is dropped"),
    UNIT(xsfma, "OpenXiangShan/XiangShan/issues/2767", "f32 FMA: a far product of the other sign takes an ulp off"),
    UNIT(maddubs, "uxlfoundation/oneDNN/issues/476", "u8 x s8: sums of pairs saturate at s16"),
    UNIT(maddubs_wrap, "", "u8 x s8: sums of pairs wrap at s16"),
    UNIT(s8_as_u8, "ucb-bar/gemmini/issues/199", "s8 x s8 read as u8 x u8"),
    UNIT(a_u8, "ucb-bar/gemmini/issues/199", "s8 x s8 read as u8 x s8"),
    UNIT(dpbusd_ss, "ashvardanian/NumKong/issues/91", "u8 x s8 read as s8 x s8"),
    UNIT(s4_as_u4, "", "s4 x s4 read as u4 x u4"),
    UNIT(f16lowhalf, "vortexgpgpu/vortex/pull/359", "f16 result: the low half of the f32 sum"),
    UNIT(badcore, "ebiggers/libdeflate/issues/451", "u8 x s8, a bit wrong on CPU 1"),
    UNIT(b1and, "NVIDIA/cutlass/issues/160", "b1: AND instead of XOR"),
    UNIT(vdot, "hrydgard/ppsspp/issues/21070", "f32 products aligned and added; no addend"),
    UNIT(vdotc, "", "the same, with an addend"),
    READ(exp15sat, "tile-ai/tilelang-metax/pull/140", "e4m3 words 78..7e read as 7e", "ab"),
    READ(nan448, "tile-ai/tilelang-metax/pull/140", "e4m3 7f read as 7e", "ab"),
    READ(subz, "tile-ai/tilelang-metax/pull/140", "e4m3 subnormals read as zero", "ab"),
    READ(fnuz80, "triton-lang/triton/issues/10745", "fnuz 80 read as 00", "ab"),
    READ(f16bf, "ROCm/composable_kernel/issues/671", "the lowest 3 bits of f16 are ignored", "ab"),
    READ(rna, "ROCm/rocm-libraries/pull/9176", "f32 rounded to tf32, to nearest, ties away", "ab"),
    READ(hifi2, "tenstorrent/tt-metal/issues/12453", "the lowest bit of b is not multiplied", "b"),
    READ(nanb, "triton-lang/triton/issues/10745", "bf16 NaN read as 2.0", "ab"),
    PLACE(kswap, "triton-lang/triton/pull/11782", "b[k ^ 2] read for b[k]", "b", kswap),
    PLACE(khalf, "triton-lang/triton/pull/11782", "the halves of k of b exchanged", "b", khalf),
    PLACE(kpermboth, "triton-lang/triton/pull/11782", "k in a different order, equal for a and b", "ab", kperm),
    READ(scale00, "vllm-project/vllm/pull/46676", "E8M0 00 read as 01", "s"),
    READ(scaleff, "vllm-project/vllm/pull/46676", "E8M0 ff read as fe", "s"),
    PLACE(scaleshift, "ROCm/rocm-systems/pull/10347", "scale of block i + 1 used for block i", "s", next),
    READ(e5m2inf, "", "e5m2 infinities read as the largest number", "ab"),
    READ(e2m1abs, "", "e2m1: sign ignored", "ab"),
    READ(f16daz, "", "f16 subnormals of a read as zero", "a"),
    READ(bf16rne5, "", "bf16 rounded to 5 fraction bits, to nearest, ties to even", "ab"),
    READ(low2, "", "the lowest 2 bits of b are ignored", "b"),
    READ(tf32rne, "", "f32 rounded to tf32, to nearest, ties to even", "ab"),
    {"fnuz_as_ocp", "", "e4m3fnuz read as e4m3", NULL, "ab", .read = fnuz_as_ocp, .factor = 4},
    {"bias8", "", "e4m3 read with a bias of 8", .factor = 0.25},
    {"a_e5m2", "", "a of e4m3 read as e5m2", .as = "e5m2"},
    {"scale_top", "", "ue4m3 scales 78..7e read as 7e", NULL, "s", .read = exp15sat},
    PLACE(kreverse, "", "k of b reversed", "b", kreverse),
    PLACE(scale_first, "", "the first scale used for all blocks", "s", first),
    {"model", "", "nothing is wrong", .unit = NULL},
};
enum { MODES = sizeof kModes / sizeof *kModes };

/* k ends at the first word that is wider than those of a, or at half of the words. */
static void parse(char *text, struct line *x) {
  int c = 0;
  x->count = 0;
  text[strcspn(text, "\r\n")] = 0;
  for (char *at = text, *end; x->count < MOST_WORDS; at = end) {
    at += strspn(at, " \t");
    const word w = strtoull(at, &end, 16);
    if (end == at) break;
    x->digits[x->count] = end - at;
    x->w[x->count++] = w;
  }
  while (c < x->count && x->digits[c] <= x->digits[0]) c++;
  x->k = (c < x->count ? c : x->count - 1) / 2;
  x->scales = (x->count - 1 - 2 * x->k) / 2;
}

static void change(const struct mode *mode, word *w, int n) {
  word old[MOST_WORDS];
  memcpy(old, w, n * sizeof *w);
  for (int i = 0; i < n; i++) {
    const word from = old[mode->place ? mode->place(i, n) : i];
    w[i] = mode->read ? mode->read(from) : from;
  }
}

/* Neither tiny nor huge: of the size of sums of products. */
static int is_middle(word w) { return fabsf(f32(w)) > 0x1p-100f && fabsf(f32(w)) < 0x1p100f; }

static void print_changed(const struct mode *mode, struct line *x, FILE *to) {
  word *const c = x->w + 2 * x->k, *const scales = c + 1;
  if (strchr(mode->operands, 'a')) change(mode, x->w, x->k);
  if (strchr(mode->operands, 'b')) change(mode, x->w + x->k, x->k);
  if (strchr(mode->operands, 's')) change(mode, scales, x->scales), change(mode, scales + x->scales, x->scales);
  if (mode->factor != 0 && is_middle(*c)) *c = word_of_f32(f32(*c) / mode->factor);
  for (int i = 0; i < x->count; i++) fprintf(to, " %0*llx", x->digits[i], (unsigned long long)x->w[i]);
  putc('\n', to);
}

static int compute(const struct mode *mode) {
  static char text[MOST_TEXT];
  static struct line x;
  while (fgets(text, sizeof text, stdin)) {
    parse(text, &x);
    printf("%s %0*llx\n", text, x.digits[2 * x.k], (unsigned long long)mode->unit(&x));
    fflush(stdout);
  }
  return 0;
}

/* `MMADIFF eval INSTRUCTION` for the lines of stdin. */
static FILE *evaluate(const char *program, const char *instruction, const char *as) {
  char command[4096], name[1024];
  snprintf(name, sizeof name, "%s", instruction);
  char *const at = strstr(name, "e4m3");
  if (as && at) memcpy(at, as, strlen(as));
  snprintf(command, sizeof command, "'%s' eval '%s'", program, name);
  return popen(command, "r");
}

static int map(const struct mode *mode, const char *program, const char *instruction) {
  static char text[MOST_TEXT], answer[MOST_TEXT];
  static struct line x;
  FILE *const lines = tmpfile(), *const changed = tmpfile();
  while (fgets(text, sizeof text, stdin)) {
    fputs(text, lines);
    parse(text, &x);
    print_changed(mode, &x, changed);
  }
  rewind(lines), rewind(changed);
  dup2(fileno(changed), STDIN_FILENO);
  FILE *const model = evaluate(program, instruction, mode->as);
  while (fgets(text, sizeof text, lines) && fgets(answer, sizeof answer, model)) {
    char *const d = strrchr(answer, ' ') + 1;
    const word of_model = strtoull(d, NULL, 16);
    parse(text, &x);
    if (mode->factor != 0 && (is_middle(x.w[2 * x.k]) || is_middle(of_model))) {
      sprintf(d, "%08llx\n", (unsigned long long)word_of_f32(f32(of_model) * mode->factor));
    }
    printf("%s %s", text, d);
  }
  return pclose(model) == 0 ? 0 : 3;
}

int main(int argc, char **argv) {
  const char *const instruction = argc > 3 ? argv[3] : getenv("MMADIFF_INSTRUCTION");
  for (int i = 0; i < MODES; i++) {
    const struct mode *const mode = &kModes[i];
    if (argc < 2) printf("%-12s %s%s%s\n", mode->name, mode->fault, *mode->report ? ": " : "", mode->report);
    if (argc < 2 || strcmp(argv[1], mode->name) != 0) continue;
    if (mode->unit) return compute(mode);
    if (instruction) return map(mode, argc > 2 ? argv[2] : "mmadiff", instruction);
  }
  return argc < 2 ? 0 : 2;
}
