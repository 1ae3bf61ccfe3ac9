// Work in several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace mmadiff {

// A number of threads as flags say it: 0 is one for each core.
int ThreadsOf(int flag);

// Starts `work` in a thread more. False where none can be had: a limit of processes, no memory.
bool StartThread(std::vector<std::jthread>& threads, std::function<void()> work);

// Calls `work` with 0 to threads - 1 at the same time, 0 in the calling thread; all have returned
// when it returns. Where fewer threads can be had it is called with fewer numbers, the first ones.
void InThreads(int threads, absl::FunctionRef<void(int thread)> work);

// Calls `work` for items 0 to count - 1, in any of the threads of InThreads() and at most a few
// items ahead, and `deliver` for one after the other in the calling thread, each after its work.
// An error of `deliver` ends it. With one thread nothing is ahead.
absl::Status InOrder(size_t count, int threads,
                     absl::FunctionRef<void(size_t item, int thread)> work,
                     absl::FunctionRef<absl::Status(size_t item)> deliver);

}  // namespace mmadiff
