// The table of questions. Sources of the named cases: E, HB, A to D, CY, R, N, Z, OV: Fasi, Higham,
// Mikaitis and Pranesh 2021; Hickmann and Bradford 2019; Khattak and Mikaitis (arXiv 2512.07004);
// MMA-Sim (arXiv 2511.10909). H100: issue 7 of MATLAB-tensor-core. F2: SageAttention2 and DeepGEMM
// issue 37. The others were made for the question.
#include "triage/question.h"

namespace mmadiff {
namespace {

constexpr NamedCase kZeroExponent[] = {
    {"0 x 2^127 and 2^-34", "bf16 f32", "0000 2e80 | 7f00 3f80 | 00000000"},
    {"0 x 2^127 and an addend of 2^-34", "bf16 f32", "0000 | 7f00 | 2e800000"},
    {"0 x 2^15 and the least addend", "f16 f32", "0000 | 7800 | 00000001"},
};

constexpr NamedCase kFloor[] = {
    // The largest m whose 2^-25 + 2^-m is not 0 tells the floor of f16 results.
    {"2^-25 + 2^-42", "f16 f16", "1000 0001 | 0400 0040 | 0000"},
    {"2^-25 + 2^-43", "f16 f16", "1000 0001 | 0400 0020 | 0000"},
    {"2^-25 + 2^-44", "f16 f16", "1000 0001 | 0400 0010 | 0000"},
    {"2^-25 + 2^-45", "f16 f16", "1000 0001 | 0400 0008 | 0000"},
    {"2^-25 + 2^-46", "f16 f16", "1000 0001 | 0400 0004 | 0000"},
    {"2^-25 + 2^-47", "f16 f16", "1000 0001 | 0400 0002 | 0000"},
    {"2^-25 + 2^-48", "f16 f16", "1000 0001 | 0400 0001 | 0000"},
    {"4 x 2^-151", "bf16 f32", "1980 1980 1980 1980 | 1a00 1a00 1a00 1a00 | 00000000"},
    {"2^-149 - 2^-156", "bf16 f32", "1a00 9880 | 1a80 1880 | 00000000"},
    {"2^-149 - 2^-157", "bf16 f32", "1a00 9800 | 1a80 1880 | 00000000"},
    {"2^-149 - 2^-158", "bf16 f32", "1a00 9800 | 1a80 1800 | 00000000"},
    {"2^-149 - 2^-159", "bf16 f32", "1a00 9780 | 1a80 1800 | 00000000"},
    {"H100, recorded as 0000000b", "bf16 f32",
     "9b94 19f3 9a2e 1a67 9a25 9b4e 9b29 9a33 99e0 1a14 9914 99d1 9ae9 1b1a 9a9c 1b3a | "
     "9aaf 99f3 9acc 1b7c 19ed 1b25 9a1b 9a20 9af7 9a48 1ae1 1b32 1b12 1b0e 9a68 1735 | 00000000"},
};

constexpr NamedCase kWidth[] = {
    {"2^30 - 2^30 + 2^7", "f16 f32", "7800 f800 3c00 | 7800 7800 5800 | 00000000"},
    {"2^30 - 2^30 + 2^6", "f16 f32", "7800 f800 3c00 | 7800 7800 5400 | 00000000"},
    {"2^30 - 2^30 + 2^5", "f16 f32", "7800 f800 3c00 | 7800 7800 5000 | 00000000"},
    {"1 + 4 x 2^-24", "f16 f32", "0001 0001 0001 0001 | 3c00 3c00 3c00 3c00 | 3f800000"},
    {"1 + 4 x 2^-25", "f16 f32", "0001 0001 0001 0001 | 3800 3800 3800 3800 | 3f800000"},
    {"1 + 4 x 2^-26", "f16 f32", "0001 0001 0001 0001 | 3400 3400 3400 3400 | 3f800000"},
    {"1 - (1 - 2^-24)", "f16 f32", "3c00 | 3c00 | bf7fffff"},
    {"1 - (1 - 2^-24) - 2^-24", "f16 f32", "3c00 8001 | 3c00 3c00 | bf7fffff"},
    {"(1 - 2^-24) + 4 x 2^-25", "f16 f32", "0001 0001 0001 0001 | 3800 3800 3800 3800 | 3f7fffff"},
    {"0 + 3.0000055", "e4m3 f32", "00 | 00 | 40403017"},
    {"1 + 2^-13", "e4m3 f32", "38 04 | 38 08 | 00000000"},
    {"1 + 2^-14", "e4m3 f32", "38 04 | 38 04 | 00000000"},
    {"1 + 2 x 2^-14", "e4m3 f32", "38 04 04 | 38 04 04 | 00000000"},
    {"448^2 - 448^2 + 2^-9", "e4m3 f32", "7e 7e 01 | 7e fe 38 | 00000000"},
    {"2^23 - 2^23 + 2^-2", "e2m1 f32", "2 @32 1 | a @32 1 | 4b000000 | 96 7f | 7f 7f"},
    {"2^23 - 2^23 + 2^-3", "e2m1 f32", "2 @32 1 | a @32 1 | 4b000000 | 96 7e | 7f 7f"},
    {"2^23 - 2^23 + 2^-12", "e2m1 f32", "2 @32 1 | a @32 1 | 4b000000 | 96 75 | 7f 7f"},
    {"2^23 - 2^23 + 2^-13", "e2m1 f32", "2 @32 1 | a @32 1 | 4b000000 | 96 74 | 7f 7f"},
};

constexpr NamedCase kOutput[] = {
    {"2 + 2^-23 + 2^-24", "f16 f32", "4000 0002 0001 | 3c00 3c00 3c00 | 00000000"},
    {"-(2 + 2^-23 + 2^-24)", "f16 f32", "c000 8002 8001 | 3c00 3c00 3c00 | 00000000"},
    {"(1 + 2^-22 + 2^-23) + 4", "f16 f32", "3c00 3c00 3c00 3c00 | 3c00 3c00 3c00 3c00 | 3f800003"},
    {"1 + 2^-11", "f16 f16", "3c00 1000 | 3c00 3c00 | 0000"},
    {"1 + 2^-11 + 2^-24", "f16 f16", "3c00 1000 0001 | 3c00 3c00 3c00 | 0000"},
    {"1 + 3 x 2^-11", "f16 f16", "3c00 1600 | 3c00 3c00 | 0000"},
};

constexpr NamedCase kProductExponent[] = {
    {"1.5 x 1.5 + 2 x 2^-24", "f16 f32", "3e00 1000 1000 | 3e00 0c00 0c00 | 00000000"},
    {"1 x 2.25 + 2 x 2^-24", "f16 f32", "3c00 1000 1000 | 4080 0c00 0c00 | 00000000"},
    {"1.5 x 1.5 + 2^-23 + 2 x 2^-24", "f16 f32", "3e00 0002 0001 0001 | 3e00 3c00 3c00 3c00 | 0"},
    {"2.25 x 1 + 2^-23 + 2 x 2^-24", "f16 f32", "4080 0002 0001 0001 | 3c00 3c00 3c00 3c00 | 0"},
    {"12 x 24 + 8 x 2^-18", "e4m3 f32",
     "54 01 01 01 01 01 01 01 01 | 5c 01 01 01 01 01 01 01 01 | 00000000"},
    {"18 x 16 + 8 x 2^-18", "e4m3 f32",
     "59 01 01 01 01 01 01 01 01 | 58 01 01 01 01 01 01 01 01 | 00000000"},
};

constexpr NamedCase kSteps[] = {
    {"2^23 and halves of falling size", "f16 f32",
     "f000 b800 b400 b000 | 6400 3c00 3c00 3c00 | 4b000000"},
    {"1, 2^-25, and -1 in the second half", "f16 f32", "3c00 0001 @8 bc00 | 3c00 3800 @8 3c00 | 0"},
    {"1, 2^-11, and 2^-11 in the second half", "f16 f16", "3c00 1000 @8 1000 | 3c00* | 0000"},
    {"1, and twice 2^-11 in the second half", "f16 f16", "3c00 @8 1000 1000 | 3c00* | 0000"},
    {"2^53, 1, -2^53, 1", "f64 f64",
     "4340000000000000 3ff0000000000000 c340000000000000 3ff0000000000000 | 3ff0000000000000* | 0"},
    {"2^53 and four times 1", "f64 f64",
     "3ff0000000000000 3ff0000000000000 3ff0000000000000 3ff0000000000000 | 3ff0000000000000* | "
     "4340000000000000"},
    {"above in the first half, back in the second", "s8 s32",
     "01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 01 ff* | 01* | 7fffffff"},
    {"below in the first half, back in the second", "s8 s32",
     "ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff 01* | 01* | 80000000"},
};

constexpr NamedCase kZeroSign[] = {
    {"1 - 1", "f16 f32", "3c00 bc00 | 3c00 3c00 | 00000000"},
    {"all -0", "f16 f32", "8000* | 0000* | 80000000"},
    {"all -0", "f16 f16", "8000* | 0000* | 8000"},
    {"all -0", "bf16 f32", "8000* | 0000* | 80000000"},
    {"products of -0 and +0", "f16 f32", "8000* | 3c00* | 00000000"},
    {"products of -0 and -0", "f16 f32", "8000* | 3c00* | 80000000"},
    {"-2^-151", "bf16 f32", "9a00 | 1980 | 00000000"},
};

constexpr NamedCase kSubnormals[] = {
    {"4 x 2^-24", "f16 f32", "0001 0001 0001 0001 | 3c00 3c00 3c00 3c00 | 00000000"},
    {"an addend of 2^-149", "f16 f32", "0000 | 0000 | 00000001"},
    {"2^-14 x 2^-1", "f16 f32", "0400 | 3800 | 00000000"},
    {"2^-14 x 2^-1", "f16 f16", "0400 | 3800 | 0000"},
    {"2^-25 + 2^-26", "f16 f16", "0001 0001 | 3800 3400 | 0000"},
    {"the addend 2^-24 of f16 among products of 2^-25", "f16 f16 f32",
     "1000 0001 | 0400 0100 | 8001"},
    {"low bits of tf32", "tf32 f32", "00001fff | 7f000000 | 00000000"},
    {"the least tf32", "tf32 f32", "00002000 | 7f000000 | 00000000"},
    {"flushed operand", "bf16 f32", "8080 | 3f00 | 00800000"},
};

constexpr NamedCase kOverflow[] = {
    {"the largest + 2^103", "bf16 f32", "5900 | 5980 | 7f7fffff"},
    {"the largest + 2^104", "bf16 f32", "5980 | 5980 | 7f7fffff"},
    {"2^127 + 2^127", "bf16 f32", "7f00 | 3f80 | 7f000000"},
    {"products beyond f32 that cancel", "bf16 f32", "7f7f 7f7f | 7f7f ff7f | 3f800000"},
    {"2^128 - 2^128", "bf16 f32", "7f00 ff00 | 4000 4000 | 00000000"},
    {"2^128 - infinity", "bf16 f32", "7f00 | 4000 | ff800000"},
    {"65504 + 15.99", "f16 f16", "7bff 4bff | 3c00 3c00 | 0000"},
    {"65504 + 16", "f16 f16", "7bff 4c00 | 3c00 3c00 | 0000"},
    {"65504 + 16 as addend", "f16 f16", "7bff | 3c00 | 4c00"},
    {"-65504 - 16 as addend", "f16 f16", "fbff | 3c00 | cc00"},
};

constexpr NamedCase kNan[] = {
    {"quiet NaN", "f16 f32", "7e01 | 3c00 | 00000000"},
    {"negative NaN", "f16 f32", "fe00 | 3c00 | 00000000"},
    {"signalling NaN", "f16 f32", "7c01 | 3c00 | 00000000"},
    {"quiet NaN", "f16 f16", "7e01 | 3c00 | 0000"},
    {"NaN addend with a payload", "f16 f32", "0000 | 0000 | ffc12345"},
    {"infinity x 0", "bf16 f32", "7f80 | 0000 | 00000000"},
    {"infinity - infinity", "bf16 f32", "7f80 | 3f80 | ff800000"},
    {"NaN in ignored bits", "tf32 f32", "7f800001 | 3f800000 | 00000000"},
    {"NaN just above", "tf32 f32", "7f802000 | 3f800000 | 00000000"},
    {"NaN in ignored bits x 0", "tf32 f32", "7f800001 | 00000000 | 00000000"},
    {"NaN", "e4m3 f32", "7f | 38 | 00000000"},
    {"negative NaN", "e4m3 f32", "ff | 38 | 00000000"},
    {"signalling NaN", "f64 f64", "7ff0000000000001 | 3ff0000000000000 | 0"},
    {"NaN with a payload", "f64 f64", "3ff0000000000000 | fff8000012345678 | 0"},
    {"NaN addend", "f64 f64", "3ff0000000000000 | 3ff0000000000000 | fff8000012345678"},
    {"infinity x 0", "f64 f64", "7ff0000000000000 | 0 | 0"},
    {"a scale of NaN over zeros", "e2m1 f32", "0 | 0 | 3f800000 | ff | 7f"},
};

constexpr NamedCase kScales[] = {
    // Does a group that adds up to zero keep its exponent?
    {"a zero sum under 2^23, and 2^-13", "e2m1 f32",
     "2 a @32 1 | 2 2 @32 1 | 00000000 | 96 74 | 7f 7f"},
    {"the largest sum", "e2m1 f32", "7* | 7* | 00000000 | 7f | 7f"},
};

constexpr NamedCase kIntegers[] = {
    {"above 2^31", "s8 s32", "80* | 80* | 7fffffff"},
    {"below -2^31", "s8 s32", "80* | 7f* | 80000000"},
};

constexpr Question kQuestions[] = {
    {"layout", "Is every matrix element where the layout says?", Method::kLayout},
    {"repeat", "Has a dot product one answer, at every place of D and every time?",
     Method::kRepeat},
    {.id = "width",
     .text = "How many bits does an alignment keep, and how does it cut the others?",
     .parameters = "fraction_bits=-12..+12 align_rounding sum_fraction_bits=-8..+6 sum_rounding "
                   "product_rounding",
     .classes = "band cancel tie borrow last_bits",
     .cases = kWidth},
    {.id = "output",
     .text = "How is the sum rounded to the output, and to how many bits?",
     .parameters = "output_rounding output_fraction_bits=-12..+12",
     .classes = "tie band borrow cancel",
     .cases = kOutput},
    {.id = "product_exponent",
     .text = "Is the exponent of a product the sum of the exponents, or normalised?",
     .parameters = "product_exponent group_exponent",
     .classes = "band cancel groups_cancel",
     .cases = kProductExponent},
    {.id = "steps",
     .text = "How many products join one addend before one rounding?",
     .parameters = "terms=1,2,4,8,16,32,64,128,256 group_terms=1,2,4,8,16,32",
     .classes = "cancel band borrow small_sums limit edges",
     .cases = kSteps},
    {.id = "order",
     .text = "In which order and grouping are the products added, and where does the addend join?",
     .parameters = "order grouping addend_joins",
     .classes = "cancel band borrow",
     .cases = kSteps},
    {.id = "zero_exponent",
     .text = "Does a zero times a huge number move the alignment exponent?",
     .parameters = "zero_term zero_addend zero_group",
     .classes = "zero_times_huge zero_groups band",
     .cases = kZeroExponent},
    {.id = "floor",
     .text = "What is the least alignment exponent?",
     .parameters = "exponent_floor=-16..+16,none",
     .classes = "floor underflow small_sums",
     .cases = kFloor},
    {.id = "zero_sign",
     .text = "Which sign has a zero: all minus zero, cancellation, negative underflow?",
     .parameters = "zero_sign",
     .classes = "signed_zeros cancel underflow floor",
     .cases = kZeroSign},
    {.id = "subnormals",
     .text = "What becomes of subnormal operands, addends and results?",
     .parameters = "input_subnormals addend_subnormals output_subnormals tininess addend_exponent "
                   "small_addend",
     .classes = "subnormals underflow addend_edges",
     .cases = kSubnormals},
    {.id = "overflow",
     .text = "What becomes of products and sums beyond the largest number?",
     .parameters = "range_overflow product_overflow",
     .classes = "overflow edges",
     .cases = kOverflow},
    {.id = "nan",
     .text = "Which bits has a NaN result?",
     .parameters = "nan_rule",
     .classes = "specials edges",
     .cases = kNan,
     .nan_bits = true},
    {.id = "integers",
     .text = "Do integer sums wrap or saturate?",
     .parameters = "overflow bit_operation",
     .classes = "limit edges cancel small",
     .cases = kIntegers},
    {.id = "model",
     .text = "Does the model hold, or one with a single change?",
     .parameters = "*",
     .cases = kScales},
    {"payloads", "Which words do NaNs of every payload become, in every operand?",
     Method::kPayloads},
    {"pairs",
     "Every pair of operands: FP8 and narrower with a window of addends, 16-bit ones with c = 0.",
     Method::kPairs},
};

}  // namespace

std::span<const Question> Questions() { return kQuestions; }

const Question* FindQuestion(std::string_view id) {
  for (const Question& q : kQuestions) {
    if (id == q.id) return &q;
  }
  return nullptr;
}

}  // namespace mmadiff
