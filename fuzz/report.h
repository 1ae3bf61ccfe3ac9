// What a run says at its end: a table for people, `stat::name: value` lines and JSON for programs.
#pragma once

#include <string>

#include "fuzz/campaign.h"

namespace mmadiff {

// Instruction, cases, dot products, mismatches, rate, evidence; then findings, what the numbers
// mean ("0 of N, so the rate is below 3/N for this generator"), classes without a case, and the
// stat lines.
std::string FormatReport(const CampaignOptions& options, const CampaignOutcome& outcome);

// The same as one JSON object.
std::string FormatJsonReport(const CampaignOptions& options, const CampaignOutcome& outcome);
// One finding, as it is in that object.
std::string FormatJsonFinding(const Finding& finding);

std::string Hex(Digest digest);  // 32 digits

// Digest of the device's results over all operations, 32 hex digits: the same for any order, number
// of threads, interruption or resumption. Empty while an operation is unfinished.
std::string RunDigest(const CampaignOutcome& outcome);

// Required classes of input that no case of an operation has reached.
std::vector<std::string> EmptyClasses(const CampaignOptions& options, const OperationOutcome& op);

}  // namespace mmadiff
