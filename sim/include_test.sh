#!/usr/bin/env bash
# The direction of includes: a file includes its own room and those before it in `rooms`, and only tests include testing/.
# Also where proto classes may appear, and what the arithmetic headers, which GPU compilers read too, may include.
# Then it breaks every rule on purpose, in a copy. Usage: include_test.sh SOURCE_FOLDER
set -u
folders=(sim device corpus triage fuzz)
# Folders without their own rooms are one room.
rooms=(sim device corpus/cases corpus triage
  fuzz/{verdict,output,unit,gpu,engine,coverage,schedule,ask,folder,report,run,record,survey,compare,replay,page,bench,cli,targets})
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
  local right room i headers all
  all=$(includes)
  breaks() { grep -vE "$1" | sed "s|\$|  ($2)|"; }  # EXCEPTIONS REASON
  among() { grep -E "$1" <<<"$all"; }
  for i in "${!rooms[@]}"; do
    room=${rooms[$i]}
    right=$(IFS='|'; echo "${rooms[*]:$((i + 1))}")
    [ -n "$right" ] && among "^$room/.*:\"($right)/" | breaks '^corpus/cases/.*:"corpus/cases/' "$room/ lies left of it"
  done
  among '^corpus/cases/.*:"device/' | breaks '^$' 'the generator needs sim/ alone'
  among ':".*/testing/' | breaks '^[^:]*(_test\.cc|/testing/[^:]*):' 'only tests include it'
  find fuzz -maxdepth 1 -type f ! -name CMakeLists.txt | sed 's/$/:1:  (fuzz has rooms)/'
  find fuzz -mindepth 1 -maxdepth 1 -type d | grep -vxF -f <(printf '%s\n' "${rooms[@]}" fuzz/testing fuzz/cluster) |
    sed 's/$/:1:  (name the room in include_test.sh)/'
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
  mkdir -p "$(dirname "$copy/$1")"
  printf '%s\n' "$2" >>"$copy/$1"
  [ -n "$(violations "$copy")" ] || { echo "not noticed: $2 in $1"; failed=1; }
  if [ -n "$old" ]; then printf '%s\n' "$old" >"$copy/$1"; else rm "$copy/$1"; fi
  rmdir --ignore-fail-on-non-empty "$(dirname "$copy/$1")"
}
expect_violation sim/operation.cc '#include "device/device.h"'
expect_violation device/host.cc '#include "corpus/recordings/recording.h"'
expect_violation corpus/recordings/recording.cc '#include "triage/verdict.h"'
expect_violation triage/verdict.h '#include "fuzz/run/run.h"'
expect_violation corpus/recordings/recording.cc '#include "fuzz/engine/engine.h"'
expect_violation device/host.cc '#include "corpus/cases/case_name.h"'
expect_violation corpus/cases/case_name.cc '#include "fuzz/run/run.h"'
expect_violation corpus/cases/case_name.cc '#include <fuzz/run/run.h>'
expect_violation corpus/cases/case_name.cc '#include "fuzz/run/run.h"  // not "sim/word.h"'
expect_violation corpus/cases/kernel.cu '#include "triage/verdict.h"'
expect_violation corpus/cases/table.inc '#include "fuzz/run/run.h"'
expect_violation corpus/cases/random_test.cc '#include "triage/verdict.h"'
expect_violation device/cuda/targets.inc '#include "fuzz/run/run.h"'
expect_violation corpus/embedded_vectors.cc.in '#include "fuzz/run/run.h"'
expect_violation corpus/vector.cc '#include "fuzz/run/run.h"  // not "corpus/cases/tile.h"'
expect_violation fuzz/unit/unit_runner.cc '#include "fuzz/engine/engine.h"'
expect_violation fuzz/page/html_page.cc '#include "fuzz/testing/run_fixture.h"'
expect_violation device/host.cc '#include "device/testing/operations.h"'
expect_violation fuzz/loose.h '#include "sim/word.h"'
expect_violation fuzz/common/word.h '#include "sim/word.h"'
expect_violation sim/word.cc '#include HEADER'
expect_violation corpus/cases/tile.h '#include "device/device.h"'
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
