#!/usr/bin/env bash
# A survey that is killed (SIGKILL) before, in or after a random system call on its files and started
# again each time says what one says that nobody touched, but for times.
# Usage: [MMADIFF_KILLS=N] survey_kill_test.sh MMADIFF FAIL_IO_LIBRARY
set -u
m=$(realpath "$1") library=$(realpath "$2")
. "$(dirname "$0")/../testing/expect.sh"
disturb_with "$library"
# With the usual timeout a child that a loaded machine keeps waiting hangs after sixty readings of the clock.
survey() {  # FOLDER
  disturbed "$tmp/$1" survey --device=faulty:fraction_bits=23 --cases=800 --max_total_time=0 --quiet \
    --instr='sm_80/mma.m16n8k4.f32.tf32.tf32.f32,sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32' \
    --max_bytes=4e6 --timeout=10000h --out="$tmp/$1"
}
said() { grep -vE '"(seconds|stamp)":' "$1/survey.json"; }
recorded() { "$m" replay "$1" 2>&1 | tail -n 2; }

FAIL_IO_LOG=$tmp/calls survey uncut >"$out" 2>"$err"
is $? 1
said uncut | grep -q 'fraction_bits=23' || fail 'the uncut survey does not name the change'
ended_whole() {  # FOLDER CODE
  is "$2" 1
  is "$(diff <(said uncut) <(said "$1") | head -4)" ''
  is "$(recorded "$1")" "$(recorded uncut)"
  is "$(find "$1" -type f | wc -l)" "$(find uncut -type f | wc -l)"
  is "$(pgrep -f "survey-ask" | xargs -r ps -o ppid= -p | grep -x ' *1')" ''  # no child lives on
}
killed_often "${MMADIFF_KILLS:-50}" "$(wc -l <calls)" '' survey
ended
