#!/usr/bin/env bash
# Exit codes: every verb with every kind of bad input. Bad data is 5 wherever it is read, usage 2, a
# program or file that does not exist 4 or 2; 75 only when the same command line may do better later.
# And nothing from outside reaches the terminal or a report as it is. Usage: exit_test.sh MMADIFF
set -u
m=$(realpath "$1")
. "$(dirname "$0")/../testing/expect.sh"
export MMADIFF_LIBCUDA=/none/libcuda.so NO_COLOR=
fma=x86/vfmadd231ss one=3f800000
mma=sm_90/mma.m16n8k16.f32.f16.f16.f32

# ---- Files to read: a good one of each kind first.
"$m" run --device=faulty:fraction_bits=24 --instr=$mma --cases=200 --threads=1 --workdir=found >"$out" 2>"$err"
case=$(grep -rl 'why: "the device and the model differ' found/findings)
"$m" record --device=faulty:none=0 --instr=$fma --cases=50 good.log >"$out" 2>"$err"
"$m" record --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0.1 folder >"$out" 2>"$err"
"$m" gen $fma --cases=50 | "$m" eval $fma >lines.txt
cp "$case" good.txtpb
printf 'source: x\n\nvector: v\nabout: a\nformats: f32 f16 f16 f32\noperands: 3c00 | 3c00 | 3f800000\nexpected: 40000000 %s\n\nend\n' $mma >vectors.txt
expect 0 replay good.log; expect 0 replay folder; expect 0 replay lines.txt; expect 0 replay vectors.txt
expect 1 replay good.txtpb

mkdir -p folder.txtpb folder.log folder.txt nothing bad
noise() { python3 -c 'import random, sys; sys.stdout.buffer.write(random.Random(1).randbytes(int(sys.argv[1])))' $1; }
for kind in txtpb log txt; do : >empty.$kind; noise 3000 >noise.$kind; done
head -c 100 good.txtpb >cut.txtpb; head -c 100 good.log >cut.log; sed '52s/.\{12\}$/x/;52q' lines.txt >cut.txt
head -n 6 vectors.txt >cut_vectors.txt
cp good.log kind.txtpb; cp good.txtpb kind.txt; cp good.txtpb bad; head -c 100 good.txtpb >bad/cut.txtpb
expect 0 replay kind.txtpb; expect 0 identify --device=recorded:kind.txtpb; expect 1 replay kind.txt  # by their first bytes
for file in {empty,noise,cut}.{txtpb,log,txt} cut_vectors.txt; do
  expect 5 replay $file
  [ -d "${file%.*}" ] || expect 5 run --device=recorded:$file --instr=$fma --workdir=none
done
for file in {empty,noise,cut,kind}.txtpb; do
  expect 5 explain $file; expect 5 minimize $file --device=faulty:none=0
done
cp folder/raw-1.log raw; : >folder/raw-1.log; expect 5 replay folder; cp raw folder/raw-1.log
cp folder/recording.txtpb manifest; : >folder/recording.txtpb; expect 5 replay folder; cp manifest folder/recording.txtpb
# A survey: of nothing, in folders of others, with damaged answers.
expect 0 survey --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0 --out=survey
expect 0 replay survey; cp -r survey twin; expect 0 survey --compare survey twin; expect 2 survey --compare survey survey; warns 'are the same'
expect 2 explain survey; warns 'replay survey`'; expect 2 explain survey/recording; warns 'no filed cases'
expect 2 explain $mma; warns "its first case is $mma@g3:1:0"
expect 2 probe --device=faulty:none=0 --instr=$fma --question=integers; warns '1 question left out, although named: not applicable'
expect 0 probe --device=faulty:none=0 --instr=$mma --question=width,scales; warns "1 of 2 questions left out, although named: not applicable (scales of $mma)"
expect 0 probe --device=faulty:none=0 --instr=$mma --question=width,scales --json; says '"named": true'
# ---- What is left out is said, in text, JSON, JUnit and pages; what was named is missed.
lacks="1 of 2 instructions left out: host is this CPU, which cannot run $mma"
# Why nobody answers, in the same words by each verb.
"$m" record one_case.log --device=faulty:none=0 --instr=$mma --cases=1
for verb in 'run --cases=9 --workdir=absent' 'probe --question=order' "replay $mma@g3:1:8"; do
  expect 4 $verb --instr=$mma --device=exec:/no/such; warns ': the program for it cannot be started ('; rm -rf absent
  expect 4 $verb --instr=$mma --device=recorded:one_case.log; warns ': the recording has no answers for it ('
  rm -rf absent
done
expect 0 list instructions 'sm_103/*tcgen05*'; warns 'left out: this version has no operand formats for them'
expect 4 run --device=host --instr="$fma,$mma" --cases=100 --workdir=left; warns "$lacks"
expect 4 run --device=host --instr="$fma,$mma" --cases=100 --workdir=left --json; says '"reason":"device_lacks","named":true,"count":1,"of":2'
expect 4 run --device=host --instr="$fma,$mma" --cases=100 --workdir=left --dry_run; warns "$lacks"
expect 0 report left --junit=left.xml --markdown; says "* left out: $lacks"
grep -qF '<failure message="absent">' left.xml || fail 'JUnit passes a row that was named and left out'
expect 0 run --device=host --instr="$fma,sm_90/mma*" --cases=100 --workdir=left_globs; warns 'left out: the device lacks them'
expect 0 report left_globs --out=left.xml; grep -qF '<skipped message=' left.xml || fail 'JUnit does not say what was skipped'
expect 0 report left_globs --out=left.html; grep -qF 'left out: the device lacks them' left.html || fail 'the page does not say what was left out'
expect 4 survey --device=host --instr="$fma,$mma" --cases=50 --max_total_time=30 --out=left_survey; of_survey="1 of 2 instructions left out, although named: the device lacks it ($mma)"; warns "$of_survey"; says "* $of_survey"
expect 4 record left_recording --device=host --instr="$fma,$mma" --cases=5 --max_total_time=0; warns "$lacks"
expect 4 probe --device=host --instr="$fma,$mma" --question=order,layout; warns "$lacks"
expect 4 infer --device=host --instr="$fma,$mma" --budget=3000 --validate=1000; warns "$lacks"
expect 4 identify --device=host --instr="$fma,$mma"; warns "$lacks"
expect 1 run --device=faulty:fraction_bits=24 --instr="$fma,$mma" --cases=200 --workdir=left_differs; warns "1 of 2 instructions left out"
expect 2 verify left --device=faulty:none=0; warns 'comparing the model with itself'
unknown=gfx950/v_mfma_f32_16x16x32_f16
for verb in mutants coverage bench; do expect 4 $verb --instr=$unknown; warns 'although named: no model is known for it'; done
expect 0 mutants --instr='gfx950/*' --cases=2000; warns 'left out: no model is known for them'
expect 4 run --device=faulty:none=0 --instr=$fma,tpu_v2/mxu.f32.bf16.bf16.f32 --cases=50; warns 'this version has no operand formats for it'
# A shard without a unit of one of its instructions is whole.
for shard in 0 1 2; do
  expect 0 run --device=faulty:none=0 --instr=$fma,$mma --cases=20000 --shard=$shard/3 --workdir=of_three$shard
done
expect 0 report of_three2 --junit=of_three.xml; grep -q '<skipped message="no unit in these shards"' of_three.xml || fail 'JUnit misses what other shards have'
# A difference beside an instruction that is dropped is no internal error.
mkdir two; for op in x86/vfmadd231ss x86/vfmadd231sd; do "$m" gen $op --cases=3 | "$m" eval $op >two/${op/\//.}.txt; done
cat >two.sh <<'END'
[ $MMADIFF_INSTRUCTION = x86/vfmadd231ss ] && { cat >/dev/null; echo rubbish; exit; }
exec "$PROGRAM" eval $MMADIFF_INSTRUCTION --device=faulty:output_rounding=up
END
PROGRAM=$m expect 1 replay two --device='exec:sh two.sh'; warns 'dropped x86/vfmadd231ss'
# Integers have no ulps.
expect 1 run --device='exec:sed "s/$/ 00000007/"' --instr=x86/vpdpwssd --cases=20 --workdir=integers
expect 0 report integers --json; says '"ulps": []'
# Findings that a person explained, then a device that no longer has them.
cp -r found noted; expect 1 replay noted/findings --update --why='erratum 12'; expect 0 report noted --markdown; says ' Note: '; says 'erratum 12'
expect 0 replay noted/findings --update --device=faulty:none=0; expect 0 report noted --out=noted.html
grep -qF 'card verdict warn' noted.html && grep -qF 'All findings have been fixed since.' noted.html || fail 'the page does not say that the findings are fixed'
# Files of a folder, whatever their names.
mkdir mixed; "$m" gen $mma --cases=1 | "$m" eval $mma >mixed/sm_90.mma.m16n8k16.f32.f16.f16.f32.txt
expect 0 replay mixed
"$m" gen $mma --cases=1 | "$m" eval $mma --device=faulty:fraction_bits=24 | tee mixed/night2.txt >mixed/answers
ln -s ../good.log mixed/linked.log; mkdir beyond; ln -s ../beyond mixed/beyond; cp good.log mixed/good.log.tmpAbC123
expect 1 replay mixed; warns '1 of 6 files left out: links to folders are not followed (mixed/beyond)'; warns '1 of 6 files left out: temporary, left by a killed process (mixed/good.log.tmpAbC123)'
rm mixed/linked.log mixed/beyond mixed/good.log.tmpAbC123
touch mixed/LICENSE; echo text >mixed/README.md; cp good.log mixed/NIGHT
expect 1 replay mixed --json; warns '2 of 6 files left out: not mmadiff files (mixed/LICENSE, mixed/README.md)'; says '"compared": 434'
rm mixed/night2.txt mixed/answers; noise 90 >mixed/one.LOG
expect 5 replay mixed; warns '1 of 5 files left out: not understood (mixed/one.LOG)'; expect 5 infer --device=recorded:mixed --instr=$mma
rm mixed/one.LOG
"$m" gen $mma --cases=1 | "$m" eval $mma --device=faulty:fraction_bits=24 | sed '/^#/d' >mixed/night3
expect 5 replay mixed; warns '1 of 5 files left out: not understood (mixed/night3)'; expect 1 replay mixed --instr=$mma; rm mixed/night3; echo broken >mixed/my_answers.txt; for verb in replay explain 'list findings'; do expect 5 $verb mixed; warns '1 of 5 files left out: not understood (mixed/my_answers.txt)'; done
expect 5 run --device=recorded:mixed --instr=$mma --workdir=none; warns my_answers.txt
rm mixed/my_answers.txt; expect 0 identify --device=recorded:mixed --instr='sm_90/*'; warns '2 of 4 files left out: not mmadiff files'
expect 0 record --device=faulty:none=0 --instr='x86/vfmadd231s?' --cases=5 --max_total_time=0 two_units
expect 0 replay two_units --every=4; warns '1 of 2 units left out: not in the sample'
expect 4 list instructions 'gfx950/v_mfma_scale*'; warns 'no model is known for them: --evidence lists them too'
expect 3 run --device=faulty:none=0 --instr=$fma --cases=10 --shard=7/16 --workdir=empty_shard; warns 'shard 7/16 has no unit'
expect 0 probe --device=faulty:none=0 --instr=$mma --question=pairs --max_total_time=0; says 'agrees so far'; warns 'until --max_total_time=0'
expect 75 probe --device=faulty:none=0 --instr=$mma,$fma --question=floor --max_total_time=0; warns 'choose fewer with --instr'
for file in empty.log noise.log good.log cut.log; do
  mkdir -p damaged; cp $file damaged/answers.log
  expect 5 survey --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0 --out=damaged
  expect 5 survey --compare damaged survey
done
mkdir -p reg/x86; head -c 100 good.txtpb >reg/x86/cut.txtpb
expect 5 survey --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0 --out=s3 --regressions=reg; warns cut.txtpb
expect 5 record new --device=faulty:none=0 --instr=$fma --cases=5 --max_total_time=0 --regressions=reg; warns cut.txtpb
[ ! -e new ] || fail 'a recording beside damaged cases'
cp -r survey edited; printf x | dd of=edited/answers.log bs=1 seek=3000 conv=notrunc 2>/dev/null
expect 5 replay edited; rm -r edited/recording edited/survey.*; expect 5 replay edited
cp -r survey copy; rm copy/answers.log; expect 5 replay copy; warns answers.log
rm -r copy/recording copy/survey.*; cp survey/answers.log copy; expect 0 replay copy
expect 3 survey --device=faulty:flaky_bit=1000 --instr=$fma --cases=50 --max_total_time=0 --out=flaky
expect 3 replay flaky; warns 'did not repeat; not used'; expect 3 replay flaky --device=faulty:none=0; warns 'did not repeat; not used'; cp -r flaky twin2; expect 0 survey --compare flaky twin2
cp -r flaky other; rm -r other/recording; cp -r survey/recording other; expect 5 survey --compare other flaky
[ ! -e flaky/recording ] || fail 'answers that do not repeat were recorded'
expect 1 survey --device=faulty:output_rounding=toward_zero --instr=$fma --cases=50 --max_total_time=0 --out=zeroed
rm -r survey/recording; cp -r zeroed/recording survey; expect 5 replay survey; warns 'from a different device'
expect 5 run --device=recorded:survey --instr=$fma --cases=50 --workdir=none
expect 0 survey --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0 --out=survey
mkdir survey/recording.tmp survey/recording/mine; : >survey/my.tmpnotes
expect 6 survey --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0 --out=survey; warns 'recording'
[ -f survey/my.tmpnotes ] && [ -d survey/recording/mine ] || fail 'files of others are gone'
rm -r survey/recording.tmp survey/recording survey/my.tmpnotes
expect 0 survey --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0 --out=survey
expect 2 survey; expect 2 survey --out=folder --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0
expect 2 survey --out=survey --device=faulty:none=0 --instr=$fma --cases=51 --max_total_time=0
expect 2 survey --out=s1 --device=nonesuch --instr=$fma; expect 2 survey --out=s1 --instr=none
expect 2 survey --out=s1 --max_total_time=0; expect 2 survey --out=s1 --timeout=0; expect 2 survey --out=s1 --max_bytes=1
expect 2 survey --compare survey; expect 2 survey --compare survey none; expect 2 survey --out=s1 --regressions=none
expect 4 survey --out=s1 --device=exec:/no/such/program --instr=$fma --cases=5
expect 4 survey --out=s1 --device=cuda:0 --instr=$fma; expect 4 survey --out=s2 --device=host --instr=$mma
expect 1 replay bad; warns cut.txtpb; expect 5 replay bad --device=faulty:none=0
# Nothing there, or nothing in it.
for kind in txtpb log txt; do
  expect 2 replay none.$kind; warns none.$kind
  expect 3 replay folder.$kind; expect 3 replay nothing
done
for verb in explain minimize; do
  expect 2 $verb none.txtpb; expect 2 $verb none/none.txtpb; expect 2 $verb
  expect $([ $verb = explain ] && echo 2 || echo 5) $verb folder.txtpb --device=faulty:none=0
done
for path in none none.log none/none.txt; do expect 4 run --device=recorded:$path --instr=$fma --workdir=none; done
expect 5 run --device=recorded:nothing --instr=$fma --workdir=none
expect 2 changes --file=none; expect 2 changes --file=nothing; expect 5 changes --file=noise.txt
expect 5 changes --file=empty.txt
# Pipes give their bytes once.
mkfifo pipe.txt pipe
for pipe in pipe.txt pipe /dev/stdin; do
  expect 2 replay $pipe < <(cat good.log); warns 'not a regular file'
  expect 2 run --device=recorded:$pipe --instr=$fma --workdir=none < <(cat good.log)
done
# Not to be read (root reads everything).
if [ "$(id -u)" != 0 ]; then
  chmod 0 raw bad; expect 2 replay raw; expect 2 replay bad; chmod 700 raw bad
fi

# ---- stdin
for verb in "eval $fma" "check $fma"; do
  expect 5 $verb <noise.txt; warns 'stdin line 1: '
  expect 5 $verb <cut.txt; warns 'stdin line 52: '
  expect 5 $verb < <(head -c 1000000 /dev/zero); warns 'longer than'
  expect 5 $verb <nothing; warns 'Is a directory'
done
expect 3 check $fma <empty.txt
expect 5 check $fma < <(head -n 20 lines.txt)

# ---- Programs
device() { # CODE COMMAND: of every verb that asks a device; `run` has compared nothing.
  local code=$1
  expect $code replay good.txtpb --device="exec:$2"
  expect $code explain good.txtpb --device="exec:$2"
  expect $code minimize good.txtpb --device="exec:$2"
  expect $code probe --question=floor --instr=$mma --device="exec:$2"
  expect $code record --instr=$fma --cases=10 new.log --device="exec:$2"
  expect $code record --instr=$fma --cases=10 --max_total_time=0 new --device="exec:$2"
  expect $code eval $mma --device="exec:$2" < <("$m" gen $mma --cases=1)
  [ ! -e new.log ] && [ ! -e new ] || fail "a recording of $2"
}
echo text >not_executable
device 4 /no/such/program; warns 'check the path'
device 4 ./not_executable; warns 'check its permissions'
device 4 './not_executable | cat; exit 126'
device 3 'exit 1'; device 3 'cat >/dev/null; exit 3'; device 3 'kill -9 $$'
# It dies of some inputs of one instruction: a finding, and all go on.
dies="in=\$(cat); case \$MMADIFF_INSTRUCTION:\$in in $fma:*7f800000*) kill -9 \$\$ ;; esac
  printf '%s\\n' \"\$in\" | '$m' eval \$MMADIFF_INSTRUCTION"
both=--instr=$fma,x86/vdpbf16ps
for attempt in 1 2; do
  expect 1 run $both --cases=500 --threads=$attempt --device="exec:$dies" --workdir=dies; says ' 500          8000 '; says 'x86/vfmadd231ss  crash_signal_9 '
done
expect 3 probe --question=nan $both --device="exec:$dies"; warns 'fails on '; says 'nan_rule=propagate: agrees'
expect 3 record dies.log $both --cases=500 --device="exec:$dies"; expect 0 replay dies.log
# What was dropped is in JSON, too.
expect 3 record none_folder --instr=$fma --cases=500 --max_total_time=0 --device="exec:$dies"; warns 'nothing was recorded'
expect 1 run $both --cases=500 --device="exec:$dies" --workdir=dies_json --json; says '"bucket":"crash_signal_9"'
expect 3 replay good.log dies.log --device="exec:[ \$MMADIFF_INSTRUCTION != $fma ] || exit 3; exec '$m' eval \$MMADIFF_INSTRUCTION" --json; says '"reason": "dropped"'
# A finding is fixed if it is so five times.
expect 1 run --instr=$fma --cases=200 --device=faulty:output_rounding=toward_zero --workdir=flaps
flaps="exec:echo >>flapped; [ \$(wc -l <flapped) -gt 1 ] || exec '$m' eval $fma; exec '$m' eval $fma --device=faulty:output_rounding=toward_zero"
expect 5 replay "$(grep -rl 'why: "the device and the model differ' flaps/findings | head -1)" --device="$flaps"; says 'FLAKY'
expect 3 probe --question=layout,pairs --instr=x86/vdpbf16ps --device="exec:${dies/$fma:\*7f800000/x86/vdpbf16ps:*7f}"
warns 'fails on '; says ': agrees'
# It was wrong once, in a unit that is not stored: its finding is asked again.
forever=(run --forever --instr=$fma --threads=1 --workdir=endless --device="exec:[ -n \"\$WRONG\" ] || exec '$m' eval $fma
  exec '$m' eval $fma --device=faulty:output_rounding=toward_zero")
WRONG=1 expect 1 "${forever[@]}" --max_mismatches=1; rm endless/units-*
expect 5 "${forever[@]}" --max_mismatches=0 --max_total_time=1; warns 'has changed: use a new folder'
# It answers eight times and no more: lost. A signal: what was answered is printed.
eight="echo >>asked; [ \$(wc -l <asked) -le 8 ] && exec '$m' eval \$MMADIFF_INSTRUCTION"
expect 75 probe --all --instr=$fma --device="exec:$eight; exit 1"; says 'stat::agree: 1'; rm asked
expect_stopped() { # ARGUMENTS...: mmadiff, which a command of its device sends a signal
  bash -c 'm=$1; shift; export self=$$; exec "$m" "$@"' - "$m" "$@" >"$out" 2>"$err" </dev/null
  local code=$?; [ $code = 75 ] || fail "exit code $code, not 75, after a signal: mmadiff $*"
}
expect_stopped probe --all --instr=$fma --device="exec:$eight; kill -TERM \$self; sleep 100"
says 'stat::agree: 1'; rm asked
# record: a signal before there are digests, and while they are made.
asked() { echo "echo >>asked; [ \$(wc -l <asked) -gt $1 ] || exec '$m' eval \$MMADIFF_INSTRUCTION; kill -TERM \$self; sleep 100"; }
three="record --instr=$fma --cases=3 --threads=1"
expect 0 $three everything --max_total_time=0 --device="exec:$(asked 1000000)"; number=$(wc -l <asked); rm asked
expect_stopped $three early --device="exec:$(asked 3)"; warns 'no recording was kept'; [ "$(echo early*)" = 'early*' ] || fail "something is left"; rm asked
expect_stopped $three early --max_total_time=1h --device="exec:$(asked $((number + 2)))"; warns 'fewer digests'; rm asked
expect 0 replay early; says ' of digests equal'
# mutants: a signal comes sooner or later than its handler.
for seconds in 0.1 0.3 1 3 10 30 100 300; do
  timeout --preserve-status -s TERM $seconds "$m" mutants --instr="$mma" --strategy=bits --cases=2^40 >/dev/null 2>&1; code=$?
  [ $code = 143 ] || break
done
[ $code = 75 ] || fail "exit code $code, not 75, of mutants after a signal"
device 5 'echo garbage'; device 5 true; device 5 'yes 0'; device 5 cat; device 5 'tr "\0" x </dev/zero'
device 5 'echo x >>changed; cat changed >/dev/null'
expect 4 run --instr=$fma --cases=10 --workdir=none1 --device=exec:/no/such/program
expect 3 run --instr=$fma --cases=10 --workdir=none2 --device='exec:exit 1'
expect 5 run --instr=$fma --cases=10 --workdir=none3 --device='exec:echo garbage'
for seconds in -5 0 x nan; do
  MMADIFF_EXEC_TIMEOUT=$seconds expect 2 replay good.txtpb --device=exec:cat; warns 'above 0'
done
expect 2 replay good.txtpb --device=exec:; expect 2 replay good.txtpb --device='exec:  '

# ---- Folders: whatever lies beside a recording counts as anywhere.
"$m" record both --device=faulty:none=0 --instr=$fma --cases=10 --max_total_time=0 2>"$err" || fail "record both"
expect 0 replay both
"$m" record lies.log --device=faulty:output_rounding=toward_zero --instr=$fma --cases=200 2>"$err" || fail lies.log
for folder in both logs; do
  mkdir -p $folder; cp lies.log $folder; expect 1 replay $folder; rm $folder/lies.log
done
expect 3 replay logs
cp lies.log logs/units-1.log; expect 1 replay logs; rm logs/units-1.log
head -c 100 lies.log >both/torn.log; expect 5 replay both; warns torn.log; rm both/torn.log
# And a folder of answers is no place for a run; a damaged finding in the way is damage.
expect 2 run --device=faulty:none=0 --instr=$fma --cases=10 --workdir=both; warns 'is a recording'
mkdir notes; touch notes/todo; expect 2 run --device=faulty:none=0 --instr=$fma --cases=10 --workdir=notes; warns 'it contains todo'
[ "$(ls notes)" = todo ] || fail "something is left"
hurt() { expect $1 run --device=faulty:terms=8 --instr=$mma --cases=20 --max_mismatches=5 --threads=1 --workdir=hurt; }
hurt 1
for name in $(find hurt/findings -name '*.txtpb'); do head -c 100 "$name" >cut; cp cut "$name"; done
rm hurt/units-*; hurt 5; warns 'remove it'
# ---- Folders of runs
sd=x86/vfmadd231sd
# Of one run whatever $LIE is: answers of $fma that end in that digit are others, those of $sd are right.
liar="exec:'$m' eval \$MMADIFF_INSTRUCTION | if [ \$MMADIFF_INSTRUCTION = $fma ]; then sed \"s/\$LIE\\\$/1/\"; else cat; fi"
lies() { expect $1 run --device="$liar" --instr=$fma,$sd --cases=50 --threads=1 --max_mismatches=0 --workdir=$2; }
export LIE=0; lies 1 lied
export LIE=none; lies 0 honest
expect 0 verify honest --sample=100%; says '2 of 2 units equal'
for flag in --sample=100% --unit=$fma:0; do  # the log of `lied` has answers that the device does not give
  expect 1 verify lied $flag; says "DIFFERS $fma unit 0, cases 0 to 49: the device's digest has changed"
  says "done by  $(hostname)"; says "--unit=$fma:0"
done
expect 1 verify lied --sample=100% --json; says "\"machine\": \"$(hostname)\""; says '"differs": "device"'
expect 0 verify lied --unit=$sd:0
for sample in 0 0% -1 101% nan% 1.5 x; do expect 2 verify honest --sample=$sample; warns 'is neither a share'; done
for cases in -1 1.5 1e-3 1e30 nan; do
  for verb in "run --workdir=none" gen mutants coverage; do
    if [ "$verb" = gen ]; then of=$fma; else of=--instr=$fma; fi
    expect 2 $verb $of --cases=$cases; warns "'$cases' is not a count"
  done
done
for shard in 3/2 0/0 -1/4 auto/0 1/ x auto; do
  expect 2 run --device=faulty:none=0 --instr=$fma --cases=50 --shard=$shard --workdir=none
  if [ $shard = auto ]; then warns 'no scheduler has numbered'; else warns "'$shard' is not I/N"; fi
done
mkdir -p empty
expect 0 run --device=faulty:none=0 --instr=$fma --cases=50 --threads=1 --workdir=fifty
expect 0 run --device=faulty:none=0 --instr=$fma --cases=60 --threads=1 --workdir=sixty
expect 0 run --device=faulty:none=0 --instr=$fma --cases=50 --threads=1 --shard=0/2 --workdir=half
expect 0 merge fifty fifty; says '1 of 1 units from 1 folder,'
expect 2 merge half half; warns 'is shard '; expect 2 merge half fifty; warns 'name a new folder'
mkdir killed no_run; touch killed/writer.lock no_run/x
nothing() {
  for verb in "merge whole $1" "report $1" "status $1" "verify $1"; do expect 2 $verb; warns "$1$2"; done
  for verb in "merge all fifty $1" "report $1 fifty" "status $1 fifty"; do expect $3 $verb; warns "$1$2"; done
}
nothing none ' does not exist' 5; nothing empty ' is empty: no run has begun there' 0
nothing killed ': the run was killed before' 0; nothing no_run ' is not the folder of a run' 5
expect 2 merge whole fifty sixty; warns 'merge folders of one run'; [ ! -e whole ] || fail 'a merge of nothing'
expect 2 status fifty sixty; expect 2 status fifty fifty
expect 0 report fifty --json; cp "$out" report.json
for verb in "report report.json" "merge whole report.json"; do expect 2 $verb; warns 'is a file, not the folder of a run'; done
expect 0 report fifty sixty --json; says '"cases": 50,'; says '"cases": 60,'
expect 3 report --compare fifty sixty; says 'no unit has the same cases in both'
expect 2 report --compare fifty; warns 'required'; expect 2 report --compare fifty sixty --out=x.html; warns 'redirect it'; expect 2 report --compare fifty ./fifty; warns 'are the same'
expect 2 report --compare fifty none; warns 'no such file'; expect 2 report --compare fifty empty
# What a program loads is no part of its identity: a canary notices that it has changed.
echo 'as_it_was=p' >loaded.sh
echo '. ./loaded.sh; "$1" eval "$MMADIFF_INSTRUCTION" | sed "$as_it_was"' >loads.sh
loads=(--instr=$fma --cases=20000 --threads=1 --device="exec:bash loads.sh $m" --workdir=loads)
sed -i 's/sed "/sed -n "/' loads.sh
expect 0 run "${loads[@]}"
expect 0 run "${loads[@]}"; says 'executed again, with the same answers'
echo 'as_it_was="s/0$/1/;p"' >loaded.sh
expect 5 run "${loads[@]}"; warns 'has changed: use a new folder'
expect 5 status loads; says 'dropped'; expect 5 report loads; says 'has changed: use a new folder'; expect 0 merge merged_loads loads; warns 'dropped'; expect 5 status merged_loads
expect 75 run "${loads[@]}" --max_total_time=0; warns 'the device was not checked for changes'
expect 5 status loads
echo 'as_it_was=p' >loaded.sh
expect 0 run "${loads[@]}"; expect 0 status loads; expect 0 report loads
# A recording is one device's: what is beside it is said.
cp -r folder beside; cp good.log beside/extra.log
for device in recorded:folder recorded:beside; do
  code=0; [ $device = recorded:folder ] || code=5
  expect $code run --device=$device --instr=$fma --cases=16 --workdir=of_$code; [ $code = 0 ] || warns 'extra.log'
done
expect 5 report --compare folder beside; warns 'extra.log'
expect 5 infer --device=recorded:beside --instr=$fma; warns 'extra.log'

# A device that vanishes after so many questions, of one identity.
vanishes="exec:echo >>asked; [ \$(wc -l <asked) -le \$MOST ] && exec '$m' eval \$MMADIFF_INSTRUCTION; exit 1"
export MOST=1000000
expect 0 run --instr=$fma --cases=20000 --threads=1 --device="$vanishes" --workdir=gone
cp -r gone begun; rm begun/units-*.log asked
export MOST=7  # a canary takes four questions, a unit one
expect 75 run --instr=$fma --cases=20000 --threads=1 --device="$vanishes" --workdir=begun; warns 'the same command line resumes'
rm asked; export MOST=1
expect 75 verify gone --sample=3 --threads=1 --device="$vanishes"; rm asked; export MOST=3
expect 75 record gone.log --instr=$fma --cases=200000 --device="$vanishes"; [ ! -e gone.log ] || fail 'a part of a recording'
rm asked; export MOST=1000000
expect 0 run --instr=$fma --cases=20000 --threads=1 --device="$vanishes" --workdir=begun
# How many were done depends on how fast the machine is.
grep -q '^stat::resumed_units: [1-9]' "$out" || fail 'no unit was kept'; digest=$(grep '^stat::digest' "$out"); rm asked
expect 0 run --instr=$fma --cases=20000 --threads=1 --device="$vanishes" --workdir=gone; says "$digest"
# A folder in which another process is writing.
exec 9>begun/writer.lock && flock 9
expect 2 minimize $mma@g3:1:0 --device=faulty:terms=8 --workdir=begun; warns 'another process is writing'
exec 9>&-
expect 1 minimize $mma@g3:1:0 --device=faulty:terms=8 --workdir=begun
# What is no regular file stays what it is.
mkfifo fifo; expect 6 replay good.log --junit=fifo; [ -p fifo ] || fail 'a pipe was replaced'

# ---- Usage
for verb in run replay minimize explain race identify list gen eval check layout record mutants probe changes; do
  expect 2 $verb --no_such_flag; expect 2 $verb --color=x; expect 2 $verb --error_exitcode=x
  expect 2 $verb --error_exitcode=5; warns "already means: damaged"
done
for verb in "replay good.txtpb" "explain good.txtpb" "minimize good.txtpb" "eval $mma" run "record x.log" "probe --all" identify; do
  expect 2 $verb --device=nonesuch; expect 2 $verb --device=faulty:x; expect 2 $verb --device=cuda:x
  expect 4 $verb --device=cuda:0
done
for verb in gen eval check layout; do expect 2 $verb x/y; expect 2 $verb; expect 2 $verb $fma $fma; done
for verb in run probe record mutants; do
  expect 2 $verb x --instr=none; expect 2 $verb --instr=x/y
done
for flag in --cases=x --cases=0 --seed=x --strategy=x --threads=0 --threads=x; do
  expect 2 mutants --instr=$fma $flag; expect 2 run --device=faulty:none=0 --instr=$fma $flag --workdir=none
done
for time in x -1 -1s nan inf -inf 1e400 infs; do
  expect 2 run --device=faulty:none=0 --instr=$fma --max_total_time=$time --workdir=none
  expect 2 record --device=faulty:none=0 --instr=$fma --max_total_time=$time none
  expect 2 probe --device=faulty:none=0 --instr=$fma --all --max_total_time=$time
done
expect 2 replay good.txtpb --every=0; expect 2 replay good.txtpb --max_reports=x; expect 2 gen $fma --cases=x
expect 2 check $fma --expect=x <lines.txt; expect 2 list nothing; expect 2 probe --question=none
[ ! -e none ] || fail 'a folder of a run that was none'

# ---- Files to write
for path in /proc/none/x good.txtpb/x; do
  expect 6 replay good.txtpb --device=faulty:none=0 --junit=$path; expect 6 changes --update --file=$path
  expect 6 minimize good.txtpb --device=faulty:fraction_bits=24 --workdir=$path
  expect 6 record $path.log --device=faulty:none=0 --instr=$fma
  expect 6 survey --out=$path --device=faulty:none=0 --instr=$fma --cases=50 --max_total_time=0
  expect 6 record $path --device=faulty:none=0 --instr=$fma --max_total_time=0
  expect 6 run --device=faulty:none=0 --instr=$fma --cases=10 --workdir=$path
  expect 6 probe --device=faulty:none=0 --instr=$mma --question=floor --out=$path
done
for verb in "gen $fma" "eval $fma" "check $fma" "replay good.log" list "list --json" "layout $mma" help "run --help" --version; do
  checks=$((checks + 1))
  "$m" $verb <lines.txt >/dev/full 2>"$err"; [ $? = 6 ] || fail "/dev/full: $verb"
  [ -s "$err" ] || fail "no message: $verb"
done

# ---- Control characters in names, files and answers
esc=$'\033[2J\007\177\302\233'
shown='\x1b[2J\x07\x7f\xc2\x9b'
evil="exec:: '$esc'; '$m' eval $mma"
expect 3 replay good.txtpb --device="exec:printf '%s' '$esc' >&2; exit 1"; warns "$shown"
expect 5 replay good.txtpb --device="exec:printf '%s\n' '$esc'"
expect 0 explain good.txtpb --device="$evil"; says "$shown"
expect 0 run --device="$evil" --instr=$mma --cases=5 --workdir="w$esc"; warns "$shown"
expect 2 replay "$esc"; expect 2 replay --device="$esc" good.txtpb; expect 2 gen "$esc"; expect 2 explain "$esc"
expect 0 eval $fma <<<"# $esc
$one $one $one"; says "$shown"
expect 0 eval $mma --device="$evil" < <("$m" gen $mma --cases=1); says "$shown"
expect 5 check $fma <<<"# instruction: $esc"; warns "$shown"
(echo "# device: $esc"; "$m" gen $fma --cases=2 | "$m" eval $fma | sed '/^# answers/d;/^#/!s/.$/z/;s/[0-8]z$/9/;s/z$/0/') >"lines$esc.txt"
"$m" replay "lines$esc.txt" --junit=report.xml >"$out" 2>"$err"; expect 1 replay "lines$esc.txt"; says "$shown"
(grep -v '^why' good.txtpb; printf 'why: "\\033[2J\\377"\n') >"why.txtpb"
for color in always never; do
  for file in good.txtpb why.txtpb "lines$esc.txt"; do
    "$m" replay "$file" --color=$color --junit=report.xml >"$out" 2>"$err"
    checks=$((checks + 1))
    if grep -qF "$esc" "$out" "$err" || grep -q $'\033\[2J' "$out" "$err"; then fail "escapes of $file"; fi
    if LC_ALL=C grep -q $'[\001-\010\013-\037]' report.xml; then fail 'control characters in XML'; fi
    if command -v python3 >/dev/null; then
      python3 -c 'import xml.dom.minidom as x; x.parse("report.xml")' 2>"$err" || fail 'no XML'
    fi
  done
done
expect 1 run --device="exec:: '$esc'$(printf '\377'); '$m' eval $mma --device=faulty:fraction_bits=24" --instr=$mma \
  --cases=50 --workdir=json --json
if command -v python3 >/dev/null; then python3 -m json.tool <"$out" >/dev/null || fail 'no JSON'; fi

ended
