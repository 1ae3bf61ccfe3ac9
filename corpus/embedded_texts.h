// Texts of this repository that are compiled into the program, so that machines without the repository
// have them too.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"

namespace mmadiff {

extern "C" const char mmadiff_vectors[];    // corpus/vectors/*.txt
extern "C" const char mmadiff_lowerings[];  // corpus/lowerings/*.tsv
extern "C" const char mmadiff_plans[];      // corpus/plans/*.tsv

// `texts`: one of these.
inline void ForEachText(const char* texts,
                        absl::FunctionRef<void(absl::string_view name, absl::string_view text)> f) {
  for (const char* at = texts; *at != '\0';) {
    const absl::string_view name = at, text = at + name.size() + 1;
    f(name, text);
    at = text.data() + text.size() + 1;
  }
}

}  // namespace mmadiff
