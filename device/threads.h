// Runs work in several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace mmadiff {

// The number of threads for a flag: 0 is one per core.
int ThreadsOf(int flag);

// Starts `work` in one more thread. False if no thread can be started: a limit on processes, or no
// memory.
bool StartThread(std::vector<std::jthread>& threads, std::function<void()> work);

// Calls `work` with 0 to threads - 1 concurrently, with 0 in the calling thread; returns when all
// have returned. If fewer threads can be started, it is called with the first numbers only.
void InThreads(int threads, absl::FunctionRef<void(int thread)> work);

// Calls `work` for items 0 to count - 1, in any of the threads of InThreads() and at most a few
// items ahead, and `deliver` for one item after the other in the calling thread, each after its
// work. Stops at an error from `deliver`. With one thread, no work runs ahead.
absl::Status InOrder(size_t count, int threads,
                     absl::FunctionRef<void(size_t item, int thread)> work,
                     absl::FunctionRef<absl::Status(size_t item)> deliver);

}  // namespace mmadiff
