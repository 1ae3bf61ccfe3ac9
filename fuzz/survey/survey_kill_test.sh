#!/usr/bin/env bash
# A survey that is killed (SIGKILL) before, in or after a random system call on its files and started
# again each time says what one says that nobody touched, but for times.
# Usage: [MMADIFF_KILLS=N] survey_kill_test.sh MMADIFF FAIL_IO_LIBRARY
set -u
m=$(realpath "$1") library=$(realpath "$2")
[ -f "$library" ] || { echo "FAILED: $2, which disturbs system calls, is not built: ninja fail_io"; exit 1; }
kills=${MMADIFF_KILLS:-50}
seed=${MMADIFF_KILL_SEED:-$RANDOM}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
RANDOM=$seed
echo "$kills kills, MMADIFF_KILL_SEED=$seed"
# Each reading of the clock of FAIL_IO_CLOCK is a second: with the usual timeout a child that a loaded machine keeps
# waiting hangs after sixty readings.
survey() {  # FOLDER
  env FAIL_IO_FOLDER="$tmp/$1" FAIL_IO_CLOCK=1 FAIL_IO_CALL=any LD_PRELOAD="$library" \
    "$m" survey --device=faulty:fraction_bits=23 --cases=800 --max_total_time=0 --quiet \
    --instr='sm_80/mma.m16n8k4.f32.tf32.tf32.f32,sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32' \
    --max_bytes=4e6 --timeout=10000h --out="$tmp/$1"
}
said() { grep -vE '"(seconds|stamp)":' "$1/survey.json"; }
recorded() { "$m" replay "$1" 2>&1 | tail -n 2; }
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

FAIL_IO_LOG=$tmp/calls survey uncut >uncut.txt 2>uncut.err
[ $? = 1 ] || fail "the uncut survey: $(cat uncut.err)"
said uncut | grep -q 'fraction_bits=23' || fail "the uncut survey does not name the change"
calls=$(wc -l <calls)
modes=(kill_before kill_after kill_half)
killed=0 rounds=0
while [ $killed -lt "$kills" ]; do  # several surveys, each from the beginning to its end
  rounds=$((rounds + 1))
  while :; do
    at=$((1 + RANDOM % calls))
    [ $killed -lt "$kills" ] || at=0
    (FAIL_IO_AT=$at FAIL_IO_MODE=${modes[RANDOM % 3]} survey "cut$rounds" >cut.txt 2>cut.err) 2>/dev/null
    code=$?
    [ $code = 137 ] || break
    killed=$((killed + 1))
  done
  [ $code = 1 ] || { fail "exit code $code: $(cat cut.err)"; break; }
  cmp -s <(said uncut) <(said "cut$rounds") ||
    fail "another survey in round $rounds: $(diff <(said uncut) <(said "cut$rounds") | head -4)"
  cmp -s <(recorded uncut) <(recorded "cut$rounds") || fail "another recording in round $rounds"
  [ "$(find "cut$rounds" -type f | wc -l)" = "$(find uncut -type f | wc -l)" ] ||
    fail "other files in round $rounds: $(ls "cut$rounds")"
  [ -z "$(pgrep -f "survey-ask" | xargs -r ps -o ppid= -p | grep -x ' *1')" ] || fail "a child lives on"
done
echo "$killed kills in $rounds surveys, $failures failures"
[ $failures = 0 ]
