#!/usr/bin/env python3
"""Every verb that takes an instruction takes a model of the user's own: `--model` alone, its name, a
glob. The model of docs/models.md gives what its page says. Usage: own_models_test.py MMADIFF."""
import fractions
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
MODEL = str(pathlib.Path(__file__).resolve().parents[2] / 'docs/example/bf16_accumulator.model')
NAME = 'own/bf16_accumulator'
FULL = re.compile(NAME + '~[0-9a-f]{8}')
DEVICE = f'--device=exec:{shlex.quote(PROGRAM)} eval --model={shlex.quote(MODEL)}'


def mmadiff(*args, stdin='', code=0):
    command = [PROGRAM, '--quiet', f'--model={MODEL}', *args]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == code, f'{shlex.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}'
    return done.stdout + done.stderr


def power(exponent):
    return fractions.Fraction(2) ** exponent


def value(word, exponent_bits, fraction_bits):
    """None: infinite or NaN."""
    exponent = word >> fraction_bits & (1 << exponent_bits) - 1
    fraction = word & (1 << fraction_bits) - 1
    if exponent == (1 << exponent_bits) - 1:
        return None
    significand = fraction + (1 << fraction_bits if exponent else 0)
    magnitude = significand * power(max(exponent, 1) - (1 << exponent_bits - 1) + 1 - fraction_bits)
    return -magnitude if word >> exponent_bits + fraction_bits & 1 else magnitude


def rounded(x, fraction_bits):
    """To nearest even, with f32's exponents. None: infinite."""
    exponent = -126
    while x is not None and abs(x) >= power(exponent + 1):
        exponent += 1
    unit = power(exponent - fraction_bits)
    result = None if x is None else round(x / unit) * unit
    return result if result is not None and abs(result) < power(128) else None


def plus(x, y):
    return None if x is None or y is None else x + y


def accumulated(a, b, c):
    """Chunks of four f16 products in f32, a bf16 accumulator. None: not finite."""
    a, b = [value(x, 5, 10) for x in a], [value(x, 5, 10) for x in b]
    total = rounded(value(c, 8, 23), 7)
    for at in (0, 4):
        terms = [None if None in (x, y) else x * y for x, y in zip(a[at:at + 4], b[at:at + 4])]
        chunk = rounded(None if None in terms else sum(terms), 23)
        total = rounded(rounded(plus(total, chunk), 23), 7)
    return total


def results_are_those_of_the_page():
    finite = 0
    for line in mmadiff('eval', stdin=mmadiff('gen', '--cases=3000')).splitlines():
        if line.startswith('#'):
            continue
        words = [int(word, 16) for word in line.split()]
        wanted = accumulated(words[:8], words[8:16], words[16])
        finite += wanted is not None
        assert wanted == value(words[17], 8, 23), (line, wanted)
    assert finite > 1000, finite


def every_verb_takes_it(folder):
    answers = mmadiff('eval', stdin=mmadiff('gen', '--cases=8'))
    calls = {  # exit code and arguments
        'bench': (0, ['--time=1ms', '--rounds=1']),
        'check': (0, ['--expect=8']),
        'coverage': (0, ['--json']),
        'eval': (0, []),
        'explain': (0, ['--a=1,2', '--b=1,1', '--c=3']),
        'gen': (0, ['--cases=2']),
        'infer': (0, [DEVICE, '--budget=300', '--validate=100']),
        'list': (0, []),
        'mutants': (1, ['--cases=200']),
        'probe': (0, [DEVICE, '--question=layout']),
        'race': (1, [NAME + ':acc.output_rounding=toward_zero']),
        'record': (0, [f'{folder}/answers.log', DEVICE, '--cases=3']),
        'run': (0, [DEVICE, '--cases=20', '--json']),
        'survey': (0, [DEVICE, f'--out={folder}/survey', '--cases=20']),
    }
    # Their instruction is that of a case, of an architecture, or has a layout.
    others = {'identify', 'layout', 'minimize', 'plan', 'replay'}
    helps = {verb: mmadiff('help', verb) for verb in re.findall(r'^  ([a-z]+)  ', mmadiff('help'), re.MULTILINE)}
    taking = {verb for verb, text in helps.items() if re.search('^  (instruction|--instr)', text, re.MULTILINE)}
    assert taking - others <= set(calls), taking - others - set(calls)
    for verb, (code, args) in calls.items():
        stdin = answers if verb in ('check', 'eval') else ''
        printed = mmadiff(verb, *args, stdin=stdin, code=code)
        if verb == 'record':
            printed += pathlib.Path(args[0]).read_bytes().decode('latin-1')
        assert FULL.search(printed), (verb, printed)
        if verb in ('bench', 'run'):  # the others choose in the same way
            for name in (NAME, 'own/*'):
                assert FULL.search(mmadiff(verb, *args, f'--instr={name}', code=code)), (verb, name)


def a_fault_is_found(folder):
    printed = mmadiff('run', '--device=faulty:acc.output_rounding=toward_zero', f'--workdir={folder}', '--cases=2000', code=1)
    assert 'acc.output_rounding=toward_zero' in printed, printed
    for verb in ('reproduce', 'explain'):
        command = re.search(rf'^  {verb} +(.*)$', printed, re.MULTILINE)[1]
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 1 and FULL.search(done.stdout), (command, done)


def two_models(folder):
    other = pathlib.Path(folder, 'other.model')
    other.write_text(pathlib.Path(MODEL).read_text().replace('acc to=bf16', 'acc to=bf16 output_rounding=up'))
    second = f'--model={other}'
    for rows in ([], ['own/*'], [NAME], ['own/other']):
        printed = mmadiff('race', second, *rows, code=1)
        assert len(set(re.findall(r'own/[a-z0-9_]+~', printed))) == 2, printed
    assert '2 rows' in mmadiff('race', '--set', second, 'own/*')
    assert 'name one: own/' in mmadiff('gen', second, code=2)


with tempfile.TemporaryDirectory() as scratch:
    two_models(scratch)
    results_are_those_of_the_page()
    every_verb_takes_it(scratch)
    a_fault_is_found(f'{scratch}/run')
