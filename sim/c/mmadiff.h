/* The simulator for programs in C, and in every language that calls C.
 *
 * A row is an instruction on an architecture: "sm_90/mma.m16n8k16.f32.f16.f16.f32". A plan is the order in which a
 * kernel uses one for a whole matrix product (docs/matmul.md). Both compute bits: operands are words, the bit patterns
 * of numbers in the row's formats ("f16", "e4m3").
 *
 * Functions may be called from several threads at a time. If one fails, its pointer is NULL, or its status is not
 * MMADIFF_OK, and mmadiff_error() is the reason. NULL for a handle is such an error; its description is all 0. */
#ifndef MMADIFF_SIM_C_MMADIFF_H_
#define MMADIFF_SIM_C_MMADIFF_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes if programs must be compiled again. */
#define MMADIFF_API_VERSION 1
int mmadiff_api_version(void);     /* of the library */
const char* mmadiff_version(void); /* "0.2.0" */

typedef enum {
  MMADIFF_OK = 0,
  MMADIFF_INVALID = 1, /* a wrong name, shape or value */
  MMADIFF_STOPPED = 2, /* stop() asked for it: results are incomplete */
  MMADIFF_NO_MEMORY = 3
} mmadiff_status;

/* Why this thread's last call failed: one line, valid until its next call. */
const char* mmadiff_error(void);
mmadiff_status mmadiff_error_status(void);

/* Words in memory. Word (i, j) of matrix e is the unsigned integer of `bits` bits, in this machine's byte order, at
 * element e * stride + i * row_stride + j * column_stride. It is right-aligned: an e2m1 is in the low 4 bits of a byte.
 * Strides are in elements and may be 0 or negative. Words that are only read are not changed. */
typedef struct {
  void* data;   /* NULL if the operand is not given */
  int32_t bits; /* 8, 16, 32 or 64 */
  int64_t stride, row_stride, column_stride;
} mmadiff_words;

/* A scale for each block of a matrix, laid out as the matrix is: rows x ks words for A, ks x rows for B, whose `rows`
 * are blocks of its columns. Blocks have the smallest power of two of rows, and of k, that gives so many; the last may
 * be smaller, and a single one has all. */
typedef struct {
  mmadiff_words words;
  int64_t rows, ks;
} mmadiff_scales;

/* How many of `size` rows or k have one scale, if there are so many blocks; 0: no power of two divides them so. */
int64_t mmadiff_scale_block(int64_t size, int64_t blocks);

/* D = A B, `count` times: A has m x k words, B has k x n, C and D have m x n. Begin with all bytes 0. */
typedef struct {
  int64_t count, m, n, k;
  mmadiff_words a, b, c, d;
  /* For plans: formats of A and B other than the row's, which has all their numbers; NULL: the row's. */
  const char *a_format, *b_format;
  /* The scales of the row, in its own scale format, and those of a plan's joins, in the format of sums. */
  mmadiff_scales block_scale_a, block_scale_b, scale_a, scale_b;
  mmadiff_words bias;   /* one row of n, in the format of sums */
  uint64_t alpha, beta; /* in the format of sums */
} mmadiff_product;

typedef struct {
  int32_t threads; /* 0 is 1; results do not depend on it */
  /* NULL, or a function that is called by the calling thread now and then; not 0 leaves out the rest. */
  int (*stop)(void* context);
  void* context;
} mmadiff_work;

/* Formats ---------------------------------------------------------------------------------------------------------- */

int mmadiff_format_bits(const char* format); /* 0: there is no such format */
/* The word of a decimal number, converted as by mmadiff_conversion_open("f64", format, 0); 0 with an error if there is
 * no such format, and for integer formats. */
uint64_t mmadiff_format_word(const char* format, double number);

/* Rows ------------------------------------------------------------------------------------------------------------- */

typedef struct mmadiff_row mmadiff_row;

/* Calls each(context, name) for each row whose name matches a glob ("sm_90/wgmma*"), and returns how many there are. */
size_t mmadiff_row_names(const char* glob, void (*each)(void* context, const char* name),
                         void* context);

/* "ARCH/INSTRUCTION", or "ARCH/INSTRUCTION:PARAMETER=VALUE,..." for a model with changed parameters; also as people quote
 * names: "h100/HGMMA.64x8x16.F32". */
mmadiff_row* mmadiff_row_open(const char* name);
/* The conversion between two floating-point formats: rounds once to nearest even. A NaN keeps its sign and the upper
 * bits of its payload, and is quieted. Beyond the largest number there is infinity, or NaN in formats without infinity;
 * the largest number if `saturate` is not 0, and in formats without NaN. */
mmadiff_row* mmadiff_conversion_open(const char* from, const char* to, int saturate);
void mmadiff_row_close(mmadiff_row* row); /* NULL is allowed */

typedef struct {
  const char *name, *a, *b, *c, *d, *scale; /* formats; "-" is an absent operand, "" no scales */
  int32_t m, n, k;   /* of the instruction; m and n of products are arbitrary */
  int32_t blocks;    /* independent products of an execution */
  int32_t scales;    /* of a row of A and of a column of B; k / scales elements share one */
  int32_t is_native; /* a single machine instruction */
  int32_t nan_bits;  /* the bits of NaNs in D are promised */
  const char *grade, *evidence; /* how sure the model is ("measured"), and the source */
  const char* algorithm;        /* "fused_sum(terms=16, ...)" */
  int32_t groups; /* metadata words of a row of a sparse A; k / groups elements share one */
} mmadiff_row_info;
/* Texts are valid until the row is closed. `size` is sizeof(mmadiff_row_info). */
void mmadiff_row_describe(const mmadiff_row* row, mmadiff_row_info* info, size_t size);

/* D = A B + C, where k is the row's; without C it is +0. block_scale_a has m x scales words, block_scale_b scales x n;
 * their rows and ks are not read. Conversions have no B and no C, and k is 1. */
mmadiff_status mmadiff_row_execute(const mmadiff_row* row, const mmadiff_product* product,
                                   const mmadiff_work* work);

/* Sparse rows multiply half of each row of A, which here has all k words: those that are not stored are +0. The four
 * quarters of a group of k / groups elements are numbered from 0; bits 0 and 1 of its metadata word are the first stored
 * quarter, bits 2 and 3 the second: 0x4, 0x8, 0x9, 0xc, 0xd, 0xe; in groups of two elements 0x4 and 0xe.
 *
 * The same with metadata, m x groups words. Without, as NULL and in mmadiff_row_execute(), they are those of
 * mmadiff_row_metadata(). */
mmadiff_status mmadiff_row_execute_sparse(const mmadiff_row* row, const mmadiff_product* product,
                                          const mmadiff_words* metadata, const mmadiff_work* work);
/* Writes the least metadata that store all elements of A other than +0; only A of the product is read. */
mmadiff_status mmadiff_row_metadata(const mmadiff_row* row, const mmadiff_product* product,
                                    const mmadiff_words* metadata);
/* The places within a group, ascending, of the elements that a metadata word stores: k / groups / 2 of them. */
mmadiff_status mmadiff_row_stored(const mmadiff_row* row, uint64_t metadata, int32_t* places);

/* Plans ------------------------------------------------------------------------------------------------------------ */

typedef struct mmadiff_plan mmadiff_plan;

mmadiff_plan* mmadiff_plan_open(const char* text);
void mmadiff_plan_close(mmadiff_plan* plan); /* NULL is allowed */

typedef struct {
  const char* text;                              /* as this library writes it */
  const char *row, *a, *b, *c, *d, *sum, *scale; /* the row's name; formats */
  int32_t scales;                                /* of the row's k; 0: none */
  int32_t k;                                     /* of the row */
  int32_t reads_c, reads_alpha, reads_beta, reads_bias, reads_scales, reads_block_scales;
} mmadiff_plan_info;
void mmadiff_plan_describe(const mmadiff_plan* plan, mmadiff_plan_info* info, size_t size);

/* D as the plan computes it, of any k. Operands that the plan does not read are not checked. */
mmadiff_status mmadiff_plan_execute(const mmadiff_plan* plan, const mmadiff_product* product,
                                    const mmadiff_work* work);

/* Elements (rows[i], columns[i]) of D, i < count. D is not read; the product's count must be 1, as in the following. */
mmadiff_status mmadiff_plan_elements(const mmadiff_plan* plan, const mmadiff_product* product,
                                     size_t count, const int64_t* rows, const int64_t* columns,
                                     uint64_t* words, const mmadiff_work* work);

/* Chooses at most `count` elements that distinguish plans, from random rows and columns: first those where D, if it is
 * given, is not the plan's (two NaNs are equal if any_nan is not 0), then those whose sums are nearest to one with another
 * result. Returns how many, or 0 with an error. */
size_t mmadiff_plan_witnesses(const mmadiff_plan* plan, const mmadiff_product* product,
                              uint64_t seed, int any_nan, size_t count, int64_t* rows,
                              int64_t* columns, const mmadiff_work* work);

typedef struct {
  const char* ks;      /* "0-127"; "0-5+12<96": 0 to 5, 12 to 17 and so on, below 96 */
  const int64_t* runs; /* of consecutive k: the first, and the one behind the last, of each */
  size_t run_count;
  size_t stage; /* of the plan; inner ones, with less numbers, come before the outer range */
  uint64_t sum,
      joined; /* those of the range, and of the stage with this range, in the format of sums */
} mmadiff_range;
/* Element (row, column) of D: calls each() for the ranges in the plan's order. `sum` is that of all k, in the format of
 * sums, `result` the word of D. */
mmadiff_status mmadiff_plan_trace(const mmadiff_plan* plan, const mmadiff_product* product,
                                  int64_t row, int64_t column,
                                  void (*each)(void* context, const mmadiff_range* range),
                                  void* context, uint64_t* sum, uint64_t* result,
                                  const mmadiff_work* work);

/* The exact product A B, as high + low: f64 words, d being the sums rounded to nearest even and `low` the rest, rounded
 * again. a_format and b_format are needed; scales, bias and c are not read. k is at most 2^31. */
mmadiff_status mmadiff_exact(const mmadiff_product* product, const mmadiff_words* low,
                             const mmadiff_work* work);

/* Which plans give D? ---------------------------------------------------------------------------------------------- */

typedef struct mmadiff_found mmadiff_found;

typedef struct {
  const char* globs; /* of rows, separated by spaces; "" is all */
  const char* d_format;
  const char* sum_format;         /* that of C, bias, scales, alpha, beta too; NULL without these */
  const char* block_scale_format; /* NULL without block scales */
  int32_t has_alpha, has_beta;    /* has_beta: C is added */
} mmadiff_query;

/* Tries the plans that public kernels use with the rows that match one of the globs. They use every operand that the
 * product has; a_format and b_format are needed. Two NaNs are equal. count must be 1. */
mmadiff_found* mmadiff_find_plans(const mmadiff_product* product, const mmadiff_query* query,
                                  const mmadiff_work* work);
void mmadiff_found_close(mmadiff_found* found); /* NULL is allowed */

typedef struct {
  int64_t tried;
  size_t plans;     /* that give every element of D */
  size_t unsettled; /* further ones, which were compared on some elements only */
  /* Without such plans: how many plans together give every element, each in its rows and columns; */
  size_t regions;
  /* and the nearest plan, how many elements it does not give, and the first of these; "": there are such plans. */
  const char* nearest;
  int64_t differing, row, column;
  int32_t may_be_chance; /* so few elements may fit one of the tried plans by chance */
  /* If D rejects no plan, how many plans this many elements of random operands would leave; else 0. */
  int64_t deciding_elements, deciding_plans;
} mmadiff_found_info;
void mmadiff_found_describe(const mmadiff_found* found, mmadiff_found_info* info, size_t size);
/* The text of a plan: index < plans + unsettled, those that give every element first. NULL beyond. */
const char* mmadiff_found_plan(const mmadiff_found* found, size_t index);
/* The other rows, separated by spaces, with which this plan gives the same bits, of those that match. NULL beyond. */
const char* mmadiff_found_same(const mmadiff_found* found, size_t index);
/* The plan of a region, and its elements: "rows 96-99; rows 0-5 of columns 88-95". index < regions. NULL beyond. */
const char* mmadiff_found_region(const mmadiff_found* found, size_t index, const char** elements);

/* Are two plans equal for all inputs? ------------------------------------------------------------------------------ */

typedef struct mmadiff_race mmadiff_race;

mmadiff_race* mmadiff_race_plans(const mmadiff_plan* x, const mmadiff_plan* y,
                                 const mmadiff_work* work);
void mmadiff_race_close(mmadiff_race* race); /* NULL is allowed */

typedef struct {
  const char* equal;     /* why no product distinguishes them; "": one may */
  int32_t is_found;      /* a product that distinguishes them */
  int64_t k;             /* if found its k, else the least for which they may differ, 0: none */
  const uint64_t *a, *b; /* a row of A, a column of B, of k words each */
  uint64_t x, y;         /* the results */
} mmadiff_race_info;
void mmadiff_race_describe(const mmadiff_race* race, mmadiff_race_info* info, size_t size);

#ifdef __cplusplus
}
#endif
#endif
