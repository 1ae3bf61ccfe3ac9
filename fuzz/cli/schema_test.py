#!/usr/bin/env python3
"""Every JSON output of every verb is valid against its schema, docs/schema/VERB.schema.json.
Usage: schema_test.py MMADIFF. Exits 77 without the package jsonschema (Debian: python3-jsonschema)."""
import json
import os
import pathlib
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
SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / 'docs' / 'schema'
MMA = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'
SCALED = 'sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x'
FMA = 'x86/vfmadd231ss'
FAULTY = ['--device=faulty:fraction_bits=24', f'--instr={MMA}']
CLEAN = ['--device=faulty:none=0', f'--instr={MMA}']
CASE = f'{MMA}@g3:1:0'


def run(*args, stdin=''):
    return subprocess.run([PROGRAM, '--quiet', *args], input=stdin, capture_output=True, text=True)


def gen(*args):
    return run('gen', *args).stdout


def evaluated(*args):
    return run('eval', args[0], stdin=gen(*args)).stdout


def wrong(lines):
    """The last bit of each result is another."""
    return '\n'.join(line if line.startswith('#') or not line else
                     f'{line[:-1]}{int(line[-1], 16) ^ 1:x}' for line in lines.split('\n'))


# Exit code, command line, standard input. Each verb that takes --json with every kind of output.
LINES = [
    (0, ['run', *CLEAN, '--cases=200', '--threads=1', '--workdir=clean'], ''),
    (1, ['run', *FAULTY, '--cases=200', '--threads=1', '--workdir=bad'], ''),
    (5, ['run', '--device=faulty:flaky_bit=5000', f'--instr={MMA}', '--cases=500', '--threads=1',
         '--workdir=flaky'], ''),
    (75, ['run', '--device=faulty:dead=3', f'--instr={MMA}', '--cases=50000', '--threads=1',
          '--workdir=dead'], ''),
    (1, ['minimize', CASE, '--device=faulty:fraction_bits=20', '--workdir=min'], ''),
    (1, ['explain', CASE, '--device=faulty:fraction_bits=24'], ''),
    (0, ['explain', CASE, '--device=faulty:none=0'], ''),
    (1, ['explain', CASE, '--device=faulty:wrong_lane=3'], ''),
    (1, ['explain', 'bad/findings'], ''),
    *[(0, ['list', what], '') for what in
      ['instructions', 'devices', 'strategies', 'formats', 'vectors', 'differences']],
    (0, ['gen', MMA, '--cases=2'], ''),
    (0, ['gen', SCALED, '--cases=1'], ''),
    (0, ['gen', FMA, '--cases=0'], ''),
    (0, ['eval', MMA], gen(MMA, '--cases=1')),
    (0, ['eval', SCALED, '--device=faulty:none=0'], gen(SCALED, '--cases=1')),
    (5, ['eval', FMA], gen(FMA, '--cases=3') + 'no line\n'),
    (0, ['check', MMA], evaluated(MMA, '--cases=1')),
    (1, ['check', SCALED], wrong(evaluated(SCALED, '--cases=1'))),
    (5, ['check', FMA], 'no line\n'),
    (3, ['check', FMA], ''),
    (0, ['layout', MMA], ''),
    (0, ['layout', 'sm_90/wgmma.m64n8k16.f32.f16.f16'], ''),
    (0, ['mutants', '--instr=x86/*', '--cases=4000', '--threads=1', '--equivalent'], ''),
    (1, ['mutants', f'--instr={MMA}', '--cases=1', '--threads=1'], ''),
    (0, ['probe', '--all', *CLEAN, '--max_total_time=0'], ''),
    (1, ['probe', '--all', *FAULTY, '--max_total_time=0'], ''),
    (0, ['probe', '--question=layout', '--device=faulty:none=0', '--instr=x86/*'], ''),
    (0, ['survey', '--out=survey1', *CLEAN, '--cases=50', '--max_total_time=60s'], ''),
    (1, ['survey', '--out=survey2', *FAULTY, '--cases=50', '--max_total_time=60s'], ''),
    (1, ['survey', '--compare', 'survey1', 'survey2'], ''),
]


def errors_of(code, args, stdin):
    verb = args[0]
    result = run(*args, '--json', stdin=stdin)
    if result.returncode != code:
        return [f'exit code {result.returncode}, not {code}: {result.stderr}']
    try:
        output = json.loads(result.stdout)
    except ValueError as error:
        return [f'no JSON: {error}']
    schema = json.loads((SCHEMAS / f'{verb}.schema.json').read_text())
    error = best_match(Draft202012Validator(schema).iter_errors(output))
    return [] if error is None else [f'{list(error.absolute_path)}: {error.message[:300]}']


def main():
    failures = 0
    schemas = {p.name.split('.')[0] for p in SCHEMAS.glob('*.schema.json')}
    for name in schemas:
        Draft202012Validator.check_schema(json.loads((SCHEMAS / f'{name}.schema.json').read_text()))
    for name in schemas ^ {line[1][0] for line in LINES}:
        print(f'FAILED: {name} has a schema or an output, not both')
        failures += 1
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for code, args, stdin in LINES:
            for error in errors_of(code, args, stdin):
                print(f'FAILED: {" ".join(args)}\n  {error}')
                failures += 1
        os.chdir('/')
    print(f'{len(LINES)} command lines, {failures} failures')
    return failures != 0


sys.exit(main())
