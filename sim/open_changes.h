// Changes of a measured operation's model that its recordings do not refute.
#pragma once

#include "sim/operation.h"

namespace mmadiff {

// The number of changes of one parameter of a *measured* operation's model that no stored answer or
// digest refutes (corpus/observations/sm_90_changes.tsv lists them); 0 for other grades.
int OpenChanges(const Operation& op);

}  // namespace mmadiff
