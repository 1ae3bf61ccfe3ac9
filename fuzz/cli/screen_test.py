#!/usr/bin/env python3
"""What people see on a terminal of 80 columns, some of it also of 60: no line is wider, no word is cut, and the end of a run
is its verdict, with a command that works. Usage: screen_test.py MMADIFF"""
import fcntl
import functools
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
FMA = 'x86/vfmadd231ss'
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
# The texts of stored answers, also on 60 columns; `<FILE` is the standard input.
NARROW = [
    ['replay', 'bad/findings'],
    ['replay', 'recording'],
    ['replay', 'made.txt', '--verbose'],
    ['replay', f'{FMA}@g3:1:0', '--device=exec:sh counting.sh'],
    ['explain', 'bad/findings'],
    ['race', MMA, f'{MMA}:terms=8'],
    ['race', '--all', 'mma.m16n8k16.f32.f16.f16.f32'],
    ['race', 'h100', 'b200'],
    ['identify', '--device=faulty:none=0', f'--instr={MMA}'],
    ['explain', 'broken'],
    ['check', MMA, '<answers'],
    ['check', LONG, '<answers_long'],
    ['survey', '--compare', 'one', 'two'],
    ['survey', '--out=two', '--device=faulty:fraction_bits=24', f'--instr={MMA},{LONG}', '--cases=20',
     '--max_total_time=60s'],
    ['list', 'vectors'],
    ['changes', '--file=digests'],
]
failures = 0


def fail(what):
    global failures
    failures += 1
    print(f'FAILED: {what}')


def screen(args, columns, quiet=True):
    """What the program prints on a terminal, progress left out unless not `quiet`."""
    pid, terminal = pty.fork()
    if pid == 0:
        if args[-1].startswith('<'):
            os.dup2(os.open(args[-1][1:], os.O_RDONLY), 0)
            args = args[:-1]
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        os.environ.pop('COLUMNS', None)
        os.environ['PAGER'] = 'cat'
        os.execv(PROGRAM, ['./mmadiff', *(['--quiet'] if quiet else []), '--color=never', *args])
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


@functools.cache
def unwrapped(args):
    return screen(args, 1000)


def words(lines):
    return {word for line in lines for word in line.split()}


def check_width(args, columns):
    narrow, wide = screen(args, columns), unwrapped(tuple(args))
    for line in narrow:
        if len(line) > columns and ' ' in line.strip():  # else one word, for which there is no room
            fail(f'{len(line)} columns: {args}\n  {line}')
    # Paths may be shortened; times, and answers that do not repeat, are those of two runs.
    cut = {word for word in words(narrow) - words(wide) - {'\\'} if 'mmadiff-runs/' not in word}
    cut = {word for word in cut if not re.fullmatch(r'[0-9.,]+', word)}
    if cut:
        fail(f'cut words: {args}\n  {sorted(cut)}')


def quiet(*args, **more):
    return subprocess.run([PROGRAM, '--quiet', *args], capture_output=True, text=True, **more).stdout


def prepare():
    """What NARROW names."""
    quiet(*RUN, '--device=faulty:fraction_bits=24', f'--instr={MMA}', '--workdir=bad')
    os.mkdir('broken')
    pathlib.Path('counting.sh').write_text(
        'echo >>asked\nwhile read -r line; do printf "%s %08x\\n" "$line" "$(wc -l <asked)"; done\n')
    for op, answers in [(MMA, 'answers'), (LONG, 'answers_long')]:
        pathlib.Path(answers).write_text(quiet(
            'eval', op, '--device=faulty:fraction_bits=20', input=quiet('gen', op, '--cases=1')))
    pathlib.Path('broken/no_case.txtpb').write_text('why: "of no instruction that there is"\n')
    quiet('record', 'recording', '--device=faulty:fraction_bits=20', f'--instr={MMA},{LONG}',
          '--cases=3', '--max_total_time=0')
    for out, change in [('one', 'none=0'), ('two', 'fraction_bits=24')]:
        quiet('survey', f'--out={out}', f'--device=faulty:{change}', f'--instr={MMA},{LONG}',
              '--cases=20', '--max_total_time=60s')
    pathlib.Path('made.txt').write_text(f"""source: made

vector: one
about: one and one
formats: f32 f16 f16 f32
operands: 3c00 3c00 3c00 3c00 3c00 3c00 3c00 3c00 | 3c00 3c00 | 3f800000
expected: 40000000 {MMA} : an author of a paper with a name as long as a line of text on a screen
contested: 40800000 {MMA} : somebody who says otherwise in a footnote of a page that nobody reads
reason: made for this test, as long as reasons are where sources differ about an instruction

end
""")
    digests = pathlib.Path(__file__).resolve().parents[2] / 'corpus' / 'model_digests.txt'
    pathlib.Path('digests').write_text(re.sub('(x86/vdpbf16ps) [0-9a-f]+', r'\1 ' + re.search(
        'gfx942/v_mfma_f32_16x16x16_f16 ([0-9a-f]+)', digests.read_text())[1], digests.read_text()))


def check_table():
    """However long a name is, its row is one line."""
    rows = [line.split() for line in screen(OUTPUTS[0], 80)]
    if not any(row[0] == LONG and '0' in row[1:] for row in rows if row):
        fail(f'no row of {LONG}')


def check_pasted():
    """A line pasted into `check` on a terminal has its verdict, without --expect."""
    for word, code in [('40000000', 0), ('40000001', 1)]:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(PROGRAM, ['./mmadiff', 'check', FMA])
        os.write(terminal, f'3f800000 3f800000 3f800000 {word}\n\x04'.encode())
        text = b''
        try:
            while part := os.read(terminal, 65536):
                text += part
        except OSError:
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if status != code or f'{1 - code} of 1 equal' not in text.decode():
            fail(f'check of a pasted line: exit code {status}, {text.decode()}')


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
    if shown.returncode != 1 or 'fraction_bits=24 reproduces' not in shown.stdout:
        fail(f'the next command: {last[-1]}: {shown.returncode} {shown.stderr}')


def check_ends():
    """What else the last lines say."""
    device = ['--device=faulty:none=0', f'--instr={MMA}']
    ends = [([*RUN, *device], '^folder   mmadiff-runs/'),
            ([*RUN, *device, '--shard=7/16'], '^next     ./mmadiff run ((?!--shard).)* --dry_run$'),
            (['probe', '--question=pairs', '--max_total_time=0', *device], r'1 answer agrees \(1 so far\)'),
            (['probe', '--question=steps,model', '--device=faulty:terms=8', f'--instr={MMA}'],
             f'^  {MMA}: the model with terms=8$')]
    for args, wanted in ends:
        last = '\n'.join(screen(args, 1000)[-4:])
        if not re.search(wanted, last, re.M):
            fail(f'the end of {args} lacks {wanted!r}:\n{last}')


def check_survey():
    """No Markdown; the end is where the page is, and a command that works."""
    lines = screen(['survey', '--out=two', '--device=faulty:fraction_bits=24',
                    f'--instr={MMA},{LONG}', '--cases=20', '--max_total_time=60s'], 80)
    if any('**' in line or '|' in line for line in lines) or lines[-2:] != [
            'filed    two/survey.html', 'next     ./mmadiff replay two']:
        fail(f'the survey: {lines}')
    if not any(line.startswith(f'differs  {MMA}') for line in lines):
        fail(f'the survey does not say what differs: {lines}')
    shown = subprocess.run(['bash', '-c', lines[-1][9:]], capture_output=True, text=True)
    if shown.returncode != 1 or 'SURVEY' not in shown.stdout:
        fail(f'the next command: {shown.returncode} {shown.stdout}')


def check_conclusion():
    """The verdict of probe is what the question `model` found, with every parameter."""
    last = screen(['probe', f'--instr={MMA}', '--question=width,model', '--device=exec:' + PROGRAM
                   + f' eval {MMA.replace("sm_90", "sm_80")}'], 200)[-1]
    if last != f'  {MMA}: the model with fraction_bits=24 terms=8':
        fail(f'the conclusion of probe: {last}')


def check_steps():
    """What an assembler does before the first answer."""
    for name, text in [('ptxas', 'echo V13.0.88'), ('nvdisasm', 'true')]:
        pathlib.Path(name).write_text(f'#!/bin/sh\n{text}\n')
        os.chmod(name, 0o755)
    os.environ['MMADIFF_NVDISASM'] = os.path.abspath('nvdisasm')
    shown = screen(['run', '--device=sass:arch=sm_90a,ptxas=./ptxas,overlap=any', f'--instr={MMA}', '--cases=1'], 120,
                   quiet=False)
    if not re.search(r'ptxas 13.0.88 assembles \d+ kernels? of mma.m16n8k16', '\n'.join(shown)):
        fail(f'no step of the assembler: {shown}')


def check_probe():
    """What contradicts is shown again by the next command."""
    args = [*OUTPUTS[7], '--question=width', '--out=probed']
    args.remove('--all')
    last = screen(args, 80)[-2:]
    if last[0] != 'filed    probed' or not last[1].startswith('next     '):
        fail(f'the end of probe: {last}')
    shown = subprocess.run(['bash', '-c', last[1][9:]], capture_output=True, text=True)
    if shown.returncode != 1 or f'MISMATCH {MMA}' not in shown.stdout:
        fail(f'the next command: {last[1]}: {shown.returncode} {shown.stderr}')


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    prepare()
    for output in OUTPUTS + NARROW:
        check_width(output, 80)
    for output in NARROW:
        check_width(output, 60)
    check_table()
    check_pasted()
    check_verdict()
    check_survey()
    check_conclusion()
    check_probe()
    check_steps()
    check_ends()
    os.chdir('/')
print(f'{len(OUTPUTS) + 2 * len(NARROW)} outputs, {failures} failures')
sys.exit(failures != 0)
