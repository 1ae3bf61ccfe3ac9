// The texts for a finding.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "fuzz/folder/findings.h"
#include "triage/mismatch.h"
#include "triage/text_table.h"

namespace mmadiff {

// A line for each clue that was found, then one for the questions that found nothing.
std::vector<std::string> ClueLines(const std::vector<Clue>& clues);
// The commands for the questions that were not asked.
std::vector<std::string> CommandsFor(const Finding& finding);

// The report of one finding: both values bit by bit, the bucket, the nonzero operands, and how to
// reproduce it. `cases`: the minimal one first.
std::string DescribeFinding(std::span<const KeptCase> cases, const Finding& finding,
                            const TextStyle& style);

std::vector<std::string> NamesOf(const std::vector<Bucket>& buckets);

// " --device=..." for a command that executes a flaky finding again; "" for other findings.
std::string AskAgainFlag(const Finding& finding);

// Where it is filed: the file and the number of other cases; if that is too wide, the folder.
std::string FiledText(const Finding& finding, size_t width);

}  // namespace mmadiff
