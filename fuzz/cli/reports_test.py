#!/usr/bin/env python3
"""Faults of public bug reports (fuzz/cli/testing/reported.c): `run` alone names the cause of each.
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
# Mode, instruction, the words of `run` for the cause: of the bucket or of a clue. Empty: it names none.
ROWS = [
    ('model', F16, None),  # no fault
    ('simde', 'x86/vdpbf16ps', 'order=ascending .*multiply_add=separate'),
    ('f32mac', F32, 'multiply_add=separate'),
    ('f32mac', 'gfx90a/v_mfma_f32_4x4x1f32', 'multiply_add=separate'),
    ('killprod', FMA64, 'far_product=dropped'),
    ('killprod32', FMA32, 'far_product=dropped'),
    ('xsfma', FMA32, 'far_product=opposite_one_ulp'),
    ('maddubs', VNNI, 'pair_sum=saturate_16'),
    ('maddubs_wrap', VNNI, 'pair_sum=wrap_16'),
    ('s8_as_u8', S8, 'operand_reading=u8'),
    ('a_u8', S8, 'a_reading=u8'),
    ('dpbusd_ss', VNNI, 'a_reading=s8'),
    ('s4_as_u4', 'sm_80/mma.m8n8k32.s32.s4.s4.s32', 'operand_reading=u4'),
    ('f16lowhalf', 'sm_80/mma.m16n8k8.f16.f16.f16.f16', 'the result is the low half of an f32'),
    ('badcore', VNNI, ''),
    ('b1and', 'sm_80/mma.m16n8k128.s32.b1.b1.s32.xor.popc', 'bit_operation=and'),
    ('vdot', F32, 'a and b: subnormals as zeros.*; c: zero'),
    ('vdotc', F32, 'subnormals as zeros'),
    ('exp15sat', E4M3, 'operand_reading=top_binade_largest'),
    ('nan448', E4M3, 'operand_reading=nan_largest'),
    ('subz', E4M3, 'input_subnormals=flush'),
    ('fnuz80', FNUZ, 'operand_reading=(finite|nan_zero)'),
    ('f16bf', 'gfx90a/v_mfma_f32_16x16x16f16', 'operand_reading=masked_3'),
    ('rna', TF32, 'operand_reading=nearest_away_13'),
    ('rna', XF32, 'operand_reading=nearest_away_13'),
    ('hifi2', 'gfx908/v_mfma_f32_16x16x8bf16', 'b_reading=masked_1'),
    ('nanb', 'gfx90a/v_mfma_f32_16x16x16bf16_1k', 'a and b: every NaN queried as 4000 = 2.0'),
    ('kswap', F16, 'k = 0 of a meets k = 2 of b, 1 meets 3'),
    ('khalf', S8, 'k = 0 of a meets k = 16 of b, 1 meets 17'),
    ('kpermboth', TF32, 'grouping=pairs_of_four'),
    ('scale00', MXF4, 'scale_reading=00_as_01'),
    ('scaleff', MXF4, 'scale_reading=nan_largest'),
    ('scaleshift', MXF4, 'k = 0..31 of a has scale 1 of a, 32..63 has 0'),
    ('e5m2inf', 'sm_89/mma.m16n8k32.f32.e5m2.e5m2.f32', 'operand_reading=infinity_largest'),
    ('e2m1abs', 'sm_120/mma.m16n8k32.f8f6f4.f32.e2m1.e2m1.f32', 'operand_reading=sign_ignored'),
    ('f16daz', F16, 'a_reading=subnormals_zero'),
    ('bf16rne5', BF16, 'operand_reading=nearest_2'),
    ('low2', BF16, 'b_reading=masked_2'),
    ('tf32rne', TF32, 'operand_reading=nearest_13'),
    ('fnuz_as_ocp', FNUZ, 'operand_reading=e4m3'),
    ('bias8', E4M3, 'operand_reading=bias_up'),
    ('a_e5m2', 'sm_120/mma.m16n8k32.f8f6f4.f32.e4m3.e4m3.f32', 'a_reading=e5m2'),
    ('scale_top', NVF4, 'scale_reading=top_binade_largest'),
    ('kreverse', 'sm_90/mma.m16n8k16.f32.f16.f16.f32', 'k = 0 of a meets k = 15 of b, 1 meets 14'),
    ('scale_first', NVF4, 'k = 16..63 of a has scale 0 of a'),
]


def run(mode, instruction):
    """Exit code, stdout, stderr and folder of `run` with the stand-in as the device."""
    folder = tempfile.mkdtemp(dir='.')
    device = f'exec:{shlex.quote(REPORTED)} {mode} {shlex.quote(PROGRAM)}'
    done = subprocess.run([PROGRAM, '--quiet', 'run', f'--device={device}', f'--instr={instruction}', '--cases=40',
                           '--max_mismatches=1', f'--threads={2 if mode == "badcore" else 1}', '--json',
                           f'--workdir={folder}'],
                          capture_output=True, text=True, timeout=1200, check=False)
    return done.returncode, done.stdout, done.stderr, folder


def causes(finding):
    """What a finding names: the change of its bucket, and clues."""
    return [finding['bucket']] + [clue['text'] for clue in finding['clues'] if clue['kind'] == 'found']


def wrong(mode, instruction, words):
    """What is wrong with a row; '' if nothing."""
    code, out, err, folder = run(mode, instruction)
    if words is None:
        return f'run ended with {code}\n{out}{err}' if code else ''
    if mode == 'badcore':  # only one core is bad, and nothing is pinned
        return '' if code in (0, 1, 5) else f'run ended with {code}\n{out}{err}'
    findings = json.loads(out)['findings']
    if code != 1 or not findings:
        return f'run ended with {code}\n{out}{err}'
    said = [text for f in findings for text in causes(f)]
    if not any(re.search(words, text) for text in said):
        return f'no {words!r} in\n{said}'
    if any(clue['kind'] == 'found' for f in findings for clue in f['clues']):
        explained = subprocess.run([PROGRAM, '--quiet', 'explain', folder], capture_output=True, text=True, check=False)
        if 'asked: ' not in explained.stdout:
            return f'explain does not say what was asked\n{explained.stdout}{explained.stderr}'
    return ''


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
        print(f'{row[0]} {row[1]}: {problem or row[2] or "nothing"}', flush=True)
    os.chdir('/')
sys.exit(bool(failed))
