"""The example scripts: the pages show what they print, and their pictures are made."""
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

from mmadiff import program

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = [path for path in sorted((ROOT / 'docs/example').glob('*.py')) if '# %%' in path.read_text()]
ASKS = re.compile(r'mm\.(explain|infer|run|check|ask|generate)\(')  # the program


def shown(script):
    """The lines below the command in the pages; `...` is anything."""
    pages = '\n'.join(page.read_text() for page in sorted((ROOT / 'docs').glob('*.md')))
    (block,) = re.findall(rf'^```\npython3 docs/example/{script.name}\n(.*?)^```', pages, re.M | re.S)
    return block


def test_there_are_examples():
    assert len(SCRIPTS) == 3


@pytest.mark.parametrize('script', SCRIPTS, ids=lambda script: script.stem)
def test_an_example(script, tmp_path):
    if ASKS.search(script.read_text()):
        try:
            program.checked()
        except program.ProgramError as error:
            pytest.skip(str(error))
    done = subprocess.run([sys.executable, script, tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pattern = '.*'.join(map(re.escape, shown(script).split('...\n')))
    assert re.search(rf'^{pattern}', done.stdout, re.M | re.S), done.stdout
    if importlib.util.find_spec('matplotlib'):
        picture = (tmp_path / f'{script.stem}.svg').read_text()
        assert '</svg>' in picture and '<text' in picture and len(picture) < 60000
        assert (ROOT / f'docs/pictures/{script.stem}.svg').is_file()
