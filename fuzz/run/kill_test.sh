#!/usr/bin/env bash
# A run that is killed (SIGKILL) before, in or after a random system call on its files and started
# again each time has the digest, the counts and the buckets of findings of a run that nobody
# touched. What a kill leaves depends on these calls alone, not on the time of day.
# Usage: [MMADIFF_KILLS=N] kill_test.sh MMADIFF FAIL_IO_LIBRARY
set -u
m=$(realpath "$1") library=$(realpath "$2")
. "$(dirname "$0")/../testing/expect.sh"
disturb_with "$library"
# 2 x 25 units, each flushed at once, so that kills fall between any two.
run() {  # FOLDER
  disturbed "$tmp/$1" run --device=faulty:fraction_bits=23 --cases=50000 --max_mismatches=0 --threads=2 --quiet --workdir="$tmp/$1" \
    --instr='sm_80/mma.m16n8k4.f32.tf32.tf32.f32,sm_89/mma.m16n8k4.f32.tf32.tf32.f32'
}
stats() { grep -E '^stat::(digest|cases|dot_products|mismatches|class\.[a-z_]+|event\.[a-z_]+):' "$1"; }
buckets() { (cd "$1/findings" && find . -name '*.txtpb' | sed 's/-[0-9a-f]*\.txtpb$//' | sort -u); }

FAIL_IO_LOG=$tmp/calls run uncut >"$out" 2>"$err"
is $? 1
stats "$out" >uncut.txt
resumed=0
ended_whole() {  # FOLDER CODE
  is "$2" 1
  is "$(stats "$out" | diff - uncut.txt | head -4)" ''
  resumed=$((resumed + $(stat_of resumed_units | grep . || echo 0)))
  # Each attempt files its own first case of a bucket; none of the buckets may be missing.
  is "$(comm -23 <(buckets uncut) <(buckets "$1"))" ''
}
calls=$(wc -l <calls)
# The first kill of a round leaves units behind: findings are filed before.
killed_often "${MMADIFF_KILLS:-100}" "$calls" $((calls * 9 / 10)) run
[ $resumed -gt 0 ] || fail 'no attempt ever resumed'
ended
