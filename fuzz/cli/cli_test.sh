#!/usr/bin/env bash
# The command line as a stranger uses it: every verb with good and bad input, its exit code, what goes
# to stdout and what to stderr. Usage: cli_test.sh MMADIFF
set -u
m=$(realpath "$1")
script=$(realpath "$(dirname "$0")/../../mmadiff")
observations=$(dirname "$script")/corpus/observations
. "$(dirname "$0")/../testing/expect.sh"
mounted=
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$tmp"' EXIT
unset NO_COLOR
mma=sm_90/mma.m16n8k16.f32.f16.f16.f32
fma=x86/vfmadd231ss
simulator="exec:'$m' eval \$MMADIFF_INSTRUCTION"

# Waits until the process $pid is so far that the command succeeds, or has ended.
await() { until "$@" >/dev/null 2>&1 || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done; }
run() { local wanted=$1; shift; expect "$wanted" run --threads=1 "$@"; }

# ---- The program itself
expect 0 --help; says 'replay'; silent "$err"
expect 0 -h; expect 0 --version; says 'mmadiff 0.'; silent "$err"
for verb in run replay minimize explain race identify list gen eval check layout record mutants probe changes; do
  expect 0 $verb --help; says "$verb"; silent "$err"
done
# first_steps PROGRAM: without arguments it prints at most five commands to try. Each works as printed; `run`, which may
# take a minute on a GPU, is only planned.
first_steps() {
  local step
  "$1" >"$tmp/steps" 2>"$err"; is $? 2; warns 'no verb'
  [ "$(wc -l <"$tmp/steps")" -le 5 ] || fail 'more than five commands'
  is "$(grep -c '[^ ]  # [a-z]' "$tmp/steps")" "$(wc -l <"$tmp/steps")"
  has "$tmp/steps" 'exec:'; has "$tmp/steps" ' help  # '
  while read -r step; do
    bash -c "${step/ run  # / run --dry_run  # }" >"$out" 2>"$err" </dev/null; is "$? $step" "0 $step"
    case $step in *' infer '*) says 'fraction_bits=13' ;; *exec:*) says 'x86/vdpbf16ps   1000' ;; esac
  done <"$tmp/steps"
  rm -r mmadiff-runs
}
mkdir 'first steps'; ln -s "$m" 'first steps/mmadiff'; ln -s "$(dirname "$observations")" 'first steps/corpus'
first_steps "$m"; first_steps 'first steps/mmadiff'
cd 'first steps' || exit 2
first_steps ./mmadiff; has "$tmp/steps" 'mmadiff infer --device=recorded:corpus/observations/'
cd "$tmp" || exit 2
expect 2 rnu; silent "$out"
expect 2 run --no_such_flag; warns no_such_flag; silent "$out"
expect 2 list --color=green; expect 2 list --error_exitcode=0; expect 2 list --error_exitcode=256

# ---- list
expect 0 list; is "$(wc -l <"$out")" "$("$m" list instructions | wc -l)"; silent "$err"
says "$mma"; plain
for what in instructions devices strategies formats vectors differences; do
  expect 0 list $what; silent "$err"
  expect 0 list $what --json; json
done
expect 0 list instructions --evidence; says 'published: '; says 'fused_sum('
expect 0 list vectors; says 'khattak_mikaitis_2025/floor_h100'; says 'observed 0000000b'
expect 0 list differences; says 'MMA-Sim 2.1.1'; says 'the model'
expect 2 list planets; warns planets; silent "$out"
is "$("$m" list >/dev/full 2>"$err"; echo $?)" 6; warns 'could not be written'

# ---- layout
expect 0 layout $mma; silent "$err"; is "$(wc -l <"$out")" $((1 + 16 * 16 + 16 * 8 + 2 * 16 * 8))
expect 0 layout $mma --csv; says 'matrix,block,row,column,lane,register,bit'; says 'A,0,15,15,31,3,16'
expect 0 layout sm_90/wgmma.m64n8k16.f32.f16.f16 --csv; says 'A,0,0,8,0,32,0'; says 'A_lanes,0,16,0,32,0,0'
expect 0 layout sm_120/mma.m16n8k32.mxf8f6f4.f32.e4m3.e2m1.f32.ue8m0 --csv; says 'SA,0,10,0,9,0,0'
expect 0 layout rdna3/v_wmma_f32_16x16x16_f16 --csv; says 'A,0,3,2,3,1,0'; says 'A,0,3,2,19,1,0'
expect 0 layout gfx942/v_smfmac_f32_16x16x32_f16 --csv; says 'metadata,0,1,3,17,0,4'
expect 0 layout hopper/mma.m16n8k16.f32.f16.f16.f32
expect 2 layout sm_90/mma.m16n8k16.f32.f16.f16.f33; warns "nearest names: $mma"; silent "$out"
expect 2 layout; expect 2 layout --json --csv $mma; warns 'either --csv or --json'

# ---- gen | eval | check on one row of each family and kind of format
sample="x86/vdpbf16ps x86/vfmadd231sd x86/vpdpwssds x86/tmmultf32ps arm/bfmmla arm/bfdot.ebf arm/usmmla
sm_70/mma.m8n8k4.f32.f16.f16.f16 sm_80/mma.m16n8k16.f16.f16.f16.f16 sm_80/mma.m16n8k8.f32.tf32.tf32.f32
sm_90/mma.m16n8k4.rp.f64.f64.f64.f64 sm_90/mma.m16n8k32.f32.e4m3.e5m2.f32
sm_120/mma.m16n8k32.f8f6f4.f16.e2m1.e3m2.f16 sm_120/mma.m16n8k32.mxf8f6f4.f32.e5m2.e2m3.f32.ue8m0
sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0 sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x
sm_80/mma.m16n8k64.satfinite.s32.s4.u4.s32 sm_75/mma.m8n8k128.s32.b1.b1.s32.xor.popc
sm_90/wgmma.m64n16k16.f32.bf16.bf16 gfx908/v_mfma_f32_4x4x4f16 gfx90a/v_mfma_f32_4x4x2bf16
gfx942/v_mfma_f32_16x16x32_fp8_bf8 $("$m" list | tail -n 1)"
while read -r row; do
  checks=$((checks + 1))
  "$m" gen "$row" --cases=3 >gen.txt 2>"$err" && "$m" eval "$row" <gen.txt >eval.txt 2>>"$err" &&
    "$m" check "$row" <eval.txt >"$out" 2>>"$err" || fail "gen, eval, check of $row"
  silent "$err"
  is "$(sed '$d' eval.txt | cut -d' ' -f1)" "$(cut -d' ' -f1 gen.txt)"
  lines=$(grep -vc '^#' gen.txt); says "$row: $lines of $lines equal"
done < <(printf '%s\n' $sample)
"$m" gen $mma --cases=4 >four.txt; is "$(head -n 2 four.txt)" "# instruction: $mma
# lines: 512"
"$m" gen $mma --cases=2 >two.txt; "$m" gen $mma --cases=2 --first=2 >>two.txt
is "$(grep -v '^#' two.txt)" "$(grep -v '^#' four.txt)"
expect 0 gen $fma --cases=2^4; is "$(wc -l <"$out")" 19
expect 0 gen $fma --cases=5 --seed=18446744073709551615 --strategy=bits --first=18446744073709551000
is "$(wc -l <"$out")" 8
expect 2 gen $fma --cases=many; warns "'many' is not a count"
expect 2 gen $fma --seed=-1; expect 2 gen $fma --strategy=mixd; warns mixed
expect 2 gen x86/vfmadd231s; warns $fma
is "$("$m" gen $mma >/dev/full 2>"$err"; echo $?)" 6; warns 'standard output could not be written'
is "$("$m" eval $mma <four.txt >/dev/full 2>"$err"; echo $?)" 6; is "$(wc -l <"$err")" 1
is "$("$m" gen $mma --cases=1e9 2>"$err" | head -n 1 | wc -l)" 1; silent "$err"  # a closed pipe

# ---- eval and check: bad lines are named
one=3f800000 two=40000000
expect 0 eval $fma <<<"$one $one $one"; is "$(cat "$out")" "$one $one $one $two"
expect 0 eval $fma <<<"# comment

$one $one $one 00000000"; is "$(cat "$out")" "# comment
$one $one $one $two"
expect 0 eval $fma </dev/null; silent "$out"
# One line on all rows: sm_70 and later give other words to this one.
printed='3c00 3c00 3c00 3c00 0000 0000 0000 0000 0001 0001 0001 0001 0000 0000 0000 0000 3f800000'
expect 0 eval 'sm_[7-9]*/mma.m16n8k8.f32.f16.f16.f32' <<<"$printed"
is "$(head -n 1 "$out")" "$printed"; is "$(sed 1d "$out" | cut -c1-20)" "  3f800002  sm_75/mm"
expect 2 eval 'sm_80/mma.m16n8k*.f32.f16.f16.f32' <<<"$printed"; warns 'no input fits both'
expect 2 eval 'x86/v*' --device=host <<<"$one"
expect 5 eval $fma <<<"$one $one"; warns 'stdin line 1: 2 words, but vfmadd231ss has 3 (a0 b0 c), or 4 with the result d'
expect 5 eval $fma <<<"$one $one $one
$one 3f80000g $one"; warns "stdin line 2: word 2 (b0), column 10: '3f80000g': character 8 is not a hex digit"
is "$(cat "$out")" "$one $one $one $two"  # the good line was used
expect 5 eval $fma <<<"$one $one 1$one"; warns '9 digits; f32 has 8'
expect 5 eval x86/vpdpbusd <<<"1 2 3 100 1 1 1 1 0"; warns 'word 4 (a3), column 7'
expect 5 eval $fma <<<"# instruction: $mma"; warns "line 1: from this line on, the stream is for $mma, not for $fma"
expect 2 eval x86/none </dev/null; expect 2 eval </dev/null
expect 3 eval $fma --device='exec:head -n 1; exit 1' <<<"$one $one $one"  # the answer lacks d
expect 3 eval $fma --device="exec:echo $one; exit 1" <<<"$one $one $one"; says "$one $one $one $one"
equal="$one $one $one $two" other="$one $one $one 40000001"
expect 0 check $fma --expect=1 <<<"$equal"; says '1 of 1 equal'
expect 1 check $fma --expect=2 <<<"$equal
$other"; says 'line 2:'; says '1 of 2 equal'; plain; silent "$err"
expect 7 check $fma --expect=any --error_exitcode=7 <<<"$other"
expect 1 check $fma --expect=any --color=always <<<"$other"; says $'\033['
expect 3 check $fma </dev/null; warns 'nothing was compared'
expect 5 check $fma <<<"$one $one $one"; warns 'the result d is missing'
expect 5 check $fma <<<"$equal
no"; warns 'stdin line 2: '; says '1 of 1 equal'
expect 1 check $fma --expect=3 <<<"0 0 0 xxxxxxxx
$equal
$one $one $one 1$one"; says 'line 1:'; says 'unknown bits (x or z)'; says 'a word of the wrong width'; says '1 of 3 equal'; silent "$err"
expect 5 check $fma --expect=1 <<<"$one $one $one none"; expect 5 check $fma --expect=1 <<<"$one $one xxxxxxxx"
expect 5 check $fma --expect=1 <<<"$one xxxxxxxx $one $one"; expect 5 eval $fma <<<"$one $one $one xxxxxxxx"
expect 1 check $fma --max_reports=1 < <(for i in 1 2 3; do echo "$one $one $one 0"; done)
is "$(grep -c '^line' "$out")" 1; says '0 of 3 equal'
# How many lines must come: by the stream's own words, or by --expect.
"$m" gen $mma --cases=10 | "$m" eval $mma >whole.txt
expect 0 check $mma <whole.txt; says '1280 of 1280 equal'
expect 5 check $mma < <(head -n 1000 whole.txt); says '998 of 998 equal'; warns '282 of 1280 dot products are missing'
expect 5 check $mma < <(cat whole.txt; sed -n 3p whole.txt); warns '1 dot products more than the 1280'
expect 5 check $mma < <(head -n 2 whole.txt); warns '1280 of 1280 dot products are missing'
expect 0 check $mma < <(cat whole.txt whole.txt); says '2560 of 2560 equal'
expect 5 check $mma < <(cat whole.txt; head -n 100 whole.txt); warns '1182 of 2560'
expect 5 check $fma <whole.txt; warns "stdin line 1: from this line on, the stream is for $mma, not for $fma"
expect 0 check hopper/${mma#*/} <whole.txt
# Which lines must come: lost and repeated ones that balance, another operand.
others='differ from those that were sent'
once=$(sed -n 3p whole.txt)
expect 5 check $mma < <(sed "/^[^#]/s/.*/$once/" whole.txt); says '1280 of 1280 equal'; warns "line 1283: the operands before this line $others"
expect 5 check $mma < <(sed '7{h;d};8{p}' whole.txt); warns "$others"
expect 1 check $mma < <(sed '7s/........$/zzzzzzzz/' whole.txt); says '1279 of 1280 equal'; silent "$err"
expect 5 check $mma < <(cat whole.txt; sed '7{h;d};8{p}' whole.txt); warns "$others"
expect 5 eval $mma < <(sed '7{h;d};8{p}' whole.txt); warns "$others"
expect 5 check $mma < <(sed 's/^# operands: ./&0/' whole.txt); warns "$others"
expect 0 check $mma < <(sed '/^[^#]/s/.*/ \U&/' whole.txt)  # the same words, written otherwise
expect 0 check $mma --expect=1280 < <(grep -v '^#' whole.txt)
# A last word that lost a digit is no word.
expect 5 check $mma < <(sed '/operands:/,$d' whole.txt | head -c -2); warns 'stdin line 1282: the line was cut off'
expect 5 check $mma < <(head -c -1 whole.txt); warns 'cut off'
expect 0 check $fma --expect=1 < <(printf '%s' "$equal")
# What is kept of it is a recording.
expect 0 replay whole.txt
expect 5 check $fma <<<"# lines: many"; warns "'many' is not a number of lines"
expect 5 check $fma <<<"# lines: 18446744073709551615
# lines: 1"
expect 2 check $fma <<<"$equal"; says '1 of 1 equal'; warns 'use --expect=N'
expect 1 check $fma <<<"$other"
expect 5 check $mma < <(grep -v '^# operands' whole.txt); warns 'but not their hash'
expect 0 check $mma --expect=998 < <(head -n 1000 whole.txt)
expect 0 check $mma --expect=any < <(head -n 1000 whole.txt)
expect 5 check $fma --expect=2 <<<"$equal"; expect 5 check $fma --expect=1 <<<"$equal
$equal"
expect 2 check $fma --expect=x <<<"$equal"; expect 3 check $fma --expect=any </dev/null

# ---- mutants
expect 0 mutants --instr=$fma --cases=2000; says 'stat::survivors: 0'; says 'stat::models: 1'; plain
expect 0 mutants --instr="*/${mma#*/}" --cases=2000 --threads=2; says "arch: sm_80 sm_90 ${mma#*/}: "
says 'stat::instructions: 7'; says 'stat::models: 2'; says 'stat::arch_pairs: 1'; says 'stat::arch_pairs_equal: 9'
expect 0 mutants --instr=$mma --cases=2000 --json; json; expect 2 mutants --threads=0
expect 1 mutants --instr=$mma --cases=1; says 'survivor: '
expect 0 mutants --instr=$mma --cases=2000 --equivalent; says 'equivalent: '; says 'is above the floor'

# ---- run
run 0 --device=faulty:none=0 --instr=$mma --cases=500 --workdir=clean
is "$(stat_of mismatches)" 0; is "$(stat_of dot_products)" 64000; says 'rate < '; plain
warns 'device: simulator'
digest=$(stat_of digest); is ${#digest} 32
run 0 --device=faulty:none=0 --instr=$mma --cases=500 --workdir=clean -q; silent "$err"
is "$(stat_of resumed_units)" 1; is "$(stat_of digest)" "$digest"
run 0 --device=faulty:none=0 --instr="$mma,x86/*" --cases=2k --workdir=json --json; json; silent <(:)
run 0 --device=faulty:none=0 --instr=hopper/mma.m16n8k16.f32.f16.f16.f32 --cases=500 --workdir=alias
is "$(stat_of digest)" "$digest"
run 0 --device=faulty:none=0 --instr=$fma --cases=3 --workdir=few; says 'incomplete: '
run 0 --device="$simulator" --instr=$mma --cases=500 --workdir=exec; is "$(stat_of digest)" "$digest"
says ' in processes of at most '; says ' lines, model'
run 0 --device="$simulator,batch=64" --instr=$mma --cases=100 --workdir=exec64; says ' in processes of at most 64 lines, model'
run 0 --device=faulty:none=0 --instr=$mma --cases=500 --workdir=no_process
is "$(grep -c processes "$out")" 0
expect 0 probe --device="$simulator" --instr=$mma --question=repeat; says 'four times, in processes of at most '; says ' lines: agrees'
expect 0 probe --device=faulty:none=0 --instr=$mma --question=repeat; is "$(grep -c processes "$out")" 0
run 0 --device=faulty:none=0 --instr=$fma --dry_run; says 'mmadiff-runs/'; says "$fma  1000000 cases"
is "$(ls -d mmadiff-runs 2>/dev/null)" ''
run 0 --device=faulty:none=0 --instr=$fma --cases=100; is "$(ls mmadiff-runs | wc -l)" 1
run 0 --device=faulty:none=0 --instr=$fma --cases=100; is "$(stat_of resumed_units)" 0
is "$(ls mmadiff-runs | wc -l)" 1

# Its arguments.
run 2 --device=hots; warns "no device 'hots'; nearest: host"; silent "$out"
run 2 --device=faulty:fraction_bit=24; warns 'nearest: fraction_bits'
run 2 --device=faulty:fraction_bits=99; warns 'a number 1..37'
run 2 --device=exec:; run 2 --device=host:0
export MMADIFF_LIBCUDA=/none/libcuda.so  # from here on there is no GPU
run 4 --device=cuda:0 --instr=$mma; warns 'no CUDA driver found'; silent "$out"
run 4 --device=cuda:7 --instr=$mma; warns 'no CUDA driver found'
run 2 --device=cuda:x; run 2 --device=cuda; expect 0 list devices; says 'no CUDA driver found'
says ' native, 0 emulated'
run 2 --device=faulty:none=0 --instr=sm_90/nma.m16n8k16.f32.f16.f16.f32; warns "nearest names: $mma"
run 2 --device=faulty:none=0 --instr=sm_99/mma.m16n8k8.f32.f16.f16.f32; warns 'it exists on sm_75'
run 2 --device=faulty:none=0 --instr='sm_99/*'
run 4 --device=host --instr=$mma; warns "left out: host is this CPU, which cannot run $mma"; silent "$out"
run 4 --device=faulty:fraction_bits=24 --instr=$fma; warns 'has no parameter fraction_bits'
run 2 --strategy=mixd; warns boundary
for bad in --max_total_time=-1 --max_total_time=-3s --max_total_time=nan --max_total_time=inf \
  --max_total_time=1e400 --cases=0 --cases=-1 --cases=1x --seed=x --threads=1025 --shard=1/1 --shard=1 --shard=a/2 \
  --max_total_time=soon --stop_at=tomorrow --max_mismatches=x; do
  run 2 --device=faulty:none=0 --instr=$fma --workdir=bad $bad
  is "$(ls -d bad 2>/dev/null)" ''
done
expect 2 run --device=faulty:none=0 --instr=$fma --threads=0

# Mismatches, findings, replay of a finding, minimize, explain.
run 1 --device=faulty:fraction_bits=24 --instr=$mma --cases=2000 --workdir=f24; plain
is "$(stat_of buckets)" 1; says "MISMATCH $mma"; says 'fraction_bits=24'
says 'the device differs from the model; stopped at 20 mismatching cases'
says "reproduce  $m replay "  # as it was started
MMADIFF_NO_BUILD=1 MMADIFF_BUILD=$(dirname "$m") "$script" minimize "$mma@g3:1:0" --device=faulty:terms=8 \
  --workdir=by_script >"$out" 2>"$err"; says "reproduce  $script replay "
finding=$(grep -rl 'why: "the device and the model differ' f24/findings); is "$(wc -l <<<"$finding")" 1
case=$(sed -n 's/^  first case //p' "$out")
run 9 --device=faulty:fraction_bits=24 --instr=$mma --cases=2000 --workdir=f24 --error-exitcode=9
run 1 --device=faulty:fraction_bits=24 --instr=$mma --cases=2000 --workdir=f24j --json; json
run 1 --device=faulty:fraction_bits=24 --instr=$mma --cases=2000 --workdir=f24c --color=always
says $'\033['
run 1 --device=faulty:wrong_lane=5 --instr=$mma --cases=500 --workdir=lane; says 'of its tile'
run 5 --device=faulty:flaky_bit=5000 --instr=$mma --cases=500 --workdir=flaky
says 'FLAKY '; says "the device's answers do not repeat"; is "$(grep -c MISMATCH "$out")" 0
expect 1 replay "$finding"; says "MISMATCH $mma"; says '0 of 1 dot products equal'; plain
expect 1 replay f24/findings; expect 1 replay f24; silent "$err"  # the manifest is no case
expect 4 replay f24/findings --device=host; warns 'cases left out: the device lacks them'
expect 42 replay "$finding" --error_exitcode=42
expect 0 replay "$finding" --device=faulty:none=0
expect 1 replay "$finding" --device=faulty:fraction_bits=24
expect 1 replay "$case" --device=faulty:fraction_bits=24
expect 0 replay "$case" --device=faulty:none=0
expect 4 replay "$case"; expect 4 replay "$finding" --device=host  # no GPU on this CPU
expect 1 replay "$finding" --junit=bad.xml; is "$(grep -c '<failure' bad.xml)" 1
# What was not compared is no green report: damage, drops, what the device lacks, its death.
junit_fails() { # CODE WHY ARGUMENTS...
  local code=$1 why=$2; shift 2; rm -f fails.xml
  expect "$code" replay "$@" --junit=fails.xml; grep -q "whole replay\"><failure message=\"$why\"" fails.xml || fail "$*: $(cat fails.xml)"
}
mkdir -p litter; echo garbage >litter/x.txtpb
junit_fails 5 damaged litter; junit_fails 3 dropped "$finding" --device='exec:exit 1'
junit_fails 4 absent "$finding" --device=host; junit_fails 75 incomplete "$finding" --device=faulty:dead=1
expect 0 replay "$finding" --device=faulty:none=0 --junit=good.xml
is "$(grep -c '<testcase' good.xml)" 1; is "$(grep -c '<failure' good.xml)" 0
if command -v python3 >/dev/null; then
  for file in good.xml bad.xml; do
    is "$(python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' $file 2>&1)" ''
  done
fi
# Answers that do not repeat say nothing of the model.
cat >counting.sh <<'END'
echo >>asked.txt
while read -r line; do printf '%s %08x\n' "$line" "$(wc -l <asked.txt)"; done
END
printf '%s\n' 'source: Somebody (2021)' '' 'vector: two' 'about: 1 + 1 = 2' 'formats: f32 f32 f32 f32' \
  'operands: 3f800000 | 3f800000 | 3f800000' "expected: 40000000 $fma" '' end >vectors_fma.txt
flaky='exec:sh counting.sh' one=$fma@g3:1:0
expect 5 replay $one --device="$flaky" --junit=flaky.xml; says "FLAKY $fma  $one"; says 'flaky: 1'
grep -q 'message="flaky"' flaky.xml || fail "$(cat flaky.xml)"
is "$(grep -c MISMATCH "$out")" 0; is "$(grep -c '<failure' flaky.xml)" 1
expect 5 replay vectors_fma.txt --device="$flaky"; says FLAKY; is "$(grep -c MISMATCH "$out")" 0
expect 5 minimize $one --device="$flaky" --workdir=flaky_case; says 'FLAKY '; says 'bucket     flaky:'
is "$(cat flaky_case/x86/*.txtpb | grep -c '^signature: "flaky:')" 1
says '  as found   '; says "  reproduce  $m replay flaky_case/x86/"; says " --device='$flaky'"
expect 0 replay flaky_case --device=faulty:none=0; warns '1 of these cases were filed because the device did not repeat'
expect 6 replay "$finding" --device=faulty:none=0 --junit=/proc/none/x.xml
expect 1 minimize "$case" --device=faulty:fraction_bits=24 --workdir=min; says 'one dot product'
is "$(ls min/sm_90/$(basename "$finding"))" "min/sm_90/$(basename "$finding")"; kept=$(ls min/sm_90 | wc -l)
expect 1 minimize "$finding" --device=faulty:fraction_bits=24 --workdir=min --max_calls=5000
is "$((kept > 1 && $(ls min/sm_90 | wc -l) >= kept))" 1
expect 1 minimize "$finding" --device=faulty:fraction_bits=24 --workdir=short --max_calls=20; says 'stopped after'
go_on=$(sed -n 's,^  continue *[^ ]*mmadiff ,,p' "$out"); is "${go_on%%=*} ${go_on##*=}" "minimize $finding --device $(sed -n 's/.*stopped after \([0-9]*\).*/\10/p' "$out")"
expect 1 $go_on; is "$(ls short)" $'sm_90\nwriter.lock'
expect 0 minimize "$finding" --device=faulty:none=0 --workdir=min; warns 'nothing to shrink'
expect 6 minimize "$finding" --device=faulty:fraction_bits=24 --workdir=/proc/none
expect 1 explain "$finding"; says 'fraction_bits=24'; says 'bucket: '; silent "$err"; plain
expect 1 explain f24/findings; says "fraction_bits=24 reproduces all"; says ' this change reproduces '; plain; mkdir -p no_cases
expect 1 explain "$finding" --json; json; says '"fraction_bits=24"'
expect 1 explain f24/findings --json; json; says '"missed": 0'; expect 0 explain "$case" --device=faulty:none=0 --json; json
# A damaged file beside a difference: a warning; the difference decides the exit code.
cp -r f24/findings beside; own=beside/${finding#f24/findings/}
other=$(ls "${own%-*}"-* | grep -vxF "$own" | head -n 1); is "$([ -n "$other" ] && echo there)" there
head -c 100 "$other" >cut; cp cut "$other"
expect 1 explain "$own"; warns "$other"; says 'fraction_bits=24'; expect 1 explain "$own" --json; json
expect 1 explain beside; warns "$other"
# The change that the finding names comes first, though others give this one answer; devices do not mix.
run 1 --device=faulty:zero_term=raises --instr=$mma --cases=2000 --workdir=zero; says 'bucket     align_exponent:zero_term=raises'
expect 1 explain "$(grep -rl 'why: "as found' zero/findings)"
says 'bucket: align_exponent:zero_term=raises'; says 'zero_term=raises reproduces the device'; says 'ruled out by other answers'
cp -r f24/findings two_devices; cp -r zero/findings/. two_devices; expect 1 explain two_devices
is "$(grep -c '^device: ' "$out") $(grep -c ' reproduces all ' "$out")" '2 2'
expect 1 explain "$finding" --device=faulty:output_rounding=nearest_even
says 'output_rounding=nearest_even reproduces all'; is "$(grep -c 'by the stored' "$out")" 0
# Devices whose names begin alike, in one file.
expect 1 minimize "$case" --device=faulty:fraction_bits=2 --workdir=alike
expect 1 minimize "$case" --device=faulty:fraction_bits=20 --workdir=alike --json; json; says '"bucket"'
for file in alike/sm_90/*fraction_bits_2-*; do expect 1 explain "$file" --json; says '"fraction_bits=2"'; done
expect 1 explain alike; is "$(grep -cE 'this change reproduces (it|them all)$' "$out")" 2
# From a black box to a model: bad input, and a tree that is drawn.
expect 0 infer --device="exec:'$m' eval $fma" --formats=f32,f32,f32,f32 --k=1 --validate=1e4 --svg=tree.svg --out=inferred
says 'tree     c + k0'; says 'fma_chain(output_rounding=nearest_even'; has() { grep -q "$1" tree.svg; }; has '<svg' || fail 'no drawing'
expect 3 infer --device=faulty:none=0 --instr=$fma --budget=0; warns 'budget is too small'; is "$(grep -c contradicted "$out")" 0
expect 2 infer --device=faulty:none=0; warns '--formats=A,B,C,D'; expect 2 infer --device=faulty:none=0 --instr=$fma --k=4
expect 2 infer --device="exec:cat" --formats=f16,f16,f32 --k=4; expect 2 infer --device="exec:cat" --formats=f16,f16,f32,f32 --k=257
expect 2 infer --device="exec:cat" --formats=f16,x,f32,f32 --k=4; warns "no format 'x'"
infer_exec='infer --formats=f32,f32,f32,f32 --k=1 --validate=0'
expect 0 $infer_exec --device="exec:$m eval $fma" --out=unlisted; expect 0 $infer_exec --device=recorded:unlisted; says 'fma_chain'
expect 0 infer --device=faulty:none=0 --instr=$fma --validate=1e4 --out=inferred_row; expect 0 replay inferred_row; expect 0 infer --device=recorded:inferred_row/x86.vfmadd231ss.txt --instr=$fma
expect 3 infer --device="exec:case \$MMADIFF_INSTRUCTION in $fma) exit 1;; *) $m eval \$MMADIFF_INSTRUCTION;; esac" --instr=$fma,x86/vdpbf16ps --budget=2000 --validate=0
warns "dropped $fma: "; says 'x86/vdpbf16ps'; says 'fma_chain'  # the others are asked
# One answer of 256 is another: the ten that are chosen do not say it, the rest does.
a100=$observations/khattak_mikaitis/sm_80.A100.mma.m16n8k8.f32.f16.f16.f32.txt.gz
expect 0 identify --device=recorded:"$a100"; says 'it is one of sm_75, sm_80, sm_86, sm_89'; says 'all 256 compared answers of the recording'
zcat "$a100" | awk 'NR == 200 {$NF = "3f800001"} 1' > sm_80.one_changed.mma.m16n8k8.f32.f16.f16.f32.txt
expect 1 identify --device=recorded:sm_80.one_changed.mma.m16n8k8.f32.f16.f16.f32.txt; says 'no architecture reproduces all answers'; says 'contradicted'
# What was meant.
expect 2 run $mma; warns "did you mean --instr=$mma?"; expect 2 eval $mma x y; warns 'needs quotes'
expect 2 list instruction; warns 'did you mean instructions'; expect 2 list instructions 'hoper/*'; warns 'are hopper'
expect 4 probe --all --device=host --instr=$mma; warns "host is this CPU, which cannot run"
expect 6 replay "$mma@g3:1:5" --device=faulty:none=0 --junit=nowhere/x.xml; warns 'its folder does not exist'
# What a dot product costs, against an earlier output; files that are none.
expect 0 bench --instr=$fma --rounds=1 --time=0 --json; json; cp "$out" costs.json
has_bf16=0; grep -q avx512_bf16 /proc/cpuinfo || has_bf16=4
expect $has_bf16 bench --instr=$fma,x86/vdpbf16ps --rounds=1 --time=1ms --compare=costs.json --device=host; says 'unit x'; plain
sed 's/AVX-512\|AVX2\|SSE4\|none/other lanes/' costs.json > other.json; expect 0 bench --instr=$fma --rounds=1 --time=0 --compare=other.json --json; json; warns 'measured under different conditions'; says '"earlier"'
sed 's/"unit": [0-9.e+-]*/"unit": -1/' costs.json > other.json; expect 5 bench --instr=$fma --compare=other.json; warns 'no measured times'
sed 's/"unit": [0-9.e+-]*/"unit": 1e300/' costs.json > other.json; expect 5 bench --instr=$fma --compare=other.json; warns 'no measured times'
sed 's/"k": 1/"k": 2/; s/"rounds": "1"/"rounds": "7"/; s/"stopped_by": ""/"stopped_by": "SIGINT"/' costs.json > other.json; expect 0 bench --instr=$fma --rounds=1 --time=0 --compare=other.json; warns 'rounds was 7, is 1'; warns 'k = 2'; warns 'stopped early by SIGINT'; says 'which was measured under different conditions'; says 'x: speed-up over other.json of mmadiff'
command -v python3 >/dev/null && python3 -c 'import json; j = json.load(open("costs.json")); j["rows"] *= 2; json.dump(j, open("other.json", "w"))' && { expect 5 bench --instr=$fma --compare=other.json; warns 'two rows for'; }
for lost in version stopped_by; do grep -v "\"$lost\":" costs.json >other.json; expect 5 bench --instr=$fma --compare=other.json; warns 'not output of'; done
sed 's/"unit_most": [0-9.e+-]*/"unit_most": 1e-2/' costs.json > other.json; expect 5 bench --instr=$fma --compare=other.json; warns 'no measured times'
sed 's/"unit_most": [0-9.e+-]*/"unit_most": 1e9/; s/"generator_version": "[0-9]*"/"generator_version": "1"/' costs.json > other.json; expect 0 bench --instr=$fma --rounds=1 --time=0 --compare=other.json; warns 'in their slowest round'; warns 'generator_version was 1'
expect 3 bench --instr=x86/vdpbf16ps --compare=costs.json; warns 'nothing to compare'
expect 2 bench --instr=$fma --compare=not.there; warns 'not.there'
expect 4 bench --instr=$fma,$mma --rounds=1 --time=0 --device=host; warns '1 of 2 instructions left out'; expect 0 bench --instr="$fma,*/mma.m16n8k16.f32.f16.f16.f32" --rounds=1 --time=0 --device=host; warns 'left out: the device lacks'; expect 4 bench --instr=$mma --rounds=1 --time=0 --device=host
expect 1 bench --instr=$fma --rounds=1 --time=0 --device=faulty:lost_batch=1; warns 'the answers differ from the model'; says ' differs '
expect 4 replay "$mma@g3:1:5"; warns 'choose the device with --device=DEVICE'
expect 75 bench --instr=$fma,x86/vdpbf16ps --rounds=1 --time=0 --device=faulty:dead=2; warns '1 of 2'; says 'unit'
expect 75 bench --instr=$fma --rounds=1 --time=0 --device=faulty:dead=1 --json; json; says '"stopped_by": "'$fma': device faulty:dead=1 died'; says '"rows": []'
expect 5 bench --instr=$fma --compare=/dev/null; warns 'is a device'; expect 5 bench --instr=$fma --compare=<(:); warns 'in a file first'; expect 5 bench --instr=$fma --compare="$script"; warns 'not output of'; expect 2 bench --instr=none; expect 2 bench --instr=$fma --rounds=0; expect 2 bench --instr=$fma --time=-1
# Numbers of one's own and lines, through the model alone.
expect 0 explain $mma --a=1.0,2^-24,0x1p-3 --b=0x3c00,1,-1.5 --c=-2^-25 --svg=aligned.svg; says 'result 0x'; says 'step 0: bits from'; plain
is "$(grep -c 'class="bar"' aligned.svg)" 5
# A case file without an answer is a question: of the model, or of a device.
printf 'instruction: "x86/vdpbf16ps" a: "3f80 3f80" b: "3f80 3f80" c: "3f800000"\n' > question.txtpb
expect 0 explain question.txtpb; says 'result 0x40400000'; warns 'the stages are the model'
expect 0 explain question.txtpb --device=model; silent "$err"; expect 0 explain question.txtpb --device=faulty:none=0
expect 5 replay question.txtpb; warns 'answers: none'
line=$("$m" gen $mma --cases=1 | grep -v '^#' | head -n 1)
expect 0 explain $mma --line="$line"; cp "$out" by_line; expect 0 explain "$mma@g3:1:0" --device=model; is "$(cmp by_line "$out" 2>&1)" ''
expect 0 explain $mma --line="$line" --csv; says 'stage,model'; is "$(grep -c '^step\|^product' "$out")" 16
expect 0 explain $mma --a=0.1; warns '0.1 is 0x2e66'; expect 2 explain $mma --a=1e6; warns 'the largest is 0x7bff'; expect 2 explain $mma --a=x; warns 'is not a number: write'
expect 2 explain $mma --a=1 --line="$line"; warns 'not both'; expect 2 explain $mma --line=''
expect 4 explain $mma --a=1 --device=host; expect 0 explain $mma --a=1 --b=1 --device=faulty:none=0; says 'The device agrees'
expect 1 explain $mma --a=1,1 --b=1,1 --c=2^-24 --device=faulty:terms=1,output_rounding=up; says "device's answer: 0x40000001"
expect 0 explain $mma --line="$line" --device=model; expect 1 explain x86/vdpbf16ps --line='3f80 3f80 3f80 3f80 00000000 40000001'; says '0x40000001'; expect 0 explain x86/vdpbf16ps --line='3f80 3f80 3f80 3f80 00000000 40000000'
expect 2 explain $mma --a=1,,2 --b=1,1; warns "'' is not a number"; expect 2 explain $mma --csv --json --a=1; warns 'either'
expect 2 explain x86/vdpbf16ps --a=1,2,3; warns 'takes 2'; expect 2 explain x86/vdpbf16ps --a=1 --svg=none.svg; warns 'nothing to draw'
expect 6 explain $mma --a=1 --b=1 --svg=/proc/none/x.svg; expect 2 explain $mma --a=1 --svg=x.svg; warns 'nothing to draw'
# A change that no input shows is no clean pass.
run 0 --device=faulty:addend_flush=every_step --instr=arm/bfdot --cases=50 --workdir=same; warns 'no input can reveal'
expect 2 explain f24/findings --device=faulty:none=0; warns 'takes one case'
expect 3 explain no_cases; warns 'no case has an answer from a device'
expect 1 explain "$case" --device=faulty:fraction_bits=24; says 'fraction_bits=24'
expect 0 explain "$case" --device=faulty:none=0
for verb in explain minimize; do
  expect 2 $verb none.txtpb; warns none.txtpb
  expect 2 $verb --device=faulty:none=0 $mma@g9:1:2; warns "generator version 'g9'"
  expect 2 $verb --device=faulty:none=0 sm_90/mma.m16n8k16.f32.f16.f16.f33@g3:1:2; warns $mma
done

# Malformed and damaged cases.
expect 2 replay none; warns 'no such file, folder or case name'
expect 2 replay $mma@g3:1:x --device=faulty:none=0; warns "index 'x' is not a number"
sed 's/^a: "3/a: "g/' "$finding" >broken.txtpb; expect 5 replay broken.txtpb; warns broken.txtpb; warns ' a'
echo 'instruction: "x' >syntax.txtpb; expect 5 replay syntax.txtpb; warns 'syntax.txtpb'
mkdir -p folder empty; cp "$finding" folder; cp broken.txtpb folder
expect 1 replay folder; warns broken.txtpb
expect 5 replay folder --device=faulty:none=0; says "1 of 1 dot products equal the model's (damaged data skipped)"
expect 3 replay empty

# ---- Vectors
mkdir vectors; cat >vectors/paper.txt <<'END'
source: Somebody (2021)

vector: two
about: 1 + 1 = 2
reason: somebody else counts from 1
formats: f32 f16 f16 f32
operands: 3c00 | 3c00 | 3f800000
operands: 0000 3c00 | 0000 3c00 | 3f800000
observed: 40000000 sm_90/mma.m16n8k16.f32.f16.f16.f32 : H100
expected: 40000000 sm_{80,120}/mma.m16n8k16.f32.f16.f16.f32
contested: 40400000 sm_70/mma.m8n8k4.f32.f16.f16.f32 : Somebody else

end
END
expect 0 replay vectors; says '6 of 6 dot products equal'; says 'CONTESTED paper/two'; silent "$err"; plain
says 'vectors: observed 2, published 0, expected 4; contested 2'
expect 0 replay vectors/paper.txt --verbose --junit=paper.xml; says 'agrees    paper/two  observed'
is "$(grep -c '<testcase' paper.xml)" 3; is "$(grep -c '<failure' paper.xml)" 0
sed 's/expected: 40000000/expected: 40000001/; s/contested: 40400000/contested: 40000000/' vectors/paper.txt >wrong.txt
expect 1 replay wrong.txt --junit=paper.xml; says "MISMATCH sm_80/${mma#*/}"; says 'no longer differs'
says '2 of 8 dot products equal'; is "$(grep -c '<failure' paper.xml)" 2; plain
expect 1 replay wrong.txt --max_reports=1; is "$(grep -c '^MISMATCH' "$out")" 1
expect 0 replay vectors --device=faulty:none=0; expect 1 replay wrong.txt --device=faulty:none=0; says 'answer '
expect 4 replay vectors --device=host; warns 'none of these instructions'
sed 's/sm_90/sm_9\x1b/' vectors/paper.txt >vectors/bad.txt; : >vectors/empty.txt
expect 5 replay vectors; warns 'bad.txt:9: a control character'; warns 'files left out: not understood'; plain
says "6 of 6 dot products equal the model's (damaged data skipped)"
expect 5 replay vectors/bad.txt; expect 5 replay vectors/empty.txt; cp "$finding" vectors
expect 1 replay vectors; says '6 of 7 dot products equal'
grep -v '^observed\|^expected' wrong.txt | sed 's/contested: 40000000/contested: 40400000/' >only.txt
expect 3 replay only.txt; says 'CONTESTED only/two'
# A device is held to the model where an answer is contested: a third word is wrong too.
sed 's/^operands.*/operands: 3c00 | 3c00 | 33c00000/; s|sm_70/mma.m8n8k4|sm_90/mma.m16n8k16|' only.txt >third.txt
expect 0 replay third.txt --device=faulty:none=0; says '2 of 2 dot products equal'
expect 1 replay third.txt --device=faulty:output_rounding=nearest_even; says 'contested 40400000'; says 0x3f800001

# ---- changes
expect 0 changes --update --file=digests.txt; says 'new             x86/vdpbf16ps'
expect 0 changes --file=digests.txt; says '0 changes, '
model=$(sed -n 's/^x86.vpdpbusd \([0-9a-f]*\) .*/\1/p' digests.txt)  # of another row
sed -i 's|^\(x86/vdpbf16ps [0-9a-f]* [0-9a-f]*\) .*|\1 0123456789abcdef|; /^x86.vfmadd231sd/d' digests.txt
sed -i "s|^\(x86/vpdpbusds\) [0-9a-f]*|\1 $model|" digests.txt
echo "x86/none $model 0123456789abcdef 0123456789abcdef" >>digests.txt
expect 1 changes --file=digests.txt; says 'answers changed x86/vdpbf16ps'; says 'new             x86/vfmadd231sd'
says 'gone            x86/none'; says '4 changes'
says 'model changed   x86/vpdpbusds: overflow=wrap -> overflow=saturate'
echo x >>digests.txt; expect 5 changes --file=digests.txt; warns 'digests.txt:'
expect 2 changes; warns '--file'; expect 6 changes --update --file=/proc/none/x

# ---- probe
# Another family: said once, with the verb that looks in all. One wrong parameter is still named.
other="exec:'$m' eval gfx90a/v_mfma_f32_16x16x16f16"
expect 1 probe --device="$other" --instr=$mma --question=steps,width,output,model,order
says 'this is not a fused_sum'; says ' infer --device='; is "$(grep -c contradicts "$out")" 0
expect 1 probe --device=faulty:terms=8 --instr=$mma --question=steps,width,output,model,order; says 'the model with terms=8'
is "$(grep -c 'this is not a' "$out")" 0
expect 0 probe --list; says 'Does a zero times a huge number move'
expect 2 probe --device=faulty:none=0 --instr=$mma; warns '--all or --question'
expect 2 probe --question=no_such --device=faulty:none=0; warns "no question 'no_such'"
expect 2 probe --all --device=faulty:none=0 --instr=$mma --max_total_time=soon; warns 'not a duration'
bf16=sm_90/mma.m16n8k16.f32.bf16.bf16.f32
expect 0 probe --all --device=faulty:none=0 --instr=$bf16 --max_total_time=0 --out=probed; plain
says 'floor'; says 'exponent_floor=-133: agrees'; is "$(stat_of contradict)" 0
expect 0 replay probed/${bf16/\//.}.txt; says 'dot products equal'
expect 0 probe --question=floor,nan --device=recorded:probed/${bf16/\//.}.txt --instr=$bf16
expect 1 probe --all --device=faulty:exponent_floor=-126 --instr=$bf16 --max_total_time=0 --json; json
says '"exponent_floor=-126"'
expect 3 probe --question=layout,floor --device=faulty:wrong_lane=3 --instr=$bf16
says 'column 3 is'; is "$(stat_of answers)" 1
warns '1 of 2 questions left out, although named: the instruction is already contradicted (floor of '
expect 75 probe --question=floor --device=faulty:dead=1 --instr=$bf16
# An answer or left out, never both.
expect 1 probe --question=payloads,pairs,integers --device="exec:python3 $(dirname "$script")/docs/example/my_rtl.py" --instr=$mma
is "$(stat_of answers)" 1; warns '1 of 3 questions left out, although named: the instruction is already contradicted'; warns '1 of 3 questions left out, although named: not applicable'
expect 0 probe --question=layout,order --device="$simulator" --instr=$fma; says 'addend_joins=first_step'
# The program repeats metadata that were not given.
expect 0 probe --question=layout,decoding --device="$simulator" --instr=sm_90/mma.sp.m16n8k32.f32.f16.f16.f32
is "$(stat_of agree)" 2
expect 75 probe --question=floor --device=faulty:none=0 --instr="$bf16,$mma" --max_total_time=0
warns "unanswered questions for 1 instruction, from $bf16 on: "; is "$(stat_of answers)" 1

# ---- record and recordings
expect 0 record --device=faulty:none=0 --instr=x86/vdpbf16ps --cases=3000 rec.log
says '48000 dot products'; silent "$err"
expect 0 replay rec.log; says '48000 of 48000 dot products equal'
run 0 --device=recorded:rec.log --instr=x86/vdpbf16ps --cases=3000 --workdir=rec
"$m" gen $fma --cases=100 | "$m" eval $fma | grep -v '^#' | sed "1i# instruction: $fma" >rec.txt
run 0 --device=recorded:rec.txt --instr=$fma --cases=100 --workdir=rect
sed -i '${s/0$/1/;t;s/.$/0/}' rec.txt
run 2 --device=recorded:rec.txt --instr=$fma --cases=100 --workdir=rect; warns 'device_identity'
expect 2 record --device=faulty:none=0 --instr=$fma --cases=10 rec.log; warns rec.log
expect 4 record --device=host --instr=$mma none.log; is "$(ls none.log 2>/dev/null)" ''
expect 6 record --device=faulty:none=0 --instr=$fma --cases=10 none/none.log
expect 2 record --device=faulty:none=0 --instr=$fma --cases=0 none.log
expect 0 record --device=faulty:none=0 --cases=10 --instr=$fma behind.log --json; json  # a list ends with its argument
expect 75 record --device=faulty:dead=2 --instr=$fma --cases=1000 dead.log; is "$(ls dead.log 2>/dev/null)" ''
size=$(stat -c %s rec.log)
cp rec.log bad.log; printf 'XXXX' | dd of=bad.log bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
expect 5 replay bad.log; warns bad.log; says '(damaged data skipped)'; says ' of '
is "$(sed -n 's/^\([0-9]*\) of .*/\1/p' "$out" | awk '{print ($1 > 10000)}')" 1
run 5 --device=recorded:bad.log --instr=x86/vdpbf16ps --cases=100 --workdir=recbad; warns '`replay` uses its good records'
run 1 --device=faulty:terms=8 --instr=sm_90/mma.m16n8k16.f32.f16.f16.f32 --workdir=filed
expect 1 replay filed/findings --device=recorded:filed/findings --quiet
expect 1 replay bad.log --device=faulty:output_rounding=up  # a mismatch outweighs damage
# A folder: raw answers, regression cases, digests.
record="record --instr=$mma --cases=20 --max_total_time=0.3 --max_bytes=1e6"
mkdir -p cases/sm_90 && cp "$finding" cases/sm_90
expect 0 $record --device=faulty:none=0 folder1 --regressions=cases; says '7680 dot products, '
asked=$(sed -n 's/.* products, \([0-9]*\) regression cases and vectors.*/\1/p' "$out"); is "$((asked > 50))" 1
is "$(cd folder1 && echo *)" 'digests.log raw-1.log recording.txtpb regressions.txt'
expect 2 $record --device=faulty:none=0 folder1; warns 'already exists'
both=$((7680 + asked))
expect 0 replay folder1; says "$both of $both dot products equal"; says ' units of digests equal'
expect 0 replay folder1 --device=faulty:none=0; says "$both of $both dot products equal"
expect 1 replay folder1 --device=faulty:fraction_bits=24 --max_reports=1e6; says "DIGEST $mma@g3:1:0 to 2047"
cp "$out" threads; expect 1 replay folder1 --device=faulty:fraction_bits=24 --max_reports=1e6 --threads=1; is "$(cmp threads "$out")" ''
mkdir all; cp -r folder1 all; expect 0 replay all; says "$both of $both dot products equal"
expect 4 replay folder1 --device=host; warns ' cases left out: the device lacks them'
says " units of digests equal the model's, left out: "
run 0 --device=recorded:folder1 --instr=$mma --cases=20 --workdir=recf
expect 0 $record --device=faulty:fraction_bits=24 folder2 --threads=3
expect 1 replay folder2 --max_reports=1e6; says "DIGEST $mma@g3:1:0 to 2047"; says 'fraction_bits=24'
printf 'XXXX' | dd of=folder1/raw-1.log bs=1 seek=9000 conv=notrunc 2>/dev/null
expect 5 replay folder1; warns 'raw-1.log does not match its recorded checksum'; says '(damaged data skipped)'
expect 75 $record --device=faulty:dead=2 folder3; is "$(ls -d folder3* 2>/dev/null)" ''
expect 2 $record --device=faulty:none=0 folder3 --regressions=none; expect 2 record folder3 --max_bytes=1 --instr=$fma
expect 2 record folder3 --max_total_time=soon --instr=$fma; expect 6 $record --device=faulty:none=0 none/folder3
expect 0 identify --device=faulty:none=0 --instr=gfx942/v_mfma_f32_16x16x16_f16; says 'none of these answers is a NaN'
# A run, finished or not: one digest per instruction, compared with the model and with a device.
tf32=sm_80/mma.m16n8k4.f32.tf32.tf32.f32
run 0 --device=faulty:none=0 --instr=$mma,$tf32 --cases=3000 --workdir=night
expect 2 record night.log --run=night; warns 'night.log: a log has raw answers, and a run has none'
expect 0 record night_digests --run=night; silent "$err"
expect 0 replay night_digests --device=faulty:none=0; says '2 of 2 recorded digests equal this device'
is "$(grep -c 'dot products' "$out")" 0
expect 1 replay night_digests --device=faulty:fraction_bits=24; says "CHANGED DIGEST $mma@g3:1:0 to 2999"
says '0 of 1 recorded digests equal'
expect 0 replay night_digests --device=faulty:none=0 --json; says '"digests_answered": 2'; says '"digests_as_recorded": 2'
run 1 --device=faulty:fraction_bits=24 --instr=$mma --cases=3000 --max_mismatches=0 --workdir=wrong_night
expect 0 record wrong_digests --run=wrong_night
expect 1 replay wrong_digests --device=faulty:none=0; says '1 of 1 unit of digests equal'; says '0 of 1 recorded digests equal'
expect 1 replay wrong_digests --device=faulty:fraction_bits=24; says '1 of 1 recorded digests equal'
run 1 --device=faulty:fraction_bits=24 --instr=$mma --cases=3000 --workdir=stopped
expect 3 record none --run=stopped; warns "$mma: not recorded: stopped at 20 mismatching cases; with --max_mismatches=0"
warns 'the run finished no unit that can be recorded'
# A folder of line protocols; one bit of one answer flipped; a file that ends too early, a bad one.
cp -r "$observations/khattak_mikaitis" lines
expect 0 replay lines; says '12288 of 12288 dot products equal'
says "NVIDIA V100: 512 of 512 dot products of 2 instructions equal the model's"
expect 4 replay lines --device=host; warns '48 of 48 cases left out'
a100=sm_80.A100.mma.m16n8k8.f32.f16.f16.f32.txt; gunzip lines/$a100.gz
sed -i '100{h;s/.*\(.\)$/\1/;y/0123456789abcdef/1032547698badcfe/;G;s/^\(.\)\n\(.*\).$/\2\1/}' lines/$a100
expect 1 replay lines; says '12287 of 12288'; says 'NVIDIA A100: 1023 of 1024 dot products of 4 '
says "MISMATCH sm_80/mma.m16n8k8.f32.f16.f16.f32  lines/$a100:100  NVIDIA A100"
head -n 99 lines/$a100 | gzip >x.gz; head -c $(($(stat -c %s x.gz) - 9)) x.gz >lines/$a100.gz; rm lines/$a100
expect 5 replay lines; warns "$a100.gz: damaged"; says " dot products equal the model's (damaged data skipped)"
echo 1 >lines/$a100; rm lines/$a100.gz; expect 5 replay lines; warns "$a100:1: "; says '12032 of 12032'
gzip -c eval.txt >x.gz; head -c $(($(stat -c %s x.gz) - 9)) x.gz >torn.txt.gz
expect 5 replay torn.txt.gz --instr="$("$m" list | tail -n 1)"
grep -v '^#' eval.txt >nameless.txt; expect 2 replay nameless.txt; warns instruction

# ---- Devices that fail
run 3 --device='exec:exit 3' --instr=$fma --cases=100 --workdir=e1; warns 'exit'
run 5 --device='exec:sed s/.*/hello/' --instr=$fma --cases=100 --workdir=e2; warns hello
run 1 --device="$simulator | head -n 70" --instr=$fma --cases=1000 --workdir=e3; says 'aged:early_end'; says 'after 70 answers'
run 3 --device='exec:kill -9 $$' --instr=$fma --cases=100 --workdir=e4; warns signal
run 4 --device='exec:/no/such/program' --instr=$fma --cases=100 --workdir=e5; warns 'check the path'
run 3 --device=faulty:dead=1 --instr=$mma --cases=100 --workdir=d1; warns 'failed at call 1'
run 75 --device=faulty:dead=50 --instr=$mma --cases=9000 --workdir=d2; warns 'failed at call 50'
warns 'the same command line resumes'; is "$(stat_of mismatches)" 0
run 75 --device=faulty:dead=50 --instr=$mma --cases=9000 --workdir=d2; is "$(stat_of resumed_units)" 1
# A program that dies now and then is asked again; where it dies for good each attempt gains units until all are done.
cat >mortal.sh <<'END'
echo x >>runs.txt
[ $(($(wc -l <runs.txt) % $2)) -lt $1 ] || exit 1
END
run 0 --device="exec:sh mortal.sh 59 60 && '$m' eval \$MMADIFF_INSTRUCTION" --instr=$tf32 --cases=5000 --workdir=once
warns 'retried alone'; once_digest=$(stat_of digest)
attempts=0
until rm -f runs.txt; "$m" run --device="exec:sh mortal.sh 36 1000 && '$m' eval \$MMADIFF_INSTRUCTION" --instr=$tf32 --cases=5000 --threads=1 \
  --workdir=mortal >"$out" 2>"$err"; do
  is $? 75; attempts=$((attempts + 1)); [ $attempts -lt 20 ] || break
done
is $((attempts > 1 && attempts < 20)) 1
mortal_digest=$(stat_of digest)
run 0 --device=faulty:none=0 --instr=$tf32 --cases=5000 --workdir=immortal
is "$(stat_of digest) $(stat_of digest)" "$mortal_digest $once_digest"

# ---- Work directories
run 2 --device=faulty:none=0 --instr=$mma --cases=501 --workdir=clean
warns 'clean belongs to a different run'; warns '500 cases'; silent "$out"
run 2 --device=faulty:none=0 --instr=$mma --cases=500 --seed=2 --workdir=clean; warns 'seed: stored 1, wanted 2'
run 6 --device=faulty:none=0 --instr=$fma --cases=100 --workdir=/proc/none; silent "$out"
run 6 --device=faulty:none=0 --instr=$fma --cases=100 --workdir=rec.log/below
run 0 --device=faulty:none=0 --instr=$mma --cases=9000 --shard=0/2 --workdir=shard
run 2 --device=faulty:none=0 --instr=$mma --cases=9000 --shard=1/2 --workdir=shard; warns 'shard: stored 0, wanted 1'
# A damaged log: its units run again, and the result is whole.
run 0 --device=faulty:none=0 --instr=$mma --cases=9000 --workdir=whole; whole=$(stat_of digest)
log=$(ls whole/units-*.log)
printf 'XXXX' | dd of="$log" bs=1 seek=$(($(stat -c %s "$log") / 2)) conv=notrunc 2>/dev/null
run 0 --device=faulty:none=0 --instr=$mma --cases=9000 --workdir=whole; warns "$log"; warns 'run again'
is "$(stat_of digest)" "$whole"
# The log of a run with another seed is damage too.
run 0 --device=faulty:none=0 --instr=$mma --cases=9000 --seed=2 --workdir=other
cp other/units-*.log whole/units-000009-1.log
run 0 --device=faulty:none=0 --instr=$mma --cases=9000 --workdir=whole; warns 'a block of a different run'
is "$(stat_of digest)" "$whole"; is "$(stat_of resumed_units)" 5
sed -i 's/^seed: 1/seed: 2/' whole/manifest.txtpb
run 5 --device=faulty:none=0 --instr=$mma --cases=9000 --seed=2 --workdir=whole; warns manifest.txtpb
# One writer at a time, and in the default folder a finished run starts anew.
flock whole/writer.lock "$m" run --device=faulty:none=0 --instr=$mma --cases=9000 --workdir=whole >"$out" 2>"$err"
is $? 2; warns 'another process is writing to whole (pid '
rm -rf mmadiff-runs
run 0 --device=faulty:none=0 --instr=$mma --cases=500; run 0 --device=faulty:none=0 --instr=$mma --cases=500
is "$(stat_of resumed_units)" 0; is "$(ls mmadiff-runs/*/units-*.log | wc -l)" 1; rm -r mmadiff-runs
# A full disk: exit code 6, and with room again the run goes on. A file size limit stands in for the
# disk where mounting is not allowed.
(ulimit -f 1; "$m" run --device=faulty:none=0 --instr="$mma,x86/*" --cases=3000 --threads=1 --workdir=full \
  >"$out" 2>"$err"); is $? 6; warns 'may be lost'
run 0 --device=faulty:none=0 --instr="$mma,x86/*" --cases=3000 --workdir=full; full=$(stat_of digest)
run 0 --device=faulty:none=0 --instr="$mma,x86/*" --cases=3000 --workdir=roomy; is "$(stat_of digest)" "$full"
mkdir disk
if mount -t tmpfs -o size=16k tmpfs disk 2>/dev/null; then
  mounted=$tmp/disk
  run 0 --device=faulty:none=0 --instr=$mma --cases=100 --workdir=disk/w
  head -c 100000 /dev/zero >disk/filler 2>/dev/null
  run 6 --device=faulty:none=0 --instr=$mma --cases=100 --workdir=disk/other
  rm disk/filler
  run 0 --device=faulty:none=0 --instr=$mma --cases=100 --workdir=disk/w
  umount disk && mounted=
fi

# ---- Time limits and signals
for limit in 1 2 4 8 16 32 64 128; do  # what a slow machine needs to begin
  "$m" run --device=faulty:none=0 --instr=$fma --forever --max-total-time=${limit}s --workdir=forever \
    >"$out" 2>"$err" && break
done
is "$(($(stat_of dot_products) > 0))" 1; is "$(stat_of digest)" ''
for limit in 0.2 2 20 200; do
  run 75 --device=faulty:none=0 --instr=$mma --cases=1e9 --max_total_time=$limit --workdir=limit
  warns 'stopped early (time limit)'
  [ "$(stat_of dot_products)" = 0 ] || break
done
is "$(($(stat_of dot_products) > 0))" 1
run 75 --device=faulty:none=0 --instr=$mma --cases=1e9 --stop_at=2001-01-01T00:00:00Z --workdir=limit
is "$(($(stat_of resumed_units) > 0))" 1
for signal in INT TERM; do
  : >"$err"
  "$m" run --device=faulty:none=0 --instr=$mma --cases=1e9 --threads=1 --workdir=$signal \
    >"$out" 2>"$err" &
  pid=$!
  await grep -q '^#[1-9]' "$err"
  kill -$signal $pid
  wait $pid; is $? 75
  warns 'stopped early (signal'; cases=$(stat_of cases); is "$((cases > 0))" 1
  run 75 --device=faulty:none=0 --instr=$mma --cases=1e9 --max_total_time=0 --workdir=$signal
  # A unit has 8192 cases; of one that did not end in time some were answered.
  resumed=$(($(stat_of resumed_units) * 8192)); is $((resumed <= cases && cases < resumed + 8192)) 1
done

ended
