#!/usr/bin/env python3
"""Devices of which only the formats are known: `infer`, `probe` and `survey` find their model or
say which command does. This file is also the device: black_box_test.py --device, a fused sum of f32
products without an addend that keeps 25 bits and cuts the rest.
Usage: black_box_test.py MMADIFF"""
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

NAME = 'unlisted/k4.f32.f32.f32.-'
KEPT, FRACTION, BIAS, TOP = 25, 23, 127, 255  # kept bits; f32
INFINITY, NAN, LARGEST = 0x7f800000, 0x7fffffff, 0x7f7fffff


def parts(word):
    """(sign, exponent of the last bit, significand)."""
    field, fraction = word >> FRACTION & TOP, word & (1 << FRACTION) - 1
    significand = fraction | (field > 0) << FRACTION
    return word >> 31, max(field, 1) - BIAS - FRACTION, significand


def special(pairs):
    """The result if an operand is not finite, else None."""
    signs, nan = set(), False
    for x, y in pairs:
        finite = [word >> FRACTION & TOP != TOP for word in (x, y)]
        if all(finite):
            continue
        magnitudes = [word & 0x7fffffff for word in (x, y)]
        nan |= max(magnitudes) > INFINITY or 0 in magnitudes
        signs.add((x ^ y) >> 31)
    if not nan and not signs:
        return None
    return NAN if nan or len(signs) > 1 else signs.pop() << 31 | INFINITY


def fused_sum(pairs):
    if (word := special(pairs)) is not None:
        return word
    terms = []  # signed product, exponent of its unit, exponent by which it is aligned
    for x, y in pairs:
        (s, e, m), (t, f, n) = parts(x), parts(y)
        if m * n:
            terms.append(((-1)**(s ^ t) * m * n, e + f, e + f + 2 * FRACTION))
    if not terms:
        return 0
    unit = max(align for *_, align in terms) - KEPT
    total = 0
    for product, own, _ in terms:
        size = abs(product) << own - unit if own > unit else abs(product) >> unit - own
        total += size if product > 0 else -size
    size, sign = abs(total), total < 0
    if size == 0:
        return 0
    lowest = max(size.bit_length() - 1 + unit, 1 - BIAS) - FRACTION  # of the result
    size = size << unit - lowest if unit > lowest else size >> lowest - unit
    if size == 0:
        return 0
    word = size + (lowest + BIAS + FRACTION - 1 << FRACTION)
    return sign << 31 | min(word, LARGEST)


def device():
    for line in sys.stdin:
        line = line.strip()
        if not line.startswith('#'):
            words = [int(word, 16) for word in line.split()]
            if len(words) != 8:
                sys.exit(f'{len(words)} words')
            line += f' {fused_sum(list(zip(words[:4], words[4:]))):08x}'
        print(line, flush=True)


def mmadiff(*args, code=0, stdin=''):
    """stdout and stderr."""
    done = subprocess.run([PROGRAM, '--quiet', *args], input=stdin, capture_output=True, text=True,
                          check=False)
    assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


def test_no_addend():
    ask = ('infer', DEVICE, '--formats=f32,f32,-,float', '--k=4', '--budget=1e4', '--validate=5e3')
    found, = json.loads(mmadiff('--json', *ask)[0])['instructions']
    assert (found['instruction'], found['tree']) == (NAME, 'k0..3'), found
    row = found['row']
    assert row['family'] == 'fused_sum', row
    for name, value in ('fraction_bits', KEPT), ('align_rounding', 'toward_zero'), ('terms', 4):
        assert str(row['parameters'][name]) == str(value), (name, row)
    assert found['validated'] > 0 and found['flaky'] == 0, found
    assert 'All 4 products are cut to 25 bits below the largest exponent' in found['text']
    assert ' c ' not in found['text'], found['text']


def test_verbs_without_a_model():
    for args in (('gen', NAME), ('eval', NAME), ('check', NAME), ('explain', NAME, '--a=1'),
                 ('run', DEVICE, f'--instr={NAME}'), ('bench', f'--instr={NAME}'),
                 ('mutants', f'--instr={NAME}'), ('coverage', f'--instr={NAME}')):
        assert 'has no model; `infer` searches for one' in mmadiff(*args, code=4)[1], args
    mmadiff('layout', NAME, code=2)
    mmadiff('race', NAME, NAME, code=4)
    mmadiff('record', 'recorded', DEVICE, f'--instr={NAME}', '--cases=100', '--max_total_time=0.1')
    _, refused = mmadiff('replay', 'recorded', code=3)
    assert 'not a pass' in refused
    mmadiff('infer', '--device=recorded:recorded', f'--instr={NAME}')


BF16 = 'unlisted/k2.f32.bf16.bf16.f32'


def test_probe_infers():
    model = f'--device=exec:{shlex.quote(PROGRAM)} eval x86/vdpbf16ps'
    probed = json.loads(mmadiff('--json', 'probe', '--all', model, f'--instr={BF16}')[0])
    found, = probed['inferred']
    assert found['same_rows'] == ['x86/vdpbf16ps'] and found['validated'] > 0, found
    assert found['tree'] == '(c + k1) + k0', found
    # An always wrong bit: no family has it.
    wrong = r"sed -u 's/\(.*\)[1-7]$/\1f/'"
    broken = f"--device=exec:sh -c {shlex.quote(shlex.quote(PROGRAM) + ' eval x86/vdpbf16ps | ' + wrong)}"
    text, _ = mmadiff('probe', '--all', broken, f'--instr={BF16}', code=1)
    assert 'no algorithm of any family' in text, text


def test_nothing_that_could_fail():
    """The command that is named finds a model."""
    folder = 'surveyed'
    model = f'--device=exec:{shlex.quote(PROGRAM)} eval x86/vdpbf16ps'
    _, said = mmadiff('survey', f'--out={folder}', model, f'--instr={BF16}', '--cases=50',
                      '--max_total_time=0', code=3)
    assert 'nothing was compared' in said, said
    command = shlex.split(said[said.index('next: ') + 6:].splitlines()[0])
    assert command[1] == 'infer', command
    mmadiff(*command[1:], '--validate=1e4')
    # Beside a row with a model, the command is there too.
    _, said = mmadiff('survey', '--out=both', model, f'--instr=x86/vdpbf16ps,{BF16}', '--cases=50',
                      '--max_total_time=0')
    assert f' infer --device={shlex.quote(model[9:])} --instr={BF16}' in said, said
    # The answers to a hypothesis are open.
    half = 'v_mfma_f32_16x16x16_f16'
    _, said = mmadiff('probe', f'--device=exec:{shlex.quote(PROGRAM)} eval gfx942/{half}', '--question=output',
                      f'--instr=gfx950/{half}', code=3)
    assert 'no queried question could fail' in said, said


def test_formats():
    for formats, what in (('fp8,f16,f32,f32', 'column 1: \'fp8\' may mean e4m3, e5m2, e4m3fnuz'),
                          ('f16,e4m3b8,f32,f32', 'column 11: \'e4m3b8\' is not a format: the kind'),
                          ('f16,f16,f32,e9m3', 'column 14: \'e9m3\' is not a format: the number'),
                          ('f16,-,f32,f32', 'only c can be absent')):
        assert what in mmadiff('infer', DEVICE, f'--formats={formats}', '--k=4', code=2)[1], formats


def main():
    tests = [test for name, test in globals().items() if name.startswith('test_')]
    for test in tests:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            test()
            os.chdir('/')
    print(f'{len(tests)} tests')


if sys.argv[1:] == ['--device']:
    device()
else:
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    DEVICE = f'--device=exec:python3 {shlex.quote(str(pathlib.Path(__file__).resolve()))} --device'
    main()
