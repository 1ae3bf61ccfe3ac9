#include "fuzz/cli/matrices.h"

#include <algorithm>
#include <array>
#include <bit>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "device/status_macros.h"
#include "sim/plan/convert.h"
#include "sim/plan/random_matrix.h"
#include "triage/parse_number.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 24;   // m, n or k of random matrices
constexpr int64_t kMaxWords = int64_t{1} << 32;  // of one of them

absl::Status WrongShape(const Array& array, const std::string& want) {
  return absl::InvalidArgumentError(
      absl::StrCat(array.name, " has the shape ", ShapeText(array.shape), "; ", want));
}

absl::StatusOr<std::vector<int64_t>> ParseShape(const std::string& text) {
  std::vector<int64_t> sizes;
  for (const absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t size = 0;
    if (!absl::SimpleAtoi(part, &size) || size < 1 || size > kMaxSize) break;
    sizes.push_back(size);
  }
  if (sizes.size() == 3 && std::max({sizes[0], sizes[1]}) <= kMaxWords / sizes[2] &&
      sizes[0] <= kMaxWords / sizes[1]) {
    return sizes;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--random=", text,
                   " is not MxNxK: three sizes of at most 2^24, and at most 2^32 "
                   "words in a matrix"));
}

// A decimal number is rounded, as a program's constant is.
absl::StatusOr<uint64_t> ParseFactor(const Format& format, const std::string& text) {
  double number = 0;
  if (IsInteger(format) || !absl::SimpleAtod(text, &number)) return ParseNumber(format, text);
  return Convert(kF64, format, NanRule::kAllOnes, std::bit_cast<uint64_t>(number));
}

// Every operand that is given must be one that the plan reads.
absl::Status CheckUsed(const MatrixFlags& flags, const Plan& plan) {
  const bool scales = ReadsScales(plan), blocks = plan.operation->model.scale_block != 0;
  const struct {
    const char* flag;
    bool given, read;
  } operands[] = {
      {"--alpha", flags.alpha != MatrixFlags().alpha, ReadsAlpha(plan)},
      {"--beta", flags.beta != MatrixFlags().beta, ReadsBeta(plan)},
      {"--bias", !flags.bias.empty(), plan.epilogue.bias},
      {"--scale_a", !flags.scale_a.empty(), scales},
      {"--scale_b", !flags.scale_b.empty(), scales},
      {"--block_scale_a", !flags.block_scale_a.empty(), blocks},
      {"--block_scale_b", !flags.block_scale_b.empty(), blocks},
  };
  for (const auto& [flag, given, read] : operands) {
    if (!given || read) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the plan does not read ", flag, ": leave it out, or change the plan"));
  }
  return absl::OkStatus();
}

// Files have no type for scales without a sign.
const Format* ScalesHeldBy(const Format& format) {
  return std::string_view(format.name) == kE4m3.name ? &kUe4m3 : &format;
}

absl::StatusOr<int64_t> BlockOfScales(const Array& array, int64_t size, int64_t blocks,
                                      const char* what) {
  if (const int64_t each = ScaleBlock(size, blocks); each > 0) return each;
  return WrongShape(array, absl::StrCat("no block of a power of two divides the ", size, " ", what,
                                        " into ", blocks));
}

}  // namespace

ResultMatrix::ResultMatrix(int64_t m, int64_t n, const Format& format)
    : n_(n), bits_(StoredBits(format)), bytes_(m * n * (bits_ / 8)) {}

std::string ResultMatrix::digest() const {
  return absl::StrFormat("%016x", XXH3_64bits(bytes_.data(), bytes_.size()));
}

void AddMatrixFlags(CLI::App& command, MatrixFlags& flags) {
  AddOption(command, "a", flags.a,
            "M x K: FILE.npy, FILE.safetensors:NAME, or FILE.bin:ROWSxCOLUMNS:FORMAT")
      .TypeName("A");
  AddOption(command, "b", flags.b, "K x N").TypeName("B");
  AddOption(command, "c", flags.c, "M x N, for plans that read it").TypeName("C");
  AddTransposeFlags(command, flags);
  AddOption(command, "--random", flags.random, "random A and B of M x K and K x N instead of files")
      .TypeName("MxNxK");
  AddSeed(command, flags.seed);
  AddOtherOperands(command, flags);
}

void AddOtherOperands(CLI::App& command, MatrixFlags& flags) {
  AddOption(command, "--bias", flags.bias, "for plans with + bias: one number for each column")
      .TypeName("FILE");
  AddOption(command, "--alpha", flags.alpha, "for plans with alpha; rounded to the format of sums")
      .TypeName("NUMBER");
  AddOption(command, "--beta", flags.beta, "for plans with beta; rounded").TypeName("NUMBER");
  AddOption(command, "--scale_a", flags.scale_a,
            "for plans with scales a and b: those of blocks of A, as A is laid out")
      .TypeName("FILE");
  AddOption(command, "--scale_b", flags.scale_b, "the same for B").TypeName("FILE");
  AddOption(command, "--block_scale_a", flags.block_scale_a,
            "for instructions with block scales: those of A, as A is laid out")
      .TypeName("FILE");
  AddOption(command, "--block_scale_b", flags.block_scale_b, "the same for B").TypeName("FILE");
}

bool HasOthers(const MatrixFlags& f) {
  const MatrixFlags none;
  return f.alpha != none.alpha || f.beta != none.beta ||
         std::ranges::any_of(
             std::array{&f.c, &f.bias, &f.scale_a, &f.scale_b, &f.block_scale_a, &f.block_scale_b},
             [](const std::string* name) { return !name->empty(); });
}

void AddTransposeFlags(CLI::App& command, MatrixFlags& flags) {
  AddFlag(command, "--transpose_a", flags.transpose_a,
          "the files of A and of its scales have K x M");
  AddFlag(command, "--transpose_b", flags.transpose_b,
          "the files of B and of its scales have N x K, as the weights of a linear layer");
}

absl::StatusOr<LoadedMatrices> LoadedMatrices::Load(const MatrixFlags& flags, const Plan& plan) {
  LoadedMatrices loaded;
  RETURN_IF_ERROR(loaded.LoadAll(flags, plan));
  std::string why = WhyNotMatrices(plan, loaded.matrices_);
  if (why.empty()) why = WhyNotScales(plan, loaded.matrices_);
  if (!why.empty()) return absl::InvalidArgumentError(why);
  return loaded;
}

std::string LoadedMatrices::shape() const {
  return absl::StrCat(matrices_.m, " x ", matrices_.n, " x ", matrices_.k);
}

absl::Status LoadedMatrices::LoadRandom(const MatrixFlags& flags, const Plan& plan) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> sizes, ParseShape(flags.random));
  Matrices& m = matrices_;
  m.m = sizes[0], m.n = sizes[1], m.k = sizes[2];
  m.a_format = &plan.operation->model.a;
  m.b_format = &plan.operation->model.b;
  const auto add = [&](const Format& f, int64_t rows, int64_t columns) -> Words {
    const int bits = StoredBits(f);
    random_.push_back(RandomMatrix(f, bits, flags.seed + random_.size(), rows * columns));
    return {random_.back().data(), columns, 1, bits};
  };
  m.a = add(*m.a_format, m.m, m.k);
  m.b = add(*m.b_format, m.k, m.n);
  return absl::OkStatus();
}

absl::StatusOr<LoadedMatrices> LoadedMatrices::LoadFiles(const MatrixFlags& flags,
                                                         const RawFormats& raw) {
  LoadedMatrices loaded;
  RETURN_IF_ERROR(loaded.LoadOperands(flags, raw.a, raw.b));
  Matrices& m = loaded.matrices_;
  const bool is_wide = m.a_format->bits == 64 || m.b_format->bits == 64;
  const Format& sum = is_wide ? kF64 : kF32;
  if (!flags.c.empty()) {
    ASSIGN_OR_RETURN(m.c, loaded.Result(flags.c, &sum));
  }
  RETURN_IF_ERROR(loaded.LoadOthers(flags, sum, raw.block_scale));
  return loaded;
}

absl::Status LoadedMatrices::LoadOperands(const MatrixFlags& flags, const Format* a_raw,
                                          const Format* b_raw) {
  if (flags.a.empty() || flags.b.empty()) {
    return absl::InvalidArgumentError("give the files of A and B, or --random=MxNxK");
  }
  Matrices& m = matrices_;
  ASSIGN_OR_RETURN(m.a, AddTurned(flags.a, flags.transpose_a, a_raw));
  const Array& a = *arrays_.back();
  ASSIGN_OR_RETURN(m.b, AddTurned(flags.b, flags.transpose_b, b_raw));
  const Array& b = *arrays_.back();
  m.m = a.shape[0], m.k = a.shape[1], m.n = b.shape[1];
  m.a_format = a.format != nullptr ? a.format : a_raw;
  m.b_format = b.format != nullptr ? b.format : b_raw;
  if (b.shape[0] == m.k) return absl::OkStatus();
  return WrongShape(b, absl::StrCat("B must have ", m.k, " rows, as many as A has columns"));
}

absl::Status LoadedMatrices::LoadAll(const MatrixFlags& flags, const Plan& plan) {
  const Model& model = plan.operation->model;
  Matrices& m = matrices_;
  RETURN_IF_ERROR(CheckUsed(flags, plan));
  if (!flags.random.empty()) {
    if (!flags.a.empty()) {
      return absl::InvalidArgumentError("give the files of A and B or --random, not both");
    }
    RETURN_IF_ERROR(LoadRandom(flags, plan));
  } else {
    RETURN_IF_ERROR(LoadOperands(flags, &model.a, &model.b));
  }
  if (ReadsC(plan)) {
    if (flags.c.empty()) {
      return absl::InvalidArgumentError("the plan reads C: give its file after those of A and B");
    }
    ASSIGN_OR_RETURN(m.c, Result(flags.c, plan.from_c ? &model.c : &model.d));
  } else if (!flags.c.empty()) {
    return absl::InvalidArgumentError(
        "the plan does not read C: add \"from c\" after the instruction, or a result with c, such "
        "as \"| sum + beta*c |\"");
  }
  return LoadOthers(flags, model.d, model.scale_block == 0 ? nullptr : &model.scale);
}

absl::Status LoadedMatrices::LoadOthers(const MatrixFlags& flags, const Format& sum,
                                        const Format* block_scale) {
  Matrices& m = matrices_;
  sum_format_ = &sum;
  ASSIGN_OR_RETURN(m.alpha, ParseFactor(sum, flags.alpha));
  ASSIGN_OR_RETURN(m.beta, ParseFactor(sum, flags.beta));
  if (!flags.bias.empty()) {
    ASSIGN_OR_RETURN(m.bias, Add(flags.bias, &sum));
    const Array& bias = *arrays_.back();
    RETURN_IF_ERROR(CheckHolds(bias, sum));
    if (bias.shape != std::vector<int64_t>{1, m.n}) {
      return WrongShape(bias, absl::StrCat("the bias must have (1, ", m.n, ")"));
    }
  }
  ASSIGN_OR_RETURN(m.scale_a, AddScales(flags.scale_a, &sum, m.m, true, flags.transpose_a));
  ASSIGN_OR_RETURN(m.scale_b, AddScales(flags.scale_b, &sum, m.n, false, flags.transpose_b));
  if (block_scale != nullptr) block_scale = ScalesHeldBy(*block_scale);
  ASSIGN_OR_RETURN(m.block_scale_a,
                   AddScales(flags.block_scale_a, block_scale, m.m, true, flags.transpose_a));
  if (m.block_scale_a.words.data != nullptr) {
    const Array& scales = *arrays_.back();
    if (block_scale == nullptr) block_scale = ScalesHeldBy(*scales.format);
    block_scale_format_ = block_scale;
  }
  ASSIGN_OR_RETURN(m.block_scale_b,
                   AddScales(flags.block_scale_b, block_scale, m.n, false, flags.transpose_b));
  return absl::OkStatus();
}

absl::StatusOr<Words> LoadedMatrices::Add(const std::string& name, const Format* raw) {
  ASSIGN_OR_RETURN(Array array, ReadArray(name));
  arrays_.push_back(std::make_unique<Array>(std::move(array)));
  Array& added = *arrays_.back();
  if (added.shape.size() == 1) {  // one row
    added.shape.insert(added.shape.begin(), 1);
    added.strides.insert(added.strides.begin(), 0);
  }
  if (added.format == nullptr && raw == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(added.name, " holds raw words (", added.type,
                     "): give the formats, --formats=A,B,D, of block scales the fourth"));
  }
  if (added.format == nullptr) RETURN_IF_ERROR(CheckHolds(added, *raw));
  return AsMatrix(added);
}

absl::StatusOr<Words> LoadedMatrices::AddTurned(const std::string& name, bool turned,
                                                const Format* raw) {
  ASSIGN_OR_RETURN(const Words words, Add(name, raw));
  if (!turned) return words;
  std::swap(arrays_.back()->shape[0], arrays_.back()->shape[1]);
  return words.Transposed();
}

absl::StatusOr<Words> LoadedMatrices::Result(const std::string& name, const Format* format) {
  ASSIGN_OR_RETURN(const Words words, Add(name, format));
  const Array& array = *arrays_.back();
  if (format != nullptr) RETURN_IF_ERROR(CheckHolds(array, *format));
  result_format_ = array.format != nullptr ? array.format : format;
  if (array.shape == std::vector<int64_t>{matrices_.m, matrices_.n}) return words;
  return WrongShape(array, absl::StrCat("it must have (", matrices_.m, ", ", matrices_.n, ")"));
}

// Scales of B have the layout of B: rows of scales go along k.
absl::StatusOr<ScaleMatrix> LoadedMatrices::AddScales(const std::string& name, const Format* format,
                                                      int64_t rows, bool of_a, bool turned) {
  ScaleMatrix scales;
  if (name.empty()) return scales;
  ASSIGN_OR_RETURN(const Words words, AddTurned(name, turned, format));
  const Array& array = *arrays_.back();
  if (format != nullptr) RETURN_IF_ERROR(CheckHolds(array, *format));
  scales.words = of_a ? words : words.Transposed();
  ASSIGN_OR_RETURN(scales.rows_each, BlockOfScales(array, rows, array.shape[of_a ? 0 : 1],
                                                   of_a ? "rows" : "columns"));
  ASSIGN_OR_RETURN(scales.k_each,
                   BlockOfScales(array, matrices_.k, array.shape[of_a ? 1 : 0], "k"));
  return scales;
}

}  // namespace mmadiff
