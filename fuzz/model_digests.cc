#include "fuzz/model_digests.h"

#include <algorithm>
#include <map>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "fuzz/case_name.h"
#include "sim/simulate.h"
#include "xxhash.h"

namespace mmadiff {
namespace {

// Of each row, and at most of each case: 90 % of all one-parameter changes of the models show.
constexpr int64_t kCases = 64, kDotProducts = 8;

uint64_t HashOf(const std::vector<uint64_t>& words) {
  std::string bytes;
  for (const uint64_t word : words) {
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(word >> (8 * i)));
  }
  return XXH3_64bits(bytes.data(), bytes.size());
}

ModelDigest DigestOf(const Row& row) {
  Batch batch;
  Generate({&row, FindStrategy("mixed"), 1}, 0, kCases, batch);
  const int64_t all = row.shape().d_words(), count = std::min(all, kDotProducts);
  std::vector<uint64_t> inputs, answers;
  for (int64_t execution = 0; execution < kCases; ++execution) {
    for (int64_t i = 0; i < count; ++i) {
      // Over all rows and columns.
      const DotProductCase dot =
          Extract(batch, execution * all + (i * (all / count) + execution + i) % all);
      inputs.insert(inputs.end(), dot.a.begin(), dot.a.end());
      inputs.insert(inputs.end(), dot.b.begin(), dot.b.end());
      inputs.push_back(dot.c);
      answers.push_back(Simulate(row.model, dot));
    }
  }
  return {row.name, HashOf(inputs), HashOf(answers)};
}

}  // namespace

std::vector<ModelDigest> ComputeModelDigests() {
  std::vector<ModelDigest> digests;
  for (const Row& row : Rows()) digests.push_back(DigestOf(row));
  return digests;
}

std::string FormatModelDigests(std::span<const ModelDigest> digests) {
  std::string text =
      "# Digests of what the models answer to a fixed sample: row, inputs, answers.\n"
      "# ./mmadiff changes compares, ./mmadiff changes --update writes this file.\n";
  for (const ModelDigest& d : digests) {
    absl::StrAppend(&text, d.row, " ", absl::Hex(d.inputs, absl::kZeroPad16), " ",
                    absl::Hex(d.answers, absl::kZeroPad16), "\n");
  }
  return text;
}

absl::StatusOr<std::vector<ModelDigest>> ParseModelDigests(absl::string_view text,
                                                           absl::string_view where) {
  std::vector<ModelDigest> digests;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
    ModelDigest d;
    if (words.size() != 3 || words[1].size() != 16 || words[2].size() != 16 ||
        !absl::SimpleHexAtoi(words[1], &d.inputs) || !absl::SimpleHexAtoi(words[2], &d.answers)) {
      return absl::InvalidArgumentError(
          absl::StrCat(where, ":", number, ": '", absl::CHexEscape(line.substr(0, 100)),
                       "' is no row with two digests of 16 hex digits; write the file anew with "
                       "`mmadiff changes --update`"));
    }
    d.row = std::string(words[0]);
    digests.push_back(std::move(d));
  }
  return digests;
}

std::vector<ModelChange> CompareModelDigests(std::span<const ModelDigest> stored,
                                             std::span<const ModelDigest> now) {
  std::map<std::string, const ModelDigest*> before;
  for (const ModelDigest& d : stored) before[d.row] = &d;
  std::vector<ModelChange> changes;
  for (const ModelDigest& d : now) {
    const auto at = before.find(d.row);
    if (at == before.end()) {
      changes.push_back({ModelChange::kNew, d.row});
      continue;
    }
    if (at->second->inputs != d.inputs) {
      changes.push_back({ModelChange::kInputs, d.row});
    } else if (at->second->answers != d.answers) {
      changes.push_back({ModelChange::kAnswers, d.row});
    }
    before.erase(at);
  }
  for (const auto& [row, digest] : before) changes.push_back({ModelChange::kGone, row});
  return changes;
}

const char* Name(ModelChange::Kind kind) {
  constexpr const char* kNames[] = {"answers changed", "inputs changed", "new", "gone"};
  return kNames[kind];
}

}  // namespace mmadiff
