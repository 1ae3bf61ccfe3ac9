// The smallest input on which a device is known to crash or hang.
#pragma once

#include "absl/functional/function_ref.h"
#include "corpus/survey_record.h"

namespace mmadiff {

// `asked`: the input during which the device crashed. `kills`: whether an input alone kills a fresh
// worker. Tries zeros, then `asked`, then halves of it as long as one of them kills. After a hang,
// tries zeros only, because each trial takes as long as the timeout.
KillingInput FindKillingInput(KillingInput asked, bool hangs,
                              absl::FunctionRef<bool(const KillingInput&)> kills);

}  // namespace mmadiff
