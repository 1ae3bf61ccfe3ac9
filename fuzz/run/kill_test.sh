#!/usr/bin/env bash
# A run that is killed (SIGKILL) before, in or after a random system call on its files and started
# again each time has the digest, the counts and the buckets of findings of a run that nobody
# touched. What a kill leaves depends on these calls alone, not on the time of day.
# Usage: [MMADIFF_KILLS=N] kill_test.sh MMADIFF FAIL_IO_LIBRARY
set -u
m=$(realpath "$1") library=$(realpath "$2")
[ -f "$library" ] || { echo "FAILED: $2, which disturbs system calls, is not built: ninja fail_io"; exit 1; }
kills=${MMADIFF_KILLS:-100}
seed=${MMADIFF_KILL_SEED:-$RANDOM}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
RANDOM=$seed
echo "$kills kills, MMADIFF_KILL_SEED=$seed"
# 2 x 25 units, each flushed at once (FAIL_IO_CLOCK), so that kills fall between any two.
run() {  # FOLDER
  env FAIL_IO_FOLDER="$tmp/$1" FAIL_IO_CLOCK=1 FAIL_IO_CALL=any LD_PRELOAD="$library" \
    "$m" run --device=faulty:fraction_bits=23 \
    --instr='sm_80/mma.m16n8k4.f32.tf32.tf32.f32,sm_89/mma.m16n8k4.f32.tf32.tf32.f32' --cases=50000 --max_mismatches=0 --threads=2 --quiet --workdir="$tmp/$1"
}
stats() { grep -E '^stat::(digest|cases|dot_products|mismatches|class\.[a-z_]+|event\.[a-z_]+):' "$1"; }
buckets() { (cd "$1/findings" && find . -name '*.txtpb' | sed 's/-[0-9a-f]*\.txtpb$//' | sort -u); }
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

FAIL_IO_LOG=$tmp/calls run uncut >uncut.txt 2>uncut.err
[ $? = 1 ] || fail "the uncut run: $(cat uncut.err)"
calls=$(wc -l <calls)
modes=(kill_before kill_after kill_half)
killed=0 rounds=0 resumed=0
while [ $killed -lt "$kills" ]; do  # several runs, each from the beginning to its end
  rounds=$((rounds + 1))
  at=$((calls * 9 / 10))  # the first kill of a round leaves units behind: findings are filed before
  while :; do
    [ $killed -lt "$kills" ] || at=0
    (FAIL_IO_AT=$at FAIL_IO_MODE=${modes[RANDOM % 3]} run "cut$rounds" >cut.txt 2>cut.err) 2>/dev/null
    code=$?
    [ $code = 137 ] || break
    killed=$((killed + 1))
    at=$((1 + RANDOM % calls))
  done
  [ $code = 1 ] || { fail "exit code $code: $(cat cut.err)"; break; }
  stats cut.txt | cmp -s - <(stats uncut.txt) ||
    fail "another result in round $rounds: $(stats cut.txt | diff - <(stats uncut.txt) | head -4)"
  resumed=$((resumed + $(sed -n 's/^stat::resumed_units: //p' cut.txt)))
  # Each attempt files its own first case of a bucket; none of the buckets may be missing.
  missing=$(comm -23 <(buckets uncut) <(buckets "cut$rounds"))
  [ -z "$missing" ] || fail "no finding in round $rounds: $missing"
done
[ $resumed -gt 0 ] || fail "no attempt ever resumed"
echo "$killed kills in $rounds runs, $resumed units were not run twice, $failures failures"
[ $failures = 0 ]
