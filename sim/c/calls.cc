#include "sim/c/calls.h"

#include <vector>

#include "sim/product.h"
#include "sim/quoted_name.h"

#ifndef MMADIFF_VERSION
#error "MMADIFF_VERSION is the version of the project"
#endif

namespace mmadiff {

LastError& ErrorOfThread() {
  thread_local LastError error;
  return error;
}

Words WordsOf(const mmadiff_words& w) {
  return {static_cast<const unsigned char*>(w.data), w.row_stride, w.column_stride, w.bits};
}

MutableWords MutableWordsOf(const mmadiff_words& w) {
  return {static_cast<unsigned char*>(w.data), w.row_stride, w.column_stride, w.bits};
}

Threads ThreadsOf(const mmadiff_work* work) {
  if (work == nullptr) return {};
  Threads threads = {std::clamp(work->threads, 1, 1024)};
  if (work->stop != nullptr) {
    threads.stop = [work] { return work->stop(work->context) != 0; };
  }
  return threads;
}

const Format& FormatNamed(const char* name) {
  const Format* format = FindFormat(Required(name, "the name of a format"));
  if (format == nullptr) throw CallError(std::string("there is no format '") + name + "'");
  return *format;
}

const mmadiff_product& Checked(const mmadiff_product* product) {
  constexpr int64_t kMost = int64_t{1} << 48;  // results: a month of computing
  const mmadiff_product& p = Required(product, "the product");
  if (p.count < 0 || p.m < 0 || p.n < 0 || p.k < 0) {
    throw CallError("count, m, n and k must not be negative");
  }
  const auto results = static_cast<__int128>(p.count) * p.m;
  if (p.n > 0 && (results > kMost || results * p.n > kMost || p.k > kMost)) {
    throw CallError("the product is too large", MMADIFF_NO_MEMORY);
  }
  return p;
}

std::string GlobOf(std::string_view glob) {
  const size_t slash = glob.find('/');
  if (slash == glob.npos || !MatchOperations(glob).empty()) return std::string(glob);
  const std::string arch = ArchitectureOf(glob.substr(0, slash));
  return arch.empty() ? std::string(glob) : arch + std::string(glob.substr(slash));
}

const Operation& OperationNamed(std::string_view name) {
  if (const Operation* op = FindOperation(name)) return *op;
  const std::vector<std::string> meant = QuotedOperations(name);
  if (meant.size() == 1) name = meant[0];
  if (const Operation* op = FindOperation(name)) return *op;
  if (meant.size() < 2) throw CallError(WhyNoOperation(name));
  std::string all;
  for (const std::string& one : meant) all += (all.empty() ? "" : ", ") + one;
  throw CallError("'" + std::string(name) + "' may mean " + all);
}

namespace {

Words At(const mmadiff_words& words, int64_t e) {
  Words at = WordsOf(words);
  if (at.data != nullptr) at.data += e * words.stride * (words.bits / 8);
  return at;
}

// The scales of a matrix of so many rows (columns of B) and k.
ScaleMatrix ScalesOf(const char* name, const mmadiff_scales& scales, int64_t e, bool is_b,
                     int64_t rows, int64_t k) {
  const Words words = At(scales.words, e);
  ScaleMatrix of = {is_b ? words.Transposed() : words};
  if (of.words.data == nullptr) return of;
  of.rows_each = ScaleBlock(rows, scales.rows), of.k_each = ScaleBlock(k, scales.ks);
  if (of.rows_each > 0 && of.k_each > 0) return of;
  const auto text = [](int64_t x, int64_t y) {
    return std::to_string(x) + " x " + std::to_string(y);
  };
  throw CallError(std::string(name) + " has " + text(scales.rows, scales.ks) +
                  " scales, but no blocks of powers of two divide " + text(rows, k) +
                  " into these");
}

}  // namespace

Matrices MatricesOf(const mmadiff_product& p, const Format& a, const Format& b, int64_t e) {
  Matrices m;
  m.m = p.m, m.n = p.n, m.k = p.k;
  m.a_format = p.a_format == nullptr ? &a : &FormatNamed(p.a_format);
  m.b_format = p.b_format == nullptr ? &b : &FormatNamed(p.b_format);
  m.a = At(p.a, e), m.b = At(p.b, e), m.c = At(p.c, e), m.bias = At(p.bias, e);
  m.block_scale_a = ScalesOf("block_scale_a", p.block_scale_a, e, false, p.m, p.k);
  m.block_scale_b = ScalesOf("block_scale_b", p.block_scale_b, e, true, p.n, p.k);
  m.scale_a = ScalesOf("scale_a", p.scale_a, e, false, p.m, p.k);
  m.scale_b = ScalesOf("scale_b", p.scale_b, e, true, p.n, p.k);
  m.alpha = p.alpha, m.beta = p.beta;
  return m;
}

}  // namespace mmadiff

using mmadiff::ErrorOfThread;

extern "C" {

int mmadiff_api_version(void) { return MMADIFF_API_VERSION; }
const char* mmadiff_version(void) { return MMADIFF_VERSION; }
const char* mmadiff_error(void) { return ErrorOfThread().text.c_str(); }
mmadiff_status mmadiff_error_status(void) { return ErrorOfThread().status; }

int64_t mmadiff_scale_block(int64_t size, int64_t blocks) {
  return mmadiff::ScaleBlock(size, blocks);
}

int mmadiff_format_bits(const char* format) {
  const mmadiff::Format* f = format == nullptr ? nullptr : mmadiff::FindFormat(format);
  return f == nullptr ? 0 : f->bits;
}

}  // extern "C"
