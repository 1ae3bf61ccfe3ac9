#!/usr/bin/env python3
"""The pages of `mmadiff report` say what `run` printed, are whole HTML that needs no network, and their commands work.
Usage: pages_test.py MMADIFF"""
import csv
import html.parser
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
MMA = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'
FMA = 'x86/vfmadd231ss'
RUN = ['run', '--threads=1', '--max_mismatches=0']
VOID = {'meta', 'wbr'}
failures = 0


def check(what, real, wanted):
    global failures
    if real != wanted:
        failures += 1
        print(f'FAILED: {what}: {real}, not {wanted}')


def mmadiff(*args, code=0):
    done = subprocess.run([PROGRAM, '--quiet', *args], capture_output=True, text=True, check=False)
    check(f'exit code of {" ".join(args)} ({done.stderr[:200]})', done.returncode, code)
    return done


class Page(html.parser.HTMLParser):
    """Well-formed; `numbers` are those of <data>, in the tiles and in each row of a table; `commands` those to copy."""

    def __init__(self, text):
        super().__init__()
        self.open, self.urls, self.numbers, self.commands, self.text = [], [], {'tiles': []}, [], ''
        self.scripts, self.row = 0, None
        self.feed(text)
        self.close()
        check('open tags at the end', self.open, [])

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.scripts += tag == 'script'
        self.urls += [attrs[name] for name in ['src', 'href', 'action', 'data', 'srcset'] if name in attrs]
        check('event handlers', [name for name in attrs if name.startswith('on')], [])
        if tag not in VOID:
            self.open.append((tag, attrs.get('class', '')))
        if tag == 'data':
            where = 'tiles' if ('dl', 'tiles') in self.open else self.row
            self.numbers.setdefault(where, []).append(int(attrs['value']))
        if tag == 'tr':
            self.row = ''

    def handle_endtag(self, tag):
        check(f'what </{tag}> ends, at {self.getpos()}', self.open[-1][0] if self.open else None, tag)
        self.open.pop()

    def handle_data(self, data):
        self.text += data
        tags = [tag for tag, _ in self.open]
        if ('div', 'command') in self.open and tags[-1] == 'code':
            self.commands.append(data)
        if self.row is not None and ('span', 'name') in self.open:
            self.row += data


def page_of(*folders):
    mmadiff('report', *folders, '--out=page.html')
    text = pathlib.Path('page.html').read_text()
    page = Page(text)
    check('addresses outside', [u for u in page.urls if not u.startswith('#')], [])
    check('addresses in the text', re.findall(r'https?:|//\w+\.|url\(|@import', re.sub(r'<[^>]*>', '', text)), [])
    check('scripts', page.scripts, 1)
    return page


def check_numbers(ran, *folders):
    """Each page of the folders against the JSON of the runs."""
    page = page_of(*folders)
    totals = [sum(r[n] for r in ran) for n in ['cases', 'dot_products', 'mismatches']]
    check('tiles', page.numbers['tiles'][1:4], totals)
    rows = {}
    for row in [i for r in ran for i in r['instructions']]:
        counts = rows.setdefault(row['instruction'], [0, 0, 0])
        for i, name in enumerate(['cases', 'dot_products', 'mismatches']):
            counts[i] += row[name]
    reported = json.loads(mmadiff('report', *folders, '--json').stdout)['runs'][0]
    check('JSON', [reported[n] for n in ['cases', 'dot_products', 'mismatches']], totals)
    by_name = {i['instruction']: [i['cases'], i['dot_products'], i['mismatches']] for i in reported['instructions']}
    check('rows of JSON', by_name, rows)
    table = csv.DictReader(io.StringIO(mmadiff('report', *folders, '--csv').stdout))
    check('rows of CSV', {r['instruction']: [int(r[n]) for n in ['cases', 'dot_products', 'mismatches']] for r in table}, rows)
    markdown = mmadiff('report', *folders).stdout
    for name, counts in rows.items():
        check(f'row of {name}', page.numbers.get(name), counts)
        check(f'row of {name} in Markdown', f'| {name} | {" | ".join(map(str, counts))} |' in markdown, True)
    return page, reported


def main():
    # One run as a whole and in shards, one of which comes twice.
    device = ['--device=faulty:fraction_bits=24', f'--instr={MMA}', '--cases=9000']
    whole = json.loads(mmadiff(*RUN, *device, '--workdir=whole', '--json', code=1).stdout)
    page, reported = check_numbers([whole], 'whole')
    check('digest', reported['digest'], whole['digest'])
    shards = [json.loads(mmadiff(*RUN, *device, f'--shard={i}/2', f'--workdir=shard{i}', '--json', code=1).stdout) for i in [0, 1]]
    subprocess.run(['cp', '-r', 'shard0', 'again'], check=True)
    _, summed = check_numbers(shards, 'shard0', 'again', 'shard1')
    check('digest of the shards', summed['digest'], whole['digest'])
    check('seen shards', summed['seen_shards'], [0, 1])
    check('one shard is incomplete', [json.loads(mmadiff('report', 'shard0', '--json').stdout)['runs'][0][n]
                                      for n in ['planned_units', 'units']], [3, 3])

    # Distances: all words that differ.
    check('distances', sum(u['words'] for u in reported['ulps']), whole['mismatches'])
    # Findings, and the commands to copy.
    check('findings', [f['bucket'] for f in reported['findings']], [f['bucket'] for f in whole['findings']])
    check('commands', page.commands, [f['command'] for f in reported['findings']])
    for finding in reported['findings']:
        done = subprocess.run(['bash', '-c', finding['command']], capture_output=True, text=True, check=False)
        check('exit code of ' + finding['command'], done.returncode, 1)
        check('columns', finding['columns'], ['model', 'fraction_bits=24'])
        check('where they part', [line['cells'][0] for line in finding['stages'] if line['differs_first']], ['aligned_term addend'])
        for line in finding['stages']:
            check(f'the stage {line["cells"]} in explain', line['cells'][0] in done.stdout, True)
            check(f'the stage {line["cells"]} on the page', all(cell in page.text for cell in line['cells']), True)

    # Names from outside.
    hostile = ['--device=exec:' + PROGRAM + f' eval {FMA} # <b onclick="x()">&amp;</b><script>\'', f'--instr={FMA}', '--cases=50']
    ran = json.loads(mmadiff(*RUN, *hostile, '--workdir=hostile', '--json').stdout)
    page, _ = check_numbers([ran], 'hostile')
    check('the name as text', '<b onclick="x()">&amp;</b><script>\'' in page.text, True)
    mmadiff('report', 'hostile', 'whole', '--junit=page.xml')
    suite = xml.etree.ElementTree.parse('page.xml').getroot()
    check('JUnit', [suite.get('tests'), suite.get('failures')], ['4', '1'])  # an instruction and the whole, of each run
    check('two runs', [len(json.loads(mmadiff('report', 'hostile', 'whole', '--json').stdout)['runs']), len(page_of('hostile', 'whole').open)], [2, 0])

    # Answers that do not repeat say nothing of the model.
    mmadiff('run', '--threads=1', '--device=faulty:flaky_bit=5000', f'--instr={MMA}', '--cases=500', '--workdir=flaky', code=5)
    flaky = json.loads(mmadiff('report', 'flaky', '--json').stdout)['runs'][0]
    check('flaky', [flaky['instructions'][0]['kind'], flaky['verdict']],
          ['flaky', 'No conclusion is possible; the answers of 1 instruction do not repeat.'])

    # What is wrong, in one line.
    os.mkdir('empty')
    for args, code, words in [(['empty'], 2, 'no run has begun there'), (['none'], 2, 'does not exist'),
                              (['whole', '--out=none/x.html'], 6, 'none/x.html'), (['whole', '--out=/dev/full', '--csv'], 6, '/dev/full'),
                              (['whole', '--out=page'], 2, 'must be .html'), (['whole', '--markdown', '--csv'], 2, 'only one of')]:
        error = mmadiff('report', *args, code=code).stderr
        check(f'error of {args}: {error}', [words in error, error.count('\n')], [True, 1])
    return failures != 0


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    CODE = main()
    os.chdir('/')
print(f'{failures} failures')
sys.exit(CODE)
