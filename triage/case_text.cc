#include "triage/case_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "device/line_protocol.h"
#include "sim/sparsity.h"
#include "sim/word.h"
#include "triage/number_text.h"

namespace mmadiff {
namespace {

struct Line {
  std::string label, hex, number;
};

std::string Range(int from, int to) {
  return from == to ? absl::StrCat("k=", from) : absl::StrCat("k=", from, "..", to);
}

// A factor; sums and products get parentheses.
std::string Factor(const Format& format, uint64_t word) {
  const std::string text = NumberText(format, word);
  return text.find(' ') == text.npos ? text : absl::StrCat("(", text, ")");
}

// One operand, or two as a product.
Line LineOf(std::string label, const Format& a, uint64_t x, const Format& b, uint64_t y) {
  if (IsAbsent(b)) return {std::move(label), HexWord(a, x), NumberText(a, x)};
  return {std::move(label), absl::StrCat(HexWord(a, x), " x ", HexWord(b, y)),
          absl::StrCat(Factor(a, x), " x ", Factor(b, y))};
}

// Adds a line for each of the words `from` to `to` - 1 of the row and the column, `size` elements
// each. Neutral words are only counted. Equal adjacent words share a line.
int AddPairs(const Operation& op, const DotProductCase& dot, int from, int to, int size,
             const char* what, std::vector<Line>& lines) {
  const auto same = [&dot](int x, int y) { return dot.a[x] == dot.a[y] && dot.b[x] == dot.b[y]; };
  const Format &a = op.instruction->a_format(from), &b = op.instruction->b_format(from);
  const uint64_t nothing = NeutralWord(op.model, from);
  int neutral = 0;
  for (int first = from, end; first < to; first = end) {
    for (end = first + 1; end < to && same(first, end);) ++end;
    const uint64_t x = dot.a[first], y = dot.b[first];
    if (x == nothing && y == nothing && !IsAbsent(b)) {
      neutral += end - first;
      continue;
    }
    const std::string range = Range((first - from) * size, (end - from) * size - 1);
    lines.push_back(LineOf(IsAbsent(b) ? "a" : absl::StrCat(what, range), a, x, b, y));
  }
  return neutral;
}

}  // namespace

std::string OtherOperandsText(const Operation& op, const Batch& inputs, int64_t element) {
  constexpr size_t kMaxNamed = 4;
  const Instruction& i = *op.instruction;
  const Shape& s = inputs.shape;
  const Position own = PositionOf(s, element);
  std::vector<std::string> named;
  int64_t counts[3] = {};  // of A, B, C
  const auto add = [&](int operand, int block, const std::string& place, const Format& format,
                       uint64_t word) {
    ++counts[operand];
    if (named.size() > kMaxNamed) return;
    named.push_back(absl::StrCat(s.blocks == 1 ? "" : absl::StrCat("block ", block, " "), place,
                                 ": ", HexWord(format, word), " = ", NumberText(format, word)));
  };
  const int size = s.k + s.scales;
  const auto add_lines = [&](int operand, const std::vector<uint64_t>& words, int lines,
                             int own_line) {
    for (int at = 0; at < s.blocks * lines * size; ++at) {
      const int block = at / size / lines, line = at / size % lines, k = at % size;
      const bool is_own = block == own.block && line == own_line;
      if (is_own || words[at] == NeutralWord(op.model, k)) continue;
      add(operand, block,
          absl::StrCat(operand == 0 ? "A row " : "B column ", line, k < s.k ? " k=" : " scale ",
                       k < s.k ? k : k - s.k),
          operand == 0 ? i.a_format(k) : i.b_format(k), words[at]);
    }
  };
  add_lines(0, inputs.a, s.m, own.i);
  add_lines(1, inputs.b, s.n, own.j);
  for (int64_t at = 0; at < s.d_words(); ++at) {
    if (at == element || inputs.c[at] == 0) continue;
    const Position p = PositionOf(s, at);
    add(2, p.block, absl::StrCat("C row ", p.i, " column ", p.j), *i.c, inputs.c[at]);
  }
  if (named.size() <= kMaxNamed) return absl::StrJoin(named, ", ");
  return absl::StrCat(counts[0], " of A, ", counts[1], " of B and ", counts[2], " of C are not +0");
}

namespace {

// A word for each group.
std::string MetadataText(const Instruction& i, const DotProductCase& dot) {
  std::string text;
  for (const uint64_t word : StoredMetadata(i.shape, dot)) {
    absl::StrAppend(&text, text.empty() ? "" : " ", HexWord(kMetadataFormat, word));
  }
  return text;
}

}  // namespace

std::string CaseText(const Operation& op, const DotProductCase& dot, size_t indent, size_t width) {
  const Instruction& i = *op.instruction;
  const int k = i.shape.k, scales = i.shape.scales;
  std::vector<Line> lines;
  const int zero = AddPairs(op, dot, 0, k, 1, "", lines);
  if (i.sparse()) lines.push_back({"metadata", MetadataText(i, dot), ""});
  if (!IsAbsent(*i.c)) lines.push_back({"c", HexWord(*i.c, dot.c), NumberText(*i.c, dot.c)});
  const int one = scales == 0 ? 0 : AddPairs(op, dot, k, k + scales, k / scales, "scales ", lines);
  size_t labels = 0, words = 0;
  for (const Line& line : lines) {
    labels = std::max(labels, line.label.size());
    words = std::max(words, line.hex.size());
  }
  const std::string space(indent, ' ');
  std::string text;
  for (const Line& line : lines) {
    const std::string label = space + line.label + std::string(labels - line.label.size() + 2, ' ');
    const std::string gap(words - line.hex.size() + 2, ' ');
    text += Labelled(label, absl::StrCat(line.hex, gap, line.number), width);
  }
  if (zero > 0) {
    absl::StrAppend(&text, space, zero, zero == 1 ? " term is +0\n" : " terms are +0\n");
  }
  if (one > 0) {
    absl::StrAppend(&text, space, one, one == 1 ? " pair of scales is" : " pairs of scales are",
                    " 1.0\n");
  }
  return text;
}

}  // namespace mmadiff
