#include "corpus/old_text.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "corpus/survey_record.h"

namespace mmadiff {
namespace {

// The text before and after the first `mark`. The second part is empty if there is no `mark`.
std::pair<absl::string_view, absl::string_view> Cut(absl::string_view text,
                                                    absl::string_view mark) {
  return absl::StrSplit(text, absl::MaxSplits(mark, 1));
}

// "130 of 132 multiprocessors answered"; ignores any other text.
void ReadAnswered(absl::string_view text, Hardware& hardware) {
  if (absl::ConsumeSuffix(&text, " multiprocessors answered")) {
    hardware.part = Hardware::kMultiprocessors;
  } else if (absl::ConsumeSuffix(&text, " compute units answered")) {
    hardware.part = Hardware::kComputeUnits;
  }
  const auto [answered, of] = Cut(text, " of ");
  if (!absl::SimpleAtoi(answered, &hardware.answered) || !absl::SimpleAtoi(of, &hardware.of)) {
    hardware.part = Hardware::kNone;
  }
}

// "3 words: 7fc0 7fc1 ffc0"
std::vector<std::string> PayloadFacts(absl::string_view count, absl::string_view words) {
  std::vector<std::string> facts = {std::string(Cut(count, " ").first)};
  for (const absl::string_view word : absl::StrSplit(words, ' ')) {
    if (word != "...") facts.emplace_back(word);
  }
  return facts;
}

// "MODE changes 12, MODE changes 3 of 1024; MODE, MODE change none"
std::vector<std::string> ModeFacts(absl::string_view text) {
  std::vector<std::string> facts;
  for (const absl::string_view part : absl::StrSplit(Cut(text, ";").first, ", ")) {
    const auto [mode, count] = Cut(part, " changes ");
    if (!count.empty()) facts.push_back(absl::StrCat(mode, " ", Cut(count, " ").first));
  }
  return facts;
}

// "NAME: READING; NAME: another word, 3f800000"
std::vector<std::string> ReadingFacts(absl::string_view text) {
  std::vector<std::string> facts;
  for (const absl::string_view part : absl::StrSplit(text, "; ")) {
    auto [name, reading] = Cut(part, ": ");
    absl::ConsumePrefix(&reading, "another word, ");
    facts.push_back(absl::StrCat(name, ": ", reading));
  }
  return facts;
}

// "the model with terms=8 (or steps=2, steps=4)", "the table's model", "terms=8 or steps=2", "none"
std::vector<std::string> ChangeFacts(absl::string_view text) {
  auto [found, others] = Cut(text, " (or ");
  absl::ConsumeSuffix(&others, ")");
  std::vector<std::string> facts;
  const auto [first, rest] = Cut(found, " or ");
  for (const absl::string_view word : absl::StrSplit(first, ' ')) {
    if (absl::StrContains(word, '=')) facts.emplace_back(word);
  }
  const auto add = [&facts](absl::string_view names, absl::string_view mark) {
    for (const absl::string_view name : absl::StrSplit(names, mark, absl::SkipEmpty())) {
      facts.push_back(absl::StrCat("or ", name));
    }
  };
  add(rest, " or ");
  add(others, ", ");
  return facts;
}

}  // namespace

CaseRole RoleOfOld(absl::string_view why) {
  return absl::StartsWith(why, "the device and the model differ") ? CaseRole::kMinimal
                                                                  : CaseRole::kUnknown;
}

void AddMeaningOfOld(SurveyAnswer& answer) {
  const absl::string_view text = answer.answer;
  if (answer.question == "layout" || answer.question == "repeat") {
    if (absl::StrContains(text, "alone")) answer.scope = Scope::kDotProducts;
  } else if (answer.question == "pairs") {
    return;
  } else if (const auto [count, words] = Cut(text, ": ");
             absl::EndsWith(count, " word") || absl::EndsWith(count, " words")) {
    answer.facts = PayloadFacts(count, words);
  } else if (absl::StrContains(text, " change none") || absl::StrContains(text, " changes ")) {
    answer.facts = ModeFacts(text);
  } else {
    answer.facts = words.empty() ? ChangeFacts(text) : ReadingFacts(text);
  }
}

StopCause StopCauseOfOld(absl::string_view stopped_by) {
  if (stopped_by == "time limit") return {StopCause::kTimeLimit};
  if (stopped_by == "folder full") return {StopCause::kFolderFull};
  int signal = 0;
  if (!absl::ConsumePrefix(&stopped_by, "signal ") || !absl::SimpleAtoi(stopped_by, &signal)) {
    return {};
  }
  return {StopCause::kSignal, signal};
}

std::string ContentsOfOld(absl::string_view value) {
  absl::ConsumePrefix(&value, "contents xxh3 ");
  return std::string(value);
}

Machine MachineOfOld(absl::string_view text) {
  const auto [host, hardware] = Cut(text, ", ");
  return {std::string(host), HardwareOfLine(hardware)};
}

Hardware HardwareOfLine(absl::string_view text) {
  const auto [which, answered] = Cut(text, ", ");
  const auto [unit, pci] = Cut(which, " at PCI ");
  Hardware hardware = {.unit = std::string(unit), .pci = std::string(pci)};
  ReadAnswered(answered, hardware);
  return hardware;
}

}  // namespace mmadiff
