// The matrices that `gemm` and `plan` take: files, random numbers by a seed, scales.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "corpus/arrays/array.h"
#include "device/matrix_device.h"
#include "fuzz/cli/cli.h"
#include "sim/plan/execute.h"

namespace mmadiff {

struct MatrixFlags {
  std::string a, b, c, bias, scale_a, scale_b, block_scale_a, block_scale_b;
  std::string random;  // MxNxK instead of a and b
  bool transpose_a = false, transpose_b = false;
  std::string alpha = "1", beta = "0";
  uint64_t seed = 1;
};
void AddMatrixFlags(CLI::App& command, MatrixFlags& flags);
// Only bias, alpha, beta and scales.
void AddOtherOperands(CLI::App& command, MatrixFlags& flags);
bool HasOthers(const MatrixFlags& flags);  // or C
// Only --transpose_a and --transpose_b.
void AddTransposeFlags(CLI::App& command, MatrixFlags& flags);

// Owns what Matrices points to.
class LoadedMatrices {
 public:
  // The operands for the plan. kInvalidArgument: no plan for these (WhyNotMatrices()), shapes that do
  // not fit; other errors as ReadArray().
  static absl::StatusOr<LoadedMatrices> Load(const MatrixFlags& flags, const Plan& plan);
  // From files, in their own formats; those of raw words, or nullptr. The others are in the format
  // of sums: f64 if A or B is, else f32.
  struct RawFormats {
    const Format *a = nullptr, *b = nullptr, *block_scale = nullptr;
  };
  static absl::StatusOr<LoadedMatrices> LoadFiles(const MatrixFlags& flags, const RawFormats& raw);

  const Matrices& matrices() const { return matrices_; }
  // "4096 x 4096 x 4096"
  std::string shape() const;

  // The array, m x n, of words of the format; if it is nullptr, of the array's own.
  absl::StatusOr<Words> Result(const std::string& name, const Format* format);
  const Format& result_format() const { return *result_format_; }  // of the last Result()
  const Format& sum_format() const { return *sum_format_; }
  // The format of block scales; nullptr without these.
  const Format* block_scale_format() const { return block_scale_format_; }

 private:
  absl::Status LoadOperands(const MatrixFlags& flags, const Format* a, const Format* b);
  absl::Status LoadAll(const MatrixFlags& flags, const Plan& plan);
  // Alpha, beta, bias and scales.
  absl::Status LoadOthers(const MatrixFlags& flags, const Format& sum, const Format* block_scale);
  absl::Status LoadRandom(const MatrixFlags& flags, const Plan& plan);
  // The array as a matrix. If `raw` is not nullptr, words without a format may be of this one.
  absl::StatusOr<Words> Add(const std::string& name, const Format* raw);
  // The file may hold the transposed matrix.
  absl::StatusOr<Words> AddTurned(const std::string& name, bool turned, const Format* raw);
  // `format` is nullptr: that of the array.
  absl::StatusOr<ScaleMatrix> AddScales(const std::string& name, const Format* format, int64_t rows,
                                        bool of_a, bool turned);

  Matrices matrices_;
  const Format *result_format_ = nullptr, *sum_format_ = nullptr, *block_scale_format_ = nullptr;
  std::vector<std::unique_ptr<Array>> arrays_;
  std::vector<std::vector<unsigned char>> random_;
};

// Words of D, by rows, in whole bytes.
class ResultMatrix {
 public:
  ResultMatrix(int64_t m, int64_t n, const Format& format);
  MutableWords out() { return {bytes_.data(), n_, 1, bits_}; }
  Words in() const { return {bytes_.data(), n_, 1, bits_}; }
  std::string digest() const;  // XXH3 of 64 bits of all words, little-endian

 private:
  int64_t n_;
  int bits_;
  std::vector<unsigned char> bytes_;
};

}  // namespace mmadiff
