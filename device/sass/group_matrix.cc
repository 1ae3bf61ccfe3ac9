#include "device/sass/group_matrix.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "sim/batch.h"
#include "sim/layout.h"
#include "sim/simulate.h"
#include "sim/sparsity.h"

namespace mmadiff::sass {
namespace {

using Matrix = mmadiff::Operand;

absl::Status NotExecuted(const Instruction& in, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat(in.form, " at 0x", absl::Hex(in.address), ": ", why));
}

int FirstRow(const Lanes& warp) { return warp.number() % kWarpsOfGroup * kRowsOfWarp; }

absl::StatusOr<SharedMatrix> SharedMatrixAt(const Instruction& in, const Operand& o, Lanes& warp) {
  Operand pair = o;
  pair.kind = Operand::kUniform;
  absl::StatusOr<SharedMatrix> matrix = SharedMatrixOf(warp.Source(pair, 0, true));
  if (!matrix.ok()) return NotExecuted(in, matrix.status().message());
  return matrix;
}

// Elements of `rows` rows from `first_row` on, in the order of a Batch.
absl::Status LoadShared(const Instruction& in, const SharedMatrix& matrix, int first_row, int rows,
                        int k, int bits, Lanes& warp, std::vector<uint64_t>& to) {
  const std::vector<uint8_t>& shared = warp.block().shared;
  for (int row = 0; row < rows; ++row) {
    for (int j = 0; j < k; ++j) {
      const uint32_t address = matrix.AddressOf(first_row + row, j * bits / 8);
      uint32_t word = 0;
      const uint32_t aligned = address - address % sizeof(word);
      if (aligned + sizeof(word) > shared.size()) {
        return absl::InternalError(
            absl::StrCat(in.form, " at 0x", absl::Hex(in.address),
                         " reaches outside of shared memory: ", absl::Hex(address)));
      }
      std::memcpy(&word, &shared[aligned], sizeof(word));
      to[row * k + j] = word >> (8 * (address - aligned) + j * bits % 8) & LowBits(bits);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SharedMatrix> SharedMatrixOf(uint64_t descriptor) {
  const auto bytes = [descriptor](int bit) {
    return static_cast<uint32_t>(descriptor >> bit & LowBits(14)) << 4;
  };
  const SharedMatrix matrix = {bytes(0), bytes(16), bytes(32)};
  constexpr uint64_t kKnown = 0x3fff'3fff'3fff;
  if ((descriptor & ~kKnown) != 0) {
    return absl::UnimplementedError(
        absl::StrCat("the matrix descriptor 0x", absl::Hex(descriptor),
                     " has a swizzle, a base offset or an unknown bit"));
  }
  return matrix;
}

int GroupMatrix::RegistersOfA() const {
  return ExtentOf(*op_.instruction, Matrix::kALanes).registers;
}

int GroupMatrix::RegistersOfD() const {
  const mmadiff::Instruction& i = *op_.instruction;
  return ExtentOf(i, Matrix::kD).registers * columns_ / i.shape.n;
}

absl::StatusOr<GroupMatrix::Words> GroupMatrix::SharedWords(const Instruction& in,
                                                            Lanes& warp) const {
  const mmadiff::Instruction& i = *op_.instruction;
  Words words;
  const auto add = [&](const Operand& o, int first_row, int rows, int k, int bits,
                       std::vector<uint32_t>& to) -> absl::Status {
    ASSIGN_OR_RETURN(const SharedMatrix matrix, SharedMatrixAt(in, o, warp));
    for (int row = first_row; row < first_row + rows; ++row) {
      for (int byte = 0; byte < k * bits / 8; byte += 4) {
        to.push_back(matrix.AddressOf(row, byte) / 4);
      }
    }
    return absl::OkStatus();
  };
  if (in.sources[0].kind == Operand::kDescriptor) {
    RETURN_IF_ERROR(
        add(in.sources[0], FirstRow(warp), kRowsOfWarp, i.products(), i.a->bits, words.a));
  }
  RETURN_IF_ERROR(add(in.sources[1], 0, columns_, i.shape.k, i.b->bits, words.b));
  return words;
}

absl::Status GroupMatrix::CheckRegisters(const Instruction& in) const {
  const Operand &a = in.sources[0], &c = in.sources[2], &d = in.results[0];
  const int a_registers = a.kind == Operand::kRegister ? RegistersOfA() : 0,
            registers = RegistersOfD();
  const auto beyond = [](const Operand& o, int count) {
    return o.index != kZeroRegister && o.index + count > kZeroRegister;
  };
  if (beyond(c, registers) || beyond(d, registers) || (a_registers > 0 && beyond(a, a_registers))) {
    return NotExecuted(in, "an operand has registers beyond the last one");
  }
  if (a_registers > 0 && a.index < d.index + registers && d.index < a.index + a_registers) {
    return NotExecuted(in, "A has registers of D");
  }
  return absl::OkStatus();
}

absl::Status GroupMatrix::Execute(const Instruction& in, Lanes& warp) const {
  RETURN_IF_ERROR(CheckRegisters(in));
  const mmadiff::Instruction& i = *op_.instruction;
  const Operand &a = in.sources[0], &d = in.results[0];
  const int k = i.shape.k, stored = i.products();
  Batch batch;
  Shape shape = i.shape;
  shape.m = kRowsOfWarp;
  shape.n = columns_;
  batch.Resize(shape, 1);
  const auto element = [&warp](const Operand& o, const Place& p, int bits) {
    return warp.Register(WordOf(o, p.reg).index, p.lane) >> p.bit & LowBits(bits);
  };
  std::vector<uint64_t> rows(kRowsOfWarp * stored);
  if (a.kind == Operand::kRegister) {
    for (int e = 0; e < kRowsOfWarp * stored; ++e) {
      const Place p = PlaceOf(i, Matrix::kALanes, {0, e / stored, e % stored});
      rows[e] = element(a, p, i.a->bits);
    }
  } else {
    ASSIGN_OR_RETURN(const SharedMatrix matrix, SharedMatrixAt(in, a, warp));
    RETURN_IF_ERROR(
        LoadShared(in, matrix, FirstRow(warp), kRowsOfWarp, stored, i.a->bits, warp, rows));
  }
  if (sparse()) {
    const bool selects = in.sources.size() > 4 && in.sources[4].kind == Operand::kImmediate;
    if (selects && in.sources[4].offset != 0) return NotExecuted(in, "a sparsity selector");
    for (size_t word = 0; word < batch.metadata.size(); ++word) {
      const int row = static_cast<int>(word) / shape.groups, group = word % shape.groups;
      batch.metadata[word] =
          element(in.sources[3], PlaceOf(i, Matrix::kMetadata, {0, row, group}), 4);
    }
    const std::string why = WhyUndefined(i, batch.metadata);
    if (!why.empty()) return NotExecuted(in, why);
    PutStored(rows, batch);
  } else {
    batch.a = std::move(rows);
  }
  ASSIGN_OR_RETURN(const SharedMatrix matrix, SharedMatrixAt(in, in.sources[1], warp));
  RETURN_IF_ERROR(LoadShared(in, matrix, 0, columns_, k, i.b->bits, warp, batch.b));
  // The condition is scale-d: D = A B if it does not hold. ptxas 13.0.88 also writes !UPT if C is +0.
  const bool accumulates = in.conditions.empty() || warp.Condition(in.conditions[0], 0);
  std::vector<Place> places(shape.d_words());
  for (int e = 0; e < shape.d_words(); ++e) {
    places[e] = PlaceOf(i, Matrix::kD, {0, e / columns_, e % columns_});
    batch.c[e] = accumulates ? element(in.sources[2], places[e], i.c->bits) : 0;
  }
  std::vector<uint64_t> results(shape.d_words());
  Simulate(op_.model, batch, results);
  const int registers = RegistersOfD();
  std::vector<uint32_t> out(size_t{32} * registers);
  for (int e = 0; e < shape.d_words(); ++e) {
    const Place& p = places[e];
    out[p.lane * registers + p.reg] |= static_cast<uint32_t>(results[e]) << p.bit;
  }
  for (int at = 0; at < 32 * registers; ++at) {
    warp.Set(WordOf(d, at % registers), at / registers, out[at]);
  }
  return absl::OkStatus();
}

}  // namespace mmadiff::sass
