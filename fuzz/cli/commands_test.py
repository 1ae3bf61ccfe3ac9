#!/usr/bin/env python3
"""Runs the commands of testing/commands.txt, as text and as JSON: each gives its exit code, and its JSON is valid against the
schema of its verb (`mmadiff help --schema`), with sentences only where the schema has text for people. Every claim of
`mmadiff help VERB` about an exit code has a command, docs/cli.md has the tables of `mmadiff help`, and docs/members.txt
what `mmadiff help --members` prints, which are the members of the schemas.
Usage: commands_test.py MMADIFF [--update]        --update writes both pages, and runs no command
Exits 77 where all else passes without the package jsonschema (Debian: python3-jsonschema).

A claim is what a code means to a verb, or a part of it: they are separated by "; "."""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
except ImportError:
    Draft202012Validator = None

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
UPDATE = sys.argv[2:] == ['--update']
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE_FILE = ROOT / 'docs/cli.md'
PAGE = PAGE_FILE.read_text()
MEMBERS_FILE = ROOT / 'docs/members.txt'
failures = 0


def fail(what):
    global failures
    failures += 1
    print(f'FAILED: {what}')


def output(*args):
    return subprocess.run([PROGRAM, *args], stdout=subprocess.PIPE, text=True, check=False).stdout


SCHEMAS = json.loads(output('help', '--schema'))  # by verb


def section(text, title):
    """{term: text} of a section of the help."""
    body = re.search(rf'^{title}:\n(.*?)(\n\n|\Z)', text, re.M | re.S)[1]
    return dict(row.split(None, 1) for row in re.sub(r'\n {3,}', ' ', body).strip().split('\n'))


def codes(*verb):
    return {int(code): ' '.join(text.split()) for code, text in section(output('help', *verb), 'Exit codes').items()}


def rows(head):
    """The cells of the rows of the page's table with that head."""
    table = PAGE[PAGE.index(f'| {head} |'):].split('\n\n')[0].split('\n')[2:]
    return [[cell.strip() for cell in row.strip('|').split('|')] for row in table]


def check_pages():
    """The tables and the list of members are those of the program."""
    block = re.compile(r'(<!-- begin: mmadiff help (--\w+) -->\n).*?(<!-- end -->\n)', re.S)
    made, blocks = block.subn(lambda of: of[1] + output('help', of[2]) + of[3], PAGE)
    members = output('help', '--members')
    if UPDATE:
        PAGE_FILE.write_text(made)
        MEMBERS_FILE.write_text(members)
    elif made != PAGE or blocks != 2:
        fail('docs/cli.md has other tables than `mmadiff help` prints: commands_test.py MMADIFF --update')
    elif members != MEMBERS_FILE.read_text():
        fail('docs/members.txt is not what `mmadiff help --members` prints: commands_test.py MMADIFF --update')
    of_schemas = {line for verb, schema in SCHEMAS.items() for line in member_lines(verb, schema)}
    of_file = {(path, ', perhaps absent' in kind) for path, kind, *_ in (line.split('\t') for line in members.splitlines() if line[0] != '#')}
    for path, _ in sorted(of_schemas ^ of_file):
        fail(f'the schemas and `mmadiff help --members` differ at {path}')
    listed = section(output('help'), 'Environment')
    named = re.findall(r'`([A-Z_]+)`', re.search(r'lists what users set: (.*?)\. Besides', PAGE, re.S)[1])
    if sorted(listed) != sorted(named):
        fail(f'environment: {named} on the page, {sorted(listed)} in the help')


# How a row of the JSON begins in the text, which has the same rows.
TEXT_ROWS = {
    'list': r'\S',
    'replay': 'MISMATCH|FLAKY|CHANGED|DIGEST|CONTESTED|SURVEY|agrees|differs',
    'changes': 'answers|inputs|model|new|gone',
}
# By verb: rows that must have members besides those of their schema, (list, member, words, all of, one of).
WANTED = [
    ('replay', 'reports', 'kind', {'mismatch', 'flaky', 'changed'}, {'instruction', 'answered_by'}, {'dot_product', 'digest'}),
    ('replay', 'reports', 'kind', {'contested'}, {'instruction', 'answer', 'given', 'reason'}, set()),
    ('replay', 'reports', 'kind', {'agrees', 'differs'}, {'answer'}, set()),
    ('replay', 'reports', 'kind', {'survey'}, {'said'}, set()),
    ('mutants', 'mutants', None, set(), set(), {'cases', 'equivalent'}),
    ('list', None, 'grade', {'measured', 'published', 'assumed', 'contested'}, {'algorithm', 'words', 'native_on'}, set()),
]


def wrong_rows(verb, result):
    """Rows without the members of their kind."""
    for of, rows_of, member, words, all_of, one_of in WANTED:
        if of != verb or (rows_of is None) != isinstance(result, list):
            continue
        for row in result if rows_of is None else result.get(rows_of, []):
            if member is not None and row.get(member) not in words:
                continue
            if not all_of <= row.keys() or (one_of and len(one_of & row.keys()) != 1):
                yield f'no row of its kind: {str(row)[:300]}'


def member_lines(path, schema, absent=False):
    """(path, may be absent) of what docs/members.txt lists of a schema."""
    of = [one for one in schema.get('anyOf', []) if one != {'type': 'null'}]
    if len(of) == 1:
        return member_lines(path, of[0], absent)
    lines = [] if of else [(path, absent)]
    for mark, key in ('[]', 'items'), ('{}', 'additionalProperties'):
        if below := schema.get(key):
            lines_below = member_lines(path + mark, below, absent)
            several = below.get('type') == 'object' and 'properties' in below or len(below.get('anyOf', [])) > 1
            return lines + lines_below[1:] if several else lines_below
    for one in of:
        lines += member_lines(f"{path} {one['title']}" if 'title' in one else path, one)
    for name, member in schema.get('properties', {}).items():
        lines += member_lines(f'{path}.{name}', member, name not in schema['required'])
    return lines


# Members with blanks that are no text for people: names, of bins too, and what others wrote.
NAMES = re.compile(r'(\w+_)?(device|identity|hardware|path|folder|file|command|machine|version|bin|row|column|name|stage|cell|by|clock|'
                   r'value|instruction|operand|first|second|model)s?(\[\]|\{\})*')


def sentences(path, schema, value):
    """Members of a result that are sentences, though the schema does not say so."""
    if 'anyOf' in schema:
        fits = [one for one in schema['anyOf'] if Draft202012Validator(one).is_valid(value)]
        yield from sentences(path, fits[0], value)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from sentences(f'{path}.{name}', schema.get('properties', {}).get(name) or schema['additionalProperties'], member)
    elif isinstance(value, list):
        for member in value:
            yield from sentences(path + '[]', schema['items'], member)
    elif isinstance(value, str) and not schema.keys() & {'enum', 'pattern', 'x-for-people'}:
        if re.search('[a-z]{2} [a-z]{2}', value) and not NAMES.fullmatch(path.rsplit('.', 1)[-1]):
            yield path, value


def unique(pairs):
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError(f'a member twice: {names}')
    return dict(pairs)


def no_number(text):
    raise ValueError(f'{text} is no JSON')


def json_documents(text):
    """All that stand one after the other."""
    decoder, at = json.JSONDecoder(object_pairs_hook=unique, parse_constant=no_number), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        result, at = decoder.raw_decode(text, at)
        yield result


class Table:
    """The commands, run in one folder: for text, or for JSON where their verbs have it."""

    def __init__(self, folder, with_json):
        self.folder, self.with_json, self.verbs, self.sentences = folder, with_json, set(), {}
        (folder / 'mmadiff').symlink_to(PROGRAM)
        self.run('setup')

    def run(self, command, verb=''):
        """The exit code, stdout, stderr, and how often the program was asked for JSON."""
        out = self.folder / 'stdout'
        asked = self.folder / 'stdout.asked'
        asked.write_text('')
        env = dict(os.environ, PATH=f'{self.folder}:{os.environ["PATH"]}', MMADIFF_LIBCUDA='/none/libcuda.so',
                   JSON=verb if self.with_json and verb in SCHEMAS else '', STDOUT=str(out))
        with out.open('wb') as stdout:
            done = subprocess.run(['bash', '-c', f'. {HERE}/testing/commands.sh\n{command}'], cwd=self.folder, env=env,
                                  stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, check=False, timeout=3600)
        return done.returncode, out.read_text(errors='replace'), done.stderr.decode(errors='replace'), len(asked.read_text().split())

    def gives(self, verb, code, purpose, command):
        if command.startswith('see '):
            file, text = command[4:].split(': ', 1)
            if text not in (ROOT / file).read_text():
                fail(f'{file} lacks: {text}')
            return
        real, out, err, asked = self.run(command, verb)
        if real != code:
            fail(f'exit code {real}, not {code}: {command}\n{out[-400:]}{err[-400:]}')
        elif asked:
            least = asked if purpose == 'json' or code <= 1 else 0
            for error in self.json_errors(verb, out, least, command if purpose == 'json' else ''):
                fail(f'{command}\n  {error}')

    def json_errors(self, verb, out, least, again):
        """What is wrong with the output, of `least` results at least; `again`: a command for the same as text."""
        try:
            results = list(json_documents(out))
        except ValueError as error:
            return [f'no JSON: {error}']
        if len(results) < least:
            return [f'{len(results)} results, not {least}']
        errors = []
        for result in results:
            self.verbs.add(verb)
            if Draft202012Validator:
                if wrong := best_match(Draft202012Validator(SCHEMAS[verb]).iter_errors(result)):
                    errors.append(f'{list(wrong.absolute_path)}: {wrong.message[:300]}')
                else:
                    self.sentences.update(sentences(verb, SCHEMAS[verb], result))
            errors += list(wrong_rows(verb, result))[:3]
        if again and verb in TEXT_ROWS:
            json_rows = results[0] if verb == 'list' else results[0]['reports' if verb == 'replay' else 'changes']
            text_rows = len(re.findall(f'^(?:{TEXT_ROWS[verb]})', self.run(again)[1], re.M))
            if text_rows != len(json_rows):
                errors.append(f'{len(json_rows)} rows, the text has {text_rows}')
        return errors


def main():
    verbs = re.findall(r'^\| `([a-z]+)` \|', output('help', '--verbs'), re.M)
    check_pages()
    if UPDATE:
        return failures != 0
    claimed = {(verb, code, claim) for verb in verbs for code, text in codes(verb).items() for claim in text.split('; ')}
    claimed |= {('*', int(code), claim) for code, text in rows('code | also') for claim in text.split('; ')}
    lines = [re.match(r'(\S+) (\d+) (.*?) \| (.*)', line).groups()
             for line in (HERE / 'testing/commands.txt').read_text().strip().split('\n') if not line.startswith('#')]
    held = set()
    for schema in SCHEMAS.values() if Draft202012Validator else []:
        Draft202012Validator.check_schema(schema)
    for verb, code, purpose, _ in lines:
        if purpose != 'json' and not re.fullmatch(r'over \d+', purpose):
            of = {c for c in claimed if c[:2] == (verb, int(code)) and c[2].startswith(purpose)}
            if len(of) != 1:
                fail(f'claims of {verb} {code} that begin with "{purpose}": {len(of)}')
            held |= of

    def run_all(with_json):
        with tempfile.TemporaryDirectory() as name:
            table = Table(pathlib.Path(name), with_json)
            for verb in verbs:
                table.gives(verb, 2, 'usage', f'mmadiff {verb} --no_such_flag')
            for verb, code, purpose, command in lines:
                if with_json or purpose != 'json':
                    table.gives(verb, int(code), purpose, command)
            return table

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        table, _ = pool.map(run_all, [True, False])
    for verb, code, claim in sorted(claimed - held):
        if claim not in ('usage', 'internal error'):  # the wrong flags above; nobody can order the second
            fail(f'no command for {verb} {code}: {claim}')
    for path, value in sorted(table.sentences.items()):
        fail(f'{path} is no text for people by its schema: {value}')
    for verb in sorted(SCHEMAS.keys() - table.verbs):
        fail(f'{verb} has a schema, and no command printed JSON')
    print(f'{len(lines)} commands, {failures} failures')
    if not Draft202012Validator:
        print('no jsonschema (python3-jsonschema): no JSON was held against its schema')
    return 1 if failures else 0 if Draft202012Validator else 77


sys.exit(main())
