#!/usr/bin/env python3
"""What people see on a terminal of 80 columns: no line is wider, no word is cut, and the end of a run
is its verdict, with a command that works. Usage: screen_test.py MMADIFF"""
import fcntl
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
MMA = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'
LONG = 'sm_120/mma.m16n8k64.mxf4nvf4.f32.e2m1.e2m1.f32.ue4m3.4x'
DOUBLE = 'sm_80/mma.m8n8k4.f64.f64.f64.f64'
RUN = ['run', '--cases=200', '--threads=1']
OUTPUTS = [
    [*RUN, '--device=faulty:none=0', f'--instr={LONG},x86/*'],
    [*RUN, '--device=faulty:fraction_bits=24', f'--instr={MMA}'],
    [*RUN, '--device=faulty:output_rounding=up', f'--instr={DOUBLE},{LONG}'],
    ['explain', f'{MMA}@g3:1:0', '--device=faulty:fraction_bits=24'],
    ['explain', f'{DOUBLE}@g3:1:0', '--device=faulty:output_rounding=up'],
    ['explain', f'{LONG}@g3:1:0', '--device=faulty:fraction_bits=20'],
    ['minimize', f'{MMA}@g3:1:0', '--device=faulty:terms=8', '--workdir=minimized'],
    ['probe', '--all', '--device=faulty:fraction_bits=24', f'--instr={MMA}', '--max_total_time=0'],
    ['probe', '--list'],
    ['list', 'devices'],
    ['list', 'strategies'],
    ['list', 'formats'],
    ['list', 'differences'],
    ['list', 'instructions', '--evidence'],
]
failures = 0


def fail(what):
    global failures
    failures += 1
    print(f'FAILED: {what}')


def screen(args, columns):
    """What the program prints on a terminal, progress left out."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        os.environ.pop('COLUMNS', None)
        os.environ['PAGER'] = 'cat'
        os.execv(PROGRAM, [PROGRAM, '--quiet', '--color=never', *args])
    data = b''
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        data += part
    os.waitpid(pid, 0)
    text = re.sub('\r\x1b\\[K', '', data.decode().replace('\r\n', '\n'))
    if '\r' in text or '\x1b' in text:
        fail(f'control characters: {args}')
    return text.splitlines()


def words(lines):
    return {word for line in lines for word in line.split()}


def check_width(args):
    narrow, wide = screen(args, 80), screen(args, 1000)
    for line in narrow:
        if len(line) > 80:
            fail(f'{len(line)} columns: {args}\n  {line}')
    # Paths may be shortened; times are those of two runs.
    cut = {word for word in words(narrow) - words(wide) - {'\\'} if 'mmadiff-runs/' not in word}
    cut = {word for word in cut if not re.fullmatch(r'[0-9.]+', word)}
    if cut:
        fail(f'cut words: {args}\n  {sorted(cut)}')


def check_table():
    """However long a name is, its row is one line."""
    rows = [line.split() for line in screen(OUTPUTS[0], 80)]
    if not any(row[0] == LONG and '0' in row[1:] for row in rows if row):
        fail(f'no row of {LONG}')


def check_verdict():
    args = OUTPUTS[1]
    last = screen(args, 80)[-24:]
    for what in [f'differs  {MMA}', 'aligned_term:fraction_bits=24', 'filed    mmadiff-runs/']:
        if not any(what in line for line in last):
            fail(f'the last 24 lines lack {what!r}')
    if any(line.startswith('stat::') for line in last):
        fail('stat:: lines on a terminal')
    if not any(line.startswith('stat::mismatches: ') for line in screen([*args, '--stats'], 80)):
        fail('no stat:: lines with --stats')
    os.symlink(PROGRAM, 'mmadiff')
    shown = subprocess.run(['bash', '-c', last[-1]], capture_output=True, text=True)
    if shown.returncode != 1 or 'fraction_bits=24 gives' not in shown.stdout:
        fail(f'the next command: {last[-1]}: {shown.returncode} {shown.stderr}')


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for output in OUTPUTS:
        check_width(output)
    check_table()
    check_verdict()
    os.chdir('/')
print(f'{len(OUTPUTS)} outputs, {failures} failures')
sys.exit(failures != 0)
