"""The examples of docs/python.md: those of Python, and the program in C."""
import doctest
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from mmadiff import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'docs/python.md'
BUILD = os.environ.get('MMADIFF_BUILD', '')
LIBRARY = pathlib.Path(BUILD, 'sim/libmmadiff_sim.a')


def blocks(language, page=PAGE):
    """(line, text) of each block of code."""
    page = page.read_text()
    return [(page[:block.start(1)].count('\n'), block[1])
            for block in re.finditer(rf'^```{language}\n(.*?)^```', page, re.M | re.S)]


def test_python(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        program.checked()
    except program.ProgramError as error:
        pytest.skip(str(error))
    found, said = blocks('pycon'), []
    assert len(found) > 8
    runner, names = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), {}
    for line, text in found:
        test = doctest.DocTestParser().get_doctest(text, names, PAGE.name, str(PAGE), line)
        assert test.examples
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
    assert runner.tries > 30 and runner.failures == 0, ''.join(said)


def test_readme():
    """Each line of its example gives a result, of operands that the reader has."""
    try:
        program.checked()
    except program.ProgramError as error:
        pytest.skip(str(error))
    (_, text), = blocks('python', ROOT / 'README.md')
    rng = np.random.default_rng(1)
    a, b, c = rng.standard_normal((16, 16)).astype('f2'), rng.standard_normal((16, 8)).astype('f2'), np.ones((16, 8), 'f4')
    names = {'a': a, 'b': b, 'c': c, 'd': (a.astype('f4') @ b).astype('f2'), 'a8': rng.integers(0, 120, (8, 64), np.uint8)}
    names['b8'] = names['a8'].T
    lines = text.splitlines()
    assert len(lines) > 4
    exec(lines[0], names)
    for line in lines[1:]:
        got = eval(line, names)
        assert got is not None, line
    assert got.tree  # of `infer`


@pytest.mark.skipif(shutil.which('cc') is None, reason='no compiler for C')
@pytest.mark.skipif(not LIBRARY.is_file(), reason='no sim/libmmadiff_sim.a in MMADIFF_BUILD')
def test_c(tmp_path):
    (_, text), = blocks('c')
    (tmp_path / 'h100.c').write_text(text)
    command = re.search(r'`(cc [^`]*)`', PAGE.read_text())[1].split()
    flags = ['-Wall', '-Wextra', '-Werror', '-pedantic', f'-I{ROOT}/sim/c', f'-L{LIBRARY.parent}']
    subprocess.run([*command[:2], *flags, *command[2:]], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / 'a.out'], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == re.search(r'printf.*/\* (.*) \*/', text)[1]
