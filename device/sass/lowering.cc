#include "device/sass/lowering.h"

#include "absl/strings/str_cat.h"
#include "device/status_macros.h"
#include "xxhash.h"

namespace mmadiff::sass {

absl::StatusOr<Lowering> LoweringOf(const KernelCode& code, const mmadiff::Instruction& instruction,
                                    const Natives& natives, const Batch& batch) {
  constexpr int kDepth = 6;
  Expressions pool;
  ASSIGN_OR_RETURN(const Followed followed, Follow(code, instruction, natives, batch, pool));
  std::string digests;
  for (const int word : followed.d) {
    absl::StrAppend(&digests, word < 0 ? 0 : pool.Digest(word), " ");
  }
  const auto digest = static_cast<uint32_t>(XXH3_64bits(digests.data(), digests.size()));
  const bool path = followed.origins->branches_on_data();
  return Lowering{absl::StrCat(path ? "path:" : "low:", absl::Hex(digest, absl::kZeroPad8)),
                  pool.Text(followed.d[0], kDepth), path};
}

}  // namespace mmadiff::sass
