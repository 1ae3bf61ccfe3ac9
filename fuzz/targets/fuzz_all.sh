#!/usr/bin/env bash
# Runs every fuzz target for SECONDS, each with its own inputs, and prints a table. New inputs are
# kept in NEW_INPUTS.
# Usage: fuzz_all.sh SECONDS [BUILD [NEW_INPUTS]], BUILD as in CMakeLists.txt here [build-fuzz].
# Exit codes: 1: a target failed, and the last line names it; 2: bad arguments, or a target is not built.
set -u
here=$(cd "$(dirname "$0")" && pwd)
usage() { echo "fuzz_all.sh: $1" >&2; exit 2; }
seconds=${1-} build=${2:-$here/../../build-fuzz}
[[ $# -le 3 && $seconds =~ ^[1-9][0-9]{0,6}$ ]] ||
  usage 'give the number of seconds per target, at least 1: fuzz_all.sh SECONDS [BUILD [NEW_INPUTS]]'
mapfile -t names < <(cd "$here" && ls ./*_fuzz.cc | sed 's|^\./||; s|_fuzz\.cc$||')
for name in "${names[@]}"; do
  [ -x "$build/fuzz/targets/${name}_fuzz" ] ||
    usage "no $build/fuzz/targets/${name}_fuzz: build it as described at the top of $here/CMakeLists.txt"
done
inputs=${3:-$(mktemp -d)}
mkdir -p "$inputs" || usage "cannot create the folder $inputs"
export MMADIFF_FINDINGS=${MMADIFF_FINDINGS:-$inputs}
failed=()
printf '%-18s %10s %8s %7s  %s\n' target runs exec/s corpus result
for name in "${names[@]}"; do
  mkdir -p "$inputs/$name"
  "$build/fuzz/targets/${name}_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
    -print_final_stats=1 -artifact_prefix="$inputs/$name." "$inputs/$name" "$here/seeds/$name" \
    >"$inputs/$name.log" 2>&1
  code=$?
  stat_of() { sed -n "s/^stat::$1: *//p" "$inputs/$name.log"; }
  result=ok
  [ $code = 0 ] || { result="exit $code, $inputs/$name.log"; failed+=("$name"); }
  printf '%-18s %10s %8s %7s  %s\n' "$name" "$(stat_of number_of_executed_units)" \
    "$(stat_of average_exec_per_sec)" "$(find "$inputs/$name" -type f | wc -l)" "$result"
done
echo "$((${#names[@]} - ${#failed[@]})) of ${#names[@]} targets found nothing; new inputs in $inputs"
[ ${#failed[@]} = 0 ] || { echo "failed: ${failed[*]}"; exit 1; }
