#!/usr/bin/env python3
"""The exit codes that `mmadiff help VERB` claims: docs/cli.md has the tables of `mmadiff help`, and each claim
has a command that gives the code. Usage: codes_test.py MMADIFF [--update]    --update writes them into the page

A claim is what a code means to a verb, or a part of it: they are separated by "; "."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE_FILE = ROOT / 'docs/cli.md'
PAGE = PAGE_FILE.read_text()
SHELL = r'''
F=x86/vfmadd231ss M=sm_90/mma.m16n8k16.f32.f16.f16.f32 SAME=--device=faulty:none=0 OTHER=--device=faulty:fraction_bits=24
one=$M@g3:1:0 line='3f800000 3f800000 3f800000'
run() { mmadiff run --threads=1 "$@"; }
# DIGIT FOLDER [MISMATCHES]: the same run by every fact; an answer that ends in the digit is another.
lie() { LIE=$1 run --instr=$F --cases=50 --max_mismatches=${3:-0} --workdir=$2 --device='exec:mmadiff eval x86/vfmadd231ss | sed "s/$LIE\$/1/"'; }
survey() { mmadiff survey --cases=50 --max_total_time=0 "$@"; }
# CODE COMMAND...: with more and more seconds for @, until it has the code: a slow machine needs longer to begin.
patient() {
  local wanted=$1 s code
  shift
  for s in 0.3 1 3 10 30 100 300; do "${@//@/$s}"; code=$?; [ $code != $wanted ] || break; done
  return $code
}
signalled() { patient 75 timeout --preserve-status -s INT @ "$@"; }
'''
# Verb (or * for what the page says of a code in general), code, how the claim begins, command. The commands run
# in this order in one folder. `see FILE: TEXT` is for what needs a GPU: a test that has the text.
CASES = '''
run 0 clean | run $SAME --instr=$F --cases=50 --workdir=clean
run 0 the time limit | patient 0 run $SAME --instr=$F --forever --max_total_time=@ --workdir=forever
run 1 the device repeated | run $OTHER --instr=$M --cases=200 --workdir=found
run 3 nothing was | run $SAME --instr=$F --forever --max_total_time=0 --workdir=nothing
run 3 a planted fault | run $SAME --instr=arm/sdot --strategy=bits --cases=50 --workdir=planted
run 3 an instruction | run $SAME --instr="arm/sdot,$F" --strategy=bits --cases=50 --workdir=dropped | grep -x 'stat::cases: 50' && exit ${PIPESTATUS[0]}
run 3 with --require_coverage | run $SAME --instr=$F --cases=50 --workdir=thin --require_coverage
run 3 the shard | run $SAME --instr=$F --cases=50 --shard=1/2 --workdir=shard
run 4 no such | run --device=cuda:0 --instr=$M
run 4 no such | run --device=host --instr=$M
run 5 damaged | run --device=recorded:noise.log --instr=$F --cases=50 --workdir=noise
run 5 only answers | run --device=faulty:flaky_bit=5000 --instr=$M --cases=500 --workdir=flaky
run 5 answers that cannot | run --device='exec:echo garbage' --instr=$F --cases=50 --workdir=garbage
run 5 earlier answers | echo "$F: why" >clean/distrusted.txt; run $SAME --instr=$F --cases=50 --workdir=clean
run 5 two different | lie 0 part 1; rm -r part/findings; lie x part
run 5 earlier mismatches | lie 0 unrepeated; rm unrepeated/units-*; lie x unrepeated
run 6 results | run $SAME --instr=$F --cases=50 --workdir=/proc/none
run 75 a signal | signalled mmadiff run $SAME --instr=$M --cases=1e12 --workdir=signal
run 75 a time limit | run $SAME --instr=$M --cases=1e9 --max_total_time=0 --workdir=limit
run 75 a lost device | run --device=faulty:dead=50 --instr=$M --cases=9000 --workdir=lost
merge 0 clean | lie x clean2; mmadiff merge merged clean2
merge 5 damaged | cp -r clean2 torn; for f in torn/units-*.log; do head -c -1 $f >x; cp x $f; done; mmadiff merge merged2 torn
merge 2 none of | mmadiff merge merged4 none
merge 5 one of | mmadiff merge merged5 none clean2 | grep -F '1 folder,' && exit ${PIPESTATUS[0]}
merge 5 two different | lie 0 lie; mmadiff merge merged3 clean2 lie
merge 6 results | mmadiff merge /proc/none clean2
clean 0 clean | mmadiff clean clean2 --yes
clean 5 damaged | mmadiff clean torn
clean 6 results | mmadiff clean clean2 >/dev/full
status 0 clean | mmadiff status clean2
status 2 none of | mmadiff status none
status 5 damaged | mmadiff status torn
status 5 one of | mmadiff status none clean2
status 6 results | mmadiff status clean2 >/dev/full
report 0 clean | mmadiff report clean2 --out=clean2.html --junit=clean2.xml
report 3 nothing | mmadiff report limit
report 2 none of | mmadiff report none
report 5 damaged | mmadiff report torn
report 5 one of | mmadiff report none clean2
report 6 results | mmadiff report clean2 --out=/dev/full --csv
report 0 clean | mmadiff report --compare clean2 merged
report 1 with --compare | mmadiff report --compare clean2 lie
report 5 damaged | mmadiff report --compare clean2 torn
report 6 results | mmadiff report --compare clean2 merged >/dev/full
verify 0 clean | LIE=x mmadiff verify clean2
verify 1 the device's | LIE=0 mmadiff verify clean2
verify 3 nothing | mmadiff verify limit
verify 3 the model's | see fuzz/folder/recheck_test.cc: AUnitWithConsistentlyChangedDigestsIsFound
verify 3 the device failed | mmadiff verify clean2 --device='exec:exit 1'
verify 4 no such | mmadiff verify clean2 --device=cuda:0
verify 4 no such | mmadiff verify clean2 --device=exec:/no/such
verify 5 damaged | cp clean2/units-*.log torn; echo >>torn/units-7.log; LIE=x mmadiff verify torn
verify 6 results | LIE=x mmadiff verify clean2 >/dev/full
verify 75 a signal | run $SAME --instr=$M --cases=9000 --workdir=long; signalled mmadiff verify long --device='exec:sleep 1000'
verify 75 a time limit | mmadiff verify long --max_total_time=0
verify 75 a lost | mmadiff verify long --device=faulty:dead=1
replay 0 clean | mmadiff replay $one $SAME
replay 0 clean | mmadiff record unrepaired $OTHER --instr=$M --cases=40 --max_total_time=0; mmadiff replay unrepaired $SAME
replay 1 the model | mmadiff replay unrepaired
replay 1 the model | mmadiff replay $one $OTHER
replay 3 the device failed | mmadiff replay $one --device='exec:exit 1'
replay 3 nothing | mkdir nothing_here; mmadiff replay nothing_here
replay 4 no such | mmadiff replay $one --device=cuda:0
replay 4 it has none | mmadiff replay $one --device=host
replay 5 damaged | mmadiff replay noise.log
replay 5 answers that do not | mmadiff replay $one --device=faulty:flaky_bit=2
replay 2 usage | mmadiff record five.log $SAME --instr=$M --cases=5; mmadiff replay five.log --instr=$F
replay 6 results | mmadiff replay $one $SAME --junit=/proc/none/x
replay 75 stopped | mmadiff replay $one --device=faulty:dead=1
minimize 0 the device gives | mmadiff minimize $one $SAME
minimize 1 there was | mmadiff minimize $one $OTHER --workdir=minimized
minimize 3 the device | mmadiff minimize $one --device='exec:exit 1'
minimize 4 no such | mmadiff minimize $one --device=host
minimize 5 damaged | mmadiff minimize $one --device='exec:echo garbage'
minimize 5 answers that do not | mmadiff minimize $one --device=faulty:flaky_bit=3 --workdir=minimized_flaky
minimize 6 results | mmadiff minimize $one $OTHER --workdir=/proc/none
minimize 75 stopped | mmadiff minimize $one --device=faulty:dead=1
explain 0 they are | mmadiff explain $one $SAME
explain 0 the model | mmadiff explain $M --a=1.0,2^-24 --b=1.0 --c=-2^-25 --svg=aligned.svg
explain 1 the device's | mmadiff explain $one $OTHER
explain 3 the device | mmadiff explain $one --device='exec:exit 1'
explain 3 no case | mmadiff explain nothing_here
explain 4 no such | mmadiff explain $one --device=host
explain 5 damaged | mmadiff explain $one --device='exec:echo garbage'
explain 6 results | mmadiff explain $one $OTHER >/dev/full
explain 75 stopped | mmadiff explain $one --device=faulty:dead=1
race 0 no case | mmadiff race $M $M:exponent_floor=-140
race 0 --all | mmadiff race --all ${M#*/}
race 0 --set | mmadiff race --set $M $M:fraction_bits=24
race 1 a case | mmadiff race $M $M:fraction_bits=24
race 4 two architectures | mmadiff race arm sm_70
race 4 an instruction | mmadiff race gfx950/v_mfma_f32_16x16x32_f16 $M
race 6 results | mmadiff race $M $M:fraction_bits=24 >/dev/full
identify 0 one does | mmadiff identify $SAME --instr=sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32
identify 0 several do | mmadiff identify $SAME --instr=$M
identify 1 no architecture | mmadiff identify $OTHER --instr=$M
identify 3 the device | mmadiff identify --device='exec:exit 1' --instr=$M
identify 3 nothing | mmadiff identify --device='exec:cat' --instr=gfx1100/v_wmma_f32_16x16x16_f16
identify 4 no such | mmadiff identify --device=host --instr=$M
identify 5 damaged | mmadiff identify --device=recorded:noise.log --instr=$M
identify 5 answers | mmadiff identify --device=faulty:flaky_bit=2 --instr=$M
identify 6 results | mmadiff identify $SAME --instr=$M >/dev/full
identify 75 stopped | mmadiff identify --device=faulty:dead=1 --instr=$M
list 0 clean | mmadiff list formats
list 4 no model | mmadiff list instructions 'gfx1100/*'
list 5 damaged | cp -r found foundtorn; f=$(ls foundtorn/findings/*/*.txtpb | head -n 1); head -c 300 $f >x; cp x $f; mmadiff list findings foundtorn
list 6 results | mmadiff list formats >/dev/full
gen 0 clean | mmadiff gen $F --cases=5
gen 4 the instruction | mmadiff gen gfx950/v_mfma_f32_16x16x32_f16
gen 6 results | mmadiff gen $F --cases=5 >/dev/full
eval 0 clean | echo $line | mmadiff eval $F
eval 3 the device | echo $line | mmadiff eval $F --device='exec:exit 1'
eval 4 no such | mmadiff gen $M --cases=1 | mmadiff eval $M --device=host
eval 5 damaged | echo no | mmadiff eval $F
eval 6 results | echo $line | mmadiff eval $F >/dev/full
eval 75 stopped | echo $line | mmadiff eval $F --device=faulty:dead=1
check 0 clean | echo $line 40000000 | mmadiff check $F --expect=1
check 1 a line | printf '%s\\n' "$line 40000001" no | mmadiff check $F --expect=2
check 2 the stream | echo $line 40000000 | mmadiff check $F
check 3 nothing | mmadiff check $F --expect=any </dev/null
check 4 the instruction | mmadiff check gfx950/v_mfma_f32_16x16x32_f16 </dev/null
check 5 damaged | echo no | mmadiff check $F
check 6 results | echo $line 40000000 | mmadiff check $F --expect=1 >/dev/full
layout 0 clean | mmadiff layout $M
layout 4 the tables | mmadiff layout sm_90/mma.sp.m16n8k128.s32.s4.s4.s32
layout 6 results | mmadiff layout $M >/dev/full
mutants 0 clean | mmadiff mutants --instr=$F --cases=2000
mutants 1 a fault | mmadiff mutants --instr=$M --cases=1
mutants 4 an instruction | mmadiff mutants --instr=gfx950/v_mfma_f32_16x16x32_f16
mutants 3 nothing | see fuzz/schedule/mutants.cc: OutOfRangeError("there are no mutants
mutants 75 stopped | signalled mmadiff mutants --instr=$M --strategy=bits --cases=2^40
bench 0 clean | mmadiff bench --instr=$F --rounds=1 --time=0
bench 1 the device's | mmadiff bench --instr=$M --rounds=1 --time=0 $OTHER
bench 3 the device | mmadiff bench --instr=$F --rounds=1 --time=0 --device='exec:exit 1'
bench 3 nothing | mmadiff bench --instr=$F --rounds=1 --time=0 --json > costs.json && mmadiff bench --instr=x86/vdpbf16ps --compare=costs.json
bench 4 no such | mmadiff bench --instr=$F --rounds=1 --time=0 --device=cuda:9
bench 5 a device that | mmadiff bench --instr=$F --rounds=1 --time=0 --device='exec:echo garbage'
bench 5 the file | mmadiff bench --instr=$F --compare=noise.log
bench 6 results | mmadiff bench --instr=$F --rounds=1 --time=0 >/dev/full
bench 2 usage | mmadiff bench --compare=nowhere.json
bench 75 stopped | signalled mmadiff bench --time=60s
bench 75 stopped | signalled mmadiff bench --bound --time=0 --rounds=1 --instr='*'
coverage 0 clean | mmadiff coverage --instr=x86/vpdpbusd --cases=2000
coverage 1 a bin | mmadiff coverage --instr=$M --cases=1
coverage 4 an instruction | mmadiff coverage --instr=gfx950/v_mfma_f32_16x16x32_f16
coverage 75 stopped | signalled mmadiff coverage --cases=2^40
coverage 6 results | mmadiff coverage --instr=x86/vpdpbusd --cases=2000 >/dev/full
mutants 6 results | mmadiff mutants --instr=$F --cases=2000 >/dev/full
infer 0 a model | mmadiff infer $SAME --instr=$F --validate=1e4
infer 1 the table | mmadiff infer --device=faulty:output_rounding=up --instr=$F --validate=1e4
infer 1 no model | mmadiff infer --device='exec:sed "s/.*/3f800000/"' --instr=$F --validate=0
infer 3 the device | mmadiff infer --device='exec:exit 1' --instr=$F
infer 3 the budget | mmadiff infer $SAME --instr=$M --budget=0
infer 3 the answers | printf '# instruction: %s\\n0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\\n' sm_90/mma.m16n8k8.f32.f16.f16.f32 >zeros.txt; mmadiff infer --device=recorded:zeros.txt --instr=sm_90/mma.m16n8k8.f32.f16.f16.f32
infer 4 no such | mmadiff infer --device=host --instr=$M
infer 5 answers that cannot | mmadiff infer --device='exec:echo garbage' --instr=$F
infer 5 answers that do not | mmadiff infer --device=faulty:flaky_bit=500 --instr=$F --validate=1e4
infer 5 damaged | mmadiff infer --device=recorded:noise.log --instr=$F
infer 6 results | mmadiff infer $SAME --instr=$F --validate=0 --out=/proc/none/x
infer 75 a lost device | mmadiff infer --device=faulty:dead=3 --instr=$F
infer 75 a signal | signalled mmadiff infer $SAME --instr=$F --validate=1e12
infer 75 the time or the budget | mmadiff infer $SAME --instr=$M --budget=100; [ $? = 75 ] && mmadiff infer $SAME --instr=$F --validate=1e12 --max_total_time=1
probe 0 clean | mmadiff probe $SAME --question=floor --instr=$M
probe 1 an answer | mmadiff probe --device=faulty:exponent_floor=-126 --question=floor --instr=sm_90/mma.m16n8k16.f32.bf16.bf16.f32
probe 3 the device | mmadiff probe --device='exec:exit 1' --question=floor --instr=$M
probe 2 no question | mmadiff probe $SAME --question=scales --instr=$M
probe 4 no such | mmadiff probe --device=host --question=floor --instr=$M
probe 5 damaged | mmadiff probe --device='exec:echo garbage' --question=floor --instr=$M
probe 5 answers that | mmadiff probe --device=faulty:flaky_bit=50 --instr=$M --question=width,steps
probe 6 results | mmadiff probe $SAME --question=floor --instr=$M --out=/proc/none/x
probe 75 a lost | mmadiff probe --device=faulty:dead=1 --question=floor --instr=$M
probe 75 a signal | signalled mmadiff probe $SAME --all
probe 75 the time | mmadiff probe $SAME --question=floor --instr="$M,sm_80/${M#*/}" --max_total_time=0
changes 0 --update | mmadiff changes --update --file=digests.txt
changes 0 there are none | mmadiff changes --file=digests.txt
changes 1 there are changes | sed '/^x86.vdpbf16ps /s/[^ ]*$/0123456789abcdef/' digests.txt >other.txt; mmadiff changes --file=other.txt
changes 5 damaged | mmadiff changes --file=noise.log
changes 6 results | mmadiff changes --update --file=/proc/none/x
record 0 clean | mmadiff record $SAME --instr=$F --cases=50 good.log
record 3 the device | mmadiff record --device='exec:exit 1' --instr=$F none.log
record 4 no such | mmadiff record --device=host --instr=$M none.log
record 5 damaged | mmadiff record --device='exec:echo garbage' --instr=$F --cases=50 none.log
record 5 answers that | mmadiff record twice_told --device=faulty:flaky_bit=50 --instr=$M --max_total_time=0
record 6 results | mmadiff record $SAME --instr=$F --cases=50 none/none.log
record 75 stopped | mmadiff record --device=faulty:dead=2 --instr=$F --cases=1000 none.log
survey 0 clean | survey $SAME --instr=$F --out=survey
survey 1 an answer | survey $OTHER --instr=$M --out=survey1
survey 1 with --compare | survey $SAME --instr=$M --out=survey2; mmadiff survey --compare survey1 survey2
survey 3 no instruction | survey --device='exec:mmadiff eval x86/vfmadd231ss' --instr=unlisted/k1.f32.f32.f32.f32 --out=survey0 | grep 'no row has a model' && exit ${PIPESTATUS[0]}
survey 3 with --compare: nothing | mmadiff survey --compare survey survey1
survey 3 a row | survey --device=faulty:flaky_bit=1000 --instr=$F --out=survey3
replay 3 a survey | mmadiff replay survey3
replay 0 clean | mmadiff replay survey1 $SAME
survey 4 no such | survey --device=host --instr=$M --out=survey4
survey 5 damaged | mkdir survey5; cp noise.log survey5/answers.log; survey $SAME --instr=$F --out=survey5
survey 6 results | survey $SAME --instr=$F --out=/proc/none/x
survey 75 a signal | signalled mmadiff survey $SAME --instr=$M --out=survey6
survey 75 a full folder | see fuzz/survey/survey_test.cc: EXPECT_EQ(outcome.stopped_by.kind, StopCause::kFolderFull)
survey 75 a lost device | see fuzz/survey/gpu_survey_test.sh: expect 75 FAKE_CUDA_ROWS=lost
survey 75 the time | mmadiff survey $SAME --instr='sm_80/*' --max_total_time=1 --out=survey7
help 0 clean | mmadiff help
help 6 results | mmadiff help >/dev/full
* 2 an unknown instruction | mmadiff gen x86/none
* 2 a named file | mmadiff explain none.txtpb
* 2 an output | mmadiff record $SAME --instr=$F good.log
* 2 a folder of another | run $SAME --instr=$F --cases=51 --workdir=clean
* 2 a folder of another | survey $SAME --instr=$F --out=survey1
* 2 a folder in which | flock clean/writer.lock mmadiff run $SAME --instr=$F --cases=50 --workdir=clean
* 3 an `exec:` | mmadiff replay $one --device='exec:exit 1'
* 4 `recorded:` | run --device=recorded:none --instr=$F
* 4 `exec:` | run --device=exec:/no/such/program --instr=$F --cases=50 --workdir=none1
'''
# Two codes that hold, the one that wins first; the command.
ORDER = '''
6 1 | run $OTHER --instr=$M --cases=200 --workdir=found >/dev/full
1 5 | run --device='exec:case $MMADIFF_INSTRUCTION in x86*) echo garbage; exit ;; esac; mmadiff eval $MMADIFF_INSTRUCTION '$OTHER --instr="$M,$F" --cases=200 --workdir=order1
3 1 | run --device='exec:case $MMADIFF_INSTRUCTION in x86*) exit 1 ;; esac; mmadiff eval $MMADIFF_INSTRUCTION '$OTHER --instr="$M,$F" --cases=200 --workdir=order2
1 5 | echo "$F: why" >found/distrusted.txt; run $OTHER --instr=$M --cases=200 --workdir=found
1 75 | patient 1 run $OTHER --instr=$M --cases=1e9 --max_mismatches=0 --max_total_time=@ --workdir=order3
5 75 | echo "$M: why" >limit/distrusted.txt; run $SAME --instr=$M --cases=1e9 --max_total_time=0 --workdir=limit
6 1 | survey $OTHER --instr=$M --out=survey1 >/dev/full
1 75 | patient 1 timeout --preserve-status -s INT @ mmadiff survey $OTHER --instr="$M,sm_80/*" --out=order4
1 5 | mmadiff explain foundtorn/findings
1 5 | mmadiff infer --device='exec:case $MMADIFF_INSTRUCTION in x86*) mmadiff eval x86/vfmadd231ss --device=faulty:flaky_bit=500 ;; *) mmadiff eval $MMADIFF_INSTRUCTION '$OTHER' ;; esac' --instr="$F,$M" --validate=1e4
'''
failures = 0


def fail(what):
    global failures
    failures += 1
    print(f'FAILED: {what}')


def output(*args):
    return subprocess.run([PROGRAM, *args], stdout=subprocess.PIPE, text=True, check=False).stdout


def section(text, title):
    """{term: text} of a section of the help."""
    body = re.search(rf'^{title}:\n(.*?)(\n\n|\Z)', text, re.M | re.S)[1]
    return dict(row.split(None, 1) for row in re.sub(r'\n {3,}', ' ', body).strip().split('\n'))


def codes(*verb):
    return {int(code): ' '.join(text.split()) for code, text in section(output('help', *verb), 'Exit codes').items()}


def rows(head):
    """The cells of the rows of the page's table with that head."""
    table = PAGE[PAGE.index(f'| {head} |'):].split('\n\n')[0].split('\n')[2:]
    return [[cell.strip() for cell in row.strip('|').split('|')] for row in table]


def run(command, folder):
    env = dict(os.environ, PATH=f'{folder}:{os.environ["PATH"]}', MMADIFF_LIBCUDA='/none/libcuda.so')
    done = subprocess.run(['bash', '-c', SHELL + command], cwd=folder, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=3600)
    return done.returncode, done.stdout.decode(errors='replace')[-400:]


def gives(code, command, folder):
    if command.startswith('see '):
        file, text = command[4:].split(': ', 1)
        if text not in (ROOT / file).read_text():
            fail(f'{file} lacks: {text}')
        return
    real, text = run(command, folder)
    if real != code:
        fail(f'exit code {real}, not {code}: {command}\n{text}')


def check_page():
    """The tables of the page are those of the program."""
    block = re.compile(r'(<!-- begin: mmadiff help (--\w+) -->\n).*?(<!-- end -->\n)', re.S)
    made, blocks = block.subn(lambda of: of[1] + output('help', of[2]) + of[3], PAGE)
    if sys.argv[2:] == ['--update']:
        PAGE_FILE.write_text(made)
    elif made != PAGE or blocks != 2:
        fail('docs/cli.md has other tables than `mmadiff help` prints: codes_test.py MMADIFF --update')
    listed = section(output('help'), 'Environment')
    named = re.findall(r'`([A-Z_]+)`', re.search(r'lists what users set: (.*?)\. Besides', PAGE, re.S)[1])
    if sorted(listed) != sorted(named):
        fail(f'environment: {named} on the page, {sorted(listed)} in the help')


def main():
    verbs = list(section(output('help'), 'Verbs'))
    own = {verb: codes(verb) for verb in verbs}
    check_page()
    claimed = {(verb, code, claim) for verb in verbs for code, text in own[verb].items() for claim in text.split('; ')}
    claimed |= {('*', int(code), claim) for code, text in rows('code | also') for claim in text.split('; ')}
    cases = [re.match(r'(\S+) (\d+) (.*?) \| (.*)', line).groups() for line in CASES.strip().split('\n')]
    held = set()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / 'mmadiff').symlink_to(PROGRAM)
        (folder / 'noise.log').write_bytes(bytes(range(256)) * 9)
        for verb in verbs:
            gives(2, f'mmadiff {verb} --no_such_flag', folder)
        for verb, code, begins, command in cases:
            of = {c for c in claimed if c[:2] == (verb, int(code)) and c[2].startswith(begins)}
            if len(of) != 1:
                fail(f'claims of {verb} {code} that begin with "{begins}": {len(of)}')
            held |= of
            gives(int(code), command, folder)
        for verb, code, claim in sorted(claimed - held):
            if claim not in ('usage', 'internal error'):  # the wrong flags above; nobody can order the second
                fail(f'no case for {verb} {code}: {claim}')
        for line in ORDER.strip().split('\n'):
            both, command = line.split(' | ', 1)
            gives(int(both.split()[0]), command, folder)
    print(f'{len(cases)} cases, {failures} failures')
    return 1 if failures else 0


sys.exit(main())
