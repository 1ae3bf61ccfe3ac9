// Changes of a measured operation's model that its recordings do not refute.
#pragma once

#include "sim/operation.h"

namespace mmadiff {

// The number of changes of one parameter of a *measured* operation's model to a neighboring value
// (AllNeighbours()) that no stored answer or digest refutes; 0 for other grades. The list is
// corpus/observations/ARCH_changes.tsv.
int OpenChanges(const Operation& op);

}  // namespace mmadiff
