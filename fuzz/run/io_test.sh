#!/usr/bin/env bash
# Every system call on the files of a run and of a recording goes wrong: it fails once, or from then
# on, does half of its work, or the process is killed before, in or after it. Whatever comes out is
# the undisturbed result or an error with a message, and the same line again without faults ends
# with the undisturbed result. Usage: [MMADIFF_IO_TRIES=N] io_test.sh MMADIFF FAIL_IO_LIBRARY
set -u
m=$(realpath "$1") library=$(realpath "$2")
[ -f "$library" ] || { echo "FAILED: $2, which disturbs system calls, is not built: ninja fail_io"; exit 1; }
tries=${MMADIFF_IO_TRIES:-1000000}  # of all, chosen by the seed
seed=${MMADIFF_IO_SEED:-$RANDOM}
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 2
row=sm_80/mma.m16n8k4.f32.tf32.tf32.f32
io=$tmp/io  # all that may go wrong lies here

command_of() {  # the scenario's arguments
  case $1 in
    record) echo record "$io/w" --device=faulty:none=0 --instr=$row --cases=20 --max_total_time=0 ;;
    clean) echo run --device=faulty:none=0 --instr=$row --cases=4200 --threads=2 --quiet --workdir="$io/w" ;;
    *) echo run --device=faulty:fraction_bits=23 --instr=$row --cases=2100 --threads=2 --quiet --max_mismatches=0 --workdir="$io/w" ;;
  esac
}
# A scenario, with a fault when FAIL_IO_CALL and the others are set. A hang is killed, late enough
# for any machine.
run() { timeout -k 1 300 env FAIL_IO_FOLDER="$io" FAIL_IO_CLOCK=1 LD_PRELOAD="$library" "$m" $(command_of "$1"); }
prepare() {  # the folder as it is before the scenario
  rm -rf "$io"
  mkdir "$io"
  [ "$1" != resume ] || cp -a half "$io/w"
}
# What must be equal: of a run its counts, of a recording what replay
# says of it (the device is the model) and its manifest without what the date changes.
result() {
  case $1 in
    record) "$m" replay "$io/w" 2>&1
            (cd "$io/w" && ls && grep -Ev '^(date|run|  xxh3|# xxh3):' recording.txtpb) 2>&1 ;;
    *) grep -E '^stat::(digest|cases|dot_products|mismatches|class\.[a-z_]+|event\.[a-z_]+):' "$2" ;;
  esac
}
resumed() { sed -n 's/^stat::resumed_units: //p' "$1"; }

# The undisturbed scenario: its result, and how often it makes each call.
declare -A uncut_code
uncut() {
  prepare "$1"
  FAIL_IO_LOG=$tmp/$1.calls run "$1" >"$1.out" 2>"$1.err"
  uncut_code[$1]=$?
  result "$1" "$1.out" >"$1.result"
}
modes_of() {
  echo "once ever kill_before kill_after"
  case $1 in write) echo "short kill_half" ;; read | pread) echo short ;; esac
}
errno_of() { case $1 in open) echo 24 ;; write) echo 28 ;; *) echo 5 ;; esac; }  # EMFILE ENOSPC EIO
plan() {  # lines SCENARIO CALL AT MODE
  local scenario call count at mode
  for scenario in fresh clean resume record; do
    sort "$scenario.calls" | uniq -c | while read -r count call; do
      for mode in $(modes_of "$call"); do
        for at in $(seq "$count"); do echo "$scenario $call $at $mode"; done
      done
    done
  done
}

failures=0
declare -A tried wrong
complain() {
  echo "WRONG $scenario $call $at $mode: $*; $(tail -c 300 err.txt | tr '\n' ' ')"
  bad=1
}
same_result() { result "$scenario" "$1" | cmp -s - "$scenario.result"; }
check_disturbed() {  # CODE
  case $1 in
    "${uncut_code[$scenario]}")
      same_result out.txt || complain "exit $1, another result"
      [ "$scenario" != resume ] || [ "$(resumed out.txt)" = "$(resumed resume.out)" ] ||
        complain "resumed $(resumed out.txt) units of $(resumed resume.out)" ;;
    137) [[ $mode = kill_* ]] || complain "killed" ;;
    2 | 3 | 5 | 6 | 75) [ -s err.txt ] || complain "exit $1 without a message" ;;
    *) complain "exit $1" ;;
  esac
}
check_again() {
  local code expected=${uncut_code[$scenario]}
  # A recording is whole or not there.
  [ "$scenario" != record ] || [ ! -e "$io/w" ] || { same_result out.txt && expected=2; }
  run "$scenario" >out.txt 2>err.txt
  code=$?
  [ $code = "$expected" ] || complain "the same line again: exit $code"
  same_result out.txt || complain "the same line again: another result"
}
try() {
  bad=0
  prepare "$scenario"
  FAIL_IO_CALL=$call FAIL_IO_AT=$at FAIL_IO_MODE=$mode FAIL_IO_ERRNO=$(errno_of "$call") \
    run "$scenario" >out.txt 2>err.txt
  check_disturbed $?
  check_again
  tried[$call $mode]=$((${tried[$call $mode]:-0} + 1))
  wrong[$call $mode]=$((${wrong[$call $mode]:-0} + bad))
  failures=$((failures + bad))
}

uncut fresh
uncut clean
[ "${uncut_code[fresh]} ${uncut_code[clean]}" = '1 0' ] || { cat fresh.err clean.err; exit 1; }
prepare fresh  # what a kill before the last block leaves
FAIL_IO_CALL=write FAIL_IO_AT=$(grep -c write fresh.calls) FAIL_IO_MODE=kill_before \
  run fresh >/dev/null 2>&1
mv "$io/w" half
uncut resume
[ "$(resumed resume.out)" -gt 0 ] || { echo "nothing to resume"; exit 1; }
uncut record
[ "${uncut_code[record]}" = 0 ] || { cat record.err; exit 1; }

plan >all.txt
shuf -n "$tries" --random-source=<(yes "$seed") all.txt >plan.txt
echo "$(wc -l <plan.txt) of $(wc -l <all.txt) tries, MMADIFF_IO_SEED=$seed"
while read -r scenario call at mode <&3; do try; done 3<plan.txt
printf '%-10s %-12s %6s %6s\n' call mode tries wrong
for key in "${!tried[@]}"; do
  printf '%-10s %-12s %6d %6d\n' $key "${tried[$key]}" "${wrong[$key]}"
done | sort
[ $failures = 0 ]
