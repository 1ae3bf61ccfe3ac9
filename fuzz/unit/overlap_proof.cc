#include "fuzz/unit/overlap_proof.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "corpus/cases/case_name.h"
#include "device/cuda/overlap.h"
#include "device/sass/kernel_code.h"
#include "device/sass/sass_device.h"
#include "device/status_macros.h"

namespace mmadiff {
namespace {

constexpr uint64_t kCasesAtATime = 1024;
constexpr int kDefaultLevel = 3;  // of sass:

std::vector<std::string> SingleNames(const std::vector<SharedRegister>& shared) {
  std::vector<std::string> names;
  for (const SharedRegister& one : shared) names.push_back(Name(one));
  return names;
}

// Whether one kernel can have all of them: no register of D is that of two operands, and no word in
// two registers of D.
bool FitOneKernel(const std::vector<SharedRegister>& shared) {
  for (auto x = shared.begin(); x != shared.end(); ++x) {
    const bool clash = std::any_of(x + 1, shared.end(), [&](const SharedRegister& y) {
      return x->d == y.d || (x->operand == y.operand && x->word == y.word);
    });
    if (clash) return false;
  }
  return true;
}

}  // namespace

const char* Name(OverlapVerdict verdict) {
  constexpr const char* kNames[kOverlapVerdicts] = {"wrong", "right", "not_tried"};
  return kNames[static_cast<int>(verdict)];
}

absl::StatusOr<OverlapProver::Differences> OverlapProver::Differing(
    const MnemonicKernel& kernel, const std::string& device,
    const std::vector<std::string>& overlaps) {
  const auto open = [&](const std::string& suffix) {
    return OpenSass(absl::StrCat(device.substr(device.find(':') + 1), suffix));
  };
  const Operation& op = *kernel.op;
  ASSIGN_OR_RETURN(const std::unique_ptr<Device> apart, open(""));
  std::vector<std::unique_ptr<Device>> sharing;
  for (const std::string& overlap : overlaps) {
    ASSIGN_OR_RETURN(sharing.emplace_back(), open(",overlap=" + overlap));
    RETURN_IF_ERROR(sharing.back()->Supports(op));
  }
  const CaseStream stream = {.op = &op, .strategy = &Strategies().front()};
  Differences differences;
  differences.of.resize(overlaps.size());
  for (uint64_t first = 0; first < options_.cases; first += kCasesAtATime) {
    Batch batch;
    Generate(stream, first, static_cast<int64_t>(std::min(kCasesAtATime, options_.cases - first)),
             batch);
    ASSIGN_OR_RETURN(const std::vector<uint64_t> right, apart->Run(op, batch));
    std::vector<bool> differ(right.size());
    for (size_t of = 0; of < sharing.size(); ++of) {
      ASSIGN_OR_RETURN(const std::vector<uint64_t> d, sharing[of]->Run(op, batch));
      const auto at = std::ranges::mismatch(d, right);
      if (differences.reason.empty() && at.in1 != d.end()) {
        Batch one;
        const int64_t differing = at.in1 - d.begin(), words = op.shape().d_words();
        Generate(stream, first + differing / words, 1, one);
        ASSIGN_OR_RETURN(differences.reason, sharing[of]->Reason(op, one, differing % words));
      }
      for (size_t i = 0; i < d.size(); ++i) {
        differences.of[of] += d[i] != right[i];
        differ[i] = differ[i] || d[i] != right[i];
      }
    }
    differences.any += std::ranges::count(differ, true);
    differences.dot_products += right.size();
  }
  return differences;
}

absl::Status OverlapProver::Try(const PtxMatrixInstruction& instruction, const std::string& target,
                                OverlapProof& proof) {
  if (target.empty()) return absl::NotFoundError("the file names no target");
  ASSIGN_OR_RETURN(const PtxTarget* const known, sass::FindTarget(target));
  ASSIGN_OR_RETURN(const MnemonicKernel kernel, KernelWithMnemonic(instruction.mnemonic, *known));
  proof.instruction = kernel.op->name;
  proof.register_bits = kernel.op->instruction->d->bits == 64 ? 64 : 32;
  proof.device = absl::StrCat(
      "sass:arch=", known->target, options_.ptxas.empty() ? "" : ",ptxas=", options_.ptxas,
      options_.level == kDefaultLevel ? "" : absl::StrCat(",O=", options_.level),
      SuffixOf(kernel.variant));
  const std::vector<std::string> single = SingleNames(instruction.suspects());
  proof.target = known->target;
  const bool together = FitOneKernel(instruction.shared);
  proof.tried = together ? std::vector<std::string>{Name(instruction.shared)} : single;
  ASSIGN_OR_RETURN(const Differences found, Differing(kernel, proof.device, proof.tried));
  proof.differing = found.any;
  proof.dot_products = found.dot_products;
  proof.verdict = found.any > 0 ? OverlapVerdict::kWrong : OverlapVerdict::kRight;
  if (found.any == 0) return absl::OkStatus();
  proof.reason = found.reason;
  Differences alone = found;
  if (proof.tried != single) {
    ASSIGN_OR_RETURN(alone, Differing(kernel, proof.device, single));
  }
  for (size_t i = 0; i < single.size(); ++i) {
    if (alone.of[i] > 0) proof.suffice.push_back(single[i]);
  }
  return absl::OkStatus();
}

const OverlapProof& OverlapProver::Prove(const PtxMatrixInstruction& instruction,
                                         const std::string& target) {
  const auto [at, first] = proofs_.try_emplace(
      absl::StrCat(target, " ", instruction.mnemonic, " ", Name(instruction.shared)));
  OverlapProof& proof = at->second;
  if (first) {
    const absl::Status tried = Try(instruction, target, proof);
    if (!tried.ok()) proof.reason = std::string(tried.message());
  }
  return proof;
}

}  // namespace mmadiff
