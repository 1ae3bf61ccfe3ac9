// What a run says at its end: a table for people, `stat::name: value` lines and JSON for programs.
#pragma once

#include <string>

#include "fuzz/campaign.h"
#include "triage/text_table.h"

namespace mmadiff {

// Instruction, cases, dot products, mismatches, rate, evidence; then findings, what the numbers
// mean ("0 of N, so the rate is below 3/N for this generator"), classes without a case.
std::string FormatReport(const CampaignOptions& options, const CampaignOutcome& outcome);
// `stat::name: value` lines.
std::string FormatStats(const CampaignOutcome& outcome);

// The command lines that a terminal offers.
struct NextCommands {
  std::string again;   // the same: it resumes
  std::string longer;  // with more cases
};
// The report for a terminal: what ran, what differs, where it is filed and what to type next come
// last, in at most 24 lines of 80 columns.
std::string FormatScreen(const CampaignOptions& options, const CampaignOutcome& outcome,
                         const NextCommands& next, const TextStyle& style);

// The same as one JSON object.
std::string FormatJsonReport(const CampaignOptions& options, const CampaignOutcome& outcome);
// One finding, as it is in that object, after a verdict: "differs", "flaky", or "equal" to the model,
// of which little but the instruction and the case is filled.
std::string FormatJsonMinimized(const Finding& finding, const char* verdict);

// What the numbers of one operation say: "rate < 3.0e-07, model published", with ", incomplete" where
// classes or bins are thin; "differs from the device".
std::string EvidenceText(const CampaignOptions& options, const CampaignOutcome& outcome,
                         const OperationOutcome& op);

std::string Hex(Digest digest);  // 32 digits

// Digest of the device's results over all operations, 32 hex digits: the same for any order, number
// of threads, interruption or resumption. Empty while an operation is unfinished.
std::string RunDigest(const CampaignOutcome& outcome);

// Required classes of input that no case of an operation has reached.
std::vector<std::string> EmptyClasses(const CampaignOptions& options, const OperationOutcome& op);
// Names of the bins that fewer of the operation's dot products reached than should; none if nothing
// was compared, or something differs.
std::vector<std::string> ThinBinNames(const OperationOutcome& op);
// Operations without a mismatch whose classes or bins are not all reached, those of which nothing was
// compared too: no pass to rely on.
std::vector<const OperationOutcome*> IncompleteOperations(const CampaignOptions& options,
                                                          const CampaignOutcome& outcome);

}  // namespace mmadiff
