// Early returns of errors. Debian's release of Abseil has no such macros.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of `expr`, an absl::Status, unless it is OK.
#define RETURN_IF_ERROR(expr) \
  if (absl::Status status_of_expr = (expr); !status_of_expr.ok()) return status_of_expr

// Declares or assigns `lhs` from `expr`, an absl::StatusOr, or returns its status. Expands to two
// statements: do not use it as the body of an `if` without braces.
#define ASSIGN_OR_RETURN(lhs, expr) \
  MMADIFF_ASSIGN_OR_RETURN(MMADIFF_CONCAT(status_or_, __LINE__), lhs, expr)
#define MMADIFF_ASSIGN_OR_RETURN(status_or, lhs, expr)       \
  auto status_or = (expr);                                   \
  if (!status_or.ok()) return std::move(status_or).status(); \
  lhs = *std::move(status_or)
#define MMADIFF_CONCAT(a, b) MMADIFF_CONCAT_(a, b)
#define MMADIFF_CONCAT_(a, b) a##b
