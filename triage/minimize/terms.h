// Words and terms of a dot product by number, for the passes of the minimizer. Word 2k is a_k, word
// 2k + 1 is b_k, word 2K the addend; term k is a_k * b_k, term K the addend. Scales are not
// numbered.
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
// Returns false and changes nothing if the format cannot hold the value.
bool Put(const Model& model, int word, const Value& operand, DotProductCase& dot);
// The same for one part of a word. Exponents and fractions: also false for zeros and specials.
bool PutExponent(const Model& model, int word, int exponent, DotProductCase& dot);
bool PutFraction(const Model& model, int word, uint64_t fraction, DotProductCase& dot);
bool FlipSign(const Model& model, int word, DotProductCase& dot);

// Words that are not +0, ascending.
std::vector<int> ActiveWords(const Model& model, const DotProductCase& dot);
// Products with an active word, ascending; ActiveTerms() also includes the addend if it is not +0.
std::vector<int> ActiveProducts(const Model& model, const DotProductCase& dot);
std::vector<int> ActiveTerms(const Model& model, const DotProductCase& dot);

void ClearTerm(const Model& model, int term, DotProductCase& dot);
void SwapProducts(int k, int l, DotProductCase& dot);

// `scales` with all terms cleared; only its scales remain.
DotProductCase WithoutTerms(const Model& model, const DotProductCase& scales);

// The sum of the exponents of the term's nonzero words; none for a term with a special or without
// such a word.
std::optional<int> TermExponent(const Model& model, const DotProductCase& dot, int term);

// How a product's exponent is split between a_k and b_k.
enum class ExponentSplit {
  kUnitB,    // b_k gets the exponent of 1.0, a_k the rest
  kUnitA,    // the other way around
  kNormalA,  // a_k gets its format's smallest (or largest) normal exponent, b_k the rest
  kExtremeA  // like kNormalA, but subnormals are included
};
inline constexpr ExponentSplit kExponentSplits[] = {ExponentSplit::kUnitB, ExponentSplit::kUnitA,
                                                    ExponentSplit::kNormalA,
                                                    ExponentSplit::kExtremeA};

// Sets the term's exponent; signs and fractions stay. False if a format cannot hold the operands.
// In a term with one zero operand only the other operand changes.
bool SetTermExponent(const Model& model, int term, int exponent, ExponentSplit split,
                     DotProductCase& dot);
// Uses the first split that the formats can hold.
bool SetTermExponent(const Model& model, int term, int exponent, DotProductCase& dot);

// Product k becomes +-2^exponent * 1.0, split as above; the addend becomes +-2^exponent. If A's
// format has no sign, b_k gets the sign. False, and the term is left half changed, if a format
// cannot hold it.
bool PutPower(const Model& model, int term, bool negative, int exponent, DotProductCase& dot);

struct Power {
  int term, exponent;
};
// Offers `dot` with these powers of two as its terms, with each choice of signs in turn. Returns
// true if the pass must stop. `dot` keeps the last choice.
bool OfferPowers(const Model& model, std::initializer_list<Power> powers, DotProductCase& dot,
                 Offer offer);

// Every exponent that a term can have, in the order 0, -1, 1, -2, 2, ...
std::vector<int> TermExponents(const Model& model, int term);

// The exact value of product k as one operand; none if an operand is a special or zero, or if the
// product needs more than 64 bits.
std::optional<Value> ProductValue(const Model& model, const DotProductCase& dot, int k);

}  // namespace mmadiff
