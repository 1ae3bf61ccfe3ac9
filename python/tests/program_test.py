"""The part of the package that asks the program. Needs the program (MMADIFF_PROGRAM, or on the PATH), NumPy, pytest."""
import gc
import contextvars
import doctest
import html
import json
import os
import pathlib
import pickle
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import warnings

import numpy as np
import pytest

import mmadiff
from mmadiff import arrays, device, operation, program, questions, result

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
    gc.collect()  # maps of other tests
    before = descriptors()
    yield
    assert descriptors() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_docstrings():
    for module in (arrays, operation, program, questions, result):  # device has no examples
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


def numpy_dot(a, b, c):
    return c[:, 0, 0] + (a[:, 0, :].astype(F32) * b[:, :, 0].astype(F32)).sum(1)  # chooses between NaNs by their place


def test_any_nan():
    found = questions.infer(numpy_dot, 'f16,f16,f32,f32', 2, validate=1e4, any_nan=True)
    assert found.tree == 'c + (k0 + k1)' and found.row.parameters.nan_rule == 'quiet_positive'
    assert found.flaky == 0 and found.exit_code == 0
    for refused in (lambda: questions.infer(fma, instr=FMA, any_nan=True), lambda: questions.run(fma, FMA, any_nan=True),
                    lambda: questions.infer('host', 'f32,f32,f32,f32', 1, any_nan=True),
                    lambda: questions.identify(fma, FMA, any_nan=True)):
        with pytest.raises(TypeError, match='any_nan=True is for `infer`'):
            refused()


@pytest.mark.parametrize('format, given, sent', [
    ('f32', [0x7f800001, 0xffc00001, 0xff800000, 0x80000001], [0x7fc00000, 0x7fc00000, 0xff800000, 0x80000001]),
    ('f16', [0xfe00, 0x7c01, 0x7c00], [0x7e00, 0x7e00, 0x7c00]),
    ('e4m3', [0xff, 0x7f, 0x7e], [0x7f, 0x7f, 0x7e]),
    ('e2m1', [0x0f, 0x07], [0x0f, 0x07]),
    ('s32', [0xffffffff, 0x7fc00001], [0xffffffff, 0x7fc00001])])
def test_one_nan_is_sent(format, given, sent):
    words = np.array(given, arrays.word_type(format))
    assert device._one_nan(words, format).tolist() == sent


def test_what_counts_as_an_answer_of_infer():
    flaky, whole = {'flaky': 1, 'ended': ''}, {'flaky': 0, 'ended': '', 'row': {}}
    lost = {'flaky': 0, 'ended': 'no answer', 'row': {}}
    for code, found, has in [(5, [flaky], True), (5, [whole], False), (3, [whole], True), (3, [lost], False),
                             (3, [flaky], False), (3, [whole, lost], False), (3, [], False), (75, [whole], False), (5, None, False)]:
        assert questions._has_models('infer', code, None if found is None else {'instructions': found}) is has
    assert questions._has_models('run', 5, {'instructions': [flaky]}) is False


def test_formats_are_checked():
    for formats, k in [('f16,f16,f32', 4), (('f16', 'f16', 'f32', 'f99'), 4), ({'a': 'f16', 'e': 'f16'}, 4),
                       ('f16,f16,f32,f32', None), ('f16,f16,f32,f32', 0), ('f16,f16,f32,f32', 1.5)]:
        with pytest.raises(ValueError, match='format|k is'):
            questions.infer(fma, formats, k)
    with pytest.raises(ValueError, match='or `instr`, not both'):
        questions.infer(fma, 'f32,f32,f32,f32', 1, instr=FMA)
    for options in ({'k': 4}, {'scale': 'ue8m0:32'}):
        with pytest.raises(TypeError, match='belong to `formats`'):
            questions.infer(fma, instr=FMA, **options)
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
    assert 'stage' in str(explained) and questions.explain(found) == explained


def test_what_is_explained():
    clean = questions.run(convert, CONVERSION, cases=10)
    with pytest.raises(ValueError, match='no findings'):
        questions.explain(clean)
    with pytest.raises(ValueError, match='has no file'):
        questions.explain({'instruction': FMA})
    for other in ([clean], 3, None, questions.ask('list', 'formats')):
        with pytest.raises(TypeError, match='explain takes'):
            questions.explain(other)


def test_results_show_the_name_of_the_function():
    class Flush:
        def __call__(self, a):
            return flush(a)
    for answer, name in [(flush, 'flush'), (Flush(), Flush.__qualname__), (lambda a: flush(a), '<lambda>')]:
        ran, named = questions.run(answer, CONVERSION, cases=100, timeout=60), questions.identify(answer, CONVERSION)
        explained = questions.explain(CONVERSION, 1e-7, device=answer)
        assert ran.json['device'].startswith('fd:0,0,') and explained.json['answered_by'].startswith('fd:0,0,')
        for found in (ran, named, explained):
            copy = pickle.loads(pickle.dumps(found))
            pages = [found.text, str(copy), *(html.unescape(one._repr_html_()) for one in (found, copy))]
            for page in pages:
                assert name in page and 'fd:' not in page and 'descriptors' not in page and 'command line' not in page


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


@pytest.mark.parametrize('kind', [BrokenPipeError, ConnectionResetError])
def test_exceptions_of_a_function_that_resemble_the_end_of_the_program(kind):
    def broken(a, b, c):
        raise kind('of the function')
    for ask in (ask_fma, lambda f: questions.run(f, FMA)):
        with pytest.raises(kind, match='of the function'):
            ask(broken)


def test_an_exception_stops_the_program(tmp_path, monkeypatch):
    late = tmp_path / 'late'
    ask_once(tmp_path, monkeypatch, f'sleep 60 >/dev/null 2>&1 & wait; echo > {late}')
    with pytest.raises(ZeroDivisionError):
        ask_fma(lambda a, b, c: 1 // 0)
    assert not late.exists()


def test_a_function_sees_the_context_of_its_caller_but_no_warnings():
    variable = contextvars.ContextVar('variable', default='none')
    seen = set()

    def answer(a, b, c):
        seen.add(variable.get())
        return fma(a, b, c)
    variable.set('of the caller')
    with warnings.catch_warnings():
        warnings.simplefilter('error', RuntimeWarning)
        ask_fma(answer)
    assert seen == {'of the caller'}


def test_a_function_may_change_its_operands():
    def change(a, b, c):
        c += a.astype(F32) * b
        return one_nan(c)
    assert ask_fma(change).tree == 'c + k0'


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
    assert str(caught.value) == 'the function did not answer for 1 s' and caught.value.exit_code == 75
    release.set()
    wait_for_threads()


@pytest.mark.parametrize('timeout, end, words', [(0.1, 'sleep 1; kill -9 $$', 'killed by signal 9'),
                                                 (None, 'exit 75', 'stopped early')])
def test_other_ends_while_the_function_is_busy(timeout, end, words, tmp_path, monkeypatch):
    busy, release = tmp_path / 'busy', threading.Event()

    def answer(a, b, c):
        busy.touch()
        release.wait()
        return c
    ask_once(tmp_path, monkeypatch, f'while [ ! -e {busy} ]; do sleep 0.1; done; {end}')
    with pytest.raises(program.ProgramError, match=words) as caught:
        ask_fma(answer, timeout=timeout)
    assert not isinstance(caught.value, TimeoutError)
    release.set()
    wait_for_threads()


FMA_REQUEST = struct.pack('<Ifff', 12, 1, 2, 3)


@pytest.fixture
def served_fma():
    """Makes devices that compute on f32; the test is the program."""
    made = []

    def serve(function, **options):
        made.append(device.Device(function, operation.of_formats('f32,f32,f32,f32', 1), **options))
        made[-1].start(None)
        made[-1].peer.settimeout(60)
        return made[-1]
    yield serve
    for one in made:
        one.peer.close()
        one._thread.join(60)
        assert not one._thread.is_alive() and one.error is None


def test_a_wait_is_too_long_only_inside_of_the_function(served_fma, monkeypatch):
    now, calls, release = [0], [], threading.Event()
    monkeypatch.setattr(device.time, 'monotonic', lambda: now[0])
    second = threading.Event()

    def answer(a, b, c):
        calls.append(len(a))
        if len(calls) == 2:
            second.set()
            release.wait()
        return a * b + c
    served = served_fma(answer, timeout=5)
    now[0] = 10
    served.peer.sendall(FMA_REQUEST)
    assert struct.unpack('<If', served.peer.recv(8, socket.MSG_WAITALL)) == (4, 5)
    now[0] = 20
    assert served.timed_out() is None  # the program computes
    now[0] = 10
    served.peer.sendall(FMA_REQUEST)
    second.wait()
    now[0] = 14
    assert served.timed_out() is None
    now[0] = 15
    assert served.timed_out() == 'the function did not answer for 5 s'
    release.set()


@pytest.mark.parametrize('when', ['before the answer is sent', 'before it is read'])
def test_the_end_of_the_program_is_no_error_of_the_function(when, served_fma):
    asked, ended = threading.Event(), threading.Event()

    def answer(a, b, c):
        asked.set()
        ended.wait()
        return c
    served = served_fma(answer)
    served.peer.sendall(FMA_REQUEST)
    asked.wait()
    if when == 'before it is read':
        ended.set()
        select.select([served.peer], [], [], 60)
    served.peer.close()
    ended.set()


def test_durations():
    for timeout, seconds in [(1, 1), (0.5, 0.5), ('2', 2), ('90s', 90), ('1h30m', 5400), ('250ms', 0.25), (F32(3), 3)]:
        assert device._seconds(timeout) == seconds
    for timeout in (0, -1, float('inf'), float('nan'), '', 's', '5 parsecs', '1s2', '1.2.3s'):
        with pytest.raises(ValueError, match='timeout='):
            device._seconds(timeout)


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


def ask_once(folder, monkeypatch, then):
    """Sets a program that sends one question of `ask_fma`, and does not see the end of its stdin."""
    frame = '\\010' + '\\000' * 11
    path = fake(folder, f"{FAKED_VERSION}\ntrap 'kill $!; exit 75' TERM\nprintf '{frame}' >&0\n{then}")
    monkeypatch.setenv('MMADIFF_PROGRAM', str(path))


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
    killed = fake(tmp_path, f'{FAKED_VERSION}; kill -9 $$')
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
    rest = lines.splitlines(keepends=True)
    rest.pop(max(i for i, line in enumerate(rest) if not line.startswith(b'#')))
    for damaged in (lines[:-30], b''.join(rest), b''.join(rest[:5])):
        with pytest.raises(program.ProgramError):
            questions.check(damaged)
    with pytest.raises(program.ProgramError, match='is for x86/vfmadd231ss, not for x86/vfmadd231sd'):
        questions.check(lines, instr='x86/vfmadd231sd')
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
    row = mmadiff.Row(MMA)
    assert questions.check(row, **cases, d=d).json == questions.check(MMA, **cases, d=d).json
    for subject in (MMA, row):
        with pytest.raises(TypeError, match='check needs d'):
            questions.check(subject, **cases)
    with pytest.raises(TypeError, match='given twice'):
        questions.check(MMA, **cases, d=d, instr=FMA)
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
    # A tie of f32, whose shortest decimal is above the tie; a power of two beyond the integers of NumPy.
    dot = questions.explain(FMA, 1 + 2**-24, np.float64(1.5), 2**70).dot_product
    assert (dot.a, dot.b, dot.c) == (['3f800000'], ['3fc00000'], '62800000')
    with pytest.raises(ValueError, match='not a number of f64'):
        questions.explain(FMA, 2**70 + 1, 1, 1)
    nan = np.uint64(0x7ff8000000000123).view(np.float64)
    assert questions.explain('x86/vfmadd231sd', nan, 1, 1).dot_product.a == ['7ff8000000000123']
    with pytest.raises(TypeError, match='a has the type float32, not float64'):
        questions.explain('x86/vfmadd231sd', F32(1), 1, 1)


def test_results_print_and_pickle():
    found = ask_fma(fma)
    copy = pickle.loads(pickle.dumps(found))
    assert copy == found and str(copy) == str(found) and copy.svg == found.svg and copy.row == found.row
    page = found._repr_html_()
    assert '<pre>' in page and 'data:image/svg+xml' in page and '<script' not in page
    assert found.refuting is None and found.json['instructions'][0]['tree'] == 'c + k0'
    with pytest.raises(AttributeError, match='members: '):
        found.nonsense
    for shown in (found, result.Record({'a': 1, 'class.band': 2, 'keys': 3})):
        assert len(dir(shown)) == len(set(dir(shown))) and all(map(str.isidentifier, dir(shown)))
    assert {'tree', 'instructions', 'text'} < set(dir(found))
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
