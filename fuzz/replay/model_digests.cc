#include "fuzz/replay/model_digests.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "corpus/cases/case_name.h"
#include "device/little_endian.h"
#include "sim/parameter.h"
#include "sim/simulate.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

// Cases per operation, and maximum dot products per case. 90 percent of all one-parameter changes
// of the models change the answers; all of them change the texts.
constexpr int64_t kCases = 64, kDotProducts = 8;

// Hashes the words in little-endian order.
uint64_t HashOf(const std::vector<uint64_t>& words) {
  if (std::endian::native == std::endian::little) {
    return XXH3_64bits(words.data(), words.size() * sizeof(uint64_t));
  }
  std::string bytes;
  for (const uint64_t word : words) AppendLittleEndian(word, 8, bytes);
  return XXH3_64bits(bytes.data(), bytes.size());
}

ModelDigest DigestOf(const Operation& op) {
  Batch batch;
  Generate({&op, FindStrategy("mixed"), 1}, 0, kCases, batch);
  const int64_t all = op.shape().d_words(), count = std::min(all, kDotProducts);
  std::vector<uint64_t> inputs, answers;
  for (int64_t execution = 0; execution < kCases; ++execution) {
    for (int64_t i = 0; i < count; ++i) {
      // Spread over all rows and columns.
      const DotProductCase dot =
          Extract(batch, execution * all + (i * (all / count) + execution + i) % all);
      inputs.insert(inputs.end(), dot.a.begin(), dot.a.end());
      inputs.insert(inputs.end(), dot.b.begin(), dot.b.end());
      inputs.push_back(dot.c);
      answers.push_back(Simulate(op.model, dot));
    }
  }
  return {op.name, HashOf(inputs), HashOf(answers), ModelText(op)};
}

std::string IdOf(absl::string_view model) {
  return absl::StrCat(absl::Hex(XXH3_64bits(model.data(), model.size()), absl::kZeroPad16));
}

// The differing words of two texts, side by side.
std::string WhatChanged(absl::string_view before, absl::string_view after) {
  const std::vector<absl::string_view> x =
      absl::StrSplit(before, absl::ByAnyChar(" (,)"), absl::SkipEmpty());
  const std::vector<absl::string_view> y =
      absl::StrSplit(after, absl::ByAnyChar(" (,)"), absl::SkipEmpty());
  if (x.size() != y.size()) return absl::StrCat(before, " -> ", after);
  std::string text;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) absl::StrAppend(&text, text.empty() ? "" : ", ", x[i], " -> ", y[i]);
  }
  return text;
}

}  // namespace

std::string ModelText(const Operation& op) {
  const Model& m = op.model;
  const bool any_nan = op.numerics->nan_verdict == NanVerdict::kAnyNan;
  return absl::StrCat(Name(op.numerics->evidence.grade), " ", m.d.name, ".", m.a.name, ".",
                      m.b.name, ".", m.c.name, m.scale_block == 0 ? "" : ".",
                      m.scale_block == 0 ? "" : m.scale.name, " k=", m.k, " scales=", m.scales(),
                      " ", Describe(m.algorithm), " nan=", any_nan ? "any" : "bits");
}

std::vector<ModelDigest> ComputeModelDigests() {
  std::vector<ModelDigest> digests;
  for (const Operation& op : Operations()) digests.push_back(DigestOf(op));
  return digests;
}

std::string FormatModelDigests(std::span<const ModelDigest> digests) {
  std::string text =
      "# The models and digests of their answers to a fixed sample: each model once, then for\n"
      "# each instruction its name, its model, the digest of the inputs, that of the answers.\n"
      "# `./mmadiff changes` compares with this file, `./mmadiff changes --update` writes it.\n";
  std::set<absl::string_view> models;
  for (const ModelDigest& d : digests) {
    if (models.insert(d.model).second)
      absl::StrAppend(&text, "model ", IdOf(d.model), " ", d.model, "\n");
  }
  for (const ModelDigest& d : digests) {
    absl::StrAppend(&text, d.op, " ", IdOf(d.model), " ", absl::Hex(d.inputs, absl::kZeroPad16),
                    " ", absl::Hex(d.answers, absl::kZeroPad16), "\n");
  }
  return text;
}

absl::StatusOr<std::vector<ModelDigest>> ParseModelDigests(absl::string_view text,
                                                           absl::string_view where) {
  std::vector<ModelDigest> digests;
  std::map<absl::string_view, absl::string_view> models;
  std::set<absl::string_view> ops;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    const auto error = [&](absl::string_view what) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ":", number, ": '", absl::CHexEscape(line.substr(0, 100)), "' ", what,
                       "; regenerate the file with `mmadiff changes --update`"));
    };
    if (line.empty() || line[0] == '#') continue;
    const bool printable = std::ranges::all_of(line, [](char c) { return c >= ' ' && c <= '~'; });
    const std::pair<absl::string_view, absl::string_view> first =
        absl::StrSplit(line, absl::MaxSplits(' ', 1));
    if (printable && first.first == "model") {
      const std::pair<absl::string_view, absl::string_view> model =
          absl::StrSplit(first.second, absl::MaxSplits(' ', 1));
      if (model.first != IdOf(model.second))
        return error("is damaged: the ID does not match the text");
      models.insert(model);
      continue;
    }
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    ModelDigest d;
    if (!printable || words.size() != 4 || words[2].size() != 16 || words[3].size() != 16 ||
        !absl::SimpleHexAtoi(words[2], &d.inputs) || !absl::SimpleHexAtoi(words[3], &d.answers)) {
      return error("is not an instruction with a model and two digests of 16 hex digits");
    }
    const auto model = models.find(words[1]);
    if (model == models.end()) return error("has a model that no line defines");
    if (!ops.insert(words[0]).second) return error("repeats an instruction");
    d.op = std::string(words[0]);
    d.model = std::string(model->second);
    digests.push_back(std::move(d));
  }
  return digests;
}

std::vector<ModelChange> CompareModelDigests(std::span<const ModelDigest> stored,
                                             std::span<const ModelDigest> now) {
  std::map<std::string, const ModelDigest*> before;
  for (const ModelDigest& d : stored) before[d.op] = &d;
  std::vector<ModelChange> changes;
  for (const ModelDigest& d : now) {
    const auto at = before.find(d.op);
    if (at == before.end()) {
      changes.push_back({ModelChange::kNew, d.op, "", "", d.model});
      continue;
    }
    const std::string& model = at->second->model;
    const std::string what = WhatChanged(model, d.model);
    const auto add = [&](ModelChange::Kind kind) {
      changes.push_back({kind, d.op, what, model, d.model});
    };
    if (at->second->inputs != d.inputs) {
      add(ModelChange::kInputs);
    } else if (at->second->answers != d.answers) {
      add(ModelChange::kAnswers);
    } else if (!what.empty()) {
      add(ModelChange::kModel);
    }
    before.erase(at);
  }
  for (const auto& [op, digest] : before) {
    changes.push_back({ModelChange::kRemoved, op, "", digest->model, ""});
  }
  return changes;
}

const char* Name(ModelChange::Kind kind) {
  constexpr const char* kNames[] = {"answers changed", "inputs changed", "model changed", "new",
                                    "gone"};
  return kNames[kind];
}

}  // namespace mmadiff
