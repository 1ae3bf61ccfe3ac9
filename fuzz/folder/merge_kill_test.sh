#!/usr/bin/env bash
# `merge` is killed (SIGKILL) before or in each system call on its files, into a new folder and into
# one that has units of its own: OUT is not there, or can be read without damage and has what it had;
# merging again gives OUT byte for byte as an uncut merge does; the sources stay as they were.
# Usage: [MMADIFF_KILLS=N] merge_kill_test.sh MMADIFF FAIL_IO_LIBRARY; N: only so many calls, by chance
set -u
m=$(realpath "$1") library=$(realpath "$2")
. "$(dirname "$0")/../testing/expect.sh"
disturb_with "$library"
mkdir io && cd io || exit 2  # all files of a merge are below

run() {  # FOLDER FLAGS...
  disturbed "$tmp/io" run --device=faulty:fraction_bits=23 --instr=sm_80/mma.m16n8k4.f32.tf32.tf32.f32 --cases=9000 \
    --threads=1 --max_mismatches=0 --quiet --workdir="$tmp/io/$1" "${@:2}" >/dev/null 2>../err
}
merge() { disturbed "$tmp/io" merge "$tmp/io/out" s0 s1 s2; }
# Without what a kill leaves of small files; of a log nothing may stay.
contents() {
  (cd "$1" && find . -type f ! -name writer.lock ! \( -name '*.tmp??????' ! -name 'units-*' \) -print0 | sort -z |
    xargs -0 sha256sum)
}
# Units that a folder has, 0 if it is no folder of a run; everything in it must be good.
units() {
  [ -e "$1/manifest.txtpb" ] || { echo 0; return; }
  "$m" status "$1" >../status.txt 2>&1 || { cat ../status.txt >&2; return 1; }
  sed -n 's/^  done *\([0-9]*\) of .*/\1/p' ../status.txt
}

for i in 0 1 2; do
  run s$i --shard=$i/3
  [ $? = 1 ] || fail "shard $i: $(cat ../err)"
done
FAIL_IO_LOG=$tmp/run.calls run whole
FAIL_IO_CALL=write FAIL_IO_AT=$(grep -c write ../run.calls) FAIL_IO_MODE=kill_before run half 2>/dev/null
rm -r whole
mv half s0 s1 s2 ..
prepare() {  # SCENARIO
  rm -rf ./* && cp -r ../s0 ../s1 ../s2 .
  [ "$1" = new ] || cp -r ../half out
}
[ "$(units ../half)" -gt 0 ] || fail 'the folder to merge into has no unit'
for scenario in new more; do
  prepare "$scenario"
  FAIL_IO_LOG=$tmp/$scenario.calls merge >../merge.txt || fail "the uncut merge: $(cat ../merge.txt)"
  contents out >../$scenario.out
  seq "$(wc -l <../$scenario.calls)" | sed "s/^/$scenario /"
done >../all.txt
contents . | grep -v ' ./out/' >../sources
[ "$(wc -l <../sources)" -gt 6 ] || fail 'too few sources'

shuf -n "${MMADIFF_KILLS:-1000000}" --random-source=<(yes "$seed") ../all.txt >../plan.txt
echo "kills at $(wc -l <../plan.txt) of $(wc -l <../all.txt) calls"
absent=0 whole=0
while read -r scenario at; do
  mode=$([ $((RANDOM % 2)) = 0 ] && echo kill_before || echo kill_half)
  where="$scenario, call $at, $mode"
  prepare "$scenario" && checks=$((checks + 1))
  before=$(units out)
  (FAIL_IO_CALL=any FAIL_IO_AT=$at FAIL_IO_MODE=$mode merge >../merge.txt 2>&1) 2>/dev/null
  code=$?
  [ $code = 137 ] || fail "$where: exit code $code: $(cat ../merge.txt)"
  after=$(units out) || fail "$where: damaged"
  [ "${after:-0}" -ge "$before" ] || fail "$where: $after units, $before before"
  [ -e out ] || absent=$((absent + 1))
  contents out 2>/dev/null | cmp -s - "../$scenario.out" && whole=$((whole + 1))
  merge >../merge.txt 2>&1 || fail "$where: merging again: $(cat ../merge.txt)"
  contents out | cmp -s - "../$scenario.out" || fail "$where: another result: $(contents out | diff - "../$scenario.out")"
  contents . | grep -v ' ./out/' | cmp -s - ../sources || fail "$where: the sources are others"
done <../plan.txt
echo "OUT was not there $absent times and whole $whole times"
ended
