#!/usr/bin/env bash
# Surveys on the driver for tests (device/cuda/testing/fake_driver.cc), of rows that trap, crash, hang, lie
# or are mislaid, and of a GPU that is lost: each comes home.
# Usage: gpu_survey_test.sh MMADIFF MMADIFF_ON_FAKE_GPU
set -u
m=$(realpath "$2") plain=$(realpath "$1") device=cuda:0
. "$(dirname "$0")/../testing/expect.sh"
export MMADIFF_LIBCUDA=
# patient SECONDS COMMAND...: with SECONDS, then 4, 16 and 64 times as many for @, until COMMAND succeeds: how far a survey gets in
# a second depends on the machine.
patient() {
  local seconds=$1 i
  shift
  for i in 1 2 3 4; do
    "${@//@/$seconds}" && return
    seconds=$((4 * seconds))
  done
  fail "$*: $(tail -n 2 "$err")"; cat "$out"
}
# survey_of CODE FOLDER LIMIT PATTERN COMMAND: a survey of f16 or more on a program, in a new folder.
survey_of() {
  rm -rf "$2"
  timeout 7200 "$plain" survey --out="$2" --instr="$instr" $3 --quiet --device="exec:$5" >"$out" 2>"$err"
  [ $? = "$1" ] && grep -qE -- "$4" "$out" "$err"
}

f16=sm_90/mma.m16n8k16.f32.f16.f16.f32
twelve=$f16,sm_90/mma.m16n8k8.f32.f16.f16.f32,sm_90/mma.m16n8k8.f32.tf32.tf32.f32
twelve+=,sm_90/mma.m16n8k4.f32.tf32.tf32.f32,sm_90/mma.m16n8k16.f32.bf16.bf16.f32
twelve+=,sm_90/mma.m16n8k8.f32.bf16.bf16.f32,sm_90/mma.m8n8k4.f64.f64.f64.f64
twelve+=,sm_90/mma.m16n8k32.s32.s8.s8.s32,sm_90/mma.m16n8k32.s32.u8.s8.s32
twelve+=,sm_90/mma.m16n8k8.f16.f16.f16.f16,sm_90/mma.m16n8k16.f16.f16.f16.f16,sm_90/mma.m16n8k16.s32.s8.s8.s32

# Twelve rows, four of which go wrong in a way of their own: the others are complete, if the timeout leaves them the time.
complete='^\| sm_90.* \| agrees \| agrees \| all [0-9]+ agree \| .* \| 0 of .* \| yes \|$'
four() {
  rm -rf four
  FAKE_CUDA_ROWS=trap@m16n8k8.f32.tf32,hang@m16n8k4.f32.tf32,lies@m16n8k8.f32.bf16,mislaid@m16n8k32.s32.u8 \
    "$m" survey --device=cuda:0 --out=four --max_total_time=0 --quiet --instr=$twelve --cases=300 --timeout="$1s" >"$out" 2>"$err"
  [ $? = 3 ] && [ "$(grep -cE "$complete" "$out")" = 8 ]
}
patient 4 four @
count '^\* \*\*sm_90/mma.m16n8k8.f32.tf32.tf32.f32\*\*: traps in layout: .*CUDA error 719.*; on one execution with every operand \+0$' 1
count '^\* \*\*sm_90/mma.m16n8k4.f32.tf32.tf32.f32\*\*: hangs in layout: .*not finished after [0-9ms]+.*; on one execution' 1
count '^\* \*\*sm_90/mma.m16n8k8.f32.bf16.bf16.f32\*\*: ' 2  # its questions, and `decoding`
count '^\* \*\*sm_90/mma.m16n8k32.s32.u8.s8.s32\*\*: different layout: ' 1
[ "$(grep -m1 '^\* ' "$out" | grep -c m16n8k8.f32.bf16)" = 1 ] || fail 'what lies is first'
[ "$(find four -type f | wc -l)" -le 9 ] || fail "more than nine files"
"$plain" replay four >replayed.txt 2>&1
grep -q 'FLAKY\|damage\|bytes skipped' replayed.txt && fail "replay finds damage"
grep 'MISMATCH sm_90' replayed.txt | grep -qv 'm16n8k8.f32.bf16' && fail "replay refutes another row"
cp -r four twin
"$plain" survey --compare four twin >same.txt 2>&1 || fail "a survey differs from itself: $(cat same.txt)"

# The same rows on a GPU without faults: what differs is what went wrong.
surveyed 0 -- good --instr=$twelve --cases=300
count '^None\.$' 1
"$plain" replay good >replayed.txt 2>&1 || fail "replay of a good survey: $(tail -n 3 replayed.txt)"
"$plain" survey --compare good four >differ.txt 2>&1
[ $? = 1 ] || fail "the two surveys do not differ"
[ "$(grep -oE '^sm_90/[^:]*' differ.txt | sort -u | wc -l)" = 4 ] || { fail "rows that differ"; cat differ.txt; }

# Traps in the run alone, a process that crashes, a GPU that is lost and comes back.
surveyed 3 FAKE_CUDA_ROWS=trap_large@m16n8k8.f32.f16 -- large --instr=$f16,sm_90/mma.m16n8k8.f32.f16.f16.f32 --cases=300
count 'traps in run: .*sm_90/mma.m16n8k8.f32.f16.f16.f32@g' 1
surveyed 3 FAKE_CUDA_ROWS=crash@m16n8k8.f32.f16 -- crash --instr=$f16,sm_90/mma.m16n8k8.f32.f16.f16.f32 --cases=300
count 'traps in layout: .*signal 11' 1
two=$f16,sm_90/mma.m16n8k8.f32.f16.f16.f32
surveyed 75 FAKE_CUDA_ROWS=lost@m16n8k8.f32.f16 FAKE_CUDA_LOST="$tmp/is_lost" \
  -- lost --instr=$two --cases=300
grep -q 'the device is lost' "$err" || fail "nobody says that the GPU is lost: $(cat "$err")"
grep -q 'layout of sm_90/mma.m16n8k8' "$out" || fail "nobody says what was not reached"
rm is_lost
surveyed 0 -- lost --instr=$two --cases=300  # it is back
surveyed 0 -- never_lost --instr=$two --cases=300
said() { grep -vE '"(seconds|stamp)":' "$1/survey.json"; }
cmp -s <(said lost) <(said never_lost) || fail "another survey after the GPU was lost"

# A program that hangs in one of two rows, of few operands.
f64=sm_90/mma.m8n8k4.f64.f64.f64.f64
printf '%s\n' '#!/bin/sh' 'case $MMADIFF_INSTRUCTION in *m16n8k4*) exec sleep 1000;; esac' \
  "exec $plain eval \"\$MMADIFF_INSTRUCTION\"" >half.sh
half() {
  survey_of 3 half "--cases=3 --max_total_time=0 --timeout=$1s" "m16n8k4.f32.tf32.tf32.f32\*\*: fails in layout: .* for [0-9ms]+; killed" 'sh half.sh' &&
    grep -q '^| sm_90/mma.m8n8k4.* agrees .* 0 of ' "$out"
}
instr=$f64,sm_90/mma.m16n8k4.f32.tf32.tf32.f32
patient 1 half @

# A program that takes 5 ms for a line, ten times as long as makes it slow: something of every stage.
mkfifo empty
cat >slow.sh <<EOF
exec 9<>$tmp/empty
"$plain" eval "\$MMADIFF_INSTRUCTION" | while read -r line; do
  case \$line in \#*) ;; *) read -rt 0.005 -u 9;; esac
  echo "\$line"
done
EOF
instr=$f16
patient 20 survey_of 75 slow --max_total_time=@s \
  '^\| sm_90/mma.m16n8k16.* \| agrees, dot products only \| agrees, dot products only \| all ([3-9]|1[0-9]) agree; not asked: .*payloads: slow \| all [0-9]+ equal \| 0 of ' 'bash slow.sh'
"$plain" replay slow >replayed.txt 2>&1 || fail "replay of a slow survey: $(tail -n 3 replayed.txt)"

# A process between a survey and its device is stopped for good.
instr=$f64
printf '%s\n' '#!/bin/sh' 'kill -STOP $PPID' "exec $plain eval \"\$MMADIFF_INSTRUCTION\"" >stops.sh
quick='--cases=3 --max_total_time=0 --timeout=@s'
patient 1 survey_of 3 stopped "$quick" \
  'm8n8k4.f64.f64.f64.f64\*\*: fails in layout: .* the process that watches it was stopped' 'exec sh stops.sh'

printf '%s\n' '#!/bin/sh' 'kill -STOP $(ps -o ppid= -p $(ps -o ppid= -p $PPID))' \
  "exec $plain eval \"\$MMADIFF_INSTRUCTION\"" >stops.sh  # the one above the process that asks
patient 1 survey_of 0 stopped_above "$quick" '^\| sm_90/mma.m8n8k4.* agrees .* 0 of ' 'exec sh stops.sh'

# All operand sources and sizes of an instruction that has several.
surveyed 0 -- wgmma --instr=sm_90/wgmma.m64n8k16.f32.f16.f16 --cases=20
count 'wgmma.* \| agrees, also m64n16k16 m64n24k16 m64n64k16 m64n128k16 m64n256k16 ' 2

# A folder of another survey, of another GPU, of something else.
surveyed 2 -- lost --instr=$f16 --cases=300
surveyed 2 FAKE_CUDA_NAME=Another -- lost --instr=$two --cases=300
mkdir mine && : >mine/file
surveyed 2 -- mine --instr=$f16 --cases=300
surveyed 4 FAKE_CUDA_FAILS=cuInit -- none --instr=$f16 --cases=300
surveyed 2 -- none --instr=$f16  # a run without an end
printf x | dd of=lost/answers.log bs=1 seek=2000 conv=notrunc 2>/dev/null
surveyed 5 -- lost --instr=$two --cases=300
"$plain" survey --compare lost good >"$out" 2>&1
[ $? = 5 ] || fail "a damaged folder is compared"

# Pages that were edited are damage.
sed -i 's/None\./Nothing at all./' good/survey.md
"$plain" replay good >replayed.txt 2>&1
[ $? = 5 ] || fail "an edited page is no damage"
grep -q 'survey.md: does not match' replayed.txt || fail "nobody says which page was edited"
"$plain" survey --compare good four >differ.txt 2>&1
[ $? = 5 ] || fail "an edited survey is compared"

ended
