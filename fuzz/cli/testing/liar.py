"""A program behind exec: that answers x86/vpdpwssd, and lies in a way that the command line names.
Usage: LIAR_STATE=FOLDER python3 liar.py KIND[:NUMBER] < dot products without d > answers

d = c + a0*b0 + a1*b1, sixteen bits by sixteen, modulo 2^32: so the truth needs no simulator. What
a kind must know of earlier processes is in files of LIAR_STATE, under a lock. The file `told` there
has a line for each process: how many answers it was asked, and how many of them it lied or garbled.
The folder is no word of the command, and this is no script with "#!": else mmadiff takes those
files for a part of the program, which changes with each answer. Few imports: it is started often.
"""
import fcntl
import os
import struct
import sys
import time
import zlib


class Batch:
    """What one process is asked, and what it will say."""

    def __init__(self, text, number, state):
        words = bytes.fromhex(text)
        self.right = [c + a0 * b0 + a1 * b1 & 0xffffffff
                      for a0, a1, b0, b1, c in struct.iter_unpack('>4hi', words)]
        self.operands = text.splitlines()
        self.number = number
        self.state = state
        self.lines = ['%08x\n' % d for d in self.right]
        self.told = 0  # lies
        self.seconds = 0  # of silence

    def lie(self, i, d=None):
        """In answer i: another word, else the right one with its last bit changed."""
        self.say(i, '%08x\n' % (self.right[i] ^ 1 if d is None else d))

    def say(self, i, line):
        self.told += line != self.lines[i]
        self.lines[i] = line

    def lie_where(self, condition):
        for i in range(len(self.right)):
            if condition(i):
                self.lie(i)

    def before(self, name, add):
        """A number that lives longer than the process: it is told, then grows."""
        path = os.path.join(self.state, name)
        value = 0
        if os.path.exists(path):
            with open(path, encoding='ascii') as file:
                value = int(file.read())
        with open(path, 'w', encoding='ascii') as file:
            file.write(str(value + add))
        return value

    def answers_before(self):
        return self.before('answers', len(self.right))


def truth(batch):
    pass


def share_of_questions(batch):
    """One question in NUMBER, always: its hash decides."""
    batch.lie_where(lambda i: zlib.crc32(batch.operands[i].encode()) % batch.number == 2)


def every_nth_answer(batch):
    before = batch.answers_before()
    batch.lie_where(lambda i: (before + i + 1) % batch.number == 0)


def once(batch):
    before = batch.answers_before()
    batch.lie_where(lambda i: before + i + 1 == batch.number)


def after_answers(batch):
    before = batch.answers_before()
    batch.lie_where(lambda i: before + i >= batch.number)


def after_processes(batch):
    """A clock that no load of the machine changes."""
    late = batch.before('processes', 1) >= batch.number
    batch.lie_where(lambda i: late)


def from_line(batch):
    batch.lie_where(lambda i: i + 1 >= batch.number)


def after_odd_answer(batch):
    batch.lie_where(lambda i: i > 0 and batch.right[i - 1] % 2 == 1)


def asked_before(batch):
    """It recognises a question that this process has answered, 16 lines or more before."""
    first = {}
    batch.lie_where(lambda i: i - first.setdefault(batch.operands[i], i) >= 16)


def swapped(batch):
    """Two of each 16."""
    for i in range(0, len(batch.right) - 15, 16):
        batch.lie(i + 3, batch.right[i + 12])
        batch.lie(i + 12, batch.right[i + 3])


def swapped_lines(batch):
    """The same with operands."""
    for i, line in enumerate(batch.lines):
        batch.lines[i] = batch.operands[i] + ' ' + line
    if len(batch.lines) > 1:
        batch.told += 2
        batch.lines[:2] = batch.lines[1::-1]


def previous_question(batch):
    """The first answer of a process is 0."""
    for i, d in enumerate([0] + batch.right[:-1]):
        batch.lie(i, d)


def one_line_more(batch):
    batch.told += 1
    batch.lines.append('00000000\n')


def one_line_less(batch):
    batch.told += 1
    batch.lines.pop()


def text(batch):
    batch.say(0, 'warning: the licence ends today\n')


def nul(batch):
    batch.say(0, batch.lines[0][:3] + '\0' + batch.lines[0][4:])


def junk(batch):
    batch.say(0, '\x7f\xff\xfe\x80\x1b[2J\xc3\n')


def with_0x(batch):
    batch.say(0, '0x' + batch.lines[0])


def nine_digits(batch):
    batch.say(0, '0' + batch.lines[0])


def seven_digits(batch):
    """Every NUMBER-th word lacks its last digit."""
    before = batch.answers_before()
    for i, line in enumerate(batch.lines):
        if (before + i + 1) % batch.number == 0:
            batch.say(i, line[:7] + '\n')


def blank_lines(batch):
    batch.lines = ['\n \t\n' + line for line in batch.lines]


def comments(batch):
    batch.lines = ['# 00000000\n' + line for line in batch.lines]


def upper_case(batch):
    batch.lines = [line.upper() for line in batch.lines]


def crlf(batch):
    batch.lines = [line[:-1] + '\r\n' for line in batch.lines]


def late(batch):
    """Later than any timeout of a test."""
    batch.told += len(batch.lines)
    batch.seconds = 3600


def late_after(batch):
    if batch.answers_before() >= batch.number:
        late(batch)


def first_time(batch):
    """It lies to each question once, in whatever process, then tells the truth."""
    path = os.path.join(batch.state, 'questions')
    seen = set()
    if os.path.exists(path):
        with open(path, encoding='ascii') as file:
            seen = set(file.read().splitlines())
    new = []

    def first(i):
        question = batch.operands[i]
        if question in seen:
            return False
        seen.add(question)
        new.append(question + '\n')
        return True

    batch.lie_where(first)
    with open(path, 'a', encoding='ascii') as file:
        file.writelines(new)


def main():
    name, _, number = sys.argv[1].partition(':')
    state = os.environ['LIAR_STATE']
    asked = sys.stdin.read()
    with open(os.path.join(state, 'lock'), 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        batch = Batch(asked, int(number or 0), state)
        globals()[name](batch)
        with open(os.path.join(state, 'told'), 'a', encoding='ascii') as file:
            file.write(f'{len(batch.right)} {batch.told}\n')
    time.sleep(batch.seconds)
    sys.stdout.buffer.write(''.join(batch.lines).encode('latin-1'))


if __name__ == '__main__':
    main()
