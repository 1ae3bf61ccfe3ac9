// Expressions over the words of the operands: the computations of machine code, without registers,
// addresses and scheduling, so that two programs can be compared.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace mmadiff::sass {

struct Expression {
  enum Kind : uint8_t { kConstant, kInput, kComputed } kind = kConstant;
  // kConstant: the value. kInput: the word of its array. kComputed: the word of the results, in a
  // matrix instruction counted over all lanes; from kFirstFlag on a flag.
  uint32_t number = 0;
  // kInput: the array's. kComputed: the instruction's form, "HMMA.16816.F32"; "" for the words of all
  // lanes; "-", "~", "!", "low", "high", "sign" for modifiers of operands; "?" for a condition
  // and the two words that it selects from.
  std::string name;
  std::vector<int> of;  // kComputed: other expressions
};

inline constexpr uint32_t kFirstFlag = 1 << 16;
inline constexpr int kZero = 0;  // the expression of the constant 0

// Expressions of any number of programs, each once: equal numbers are equal computations. The operands
// of commutative instructions are in ascending order.
class Expressions {
 public:
  Expressions() { Constant(0); }

  int Constant(uint32_t value) { return Add({Expression::kConstant, value, "", {}}); }
  int Input(const std::string& array, uint32_t word) {
    return Add({Expression::kInput, word, array, {}});
  }
  int Computed(const std::string& name, uint32_t word, std::vector<int> of);

  const Expression& operator[](int number) const { return all_[number]; }
  bool IsConstant(int number) const { return all_[number].kind == Expression::kConstant; }
  // Equal for equal expressions, in every process.
  uint64_t Digest(int number) const;
  // "FADD(c[3], HMMA.16816.F32(...))", with "..." beyond `depth`.
  std::string Text(int number, int depth) const;

 private:
  int Add(Expression expression);

  std::vector<Expression> all_;
  std::map<std::tuple<Expression::Kind, uint32_t, std::string, std::vector<int>>, int> numbers_;
  mutable std::unordered_map<int, uint64_t> digests_;
};

}  // namespace mmadiff::sass
