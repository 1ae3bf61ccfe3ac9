#!/usr/bin/env python3
"""asked = compared + left out, for random globs, names, devices, questions, files and verbs. What was asked is counted from `list`,
the command line and the folder, what was compared from the files that the verb wrote, and never from the ledger.
Usage: asked_test.py MMADIFF COMBINATIONS [SEED]"""
import collections
import fnmatch
import gzip
import json
import os
import pathlib
import random
import re
import shutil
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
    return {i['instruction'] for r in json.loads(out)['runs'] for i in r['instructions'] if i['dot_products'] > 0}


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
    'shard': (lambda out: ['--cases=1', '--threads=1', f'--workdir={out}', f'--shard={int(out[3:]) % 2}/2'], of_run),
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
    verb = random_.choice(['run'] * 5 + ['shard'] * 2 + ['record'] * 3 + ['probe'] * 3 + ['survey'])
    device = random_.choice(DEVICES[:2] if verb == 'survey' else DEVICES)
    flags, compared_in = VERBS[verb]
    out = f'out{number}'
    command = ['run' if verb == 'shard' else verb, *flags(out), f'--device={device}', '--instr=' + ','.join(globs), '--json']
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


def left_of(thing, stdout):
    return [l for l in json.loads(stdout)['left_out'] if l['thing'] == thing]


def tried_questions(random_, names, questions, number):
    """Questions of rows: those whose answers are in the folder, and those that are left out."""
    rows = random_.sample(names, random_.randint(1, 3))
    asked = random_.sample(questions, random_.randint(1, 5))
    out = f'out{number}'
    command = ['probe', f'--out={out}', '--device=faulty:none=0', '--threads=1', '--instr=' + ','.join(rows),
               '--question=' + ','.join(asked), '--json']
    code, stdout, stderr = mmadiff(*command)
    told = ' '.join(command)
    answered = set()
    for path in pathlib.Path(out).rglob('*.txt'):
        row = None
        for line in path.read_text().splitlines():
            row = line.split()[2] if line.startswith('# instruction: ') else row
            if line.startswith('# question: '):
                answered.add((line.split()[2].rstrip(':'), row))
    if not stdout.strip():
        return [] if code in (2, 4) and not answered else [f'{told}: {code} without JSON: {stderr}']
    modelled = len(rows) - sum(l['count'] for l in left_of('instruction', stdout) if l['reason'] in ('no_model', 'no_formats'))
    left = sum(l['count'] for l in left_of('question', stdout))
    wrong = []
    if {q for q, _ in answered} - set(asked) or {r for _, r in answered} - set(rows):
        wrong.append(f'{told}: answers to what was not asked: {answered}')
    # An answer without a dot product leaves nothing in the folder: layouts, modes.
    silent = sum(1 for a in json.loads(stdout)['answers'] if (a['question'], a['instruction']) not in answered)
    if silent > sum(1 for a in json.loads(stdout)['answers'] if a['question'] in ('layout', 'modes', 'pairs', 'payloads')):
        wrong.append(f'{told}: answers that the folder lacks')
    if len(asked) * modelled != len(answered) + silent + left:
        wrong.append(f'{told}: asked {len(asked)} of {modelled}, answered {len(answered)} + {silent}, left out {left}')
    return wrong


def files_of(random_, folder):
    """A folder of files of every kind under any name: dot products of each instruction in it, how many files are none of ours, and
    how many claim to be and are not."""
    counts, others, claims = collections.Counter(), 0, 0
    for i in range(random_.randint(2, 7)):
        kind = random_.choice(['lines', 'lines', 'gzip', 'log', 'case', 'other', 'claim'])
        name = f'{random_.choice(["", "a/", "b/c/"])}f{i}{random_.choice(["", ".txt", ".dat", ".answers", ".x86.y"])}'
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        row = random_.choice(['x86/vdpbf16ps', 'x86/vpdpbusd', 'x86/vfmadd231ss'])
        if kind == 'other':
            path.with_suffix('.md').write_text('# somebody else\n')
            others += 1
        elif kind == 'claim':
            path.with_suffix(random_.choice(['.txt', '.log', '.gz', '.txtpb'])).write_text('somebody else\n')
            claims += 1
        elif kind == 'log':
            log = path.parent / f'f{i}.log'
            mmadiff('record', str(log), f'--instr={row}', '--cases=2', '--device=faulty:none=0')
            counts[row] += of_log_count(log)
            if random_.randrange(2):
                log.rename(path)
        elif kind == 'case':
            case = random_.choice(sorted(CASES))
            shutil.copy(case, path)
            counts[re.search('^instruction: "(.*)"', case.read_text(), re.M)[1]] += 1
        else:
            lines = mmadiff('gen', row, '--cases=1')[1]
            answers = subprocess.run([PROGRAM, 'eval', row, '--device=faulty:none=0'], input=lines, capture_output=True, text=True).stdout
            path.write_bytes(gzip.compress(answers.encode()) if kind == 'gzip' else answers.encode())
            counts[row] += sum(1 for l in answers.splitlines() if l and not l.startswith('#'))
    return counts, others, claims


CASES = set(pathlib.Path(__file__).resolve().parents[2].glob('corpus/regressions/x86/*.txtpb'))


def of_log_count(path):
    return json.loads(mmadiff('replay', str(path), '--json')[1])['compared']


def tried_files(random_, number):
    """What `replay` of a folder compares is what was put there, whatever the names."""
    folder = pathlib.Path(f'files{number}')
    counts, others, claims = files_of(random_, folder)
    code, stdout, stderr = mmadiff('replay', str(folder), '--json')
    told = f'replay of {sorted(str(p) for p in folder.rglob("*") if p.is_file())}'
    if not stdout.strip():
        return [f'{told}: {code} without JSON: {stderr}']
    result = json.loads(stdout)
    files = sum(1 for p in folder.rglob('*') if p.is_file())
    left = sum(l['count'] for l in left_of('file', stdout))
    wrong = []
    if result['compared'] != sum(counts.values()):
        wrong.append(f'{told}: {result["compared"]} compared of {counts}')
    if {i for d in result['devices'] for i in d['instructions']} != set(counts):
        wrong.append(f'{told}: {[d["instructions"] for d in result["devices"]]}, not {set(counts)}')
    if left != others + claims or any(l['of'] != files for l in left_of('file', stdout)):
        wrong.append(f'{told}: {others} + {claims} of {files} are none of ours: {left_of("file", stdout)}')
    if (code == 5) != (claims > 0):
        wrong.append(f'{told}: {code}, and {claims} claim to be ours')
    return wrong


def main():
    random_ = random.Random(SEED)
    names = listed()
    questions = [line.split()[0] for line in mmadiff('probe', '--list')[1].splitlines()]
    small = [n for n in names if re.match(r'x86/|sm_90/f|gfx942/.*_f32_4x4', n)]
    done, wrong = 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path('none').mkdir()
        number = 0
        while done < COMBINATIONS:
            number += 1
            if number % 5 == 3:
                found = tried_questions(random_, small, [q for q in questions if q != 'pairs'], number)
            elif number % 5 == 4:
                found = tried_files(random_, number)
            else:
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
