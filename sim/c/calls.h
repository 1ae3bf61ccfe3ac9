// Shared by the functions of the C interface: errors, and operands in the form of the simulator.
#pragma once

#include <algorithm>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

#include "sim/c/mmadiff.h"
#include "sim/format.h"
#include "sim/instruction.h"
#include "sim/operation.h"
#include "sim/parts.h"
#include "sim/plan/matrices.h"
#include "sim/words.h"

namespace mmadiff {

// Ends a call: the reason is for mmadiff_error().
class CallError : public std::runtime_error {
 public:
  explicit CallError(const std::string& why, mmadiff_status status = MMADIFF_INVALID)
      : std::runtime_error(why), status(status) {}
  const mmadiff_status status;
};

// The text of mmadiff_error() in this thread.
struct LastError {
  mmadiff_status status = MMADIFF_OK;
  std::string text;
};
LastError& ErrorOfThread();

// The result of call(), or `failed` if it ended with an exception.
template <class Result, class Call>
Result Guarded(Result failed, const Call& call) noexcept {
  LastError& error = ErrorOfThread();
  error = {};
  try {
    return call();
  } catch (const CallError& e) {
    error = {e.status, e.what()};
  } catch (const Stopped&) {
    error = {MMADIFF_STOPPED, "stopped: the results are incomplete"};
  } catch (const std::bad_alloc&) {
    error = {MMADIFF_NO_MEMORY, "there is not enough memory"};
  } catch (const std::length_error&) {
    error = {MMADIFF_NO_MEMORY, "the operands are too large"};
  } catch (const std::exception& e) {
    error = {MMADIFF_INVALID, e.what()};
  }
  return failed;
}

// The same for functions that return a status.
template <class Call>
mmadiff_status GuardedStatus(const Call& call) noexcept {
  const bool done = Guarded(false, [&] {
    call();
    return true;
  });
  return done ? MMADIFF_OK : ErrorOfThread().status;
}

inline void Require(const std::string& why_not) {
  if (!why_not.empty()) throw CallError(why_not);
}
inline std::string_view Required(const char* text, const char* what) {
  if (text == nullptr) throw CallError(std::string(what) + " is NULL");
  return text;
}
template <class Handle>
Handle& Required(Handle* handle, const char* what) {
  if (handle == nullptr) throw CallError(std::string(what) + " is NULL");
  return *handle;
}
// The product, whose sizes are not negative and not absurd.
const mmadiff_product& Checked(const mmadiff_product* product);

// Copies as much of a description as the caller has, which may be of an older version.
template <class Info>
void Describe(const Info& from, Info* to, size_t size) {
  std::copy_n(reinterpret_cast<const char*>(&from), std::min(size, sizeof(Info)),
              reinterpret_cast<char*>(to));
}

Words WordsOf(const mmadiff_words& words);
MutableWords MutableWordsOf(const mmadiff_words& words);
Threads ThreadsOf(const mmadiff_work* work);  // one, if it is nullptr
const Format& FormatNamed(const char* name);  // throws, as the following
// By its name in the tables, or as people quote it (sim/quoted_name.h).
const Operation& OperationNamed(std::string_view name);
// A glob with its architecture as the tables spell it: "sm_90/*" for "h100/*".
std::string GlobOf(std::string_view glob);
// Product number `e` of several; A and B have these formats if it does not name theirs. All scales that
// are given are those of a matrix.
Matrices MatricesOf(const mmadiff_product& p, const Format& a, const Format& b, int64_t e);

}  // namespace mmadiff
