#!/usr/bin/env python3
"""Makes the pictures of the README and the pages from the program's own output.

    make.py BINARY [NAME...]           writes docs/pictures/NAME.svg or NAME-light.png and NAME-dark.png [all of them]
    make.py --check BINARY [NAME...]   fails unless the SVG files here are what BINARY prints today

An SVG file follows the reader's light or dark theme. Some pictures need Verilator, NumPy or Chromium; without them
--check says so and skips them. Screenshots show times and counts: --check compares only the labels of their pages with
pages.txt, which is written beside them."""
import html
import importlib.util
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap

FOLDER = pathlib.Path(__file__).resolve().parent
PAGES = FOLDER / 'pages.txt'
ROOT = FOLDER.parent.parent
CHARACTER, LINE = 7.83, 18  # of the monospace text, in pixels
STYLE = '''<style>
.box{fill:#f6f8fa;stroke:#8c959f}.mine{fill:#ddf4ff;stroke:#0969da}.theirs{fill:#fff1e5;stroke:#bc4c00}
.text,.number{fill:#1f2328;font:14px system-ui,sans-serif}.small{fill:#59636e;font:12px system-ui,sans-serif}
.arrow{fill:none;stroke:#59636e;stroke-width:1.5}.head{fill:#59636e}.axis{stroke:#d1d9e0}
.bar0{fill:#0969da}.bar1{fill:#54aeff}.bar2{fill:#bc4c00}.bar3{fill:#d4a72c}.bar4{fill:#d1d9e0}
.screen{fill:#f6f8fa;stroke:#d1d9e0}.mono{fill:#1f2328;font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
.command{fill:#0550ae;font-weight:600}.red{fill:#cf222e;font-weight:600}
@media(prefers-color-scheme:dark){
.box{fill:#151b23;stroke:#656c76}.mine{fill:#121d2f;stroke:#4493f8}.theirs{fill:#221a0f;stroke:#db6d28}
.text,.number{fill:#f0f6fc}.small{fill:#9198a1}.arrow{stroke:#9198a1}.head{fill:#9198a1}.axis{stroke:#3d444d}
.bar0{fill:#4493f8}.bar1{fill:#1f4e8c}.bar2{fill:#db6d28}.bar3{fill:#9e6a03}.bar4{fill:#3d444d}
.screen{fill:#0d1117;stroke:#3d444d}.mono{fill:#f0f6fc}.command{fill:#79c0ff}.red{fill:#ff7b72}}
</style>'''


class Unavailable(Exception):
    """A program that a picture needs is not installed."""


def need(tool):
    if shutil.which(tool) is None:
        raise Unavailable(f'needs {tool}')


# SVG

def escape(text):
    return html.escape(text, quote=False)


def svg(width, height, title, *parts):
    return '\n'.join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
                      f'height="{height:g}" role="img" aria-labelledby="t">', f'<title id="t">{escape(title)}</title>',
                      STYLE, *parts, '</svg>', ''])


def text(x, y, words, kind='text', anchor='middle'):
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(words)}</text>'


class Flow:
    """Boxes in a grid, connected by arrows."""

    def __init__(self, column, row, width, height):
        self.column, self.row, self.width, self.height = column, row, width, height
        self.places, self.parts, self.below = {}, [], 0  # below: pixels under the boxes, for arrows

    def box(self, name, x, y, lines, kind='box'):
        """(x, y) in columns and rows; the first of the lines is the name that readers see."""
        left, top = 10 + x * self.column, 10 + y * self.row
        self.places[name] = left, top
        self.parts.append(f'<rect class="{kind}" x="{left:g}" y="{top:g}" width="{self.width}" height="{self.height}" rx="6"/>')
        first = top + self.height / 2 - (len(lines) - 1) * 8 + 5
        for i, line in enumerate(lines):
            self.parts.append(text(left + self.width / 2, first + i * 16, line, 'small' if i else 'text'))

    def side(self, name, where):
        x, y = self.places[name]
        return {'left': (x, y + self.height / 2), 'right': (x + self.width, y + self.height / 2),
                'top': (x + self.width / 2, y), 'bottom': (x + self.width / 2, y + self.height)}[where]

    def arrow(self, start, end, label='', through=()):
        """From 'NAME.side' to 'NAME.side', perhaps through points in pixels."""
        points = [self.side(*start.split('.')), *through, self.side(*end.split('.'))]
        self.parts.append('<path class="arrow" d="M' + 'L'.join(f'{x:g} {y:g}' for x, y in points) + '"/>')
        (x0, y0), (x, y) = points[-2:]
        dx, dy = (x > x0) - (x < x0), (y > y0) - (y < y0)
        if abs(x - x0) > abs(y - y0):
            dy = 0
        else:
            dx = 0
        self.parts.append(f'<path class="head" d="M{x:g} {y:g}L{x - 8 * dx - 4 * dy:g} {y - 8 * dy - 4 * dx:g}'
                          f'L{x - 8 * dx + 4 * dy:g} {y - 8 * dy + 4 * dx:g}z"/>')
        if label:
            (xa, ya), (xb, yb) = points[len(points) // 2 - 1:][:2]
            self.parts.append(text((xa + xb) / 2, (ya + yb) / 2 - 6, label, 'small'))

    def draw(self, title):
        width = max(x for x, _ in self.places.values()) + self.width + 10
        height = max(y for _, y in self.places.values()) + self.height + 10
        return svg(width, height + self.below, title, *self.parts)


# The program's output

class Session:
    """A folder in which commands run as typed in the pages."""

    def __init__(self, binary):
        self.binary, self.kept = pathlib.Path(binary).resolve(), tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.kept.name)
        (self.folder / 'mmadiff').symlink_to(self.binary)
        for shared in ('corpus', 'device', 'docs'):
            (self.folder / shared).symlink_to(ROOT / shared)

    def run(self, command, color=False, allowed=(0, 1)):
        """What it prints to stdout."""
        environment = dict(os.environ, COLUMNS='120', MMADIFF_NO_BUILD='1')
        done = subprocess.run(['bash', '-c', command + (' --color=always' if color else '')], cwd=self.folder,
                              env=environment, capture_output=True, text=True, check=False)
        if done.returncode not in allowed:
            raise RuntimeError(f'{command}: exit code {done.returncode}\n{done.stderr}')
        return done.stdout

    def drawing(self, command):
        """What it writes with --svg."""
        self.run(f'{command} --svg=drawing.svg')
        return (self.folder / 'drawing.svg').read_text()


def terminal(title, commands, session, columns=112):
    """A screen: each command and the lines of its output that a pattern of it matches, in order, up to
    the first that the last pattern matches; ... for the others."""
    rows = []
    for command, patterns in commands:
        rows += [('command', ('  ' if i else '$ ') + part) for i, part in enumerate(textwrap.wrap(command, columns - 4))]
        skipped = False
        for line in session.run(command, 'mmadiff' in command).splitlines():
            bare = re.sub(r'\x1b\[[\d;]*m', '', line)
            if any(re.match(pattern, bare) for pattern in patterns):
                if skipped:
                    rows.append(('mono', '...'))
                wrapped = textwrap.wrap(line, columns, subsequent_indent=' ' * 13) if line == bare else [line]
                rows += [('mono', part) for part in wrapped]
                skipped = False
                if re.match(patterns[-1], bare):
                    break
            else:
                skipped = True
    parts = [f'<rect class="screen" x="1" y="1" width="{columns * CHARACTER + 22:g}" height="{len(rows) * LINE + 20:g}" rx="6"/>']
    y = 24
    for kind, line in rows:
        spans, red, at = [], False, 0
        for piece in re.split(r'(\x1b\[[\d;]*m)', line):
            if piece.startswith('\x1b'):
                red = '31' in piece
            elif piece:
                piece = piece[:max(0, columns - at)] if at + len(piece) <= columns else piece[:max(0, columns - at - 3)] + '...'
                at += len(piece)
                spans.append(f'<tspan class="red">{escape(piece)}</tspan>' if red else escape(piece))
        parts.append(f'<text class="mono{" command" if kind == "command" else ""}" xml:space="preserve" x="12" y="{y}">{"".join(spans)}</text>')
        y += LINE
    return svg(columns * CHARACTER + 24, len(rows) * LINE + 22, title, *parts)


def bars(title, rows, unit):
    """Horizontal bars on a logarithmic axis: (name, value, class) each."""
    left, width, top = 330, 420, 10
    low, high = math.floor(math.log10(min(v for _, v, _ in rows))), math.ceil(math.log10(max(v for _, v, _ in rows)))
    parts = []
    for power in range(low, high + 1):
        x = left + (power - low) / (high - low) * width
        parts += [f'<path class="axis" d="M{x:g} {top}V{top + 30 * len(rows)}"/>',
                  text(x, top + 30 * len(rows) + 18, f'{10.0**power:g}', 'small')]
    for i, (name, value, kind) in enumerate(rows):
        x = (math.log10(value) - low) / (high - low) * width
        parts += [text(left - 10, top + 30 * i + 20, name, 'text', 'end'),
                  f'<rect class="{kind}" x="{left}" y="{top + 30 * i + 6}" width="{max(x, 1):.1f}" height="18"/>',
                  text(left + x + 6, top + 30 * i + 20, f'{value:g}', 'small', 'start')]
    parts.append(text(left + width / 2, top + 30 * len(rows) + 36, unit, 'small'))
    return svg(left + width + 60, top + 30 * len(rows) + 46, title, *parts)


# The pictures

def pipeline(_):
    flow = Flow(152, 92, 130, 56)
    flow.box('generator', 0, 1, ['generator', 'random, boundary'])
    flow.box('device', 1, 0, ['device', 'GPU, CPU, RTL, ...'], 'theirs')
    flow.box('model', 1, 2, ['model', 'bit-exact simulator'], 'mine')
    flow.box('compare', 2, 1, ['compare', 'every bit'])
    flow.box('minimize', 3, 1, ['minimize', 'the smallest input'])
    flow.box('diagnose', 4, 1, ['diagnose', 'the change that fits'])
    flow.box('finding', 5, 1, ['finding', 'filed, replayed'], 'mine')
    for line in (('generator.top', 'device.left', [(75, 38)]), ('generator.bottom', 'model.left', [(75, 222)]),
                 ('device.right', 'compare.top', [(379, 38)]), ('model.right', 'compare.bottom', [(379, 222)])):
        flow.arrow(line[0], line[1], through=line[2])
    for a, b in (('compare', 'minimize'), ('minimize', 'diagnose'), ('diagnose', 'finding')):
        flow.arrow(f'{a}.right', f'{b}.left')
    flow.arrow('finding.bottom', 'model.bottom', 'hardware is right: the tables of the model change',
               [(835, 274), (227, 274)])
    flow.below = 26
    return flow.draw('The generator feeds a device and the model; mismatches are compared, minimized, diagnosed and filed')


HOPPER = 'sm_90/mma.m16n8k16.f32.f16.f16.f32'


FIND = f'./mmadiff run --device=faulty:fraction_bits=24 --instr={HOPPER} --threads=1 --workdir=demo'
EXPLAIN = './mmadiff explain demo/findings/sm_90/*addfaa*'


def mismatch(session):
    return terminal('A mismatch found, minimized and explained', [
        (FIND, [r'MISMATCH', r'  minimal', r'    +(k=|c |15 terms)', r'(model|device) ', r' +\^', r'  diagnosis', r'    +fraction_bits']),
        (EXPLAIN, [r'stage', r'product k=0 ', r'aligned_term', r'sum ', r'rounded'])], session)


def alignment(session):
    session.run(FIND)
    return session.drawing(EXPLAIN)


def numpy_tree(session):
    if importlib.util.find_spec('numpy') is None:
        raise Unavailable('needs NumPy')
    return session.drawing("./mmadiff infer --device='exec:python3 docs/example/numpy_sum.py,restart=never' "
                           '--formats=f32,f32,f32,f32 --k=32 --budget=2000 --validate=100')


def unit(_):
    flow = Flow(172, 58, 150, 44)
    for k in range(4):
        flow.box(f'p{k}', 0, k, [f'a{k} x b{k}', 'f16, exact'])
    flow.box('c', 0, 4, ['c', 'f32'])
    flow.box('align', 1, 2, ['align', 'to the largest exponent'], 'mine')
    flow.box('cut', 2, 2, ['cut', 'after 23 fraction bits'], 'mine')
    flow.box('add', 3, 2, ['add', 'exactly'], 'mine')
    flow.box('round', 4, 2, ['d', 'cut to f32'])
    for start in ('p0', 'p1', 'p3', 'c'):
        y = flow.side(start, 'right')[1]
        flow.arrow(f'{start}.right', 'align.left', through=[(171, y), (171, 148)])
    for a, b in (('p2', 'align'), ('align', 'cut'), ('cut', 'add'), ('add', 'round')):
        flow.arrow(f'{a}.right', f'{b}.left')
    return flow.draw('The unit: four products and c are aligned to the largest exponent, cut, added exactly and cut to f32')


def rtl(session):
    need('verilator')
    session.run('verilator --binary --top-module lines +define+FLUSH --Mdir buggy device/examples/unit.sv -o unit')
    return terminal('An RTL unit with a planted bug, and the mismatch that shows it', [
        ('echo 3c00 4000 0000 0000  3c00 3c00 0000 0000  3f800000 | buggy/unit', [r'\w+$']),
        ("./mmadiff run --device='exec:buggy/unit,restart=never' --instr=sm_70/mma.m8n8k4.f32.f16.f16.f32 --cases=1000 "
         '--threads=1 --workdir=night', [r'MISMATCH', r'  bucket', r'  minimal', r'    +(k=|c |3 terms)', r'(model|device) ', r' +\^', r'  diagnosis'])], session)


def data_flow(_):
    flow = Flow(182, 96, 160, 60)
    for name, x, y, what in (
            ('corpus/cases', 0, 0, 'makes cases from names'), ('fuzz/schedule', 0, 1, 'chooses the classes'),
            ('fuzz/ask', 0, 2, 'hands out tasks'), ('device', 1, 0, 'answers'), ('sim/lanes', 1, 1, 'computes the model'),
            ('fuzz/unit', 2, 0, 'compares one unit'), ('fuzz/gpu', 2, 1, 'the same on the GPU'),
            ('triage/minimize', 3, 0, 'the smallest case'), ('triage/diagnosis', 4, 0, 'the change that fits'),
            ('corpus', 4, 1, 'findings, observations'), ('fuzz/folder', 2, 2, 'logs units'),
            ('fuzz/report', 3, 2, 'counts and verdict'), ('fuzz/page', 4, 2, 'the HTML page')):
        if not (ROOT / name).is_dir():
            raise RuntimeError(f'there is no {name}/')
        flow.box(name, x, y, [name, what], {'sim': 'mine', 'device': 'theirs'}.get(name.split('/')[0], 'box'))
    flow.arrow('fuzz/ask.top', 'fuzz/schedule.bottom')
    flow.arrow('fuzz/schedule.top', 'corpus/cases.bottom')
    flow.arrow('corpus/cases.right', 'device.left')
    flow.arrow('corpus/cases.right', 'sim/lanes.left', through=[(181, 40), (181, 136)])
    flow.arrow('device.right', 'fuzz/unit.left')
    flow.arrow('sim/lanes.right', 'fuzz/unit.left', through=[(363, 136), (363, 40)])
    flow.arrow('sim/lanes.right', 'fuzz/gpu.left')
    flow.arrow('fuzz/unit.right', 'fuzz/folder.top', through=[(545, 40), (545, 186), (454, 186)])
    flow.arrow('fuzz/gpu.bottom', 'fuzz/folder.top')
    flow.arrow('fuzz/unit.right', 'triage/minimize.left')
    flow.arrow('fuzz/gpu.right', 'triage/minimize.bottom', through=[(636, 136)])
    flow.arrow('triage/minimize.right', 'triage/diagnosis.left')
    flow.arrow('triage/diagnosis.bottom', 'corpus.top')
    flow.arrow('fuzz/folder.right', 'fuzz/report.left')
    flow.arrow('fuzz/report.right', 'fuzz/page.left')
    return flow.draw('The path of a case through the folders of the repository')


def speed(_):
    """The output of sim/reference/peers.py in docs/performance.md."""
    page = (ROOT / 'docs/performance.md').read_text()
    rows = re.findall(r'^(.*?)(?:, batches of \d+)?  +(?:yes|no|finite) +([\d.]+) +[\d.]+$', page, re.M)
    return bars('Nanoseconds per dot product', [(name, float(ns), 'bar0' if i == 0 else 'bar2')
                for i, (name, ns) in enumerate(rows)], 'ns per dot product of 16 products, one thread; shorter is faster')


GRADES = ('measured', 'published', 'contested', 'assumed', 'unknown')
CLASS = dict(zip(GRADES, ('bar0', 'bar1', 'bar2', 'bar3', 'bar4')))


def sources(session):
    counts = {}
    for row in json.loads(session.run('./mmadiff list instructions --evidence --json')):
        of = counts.setdefault(row['name'].split('/')[0], dict.fromkeys(GRADES, 0))
        of[row['grade']] += 1
    left, width, parts = 100, 560, []
    most = max(sum(of.values()) for of in counts.values())
    for i, grade in enumerate(GRADES):
        parts += [f'<rect class="{CLASS[grade]}" x="{left + 115 * i}" y="8" width="14" height="14"/>',
                  text(left + 115 * i + 20, 20, grade, 'small', 'start')]
    y = 34
    for name, of in counts.items():
        parts.append(text(left - 10, y + 15, name, 'text', 'end'))
        x = left
        for grade in GRADES:
            wide = of[grade] / most * width
            if wide:
                parts.append(f'<rect class="{CLASS[grade]}" x="{x:.1f}" y="{y}" width="{wide:.1f}" height="20"/>')
            x += wide
        parts.append(text(x + 6, y + 15, str(sum(of.values())), 'small', 'start'))
        y += 26
    return svg(left + width + 60, y + 6, 'Instructions of each architecture by the evidence for their model', *parts)


DRAWINGS = {'pipeline': pipeline, 'mismatch': mismatch, 'alignment': alignment, 'numpy_tree': numpy_tree, 'unit': unit,
            'rtl': rtl, 'data_flow': data_flow, 'speed': speed, 'sources': sources}
# NAME: (commands, the page that they write, pixels of it that are shown).
SHARD = ("./mmadiff run --device=faulty:fraction_bits=24 --instr='sm_90/mma.m16n8k16.f32.*' --cases=20000 --max_mismatches=0 "
         '--shard={0}/5 --workdir=night/{0}')
SCREENSHOTS = {
    'survey': (['./mmadiff survey --device=host --out=cpu --cases=200000 --max_total_time=90s'], 'cpu/survey.html', (1100, 830)),
    'report': ([*(SHARD.format(i) for i in range(4)), './mmadiff report night/* --out=night.html'], 'night.html', (1100, 1700))}


def labels(name, session):
    """The titles, tiles and column heads of a page, after its commands have run."""
    commands, page, _ = SCREENSHOTS[name]
    for command in commands:
        session.run(command, allowed=(0, 1, 75))
    text = (session.folder / page).read_text()
    found = re.findall(r'<(dt|th)\b[^>]*>(.*?)</\1>', text, re.S)
    return sorted({f'{name}: ' + re.sub(r'<[^>]*>', ' ', inside).strip() for _, inside in found if not re.search(r'\d', inside)})


def screenshot(name, session):
    need('chromium')
    _, page, (width, height) = SCREENSHOTS[name]
    others = [line for line in PAGES.read_text().splitlines() if not line.startswith(name + ':')]
    PAGES.write_text('\n'.join(sorted(others + labels(name, session))) + '\n')
    for theme, flags in (('light', []), ('dark', ['--force-dark-mode', '--blink-settings=preferredColorScheme=0'])):
        subprocess.run(['chromium', '--headless', '--no-sandbox', '--hide-scrollbars', f'--window-size={width},{height}', *flags,
                        f'--screenshot={FOLDER / name}-{theme}.png', f'file://{session.folder / page}'],
                       check=True, capture_output=True)


def main():
    arguments = sys.argv[1:]
    check = arguments[:1] == ['--check']
    binary, names = arguments[check], arguments[check + 1:]
    wrong = 0
    for name, draw in DRAWINGS.items():
        if names and name not in names:
            continue
        try:
            drawn = draw(Session(binary))
        except Unavailable as error:
            print(f'skipped: {name} {error}')
            continue
        path = FOLDER / f'{name}.svg'
        if not check:
            path.write_text(drawn)
        elif not path.exists() or path.read_text() != drawn:
            wrong += 1
            print(f'{path.relative_to(ROOT)} is out of date; docs/pictures/make.py BINARY {name} makes it')
    for name in SCREENSHOTS:
        if names and name not in names:
            continue
        if not check:
            screenshot(name, Session(binary))
        elif missing := set(line for line in PAGES.read_text().splitlines() if line.startswith(name + ':')) ^ set(
                labels(name, Session(binary))):
            wrong += 1
            print(f'the page of {name} has changed, {missing}; docs/pictures/make.py BINARY {name} takes its picture')
        for theme in ('light', 'dark'):
            if (FOLDER / f'{name}-{theme}.png').read_bytes()[:8] != b'\x89PNG\r\n\x1a\n':
                wrong += 1
                print(f'{name}-{theme}.png is not a PNG file')
    pages = [ROOT / 'README.md', *(ROOT / 'docs').glob('*.md')]
    used = {name for page in pages for name in re.findall(r'pictures/([\w-]+\.(?:svg|png))', page.read_text())}
    for path in [*FOLDER.glob('*.svg'), *FOLDER.glob('*.png')] if check else []:
        if path.name not in used:
            wrong += 1
            print(f'{path.relative_to(ROOT)} is in no page')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
