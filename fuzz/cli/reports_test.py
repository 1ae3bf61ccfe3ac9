#!/usr/bin/env python3
"""Faults of public bug reports (fuzz/cli/testing/reported.c): which verb names the cause of each. If `run` names or says more
of a fault than its row has, the test fails: change the row.
Usage: reports_test.py MMADIFF REPORTED [MODE...]"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

FMA32, FMA64, VNNI = 'x86/vfmadd231ss', 'x86/vfmadd231sd', 'x86/vpdpbusd'
F32 = 'gfx90a/v_mfma_f32_16x16x4f32'
S8 = 'sm_80/mma.m16n8k32.s32.s8.s8.s32'
F16, BF16 = 'sm_80/mma.m16n8k16.f32.f16.f16.f32', 'sm_80/mma.m16n8k16.f32.bf16.bf16.f32'
TF32, XF32 = 'sm_80/mma.m16n8k8.f32.tf32.tf32.f32', 'gfx942/v_mfma_f32_16x16x8_xf32'
E4M3, FNUZ = 'sm_89/mma.m16n8k32.f32.e4m3.e4m3.f32', 'gfx942/v_mfma_f32_16x16x32_fp8_fp8'
MXF4 = 'sm_120/mma.m16n8k64.mxf4.f32.e2m1.e2m1.f32.ue8m0'
NVF4 = 'sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x'
LOW_BITS, SCALES = 'probe --question=low_bits', 'probe --question=scales'
INFER = 'infer --budget=20000 --validate=20000'
ROUNDED = r'row +pairwise_sum\(.*product_rounding=rounded, .*terms=1,.*\n +reproduces all'
AWAY = r'low_bits_of_tf32: rounded to nearest; low_bits_tie_of_tf32: a tie away from zero'

# Mode, instruction, the verb that names the cause, its words for it.
NONE = 'none'
ROWS = [
    ('model', F16, 'nothing', ''),
    ('simde', 'x86/vdpbf16ps', INFER, ROUNDED),
    ('f32mac', F32, INFER, ROUNDED),
    ('f32mac', 'gfx90a/v_mfma_f32_4x4x1f32', NONE, ''),
    ('killprod', FMA64, NONE, ''),
    ('killprod32', FMA32, NONE, ''),
    ('xsfma', FMA32, NONE, ''),
    ('maddubs', VNNI, NONE, ''),
    ('maddubs_wrap', VNNI, NONE, ''),
    ('s8_as_u8', S8, NONE, ''),
    ('a_u8', S8, NONE, ''),
    ('dpbusd_ss', VNNI, NONE, ''),
    ('s4_as_u4', 'sm_80/mma.m8n8k32.s32.s4.s4.s32', NONE, ''),
    ('f16lowhalf', 'sm_80/mma.m16n8k8.f16.f16.f16.f16', NONE, ''),
    ('badcore', VNNI, NONE, ''),
    ('b1and', 'sm_80/mma.m16n8k128.s32.b1.b1.s32.xor.popc', 'run', 'bit_operation=and reproduces all'),
    ('vdot', F32, NONE, ''),
    ('vdotc', F32, NONE, ''),
    ('exp15sat', E4M3, NONE, ''),
    ('nan448', E4M3, NONE, ''),
    ('subz', E4M3, NONE, ''),
    ('fnuz80', FNUZ, NONE, ''),
    ('f16bf', 'gfx90a/v_mfma_f32_16x16x16f16', NONE, ''),
    ('rna', TF32, LOW_BITS, AWAY),
    ('rna', XF32, LOW_BITS, AWAY),
    ('hifi2', 'gfx908/v_mfma_f32_16x16x8bf16', NONE, ''),
    ('nanb', 'gfx90a/v_mfma_f32_16x16x16bf16_1k', NONE, ''),
    ('kswap', F16, NONE, ''),
    ('khalf', S8, NONE, ''),
    ('kpermboth', TF32, 'run', 'grouping=pairs_of_four reproduces all'),
    ('scale00', MXF4, SCALES, r'scale_00_e2m1: 2\^-126'),
    ('scaleff', MXF4, SCALES, 'scale_ff_e2m1: a different word, 7f000000'),
    ('scaleshift', MXF4, NONE, ''),
    ('e5m2inf', 'sm_89/mma.m16n8k32.f32.e5m2.e5m2.f32', NONE, ''),
    ('e2m1abs', 'sm_120/mma.m16n8k32.f8f6f4.f32.e2m1.e2m1.f32', NONE, ''),
    ('f16daz', F16, NONE, ''),
    ('bf16rne5', BF16, NONE, ''),
    ('low2', BF16, NONE, ''),
    ('tf32rne', TF32, LOW_BITS, 'low_bits_of_tf32: rounded to nearest; low_bits_tie_of_tf32: dropped, or a tie to even'),
    ('fnuz_as_ocp', FNUZ, NONE, ''),
    ('bias8', E4M3, NONE, ''),
    ('a_e5m2', 'sm_120/mma.m16n8k32.f8f6f4.f32.e4m3.e4m3.f32', NONE, ''),
    ('scale_top', NVF4, NONE, ''),
    ('kreverse', 'sm_90/mma.m16n8k16.f32.f16.f16.f32', NONE, ''),
    ('scale_first', NVF4, NONE, ''),
]
# The members of a finding without a cause, and the clauses of its diagnosis.
MEMBERS = {'instruction', 'bucket', 'first_case', 'cases', 'flaky', 'state', 'path', 'beside', 'typical', 'diagnosis', 'shared'}
CLAUSES = '|'.join([
    r'no change of one parameter \(\d+ tried\) or of two \(\d+ tried, .*\) reproduces all \d+ answers',
    r'.* comes closest: it does not reproduce \d+ of them',
    r'the filed cases rule out \d+ single-parameter changes?',
    r'none of \d+ dot products of ordinary numbers shows the difference',
    'the device does not repeat its answers',
    r'stopped after \d+ executions',
    r'run `probe` to check layout, order and NaNs'])


def mmadiff(verb, mode, instruction, *flags):
    """Exit code, stdout and stderr of a verb with the stand-in as the device."""
    device = f'exec:{shlex.quote(REPORTED)} {mode} {shlex.quote(PROGRAM)}'
    done = subprocess.run([PROGRAM, '--quiet', *verb.split(), f'--device={device}', f'--instr={instruction}', *flags],
                          capture_output=True, text=True, timeout=1200, check=False)
    return done.returncode, done.stdout, done.stderr


def run(mode, instruction):
    return mmadiff('run', mode, instruction, '--cases=40', '--max_mismatches=1', f'--threads={2 if mode == "badcore" else 1}',
                   '--workdir=' + tempfile.mkdtemp(dir='.'), '--json')


def said_more(findings):
    """Anything of these findings that a finding without a cause does not have."""
    for finding in findings:
        more = {name for name, value in finding.items() if value} - MEMBERS
        clauses = [c for c in finding['diagnosis'].split('; ') if c and not re.fullmatch(CLAUSES, c)]
        if 'unexplained' not in finding['bucket'] or more or clauses:
            return f'{finding["bucket"]}: {sorted(more)} {clauses}'
    return ''


def wrong(mode, instruction, verb, words):
    """What is wrong with a row; '' if nothing."""
    code, out, err = run(mode, instruction)
    if verb == 'nothing':
        return f'run ended with {code}\n{out}{err}' if code else ''
    if mode != 'badcore' and (code != 1 or not json.loads(out)['findings']):
        return f'run ended with {code}\n{out}{err}'
    findings = json.loads(out)['findings']
    if verb == 'run':
        return '' if all(re.search(words, json.dumps(f)) for f in findings) else f'no {words!r} in\n{findings}'
    if more := said_more(findings):
        return f'`run` says more than its row: {more}'
    if verb == NONE:
        return ''
    code, out, err = mmadiff(verb, mode, instruction)
    return '' if code == 1 and re.search(words, out) else f'{verb} ended with {code}, without {words!r}\n{out}{err}'


PROGRAM, REPORTED = (str(pathlib.Path(arg).resolve()) for arg in sys.argv[1:3])
listed = subprocess.run([REPORTED], capture_output=True, text=True, check=True).stdout
failed = {line.split()[0] for line in listed.splitlines()} ^ {row[0] for row in ROWS}
if failed:
    print(f'only in {REPORTED} or only in ROWS: {sorted(failed)}')
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for row in ROWS:
        if sys.argv[3:] and row[0] not in sys.argv[3:]:
            continue
        problem = wrong(*row)
        if problem:
            failed.add(row[0])
        print(f'{row[0]} {row[1]}: {problem or row[2]}', flush=True)
    os.chdir('/')
sys.exit(bool(failed))
