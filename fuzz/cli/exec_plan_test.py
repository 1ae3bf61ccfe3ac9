#!/usr/bin/env python3
"""`plan --device=exec:COMMAND`: plans that a program follows are named, for many formats; changes with m are seen;
programs that fail end the command with a line that says what to do.
Usage: exec_plan_test.py MMADIFF MATRIX_HELPER"""
import json
import shlex
import subprocess
import sys

PROGRAM, HELPER = sys.argv[1:]
FMA = 'x86/vfmadd231ss'
# Formats, instructions to try, and the plan that is planted.
PLANTED = [
    ('f32,f32,f32', 'x86/vfmadd*', f'{FMA} | every 128: add | f32'),
    ('f32,f32,f32', 'x86/vfmadd*', f'{FMA} unfused | f32'),
    ('f32,f32,f32', 'x86/vfmadd*', f'{FMA} | strided 8 of 1: tree | f32'),
    ('f32,f32,f32', 'x86/*', 'x86/vfmadd231sd | f32'),
    ('f16,f16,f32', 'x86/*', f'{FMA} | every 192: add | f32'),  # f16 is exact in f32
    ('f16,f16,f16', 'sm_90/wgmma*', 'sm_90/wgmma.m64n8k16.f32.f16.f16 | every 384: add | f16'),
    ('bf16,bf16,f32', 'x86/*', 'x86/vdpbf16ps | every 64: add | f32'),
    ('bf16,bf16,f32', 'x86/tdp*', 'x86/tdpbf16ps | f32'),
    ('bf16,f16,f32', 'x86/*', f'{FMA} | every 64: add | f32'),
    ('e4m3,e5m2,bf16', 'sm_90/wgmma*', 'sm_90/wgmma.m64n8k32.f32.e4m3.e5m2 | every 128: add | bf16'),
    ('s8,s8,s32', 'x86/*', 'x86/tdpbssd | s32'),
]
# Arguments, exit code, what the message must have.
FAILURES = [
    (['--device=exec:/nowhere/matmul', '--formats=f32,f32,f32'], 4, 'no such command (exit code 127); check the path'),
    (['--device=exec:cat'], 2, 'Give those of A, B and D, as --formats=f16,f16,f32'),
    (['--device=exec:cat', '--formats=f32,f32'], 2, '--formats takes three'),
    (['--device=exec:cat,batch=3', '--formats=f32,f32,f32'], 2, 'only the option timeout'),
    (['--device=exec:cat', '--formats=f32,f32,s32'], 2, 'with results that become s32'),
    (['--device=exec:cat', '--formats=f32,f32,f32', '--m=100000', '--n=1', '--k=100000'], 2, 'at most 268435456 elements'),
    (['--device=exec:cat', '--formats=f32,f32,f32'], 5, 'only words of D may go to its stdout'),
    (['--device=exec:echo out of memory >&2; exit 3', '--formats=f32,f32,f32'], 3, 'its stderr ends with: out of memory'),
    (['--device=exec:sleep 100,timeout=0.2', '--formats=f32,f32,f32'], 3, 'Else give it more time, with timeout=5m'),
    (['--device=blas:openblas', '--formats=f32,f32,f32'], 2, 'a library has its own'),
    (['--device=cuda:0', '--formats=f32,f32,f32'], 2, 'blas:LIBRARY or exec:COMMAND'),
]
failed = 0


def check(right, *what):
    global failed
    if not right:
        failed += 1
        print(*what)


def plan(device, *arguments):
    done = subprocess.run([PROGRAM, '--quiet', 'plan', f'--device={device}', *arguments, '--json'], capture_output=True,
                          text=True, check=False)
    return done.returncode, json.loads(done.stdout or '{}'), done.stderr


for formats, instr, planted in PLANTED:
    code, result, err = plan(f'exec:{HELPER} plan {shlex.quote(planted)}', f'--formats={formats}', f'--instr={instr}', '--m=24',
                             '--n=20', '--k=1000')
    named = [p['plan'] for shape in result.get('shapes', []) for p in shape['plans']]
    check(code == 0 and named == [planted], planted, 'exit code', code, 'named', named, err)

# Batch variant from the fourth row on, as a whole.
device = f"exec:{HELPER} plan '{FMA} | f32' 4 '{FMA} | every 64: add | f32'"
code, result, err = plan(device, '--formats=f32,f32,f32', '--instr=x86/vfmadd*', '--m=1-8', '--n=16', '--k=100')
rows = [(r['first'], r['last'], [p['plan'] for p in r['plans']]) for r in result.get('first_row', [])]
check(rows == [(1, 3, [f'{FMA} | f32']), (4, 8, [f'{FMA} | every 64: add | f32'])], 'by m:', code, rows, err)

for arguments, wanted, text in FAILURES:
    code, _, err = plan(arguments[0].removeprefix('--device='), *arguments[1:], f'--instr={FMA}')
    check(code == wanted, arguments, 'exit code', code, err)
    lines = [line for line in err.splitlines() if ' left out: ' not in line]
    check(text in err and len(lines) == 1, arguments, 'says', err)

print(f'{failed} failed')
sys.exit(1 if failed else 0)
