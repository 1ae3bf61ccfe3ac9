"""Types: public functions have them, mypy finds no error, stubs are those of the compiled module."""
import inspect
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import mmadiff as mm

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(mm.__file__).parent

# Expressions, and the types that mypy reveals.
CALLS = {
    "mm.rows('sm_90/*')": 'mmadiff.rows.Rows',
    "mm.rows()[0]": 'mmadiff.rows.Row',
    "mm.Row('x').formats": 'Mapping[str, str]',
    "mm.Row('x').k": 'int',
    "mm.Row('x')(a, a, scale_a=a, threads=2)": 'numpy.ndarray[Any, numpy.dtype[Any]]',
    "mm.Row('x')(tensor, a)": 'Any',
    "mm.Row('x')(a, a, metadata=a)": 'numpy.ndarray[Any, numpy.dtype[Any]]',
    "mm.Row('x').metadata(a)": 'numpy.ndarray[Any, numpy.dtype[Any]]',
    "mm.Row('x').groups": 'int',
    "mm.Plan('x')(a, a, alpha=2)": 'numpy.ndarray[Any, numpy.dtype[Any]]',
    "mm.convert(a, 'e4m3')": 'numpy.ndarray[Any, numpy.dtype[Any]]',
    "mm.convert(tensor, 'e4m3')": 'Any',
    "mm.plan_of(a, a, a).plan": 'mmadiff.plans.Plan',
    "mm.plan_of(a, a, a).nearest": 'mmadiff.plans.Plan | None',
    "mm.plans_of(mm.Plan('x'), 'f16,f16,f16', m=range(1, 9), n=8, k=8)[1].plan": 'mmadiff.plans.Plan',
    "mm.unpack(a, 'e2m1')": 'numpy.ndarray[Any, numpy.dtype[Any]]',
    "mm.error('x', a, a).rms": 'float',
    "mm.error([mm.Plan('x'), 'y'], a, a)[0].rms": 'float',
    "mm.exact(a, a)[0]": 'numpy.ndarray[Any, numpy.dtype[numpy.float64]]',
    "mm.infer(lambda a, b, c: c, 'f16,f16,f32,f32', 4)": 'mmadiff.result.Result',
    "mm.run(mm.Row('x'), mm.Row('x')).findings": 'Any',
    "mm.explain('x', 1.0, [2.0], a).text": 'str',
    "mm.generate('x')['a']": 'Any',
    "mm.check(mm.Plan('x'), a, a, a, at=[(0, 0)])": 'int',
    "mm.check('x', a, a, d=a)": 'mmadiff.result.Result',
    "mm.witnesses(a, a, None, 'x')": 'numpy.ndarray[Any, numpy.dtype[Any]]',
    "mm.trace('x', a, a, (0, 0), scale_a=a).ranges[0].text": 'str',
    "next(mm.read_log('x')).plan": 'mmadiff.plans.Plan | None',
    "mm.race('x', mm.Plan('x'))": 'mmadiff.comparisons.Race | mmadiff.result.Result',
}
WRONG = ["mm.Row(3)", "mm.Row('x')(a, a, scale=a)", "mm.Plan('x')(a)", "mm.plan_of(a, a, a, formats=3)",
         "mm.infer(3)", "mm.Row('x').nonsense"]


def mypy(*arguments, module='mypy'):
    if subprocess.run([sys.executable, '-c', 'import mypy'], capture_output=True).returncode:
        pytest.skip('no mypy')
    return subprocess.run([sys.executable, '-m', module, *map(str, arguments)], capture_output=True, text=True,
                          cwd=ROOT, env=dict(os.environ, MYPYPATH=str(PACKAGE.parent)))


def test_public_functions_have_types():
    assert set(mm._LATER) < set(mm.__all__)
    bare = []
    for name in mm.__all__:
        thing = getattr(mm, name)
        members = [thing] if inspect.isfunction(thing) else [
            member.fget if isinstance(member, property) else member for key, member in vars(thing).items()
            if not key.startswith('_') or key in ('__init__', '__call__', '__bool__')]
        for function in filter(inspect.isfunction, members):
            signature = inspect.signature(function)
            given = [p.annotation for p in signature.parameters.values() if p.name != 'self']
            if inspect.Parameter.empty in (*given, signature.return_annotation):
                bare.append(function.__qualname__)
    assert not bare


def test_the_package(tmp_path):
    done = mypy('--cache-dir', tmp_path)
    assert done.returncode == 0, done.stdout


def revealed(text):
    """A type without what differs between versions of NumPy's stubs and of mypy."""
    text = text.replace('builtins.', '').replace('typing.', '')
    text = re.sub(r'numpy\.ndarray\[tuple\[(Any|int), \.\.\.\], ', 'numpy.ndarray[Any, ', text)
    text = re.sub(r'numpy\.floating\[numpy\._typing\._nbit_base\._64Bit\]', 'numpy.float64', text)
    return re.sub(r'Union\[(.*), (.*)\]', r'\1 | \2', text)


def test_calls(tmp_path):
    lines = ['from typing import Any', 'import numpy as np', 'import mmadiff as mm', "a = np.zeros((1, 1), 'f2')",
             'tensor: Any = a']
    first = len(lines) + 1
    lines += [f'reveal_type({call})' for call in CALLS] + WRONG
    path = tmp_path / 'calls.py'
    path.write_text('\n'.join(lines) + '\n')
    told = mypy('--cache-dir', tmp_path / 'cache', path).stdout
    types = dict(re.findall(r':(\d+): note: Revealed type is "(.*)"', told))
    assert {call: revealed(types[str(first + i)]) for i, call in enumerate(CALLS)} == CALLS, told
    wrong = {int(line) for line in re.findall(r':(\d+): error:', told)}
    assert wrong == set(range(first + len(CALLS), len(lines) + 1)), told


def test_the_stubs_are_those_of_the_compiled_module():
    done = mypy('--concise', '--mypy-config-file', ROOT / 'pyproject.toml', 'mmadiff._core', module='mypy.stubtest')
    assert 'mmadiff' in done.stdout + done.stderr
    # Of nanobind: its functions and classes are not those of Python.
    own = re.compile(r'is not a function|metaclass differs|disjoint base|^Found \d+ errors|^Success')
    assert [line for line in done.stdout.splitlines() if not own.search(line)] == [], done.stderr


def test_types_can_be_read_while_a_program_runs():
    import typing
    assert typing.get_type_hints(mm.plan_of)['return'] is mm.FoundPlans
    assert typing.get_type_hints(mm.Errors.__init__)['errors'] == np.typing.NDArray[np.float64]
