#!/usr/bin/env python3
"""alter_text.py ROOT OUT [list]: copies the tracked files of ROOT to OUT with every sentence of the program altered;
prints counts as JSON, then the altered literals if asked.

A sentence is a string literal with a blank beside a letter. In each of its words of three letters or more, the case
of the second letter is swapped ("nothing is lost" becomes "nOthing is lOst"). Lengths, numbers and line breaks stay,
so the altered program's output in lower case must be the plain program's output in lower case: .ci/altered checks it.

Words that stay: format specifiers, escapes, tags, `code`, --flags, comment keys of the line protocol ("# lines:"),
and words with a digit or one of _ . / = @ $ inside. Literals that stay although they have blanks are data: .ci/unaltered
lists them, each with its reason, as "PATH<tab>first characters of the literal<tab>reason"."""
import json, pathlib, re, subprocess, sys

ROOMS = ['sim', 'device', 'corpus', 'triage', 'fuzz']
TOKEN = re.compile(r'''
  (?P<comment>//[^\n]*|/\*.*?\*/) |
  (?P<raw>R"(?P<d>[^()\s"]*)\((?P<body>.*?)\)(?P=d)") |
  (?P<string>"(?:\\.|[^"\\\n])*") |
  (?P<character>'(?:\\.|[^'\\\n])+')
''', re.X | re.S)
SENTENCE = re.compile(r'[A-Za-z][,.;:)]? | [(\']?[A-Za-z]')
KEEP = re.compile(r'# [a-z0-9-]+(?: [a-z]+)?:|then a hash|\w*\d\w*|[%@]\w+|%[-+ #0-9.*]*[a-zA-Z]|\\.|<[^>]*>|`[^`]*`|--[a-z_]+'
                  r'|[\w.]*[_/=@$.0-9][\w./=@$-]*\w')
WORD = re.compile(r'[A-Za-z]{3,}')
TESTS = re.compile(r'_test|/testing/|/targets/|^sim/reference/')


def swapped(text):
    return WORD.sub(lambda m: m[0][0] + m[0][1].swapcase() + m[0][2:], text)


def altered(literal):
    out, at = [], 0
    for kept in KEEP.finditer(literal):
        out += [swapped(literal[at:kept.start()]), kept[0]]
        at = kept.end()
    return ''.join(out) + swapped(literal[at:])


class Copy:
    def __init__(self, exceptions):
        self.exceptions = exceptions  # {(path, start): reason}
        self.used, self.sentences, self.altered, self.exempt, self.changed = set(), 0, 0, 0, []

    def excepted(self, path, literal):
        for key in self.exceptions:
            if key[0] == path and literal.startswith(key[1]):
                self.used.add(key)
                self.exempt += 1
                return True
        return False

    def convert(self, path, text):
        def replace(token):
            line = text[text.rfind('\n', 0, token.start()) + 1:token.start()].lstrip()
            literal = token['body'] if token['raw'] else token['string'] and token['string'][1:-1]
            if literal is None or line.startswith(('#', 'static_assert', 'extern')) or not SENTENCE.search(literal):
                return token[0]
            self.sentences += 1
            now = altered(literal)
            if now == literal or self.excepted(path, literal):
                return token[0]
            self.altered += 1
            self.changed.append((path, literal))
            return 'R"%s(%s)%s"' % (token['d'], now, token['d']) if token['raw'] else '"%s"' % now
        return TOKEN.sub(replace, text)


def main(root, out):
    listed = [line.split('\t') for line in (root / '.ci/unaltered').read_text().splitlines() if line and line[0] != '#']
    copy = Copy({(path, start): reason for path, start, reason in listed})
    files = subprocess.run(['git', 'ls-files'], cwd=root, check=True, capture_output=True, text=True).stdout.split()
    for name in filter(lambda n: (root / n).exists(), files):
        data = (root / name).read_bytes()
        if name.split('/')[0] in ROOMS and name.endswith(('.cc', '.h')) and not TESTS.search(name):
            data = copy.convert(name, data.decode()).encode()
        to = out / name
        if not to.exists() or to.read_bytes() != data:  # an equal file keeps its time: it is not compiled again
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
            to.chmod((root / name).stat().st_mode)
    unused = sorted(set(copy.exceptions) - copy.used)
    print(json.dumps({'sentences': copy.sentences, 'altered': copy.altered, 'exceptions': len(copy.exceptions), 'exempt_literals': copy.exempt,
                      'unused_exceptions': unused}))
    if len(sys.argv) > 3:
        print(*('%s\t%s' % each for each in copy.changed), sep='\n')
    return 1 if unused or len(copy.exceptions) > 100 else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
