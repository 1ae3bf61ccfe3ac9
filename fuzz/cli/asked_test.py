#!/usr/bin/env python3
"""asked = compared + left out, for random globs, names, devices and verbs. What was asked is counted from `list` and the
command line, what was compared from the files that the verb wrote, and never from the ledger.
Usage: asked_test.py MMADIFF COMBINATIONS [SEED]"""
import fnmatch
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
COMBINATIONS = int(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
DEVICES = ['host', 'faulty:none=0', f'exec:{PROGRAM} eval $MMADIFF_INSTRUCTION', 'faulty:fraction_bits=24', 'faulty:nan_rule=propagate']
MOST_ROWS = 25  # of a combination


def mmadiff(*args):
    done = subprocess.run([PROGRAM, '--quiet', *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def listed():
    return [row['name'] for row in json.loads(mmadiff('list', 'instructions', '--evidence', '--json')[1])]


def instructions_in(folder):
    """Those that line-protocol files below a folder name."""
    found = set()
    for path in pathlib.Path(folder).rglob('*.txt'):
        found |= set(re.findall(r'^# instruction: (\S+)', path.read_text(), re.M))
    return found


def of_run(folder):
    code, out, _ = mmadiff('report', folder, '--json')
    return {i['name'] for r in json.loads(out)['runs'] for i in r['instructions'] if i['dot_products'] > 0}


def of_log(path):
    if not pathlib.Path(path).exists():
        return set()
    replayed = json.loads(mmadiff('replay', path, '--json')[1])
    return {i for d in replayed['devices'] for i in d['instructions']} | set(replayed['unmodelled_instructions'])


def of_survey(folder):
    path = pathlib.Path(folder, 'survey.json')
    rows = json.loads(path.read_text())['rows'] if path.exists() else []
    return {row['instruction'] for row in rows if row['layout'] != 'not asked' or row['troubles']}


# Verb: its flags, and what it compared, from the files that it wrote.
VERBS = {
    'run': (lambda out: ['--cases=1', '--threads=1', f'--workdir={out}'], of_run),
    'record': (lambda out: [out + '.log', '--cases=1'], lambda out: of_log(out + '.log')),
    'probe': (lambda out: ['--question=repeat', f'--out={out}', '--threads=1'], instructions_in),
    'survey': (lambda out: [f'--out={out}', '--cases=1', '--max_total_time=60s', '--regressions=none'], of_survey),
}


def glob_of(name, random_):
    """The name, or a glob that matches it."""
    arch, instruction = name.split('/')
    parts = instruction.split('.')
    choice = random_.randrange(6)
    if choice < 2:
        return name
    if choice == 2:
        return f'{arch}/{".".join(parts[:-1])}*'
    if choice == 3:
        return f'{arch}/*{parts[-1]}'
    if choice == 4:
        return f'*/{instruction}'
    return f'{arch[:-1]}?/{instruction}'


def tried(random_, names, number):
    """What is wrong with one combination; None if it asks for too much."""
    globs = [glob_of(random_.choice(names), random_) for _ in range(random_.randint(1, 3))]
    exact = [g for g in globs if not set(g) & set('*?')]
    asked = {n for n in names for g in globs if fnmatch.fnmatchcase(n, g)}
    if len(asked) > MOST_ROWS:
        return None
    verb = random_.choice(['run'] * 5 + ['record'] * 3 + ['probe'] * 3 + ['survey'])
    device = random_.choice(DEVICES[:2] if verb == 'survey' else DEVICES)
    flags, compared_in = VERBS[verb]
    out = f'out{number}'
    command = [verb, *flags(out), f'--device={device}', '--instr=' + ','.join(globs), '--json']
    code, stdout, stderr = mmadiff(*command)
    told = ' '.join(command)
    if not stdout.strip():  # nothing is left to ask
        nothing = not pathlib.Path(out).exists() or (verb == 'survey' and not compared_in(out))
        return [] if code in (3, 4) and nothing else [f'{told}: {code} without JSON: {stderr}']
    compared = compared_in(out)
    left = [l for l in json.loads(stdout)['left_out'] if l['thing'] == 'instruction']
    wrong = []
    if compared - asked:
        wrong.append(f'{told}: compared what was not asked: {compared - asked}')
    count = sum(l['count'] for l in left)
    if len(asked) != len(compared) + count:
        wrong.append(f'{told}: asked {len(asked)}, compared {len(compared)}, left out {count}: {left}')
    for line in left:
        if set(line['names']) & compared or set(line['names']) - asked or line['of'] != len(asked):
            wrong.append(f'{told}: {line}')
    if 'accounted for' in stderr:
        wrong.append(f'{told}: {stderr}')
    missing = set(exact) - compared
    if bool(missing) and code not in (1, 3, 4, 5) or not missing and code == 4:
        wrong.append(f'{told}: {code}, and {missing or "nothing"} that was named is missing')
    named = {n for l in left if l['named'] for n in l['names']}
    if named != missing:
        wrong.append(f'{told}: named and left out {named}, missing {missing}')
    return wrong


def main():
    random_ = random.Random(SEED)
    names = listed()
    done, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path('none').mkdir()
        number = 0
        while done < COMBINATIONS:
            number += 1
            found = tried(random_, names, number)
            if found is None:
                continue
            done += 1
            wrong += found
        os.chdir('/')
    print('\n'.join(wrong[:20]))
    print(f'{done} combinations of seed {SEED}, {len(wrong)} failures')
    sys.exit(1 if wrong else 0)


main()
