// Operations whose model is a user's own: "ROW:NAME=VALUE,..." is a row of the tables with changed
// parameters; "unlisted/...:FAMILY,NAME=VALUE,..." an algorithm for formats outside the tables, where
// output_fraction_bits is by default all of the output; "own/NAME~VERSION" a model of AddOwnModel(), and
// "own/NAME" the last of that name. Changes may follow it too.
#pragma once

#include <string>
#include <string_view>

#include "sim/operation.h"

namespace mmadiff {

// nullptr if the name has none of these forms, with the reason if it tries to. Their grade is kOwn; a
// row's promise of NaN bits holds. Calls with the same name return the same operation. Thread-safe.
const Operation* FindOwn(std::string_view name, std::string* why = nullptr);

// Where the changes of "NAME:CHANGES" begin: at their colon, or npos. Names of PTX contain colons too,
// always in pairs.
size_t ChangesAt(std::string_view name);

// The operation "own/NAME~VERSION" with the shape of one dot product; the model must be valid. Files say by
// the version which model they are of: it must differ for every model. nullptr if sim/unlisted.h has no
// operation of these formats.
const Operation* AddOwnModel(std::string_view name, std::string_view version, const Model& model);

}  // namespace mmadiff
