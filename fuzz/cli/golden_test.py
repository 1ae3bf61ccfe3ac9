#!/usr/bin/env python3
"""Runs the command lines of fuzz/cli/golden/*.txt and compares exit codes and output with what stands there.

  golden_test.py MMADIFF [TRANSCRIPT...] [--update]      --update rewrites the transcripts
  golden_test.py MMADIFF [TRANSCRIPT...] --altered OTHER  compares OTHER with MMADIFF instead, both run now: OTHER
      has every sentence in other letters' case (.ci/altered), so its output may differ in that alone

A transcript has "$ COMMAND", "= EXIT CODE", and the lines of stdout behind "  " and of stderr behind "! ". All
commands of a transcript run in one folder, in their order, and print what a reviewer can read: a part of long tables. No line
has --device=host: which instructions it has depends on the CPU. $STORED is a folder of stored files (fuzz/testing/stored)."""
import argparse, concurrent.futures, difflib, json, os, pathlib, re, socket, subprocess, sys, tempfile

from testing import stored_text

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / 'fuzz/cli/golden'
# Times, rates and folders differ from time to time and from machine to machine.
STEADY = [
    (r'(?m)^(stat::(seconds|dot_products_per_second): ).*', r'\1_'),
    (r'"(seconds|dot_products_per_second|rate|date|last_unit|seconds_left)": *("[^"]*"|[^],}\n]*)', r'"\1": "_"'),
    (r'(?m)^  (rate|last unit|machines|left) .*', r'  \1 _'),
    (r'(?m)^(#? *date: ).*', r'\1_'),
    (r' +[0-9.]+( [kMGT])?  (differs|rate|dropped|nothing|incomplete|the device)', r'  \2'),
    (r'\d+(\.\d+)? MB', '_ MB'),
    (r'mmadiff-runs/[0-9a-f]+', 'RUN'),
    (r'checksum: .*|xxh3: "?[0-9a-f]{32}"?|# (xxh3|answers): [0-9a-f]{16,32}', 'HASH'),
    (r'"machine": ".*"', '"machine": "_"'),
    (r'"stamp": ".*"', '"stamp": "_"'),
    (r'<!-- stamp: .* -->', '<!-- stamp: _ -->'),
    (r' +rate/s', ' rate/s'),
    (r'(units-\d+-)\d+\.log', r'\1PID.log'),
    (r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ', 'DATE'),
    # Dot products a second, in pages of surveys.
    (r'\| [0-9.]+(e[+-]\d+)? \| (yes|part|no) \|', r'| _ | \2 |'),
    (r'(data-title="a second">)[^<]*', r'\1_'),
]


def steady(text, folders):
    for folder, name in folders.items():
        text = text.replace(folder, name)
    for pattern, replacement in STEADY:
        text = re.sub(pattern, replacement, text, flags=re.I)
    return re.sub(r'\b%s\b' % re.escape(socket.gethostname()), 'HOST', text)


class Command:
    def __init__(self, line):
        self.line, self.expected = line, []


def commands(path):
    found = []
    for line in path.read_text().splitlines():
        if line.startswith('$ '):
            found.append(Command(line[2:]))
        elif found:
            found[-1].expected.append(line)
    return found


def shown(code, out, err):
    return ['= %d' % code] + ['  ' + line for line in out.splitlines()] + ['! ' + line for line in err.splitlines()]


def execute(program, path, files=None):
    """Yields (command, exit code, stdout, stderr) for each command of the transcript; then `files` gets what they
    stored, by path."""
    with tempfile.TemporaryDirectory() as folder:
        stored = pathlib.Path(folder) / 'stored'
        for archive in sorted((ROOT / 'fuzz/testing/stored').glob('*.tar.xz')):
            stored.mkdir(exist_ok=True)
            subprocess.run(['tar', 'xJf', archive, '-C', stored], check=True)
        work = pathlib.Path(folder) / 'work'
        work.mkdir()
        shell = '''mmadiff() { (exec -a ./mmadiff "$PROGRAM" --quiet "$@"); }
                   stored() { cp -r "$STORED/$1" "${2:-.}"; }\n'''
        environment = dict(os.environ, PROGRAM=str(program), STORED=str(STORED or stored / '0.2.0'), CORPUS=str(ROOT / 'corpus'))
        folders = {str(work): 'WORK', environment['STORED']: 'STORED', str(ROOT): 'ROOT'}
        for command in commands(path):
            done = subprocess.run(['bash', '-c', shell + command.line], cwd=work, env=environment, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, errors='backslashreplace')
            yield command, done.returncode, steady(done.stdout, folders), steady(done.stderr, folders)
        if files is not None:
            files.update({steady(name, folders): steady(text, folders) for name, text in stored_text.dump(work).items()})


def differences(program, path, update):
    text, failures = [], []
    for command, code, out, err in execute(program, path):
        now = shown(code, out, err)
        text += ['$ ' + command.line] + now
        if not out and not err:
            failures.append('%s: no output\n' % command.line)
        if now != command.expected and not update:
            failures.append('$ %s\n%s\n' % (command.line, '\n'.join(
                list(difflib.unified_diff(command.expected, now, 'expected', 'now', lineterm='', n=1))[2:40])))
    if update:
        path.write_text('\n'.join(text) + '\n')
    return failures


def same_but_text(a, b, verb, path=''):
    """Equal JSON of the verb, but for strings that are for people."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same_but_text(a[k], b[k], verb, f'{path}.{k}') for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same_but_text(x, y, verb, path + '[]') for x, y in zip(a, b))
    return a.lower() == b.lower() if (verb, path) in PROSE and isinstance(a, str) and isinstance(b, str) else a == b


def stored_lines(name, text):
    """With the text for people in small letters."""
    kind = pathlib.Path(name).suffix
    if kind in ('.md', '.html', '.xml', '.csv') or name.endswith('distrusted.txt'):
        return text.lower().splitlines()
    for_people = r'#|(' + '|'.join(TEXT) + r'): "'
    return [line.lower() if re.match(for_people, line.lstrip()) else line for line in text.splitlines()]


def same_file(name, a, b):
    if name.endswith('.json'):
        return same_but_text(json.loads(a), json.loads(b), 'survey' if 'survey' in name else 'report')
    return stored_lines(name, a) == stored_lines(name, b)


def altered_files(path, a, b):
    """Where the files differ that the commands of a transcript stored."""
    failures = []
    for name in sorted(a.keys() | b.keys()):
        if name not in a or name not in b:
            failures.append('%s: %s alone stores %s\n' % (path.stem, 'plain' if name in a else 'altered', name))
        elif not same_file(name, a[name], b[name]):
            lines = [stored_lines(name, text) for text in (a[name], b[name])]
            failures.append('%s: %s\n%s\n' % (path.stem, name, '\n'.join(
                list(difflib.unified_diff(*lines, 'plain', 'altered', lineterm='', n=0))[2:12]) or 'JSON'))
    return failures


def altered(program, other, path):
    failures, files = [], ({}, {})
    for plain, changed in zip(execute(program, path, files[0]), execute(other, path, files[1]), strict=True):
        command, code, out, err = plain
        equal = [code, out.lower(), err.lower()] == [changed[1], changed[2].lower(), changed[3].lower()]
        try:
            results = json.loads(out), json.loads(changed[2])
            verb = re.findall(r'(?<=\bmmadiff )\w+|\w+(?=\.json)', command.line)[-1]
            equal = equal and same_but_text(*results, verb)
        except json.JSONDecodeError:
            pass
        if not equal:
            lines = [('= %d\n%s%s' % (c, o, e)).lower().splitlines() for _, c, o, e in (plain, changed)]
            failures.append('$ %s\n%s\n' % (command.line, '\n'.join(
                list(difflib.unified_diff(*lines, 'plain', 'altered', lineterm='', n=0))[2:20]) or 'JSON'))
    FILES.append(len(files[0]))
    return failures + altered_files(path, *files)


parser = argparse.ArgumentParser()
parser.add_argument('program', type=lambda p: pathlib.Path(p).resolve(strict=True))
parser.add_argument('transcripts', nargs='*')
parser.add_argument('--update', action='store_true')
parser.add_argument('--altered', type=lambda p: pathlib.Path(p).resolve(strict=True))
parser.add_argument('--stored', help='folder for $STORED, which fuzz/testing/stored/make.sh wrote')
parser.add_argument('--text', help='file of stored fields that are text for people', default=ROOT / '.ci/text_members')
args = parser.parse_args()
STORED = args.stored and str(pathlib.Path(args.stored).resolve(strict=True))
TEXT = set(pathlib.Path(args.text).read_text().split()) if args.altered else set()
# (verb, path of a member) of what is text for people.
PROSE = set(re.findall(r'^(\w+)(?: [\w-]+)?(\S*)\tprose', (ROOT / 'docs/members.txt').read_text(), re.M))
FILES = []  # compared, by transcript
paths = [GOLDEN / (name + '.txt') for name in args.transcripts] or sorted(GOLDEN.glob('*.txt'))
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    if args.altered:
        results = pool.map(lambda p: altered(args.program, args.altered, p), paths)
    else:
        results = pool.map(lambda p: differences(args.program, p, args.update), paths)
    failures = [failure for each in results for failure in each]
print(*failures, sep='\n', end='')
count = sum(len(commands(path)) for path in paths)
print('%d command lines%s, %d failures' % (count, ', %d files' % sum(FILES) if FILES else '', len(failures)))
sys.exit(bool(failures) or count < (1 if args.transcripts else 30) or (args.altered is not None and not sum(FILES)))
