#!/usr/bin/env python3
"""A unit of f16 with one fault each, in a process for each batch and in one that is kept: `run` ends
with the right finding, the smallest one, and `replay` repeats it and sees that it is mended. With --microseconds each is
tried in both kinds of process, else in one.
Usage: units_test.py MMADIFF UNIT UNIT_23 [--microseconds=N] [VARIANT...]
UNIT, UNIT_23: fuzz/cli/testing/stand_in.c with 25 and 23 fraction bits. N: of a line [0].
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

INSTRUCTION = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'
ONE_INPUT = r'k=0 .*-1\.0 x 2\^-15'  # negative times subnormal

# What a variant is filed as, and what its smallest case shows; '': nothing differs. `late` lives longer
# than a batch.
Variant = dict(
    right=('', '', ''),
    bits23=('aligned_term_fraction_bits_23', r'1\.0 x 1\.0 c b3800000', 'fraction_bits=23 reproduces all'),
    x=('unknown_bits', r'x', 'unknown bits'),
    line20=('crash', 'aged:crash_signal_6', 'after 19 answers'),  # less than what is asked before the run
    line101=('crash', 'aged:crash_signal_6', 'after 100 answers'),
    crash=('crash', ONE_INPUT, 'exit code 3.*unit.sv:42: assertion'),
    assertion=('crash', ONE_INPUT, 'exit code 1.*%Error: unit.sv:42'),
    after=('crash', ONE_INPUT, 'killed by signal 6'),
    hang=('hang', ONE_INPUT, 'the program hung'),
    flush=('unexplained', r'k=5 ', r'shared +a subnormal in a at k5: [\d,]+ of [\d,]+ differ, and 0 of the other'),
    warn=('text', ONE_INPUT, '%Warning: unit.sv:42'),
    behind=('text', ONE_INPUT, '%Warning: unit.sv:42'),
    late=('aged_unexplained', '16 terms are \\+0', 'after 20000 answers from one process'),
)

IN_EACH = ('bits23', 'line101', 'warn')  # of the quick test; the other variants are asked in a process that is kept


def mmadiff(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=1200,
                          check=False)
    return done.returncode, done.stdout, done.stderr


def device(variant, restart):
    unit = UNITS[variant == 'bits23']
    return (f'--device=exec:{shlex.quote(unit)} {variant} {MICROSECONDS}'
            f',restart={restart},timeout={"1s" if variant == "hang" else "1m"}')


def try_one(variant, restart):
    """What is wrong; '' if nothing."""
    kind, smallest, said = Variant[variant]
    found = kind and not (variant == 'late' and restart == 'each')
    command = [device(variant, restart), f'--instr={INSTRUCTION}', '--cases=400', '--workdir=w',
               f'--max_mismatches={2 if variant == "hang" else 5}', '--threads=1']
    code, out, err = mmadiff('run', *command)
    text = ' '.join(out.split())
    if code != int(bool(found)):
        return f'run ended with {code}\n{out}{err}'
    findings = sorted(pathlib.Path('w/findings').rglob('*.txtpb'))
    if not found:
        return f'{findings} were filed' if findings else ''
    others = [path.name for path in findings if not path.name.startswith(kind + '-')]
    if others or not findings:
        return f'filed {[path.name for path in findings]}, not {kind}'
    for pattern in (smallest, said):
        if not re.search(pattern, text):
            return f'no {pattern!r} in\n{out}'
    if 'is lost' in err:
        return err
    minimal = re.search(r'filed +(\S+\.txtpb)', text)
    minimal = minimal.group(1) if minimal else str(findings[0])
    for other, wanted in ((variant, 1), ('right', 0)):
        code, out, err = mmadiff('replay', minimal, device(other, restart))
        if code != wanted:
            return f'replay {minimal} of {other} ended with {code}\n{out}{err}'
    if restart == 'never':
        return misread(findings) or (unlike_run(variant, minimal, said) if variant in ('x', 'crash') else '')
    return ''


def misread(findings):
    """What is wrong with how other verbs read the folder w."""
    signature = re.search('signature: "(.*)"', findings[0].read_text()).group(1)
    shared = re.search('shared: "(.*)"', findings[0].read_text())
    for verb in (['report', 'w'], ['status', 'w'], ['clean', 'w'], ['merge', 'merged', 'w'],
                 ['list', 'findings', 'w'], ['explain', 'w']):
        code, out, err = mmadiff('--quiet', '--json', *verb)
        if code != (verb[0] == 'explain') or err:
            return f'{verb} ended with {code}\n{out}{err}'
        if verb[0] in ('report', 'list') and f'"bucket": "{signature}"' not in out:
            return f'{verb}: no {signature} in\n{out}'
        if shared and verb[0] in ('report', 'explain') and shared[1] not in out:
            return f'{verb}: no {shared[1]!r} in\n{out}'
    return ''


def unlike_run(variant, minimal, said):
    """What other verbs that ask a device, or read its answers, say otherwise than `run`."""
    failing, right = device(variant, 'never'), device('right', 'never')
    case = f'{INSTRUCTION}@g3:1:0'
    whole = [f'--instr={INSTRUCTION}', '--cases=1', '--max_mismatches=0', '--threads=1']
    for code, *command in ((1, 'minimize', case, failing, '--workdir=m'), (1, 'minimize', minimal, failing, '--workdir=m'),
                           (0, 'minimize', minimal, right, '--workdir=m'), (2, 'minimize', minimal),
                           (1, 'explain', minimal), (1, 'explain', minimal, failing), (1, 'explain', 'w'),
                           (0, 'explain', minimal, right), (1, 'replay', case, failing),
                           (1, 'run', failing, *whole, '--workdir=failing'),
                           (0, 'verify', 'failing'), (1, 'verify', 'failing', right),
                           (0, 'run', right, *whole, '--workdir=right'), (1, 'verify', 'right', failing),
                           (3, 'bench', failing, whole[0], '--time=1ms', '--rounds=1')):
        ended, out, err = mmadiff('--quiet', *command)
        text = ' '.join((out + err).split())
        if ended != code:
            return f'{command} ended with {ended}\n{out}{err}'
        speaks = code == 3 or (code == 1 and command[0] in ('minimize', 'explain', 'replay'))
        if speaks and not re.search(said, text):
            return f'{command}: no {said!r} in\n{out}'
        if code == 2 and failing.split('=', 1)[1] not in text:
            return f'{command} does not name {failing}\n{err}'
        if code == 3 and (out or 'fails on ' not in err):
            return f'{command} has a number, or names no input\n{out}{err}'
        line = re.search('reproduce +(.*?txtpb)', text)
        if line and subprocess.run(shlex.split(line.group(1)), capture_output=True, check=False).returncode != 1:
            return f'{line.group(1)} does not reproduce'
    return ''


def two_faults():
    """What is wrong where some inputs fail and other words are wrong: both are filed, each at its smallest."""
    for variant in ('x', 'after', 'behind'):
        kind, smallest, _ = Variant[variant]
        # On a busy machine a program may count as slow; it gets fewer executions, and `run` says so: again.
        for folder in (f'{variant}{attempt}' for attempt in range(4)):
            code, out, err = mmadiff('run', f'--device=exec:{shlex.quote(UNITS[1])} {variant},restart=never',
                                     '--threads=1', f'--instr={INSTRUCTION}', '--cases=6', '--max_mismatches=1000',
                                     f'--workdir={folder}')
            text = ' '.join(out.split())
            if 'smallest one dot product, found with' not in text:
                break
        filed = {path.name.rsplit('-', 1)[0] for path in pathlib.Path(folder, 'findings').rglob('*.txtpb')}
        if code != 1 or filed != {kind, Variant['bits23'][0]} or 'stat::dropped: 0' not in text:
            return f'{variant}: run ended with {code} and filed {filed}\n{out}{err}'
        for pattern in (smallest, *Variant['bits23'][1:]):
            if not re.search(pattern, text):
                return f'{variant}: no {pattern!r} in\n{out}'
    return ''


def over_descriptors():
    """What is wrong where `run` asks a process that it did not start."""
    for variant, wanted in (('right', 0), ('bits23', 1), ('x', 1)):
        unit = subprocess.Popen([UNITS[variant == 'bits23'], variant, '0'], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        ends = unit.stdout.fileno(), unit.stdin.fileno()
        done = subprocess.run([PROGRAM, 'run', f'--device=fd:{ends[0]},{ends[1]}', f'--instr={INSTRUCTION}',
                               '--cases=40', f'--workdir={variant}'], capture_output=True, text=True, timeout=1200,
                              pass_fds=ends, check=False)
        unit.stdin.close()
        if done.returncode != wanted or unit.wait() != 0:
            return f'{variant} ended with {done.returncode}\n{done.stdout}{done.stderr}'
        kind = Variant[variant][0]
        if kind and not list(pathlib.Path(variant, 'findings').rglob(f'{kind}-*.txtpb')):
            return f'{variant}: no {kind} was filed\n{done.stdout}'
    return ''


def main():
    global PROGRAM, UNITS, MICROSECONDS
    flags = [arg for arg in sys.argv[1:] if arg.startswith('--')]
    PROGRAM, *UNITS = (str(pathlib.Path(arg).resolve()) for arg in sys.argv[1:4])
    MICROSECONDS = flags[0].split('=')[1] if flags else '0'
    variants = [arg for arg in sys.argv[4:] if arg not in flags] or Variant
    failed = 0

    def attempt(name, find_wrong, *arguments):
        nonlocal failed
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            wrong = find_wrong(*arguments)
            os.chdir('/')
        failed += bool(wrong)
        print(f'{name}: {wrong or "as it should"}', flush=True)

    for variant in variants:
        for restart in ('each', 'never') if flags else ('each',) if variant in IN_EACH else ('never',):
            attempt(f'{variant}, restart={restart}', try_one, variant, restart)
    attempt('over descriptors', over_descriptors)
    attempt('two faults', two_faults)
    sys.exit(failed > 0)


main()
