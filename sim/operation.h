// An operation joins both tables: "sm_90/mma.m16n8k16.f32.f16.f16.f32" is an architecture and an
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

// All operations, in table order; of instructions with several sizes the first.
std::span<const Operation> Operations();

// Of AllUnknown() those whose instruction the table has and their architecture has or emulates: a
// device can be asked, and nobody can say what it should answer. Their grade is kUnknown, no bits
// of a NaN are promised, and their model has formats, but its family is kNone.
std::span<const Operation> UnmodelledOperations();

// Whether there is a model: whether it can be simulated, and answers be compared with it.
bool IsModelled(const Operation& op);

// What it may compute if there is no model; nullptr if nobody has an idea, or if there is one.
const Hypothesis* HypothesisOf(const Operation& op);

// Which operations are meant.
enum class Models : uint8_t {
  kRequired,  // Operations()
  kOptional,  // UnmodelledOperations() too
};

// The first operation of each model: the others differ from one of these in name and shape alone.
std::vector<const Operation*> DistinctOperations();

// "hopper/X" to "sm_90/X"; names without an alias are returned unchanged.
std::string ResolveAlias(std::string_view name);

// nullptr when there is no such operation. Aliases of architectures are accepted, and every legal m
// and n of an instruction with several sizes; two calls return the same operation. Safe in several
// threads.
const Operation* FindOperation(std::string_view name, Models models = Models::kRequired);

// The one of UnmodelledOperations() with this name, or one that no table has (sim/unlisted.h), or
// nullptr. Aliases are accepted.
const Operation* FindUnmodelled(std::string_view name);

// Whether the architecture's machine code has the instruction as one matrix instruction. Otherwise
// its assembler makes several of it: the instruction is emulated.
bool IsNative(const Operation& op);

// Operations whose name matches a shell glob, those without a model last; "*" also matches "/".
// Aliases are accepted. A name without wildcards finds what FindOperation finds.
std::vector<const Operation*> MatchOperations(std::string_view glob,
                                              Models models = Models::kRequired);

// Names of AllUnknown() that match the glob and name no operation: the tables lack their formats, and
// nobody can be asked.
std::vector<std::string> MatchUnknown(std::string_view glob);

// Why FindOperation(name) is nullptr, in words: what is unknown about it, which sizes are legal,
// which architectures have it, which names are near.
std::string WhyNoOperation(std::string_view name);

// The candidates that begin with `name`, or differ from its first 128 characters by at most two
// edits or a third of their number; the most similar ones first, at most `count`.
std::vector<std::string> Nearest(std::string_view name, std::span<const std::string> candidates,
                                 size_t count);
// These after `lead`, separated by commas; empty if there is none.
std::string NearestText(std::string_view lead, std::string_view name,
                        std::span<const std::string> candidates, size_t count);

// The model of an operation with another algorithm.
Model WithAlgorithm(const Operation& op, const Algorithm& algorithm);

// Whether two models compute the same from the same words.
bool SameModel(const Model& x, const Model& y);

}  // namespace mmadiff
