// Work in several threads.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/status.h"

namespace mmadiff {

// A number of threads as flags say it: 0 is one for each core.
int ThreadsOf(int flag);

// Calls `work` with 0 to threads - 1 at the same time, 0 in the calling thread; all have returned
// when it returns.
void InThreads(int threads, const std::function<void(int thread)>& work);

// Calls `work` for items 0 to count - 1, in any of the threads of InThreads() and at most a few
// items ahead, and `deliver` for one after the other in the calling thread, each after its work.
// An error of `deliver` ends it. With one thread nothing is ahead.
absl::Status InOrder(size_t count, int threads,
                     const std::function<void(size_t item, int thread)>& work,
                     const std::function<absl::Status(size_t item)>& deliver);

}  // namespace mmadiff
