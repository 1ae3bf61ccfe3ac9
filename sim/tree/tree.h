// A model as a tree: which products and words are added together, and how each of these sums is
// aligned, cut and rounded. Every family is such a tree (sim/tree/tree_of.h) with a faster
// implementation. Text form: sim/tree/tree_text.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/algorithm.h"
#include "sim/trace.h"

namespace mmadiff {

// Words, products and partial sums (results of nodes that do not round) are a node's terms. Each may
// offer an exponent: a product the sum of its operands' exponents (ProductExponent), a word its
// exponent in its own format, a partial sum the alignment exponent of its node, plus the exponents
// of its scales. The largest of them and of the floor is the node's alignment exponent.

inline constexpr int kExact = 0;       // Node::fraction_bits: nothing is cut
inline constexpr int kAsNode = 0;      // Node::partial_fraction_bits
inline constexpr int kAllBits = 0;     // Node::output_fraction_bits: those of the format
inline constexpr int kNoLimit = 5000;  // Node::product_limit

// Whether a zero offers an exponent.
enum class ZeroOffers : uint8_t { kNothing, kExponent };
// A word of which no bit is kept.
enum class SmallWord : uint8_t {
  kCut,                // as any other term
  kDropped,            // adds nothing if it is below half of the last kept bit
  kDroppedAboveFloor,  // adds nothing unless the last kept bit is at most the least exponent of `to`
};
// The scales of the node's first product multiply its sum.
enum class NodeScale : uint8_t {
  kNone,
  kAdded,  // the exponents of the scales are added to the alignment exponent
  kAlone,  // they replace it
};
enum class NodeZero : uint8_t {
  kIeee,     // -0 if every term is -0 before alignment; a sum that rounds to zero keeps its sign
  kIeee754,  // and an exact zero of terms of both signs is -0 if rounded down
  kSumPositive,  // an exact zero is +0; a sum that rounds to zero keeps its sign
  kPositive,     // every zero is +0
};
// A finite result beyond the largest number.
enum class NodeOverflow : uint8_t {
  kInfinity,
  kIeee,      // infinity or the largest number, by rounding mode
  kSaturate,  // the largest number; integers too, which wrap otherwise
};
enum class NodeNan : uint8_t {
  kAllOnes,  // NanRule::kAllOnes
  kQuietPositive,
  kPropagate,  // the first NaN of the terms in order, of a product a before b, quieted
  // First b of the first product, then the other terms from the last, a before b, then a; without
  // products the terms from the last.
  kPropagateBca,
  // A NaN operand of a product gives `factor_nan`; else an invalid operation gives `invalid_nan`;
  // else the first NaN word is quieted.
  kConstants,
};

// The arithmetic of every node of one name.
struct Node {
  int fraction_bits = kExact;     // kept below the alignment exponent, 1..64
  int exponent_floor = kNoFloor;  // least alignment exponent
  Rounding align_rounding = Rounding::kTowardZero;
  // Terms with another sign than the first word, zeros too, are added as the complement of their
  // magnitude, the negative minus one unit (AMD RDNA3). A dropped word still adds nothing.
  bool ones_complement = false;
  ProductExponent product_exponent = ProductExponent::kRaw;
  ZeroOffers zero_product = ZeroOffers::kNothing;
  ZeroOffers zero_word = ZeroOffers::kNothing;
  ZeroOffers zero_partial = ZeroOffers::kExponent;
  int word_shift = 0;                   // words offer so much less
  int partial_fraction_bits = kAsNode;  // of partial sums, if not as of other terms
  SmallWord small_word = SmallWord::kCut;
  int product_limit = kNoLimit;  // products of at least 2^limit are infinite
  NodeScale scale = NodeScale::kNone;

  const Format* to = nullptr;           // the result is a word of it; nullptr: a partial sum
  int output_fraction_bits = kAllBits;  // after the leading one
  Rounding output_rounding = Rounding::kNearestEven;
  NodeOverflow overflow = NodeOverflow::kInfinity;
  Subnormals output_subnormals = Subnormals::kKeep;
  Tininess tininess = Tininess::kAfterRounding;
  NodeZero zero_sign = NodeZero::kIeee;
  NodeNan nan_rule = NodeNan::kAllOnes;
  uint64_t factor_nan = 0, invalid_nan = 0;

  friend bool operator==(const Node&, const Node&) = default;
};

// Postfix code. Leaves push a term; kJoin replaces the last `count` terms by the result of a node.
enum class Push : uint8_t { kProduct, kAddend, kZero, kJoin };
struct TreeCode {
  Push push;
  uint8_t node = 0;    // kJoin: index in Tree::nodes
  uint16_t index = 0;  // kProduct: k; kJoin: number of terms
  friend bool operator==(const TreeCode&, const TreeCode&) = default;
};

inline constexpr int kMaxTreeNodes = 16, kMaxTreeCode = 2048;

struct Tree {
  std::vector<Node> nodes;
  std::vector<std::string> names;  // of the nodes
  std::vector<TreeCode> code;
};

// A tree as nested terms: a leaf, or a node with its terms.
struct Branch {
  Push push;
  int index = 0;  // kProduct: k; kJoin: index in Tree::nodes
  std::vector<Branch> terms = {};
};
std::vector<TreeCode> CodeOf(const Branch& root);
Branch RootOf(const Tree& tree);

// A field of a node as a number, for text and for one-parameter changes.
struct NodeField {
  const char* name;
  int (*get)(const Node&);
  void (*set)(Node&, int);
  std::vector<const char*> values;  // names of 0, 1, ...; empty for a number
  int min = 0, max = 0;
  const char* absent = "";  // name of the default of a number
  Stage stage = Stage::kRounded;
};
// All fields except `to` and the NaN constants, in the order in which changes are preferred as
// explanations.
const std::vector<NodeField>& NodeFields();

// Whether a change of the field can change a result of the node with this index.
bool Acts(const Tree& tree, int node, const NodeField& field);

// The format of a node: one of the tables or described by its name, or eEmF of up to 64 bits, an
// IEEE format that no operand can have. nullptr for other names.
const Format* NodeFormat(std::string_view name);

// The format of the word that a step of a trace rounds to: in a tree the node's, else the output's.
const Format* ResultFormat(const Model& model, int step);
// The name of the node that is a step of a trace; "" if the model is not a tree.
std::string NodeAt(const Model& model, int step);

// Whether values of NodeFields() are all that differs.
bool DifferInFieldsOnly(const Tree& x, const Tree& y);

// Trees in models live forever; equal ones are the same. Thread-safe.
const Tree* InternTree(Tree tree);

// Without what cannot change a result: fields of nodes that do not act, nodes that are not used,
// equal nodes apart. Names are "n0", "n1", ... by first use.
Tree NormalTree(const Tree& tree);
// The same without what cannot act on words of the model's formats: floors below all exponents,
// NaNs that later nodes replace.
Tree NormalTree(const Tree& tree, const Model& model);

// Empty if the tree can be evaluated with the model's formats and k; otherwise the reason.
std::string WhyInvalidTree(const Model& model, const Tree& tree);

}  // namespace mmadiff
