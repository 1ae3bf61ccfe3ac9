// Words and terms of a dot product by number, for the passes of the minimiser. Word 2k is a_k, word
// 2k + 1 is b_k, word 2K the addend; term k is a_k * b_k, term K the addend. Scales are not among
// them.
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "sim/algorithm.h"
#include "sim/batch.h"
#include "sim/word.h"
#include "triage/minimize/passes.h"

namespace mmadiff {

const Format& FormatOfWord(const Model& model, int word);
uint64_t& WordAt(const Model& model, DotProductCase& dot, int word);
Value ValueAt(const Model& model, const DotProductCase& dot, int word);
// False, and nothing changed, when the format cannot hold it.
bool Put(const Model& model, int word, const Value& operand, DotProductCase& dot);
// The same of one part of a word. Exponents and fractions: false for zeros and specials, too.
bool PutExponent(const Model& model, int word, int exponent, DotProductCase& dot);
bool PutFraction(const Model& model, int word, uint64_t fraction, DotProductCase& dot);
bool FlipSign(const Model& model, int word, DotProductCase& dot);

// Words that are not +0, ascending.
std::vector<int> ActiveWords(const Model& model, const DotProductCase& dot);
// Products with an active word, ascending; and with the addend if it is not +0.
std::vector<int> ActiveProducts(const Model& model, const DotProductCase& dot);
std::vector<int> ActiveTerms(const Model& model, const DotProductCase& dot);

void ClearTerm(const Model& model, int term, DotProductCase& dot);
void SwapProducts(int k, int l, DotProductCase& dot);

// The scales of `scales` without any term.
DotProductCase WithoutTerms(const Model& model, const DotProductCase& scales);

// Sum of the exponents of the term's words that are not zero; none for a term with a special or
// without such a word.
std::optional<int> TermExponent(const Model& model, const DotProductCase& dot, int term);

// How a product's exponent is divided between a_k and b_k.
enum class ExponentSplit {
  kUnitB,    // b_k gets that of 1.0, a_k the rest
  kUnitA,    // the other way round
  kNormalA,  // a_k gets its format's smallest (or largest) normal one, b_k the rest
  kExtremeA  // a_k gets its format's smallest one, subnormals included, b_k the rest
};
inline constexpr ExponentSplit kExponentSplits[] = {ExponentSplit::kUnitB, ExponentSplit::kUnitA,
                                                    ExponentSplit::kNormalA,
                                                    ExponentSplit::kExtremeA};

// Gives the term the exponent, signs and fractions kept. False when a format cannot hold the
// operands. A term with one zero operand changes the other one only.
bool SetTermExponent(const Model& model, int term, int exponent, ExponentSplit split,
                     DotProductCase& dot);
// By the first split that the formats can hold.
bool SetTermExponent(const Model& model, int term, int exponent, DotProductCase& dot);

// Product k as +-2^exponent * 1.0, divided as above, or the addend as +-2^exponent; a sign that A's format lacks is
// b_k's. False, and the term in between, when a format cannot hold it.
bool PutPower(const Model& model, int term, bool negative, int exponent, DotProductCase& dot);

struct Power {
  int term, exponent;
};
// Offers `dot` with these powers of two as its terms, each choice of signs in turn; true when the pass must stop. Leaves
// `dot` with the last of them.
bool OfferPowers(const Model& model, std::initializer_list<Power> powers, DotProductCase& dot,
                 Offer offer);

// Every exponent that a term can have, in the order 0, -1, 1, -2, 2, ...
std::vector<int> TermExponents(const Model& model, int term);

// The exact value of product k as one operand; none when it is a special or has more than 64 bits.
std::optional<Value> ProductValue(const Model& model, const DotProductCase& dot, int k);

}  // namespace mmadiff
