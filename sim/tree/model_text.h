// A model as a file: its formats, and a tree or a family with its parameters.
//
//   mmadiff model 1
//   # a comment
//   k 16
//   a f16
//   b f16
//   c f32                 "-": no addend
//   d f32
//   scale ue8m0 32        with scales: their format, and the k that share one
//   operands NAME=VALUE   how operands are read: parameters such as a_reading, input_subnormals
//   node ...              a tree (sim/tree/tree_text.h): node lines and a tree line
//   tree ...
//   family fused_sum NAME=VALUE ...   instead of a tree
//
// The first line comes first, nodes before the tree, the rest in any order, each line once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/tree/tree_text.h"

namespace mmadiff {

// Largest file that is read.
inline constexpr size_t kMaxModelText = 1 << 20;

// nullopt with the error. A model that is returned is valid.
std::optional<Model> ParseModel(std::string_view text, TextError* error);

// The text that ParseModel() reads.
std::string ModelFileText(const Model& model);

// Different for every model, whatever the text of its tree.
std::string ModelKey(const Model& model);

}  // namespace mmadiff
