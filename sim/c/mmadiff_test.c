/* The C interface, from C99. */
#include <mmadiff.h>

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int failed = 0;
#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      printf("%s:%d: %s (error: %s)\n", __FILE__, __LINE__, #condition, mmadiff_error()); \
      failed = 1;                                                                  \
    }                                                                              \
  } while (0)

static mmadiff_words Words(void* data, int bits, int64_t rows, int64_t columns) {
  mmadiff_words words;
  words.data = data;
  words.bits = bits;
  words.stride = rows * columns;
  words.row_stride = columns;
  words.column_stride = 1;
  return words;
}

static void CountName(void* count, const char* name) { *(int*)count += strncmp(name, "sm_90/", 6) == 0; }
static int Always(void* context) { return ++*(int*)context; }

/* 1 - 2^-25 on an H100: the product 2^-25 is kept, then the sum is cut. */
static void TestRow(void) {
  uint16_t a[16] = {0x3c00, 0x8c00}, b[16] = {0x3c00, 0x0800}; /* 1, -2^-12; 1, 2^-13 */
  uint32_t c[1] = {0}, d[1] = {0};
  mmadiff_row_info info;
  mmadiff_product p;
  mmadiff_work work = {2, NULL, NULL};
  mmadiff_row* row = mmadiff_row_open("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  CHECK(row != NULL);
  if (row == NULL) return;
  mmadiff_row_describe(row, &info, sizeof info);
  CHECK(info.m == 16 && info.n == 8 && info.k == 16 && info.scales == 0);
  CHECK(strcmp(info.a, "f16") == 0 && strcmp(info.d, "f32") == 0 && strcmp(info.grade, "measured") == 0);
  memset(&p, 0, sizeof p);
  p.count = p.m = p.n = 1, p.k = 16;
  p.a = Words(a, 16, 1, 16), p.b = Words(b, 16, 16, 1), p.d = Words(d, 32, 1, 1);
  CHECK(mmadiff_row_execute(row, &p, &work) == MMADIFF_OK && d[0] == 0x3f7fffff);
  p.c = Words(c, 32, 1, 1);
  c[0] = 0x40000000; /* 2 */
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_OK && d[0] == 0x40400000);
  p.k = 8;
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_INVALID && strstr(mmadiff_error(), "from c") != NULL);
  p.k = 16, p.b.data = NULL;
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_INVALID && strstr(mmadiff_error(), "B") != NULL);
  p.b.data = b, p.a.bits = 12;
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_INVALID);
  p.a.bits = 16, p.d.bits = 16;
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_INVALID && strstr(mmadiff_error(), "D") != NULL);
  p.d.data = NULL, p.d.bits = 32;
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_INVALID);
  mmadiff_row_close(row);
}

static void TestNames(void) {
  int count = 0;
  mmadiff_row* row;
  mmadiff_row_info info;
  CHECK(mmadiff_row_names("sm_90/*", CountName, &count) == (size_t)count && count > 100);
  CHECK(mmadiff_row_names("sm_90/*", NULL, NULL) == (size_t)count);
  CHECK(mmadiff_row_names("h100/*", NULL, NULL) == (size_t)count && mmadiff_row_names("SM_90a/*", NULL, NULL) == (size_t)count);
  CHECK(mmadiff_row_open("sm_90/mma.m16n8k16.f32.f16.f16.f3") == NULL);
  CHECK(mmadiff_error_status() == MMADIFF_INVALID && strstr(mmadiff_error(), "f16.f16.f32") != NULL);
  row = mmadiff_row_open("hopper/mma.m16n8k16.f32.f16.f16.f32:fraction_bits=24");
  CHECK(row != NULL);
  if (row != NULL) {
    mmadiff_row_describe(row, &info, sizeof info);
    CHECK(strstr(info.algorithm, "fraction_bits=24,") != NULL && strcmp(info.grade, "changed") == 0);
    CHECK(strcmp(info.name, "sm_90/mma.m16n8k16.f32.f16.f16.f32:fraction_bits=24") == 0);
  }
  mmadiff_row_close(row);
  CHECK(mmadiff_row_open("x86/vfmadd231ss:fraction_bits=24") == NULL && strstr(mmadiff_error(), "no parameter") != NULL);
  CHECK(mmadiff_row_open("x86/vfmadd231ss:nan_rule=x") == NULL && strstr(mmadiff_error(), "allowed: ") != NULL);
  CHECK(mmadiff_row_open("x86/vfmadd231ss:") == NULL);
  CHECK(mmadiff_row_open(NULL) == NULL && mmadiff_plan_open(NULL) == NULL);
  CHECK(mmadiff_format_bits("e2m1") == 4 && mmadiff_format_bits("e9m9") == 0 && mmadiff_format_bits(NULL) == 0);
  CHECK(mmadiff_format_word("f32", 0.1) == 0x3dcccccd && mmadiff_format_word("e4m3", 1) == 0x38);
  CHECK(mmadiff_format_word("ue8m0", 2) == 0x80 && mmadiff_format_word("e2m1", 100) == 7);
  CHECK(mmadiff_format_word("s8", 1) == 0 && mmadiff_error()[0] != 0);
  CHECK(mmadiff_api_version() == MMADIFF_API_VERSION && strlen(mmadiff_version()) >= 5);
  mmadiff_row_close(NULL), mmadiff_plan_close(NULL), mmadiff_found_close(NULL), mmadiff_race_close(NULL);
}

/* NULL handles, and sizes that are negative or whose product overflows. */
static void TestRefused(void) {
  const int64_t huge[] = {INT64_MAX, (int64_t)1 << 62, (int64_t)1 << 49, -1};
  uint16_t a[16] = {0};
  uint32_t d = 0xdeadbeef;
  size_t i;
  mmadiff_product p, q;
  mmadiff_row_info row_info;
  mmadiff_plan_info plan_info;
  mmadiff_race_info race_info;
  mmadiff_found_info found_info;
  const mmadiff_query query = {"", "f32", NULL, NULL, 0, 0};
  mmadiff_row* row = mmadiff_row_open("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  mmadiff_plan* plan = mmadiff_plan_open("sm_90/mma.m16n8k16.f32.f16.f16.f32 | f32");
  CHECK(row != NULL && plan != NULL);
  memset(&p, 0, sizeof p);
  p.count = p.m = p.n = 1, p.k = 16;
  p.a = Words(a, 16, 1, 16), p.b = Words(a, 16, 16, 1), p.d = Words(&d, 32, 1, 1);
  p.a_format = p.b_format = "f16";
  CHECK(mmadiff_row_execute(NULL, &p, NULL) == MMADIFF_INVALID && mmadiff_row_execute(row, NULL, NULL) == MMADIFF_INVALID);
  CHECK(mmadiff_scale_block(300, 3) == 128 && mmadiff_scale_block(300, 1) == 300 && mmadiff_scale_block(300, 7) == 0);
  CHECK(mmadiff_plan_execute(NULL, &p, NULL) == MMADIFF_INVALID && mmadiff_plan_execute(plan, NULL, NULL) == MMADIFF_INVALID);
  CHECK(mmadiff_exact(&p, NULL, NULL) == MMADIFF_INVALID && mmadiff_exact(NULL, &p.d, NULL) == MMADIFF_INVALID);
  CHECK(mmadiff_find_plans(NULL, &query, NULL) == NULL && mmadiff_find_plans(&p, NULL, NULL) == NULL);
  CHECK(mmadiff_race_plans(plan, NULL, NULL) == NULL && mmadiff_race_plans(NULL, plan, NULL) == NULL);
  mmadiff_row_describe(NULL, &row_info, sizeof row_info), mmadiff_plan_describe(NULL, &plan_info, sizeof plan_info);
  mmadiff_race_describe(NULL, &race_info, sizeof race_info), mmadiff_found_describe(NULL, &found_info, sizeof found_info);
  CHECK(row_info.name == NULL && plan_info.text == NULL && race_info.equal == NULL && found_info.nearest == NULL);
  CHECK(mmadiff_found_plan(NULL, 0) == NULL && mmadiff_found_region(NULL, 0, NULL) == NULL);
  p.a.stride = p.a.row_stride = p.b.stride = p.b.column_stride = p.d.stride = p.d.row_stride = p.d.column_stride = 0;
  for (i = 0; i < 4 * sizeof huge / sizeof *huge; ++i) {
    q = p;
    *(i % 4 == 0 ? &q.count : i % 4 == 1 ? &q.m : i % 4 == 2 ? &q.n : &q.k) = huge[i / 4];
    CHECK(mmadiff_row_execute(row, &q, NULL) != MMADIFF_OK && mmadiff_plan_execute(plan, &q, NULL) != MMADIFF_OK);
    CHECK(mmadiff_exact(&q, &q.d, NULL) != MMADIFF_OK && mmadiff_find_plans(&q, &query, NULL) == NULL);
  }
  q = p;
  q.k = ((int64_t)1 << 31) + 1;
  CHECK(mmadiff_exact(&q, &q.d, NULL) == MMADIFF_INVALID && strstr(mmadiff_error(), "2^31") != NULL);
  q = p;
  q.count = 2;
  CHECK(mmadiff_find_plans(&q, &query, NULL) == NULL && strstr(mmadiff_error(), "count") != NULL);
  CHECK(d == 0xdeadbeef);
  /* Scales that the plan does not read. */
  p.scale_a.words = p.block_scale_b.words = Words(a, 16, 1, 1);
  CHECK(mmadiff_plan_execute(plan, &p, NULL) == MMADIFF_OK && d == 0);
  mmadiff_row_close(row), mmadiff_plan_close(plan);
}

/* A sparse row: the metadata say which +0 of A meets the infinity of B. */
static void TestSparse(void) {
  uint16_t a[2 * 16] = {0}, b[16] = {0};
  uint32_t d[2] = {0};
  uint8_t least[8] = {0}, other[8] = {0x4, 0x4, 0x4, 0x4, 0xe, 0x4, 0x4, 0x4};
  int32_t places[2] = {-1, -1};
  mmadiff_row_info info;
  mmadiff_product p;
  mmadiff_words metadata = Words(least, 8, 2, 4);
  mmadiff_row *row = mmadiff_row_open("sm_90/mma.sp.m16n8k16.f32.f16.f16.f32"),
              *dense = mmadiff_row_open("sm_90/mma.m16n8k16.f32.f16.f16.f32");
  CHECK(row != NULL && dense != NULL);
  if (row == NULL || dense == NULL) return;
  mmadiff_row_describe(row, &info, sizeof info);
  CHECK(info.k == 16 && info.groups == 4 && strncmp(info.algorithm, "fused_sum", 9) == 0);
  /* As a program that was compiled with an older description has it: nothing else is written. */
  info.groups = -1;
  mmadiff_row_describe(row, &info, offsetof(mmadiff_row_info, groups));
  CHECK(info.groups == -1);
  mmadiff_row_describe(dense, &info, sizeof info);
  CHECK(info.groups == 0);
  a[3] = a[16 + 3] = 0x3c00, b[0] = 0x7c00, b[3] = 0x4000; /* 1; infinity, 2 */
  memset(&p, 0, sizeof p);
  p.count = 1, p.m = 2, p.n = 1, p.k = 16;
  p.a = Words(a, 16, 2, 16), p.b = Words(b, 16, 16, 1), p.d = Words(d, 32, 2, 1);
  CHECK(mmadiff_row_metadata(row, &p, &metadata) == MMADIFF_OK && least[0] == 0xc && least[1] == 0x4 && least[7] == 0x4);
  CHECK(mmadiff_row_stored(row, 0xc, places) == MMADIFF_OK && places[0] == 0 && places[1] == 3);
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_OK && d[0] > 0x7f800000 && d[1] == d[0]); /* NaN: +0 times infinity */
  d[0] = d[1] = 0;
  CHECK(mmadiff_row_execute_sparse(row, &p, NULL, NULL) == MMADIFF_OK && d[0] > 0x7f800000 && d[1] == d[0]);
  other[0] = 0xc; /* row 1 stores elements 2 and 3 */
  metadata.data = other;
  CHECK(mmadiff_row_execute_sparse(row, &p, &metadata, NULL) == MMADIFF_OK && d[0] > 0x7f800000 && d[1] == 0x40000000);
  other[0] = 0x4;
  CHECK(mmadiff_row_execute_sparse(row, &p, &metadata, NULL) == MMADIFF_INVALID);
  CHECK(strstr(mmadiff_error(), "row 0 of A") != NULL && strstr(mmadiff_error(), "a3 differs from +0") != NULL);
  other[0] = 0x5;
  CHECK(mmadiff_row_execute_sparse(row, &p, &metadata, NULL) == MMADIFF_INVALID);
  CHECK(strstr(mmadiff_error(), "e0 is 05, which is undefined; defined are 04 08 09 0c 0d 0e") != NULL);
  CHECK(mmadiff_row_stored(row, 0x14, places) == MMADIFF_INVALID && strstr(mmadiff_error(), "is 14") != NULL);
  other[0] = 0xc, metadata.bits = 4;
  CHECK(mmadiff_row_execute_sparse(row, &p, &metadata, NULL) == MMADIFF_INVALID && strstr(mmadiff_error(), "metadata") != NULL);
  CHECK(mmadiff_row_metadata(row, &p, &metadata) == MMADIFF_INVALID);
  metadata.bits = 8, a[16 + 8] = a[16 + 9] = a[16 + 11] = 0x8000; /* three of four are -0 */
  CHECK(mmadiff_row_execute(row, &p, NULL) == MMADIFF_INVALID && strstr(mmadiff_error(), "row 1 of A") != NULL);
  CHECK(mmadiff_row_metadata(row, &p, &metadata) == MMADIFF_INVALID && strstr(mmadiff_error(), "a8 to a11") != NULL);
  p.k = 8;
  CHECK(mmadiff_row_metadata(row, &p, &metadata) == MMADIFF_INVALID && strstr(mmadiff_error(), "k is 8") != NULL);
  CHECK(mmadiff_row_metadata(row, NULL, &metadata) == MMADIFF_INVALID && mmadiff_row_metadata(row, &p, NULL) == MMADIFF_INVALID);
  CHECK(mmadiff_row_stored(NULL, 4, places) == MMADIFF_INVALID && mmadiff_row_stored(row, 4, NULL) == MMADIFF_INVALID);
  CHECK(mmadiff_row_execute_sparse(dense, &p, &metadata, NULL) == MMADIFF_INVALID && strstr(mmadiff_error(), "not sparse") != NULL);
  CHECK(mmadiff_row_execute_sparse(NULL, &p, &metadata, NULL) == MMADIFF_INVALID);
  mmadiff_row_close(row), mmadiff_row_close(dense);
}

struct Ranges {
  size_t count;
  int64_t end;
  uint64_t last;
};
static void CountRange(void* context, const mmadiff_range* range) {
  struct Ranges* ranges = context;
  CHECK(range->run_count == 1 && range->runs[0] == ranges->end && range->stage == 0);
  ++ranges->count, ranges->end = range->runs[1], ranges->last = range->joined;
}

static void TestPlan(void) {
  enum { kM = 24, kN = 16, kK = 256 };
  static float a[kM * kK], b[kK * kN], d[kM * kN], e[kM * kN];
  const char* text = "x86/vfmadd231ss | every 64: add | f32";
  int64_t i;
  int calls = 0;
  mmadiff_product p;
  mmadiff_plan_info info;
  mmadiff_work work = {1, &Always, &calls};
  mmadiff_plan *plan = mmadiff_plan_open(text), *other = mmadiff_plan_open("x86/vfmadd231ss | every 128: add | f32");
  mmadiff_race* race;
  mmadiff_race_info raced;
  mmadiff_found* found;
  mmadiff_found_info how;
  mmadiff_query query = {"", "f32", NULL, NULL, 0, 0};
  CHECK(plan != NULL && other != NULL);
  if (plan == NULL || other == NULL) return;
  for (i = 0; i < kM * kK; ++i) a[i] = (float)(i * 7919 % 1009) / 1009.0f - 0.5f;
  for (i = 0; i < kK * kN; ++i) b[i] = (float)(i * 104729 % 1013) / 1013.0f - 0.5f;
  mmadiff_plan_describe(plan, &info, sizeof info);
  CHECK(strcmp(info.text, text) == 0 && strcmp(info.sum, "f32") == 0 && !info.reads_c && !info.reads_scales);
  memset(&p, 0, sizeof p);
  p.count = 1, p.m = kM, p.n = kN, p.k = kK;
  p.a = Words(a, 32, kM, kK), p.b = Words(b, 32, kK, kN), p.d = Words(d, 32, kM, kN);
  CHECK(mmadiff_plan_execute(plan, &p, NULL) == MMADIFF_OK);
  p.d.data = e;
  CHECK(mmadiff_plan_execute(other, &p, NULL) == MMADIFF_OK && memcmp(d, e, sizeof d) != 0);
  CHECK(mmadiff_plan_execute(plan, &p, &work) == MMADIFF_STOPPED && calls == 1);
  /* Elements of D; one that the other plan does not give is a witness. */
  {
    static int64_t rows[kM * kN], columns[kM * kN];
    static uint64_t words[kM * kN];
    uint64_t sum = 0, result = 0;
    struct Ranges ranges = {0, 0, 0};
    uint32_t word;
    CHECK(mmadiff_plan_witnesses(plan, &p, 1, 0, kM * kN, rows, columns, NULL) == kM * kN); /* D is the other's */
    CHECK(d[rows[0] * kN + columns[0]] != e[rows[0] * kN + columns[0]]);
    CHECK(mmadiff_plan_elements(plan, &p, kM * kN, rows, columns, words, NULL) == MMADIFF_OK);
    for (i = 0; i < kM * kN; ++i) {
      memcpy(&word, &d[rows[i] * kN + columns[i]], sizeof word);
      CHECK(words[i] == word);
    }
    CHECK(mmadiff_plan_trace(plan, &p, rows[3], columns[3], &CountRange, &ranges, &sum, &result, NULL) == MMADIFF_OK);
    CHECK(ranges.count == kK / 64 && ranges.end == kK && ranges.last == sum && result == words[3]);
    rows[0] = kM;
    CHECK(mmadiff_plan_elements(plan, &p, 1, rows, columns, words, NULL) == MMADIFF_INVALID);
    CHECK(mmadiff_plan_elements(plan, &p, 0, NULL, NULL, NULL, NULL) == MMADIFF_OK);
    CHECK(mmadiff_plan_elements(plan, &p, 1, NULL, columns, words, NULL) == MMADIFF_INVALID);
    CHECK(mmadiff_plan_witnesses(plan, &p, 1, 0, 4, rows, NULL, NULL) == 0 && mmadiff_error_status() == MMADIFF_INVALID);
    CHECK(mmadiff_plan_witnesses(plan, &p, 1, 0, (size_t)-1, rows, columns, NULL) == 0 && mmadiff_error()[0] != 0);
    CHECK(mmadiff_plan_trace(NULL, &p, 0, 0, NULL, NULL, &sum, &result, NULL) == MMADIFF_INVALID);
    CHECK(mmadiff_plan_trace(plan, &p, 0, kN, NULL, NULL, &sum, &result, NULL) == MMADIFF_INVALID);
    CHECK(mmadiff_plan_trace(plan, &p, 0, 0, NULL, NULL, NULL, &result, NULL) == MMADIFF_INVALID);
  }
  p.d.data = d, p.a_format = p.b_format = "f32";
  query.globs = "x86/vfmadd231ss";
  found = mmadiff_find_plans(&p, &query, NULL);
  CHECK(found != NULL);
  if (found != NULL) {
    mmadiff_found_describe(found, &how, sizeof how);
    CHECK(how.plans == 1 && how.tried > 100 && strcmp(mmadiff_found_plan(found, 0), text) == 0);
    CHECK(mmadiff_found_same(found, 0) != NULL && mmadiff_found_same(found, 1) == NULL);
    CHECK(mmadiff_found_plan(found, 1) == NULL && mmadiff_found_region(found, 0, NULL) == NULL);
  }
  mmadiff_found_close(found);
  query.globs = "", query.has_alpha = 1;
  CHECK(mmadiff_find_plans(&p, &query, NULL) == NULL && strstr(mmadiff_error(), "format of sums") != NULL);
  query.has_alpha = 0, query.has_beta = 1, query.sum_format = "f32";
  CHECK(mmadiff_find_plans(&p, &query, NULL) == NULL && strstr(mmadiff_error(), "beta needs C") != NULL);
  query.has_beta = 0, query.block_scale_format = "ue8m0";
  CHECK(mmadiff_find_plans(&p, &query, NULL) == NULL && strstr(mmadiff_error(), "block scales need") != NULL);
  query.sum_format = query.block_scale_format = NULL, query.globs = "no_such_row";
  CHECK(mmadiff_find_plans(&p, &query, NULL) == NULL);
  query.globs = "";
  p.a_format = "f99";
  CHECK(mmadiff_find_plans(&p, &query, NULL) == NULL && strstr(mmadiff_error(), "f99") != NULL);
  race = mmadiff_race_plans(plan, other, NULL);
  CHECK(race != NULL);
  if (race != NULL) {
    mmadiff_race_describe(race, &raced, sizeof raced);
    CHECK(raced.is_found && raced.k == 65 && raced.x != raced.y && raced.equal[0] == 0);
  }
  mmadiff_race_close(race);
  CHECK(mmadiff_plan_open("x86/vfmadd231ss | every 0: add | f32") == NULL && strlen(mmadiff_error()) > 10);
  mmadiff_plan_close(plan), mmadiff_plan_close(other);
}

int main(void) {
  TestRow();
  TestSparse();
  TestNames();
  TestRefused();
  TestPlan();
  return failed;
}
