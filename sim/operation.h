// An operation joins both tables: "sm_90/mma.m16n8k16.f32.f16.f16.f32" names an architecture and an
// instruction.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/algorithm.h"
#include "sim/instruction.h"
#include "sim/numerics.h"

namespace mmadiff {

struct Operation {
  const Instruction* instruction;
  const Numerics* numerics;
  Model model;
  std::string name;  // ARCH/INSTRUCTION

  std::string_view arch() const { return numerics->arch; }
  const Shape& shape() const { return instruction->shape; }
};

// All operations, in table order; instructions with several sizes appear with their first.
std::span<const Operation> Operations();

// The entries of AllUnknown() whose instruction is in the table and native or emulated on their
// architecture: devices can run them, but there is no model to compare with. Their grade is
// kUnknown, no NaN bits are promised, and their model has formats but the family kNone.
std::span<const Operation> UnmodelledOperations();

// Whether the operation has a model, so that it can be simulated and answers can be compared.
bool IsModelled(const Operation& op);

// A guess for an operation without a model; nullptr if there is no guess, or if there is a model.
const Hypothesis* HypothesisOf(const Operation& op);

// Whether operations must have a model.
enum class Models : uint8_t {
  kRequired,  // Operations()
  kOptional,  // UnmodelledOperations() too
};

// The first operation of each model. Each of the others differs from one of these only in name and
// shape.
std::vector<const Operation*> DistinctOperations();

// "hopper/X" to "sm_90/X"; names without an alias are returned unchanged.
std::string ResolveAlias(std::string_view name);

// nullptr if there is no such operation. Accepts aliases of architectures, and every legal m and n
// of an instruction with several sizes. Calls with the same name return the same operation.
// Thread-safe.
const Operation* FindOperation(std::string_view name, Models models = Models::kRequired);

// The entry of UnmodelledOperations() with this name, or an operation outside the tables
// (sim/unlisted.h), or nullptr. Accepts aliases.
const Operation* FindUnmodelled(std::string_view name);

// Whether the architecture's machine code has the instruction as a single matrix instruction. If
// not, it is emulated: its assembler compiles it to several.
bool IsNative(const Operation& op);

// Operations whose name matches a shell glob, those without a model last; "*" also matches "/".
// Accepts aliases. A name without wildcards finds the same operation as FindOperation().
std::vector<const Operation*> MatchOperations(std::string_view glob,
                                              Models models = Models::kRequired);

// Names of AllUnknown() that match the glob but are not operations: the tables lack their formats,
// so no device can run them.
std::vector<std::string> MatchUnknown(std::string_view glob);

// Why FindOperation(name) is nullptr, as a message: missing knowledge, legal sizes, architectures
// that have the instruction, or similar names.
std::string WhyNoOperation(std::string_view name);

// Up to `count` candidates, most similar first, that begin with `name` or differ from its first 128
// characters by at most two edits or a third of their number.
std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> candidates,
                                 size_t count);
// `lead` and these candidates, separated by commas; empty if there are no candidates.
std::string NearestText(std::string_view lead, std::string_view name,
                        std::span<const std::string> candidates, size_t count);

// The operation's model with a different algorithm.
Model WithAlgorithm(const Operation& op, const Algorithm& algorithm);

// Whether two models give the same results for the same words.
bool SameModel(const Model& x, const Model& y);

}  // namespace mmadiff
