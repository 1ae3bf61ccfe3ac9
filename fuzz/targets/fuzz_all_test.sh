#!/usr/bin/env bash
# fuzz_all.sh on a build of scripts that stand in for the targets. Usage: fuzz_all_test.sh
set -u
here=$(cd "$(dirname "$0")" && pwd) work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
expect() {  # WHAT CODE TEXT: of the last output
  [ "$code" = "$2" ] && grep -qF -- "$3" <<<"$out" && return
  echo "FAILED: $1: exit $code, wanted $2 and '$3':"; echo "$out"; failures=$((failures + 1))
}
all() { out=$("$here/fuzz_all.sh" "$@" 2>&1); code=$?; }
targets=$work/build/fuzz/targets
mkdir -p "$targets"
for source in "$here"/*_fuzz.cc; do
  target=$targets/$(basename "$source" .cc)
  # Leaves its name in the folder for new inputs, the last but one argument.
  printf '#!/bin/sh\nfor last in "$@"; do new=$was was=$last; done\n%s\n' \
    'basename "$0" >"$new/mine"; echo stat::number_of_executed_units: 7' >"$target"
  chmod +x "$target"
done
count=$(ls "$targets" | wc -l)
all 1 "$work/build" "$work/new"
expect 'all pass' 0 "$count of $count targets found nothing"
[ "$(grep -c ' 7 .* ok$' <<<"$out")" = "$count" ] || { echo "FAILED: a row for each: $out"; failures=1; }
for folder in "$work"/new/*/; do
  [ "$(cat "$folder/mine")" = "$(basename "$folder")_fuzz" ] || { echo "FAILED: $folder"; failures=1; }
done
printf 'exit 77\n' >>"$targets/device_fuzz"
printf 'exit 4\n' >>"$targets/cubin_fuzz"
all 1 "$work/build" "$work/new"
expect 'two fail' 1 'failed: cubin device'
expect 'two fail' 1 "exit 77, $work/new/device.log"
for bad in '' 0 -1 x 1.5; do
  all "$bad" "$work/build"
  expect "seconds '$bad'" 2 'fuzz_all.sh: give the number of seconds'
done
all
expect 'no arguments' 2 'fuzz_all.sh: give the number of seconds'
all 1 "$work/build" "$work/new" more
expect 'too many' 2 'fuzz_all.sh: give the number of seconds'
all 1 "$work/none"
expect 'no build' 2 'fuzz_all.sh: no '
all 1 "$work/build" /dev/null/x
expect 'no folder' 2 'fuzz_all.sh: cannot create the folder'
[ $failures = 0 ]
