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

# Prints every violation below $1 as FILE:LINE:TEXT and a reason.
violations() {
  cd "$1" || exit 2
  local right folder i header
  for i in "${!folders[@]}"; do
    folder=${folders[$i]}
    right=$(IFS='|'; echo "${folders[*]:$((i + 1))}")
    [ -n "$right" ] && grep -rnE "^ *# *include [\"<]($right)/" "$folder" --include=*.h \
      --include=*.cc --include=*.cu | grep -vE "^(corpus|triage)/.*[\"<]fuzz/cases/" |
      sed "s|\$|  ($folder/ lies left of it)|"
  done
  # The generator is a room of its own, on the ground floor of fuzz/.
  grep -rnE '^ *# *include "' fuzz/cases --include=*.h --include=*.cc --exclude=*_test.cc |
    grep -vE '"(sim|fuzz/cases|absl)/' | sed 's|$|  (fuzz/cases lies left of it)|'
  # Quoted includes name their folder: no path goes around the rule.
  grep -rnE '^ *# *include "[^/"]*"' "${folders[@]}" --include=*.h --include=*.cc --include=*.cu |
    grep -v '"xxhash.h"' | sed 's|$|  (write the path from the root)|'
  grep -rnE '^ *# *include .*\.\./' "${folders[@]}" --include=*.h --include=*.cc --include=*.cu | sed 's|$|  (no ..)|'
  grep -rnE '# *include .*\.pb\.h' "${folders[@]}" --include=*.h |
    sed 's|$|  (no proto class in a header)|'
  grep -rnE '# *include .*(\.pb\.h|google/protobuf)' sim device triage fuzz \
    --include=*.h --include=*.cc |
    sed 's|$|  (proto classes stay in corpus/)|'
  grep -rnE '# *include .*absl/' sim --include=*.h --include=*.cc | sed 's|$|  (sim/ uses the standard library only)|'
  arithmetic | while read -r header; do
    grep -nHE '# *include' "$header" | grep -vE '<cstdint>|"sim/[^"]*"' |
      sed 's|$|  (arithmetic headers include <cstdint> and each other)|'
  done
  [ "$(arithmetic | wc -l)" -ge 14 ] || echo 'sim/dot_product.h: too few headers'
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
expect_violation() {  # file, line to add
  cp "$copy/$1" "$copy/saved"
  printf '%s\n' "$2" >>"$copy/$1"
  [ -n "$(violations "$copy")" ] || { echo "not noticed: $2 in $1"; failed=1; }
  mv "$copy/saved" "$copy/$1"
}
expect_violation sim/operation.cc '#include "device/device.h"'
expect_violation device/host.cc '#include "corpus/recordings/recording.h"'
expect_violation corpus/recordings/recording.cc '#include "triage/verdict.h"'
expect_violation triage/verdict.h '#include "fuzz/campaign.h"'
expect_violation corpus/recordings/recording.cc '#include "fuzz/engine.h"'
expect_violation device/host.cc '#include "fuzz/cases/case_name.h"'
expect_violation fuzz/cases/case_name.cc '#include "fuzz/campaign.h"'
expect_violation fuzz/cases/tile.h '#include "device/device.h"'
expect_violation fuzz/cli/run.cc '#include "proto/case.pb.h"'
expect_violation corpus/recordings/recording.h '#include "proto/case.pb.h"'
expect_violation fuzz/cli/run.cc '#include "../findings.h"'
expect_violation fuzz/cli/run.cc '#include "cli.h"'
expect_violation sim/operation.h '#include "absl/status/status.h"'
expect_violation sim/round.h '#include <vector>'
expect_violation sim/format.h '#include "sim/operation.h"'
[ -z "$(violations "$copy")" ] || { echo "the copy was not restored"; failed=1; }
exit $failed
