// The table of questions.
#include "triage/probe/questions.h"

namespace mmadiff {
namespace {

constexpr char kZeroExponent[] =
    "differences/zero_times_{huge,huge_and_addend,large_and_tiny_addend}";
constexpr char kFloor[] =
    "khattak_mikaitis_2025/f16_floor_{42,43,44,45,46,47,48} "
    "expected/floor_{sum_of_tiny,2_156,2_157,2_158,2_159} "
    "khattak_mikaitis_2025/floor_h100";
constexpr char kWidth[] =
    "hickmann_bradford_2019/{width_kept,width_cut,width_sweep_5} "
    "expected/"
    "{accumulation_1,guard_bits_1,guard_bits_2,guard_bits_3,normalisation_2,normalisation_3} "
    "fp8_accumulators/addend_through_zero_products "
    "expected/{two_to_minus_13,two_to_minus_14,twice_two_to_minus_14,cancellation_448,width_2} "
    "differences/width_{3,12} expected/width_13 "
    "questions/nvf4_width_{34,35,36,37}";
constexpr char kOutput[] =
    "expected/{rounding_1,rounding_2} "
    "fasi_2021/carry_rounding "
    "expected/f16_tie_{to_even,and_straggler,up_to_even} "
    "questions/f16_result_of_f32_addend";
constexpr char kProductExponent[] =
    "valpey_2025/{raw_product_exponent,exponent_of_the_factors} "
    "khattak_mikaitis_2025/{raw_product_exponent,exponent_of_the_factors} "
    "expected/raw_exponent_{12_24,18_16} "
    "questions/subnormal_factor_beside_e5m2";
constexpr char kSteps[] =
    "mma_sim_2/equation_10 "
    "expected/chain_{f32_rounds_between_steps,f16_rounds_between_steps,f16_small_terms_together} "
    "isa_texts/{order_of_f64,chain_of_f64,satfinite_granularity} "
    "questions/{satfinite_granularity_low,last_two_products} "
    "hickmann_bradford_2019/order_{first,last}_pair";
constexpr char kZeroSign[] =
    "expected/cancellation_is_plus_zero "
    "differences/all_minus_zero{,_bf16} "
    "mma_sim_2/all_minus_zero_f16 "
    "questions/all_{products_minus_zero,minus_zero_by_one} "
    "differences/negative_underflow";
constexpr char kSubnormals[] =
    "expected/subnormals_1 "
    "fasi_2021/subnormal_{addend,product,product_f16} "
    "fasi_2021/rounding_f16 "
    "differences/f16_addend_exponent "
    "expected/tf32_{subnormal_becomes_zero,smallest_tf32_subnormal} "
    "isa_texts/subnormal_result "
    "mma_sim_2/flushed_once "
    "questions/small_addend_{f16,bf16}";
constexpr char kOverflow[] =
    "expected/{half_ulp_above_the_largest,one_ulp_above_the_largest,products_beyond_f32} "
    "khattak_mikaitis_2025/two_to_the_128 "
    "expected/opposite_products_of_2_128 "
    "differences/overflow_against_infinity "
    "expected/f16_{below_65520,at_65520,addend_at_65520,minus_65520}";
constexpr char kNan[] =
    "expected/nan_operand_{quiet,negative,signalling,quiet_f16} "
    "expected/nan_{addend_payload,infinity_times_zero,infinity_minus_infinity} "
    "expected/tf32_nan_{with_low_payload,just_above,that_is_infinity_times_zero} "
    "expected/e4m3_nan_{7f,ff} "
    "questions/nan_{signalling,payload,addend}_f64 "
    "questions/infinity_times_zero_f64 "
    "expected/nan_scale_of_zeros";
constexpr char kScales[] =
    "expected/zero_sum_group_keeps_exponent "
    "questions/largest_sum_mxf4";
constexpr char kIntegers[] = "isa_texts/wraps_{up,down}";

constexpr Question kQuestions[] = {
    {"layout", "Is every matrix element where the layout puts it?", Method::kLayout},
    {"decoding",
     "How are the words of each operand read: every word of a narrow format, times one?",
     Method::kDecoding},
    {"repeat", "Does a dot product give the same answer at every position in D, every time?",
     Method::kRepeat},
    {.id = "width",
     .text = "How many bits does alignment keep, and how does it cut the rest?",
     .parameters = "fraction_bits=-12..+12 align_rounding sum_fraction_bits=-8..+6 sum_rounding "
                   "product_rounding multiply_add far_product",
     .classes = "band cancel tie borrow last_bits",
     .vectors = kWidth},
    {.id = "output",
     .text = "How is the sum rounded to the output, and to how many bits?",
     .parameters = "output_rounding ties output_fraction_bits=-12..+12",
     .classes = "tie band borrow cancel",
     .vectors = kOutput},
    {.id = "product_exponent",
     .text = "Is a product's exponent the sum of its operands' exponents, or normalized?",
     .parameters = "product_exponent group_exponent",
     .classes = "band cancel groups_cancel",
     .vectors = kProductExponent},
    {.id = "steps",
     .text = "How many products are added to one addend before a rounding?",
     .parameters = "terms=1,2,4,8,16,32,64,128,256 group_terms=1,2,4,8,16,32",
     .classes = "cancel band borrow small_sums limit edges",
     .vectors = kSteps},
    {.id = "order",
     .text = "In which order and grouping are the products added, and where does the addend join?",
     .parameters = "order grouping addend_joins",
     .classes = "cancel band borrow",
     .vectors = kSteps},
    {.id = "selection",
     .text = "Which products does a sparse instruction add, and in which order?",
     .parameters = "selection",
     .classes = "infinities specials band cancel small",
     .vectors = "questions/sparse_{infinity,nan}_not_stored questions/sparse_infinity_beside_zero "
                "questions/sparse_steps"},
    {.id = "zero_exponent",
     .text = "Does zero times a huge number move the alignment exponent?",
     .parameters = "zero_term zero_addend zero_group",
     .classes = "zero_times_huge zero_groups band",
     .vectors = kZeroExponent},
    {.id = "floor",
     .text = "What is the smallest alignment exponent?",
     .parameters = "exponent_floor=-16..+16,none",
     .classes = "floor underflow small_sums",
     .vectors = kFloor},
    {.id = "zero_sign",
     .text = "Which sign does a zero result have (all terms -0, cancellation, negative underflow)?",
     .parameters = "zero_sign",
     .classes = "signed_zeros cancel underflow floor",
     .vectors = kZeroSign},
    {.id = "subnormals",
     .text = "What happens to subnormal operands, addends and results?",
     .parameters = "input_subnormals addend_subnormals addend_flush output_subnormals tininess "
                   "addend_exponent small_addend",
     .classes = "subnormals underflow addend_edges",
     .vectors = kSubnormals},
    {.id = "overflow",
     .text = "What happens to products and sums beyond the largest number?",
     .parameters = "range_overflow product_overflow",
     .classes = "overflow edges",
     .vectors = kOverflow},
    {.id = "range",
     .text =
         "What does a conversion make of numbers beyond the output's range, and of negative ones?",
     .parameters = "saturation relu",
     .classes = "overflow edges specials"},
    {.id = "nan",
     .text = "Which bits does a NaN result have?",
     .parameters = "nan_rule",
     .classes = "specials edges",
     .vectors = kNan,
     .nan_bits = true},
    {.id = "integers",
     .text = "Do integer sums wrap or saturate?",
     .parameters = "overflow bit_operation pair_sum",
     .classes = "limit edges cancel small",
     .vectors = kIntegers},
    {.id = "model",
     .text = "Does the model hold, as it is or with one parameter changed?",
     .parameters = "*",
     .vectors = kScales},
    {"payloads", "Which results do NaNs of every payload produce, in every operand?",
     Method::kPayloads},
    {.id = "low_bits",
     .text = "What happens to operand bits that tf32 and xf32 do not have?",
     .method = Method::kReadings,
     .vectors = "questions/low_bits{,_tie}_of_tf32"},
    {.id = "special_addends",
     .text = "Does an infinite or NaN addend count next to products above 2^24?",
     .method = Method::kReadings,
     .vectors = "questions/{infinite,nan}_addend_beside_2_31_{bf8,e5m2}"},
    {.id = "scales",
     .text = "What do the E8M0 scales 00 and ff mean?",
     .method = Method::kReadings,
     .vectors = "questions/scale_{00,ff}_{e4m3,e2m1}"},
    {"modes", "Do processor settings (rounding, subnormals) change a result?", Method::kModes},
    {"pairs",
     "Does the model hold for every operand pair (formats up to FP8: with a window of addends; "
     "16-bit formats: with c = 0)?",
     Method::kPairs},
};

}  // namespace

bool NeedsModel(const Question& q) {
  return q.method == Method::kParameters || q.method == Method::kDecoding ||
         q.method == Method::kPayloads || q.method == Method::kPairs;
}

bool IsOfArithmetic(const Question& q) {
  return q.method != Method::kLayout && q.method != Method::kRepeat && q.method != Method::kPairs;
}

std::span<const Question> Questions() { return kQuestions; }

Method MethodOf(std::string_view id) {
  const Question* const question = FindQuestion(id);
  return question == nullptr ? Method::kParameters : question->method;
}

const Question* FindQuestion(std::string_view id) {
  for (const Question& q : kQuestions) {
    if (id == q.id) return &q;
  }
  return nullptr;
}

}  // namespace mmadiff
