#!/usr/bin/env python3
"""Devices that lie, as data: each kind of lie with the exit code of `run`, `probe`, `record`,
`infer` and `survey`. The liar is fuzz/cli/testing/liar.py behind exec:, which counts the lies it tells.
Usage: lies_test.py MMADIFF [--long] [--plant] [--verbose] [PART...]
--long: the whole table, else each kind with `run` and each verb with three kinds.
--plant: the liar tells the truth instead; each combination whose code is not 0 must then fail.
--verbose: a line for each combination: kind, verb, code wanted, code, lies told, why it fails.
PART: only combinations of a kind or verb of this name.

A combination also fails if
  its code is not 0, but the liar told no lie;
  its code is 0 without a right to it: see UNASKED and the following;
  `record` ended with another code than 0, and `replay` accepts what it left;
  `probe` ended with 5, and there is an answer below --out.
"""
import collections
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from testing import liar

LIAR = pathlib.Path(liar.__file__).resolve()
INSTRUCTION = 'x86/vpdpwssd'  # 16 dot products an execution
SECONDS = 1200  # of one command: it hangs
VERBS = {
    'run': 'run --threads=1 --workdir=out',
    # `pairs` would ask 2^32 dot products.
    'probe': 'probe --threads=1 --question=layout,repeat,integers,model --max_total_time=8h'
             ' --out=out',
    'record': 'record out --threads=1 --cases=300 --max_total_time=0',
    'infer': 'infer --budget=1e4 --validate=1e5 --max_total_time=8h --out=out',
    'survey': 'survey --cases=1000 --max_total_time=0 --max_bytes=1e6 --out=out',
}

# A right to 0.
UNASKED = 'unasked'  # no lie was told: the liar's questions are not among those of the verb
KEPT = 'kept'  # `record` keeps what a device repeats in the same order, and `replay` says 1
ASKED = 'asked'  # 1 if a lie was told, else 0: the speed of the machine decides what is asked
READ = 'read'  # "Line protocol" of docs/formats.md allows it, and nothing in it is false

# `number` is the liar's: one for all verbs, or by verb, where {'': that of the others}.
# `cases` are those of `run`. `wanted`: run, probe, record, infer, survey.
Kind = collections.namedtuple('Kind', 'name does tamper number cases wanted')
GARBLED = (5, 5, 5, 5, 3)  # `survey` drops a row that cannot be read or does not repeat, with 3
KINDS = [
    Kind('tells the truth', 'the row 0 of the table', liar.truth, 0, 500,
         (READ, READ, READ, READ, READ)),
    # What a device always says is its answer. `probe` asks a thousand questions.
    Kind('one in 10^4', 'one question in 10^4, always', liar.share_of_questions, 10**4, 2000,
         (1, UNASKED, KEPT, 1, 1)),
    Kind('one in 10^5', 'one question in 10^5, always', liar.share_of_questions, 10**5, 8000,
         (UNASKED,) * 5),
    # `probe` gets 2,000 answers in all.
    Kind('every 5000th', 'every 5000th answer of its life', liar.every_nth_answer,
         {'': 5000, 'probe': 300}, 500, (5, 5, 5, 5, 3)),
    Kind('every 50th', 'every 50th answer of its life', liar.every_nth_answer, 50, 500,
         (5, 5, 5, 5, 3)),
    # Where the answer decides: of `record` within the sample that is asked again.
    Kind('once', 'one answer of its life', liar.once,
         {'': 5000, 'probe': 700, 'record': 1016}, 500, (5, 5, 5, 5, 3)),
    # Then each answer is repeated. `record` and `infer` ask again what was answered before, and
    # `probe` was within one question.
    Kind('after 50,000', 'every answer after 50,000', liar.after_answers,
         {'': 50000, 'probe': 1000, 'record': 10000, 'survey': 5000}, 4000, (1, 5, 5, 5, 1)),
    # The clock counts processes, so no load of the machine changes the answers. `probe` has asked
    # each of its questions alone, and asks it at every place of an execution now.
    Kind('after 3 s', 'every answer after 8 processes or more', liar.after_processes,
         {'': 8, 'probe': 20, 'record': 4, 'infer': 20, 'survey': 48}, 4000, (1, 5, 5, 5, 1)),
    # Asked alone it tells the truth: to `run` a fault of processes of that age. `probe` asks at most
    # 160 lines of one process.
    Kind('from line 4,090', 'from line 4,090 of a process on', liar.from_line, 4090, 2000,
         (1, UNASKED, 5, 5, 3)),
    # Only digests are asked in longer processes. `survey` compares theirs with the model's, and
    # asks none where it thinks the device slow.
    Kind('from line 8,000', 'from line 8,000 of a process on', liar.from_line, 8000, 1000,
         (UNASKED, UNASKED, 5, UNASKED, ASKED)),
    # `survey` drops the row. `infer` asks again in another order.
    Kind('answer before', 'where the answer before is odd', liar.after_odd_answer, 0, 500,
         (1, 5, 5, 5, 3)),
    Kind('recognised question', 'where the process was asked the same, 16 lines before or more',
         liar.asked_before, 0, 500, (1, 5, 5, 5, 3)),
    Kind('swapped', 'two answers of each 16 are exchanged', liar.swapped, 0, 500,
         (1, 5, KEPT, 5, 3)),
    Kind('swapped lines', 'two lines are exchanged, operands and all', liar.swapped_lines, 0, 500,
         GARBLED),
    Kind('previous question', 'the answer to the previous question', liar.previous_question, 0, 500,
         (1, 5, 5, 5, 3)),
    Kind('one line more', 'a line too many', liar.one_line_more, 0, 500, GARBLED),
    Kind('one line less', 'a line is missing', liar.one_line_less, 0, 500, GARBLED),
    Kind('text', 'a sentence in the place of a word', liar.text, 0, 500, GARBLED),
    Kind('NUL', 'a NUL within a word', liar.nul, 0, 500, GARBLED),
    Kind('junk', 'bytes that are no text', liar.junk, 0, 500, GARBLED),
    Kind('0x', '0x before a word', liar.with_0x, 0, 500, GARBLED),
    # A word of another width for one input: `run` finds that it is not the input.
    Kind('nine digits', 'nine digits of eight', liar.nine_digits, 0, 500, (5, 3, 3, 3, 3)),
    # A word with fewer digits is a word: what is seen is that it does not repeat.
    Kind('seven digits', 'every 5000th word lacks its last digit', liar.seven_digits,
         {'': 5000, 'probe': 300}, 500, (5, 5, 5, 5, 3)),
    Kind('blank lines', 'blank lines between the answers', liar.blank_lines, 0, 500, (READ,) * 5),
    Kind('comments', 'comments between the answers', liar.comments, 0, 500, (READ,) * 5),
    Kind('upper case', 'digits in upper case', liar.upper_case, 0, 500, (READ,) * 5),
    Kind('CRLF', 'lines that end with CR and LF', liar.crlf, 0, 500, (READ,) * 5),
    Kind('late', 'no answer before the timeout', liar.late, 0, 500, (3, 3, 3, 3, 3)),
    # To all verbs but `survey`, which goes on with other rows, the device is lost.
    Kind('late later', 'the same after some answers', liar.late_after,
         {'': 1000, 'probe': 300, 'infer': 100}, 500, (75, 75, 75, 75, 3)),
    Kind('first time', 'to each question once, then the truth', liar.first_time, 0, 500,
         (5, 5, 5, 5, 3)),
]
# What the program does otherwise: the code that it has. What is mended must leave this list.
KNOWN = {}
# Of the quick variant, with each verb.
THREE = ('once', 'answer before', 'CRLF')


def mmadiff(command, **environment):
    """Exit code, stderr; 'hangs' after SECONDS."""
    process = subprocess.Popen([PROGRAM, '--quiet', *shlex.split(command)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, env={**os.environ, **environment})
    try:
        stderr = process.communicate(timeout=SECONDS)[1].decode(errors='replace')
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return 'hangs', ''
    return process.returncode, stderr


def answers_below(folder):
    """Lines with an answer in any file."""
    count = 0
    for path in pathlib.Path(folder).rglob('*'):
        if path.is_file():
            lines = path.read_bytes().splitlines()
            count += sum(1 for line in lines if line.strip() and not line.startswith(b'#'))
    return count


def left_wrong(verb, cell, code):
    """What is wrong with the files that the verb left; '' if nothing."""
    if verb == 'record':
        left = [path for path in os.listdir('.') if path.startswith('out')]
        for path in left:
            replayed = mmadiff(f'replay {path} --threads=1')[0]
            if code != 0 and replayed == 0:
                return f'replay accepts {path}'
            if cell == KEPT and replayed != 1:
                return f'replay of {path} is {replayed} and not 1'
            if cell == READ and replayed != 0:
                return f'replay of {path} is {replayed} and not 0'
        if code == 0 and not left:
            return 'nothing was recorded'
    if verb == 'probe' and code == 5 and answers_below('out') > 0:
        return f'{answers_below("out")} answers are in --out'
    return ''


def try_one(kind, verb, plant):
    """Why the combination fails, '' if it does not, and its report."""
    cell = kind.wanted[list(VERBS).index(verb)]
    number = kind.number
    if isinstance(number, dict):
        number = number.get(verb, number[''])
    tamper = liar.truth if plant else kind.tamper
    os.mkdir('state')
    command = ' '.join(map(shlex.quote, [sys.executable, '-I', '-S', str(LIAR),
                                         f'{tamper.__name__}:{number}']))
    line = f'{VERBS[verb]} --instr={INSTRUCTION} {shlex.quote("--device=exec:" + command)}'
    if verb == 'run':
        line += f' --cases={kind.cases}'
    timeout = 1 if kind.tamper in (liar.late, liar.late_after) else SECONDS
    if verb == 'survey':
        line += f' --timeout={timeout}s'
    code, stderr = mmadiff(line, MMADIFF_EXEC_TIMEOUT=str(timeout),
                           LIAR_STATE=os.path.abspath('state'))
    told = pathlib.Path('state/told')
    lies = sum(int(t.split()[1]) for t in told.read_text().splitlines()) if told.exists() else 0
    wanted = 0 if isinstance(cell, str) else cell
    if cell == ASKED:
        wanted = int(lies > 0)
    why = ''
    if code != wanted:
        why = 'another code'
    elif lies > 0 and cell in (UNASKED, READ):
        why = f'0, and {lies} lies were told'
    elif lies == 0 and cell not in (UNASKED, ASKED, READ) and not plant:
        why = 'no lie was told'
    why = why or left_wrong(verb, cell, code)
    timeout = f'MMADIFF_EXEC_TIMEOUT={timeout} ' if timeout == 1 else ''
    text = (f'{kind.name}, {verb}: {why}; wanted {wanted}, got {code}, {lies} lies\n'
            f'  mkdir state && LIAR_STATE=$PWD/state {timeout}mmadiff {line}\n')
    text += ''.join(f'  {said}\n' for said in stderr.splitlines()[-2:])
    return why, text, code, wanted, lies


def chosen(long, parts):
    for kind in KINDS:
        for verb in VERBS:
            quick = verb == 'run' or kind.name in THREE or kind.tamper is liar.truth
            if (long or quick) and (not parts or kind.name in parts or verb in parts):
                yield kind, verb


def main():
    global PROGRAM
    PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
    flags = [arg for arg in sys.argv[2:] if arg.startswith('--')]
    if set(flags) - {'--long', '--plant', '--verbose'}:
        sys.exit(__doc__)
    plant = '--plant' in flags
    parts = [arg for arg in sys.argv[2:] if arg not in flags]
    tried, failed, known, vacuous = 0, 0, 0, []
    for kind, verb in chosen('--long' in flags, parts):
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            why, text, code, wanted, lies = try_one(kind, verb, plant)
            os.chdir('/')
        tried += 1
        is_known = not plant and KNOWN.get((kind.name, verb)) == code and code != wanted
        if (kind.name, verb) in KNOWN and not is_known and not why:
            why, text = 'mended', f'{kind.name}, {verb}: is right now: take it from KNOWN\n'
        known += is_known
        failed += bool(why) and not is_known
        if '--verbose' in flags:
            print(f'{kind.name} | {verb} | {wanted} | {code} | {lies} | {why}', flush=True)
        if why and not plant:
            print('known: ' * is_known + text, end='', flush=True)
        if plant and not why and wanted != 0:
            vacuous.append(f'{kind.name}, {verb}: passes with a liar that tells the truth')
    print('\n'.join(vacuous + [f'{tried} combinations, {failed} failures, {known} known']))
    sys.exit(1 if vacuous or (failed and not plant) else 0)


main()
