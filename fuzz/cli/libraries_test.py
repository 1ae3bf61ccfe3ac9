#!/usr/bin/env python3
"""Recordings of BLAS libraries (`plan --device --out`) against other versions of the library (`--expect`): the OpenBLAS of
Debian, and scipy_openblas32 and scipy_openblas64 of Python, where they are installed. With one thread all have the same bits;
with two, releases up to 0.3.21 share the products of more than 2^18 multiplications, later ones those of 2^19 and more.
Usage: libraries_test.py MMADIFF
Exits 77 where all else passes with fewer than two of these libraries."""
import glob
import importlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
SHAPES = ['--m=3,16', '--n=64', '--k=100,402']
failures = 0


def check(holds, what):
    global failures
    failures += not holds
    if not holds:
        print(f'FAILED: {what}')


def plan(code, *flags, says=''):
    """The output of `mmadiff plan FLAGS...`; its exit code and its message are checked."""
    done = subprocess.run([PROGRAM, 'plan', *flags], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode == code and says in done.stderr,
          f'{" ".join(flags)}: exit code {done.returncode}, expected {code} and "{says}": {done.stderr}')
    return done.stdout


def device(library, *options):
    return '--device=blas:' + ','.join([library, 'coretype=Haswell', *options])


def libraries():
    """{name: what --device calls it}, and why others are not here."""
    found, missing = {'debian': 'openblas'}, []
    for name in ['scipy_openblas32', 'scipy_openblas64']:
        try:
            found[name] = glob.glob(os.path.join(importlib.import_module(name).get_lib_dir(), 'libscipy_openblas*.so'))[0]
        except (ImportError, IndexError) as why:
            missing.append(f'{name}: {why}')
    for name, library in list(found.items()):
        tried = subprocess.run([PROGRAM, 'plan', device(library, 'threads=1'), '--m=1', '--n=1', '--k=1'],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if tried.returncode != 0:
            missing.append(f'{name}: {tried.stderr.strip()}')
            del found[name]
    return found, missing


def version(library):
    """(0, 3, 21), as the library names itself."""
    return tuple(map(int, re.search(r'OpenBLAS (\d+)\.(\d+)\.(\d+)', identity[library])[0][9:].split('.')))


def compare(found, threads):
    """Every library with the recording of every other one."""
    for name, library in found.items():
        file = f'{name}_{threads}.json'
        printed = plan(0, device(library, f'threads={threads}'), *SHAPES, '--json', '--out=' + file)
        check(pathlib.Path(file).read_text() == printed, f'{file} has what --json prints')
        identity[name] = json.loads(printed)['device_identity']
    for recorded in found:
        for name, library in found.items():
            differ = threads > 1 and (version(recorded) <= (0, 3, 21)) != (version(name) <= (0, 3, 21))
            result = json.loads(plan(int(differ), device(library, f'threads={threads}'), f'--expect={recorded}_{threads}.json', '--json'))
            check(result['compared'] == 4, f'{recorded}, {name}: 4 shapes')
            facts = [fact['fact'] for fact in result['facts']]
            check(facts == [] if name == recorded else 'library_version' in facts or identity[name] == identity[recorded],
                  f'{recorded}, {name}: {facts}')
            changed = [(s['m'], s['n'], s['k']) for s in result['changed']]
            check(changed == [(16, 64, 402)] * differ, f'{recorded}, {name}, {threads} threads: changed: {changed}')
            for shape in result['changed']:
                check(shape['plans'] and shape['recorded_plans'] and ', now ' in shape['change'], shape)


def edited(**members):
    """A recording whose last shape has other members."""
    recording = json.loads(pathlib.Path(f'{next(iter(identity))}_1.json').read_text())
    recording['shapes'][-1].update(members)
    pathlib.Path('edited.json').write_text(json.dumps(recording))
    return '--expect=edited.json'


def edit(library):
    one = device(library, 'threads=1')
    text = plan(1, one, edited(digest='0' * 16))
    check('3 of 4 have the recorded bits\nchanged   16 x 64 x 402: the recorded plans do not' in text, text)
    result = json.loads(plan(0, one, edited(digest=''), '--json'))
    check(result['compared'] == 3 and result['left_out'][-1]['names'] == ['16 x 64 x 402'], result)
    plan(2, one + ',routine=dgemm', edited(), says='edited.json has products in f32')
    edited()
    other = json.loads(pathlib.Path('edited.json').read_text()) | {'alpha': 1.0000001}
    pathlib.Path('edited.json').write_text(json.dumps(other))
    plan(2, one, '--expect=edited.json', says='alpha 1.0000001')


def wrong_calls():
    pathlib.Path('torn.json').write_text('{"device": "')
    none = '--device=blas:none'
    plan(5, none, '--expect=torn.json', says='torn.json: is not a JSON object')
    plan(2, none, '--expect=none.json', says='none.json')
    plan(6, none, '--out=none/x.json', says='none/x.json: its folder does not exist')
    plan(6, none, '--out=.', says='is not a file')
    plan(2, '--out=x.json', says='--device')
    for flag in ['--m=1', '--n=1', '--k=1', '--cases=3', '--largest=9', '--seed=3', '--out=x.json']:
        plan(2, none, '--expect=torn.json', flag, says=flag.split('=')[0])


identity = {}
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    wrong_calls()
    here, absent = libraries()
    if here:
        compare(here, 1)
        edit(next(iter(here.values())))
    if here and len(os.sched_getaffinity(0)) > 1:
        compare(here, 2)
    os.chdir('/')
print(f'{len(here)} libraries, {failures} failures', *absent, sep='\n')
sys.exit(1 if failures else 77 if len(here) < 2 else 0)
