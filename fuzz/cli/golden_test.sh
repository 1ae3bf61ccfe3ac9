#!/usr/bin/env bash
# The same exit code and the same output as in golden.txt for command lines of every verb: bits, counts
# and digests that no rearrangement of the code may change. Usage: golden_test.sh MMADIFF [--update]
set -u -o pipefail
m=$(realpath "$1")
golden=$(realpath "$(dirname "$0")")/golden.txt
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
mmadiff() { "$m" --quiet "$@"; }
# Without what differs from time to time and from machine to machine: times, rates, folders.
steady() { grep -vE '^stat::(seconds|dot_products_per_second)|"(seconds|dot_products_per_second|rate|date)"' |
  sed -E 's/ +[0-9.]+( [kMGT])?  (differs|rate|dropped|nothing|the device)/  \2/; s#mmadiff-runs/[0-9a-f]+#RUN#g'; }

failures=0 lines=()
while read -r code hash line; do
  out=$(eval "$line" 2>err </dev/null); got=$?
  now=$(steady <<<"$out" | sha256sum | cut -c1-16)
  lines+=("$got $now $line")
  [ "$got $now" = "$code $hash" ] && continue
  failures=$((failures + 1))
  printf 'FAILED: %s\n  exit code %s, not %s; output %s, not %s\n' "$line" "$got" "$code" "$now" "$hash"
  { steady <<<"$out"; cat err; } | head -5
done <"$golden"
[ "${2:-}" = --update ] && { printf '%s\n' "${lines[@]}" >"$golden"; echo "updated $golden"; exit 0; }
printf '%d command lines, %d failures\n' "${#lines[@]}" "$failures"
[ "${#lines[@]}" -ge 30 ] && [ "$failures" = 0 ]
