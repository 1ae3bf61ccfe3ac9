#!/usr/bin/env bash
# The direction of includes, sim <- device <- fuzz/cases <- corpus <- triage <- fuzz; where proto classes may appear;
# and what the arithmetic headers, which GPU compilers read too, may include.
# Then it breaks every rule on purpose, in a copy. Usage: include_test.sh SOURCE_FOLDER
set -u
folders=(sim device corpus triage fuzz)
# The arithmetic: sim/dot_product.h and what it includes, one FILE a line.
arithmetic() {
  local files=(sim/dot_product.h) more i
  for ((i = 0; i < ${#files[@]}; ++i)); do
    while read -r more; do
      [[ " ${files[*]} " == *" $more "* ]] || files+=("$more")
    done < <(sed -nE 's|^ *# *include "(sim/[^"]*)".*|\1|p' "${files[i]}")
  done
  printf '%s\n' "${files[@]}"
}

# FILE:LINE:PATH of every include, PATH with its quotes or angle brackets and nothing behind them.
includes() {
  grep -rnE '^[[:space:]]*#[[:space:]]*include' "${folders[@]}" \
    --include=*.h --include=*.cc --include=*.cu --include=*.inc --include=*.in |
    sed -E 's/^([^:]*:[0-9]*:)[^"<]*("[^"]*"|<[^>]*>).*/\1\2/'
}

# Prints every violation below $1 as FILE:LINE:PATH and a reason.
violations() {
  cd "$1" || exit 2
  local right folder i headers all
  all=$(includes)
  breaks() { grep -vE "$1" | sed "s|\$|  ($2)|"; }  # EXCEPTIONS REASON
  among() { grep -E "$1" <<<"$all"; }
  for i in "${!folders[@]}"; do
    folder=${folders[$i]}
    right=$(IFS='|'; echo "${folders[*]:$((i + 1))}")
    [ -n "$right" ] && among "^$folder/.*:\"($right)/" |
      breaks '^(corpus|triage)/.*:"fuzz/cases/' "$folder/ lies left of it"
  done
  # The generator is a room of its own, on the ground floor of fuzz/; its tests count events too.
  among '^fuzz/cases/.*:"' | breaks ':"(sim|fuzz/cases|absl)/|_test\.cc:.*:"fuzz/events\.h"' \
    'fuzz/cases lies left of it'
  # Quoted includes name their folder: no path goes around the rule.
  among ':"[^/]*"$' | breaks ':"xxhash\.h"$' 'write the path from the root'
  among ":<($(IFS='|'; echo "${folders[*]}")|proto)/" | breaks '^$' 'write it in quotes'
  among ':[0-9]+:.*\.\./' | breaks '^$' 'no ..'
  among ':[0-9]+:[^"<]' | breaks '^$' 'name a file'
  among '^[^:]*\.h:.*\.pb\.h' | breaks '^$' 'no proto class in a header'
  among ':[0-9]+:.*(\.pb\.h|google/protobuf)' | breaks '^corpus/' 'proto classes stay in corpus/'
  among '^sim/.*:["<]absl/' | breaks '^$' 'sim/ uses the standard library only'
  mapfile -t headers < <(arithmetic)
  among "^($(IFS='|'; echo "${headers[*]}")):" |
    breaks ':<cstdint>$|:"sim/[^"]*"$' 'arithmetic headers include <cstdint> and each other'
  [ ${#headers[@]} -ge 14 ] || echo 'sim/dot_product.h: too few headers'
  [ "$(wc -l <<<"$all")" -ge 1000 ] || echo 'too few includes'
}

root=$(cd "$1" && pwd) || exit 2
found=$(violations "$root")
if [ -n "$found" ]; then
  printf '%s\n' "$found"
  exit 1
fi

# The test itself: each rule broken once in a copy must be noticed.
copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
cp -r "${folders[@]/#/$root/}" "$copy" || exit 2
failed=0
expect_violation() {  # file, perhaps a new one; line to add
  local old=
  [ -e "$copy/$1" ] && old=$(<"$copy/$1")
  printf '%s\n' "$2" >>"$copy/$1"
  [ -n "$(violations "$copy")" ] || { echo "not noticed: $2 in $1"; failed=1; }
  if [ -n "$old" ]; then printf '%s\n' "$old" >"$copy/$1"; else rm "$copy/$1"; fi
}
expect_violation sim/operation.cc '#include "device/device.h"'
expect_violation device/host.cc '#include "corpus/recordings/recording.h"'
expect_violation corpus/recordings/recording.cc '#include "triage/verdict.h"'
expect_violation triage/verdict.h '#include "fuzz/ask/run.h"'
expect_violation corpus/recordings/recording.cc '#include "fuzz/engine.h"'
expect_violation device/host.cc '#include "fuzz/cases/case_name.h"'
expect_violation fuzz/cases/case_name.cc '#include "fuzz/ask/run.h"'
expect_violation fuzz/cases/case_name.cc '#include <fuzz/ask/run.h>'
expect_violation fuzz/cases/case_name.cc '#include "fuzz/ask/run.h"  // not "sim/word.h"'
expect_violation fuzz/cases/kernel.cu '#include "triage/verdict.h"'
expect_violation fuzz/cases/table.inc '#include "fuzz/ask/run.h"'
expect_violation fuzz/cases/random_test.cc '#include "triage/verdict.h"'
expect_violation device/cuda/targets.inc '#include "fuzz/ask/run.h"'
expect_violation corpus/embedded_vectors.cc.in '#include "fuzz/ask/run.h"'
expect_violation corpus/vector.cc '#include "fuzz/ask/run.h"  // not "fuzz/cases/tile.h"'
expect_violation sim/word.cc '#include HEADER'
expect_violation fuzz/cases/tile.h '#include "device/device.h"'
expect_violation fuzz/cli/run.cc '#include "proto/case.pb.h"'
expect_violation corpus/recordings/recording.h '#include "proto/case.pb.h"'
expect_violation fuzz/cli/run.cc '#include "../findings.h"'
expect_violation fuzz/cli/run.cc '#include "cli.h"'
expect_violation sim/operation.h '#include "absl/status/status.h"'
expect_violation sim/round.h '#include <vector>'
expect_violation sim/round.h '#include <vector>  // not <cstdint>'
expect_violation sim/format.h '#include "sim/operation.h"'
[ -z "$(violations "$copy")" ] || { echo "the copy was not restored"; failed=1; }
exit $failed
