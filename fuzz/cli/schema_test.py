#!/usr/bin/env python3
"""Every JSON output of every verb is valid against its schema (`mmadiff help VERB --schema`), and docs/members.txt lists
all members.
Usage: schema_test.py MMADIFF [--update]. Exits 77 without the package jsonschema (Debian: python3-jsonschema)."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
except ImportError:
    print('no jsonschema (python3-jsonschema)')
    sys.exit(77)

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]
MEMBERS = ROOT / 'docs/members.txt'
MMA = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'
SCALED = 'sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x'
FMA = 'x86/vfmadd231ss'
FAULTY = ['--device=faulty:fraction_bits=24', f'--instr={MMA}']
CLEAN = ['--device=faulty:none=0', f'--instr={MMA}']
CASE = f'{MMA}@g3:1:0'
COUNTING = '--device=exec:sh counting.sh'
FAILING = '--device=exec:sh failing.sh'


def run(*args, stdin=''):
    return subprocess.run([PROGRAM, '--quiet', *args], input=stdin, capture_output=True, text=True)


def gen(*args):
    return run('gen', *args).stdout


def evaluated(*args):
    return run('eval', args[0], stdin=gen(*args)).stdout


def made():
    """Vectors, one with a wrong answer, one with a contested one; a device that never repeats an answer."""
    pathlib.Path('counting.sh').write_text(
        'echo >>asked\nwhile read -r line; do printf "%s %08x\\n" "$line" "$(wc -l <asked)"; done\n')
    # Fails on every case of a run, and answers what `run` asks to know that it speaks at all.
    pathlib.Path('failing.sh').write_text('''while read -r a b c; do
  case $a$b$c in
    0000000000000000*) echo 00000000 ;;
    3f8000003f8000003f800000) echo 40000000 ;;
    *) echo xxxxxxxx ;;
  esac
done
''')
    for shard in ['0', '1']:
        run('run', *CLEAN, '--cases=9000', '--threads=1', f'--shard={shard}/3', '--workdir=shard' + shard)
    pathlib.Path('made.txt').write_text('source: made\n\nvector: one\nabout: 1 + 1\n'
        'formats: f32 f32 f32 f32\noperands: 3f800000 | 3f800000 | 3f800000\n'
        f'expected: 40000001 {FMA}\n\nvector: two\nabout: 1 + 1\nformats: f32 f32 f32 f32\n'
        f'operands: 3f800000 | 3f800000 | 3f800000\ncontested: 40000002 {FMA} : somebody\n'
        'reason: made up\n\nend\n')


def digests():
    """One line with another answer, one of another model, one of no instruction, one missing."""
    lines = (ROOT / 'corpus' / 'model_digests.txt').read_text().split('\n')
    of = [i for i, line in enumerate(lines) if line.startswith('x86/')]
    lines[of[0]] = lines[of[0]][:-16] + '0123456789abcdef'
    lines[of[1]] = ' '.join([lines[of[1]].split(' ')[0], *lines[of[0]].split(' ')[1:]])
    lines[of[2]] = lines[of[2]].replace('x86/', 'x86/no')
    pathlib.Path('digests').write_text('\n'.join(lines))


def wrong(lines):
    """The last bit of each result is another."""
    return '\n'.join(line if line.startswith('#') or not line else
                     f'{line[:-1]}{int(line[-1], 16) ^ 1:x}' for line in lines.split('\n'))


SCHEMAS = json.loads(run('help', '--schema').stdout)  # by verb

# Exit code, command line, standard input. Each verb that takes --json with every kind of output.
LINES = [
    (0, ['run', *CLEAN, '--cases=200', '--threads=1', '--workdir=clean'], ''),
    (1, ['run', *FAULTY, '--cases=200', '--threads=1', '--workdir=bad'], ''),
    (5, ['run', '--device=faulty:flaky_bit=5000', f'--instr={MMA}', '--cases=500', '--threads=1',
         '--workdir=flaky'], ''),
    (75, ['run', '--device=faulty:dead=7', f'--instr={MMA}', '--cases=50000', '--threads=1',
          '--workdir=dead'], ''),
    (0, ['merge', 'merged', 'clean'], ''),
    (0, ['clean', 'clean'], ''),
    (0, ['clean', 'dead', '--yes'], ''),
    (0, ['verify', 'clean'], ''),
    (1, ['verify', 'clean', '--device=faulty:fraction_bits=20'], ''),
    (0, ['status', 'clean'], ''),
    (0, ['status', 'shard0', 'shard1'], ''),
    (0, ['report', 'shard0', 'shard1', 'clean'], ''),
    (0, ['report', 'bad', 'flaky', 'dead', '--out=report.html'], ''),
    (0, ['run', *CLEAN, '--dry_run'], ''),
    (1, ['minimize', CASE, '--device=faulty:fraction_bits=20', '--workdir=min'], ''),
    (0, ['minimize', CASE, '--device=faulty:none=0'], ''),
    (1, ['minimize', f'{FMA}@g3:1:0', FAILING, '--workdir=failing'], ''),
    (1, ['explain', f'{FMA}@g3:1:0', FAILING], ''),
    (1, ['explain', 'failing'], ''),
    (1, ['replay', 'failing'], ''),
    (1, ['replay', f'{FMA}@g3:1:0', FAILING], ''),
    (1, ['run', f'--instr={FMA}', FAILING, '--cases=20', '--threads=1', '--workdir=failed'], ''),
    (0, ['report', 'failed'], ''),
    (1, ['check', FMA, '--expect=2'], '0 0 0 xxxxxxxx\n0 0 0 123456789\n'),
    (5, ['minimize', f'{FMA}@g3:1:0', COUNTING, '--workdir=min'], ''),
    (0, ['record', *CLEAN, '--cases=5', '--max_total_time=0', 'recorded'], ''),
    (0, ['record', *FAULTY, '--cases=5', 'recorded.log'], ''),
    (0, ['replay', 'recorded'], ''),
    (1, ['replay', 'recorded.log'], ''),
    (0, ['record', *FAULTY, '--cases=5', '--max_total_time=0', 'wrong'], ''),
    (0, ['record', *CLEAN, '--cases=5', '--max_total_time=0', 'again'], ''),
    (0, ['report', '--compare', 'recorded', 'again'], ''),
    (1, ['report', '--compare', 'recorded', 'wrong'], ''),
    (1, ['report', '--compare', 'bad', 'clean'], ''),
    (1, ['replay', 'recorded', '--device=faulty:fraction_bits=24'], ''),
    (5, ['replay', f'{FMA}@g3:1:0', COUNTING], ''),
    (5, ['replay', 'made.txt', COUNTING], ''),
    (1, ['replay', 'bad/findings'], ''),
    (0, ['replay', 'bad/findings', '--device=faulty:none=0'], ''),
    (0, ['replay', 'bad/findings', '--device=faulty:none=0', '--update'], ''),
    (0, ['list', 'findings', 'bad'], ''),
    (0, ['list', 'findings'], ''),
    (1, ['replay', 'made.txt', '--verbose'], ''),
    (1, ['replay', 'made.txt', '--device=faulty:none=0'], ''),
    (0, ['changes', f'--file={ROOT}/corpus/model_digests.txt'], ''),
    (1, ['changes', '--file=digests'], ''),
    (1, ['explain', CASE, '--device=faulty:fraction_bits=24'], ''),
    (0, ['explain', CASE, '--device=faulty:none=0'], ''),
    (1, ['explain', CASE, '--device=faulty:wrong_lane=3'], ''),
    (1, ['explain', 'bad/findings'], ''),
    (0, ['explain', MMA, '--a=1.0,2^-24', '--b=1.0', '--c=-inf'], ''),
    (0, ['explain', CASE, '--device=model'], ''),
    (1, ['race', MMA, f'{MMA}:fraction_bits=24'], ''),
    (0, ['race', MMA, f'{MMA}:exponent_floor=-140'], ''),
    (1, ['race', 'sm_80', 'sm_90', '--instr=mma.m16n8k16.*'], ''),
    (0, ['race', '--all', 'mma.m16n8k16.f32.*'], ''),
    (0, ['race', '--set', MMA, f'{MMA}:fraction_bits=24', f'{MMA}:terms=8', f'{MMA}:exponent_floor=-140'], ''),
    (0, ['identify', *CLEAN], ''),
    (1, ['identify', *FAULTY], ''),
    (0, ['identify', '--device=recorded:recorded'], ''),
    (1, ['explain', MMA, '--a=1', '--b=1', '--c=-2^-25', '--against=sm_80/mma.m16n8k8.f32.f16.f16.f32'], ''),
    *[(0, ['list', what], '') for what in
      ['instructions', 'devices', 'strategies', 'formats', 'products', 'vectors', 'differences']],
    (0, ['list', 'instructions', '--evidence'], ''),
    (0, ['gen', MMA, '--cases=2'], ''),
    (0, ['gen', SCALED, '--cases=1'], ''),
    (0, ['gen', FMA, '--cases=0'], ''),
    (0, ['eval', MMA], gen(MMA, '--cases=1')),
    (0, ['eval', SCALED, '--device=faulty:none=0'], gen(SCALED, '--cases=1')),
    (0, ['eval', f'sm_*/{MMA.split("/")[1]}'], gen(MMA, '--cases=1').split('\n')[2]),
    (5, ['eval', FMA], gen(FMA, '--cases=3') + 'no line\n'),
    (0, ['check', MMA], evaluated(MMA, '--cases=1')),
    (1, ['check', SCALED], wrong(evaluated(SCALED, '--cases=1'))),
    (5, ['check', FMA], 'no line\n'),
    (3, ['check', FMA], ''),
    (0, ['layout', MMA], ''),
    (0, ['layout', 'sm_90/wgmma.m64n8k16.f32.f16.f16'], ''),
    (0, ['mutants', '--instr=x86/*', '--cases=4000', '--threads=1', '--equivalent'], ''),
    (1, ['mutants', f'--instr={MMA}', '--cases=1', '--threads=1'], ''),
    (0, ['bench', '--instr=x86/*', '--rounds=1', '--time=0', '--device=faulty:none=0'], ''),
    (0, ['bench', '--instr=x86/vdpbf16ps', '--rounds=1', '--time=0'], ''),
    (1, ['coverage', f'--instr={MMA}', '--cases=1'], ''),
    (0, ['coverage', '--instr=x86/vpdpbusd', '--cases=2000'], ''),
    (0, ['infer', '--device=faulty:none=0', f'--instr={FMA}', '--validate=1e4'], ''),
    (1, ['infer', '--device=exec:sed "s/.*/3f800000/"', f'--instr={FMA}', '--validate=0'], ''),
    (75, ['infer', '--device=faulty:dead=1', f'--instr={FMA}'], ''),
    (0, ['probe', '--all', *CLEAN, '--max_total_time=0'], ''),
    (1, ['probe', '--all', *FAULTY, '--max_total_time=0'], ''),
    (0, ['probe', '--question=layout', '--device=faulty:none=0', '--instr=x86/*'], ''),
    (0, ['survey', '--out=survey1', *CLEAN, '--cases=50', '--max_total_time=60s'], ''),
    (1, ['survey', '--out=survey2', *FAULTY, '--cases=50', '--max_total_time=60s'], ''),
    (1, ['survey', '--compare', 'survey1', 'survey2'], ''),
    (1, ['replay', 'survey2'], ''),
    (0, ['probe', '--list'], ''),
]


# How a row of the JSON begins in the text, which has the same rows.
ROWS = {
    'list': r'\S',
    'replay': 'MISMATCH|FLAKY|CHANGED|DIGEST|CONTESTED|SURVEY|agrees|differs',
    'changes': 'answers|inputs|model|new|gone',
}


def missing_rows(args, output):
    """Where the text has other rows than the JSON."""
    verb = args[0]
    if verb not in ROWS:
        return []
    rows = output if verb == 'list' else output['reports' if verb == 'replay' else 'changes']
    text = len(re.findall(f'^(?:{ROWS[verb]})', run(*args).stdout, re.MULTILINE))
    return [] if text == len(rows) else [f'{len(rows)} rows, the text has {text}']


# By verb: rows that must have members besides those of their schema, (list, member, words, all of, one of).
WANTED = [
    ('replay', 'reports', 'kind', {'mismatch', 'flaky', 'changed'}, {'instruction', 'device'}, {'dot_product', 'digest'}),
    ('replay', 'reports', 'kind', {'contested'}, {'instruction', 'answer', 'given', 'reason'}, set()),
    ('replay', 'reports', 'kind', {'agrees', 'differs'}, {'answer'}, set()),
    ('replay', 'reports', 'kind', {'survey'}, {'said'}, set()),
    ('mutants', 'mutants', None, set(), set(), {'cases', 'equivalent'}),
    ('list', None, 'grade', {'measured', 'published', 'assumed', 'contested'}, {'algorithm', 'words', 'native_on'}, set()),
]


def wrong_rows(verb, output):
    """Rows without the members of their kind."""
    for of, rows, member, words, all_of, one_of in WANTED:
        if of != verb or (rows is None) != isinstance(output, list):
            continue
        for row in output if rows is None else output.get(rows, []):
            if member is not None and row.get(member) not in words:
                continue
            if not all_of <= row.keys() or (one_of and len(one_of & row.keys()) != 1):
                yield f'no row of its kind: {str(row)[:300]}'


def errors_of(code, args, stdin):
    verb = args[0]
    result = run(*args, '--json', stdin=stdin)
    if result.returncode != code:
        return [f'exit code {result.returncode}, not {code}: {result.stderr}']
    try:
        output = json.loads(result.stdout)
    except ValueError as error:
        return [f'no JSON: {error}']
    error = best_match(Draft202012Validator(SCHEMAS[verb]).iter_errors(output))
    if error is not None:
        return [f'{list(error.absolute_path)}: {error.message[:300]}']
    return missing_rows(args, output) + list(wrong_rows(verb, output))[:3]


def main():
    failures = 0
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)
    members = run('help', '--members').stdout
    if '--update' in sys.argv:
        MEMBERS.write_text(members)
    if members != MEMBERS.read_text():
        print('FAILED: docs/members.txt is not what `mmadiff help --members` prints: --update')
        failures += 1
    for name in SCHEMAS.keys() ^ {line[1][0] for line in LINES}:
        print(f'FAILED: {name} has a schema or an output, not both')
        failures += 1
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        made()
        digests()
        for code, args, stdin in LINES:
            for error in errors_of(code, args, stdin):
                print(f'FAILED: {" ".join(args)}\n  {error}')
                failures += 1
        os.chdir('/')
    print(f'{len(LINES)} command lines, {failures} failures')
    return failures != 0


sys.exit(main())
