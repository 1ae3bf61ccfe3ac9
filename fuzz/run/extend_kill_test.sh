#!/usr/bin/env bash
# A run whose cases are raised (`run --extend`) is killed (SIGKILL) before or in each system call on
# its files: every folder that is left can be read without damage, either the run of before or the
# new one, and the same command line again gives the digest of a run with all cases.
# Usage: [MMADIFF_KILLS=N] extend_kill_test.sh MMADIFF FAIL_IO_LIBRARY; N: only so many calls, by chance
set -u
m=$(realpath "$1") library=$(realpath "$2")
. "$(dirname "$0")/../testing/expect.sh"
disturb_with "$library"
run() {  # FOLDER CASES FLAGS...
  disturbed "$tmp/$1" run --device=faulty:none=0 --instr=sm_80/mma.m16n8k4.f32.tf32.tf32.f32 --cases="$2" \
    --threads=1 --quiet --workdir="$tmp/$1" "${@:3}"
}
digest() { grep '^stat::digest' "$1"; }
cases() { sed -n 's/^ *cases: //p' "$1/manifest.txtpb"; }

run before 5000 >/dev/null || fail "the run to be extended"
run fresh 9000 >fresh.txt || fail "the fresh run"
cp -r before uncut
FAIL_IO_LOG=$tmp/calls run uncut 9000 --extend >uncut.txt || fail "the uncut extension"
digest uncut.txt | cmp -s - <(digest fresh.txt) || fail "the digest of the uncut extension"
mapfile -t steps < <(seq "$(wc -l <calls)" | shuf --random-source=<(yes "$seed"))
steps=("${steps[@]:0:${MMADIFF_KILLS:-${#steps[@]}}}")
echo "kills at ${#steps[@]} of $(wc -l <calls) calls"
old=0
for at in "${steps[@]}"; do
  mode=$([ $((RANDOM % 2)) = 0 ] && echo kill_before || echo kill_half)
  rm -rf cut && cp -r before cut && checks=$((checks + 1))
  (FAIL_IO_AT=$at FAIL_IO_MODE=$mode run cut 9000 --extend >cut.txt 2>&1) 2>/dev/null
  code=$?
  [ $code = 137 ] || fail "call $at, $mode: exit code $code: $(cat cut.txt)"
  case $(cases cut) in
    5000) old=$((old + 1))
          "$m" status cut >status.txt || fail "call $at, $mode: $(cat status.txt)"
          run cut 5000 >/dev/null || fail "call $at, $mode: the run of before does not go on" ;;
    9000) run cut 9000 >cut.txt 2>&1 || fail "call $at, $mode: the new run does not go on: $(cat cut.txt)" ;;
    *) fail "call $at, $mode: $(cases cut) cases" ;;
  esac
  run cut 9000 --extend >cut.txt 2>&1 || fail "call $at, $mode: $(cat cut.txt)"
  digest cut.txt | cmp -s - <(digest fresh.txt) || fail "call $at, $mode: another digest"
done
echo "$old kills before the new manifest"
ended
