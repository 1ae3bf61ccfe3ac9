#!/usr/bin/env bash
# Writes one of each kind of stored folder and file with PROGRAM into the new folder OUT. Usage: make.sh PROGRAM OUT
# Folders beside this script were written by the program of the version, or of the commit, in their name.
set -u
m=$(realpath "$1") && mkdir "$2" && cd "$2" || exit 2
row=x86/vdpbf16ps gpu=sm_80/mma.m16n8k4.f32.tf32.tf32.f32
# expect CODE VERB...: runs the program, whose exit code must be CODE.
expect() {
  local want=$1
  shift
  "$m" --quiet "$@" >/dev/null 2>../make.err </dev/null
  local got=$?
  [ $got = "$want" ] || { echo "exit code $got, not $want: $*"; cat ../make.err; exit 1; }
}
run() { expect "$1" run --instr=$row --threads=1 "${@:2}"; }

run 0 --device=faulty:none=0 --cases=40000 --workdir=run_clean
run 0 --device=faulty:none=0 --cases=80000 --workdir=run_clean --extend
run 1 --device=faulty:input_subnormals=keep --cases=3000 --workdir=run_stopped_row
run 1 --device=faulty:input_subnormals=keep --cases=3000 --max_mismatches=0 --workdir=run_differs
run 5 --device=faulty:flaky_bit=700 --cases=500 --workdir=run_flaky
run 75 --device=faulty:dead=30 --cases=90000 --workdir=run_dead
for shard in 0 1; do
  run 1 --device=faulty:input_subnormals=keep --cases=20000 --max_mismatches=0 --shard=$shard/2 --workdir=shard_$shard
done
expect 0 merge run_merged shard_0 shard_1
rm -r shard_0
# A torn end, as a killed run leaves it.
cp -r run_clean run_torn
for log in run_torn/units-*.log; do truncate -s -7 "$log"; break; done
# States of findings: one is fixed.
cp -r run_differs/findings findings_fixed
expect 0 replay findings_fixed --device=faulty:none=0 --update

expect 1 survey --device=faulty:input_subnormals=keep --instr=$row --out=survey --cases=500 --max_bytes=1e6
expect 3 survey --device=faulty:flaky_bit=2000 --instr=$gpu --out=survey_flaky --cases=300 --max_bytes=1e6
# A device that is asked dot products alone, and one that dies.
cat >../slow.sh <<END
#!/bin/sh
while read -r line; do sleep 0.02; echo "\$line"; done | '$m' eval $row
END
cat >../dies.sh <<END
#!/bin/sh
kill -9 \$\$
END
chmod +x ../slow.sh ../dies.sh
expect 75 survey --device=exec:../slow.sh --instr=$row --out=survey_slow --cases=64 --max_bytes=1e6 --max_total_time=12s
expect 3 survey --device=exec:../dies.sh --instr=$row --out=survey_dies --cases=64 --max_bytes=1e6 --max_total_time=20s

expect 0 record recording --device=faulty:none=0 --instr=$row --cases=30 --max_total_time=0
expect 0 record recording.log --device=faulty:none=0 --instr=$row --cases=30
expect 1 probe --device=faulty:input_subnormals=keep --instr=$row --all --max_total_time=0 --out=probe
expect 1 infer --device=faulty:input_subnormals=keep --instr=$row --validate=1e4 --out=inference
rm ../slow.sh ../dies.sh ../make.err
find . -name writer.lock -delete
