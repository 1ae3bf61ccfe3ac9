#!/usr/bin/env bash
# Runs every fuzz target for so many seconds and prints a table. What is found stays in NEW_INPUTS;
# regression cases of device_fuzz in its folder findings.
# Usage: fuzz_all.sh SECONDS [BUILD [NEW_INPUTS]], BUILD as in CMakeLists.txt here [build-fuzz].
set -u
here=$(cd "$(dirname "$0")" && pwd)
usage() { echo "$1; usage: fuzz_all.sh SECONDS [BUILD [NEW_INPUTS]]" >&2; exit 2; }
seconds=${1:-} build=${2:-$here/../../build-fuzz}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || usage "SECONDS is '$seconds'"
[ -x "$build/fuzz/targets/device_fuzz" ] || usage "$build has no fuzz targets"
build=$(realpath "$build") inputs=${3:-$(mktemp -d)}
failures=0
export MMADIFF_FINDINGS=${MMADIFF_FINDINGS:-$inputs/findings}
printf '%-18s %10s %8s %7s  %s\n' target runs exec/s corpus result
for source in "$here"/*_fuzz.cc; do
  name=$(basename "$source" _fuzz.cc)
  mkdir -p "$inputs/$name"
  "$build/fuzz/targets/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$inputs/$name." "$inputs/$name" "$here/seeds/$name" \
    >"$inputs/$name.log" 2>&1
  code=$?
  stat_of() { sed -n "s/^stat::$1: *//p" "$inputs/$name.log"; }
  result=ok
  [ $code = 0 ] || { result="exit $code, $inputs/$name.log"; failures=$((failures + 1)); }
  printf '%-18s %10s %8s %7s  %s\n' "$name" "$(stat_of number_of_executed_units)" \
    "$(stat_of average_exec_per_sec)" "$(find "$inputs/$name" -type f | wc -l)" "$result"
done
[ $failures = 0 ]
