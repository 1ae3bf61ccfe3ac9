// The smallest input on which a device is known to die or hang.
#pragma once

#include "absl/functional/function_ref.h"
#include "corpus/survey_record.h"

namespace mmadiff {

// `asked`: what the device was asked when it died. `kills` says whether an input alone kills a fresh
// worker. Tries zeros, then `asked`, then halves of it as long as one of them kills. Of a hang only
// zeros are tried: each trial takes as long as the timeout.
KillingInput FindKillingInput(KillingInput asked, bool hangs,
                              absl::FunctionRef<bool(const KillingInput&)> kills);

}  // namespace mmadiff
