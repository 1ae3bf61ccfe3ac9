#!/usr/bin/env bash
# The direction of includes: a file includes its own room and those before it in `rooms`, and only tests include testing/.
# The table of rooms in docs/contributing.md has the same order, and libraries are linked in it.
# Also where proto classes may appear, and what the arithmetic headers, which GPU compilers read too, may include.
# Then it breaks every rule on purpose, in a copy. Usage: include_test.sh SOURCE_FOLDER
set -u
folders=(sim device corpus triage fuzz)
# Folders without their own rooms are one room.
rooms=(sim device corpus/cases corpus triage
  fuzz/{verdict,output,unit,copies,gpu,engine,coverage,schedule,ask,folder,report,run,record,survey,compare,replay,page,bench,cli,targets,testing,cluster})
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

# FILE:LINE:PATH of every include, PATH with its quotes or angle brackets and nothing behind them; what is written in
# another way stays as it is.
includes() {
  grep -rnIE '(#|%:|\?\?=)[[:space:]]*(include|import)|^[[:space:]]*(include|import)[[:space:]]*["<]' "${folders[@]}" \
    --exclude-dir=third_party --exclude=*.sh --exclude=*.py --exclude=*.txt --exclude=*.md --exclude=*.sv --exclude=*.c |
    sed -E 's/^([^:]*:[0-9]*:)#include ("[^"]*"|<[^>]*>).*/\1\2/'
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
    [ -n "$right" ] && among "^$room/.*:\"($right)/" |
      breaks '^corpus/cases/.*:"corpus/cases/|^fuzz/[^:]*(_test\.cc|/testing/[^:]*):[0-9]+:"fuzz/testing/' "$room/ lies left of it"
  done
  among '^corpus/cases/.*:"device/' | breaks '^$' 'the generator needs sim/ alone'
  among ':".*/testing/' | breaks '^[^:]*(_test\.cc|/testing/[^:]*):' 'only tests include it'
  find fuzz -maxdepth 1 -type f ! -name CMakeLists.txt | sed 's/$/:1:  (fuzz has rooms)/'
  find fuzz -mindepth 1 -maxdepth 1 -type d | grep -vxF -f <(printf '%s\n' "${rooms[@]}") |
    sed 's/$/:1:  (name the room in include_test.sh)/'
  # Quoted includes name their folder: no path goes around the rule.
  among ':"[^/]*"$' | breaks ':"xxhash\.h"$' 'write the path from the root'
  among ":<($(IFS='|'; echo "${folders[*]}")|proto)/" | breaks '^$' 'write it in quotes'
  among ':[0-9]+:.*\.\./' | breaks '^$' 'no ..'
  among ':[0-9]+:' | breaks ':[0-9]+:("[a-z0-9_]+(/[A-Za-z0-9_-]+)*\.[a-z.]+"|<[A-Za-z0-9_./+-]+>)$' 'write #include "ROOM/FILE" or <FILE>'
  among ":\"($(IFS='|'; echo "${folders[*]}")|proto|docs|python)/" | breaks ':"(proto/[a-z_]+\.pb\.h|[^p][^":]*\.(h|inc))"$' 'include a header'
  among ':"docs/' | breaks '^$' 'no header is there'
  among '^' | breaks '^[^:]*\.(h|cc|cu|in|inc):' 'no such kind of file'
  for i in "${!folders[@]}"; do
    right=$(IFS='|'; echo "${folders[*]:$((i + 1))}")
    [ -z "$right" ] || grep -rnE "mmadiff_($right)\b" "${folders[$i]}" --include=CMakeLists.txt | breaks '^$' "${folders[$i]}/ lies left of it"
  done
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
listed=$(sed -n '/^| room of `fuzz/,/^$/s/^| \(`[^|]*`\) |.*/\1/p' "$root/docs/contributing.md" | tr -d '`,/' | xargs)
[ "$listed" = "$(printf '%s\n' "${rooms[@]}" | sed -n 's|^fuzz/||p' | xargs)" ] ||
  found+=$'\n'"docs/contributing.md:1: $listed  (another order of rooms)"
if [ -n "$found" ]; then
  printf '%s\n' "$found"
  exit 1
fi

# The test itself: each rule broken in a copy must be noticed, at its line or by its folder.
copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
cp -r "${folders[@]/#/$root/}" "$copy" || exit 2
failed=0 planted=()
plant() {  # file, perhaps a new one; line to add
  mkdir -p "$(dirname "$copy/$1")"
  printf '%s\n' "$2" >>"$copy/$1"
  planted+=("$1:$(wc -l <"$copy/$1"):")
}
plant sim/operation.cc '#include "device/device.h"'
plant device/host.cc '#include "corpus/recordings/recording.h"'
plant corpus/recordings/recording.cc '#include "triage/verdict.h"'
plant triage/verdict.h '#include "fuzz/run/run.h"'
plant corpus/recordings/recording.cc '#include "fuzz/engine/engine.h"'
plant device/host.cc '#include "corpus/cases/case_name.h"'
plant corpus/cases/case_name.cc '#include "fuzz/run/run.h"'
plant corpus/cases/case_name.cc '#include <fuzz/run/run.h>'
plant corpus/cases/case_name.cc '#include "fuzz/run/run.h"  // not "sim/word.h"'
plant corpus/cases/kernel.cu '#include "triage/verdict.h"'
plant corpus/cases/table.inc '#include "fuzz/run/run.h"'
plant corpus/cases/random_test.cc '#include "triage/verdict.h"'
plant device/cuda/targets.inc '#include "fuzz/run/run.h"'
plant corpus/embedded_texts.cc.in '#include "fuzz/run/run.h"'
plant corpus/vector.cc '#include "fuzz/run/run.h"  // not "corpus/cases/tile.h"'
plant fuzz/unit/unit_runner.cc '#include "fuzz/engine/engine.h"'
plant fuzz/page/html_page.cc '#include "fuzz/testing/run_fixture.h"'
plant device/host.cc '#include "device/testing/operations.h"'
plant fuzz/loose.h '#include "sim/word.h"'
plant fuzz/common/word.h '#include "sim/word.h"'
plant sim/word.cc '#include HEADER'
plant corpus/cases/tile.h '#include "device/device.h"'
plant fuzz/cli/run.cc '#include "proto/case.pb.h"'
plant corpus/recordings/recording.h '#include "proto/case.pb.h"'
plant fuzz/cli/run.cc '#include "../findings.h"'
plant fuzz/cli/run.cc '#include "cli.h"'
plant sim/operation.h '#include "absl/status/status.h"'
plant sim/round.h '#include <vector>'
plant sim/round.h '#include <vector>  // not <cstdint>'
for path in ./fuzz/run/run.h fuzz//run/run.h fuzz/./run/run.h proto/case.h docs/example/x.h fuzz/cluster/x.h fuzz/unit/x_test.cc; do
  plant corpus/vector.cc "#include \"$path\""
done
for line in '#import' '%:include' '/**/ #include' '#include_next' ' # include' $'#\\\ninclude'; do
  plant corpus/vector.cc "$line \"corpus/damage.h\""
done
for ending in inl hpp cuh def; do plant corpus/vector.$ending '#include "sim/word.h"'; done
plant sim/word_test.cc '#include "fuzz/testing/run_fixture.h"'
plant sim/testing/algorithms.h '#include "fuzz/testing/run_fixture.h"'
plant sim/CMakeLists.txt 'target_link_libraries(mmadiff_sim PUBLIC mmadiff_device)'
found=$(violations "$copy")
for at in "${planted[@]}"; do
  grep -qE "^($at|$(dirname "$at"):1:)" <<<"$found" || { echo "not noticed: $(sed -n "$(cut -d: -f2 <<<"$at")p" "$copy/${at%%:*}") in $at"; failed=1; }
done
# What an arithmetic header includes is one itself.
rm -rf "$copy/sim" && cp -r "$root/sim" "$copy"
echo '#include "sim/operation.h"' >>"$copy/sim/format.h"
violations "$copy" | grep -q '^sim/operation\.h:.*arithmetic' || { echo 'not noticed: an arithmetic header more'; failed=1; }
echo "${#planted[@]} plants"
exit $failed
