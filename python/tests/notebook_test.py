"""Notebooks of the example scripts have the scripts' cells, and run."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MADE = ROOT / '.ci/notebook'
SCRIPTS = sorted(path for path in (ROOT / 'docs/example').glob('*.py') if '# %%' in path.read_text())


def made(path):
    return subprocess.run([sys.executable, MADE, path], capture_output=True, text=True)


@pytest.mark.parametrize('script', SCRIPTS, ids=lambda script: script.stem)
def test_a_notebook_has_the_cells_of_its_script(script):
    told = made(script).stdout
    assert told == made(script).stdout
    notebook, text = json.loads(told), script.read_text()
    assert (notebook['nbformat'], notebook['nbformat_minor']) == (4, 5)
    cells = notebook['cells']
    assert len(cells) == text.count('# %%') and len({cell['id'] for cell in cells}) == len(cells)
    rebuilt = []
    for cell in cells:
        source = ''.join(cell['source']).split('\n')
        is_markdown = cell['cell_type'] == 'markdown'
        rebuilt += ['# %% [markdown]', *(f'# {line}'.rstrip() for line in source)] if is_markdown else ['# %%', *source]
        assert is_markdown or (cell['outputs'] == [] and cell['execution_count'] is None)
    assert [line for line in rebuilt if line] == [line for line in text.splitlines() if line]


@pytest.mark.parametrize('text, why', [('print(1)\n', 'no cells'), ('# %% [raw]\nx\n', 'unknown mark')])
def test_other_files_are_refused(tmp_path, text, why):
    path = tmp_path / 'x.py'
    path.write_text(text)
    told = made(path)
    assert told.returncode == 1 and why in told.stderr and not told.stdout


def test_cells_run_as_in_a_notebook(tmp_path):
    """Without __file__, in one namespace; pictures are made in the current folder."""
    code = 'import json, sys\nnames = {"__name__": "__main__"}\nfor cell in json.load(sys.stdin)["cells"]:\n' \
           '    if cell["cell_type"] == "code": exec("".join(cell["source"]), names)\n'
    script = ROOT / 'docs/example/cdna3_bias.py'
    done = subprocess.run([sys.executable, '-c', code, '-f', 'kernel.json'], input=made(script).stdout, cwd=tmp_path,
                          capture_output=True, text=True)
    assert done.returncode == 0 and 'CDNA3' in done.stdout, done.stderr
    assert set(os.listdir(tmp_path)) <= {'cdna3_bias.svg'}
