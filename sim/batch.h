// Inputs of many executions of one instruction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/instruction.h"

namespace mmadiff {

// Words are right-aligned bit patterns in the operand's own format. `shape` is the instruction's or
// its DotProductShape(); a device chooses where to place single dot products.
struct Batch {
  Shape shape;
  int64_t count = 0;  // executions
  // Rows of A and columns of B: k elements, then the scales if the instruction has them.
  std::vector<uint64_t> a;  // [count][blocks][m][k + scales]
  std::vector<uint64_t> b;  // [count][blocks][n][k + scales]
  std::vector<uint64_t> c;  // [count][blocks][m][n], like the results d

  // Source of generated bits: execution i is case `stream`:`first`+i. Empty if not generated.
  std::string stream;
  uint64_t first = 0;

  // The metadata of a sparse A (sim/sparsity.h). A word 0 is not given: StoredMetadata() takes it from
  // the words of A.
  std::vector<uint64_t> metadata;  // [count][blocks][m][groups]

  int64_t dot_products() const { return count * shape.d_words(); }
  // Adds the executions of `more`, of the same shape if there are others. The name is lost.
  void Append(const Batch& more);
  void Resize(const Shape& s, int64_t executions) {
    shape = s;
    count = executions;
    a.resize(executions * s.a_words());
    b.resize(executions * s.b_words());
    c.resize(executions * s.d_words());
    metadata.resize(executions * s.metadata_words());
  }
};

// One dot product: a row of A, a column of B, the addend.
struct DotProductCase {
  std::vector<uint64_t> a, b;  // k elements, then the scales
  uint64_t c = 0;
  std::vector<uint64_t> metadata = {};  // of a sparse a: [groups], or empty: not given

  friend auto operator<=>(const DotProductCase&, const DotProductCase&) = default;
};

// Position of a dot product inside one execution.
struct Position {
  int block = 0, i = 0, j = 0;
  friend bool operator==(const Position&, const Position&) = default;
};

// Position of word `index` of the results of one execution, 0 <= index < shape.d_words().
Position PositionOf(const Shape& shape, int64_t index);
int64_t IndexOf(const Shape& shape, const Position& p);  // the inverse

// Dot product number `index` of the batch, 0 <= index < batch.dot_products().
DotProductCase Extract(const Batch& batch, int64_t index);

// Execution number `execution` as a separate batch, which keeps the case's name.
Batch Slice(const Batch& batch, int64_t execution);

// Overwrites row i of A, column j of B and element (i, j) of C in execution `execution`.
void Insert(const DotProductCase& dot, int64_t execution, const Position& p, Batch& batch);

// Single dot products as a batch of DotProductShape(shape).
Batch MakeDotProductBatch(const Shape& shape, const std::vector<DotProductCase>& dots);

}  // namespace mmadiff
