"""The part of the package that asks the program. Needs the program (MMADIFF_PROGRAM, or on the PATH), NumPy, pytest."""
import doctest
import json
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest

from mmadiff import arrays, operation, program, questions, result

try:
    program.find()
except program.MissingProgramError as error:
    pytest.skip(str(error), allow_module_level=True)

FMA = 'x86/vfmadd231ss'
MMA = 'sm_90/mma.m16n8k8.f32.f16.f16.f32'
SCALED = 'sm_100/tcgen05.mma.m128n8k64.mxf4.f32.e2m1.e2m1.ue8m0'
CONVERSION = 'x86/vcvtps2ph.rn'
F32 = np.float32


def one_nan(d):
    """NumPy's choice between two NaNs depends on their place in the array."""
    return np.where(np.isnan(d), F32(np.nan), d)


def fma(a, b, c):
    return one_nan(a.astype(F32) * b.astype(F32) + c)  # products of f16 are exact in f32


def sequential(a, b, c):
    d = c[:, 0, 0]
    for i in range(a.shape[2]):
        d = d + a[:, 0, i].astype(F32) * b[:, i, 0].astype(F32)
    return one_nan(d)


def pairwise(a, b, c):
    p = a[:, 0, :].astype(F32) * b[:, :, 0].astype(F32)
    while p.shape[1] > 1:
        p = p[:, ::2] + p[:, 1::2]
    return one_nan(p[:, 0] + c[:, 0, 0])


def convert(a):
    return (a * F32(1)).astype(np.float16)  # a product is no signaling NaN


def flush(a):
    d = convert(a)
    return np.where(np.abs(d) < np.float16(2**-14), np.copysign(np.float16(0), d), d)


def ask_fma(function, **options):
    return questions.infer(function, 'f16,f16,f32,f32', 1, budget=1e4, validate=1e3, **options)


def infer4(function, **options):
    return questions.infer(function, 'f16,f16,f32,f32', 4, validate=1e4, **options)


def descriptors():
    return sorted(os.listdir('/proc/self/fd'))


@pytest.fixture(autouse=True)
def leaves_nothing_behind():
    before = descriptors()
    yield
    assert descriptors() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_docstrings():
    for module in (arrays, operation, program, questions, result):
        done = doctest.testmod(module)
        assert done.failed == 0 and done.attempted > 0, module


def test_infer_finds_the_order_of_a_sum():
    found = infer4(sequential)
    assert found.tree == '(((c + k0) + k1) + k2) + k3'
    assert found.row.family == 'fma_chain' and found.row.parameters.order == 'ascending'
    assert found.exit_code == 0 and 'tree' in str(found) and found.svg.startswith('<svg')
    assert infer4(pairwise).tree == 'c + ((k0 + k1) + (k2 + k3))'


def test_infer_of_a_matmul():
    got = []

    def matmul(a, b, c):
        got.append((a.dtype, a.shape[1:], b.shape[1:], c.shape[1:], len({len(a), len(b), len(c)})))
        return a @ b + c
    found = questions.infer(matmul, {'a': 'f64', 'b': 'f64', 'c': 'f64', 'd': 'f64'}, 1, validate=1e4)
    assert found.tree == 'c + k0'
    assert set(got) == {(np.dtype('float64'), (1, 1), (1, 1), (1, 1), 1)}


def test_infer_without_a_fitting_model():
    found = questions.infer(lambda a, b, c: (a[:, 0] * b[:, 0] + c[:, 0]) * F32(3), 'f32,f32,f32,f32', 1, budget=1e4)
    assert found.exit_code == 1 and found.row is None and found.nearest.family and found.refuting.d
    assert 'nearest' in str(found)


def test_formats_are_checked():
    for formats, k in [('f16,f16,f32', 4), (('f16', 'f16', 'f32', 'f99'), 4), ({'a': 'f16', 'e': 'f16'}, 4),
                       ('f16,f16,f32,f32', None), ('f16,f16,f32,f32', 0), ('f16,f16,f32,f32', 1.5)]:
        with pytest.raises(ValueError, match='format|k is'):
            questions.infer(fma, formats, k)
    with pytest.raises(ValueError, match='or `instr`, not both'):
        questions.infer(fma, 'f32,f32,f32,f32', 1, instr=FMA)
    with pytest.raises(ValueError, match='give `instr='):
        questions.run(fma)


def test_a_planted_fault_is_found_and_explained():
    assert questions.run(convert, CONVERSION).exit_code == 0
    found = questions.run(flush, CONVERSION)
    assert found.exit_code == 1 and found.mismatches > 0
    assert found.findings[0].parameters.output_subnormals == 'flush'
    assert CONVERSION in str(found) and 'Findings' in str(found)
    explained = questions.explain(found.findings[0])
    assert explained.instruction == CONVERSION and explained.model != explained.dot_product.d
    assert 'stage' in str(explained)


def test_run_keeps_a_given_folder(tmp_path):
    found = questions.run('faulty:terms=1', MMA, cases=100, workdir=tmp_path / 'run')
    assert (tmp_path / 'run' / 'manifest.txtpb').exists() and found.mismatches > 0
    assert pathlib.Path(found.findings[0].path).exists()


def test_an_exception_ends_the_run_with_its_traceback():
    raised = ZeroDivisionError('in the function')

    def broken(a, b, c):
        raise raised
    start = time.monotonic()
    for ask in (ask_fma, lambda f: questions.run(f, FMA), lambda f: questions.probe(f, FMA),
                lambda f: questions.identify(f, FMA), lambda f: questions.explain(FMA, 1, 1, 1, device=f)):
        with pytest.raises(ZeroDivisionError) as caught:
            ask(broken)
        assert caught.value is raised and raised.__context__ is None
        assert traceback.extract_tb(raised.__traceback__)[-1].name == 'broken'
    assert time.monotonic() - start < 60


@pytest.mark.parametrize('wrong, error, words', [
    (lambda a, b, c: None, TypeError, "the function's result is None"),
    (lambda a, b, c: c[1:], ValueError, 'not [0-9]+ elements'),
    (lambda a, b, c: np.stack((c, c)), ValueError, 'not [0-9]+ elements'),
    (lambda a, b, c: c.astype(np.float64), TypeError, 'float64, not float32 or uint32'),
    (lambda a, b, c: 1.0, TypeError, 'float'),
    (lambda a, b, c: 'text', TypeError, 'not an array'),
    (lambda a, b: a, TypeError, 'positional argument'),
    (lambda a, b, c: sys.exit(3), SystemExit, '3'),
], ids=['none', 'few', 'many', 'type', 'number', 'text', 'signature', 'exit'])
def test_wrong_functions(wrong, error, words):
    with pytest.raises(error, match=words):
        ask_fma(wrong)


def test_a_keyboard_interrupt_of_the_function():
    def interrupt(a, b, c):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt):
        ask_fma(interrupt)


def test_a_function_that_hangs():
    release = threading.Event()
    with pytest.raises(TimeoutError) as caught:
        ask_fma(lambda a, b, c: release.wait() and c, timeout=1)
    assert isinstance(caught.value, program.ProgramError) and caught.value.result.asked == 0
    release.set()
    wait_for_threads()


@pytest.mark.parametrize('number', [signal.SIGKILL, signal.SIGTERM])
def test_the_program_ends_when_python_is_killed(number, tmp_path, monkeypatch):
    monkeypatch.setenv('MMADIFF_PROGRAM', str(fake(tmp_path, f'{FAKED_VERSION}; exec sleep 600')))  # reads no stdin
    script = "from mmadiff import program; program.run([], started=lambda process: print(process.pid, flush=True))"
    with subprocess.Popen([sys.executable, '-c', script], stdout=subprocess.PIPE) as python:
        ended = os.pidfd_open(int(python.stdout.readline()))
        python.send_signal(number)
    assert select.select([ended], [], [], 60)[0]
    os.close(ended)


def wait_for_threads():
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(60)


def interrupted_later(function):
    """Calls the function, and sends this process SIGINT once the function of the device runs."""
    started = threading.Event()

    def send():
        started.wait(60)
        os.kill(os.getpid(), signal.SIGINT)
    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt):
        function(started)
    sender.join()


def test_ctrl_c_while_a_function_answers(tmp_path):
    def endless(started):
        def answer(a, b, c):
            started.set()
            return fma(a, b, c)
        questions.run(answer, FMA, forever=True, cases=None, max_mismatches=0, workdir=tmp_path / 'run')
    interrupted_later(endless)


def test_ctrl_c_while_a_function_hangs():
    release = threading.Event()

    def hang(started):
        def answer(a, b, c):
            started.set()
            release.wait()
            return c
        ask_fma(answer)
    interrupted_later(hang)
    release.set()
    wait_for_threads()


def test_unknown_names():
    with pytest.raises(program.UsageError, match="no instruction 'sm_90/nope'") as caught:
        questions.infer(fma, instr='sm_90/nope')
    assert isinstance(caught.value, ValueError) and caught.value.exit_code == 2
    with pytest.raises(program.UsageError, match='no flag'):
        questions.infer('host', instr=FMA, bogus=1)
    with pytest.raises(ValueError, match='matches 2 instructions'):
        questions.run(fma, 'x86/vfmadd231s*')
    with pytest.raises(ValueError, match='arrays='):
        ask_fma(fma, arrays='lists')
    with pytest.raises(ValueError, match='for functions'):
        questions.infer('host', instr=FMA, timeout=1)
    with pytest.raises(ValueError, match='timeout'):
        ask_fma(fma, timeout=-1)
    assert pickle.loads(pickle.dumps(caught.value)).exit_code == 2


def test_an_absent_device():
    with pytest.raises(program.UsageError) as caught:
        questions.identify('recorded:/nonexistent/recording')
    assert caught.value.exit_code in (2, 4) and caught.value.command


FAKED_VERSION = f'[ "$1" = --version ] && exec echo "mmadiff {program.VERSION}"'


def fake(folder, script):
    path = folder / 'mmadiff'
    path.write_text(f'#!/bin/sh\n{script}\n')
    path.chmod(0o755)
    return path


def test_a_program_of_a_different_version(tmp_path, monkeypatch):
    monkeypatch.setenv('MMADIFF_PROGRAM', str(fake(tmp_path, 'echo "mmadiff 9.8.7 (model 4)"')))
    with pytest.raises(program.VersionError, match=f'9.8.7.*{program.VERSION}.*pip install mmadiff==9.8.7'):
        questions.ask('list')


def test_other_programs(tmp_path, monkeypatch):
    monkeypatch.setenv('MMADIFF_PROGRAM', str(fake(tmp_path, 'echo hello')))
    with pytest.raises(program.VersionError, match='is not mmadiff'):
        questions.ask('list')
    monkeypatch.setenv('MMADIFF_PROGRAM', str(tmp_path / 'none'))
    with pytest.raises(program.MissingProgramError, match='is not a program'):
        questions.ask('list')
    killed = fake(tmp_path, f'[ "$1" = --version ] && exec echo "mmadiff {program.VERSION}"; kill -9 $$')
    monkeypatch.setenv('MMADIFF_PROGRAM', f'{tmp_path}/../{tmp_path.name}/{killed.name}')
    with pytest.raises(program.ProgramError, match='killed by signal 9'):
        questions.ask('list')


def test_a_missing_program(monkeypatch, tmp_path):
    monkeypatch.delenv('MMADIFF_PROGRAM', raising=False)
    monkeypatch.setenv('PATH', str(tmp_path))
    monkeypatch.setattr(sys, 'executable', str(tmp_path / 'python3'))
    monkeypatch.setattr('sysconfig.get_path', lambda name: str(tmp_path))
    with pytest.raises(program.MissingProgramError, match='mmadiff --version && pip install'):
        ask_fma(fma)
    fake(tmp_path, 'true')
    assert program.find() == str(tmp_path / 'mmadiff')


def test_threads_ask_at_the_same_time():
    found = {}

    def ask(name, function):
        found[name] = infer4(function).tree
    threads = [threading.Thread(target=ask, args=(f.__name__, f)) for f in (sequential, pairwise)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {'sequential': '(((c + k0) + k1) + k2) + k3', 'pairwise': 'c + ((k0 + k1) + (k2 + k3))'}


@pytest.mark.parametrize('instr', [FMA, MMA, SCALED, CONVERSION])
def test_generated_operands_are_those_of_the_program(instr):
    count = 100
    cases = questions.generate(instr, count, seed=7, strategy='boundary')
    row = operation.of_one_instruction(instr)
    for name, x in cases.items():
        assert x.shape == row.shape(name, count) and x.dtype == arrays.dtype(row.inputs[name][0])
    gen = questions.ask('gen', instr, cases=-(-count // row.per_case), seed=7, strategy='boundary')
    listed = gen.json['dot_products']
    for i in (0, 1, count - 1):
        for name, x in cases.items():
            words = listed[i][name] if isinstance(listed[i][name], list) else [listed[i][name]]
            format = row.inputs[name][0]
            assert arrays.words(x, format)[i].reshape(-1).tolist() == [int(word, 16) for word in words]


@pytest.mark.parametrize('instr', [FMA, MMA, SCALED, CONVERSION])
def test_check_finds_one_flipped_bit(instr):
    count, at = 64, 37
    row = operation.of_one_instruction(instr)
    cases = questions.generate(instr, count)
    lines = operation.to_lines(row.read(cases))
    done = subprocess.run([program.find(), 'eval', instr], input=lines, capture_output=True, check=True)
    d = np.array([int(line.split()[-1], 16) for line in done.stdout.splitlines()], arrays.word_type(row.d))
    assert questions.check(instr, **cases, d=arrays.array(d, row.d)).exit_code == 0
    d[at] ^= 1
    found = questions.check(instr, **cases, d=d)
    assert found.exit_code == 1 and (found.lines, found.equal) == (count, count - 1)
    assert [one.line for one in found.differing] == [at + 1]
    assert questions.check(done.stdout, instr=instr).equal == count


def test_check_reads_files(tmp_path):
    program_path = program.find()
    cases = subprocess.run([program_path, 'gen', FMA, '--cases=9'], capture_output=True, check=True).stdout
    lines = subprocess.run([program_path, 'eval', FMA], input=cases, capture_output=True, check=True).stdout
    path = tmp_path / 'answers.txt'
    path.write_bytes(lines)
    assert questions.check(path).equal == questions.check(str(path)).equal == questions.check(lines.decode()).equal == 9
    assert questions.check(lines.decode().splitlines()).equal == 9
    with pytest.raises(program.ProgramError):
        questions.check(lines[:-30])
    with pytest.raises(ValueError, match='give `instr`'):
        questions.check('0 0 0 0\n')


def test_operands_are_checked():
    cases = questions.generate(MMA, 16)
    d = np.zeros(16, F32)
    flat = {name: x.reshape(16, -1) for name, x in cases.items()}
    assert questions.check(MMA, **flat, d=d).json == questions.check(MMA, **cases, d=d).json
    with pytest.raises(ValueError, match='16 dot products, d those of 15'):
        questions.check(MMA, **cases, d=d[1:])
    with pytest.raises(TypeError, match='a has the type float64'):
        questions.check(MMA, cases['a'].astype(float), cases['b'], cases['c'], d)
    with pytest.raises(TypeError, match='c is None'):
        questions.check(MMA, cases['a'], cases['b'], None, d)
    with pytest.raises(ValueError, match='has no scale_a'):
        questions.check(MMA, **cases, d=d, scale_a=cases['c'])
    with pytest.raises(ValueError, match='not a multiple of 8'):
        questions.check(MMA, cases['a'].reshape(-1)[1:], cases['b'], cases['c'], d)


def test_scales_are_arguments():
    seen = []

    def scaled(a, b, c, scale_a, scale_b):
        seen.append((a.shape[1:], b.shape[1:], scale_a.shape[1:], scale_b.shape[1:]))
        return c
    assert questions.explain(SCALED, 1.0, 1.0, 1.0, device=scaled).exit_code == 1
    assert set(seen) == {((1, 64), (64, 1), (1, 2), (2, 1))}


def test_torch_tensors():
    torch = pytest.importorskip('torch')

    def matmul(a, b, c):
        assert isinstance(a, torch.Tensor) and a.dtype == torch.bfloat16
        return torch.baddbmm(c, a.float(), b.float())
    found = questions.infer(matmul, 'bf16,bf16,f32,f32', 2, arrays='torch', budget=1e4, validate=1e3)
    assert found.tree


def test_explain_of_numbers_words_and_arrays():
    a, b = np.array([1.5, 2], np.float16), np.array([2, 0.5], np.float16)
    pad = np.zeros(6, np.float16)
    numbers = questions.explain(MMA, [1.5, 2.0], [2.0, 0.5], 1.0, 5.0)
    words = questions.explain(MMA, ['3e00', '4000'], ['4000', '3800'], '3f800000', '40a00000')
    given = questions.explain(MMA, np.append(a, pad), np.append(b, pad), F32(1), F32(5))
    assert numbers.json == words.json == given.json and numbers.agrees is True
    assert numbers.model == '40a00000' and numbers.svg.startswith('<svg')
    other = questions.explain(MMA, 1.0, float('inf'), -0.0, against='sm_100')
    assert other.svg is None
    assert other.dot_product.b[0] == '7c00' and other.dot_product.c == '80000000'


def test_results_print_and_pickle():
    found = ask_fma(fma)
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found and str(copy) == str(found) and copy.svg == found.svg and copy.row == found.row
    page = found._repr_html_()
    assert '<table>' in page and 'data:image/svg+xml' in page and '<script' not in page
    assert found.refuting is None and found.json['instructions'][0]['tree'] == 'c + k0'
    with pytest.raises(AttributeError, match='members: '):
        found.nonsense
    listed = questions.ask('list', 'formats')
    assert [one.name for one in listed][4] == listed[4].name == 'f16' and 'f16' in str(listed)
    named = questions.identify('faulty:none=0', 'sm_90/*mma*f16*')
    assert 'sm_90' in named.identified and 'sm_90' in str(named)


def test_members_that_may_be_absent_are_those_of_the_schemas():
    done = subprocess.run([program.find(), 'help', '--schema'], capture_output=True, check=True)
    absent = set()

    def visit(schema):
        if isinstance(schema, dict):
            if 'properties' in schema:
                absent.update(set(schema['properties']) - set(schema.get('required', ())))
            for value in schema.values():
                visit(value)
        elif isinstance(schema, list):
            for value in schema:
                visit(value)
    schemas = json.loads(done.stdout)
    for verb in ('infer', 'probe', 'identify', 'run', 'explain', 'gen', 'check'):
        visit(schemas[verb])
    assert absent == result._PERHAPS_ABSENT


def test_progress_is_shown_only_if_wanted(capsys):
    ask_fma(fma)
    assert capsys.readouterr().err == ''
    ask_fma(fma, progress=True)
    assert 'inferring' in capsys.readouterr().err
