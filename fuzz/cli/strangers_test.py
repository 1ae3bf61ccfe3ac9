#!/usr/bin/env python3
"""What strangers put in the place of a stored file: each file that a verb reads or writes is in turn a FIFO, a socket, a folder,
and a link of another user in a folder where all may write. The verb ends, its exit code and its message say so, and nothing
outside the folder changes. Links and owners of other users need root; without it they are left out.
Usage: strangers_test.py MMADIFF [PART]    PART: only the verbs whose command has it"""
import gzip
import hashlib
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
PART = sys.argv[2] if len(sys.argv) > 2 else ''
ROOT = os.geteuid() == 0
STRANGER = 65534
SECONDS = int(os.environ.get("SECONDS_EACH", 20))
MMA, FMA = 'sm_90/mma.m16n8k8.f32.f16.f16.f32', 'x86/vfmadd231ss'
SAME, OTHER = '--device=faulty:none=0', '--device=faulty:fraction_bits=24'
RUN = f'run --threads=1 {SAME} --instr={FMA} --cases=50'
SURVEY = f'survey {SAME} --instr={MMA} --cases=20 --max_total_time=0 --regressions=cases'

UNITS, MANIFEST, LOCK, DISTRUSTED, HARDWARE = 'units-000000-1.log', 'manifest.txtpb', 'writer.lock', 'distrusted.txt', 'hardware'
OF_RUN = [MANIFEST, UNITS, LOCK, DISTRUSTED, HARDWARE]
CASE = 'findings/sm_90/case-ID.txtpb'
OF_RECORDING = ['recording.txtpb', 'raw-1.log', 'regressions.txt', 'digests.log']
OF_SURVEY = ['answers.log', 'survey.html', 'survey.md', 'survey.json', LOCK, 'recording'] + ['recording/' + name for name in OF_RECORDING]
# Command, folder, its files that are replaced, those of them without which the command fails.
VERBS = [
    (f'{RUN} --workdir=run', 'run', OF_RUN, OF_RUN),
    (f'run --threads=1 {SAME} --instr={FMA} --cases=100 --extend --workdir=run', 'run', OF_RUN, OF_RUN),
    ('status run', 'run', OF_RUN, [MANIFEST, UNITS, DISTRUSTED]),
    ('report run', 'run', OF_RUN, [MANIFEST, UNITS, DISTRUSTED]),
    ('verify run', 'run', OF_RUN, [MANIFEST, UNITS]),
    ('clean run', 'run', OF_RUN, [MANIFEST, UNITS]),
    ('clean run --yes', 'run', OF_RUN, [MANIFEST, UNITS, LOCK]),
    ('merge whole run', 'run', OF_RUN, [MANIFEST, UNITS, DISTRUSTED, HARDWARE]),
    ('merge run run2', 'run', OF_RUN, OF_RUN),
    ('report --compare run run2', 'run', OF_RUN, [MANIFEST, UNITS]),
    (f'run --threads=1 {OTHER} --instr={MMA} --cases=200 --workdir=found', 'found', [CASE, 'findings'], [CASE, 'findings']),
    ('status found', 'found', [CASE, 'findings'], [CASE, 'findings']),
    ('report found', 'found', [CASE, 'findings'], [CASE, 'findings']),
    ('merge whole found', 'found', [CASE, 'findings'], [CASE, 'findings']),
    ('list findings found', 'found', [CASE, 'findings'], [CASE]),
    ('explain found', 'found', [CASE], [CASE]),
    ('replay found', 'found', [CASE], [CASE]),
    ('replay found --update', 'found', [CASE], [CASE]),
    (f'minimize {MMA}@g3:1:0 {OTHER} --workdir=found', 'found', ['findings', LOCK], [LOCK]),
    ('replay rec', 'rec', OF_RECORDING, OF_RECORDING),
    (f'run --threads=1 --device=recorded:rec --instr={MMA} --cases=10 --workdir=new', 'rec', OF_RECORDING, OF_RECORDING[:3]),
    ('report --compare rec rec2', 'rec', OF_RECORDING, OF_RECORDING),
    (f'infer --device=recorded:rec --instr={MMA}', 'rec', OF_RECORDING, OF_RECORDING[:3]),
    (f'identify --device=recorded:rec --instr={MMA}', 'rec', OF_RECORDING, OF_RECORDING[:3]),
    (f'{SURVEY} --out=sur', 'sur', OF_SURVEY, ['answers.log', LOCK, 'survey.html', 'survey.md', 'survey.json']),
    ('survey --compare sur sur2', 'sur', OF_SURVEY, ['answers.log']),
    ('replay sur', 'sur', OF_SURVEY, [name for name in OF_SURVEY if name not in (LOCK, 'recording')]),
    ('replay files/log.log', 'files', ['log.log'], ['log.log']),
    (f'run --threads=1 --device=recorded:files/log.log --instr={FMA} --cases=10 --workdir=new', 'files', ['log.log'], ['log.log']),
    ('replay files/vectors.txt', 'files', ['vectors.txt'], ['vectors.txt']),
    ('replay files', 'files', ['vectors.txt', 'log.log', 'case.txtpb', 'x86.vfmadd231ss.txt', 'x86.a.vfmadd231ss.txt.gz'],
     ['vectors.txt', 'log.log', 'case.txtpb', 'x86.vfmadd231ss.txt', 'x86.a.vfmadd231ss.txt.gz']),
    ('replay files/x86.vfmadd231ss.txt', 'files', ['x86.vfmadd231ss.txt'], ['x86.vfmadd231ss.txt']),
    ('replay files/x86.a.vfmadd231ss.txt.gz', 'files', ['x86.a.vfmadd231ss.txt.gz'], ['x86.a.vfmadd231ss.txt.gz']),
    (f'infer --device=recorded:files/x86.vfmadd231ss.txt --instr={FMA}', 'files', ['x86.vfmadd231ss.txt'], ['x86.vfmadd231ss.txt']),
    ('replay files/case.txtpb', 'files', ['case.txtpb'], ['case.txtpb']),
    ('explain files/case.txtpb', 'files', ['case.txtpb'], ['case.txtpb']),
    (f'minimize files/case.txtpb {OTHER} --workdir=new', 'files', ['case.txtpb'], ['case.txtpb']),
    ('changes --file=texts/digests.txt', 'texts', ['digests.txt'], ['digests.txt']),
    (f'bench --instr={FMA} --rounds=1 --compare=texts/bench.json', 'texts', ['bench.json'], ['bench.json']),
    ('report run --out=texts/page.html', 'texts', ['page.html'], ['page.html']),
    ('report run --junit=texts/junit.xml', 'texts', ['junit.xml'], ['junit.xml']),
    ('replay files/log.log --junit=texts/junit.xml', 'texts', ['junit.xml'], ['junit.xml']),
    (f'explain {MMA} --a=1 --b=1 --c=1 --svg=texts/case.svg', 'texts', ['case.svg'], ['case.svg']),
    ('record files/log.log ' + f'{SAME} --instr={FMA} --cases=10', 'files', ['log.log'], ['log.log']),
    ('record rec ' + f'{SAME} --instr={FMA} --cases=10 --max_total_time=0', 'rec', ['recording.txtpb'], []),
]
KINDS = ['FIFO', 'socket', 'folder'] + ['link'] * ROOT


def mmadiff(command, user=None):
    """Exit code and output; 'hangs' after SECONDS."""
    as_user = ['setpriv', f'--reuid={user}', f'--regid={user}', '--clear-groups'] if user else []
    # A folder in /dev/stdin's place must not be waited for either.
    process = subprocess.Popen([*as_user, PROGRAM, '--quiet', *shlex.split(command)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output = process.communicate(timeout=SECONDS)[0].decode(errors='replace')
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return 'hangs', ''
    return process.returncode, output


def make(command, *codes):
    code, output = mmadiff(command)
    assert code in (codes or (0,)), (command, code, output)


def make_good():
    make(f'{RUN} --workdir=run')
    make(f'run --threads=1 {OTHER} --instr={MMA} --cases=200 --workdir=found', 1)
    for folder in ('run', 'found'):
        next(pathlib.Path(folder).glob('units-*.log')).rename(f'{folder}/{UNITS}')
        for name in (DISTRUSTED, HARDWARE):
            pathlib.Path(folder, name).touch()
    shutil.copytree('run', 'run2')
    case = sorted(pathlib.Path('found').glob('findings/*/*.txtpb'))[0]
    shutil.copytree('found/findings', 'cases')
    for name in ('rec', 'rec2'):
        make(f'record {name} {SAME} --instr={MMA} --cases=20 --max_total_time=1s --regressions=cases')
    for name in ('sur', 'sur2'):
        make(f'{SURVEY} --out={name}')
    os.mkdir('files')
    os.mkdir('texts')
    make(f'record files/log.log {SAME} --instr={FMA} --cases=20')
    shutil.copy(case, 'files/case.txtpb')
    shutil.copy(SOURCE / 'corpus/vectors/fp8_accumulators.txt', 'files/vectors.txt')
    shutil.copy(SOURCE / 'corpus/model_digests.txt', 'texts/digests.txt')
    pathlib.Path('files/x86.vfmadd231ss.txt').write_text(LINES)
    pathlib.Path('files/x86.a.vfmadd231ss.txt.gz').write_bytes(gzip.compress(LINES.encode()))
    pathlib.Path('texts/bench.json').write_text(mmadiff(f'bench --instr={FMA} --rounds=1 --json')[1])
    for name in ('page.html', 'junit.xml', 'case.svg'):
        pathlib.Path('texts', name).touch()
    return str(case.relative_to('found'))


def put(kind, path, outside):
    """In the place of `path`, with what was there in `outside`."""
    shutil.move(path, outside / path.name)
    if kind == 'FIFO':
        os.mkfifo(path)
    elif kind == 'socket':
        here = os.getcwd()
        os.chdir(path.parent)  # names of sockets are short
        socket.socket(socket.AF_UNIX).bind(path.name)
        os.chdir(here)
    elif kind == 'folder':
        path.mkdir()
    else:
        path.symlink_to(outside / path.name)
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)
        path.parent.chmod(0o1777)


def state(folder):
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else 'folder'
            for path in sorted(folder.rglob('*'))}


def try_one(command, folder, name, kind, needed, good, case):
    """What is wrong; '' if nothing."""
    here = pathlib.Path(tempfile.mkdtemp(dir='.')).resolve()
    outside = here / 'outside'
    outside.mkdir()
    for part in ('run', 'run2', 'found', 'rec', 'rec2', 'sur', 'sur2', 'files', 'texts', 'cases'):
        if part == folder or part in command:
            shutil.copytree(part, here / part)
    os.chdir(here)
    try:
        put(kind, pathlib.Path(folder, name), outside)
        before = state(outside)
        code, output = mmadiff(command)
        if state(outside) != before:
            return f'{code}: changed what is outside'
        if code == 'hangs':
            return 'hangs'
        # A folder in the place of a case or a recording is read: it has none.
        empty = kind == 'folder' and (name == case or folder == 'files')
        if empty and command != 'replay files' and folder == 'files':
            return '' if code in (2, 3, 5, 6) else f'{code}: {output}'
        if empty or not needed:
            return '' if code in (good, 2, 5, 6) else f'{code} instead of {good}: {output}'
        # Mismatches come before damage.
        refused = code in (2, 5, 6) or code == 1 == good
        return '' if refused and pathlib.Path(name).name in output else f'{code}: {output[-1500:]}'
    finally:
        os.chdir(here.parent)
        shutil.rmtree(here)


def test_owners(failures):
    """A folder of another user is written to with --shared alone, or by root."""
    if not ROOT or not shutil.which('setpriv'):
        print('left out: folders of other users; this needs root and setpriv')
        return
    work = pathlib.Path(tempfile.mkdtemp(dir='.')).resolve()
    work.chmod(0o777)
    for command, folder in ((f'{RUN} --workdir=', 'run'), ('merge out run2', ''), (f'{SURVEY} --out=', 'sur')):
        here = work / ('a' + folder)
        here.mkdir()
        here.chmod(0o777)
        for part in ('run', 'run2', 'sur', 'cases'):
            shutil.copytree(part, here / part)
        subprocess.run(['chmod', '-R', 'a+rwX', here], check=True)
        os.chdir(here)
        if not folder:  # OUT of a merge
            shutil.copytree('run', 'out')
            subprocess.run(['chmod', '-R', 'a+rwX', 'out'], check=True)
        code, output = mmadiff(command + folder, user=STRANGER)
        if code != 2 or '--shared' not in output:
            failures.append(f'{command}{folder} of root: {code}: {output}')
        code, output = mmadiff(command + folder + ' --shared', user=STRANGER)
        if code != 0:
            failures.append(f'{command}{folder} --shared: {code}: {output}')
        subprocess.run(['chown', '-R', f'{STRANGER}:{STRANGER}', '.'], check=True)
        for user in (STRANGER, None):
            code, output = mmadiff(command + folder, user=user)
            if code != 0:
                failures.append(f'{command}{folder} of {user}: {code}: {output}')
        os.chdir(work.parent)
    shutil.rmtree(work)


def test_bomb(failures):
    """Much text without an answer is given up, packed or not."""
    for text in ('\n', '# comment\n'):
        with gzip.open('x86.vfmadd231ss.txt.gz', 'wb', 1) as out:
            for _ in range(300):
                out.write(text.encode() * ((1 << 20) // len(text)))
        code, output = mmadiff('replay x86.vfmadd231ss.txt.gz')
        if code != 5 or '64 MiB without an answer' not in output:
            failures.append(f'300 MiB of {text!r}: {code}: {output}')


SOURCE = pathlib.Path(__file__).resolve().parents[2]


def main():
    global LINES
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.chmod(folder, 0o755)
        cases = subprocess.run([PROGRAM, 'gen', FMA, '--cases=20'], capture_output=True, check=True).stdout
        LINES = subprocess.run([PROGRAM, 'eval', FMA], input=cases, capture_output=True, check=True).stdout.decode()
        case = make_good()
        failures, tried = [], 0
        for command, of, names, needed in VERBS:
            if PART not in command:
                continue
            with_good = pathlib.Path(tempfile.mkdtemp(dir='.'))
            for part in ('run', 'run2', 'found', 'rec', 'rec2', 'sur', 'sur2', 'files', 'texts', 'cases'):
                shutil.copytree(part, with_good / part)
            os.chdir(with_good)
            good, output = mmadiff(command)
            os.chdir(folder)
            shutil.rmtree(with_good)
            for name in names:
                for kind in KINDS:
                    if kind == 'folder' and name in ('findings', 'recording'):
                        continue
                    tried += 1
                    wrong = try_one(command, of, case if name == CASE else name, kind, name in needed, good, case)
                    if wrong:
                        failures.append(f'{command}, {name} is a {kind}: {wrong}')
        if not PART:
            test_owners(failures)
            test_bomb(failures)
        print('\n'.join(failures) + f'\n{len(failures)} of {tried} and more failed' if failures else f'{tried} replaced files')
        if not ROOT:
            print('left out: links of other users; this needs root')
        os.chdir('/')
        sys.exit(1 if failures else 0)


main()
