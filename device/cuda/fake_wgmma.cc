#include <cstdlib>
#include <cstring>

#include "device/cuda/fake_kernel.h"
#include "sim/simulate.h"

namespace mmadiff {
namespace {

using Matrix = std::vector<std::vector<uint64_t>>;  // rows of A, columns of B, rows of C

// What follows `mark` in the text up to a character of `end`; empty if the mark is not there.
std::string After(const std::string& text, const std::string& mark, const char* end) {
  const size_t at = text.find(mark);
  if (at == text.npos) return "";
  const size_t from = at + mark.size();
  return text.substr(from, text.find_first_of(end, from) - from);
}

// Core matrices of 8 rows of 16 bytes, those adjacent in K `leading` bytes apart, those adjacent
// in M or N `stride`.
Matrix FromImage(const std::string& ptx, const char* name, const uint32_t* words, int rows, int k,
                 int bits) {
  const std::string mark = std::string("or.b64 %desc_") + name + ", %desc_" + name + ", ";
  const uint64_t descriptor = std::strtoull(After(ptx, mark, ";").c_str(), nullptr, 16);
  const int leading = (descriptor >> 16 & 0x3fff) * 16, stride = (descriptor >> 32 & 0x3fff) * 16;
  Matrix matrix(rows, std::vector<uint64_t>(k));
  for (int row = 0; row < rows; ++row) {
    for (int x = 0; x < k; ++x) {
      const int byte = x * bits / 8;
      const int address = row / 8 * stride + row % 8 * 16 + byte / 16 * leading + byte % 16;
      matrix[row][x] = BitsAt(words, address * 8 + x * bits % 8, bits);
    }
  }
  return matrix;
}

// Four registers of each of 128 lanes: rows g, g + 8, and the same with the second half of k.
Matrix FromLanes(const uint32_t* words, int k, int bits) {
  Matrix matrix(64, std::vector<uint64_t>(k));
  const int per = 32 / bits;
  for (int lane = 0; lane < 128; ++lane) {
    for (int v = 0; v < 4 * per; ++v) {
      const int reg = v / per;
      const int row = lane / 32 * 16 + lane % 32 / 4 + reg % 2 * 8;
      const int column = lane % 4 * per + v % per + reg / 2 * k / 2;
      matrix[row][column] = BitsAt(words, (lane * 4 + reg) * 32 + v % per * bits, bits);
    }
  }
  return matrix;
}

void Execute(const Row& row, const Matrix& a, const Matrix& b, const uint32_t* c, uint32_t* d) {
  const int bits = row.model.d.bits, values = row.shape().n / 2;  // of a lane
  std::memset(d, 0, 128 * values * bits / 8);
  for (int lane = 0; lane < 128; ++lane) {
    for (int v = 0; v < values; ++v) {
      const int i = lane / 32 * 16 + lane % 32 / 4 + v / 2 % 2 * 8;
      const int j = v / 4 * 8 + lane % 4 * 2 + v % 2;
      const int bit = (lane * values + v) * bits;
      const uint64_t word = Simulate(row.model, {a[i], b[j], BitsAt(c, bit, bits)});
      d[bit / 32] |= static_cast<uint32_t>(word) << bit % 32;
    }
  }
}

}  // namespace

FakeKernel FakeWgmma(const std::string& ptx) {
  const std::string name = After(ptx, "wgmma.mma_async.sync.aligned.", " ");
  const Row* row = FindRow("sm_90/wgmma." + name);
  if (row == nullptr) return {};
  const bool image = ptx.find("}, %desc_a, %desc_b, ") != ptx.npos;
  const Shape& s = row->shape();
  const int d_words = s.m * s.n * row->model.d.bits / 32;
  FakeKernel kernel = {row, 128, 64 * 32 / 4, s.n * 32 / 4, d_words, d_words, {}};
  kernel.execute = [=](const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d) {
    const int bits = row->model.a.bits, k = row->shape().k;
    Execute(*row, image ? FromImage(ptx, "a", a, 64, k, bits) : FromLanes(a, k, bits),
            FromImage(ptx, "b", b, row->shape().n, k, bits), c, d);
  };
  return kernel;
}

}  // namespace mmadiff
