// The C interface: rows.
#include <bit>
#include <string>
#include <utility>

#include "sim/algorithms.h"
#include "sim/c/calls.h"
#include "sim/change_text.h"
#include "sim/operation.h"
#include "sim/products.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"
#include "sim/unlisted.h"
#include "sim/word_check.h"

struct mmadiff_row {
  const mmadiff::Operation* operation;
  std::string name;
  mmadiff::Model model;
  std::string algorithm, evidence;
};

namespace mmadiff {
namespace {

Stack<Words> StackOf(const mmadiff_words& w) { return {WordsOf(w), w.stride}; }

Products ProductsOf(const mmadiff_product& p, const mmadiff_words& metadata = {}) {
  return {p.count,
          p.m,
          p.n,
          StackOf(p.a),
          StackOf(p.b),
          StackOf(p.c),
          StackOf(p.block_scale_a.words),
          StackOf(p.block_scale_b.words),
          StackOf(metadata),
          {MutableWordsOf(p.d), p.d.stride}};
}

mmadiff_row* RowOf(const Operation& op, const Model& model, const std::string& name) {
  return new mmadiff_row{&op, name, model, Describe(model.algorithm), Text(op.numerics->evidence)};
}

// NAME, or NAME:PARAMETER=VALUE,...
mmadiff_row* RowNamed(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const Operation* op = &OperationNamed(text.substr(0, colon));
  Model model = op->model;
  std::string name = op->name;
  if (colon < text.size()) {
    const std::string why = ApplyChanges(text.substr(colon + 1), model);
    if (!why.empty()) throw CallError(name + ": " + why);
    name += text.substr(colon);
  }
  return RowOf(*op, model, name);
}

// The operation, which has no name in the tables, and its model.
std::pair<const Operation*, Model> ConversionModel(const Format& from, const Format& to,
                                                   bool saturate) {
  const std::string name = std::string("unlisted/k1.") + to.name + "." + from.name + ".-.-";
  const Operation* op = FindUnlisted(name);
  if (op == nullptr) {
    throw CallError(std::string("conversions are between floating-point formats, not from ") +
                    from.name + " to " + to.name);
  }
  Algorithm algorithm = Converted<>(*op->instruction);
  algorithm.nan_rule = NanRule::kPropagate;
  if (saturate) algorithm.saturation = Saturation::kNumbers;
  return {op, WithAlgorithm(*op, algorithm)};
}

uint64_t WordOf(const Format& format, double number) {
  const Model model = ConversionModel(kF64, format, false).second;
  return Simulate(model, {.a = {std::bit_cast<uint64_t>(number)}, .b = {0}});
}

void CheckK(const Operation& op, const mmadiff_product& p) {
  const int k = op.shape().k;
  if (p.k == k) return;
  const std::string why = "k is " + std::to_string(p.k) + ", but an execution of " + op.name +
                          " has " + std::to_string(k);
  if (op.instruction->sparse()) throw CallError(why);
  throw CallError(why + ": a longer sum is a plan (\"" + op.name + " from c | " + op.model.d.name +
                  "\")");
}

void Execute(const mmadiff_row& row, const mmadiff_product& p, const mmadiff_words& metadata,
             const mmadiff_work* work) {
  CheckK(*row.operation, p);
  const Products products = ProductsOf(p, metadata);
  Require(WhyNotProducts(*row.operation->instruction, products));
  Simulate(row.model, products, ThreadsOf(work));
}

const Instruction& SparseInstruction(const mmadiff_row* row) {
  const Instruction& instruction = *Required(row, "the row").operation->instruction;
  if (!instruction.sparse()) throw CallError(row->name + " is not sparse: it has no metadata");
  return instruction;
}

void WriteMetadata(const mmadiff_row* row, const mmadiff_product& p, const mmadiff_words& to) {
  const Instruction& instruction = SparseInstruction(row);
  CheckK(*row->operation, p);
  Require(WhyNotBits("metadata", kU4, to.data != nullptr, to.bits));
  const Products products = {.count = p.count, .m = p.m, .a = StackOf(p.a)};
  Require(WhyNotSparseA(instruction, products));
  PutMetadata(instruction, products, {MutableWordsOf(to), to.stride});
}

void WriteStored(const Instruction& sparse, uint64_t metadata, int32_t* places) {
  const int group = sparse.shape.k / sparse.shape.groups;
  Require(WhyUndefined(sparse, {&metadata, 1}));
  for (int n = 0; n < group / 2; ++n) places[n] = StoredPosition(group, metadata, n);
}

}  // namespace
}  // namespace mmadiff

using namespace mmadiff;

extern "C" {

size_t mmadiff_row_names(const char* glob, void (*each)(void* context, const char* name),
                         void* context) {
  return Guarded(size_t{0}, [&] {
    const std::vector<const Operation*> found = MatchOperations(GlobOf(Required(glob, "the glob")));
    if (each != nullptr) {
      for (const Operation* op : found) each(context, op->name.c_str());
    }
    return found.size();
  });
}

mmadiff_row* mmadiff_row_open(const char* name) {
  return Guarded<mmadiff_row*>(nullptr,
                               [&] { return RowNamed(Required(name, "the name of a row")); });
}

mmadiff_row* mmadiff_conversion_open(const char* from, const char* to, int saturate) {
  return Guarded<mmadiff_row*>(nullptr, [&] {
    const auto [op, model] = ConversionModel(FormatNamed(from), FormatNamed(to), saturate != 0);
    return RowOf(*op, model, op->name);
  });
}

uint64_t mmadiff_format_word(const char* format, double number) {
  return Guarded(uint64_t{0}, [&] { return WordOf(FormatNamed(format), number); });
}

void mmadiff_row_close(mmadiff_row* row) { delete row; }

void mmadiff_row_describe(const mmadiff_row* row, mmadiff_row_info* info, size_t size) {
  if (row == nullptr) return Describe(mmadiff_row_info{}, info, size);
  const Operation& op = *row->operation;
  const Model& m = row->model;
  const Shape& s = op.shape();
  const bool is_changed = m.algorithm != op.model.algorithm;
  const mmadiff_row_info all = {
      .name = row->name.c_str(),
      .a = m.a.name,
      .b = m.b.name,
      .c = m.c.name,
      .d = m.d.name,
      .scale = m.scale_block == 0 ? "" : m.scale.name,
      .m = s.m,
      .n = s.n,
      .k = s.k,
      .blocks = s.blocks,
      .scales = s.scales,
      .is_native = IsNative(op),
      .nan_bits = op.numerics->nan_verdict == NanVerdict::kBits,
      .grade = is_changed ? "changed" : Name(op.numerics->evidence.grade),
      .evidence = is_changed ? "parameters of the model are changed" : row->evidence.c_str(),
      .algorithm = row->algorithm.c_str(),
      .groups = s.groups,
  };
  Describe(all, info, size);
}

mmadiff_status mmadiff_row_execute(const mmadiff_row* row, const mmadiff_product* product,
                                   const mmadiff_work* work) {
  return GuardedStatus([&] { Execute(Required(row, "the row"), Checked(product), {}, work); });
}

mmadiff_status mmadiff_row_execute_sparse(const mmadiff_row* row, const mmadiff_product* product,
                                          const mmadiff_words* metadata, const mmadiff_work* work) {
  return GuardedStatus([&] {
    SparseInstruction(row);
    Execute(*row, Checked(product), metadata == nullptr ? mmadiff_words{} : *metadata, work);
  });
}

mmadiff_status mmadiff_row_metadata(const mmadiff_row* row, const mmadiff_product* product,
                                    const mmadiff_words* metadata) {
  return GuardedStatus(
      [&] { WriteMetadata(row, Checked(product), Required(metadata, "the metadata")); });
}

mmadiff_status mmadiff_row_stored(const mmadiff_row* row, uint64_t metadata, int32_t* places) {
  return GuardedStatus([&] {
    WriteStored(SparseInstruction(row), metadata, &Required(places, "the array of places"));
  });
}

}  // extern "C"
