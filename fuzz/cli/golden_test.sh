#!/usr/bin/env bash
# The same exit code, output and messages as in golden.txt for command lines of every verb: bits, counts
# and digests that no rearrangement of the code may change. Usage:
#   golden_test.sh MMADIFF [--update [--exit_codes]]    changed exit codes are stored only with the last
# No line has --device=host: which instructions it has depends on the CPU.
set -u -o pipefail
m=$(realpath "$1") && [ -x "$m" ] || { echo "no program $1"; exit 2; }
root=$(realpath "$(dirname "$0")/../..")
golden=$root/fuzz/cli/golden.txt corpus=$root/corpus
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
mmadiff() { (exec -a ./mmadiff "$m" --quiet "$@"); }
# Without what differs from time to time and from machine to machine: times, rates, folders.
steady() {
  sed -E 's/^(stat::(seconds|dot_products_per_second): ).*/\1_/
    s/"(seconds|dot_products_per_second|rate|date)": *("[^"]*"|[^],}]*)/"\1":_/g
    s/ +[0-9.]+( [kMGT])?  (differs|rate|dropped|nothing|the device)/  \2/
    s#mmadiff-runs/[0-9a-f]+#RUN#g; s#'"$tmp"'#TMP#g; s#'"$root"'#ROOT#g' "$@"
}

failures=0 refused=0 lines=()
refuse() { echo "REFUSED: $*: $line"; refused=1; }
while read -r code hash line; do
  eval "$line" >out 2>err </dev/null; got=$?
  steady out >steady_out; steady err >steady_err
  now=$({ cat steady_out; echo '-- stderr'; cat steady_err; } | sha256sum | cut -c1-16)
  lines+=("$got $now $line")
  [ -s steady_out ] || { [ ! -s out ] && [ -s steady_err ]; } || refuse 'no output'
  [[ $got != 12[67] ]] || refuse "exit code $got, no such program"
  [ "$got" = "$code" ] || [ "${3:-}" = --exit_codes ] || refuse "exit code $got, not $code"
  [ "$got $now" = "$code $hash" ] && continue
  failures=$((failures + 1))
  printf 'FAILED: %s\n  exit code %s, not %s; output %s, not %s\n' "$line" "$got" "$code" "$now" "$hash"
  head -5 steady_out; head -5 steady_err
done <"$golden"
if [ "${2:-}" = --update ]; then
  [ "${#lines[@]}" -ge 30 ] && [ "$refused" = 0 ] || { echo "left $golden as it was"; exit 1; }
  printf '%s\n' "${lines[@]}" >"$golden" && echo "updated $golden"
  exit
fi
printf '%d command lines, %d failures\n' "${#lines[@]}" "$failures"
[ "${#lines[@]}" -ge 30 ] && [ "$failures" = 0 ] && [ "$refused" = 0 ]
