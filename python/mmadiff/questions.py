"""Questions to the program: about any Python function, or about a device of the program."""
from __future__ import annotations

import contextlib
import functools
import json
import math
import os
import pathlib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from . import arrays as _arrays
from . import operation as _operation
from . import program as _program
from .device import Device
from .differences import check_plan
from .elements import At
from .plans import Plan
from .result import Record, Result
from .rows import Row

# A function gets all questions of `probe` but this one, which may take until the time limit.
_LONG_QUESTION = 'pairs'
# Exit codes: unreadable answers, or answers that do not repeat; among others, no parameter is decided.
_DAMAGED, _UNDECIDED = 5, 3


def _parsed(done):
    try:
        return json.loads(done.stdout) if done.stdout.strip() else None
    except ValueError:
        return None  # killed while it printed


class FunctionTimeoutError(_program.ProgramError, TimeoutError):
    """The function did not return in time; its thread is left behind."""


def _named_error(error, device):
    """The error, or that of a function that did not answer in time; a signal has a negative exit code."""
    text = device.timed_out() if device is not None and error.exit_code > 0 else None
    return FunctionTimeoutError(text, *error.__reduce__()[1][1:]) if text else error


def _ask(verb, arguments, device=None, operation=None, arrays='numpy', timeout=None, progress=False, stdin=b'',
         text=None, folder=None, any_nan=False, **flags):
    """Runs a verb; `device` is a function, or a specification of the program; the rest are its flags.

    text: makes, of the JSON, the arguments of the program that print a report
    """
    if any_nan and not ('formats' in flags and callable(device)):
        raise TypeError('any_nan=True is for `infer` of a function with `formats`: models of instructions have NaN bits')
    with contextlib.ExitStack() as stack:
        served = None
        if callable(device):
            served = stack.enter_context(Device(device, operation, arrays, timeout, any_nan))
            stdin, device = served.peer, served.specification
        elif timeout is not None or arrays != 'numpy':
            raise ValueError('`timeout` and `arrays` are for functions, not for devices of the program')
        done = _program.run([verb, *map(str, arguments), *_program.flags({'device': device, **flags}), '--json'], stdin,
                            progress, served.start if served else None)
        if served and served.error:
            raise served.error
        printed = _parsed(done)
        result = None
        if printed is not None:
            shown = text(printed) if text else None
            result = Result(printed, verb, done.exit_code, svg=_drawing(flags.get('svg')), folder=folder,
                            names=served.names if served else None, printer=shown and functools.partial(_text_of, shown))
        error = done.error(result)
        if error is None and result is None:
            error = _program.ProgramError(f'{verb} printed no JSON', done.exit_code, done.command, done.stderr)
        if error is not None and not _has_models(verb, done.exit_code, printed):
            raise _named_error(error, served)
        return result


def _drawing(path):
    return pathlib.Path(path).read_text() if path and os.path.exists(path) else None


def _has_models(verb, exit_code, printed):
    """Whether `infer` did all that it could: some answers did not repeat, or fit models of several families."""
    if verb != 'infer' or printed is None:
        return False
    found = printed['instructions']
    return (exit_code == _DAMAGED and any(one['flaky'] for one in found) or
            exit_code == _UNDECIDED and found != [] and all('row' in one and not one['ended'] for one in found))


def _text_of(arguments):
    """The text that a verb prints for people."""
    return _program.run(arguments).stdout.decode(errors='replace').rstrip()


def ask(verb: str, *arguments: object, progress: bool = False, **flags: Any) -> Result:
    """Any verb of the program with its arguments and flags: `ask('race', 'h100', 'b200')`.

    >>> ask('list', 'formats')[4].name
    'f16'
    """
    shown = None if 'device' in flags else [verb, *map(str, arguments), *_program.flags(flags)]
    return _ask(verb, arguments, progress=progress, text=lambda printed: shown, **flags)


def infer(device: Callable[..., Any] | str, formats: str | Sequence[str] | Mapping[str, str] | None = None,
          k: int | None = None, *, instr: str | Row | None = None, scale: str | None = None, arrays: str = 'numpy',
          timeout: float | str | None = None, progress: bool = False, any_nan: bool = False, **flags: Any) -> Result:
    """Infers the model of a black box that computes dot products: its summation tree and its arithmetic.

    device:  a function (its operands and result: see `mmadiff.device.Device`), or a device of the program
             ('cuda:0', 'exec:COMMAND', 'recorded:PATH')
    formats: those of a, b, c and d, such as 'f16,f16,f32,f32', with k, the number of products, and scale='ue8m0:32' for
             block scales; or instr='ARCH/INSTRUCTION'
    arrays:  the type of the operands: 'numpy', 'torch', 'torch:cuda:0'
    timeout: longest wait for an answer of the function, in seconds (60), or a text such as '5m'
    progress: shows the program's progress on sys.stderr
    any_nan: with `formats`: every NaN of the function counts as the quiet positive NaN; the row's nan_rule then says
             nothing about the function. NumPy and PyTorch choose between two NaNs by their place in the array: without
             any_nan=True, such answers do not repeat (exit_code 5 of the result), or refute every model
    flags:   more flags of `mmadiff help infer`: budget=1e4, validate=1e4, max_total_time='1m', out='folder'

    An exception of the function ends the question at once.

    >>> infer(lambda a, b, c: a @ b + c, 'f64,f64,f64,f64', 1, any_nan=True, budget=1e4, validate=1e3).tree
    'c + k0'
    """
    operation = None
    if formats is not None:
        if instr is not None:
            raise ValueError('give `formats` and `k`, or `instr`, not both')
        operation = _operation.of_formats(formats, k, scale)
        flags |= {'formats': ','.join((operation.a, operation.b, operation.c, operation.d)), 'k': k, 'scale': scale}
    elif k is not None or scale is not None:
        raise TypeError('`k` and `scale` belong to `formats`; an instruction has its own')
    else:
        operation, instr = _named(device, instr)
    with tempfile.TemporaryDirectory() as folder:
        svg = os.path.join(folder, 'tree.svg')
        return _ask('infer', [], device, operation, arrays, timeout, progress, instr=instr, any_nan=any_nan,
                    **{'svg': svg, **flags})


def _named(device, instr):
    """(operation, instruction) for a function; (None, instr) for a device of the program."""
    if not callable(device):
        return None, instr
    operation = _operation.of_one_instruction(instr)
    return operation, operation.name


def probe(device: Callable[..., Any] | str, instr: str | Row | None = None, *,
          questions: str | Sequence[str] | None = None, arrays: str = 'numpy', timeout: float | str | None = None,
          progress: bool = False, **flags: Any) -> Result:
    """Asks a device the questions that only it can answer: widths, rounding, order, NaNs.

    questions: ids of `ask('probe', list=True)`; without them all, for a function all but `pairs`, which compares up to
               2^32 dot products. `device` and the other arguments are those of `infer`.
    """
    operation, instr = _named(device, instr)
    if questions is None and operation is not None:
        listed = ask('probe', list=True)
        questions = [one['question'] for one in listed.json if one['question'] != _LONG_QUESTION]
    if questions is not None:
        flags['question'] = questions if isinstance(questions, str) else ','.join(questions)
    else:
        flags['all'] = True
    return _ask('probe', [], device, operation, arrays, timeout, progress, instr=instr, **flags)


def identify(device: Callable[..., Any] | str, instr: str | Row | None = None, *, arrays: str = 'numpy',
             timeout: float | str | None = None, progress: bool = False, **flags: Any) -> Result:
    """Names the architectures whose models reproduce a device's answers.

    A function answers for one instruction. The arguments are those of `infer`.
    """
    operation, instr = _named(device, instr)
    return _ask('identify', [], device, operation, arrays, timeout, progress, instr=instr, **flags)


def run(device: Callable[..., Any] | str, instr: str | Row | None = None, *, cases: int | None = 1000,
        workdir: str | os.PathLike[str] | None = None, arrays: str = 'numpy', timeout: float | str | None = None,
        progress: bool = False, **flags: Any) -> Result:
    """Compares a device with the model of an instruction on generated cases.

    cases:   executions of the instruction; each has all the dot products of its matrix D
    workdir: the folder of the run, which a repeated call resumes; without it, a temporary one, removed with the
             result
    The result has `mismatches`, `dot_products`, `findings`; `explain(result.findings[0])` explains one.
    """
    operation, instr = _named(device, instr)
    folder = None
    if workdir is None:
        folder = tempfile.TemporaryDirectory(prefix='mmadiff-')
        workdir = os.path.join(folder.name, 'run')
    return _ask('run', [], device, operation, arrays, timeout, progress, folder=folder, instr=instr, cases=cases,
                workdir=workdir, text=lambda printed: ['report', *printed['folders']], **flags)


def _number(x):
    if isinstance(x, str):
        return x if x.startswith(('0x', '-')) else f'0x{x}'  # a word as the program prints it
    number = float(x)
    if isinstance(x, int) and int(number) != x:
        raise ValueError(f'{x} is not a number of f64: give its word, in hexadecimal')
    return number.hex() if math.isfinite(number) else str(number)


def _numbers(x, format, what):
    """--a=: words of an array, or numbers of a list."""
    if x is None:
        return None
    if hasattr(x, 'dtype') and (format == 'f64' or not isinstance(x, float)):  # np.float64 is a float of Python, too
        return ','.join(f'{word:#x}' for word in _arrays.words(x, format, what).reshape(-1).tolist())
    return ','.join(map(_number, x if isinstance(x, (list, tuple)) else [x]))


def _explained(printed):
    """The arguments that print the same explanation without a device."""
    dot = printed['dot_product']
    given = {name: ','.join(f'0x{word}' for word in ([dot[name]] if isinstance(dot[name], str) else dot[name]))
             for name in dot}
    return [printed['instruction'], *_program.flags(given)]


def _case_of(case):
    """The argument of `explain`: an instruction, a path or the name of a case."""
    if isinstance(case, Result) and case.verb == 'run':
        if not case.findings:
            raise ValueError('the run has no findings')
        case = case.findings[0]
    if isinstance(case, Mapping) or type(case) is Record:
        path = dict(case).get('path')
        if not path:
            raise ValueError('the finding has no file')
        return str(path)
    if isinstance(case, (str, os.PathLike, Row)):
        return str(case)
    raise TypeError('explain takes an instruction, a result of `run`, a finding, a path or the name of a case, not '
                    f'{type(case).__name__}')


def explain(case: str | os.PathLike[str] | Row | Mapping[str, Any] | Record, a: Any = None, b: Any = None, c: Any = None,
            d: Any = None, *, scale_a: Any = None, scale_b: Any = None, metadata: Any = None,
            device: Callable[..., Any] | str | None = None, arrays: str = 'numpy', timeout: float | str | None = None,
            progress: bool = False, **flags: Any) -> Result:
    """Shows the stages of the arithmetic for one dot product, and model changes that reproduce a device's answer d.

    case: an instruction, with one dot product in a, b, c and perhaps d: arrays, lists of numbers, or words in
          hexadecimal ('3c00'); or a finding of `run` (of its result, the first), a file or folder of findings, or the
          name of a case
    device: a function or a device of the program, whose answer replaces d
    flags: against='sm_100', ...

    >>> explain('x86/vfmadd231ss', 1.5, 2.0, 0.25).model
    '40500000'
    """
    path = _case_of(case)
    given = {'a': a, 'b': b, 'c': c, 'd': d, 'scale_a': scale_a, 'scale_b': scale_b, 'metadata': metadata}
    operation = None
    if callable(device) or any(x is not None for x in given.values()):
        operation = _operation.of_one_instruction(path.split('@')[0])
        for name, x in given.items():
            format = operation.d if name == 'd' else operation.inputs.get(name, ('f32',))[0]
            flags[name] = _numbers(x, format, name)
    plain = [path, *_program.flags(flags)]
    result = _ask('explain', [path], device, operation, arrays, timeout, progress, text=lambda printed: [
        'explain', *(plain if device is None or isinstance(printed, list) else _explained(printed))], **flags)
    if not isinstance(result.json, list):
        result.svg = _drawn(['explain', *(plain if device is None else _explained(result.json))])
    return result


def _drawn(arguments):
    """The drawing; None if there is nothing to draw, such as an infinity."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'terms.svg')
        _program.run([*arguments, f'--svg={path}'])
        return _drawing(path)


def generate(instr: str | Row, count: int = 1024, *, seed: int = 1, strategy: str = 'mixed', first: int = 0,
             like: Any = None) -> dict[str, Any]:
    """Operands that the program's generator makes for an instruction: {'a': .., 'b': .., 'c': ..}, and scales.

    The arrays are those that a function gets as a device: a (N, 1, k), b (N, k, 1), c (N, 1, 1), scale_a (N, 1, s),
    scale_b (N, s, 1), metadata (N, 1, groups); N is `count`, the number of dot products. So `f(**generate(instr))` is a
    batch of results.
    first: number of the first execution; like: a tensor of PyTorch on the device of the wanted tensors

    >>> generate('x86/vdpbf16ps', 100)['b'].shape
    (100, 2, 1)
    """
    operation = _operation.of_one_instruction(instr)
    cases = -(-count // operation.per_case)
    done = _program.run(['gen', operation.name, *_program.flags(
        {'cases': max(cases, 1), 'seed': seed, 'strategy': strategy, 'first': first})])
    if error := done.error():
        raise error
    fields = _operation.from_lines(operation, done.stdout)
    return operation.unpacked({name: words[:count] for name, words in fields.items()}, like)


@overload
def check(subject: Plan, /, a: ArrayLike, b: ArrayLike, d: ArrayLike, *, at: At | None = None, any_nan: bool = False,
          **operands: Any) -> int: ...


@overload
def check(subject: str | os.PathLike[str] | bytes | Sequence[str] | Row, /, a: ArrayLike | None = None,
          b: ArrayLike | None = None, c: ArrayLike | None = None, d: ArrayLike | None = None, *,
          scale_a: ArrayLike | None = None, scale_b: ArrayLike | None = None, metadata: ArrayLike | None = None,
          instr: str | Row | None = None, max_reports: int = 20) -> Result: ...


def check(subject: Any, /, *operands: Any, **options: Any) -> Any:
    """Compares results with the model of an instruction, or with a plan.

    `check(plan, a, b, d)`: the elements of a whole matrix product, or those of at=[(row, column), ...], such as
    `witnesses` chooses. Further operands are those of the plan. Returns how many were compared; raises AssertionError with
    the first that differs, the plans that give D instead, and where their sums part from the plan's.
    `check(instr, a, b, c, d)`: arrays of any number of dot products, shaped as `generate` makes them.
    `check(path, instr=...)` or `check(lines, instr=...)`: a file, or lines, in the line protocol; without `instr`, its
    comment `# instruction:` names the instruction. A member `line` of the result's `differing` counts from 1.

    >>> cases = generate('x86/vfmadd231ss', 16)
    >>> check('x86/vfmadd231ss', **cases, d=np.zeros(16, np.float32)).lines
    16
    """
    if isinstance(subject, Plan) or isinstance(subject, str) and '|' in subject and '\n' not in subject:
        return check_plan(subject, *operands, **options)
    return _check_instruction(subject, *operands, **options)


def _check_instruction(subject, a=None, b=None, c=None, d=None, *, scale_a=None, scale_b=None, metadata=None, instr=None,
                       max_reports=20):
    given = {'a': a, 'b': b, 'c': c, 'scale_a': scale_a, 'scale_b': scale_b, 'metadata': metadata}
    if d is not None:
        if instr is not None:
            raise TypeError(f'the instruction is given twice: {subject} and instr={instr}')
        operation = _operation.of_one_instruction(subject)
        instr, text = operation.name, _operation.to_lines(operation.read(given, d))
    elif isinstance(subject, Row) or any(x is not None for x in given.values()):
        raise TypeError('check needs d')
    else:
        text = _lines_of(subject)
    announced = instr_named = None
    for line in text.splitlines():
        key, _, value = line.partition(b':')
        announced = announced or key == b'# lines'
        if key == b'# instruction' and instr_named is None:
            instr_named = value.strip().decode(errors='replace')
    instr = instr or instr_named
    if instr is None:
        raise ValueError('no line `# instruction: ARCH/INSTRUCTION`: give `instr`')
    return _ask('check', [instr], stdin=text, max_reports=max_reports, expect=None if announced else 'any')


def _lines_of(subject):
    if isinstance(subject, bytes):
        return subject
    if isinstance(subject, (list, tuple)):
        return ''.join(f'{line.rstrip()}\n' for line in subject).encode()
    if isinstance(subject, str) and '\n' in subject:
        return subject.encode()
    return pathlib.Path(subject).read_bytes()
