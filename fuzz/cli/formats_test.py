#!/usr/bin/env python3
"""What the program writes is what docs/formats.md says: a reader of each binary and checksummed
format written from that page, on new files and on the page's own example.
Usage: formats_test.py MMADIFF. Exits 77 without libxxhash."""
import ctypes
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
ROOT = pathlib.Path(__file__).resolve().parents[2]
FMA = 'x86/vfmadd231ss'
DEVICE = ['--device=faulty:none=0', f'--instr={FMA}']
MAGIC = bytes.fromhex('93 6d 6d 61 6c 6f 67 0a')


class Hash128(ctypes.Structure):
    _fields_ = [('low', ctypes.c_uint64), ('high', ctypes.c_uint64)]


try:
    XXHASH = ctypes.CDLL('libxxhash.so.0')
except OSError:
    print('no libxxhash.so.0')
    sys.exit(77)
XXHASH.XXH3_64bits.restype = ctypes.c_uint64
XXHASH.XXH3_128bits_withSeed.restype = Hash128


def xxh3_64(data):
    return XXHASH.XXH3_64bits(data, ctypes.c_size_t(len(data)))


def xxh3_128(data, seed=0):
    value = XXHASH.XXH3_128bits_withSeed(data, ctypes.c_size_t(len(data)), ctypes.c_uint64(seed))
    return value.high << 64 | value.low


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def block(data, at):
    """(run, sequence, records, where the next one begins) of the block at a byte; None if it is bad."""
    header = data[at:at + 64]
    if len(header) < 64 or header[:8] != MAGIC:
        return None
    version, size, sequence, count, low, high, sum1, sum2 = struct.unpack('<IIQQQQQQ', header[8:])
    payload = data[at + 64:at + 64 + size]
    if sum2 != xxh3_64(header[:56]) or version != 2 or len(payload) < size or sum1 != xxh3_64(payload):
        return None
    records, place = [], 0
    while place < size:
        length, place = varint(payload, place)
        records.append(payload[place:place + length])
        place += length
    return (high << 64 | low, sequence, records, at + 64 + size) if len(records) == count else None


def read_log(data):
    """(run, records, whether there is an end mark, bytes skipped)."""
    run, records, ended, skipped, at, expected = None, [], False, 0, 0, 0
    while at < len(data):
        good = block(data, at)
        if good is None:
            after = data.find(MAGIC, at + 1)
            after = len(data) if after < 0 else after
            skipped, at = skipped + after - at, after
            continue
        assert run in (None, good[0]) and not ended
        run, sequence, added, at = good
        assert sequence == expected or skipped and sequence > expected
        records, ended, expected = records + added, not added, sequence + 1
    return run, records, ended, skipped


def fields(message):
    """Of a protobuf message: {number: [values]}."""
    found, at = {}, 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 0:
            value, at = varint(message, at)
        else:
            size, at = (8, at) if key & 7 == 1 else varint(message, at)
            value, at = message[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def mmadiff(*args, stdin=''):
    return subprocess.run([PROGRAM, '--quiet', *args], input=stdin, capture_output=True, text=True,
                          check=True).stdout


def answers(operation, cases):
    """The words of each of the first dot products, the model's answer last."""
    lines = mmadiff('eval', operation, stdin=mmadiff('gen', operation, f'--cases={cases}'))
    return [[int(word, 16) for word in line.split()] for line in lines.splitlines() if line[0] != '#']


def in_8_bytes(words):
    return struct.pack(f'<{len(words)}Q', *words)


def file(path):
    return pathlib.Path(path).read_bytes()


def test_example():
    """The page's example: its command makes that file, but for the run, the date and who answered."""
    page = (ROOT / 'docs' / 'formats.md').read_text()
    command = re.search(r'^\$ \./mmadiff (.* two\.log .*)$', page, re.M).group(1)
    dump = re.findall(r'^[0-9a-f]{6}((?: [0-9a-f]{2})+)', page, re.M)
    mmadiff(*shlex.split(command))
    logs = [read_log(bytes.fromhex(''.join(dump))), read_log(file('two.log'))]
    messages = []
    for run, records, ended, skipped in logs:
        assert len(records) == 1 and ended and skipped == 0
        messages.append(fields(records[0]))
        identity = messages[-1].pop(6)[0]
        assert identity.startswith(b'simulator, model version')
    assert messages[0] == messages[1], messages
    # Its results are those that `eval` prints.
    assert messages[1][7][0] == struct.pack('<2I', *(dot[-1] for dot in answers(FMA, 2)))


def test_torn_log():
    mmadiff('record', 'many.log', *DEVICE, '--cases=500000')
    data = file('many.log')
    run, records, ended, skipped = read_log(data)
    assert len(records) > 10 and ended and skipped == 0
    last = data.rfind(MAGIC)
    assert read_log(data[:last + 63]) == (run, records, False, 63)
    assert read_log(data[:last]) == (run, records, False, 0)
    second = data.find(MAGIC, 1)  # a flipped bit costs its block
    _, fewer, ended, skipped = read_log(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    assert 0 < len(fewer) < len(records) and records[-len(fewer):] == fewer
    assert ended and skipped == second


def sealed(text):
    """What is before the last line, which is its checksum."""
    body, seal = re.fullmatch(rb'(.*\n)# xxh3: ([0-9a-f]{32})\n', text, re.S).groups()
    assert int(seal, 16) == xxh3_128(body)
    return body.decode()


def test_run():
    mmadiff('run', *DEVICE, '--cases=2000', '--threads=1')
    folder, = pathlib.Path('mmadiff-runs').iterdir()
    manifest = sealed(file(folder / 'manifest.txtpb'))
    named, = re.findall('\nrun: "(.*)"', manifest)
    manifest = re.sub('(?m)^#.*\n|^\n|^run: .*\n', '', manifest).encode()
    assert folder.name == f'{xxh3_64(manifest):016x}'
    log, = folder.glob('units-000000-*.log')
    run, records, ended, skipped = read_log(file(log))
    assert run == xxh3_128(manifest) == int(named, 16) and len(records) == 1 and not ended and skipped == 0
    unit = fields(records[0])
    assert unit[4] == [2000] and 6 not in unit  # cases, no mismatches
    digest = sum(xxh3_128(in_8_bytes(dot[-1:]), case) for case, dot in enumerate(answers(FMA, 2000)))
    for found in (8, 9):
        halves = fields(unit[found][0])
        assert int.from_bytes(halves[1][0] + halves[2][0], 'little') == digest % 2**128


def test_recording_folder():
    mmadiff('record', 'folder', *DEVICE, '--cases=5', '--max_total_time=0',
            f'--regressions={ROOT}/corpus/regressions')
    manifest = sealed(file('folder/recording.txtpb'))
    named = re.findall(r'file \{\s+name: "(.*)"\s+bytes: (\d+)\s+xxh3: "(.*)"', manifest)
    assert [name for name, *_ in named] == ['regressions.txt', 'raw-1.log', 'digests.log']
    for name, size, xxh3 in named:
        data = file(f'folder/{name}')
        assert (len(data), f'{xxh3_128(data):032x}') == (int(size), xxh3)
        if name.endswith('.log'):
            run, records, ended, _ = read_log(data)
            assert ended and f'run: "{run:032x}"' in manifest
            assert {fields(record)[1][0] for record in records} == {FMA.encode()}
    check_answers(file('folder/regressions.txt'))


def check_answers(data):
    """`# answers:` at the end of lines."""
    lines, found = re.fullmatch(rb'(.*\n)# answers: ([0-9a-f]{16})\n', data, re.S).groups()
    assert int(found, 16) == xxh3_64(lines)


def test_survey():
    mmadiff('survey', '--out=survey', *DEVICE, '--cases=50', '--max_total_time=0')
    run, records, ended, _ = read_log(file('survey/answers.log'))
    kinds, message, results, log = [], b'', 0, b''
    for part in map(fields, records):
        number, of, kind = (part.get(field, [0])[0] for field in (1, 2, 3))
        message = (message if number else b'') + part.get(4, [b''])[0]
        if number + 1 < of:
            continue
        kinds.append(kind)
        if len(kinds) == 1:
            assert run == xxh3_128(message) and fields(message)[5] == [b'faulty:none=0']
        elif kind == 0:
            results, log = results + 1, b'%032x' % xxh3_128(log + message)
    for name, end in ('survey.html', b' -->\n'), ('survey.md', b' -->\n'), ('survey.json', b'"\n}\n'):
        page = file(f'survey/{name}')
        before, stamp = re.fullmatch(rb'(.*stamp\W+)([0-9a-f:]+)' + end, page, re.S).groups()
        assert stamp == b'%d:%s:%032x' % (results, log, xxh3_128(before))
    assert kinds[0] == 1 and kinds[-1] == 2 and set(kinds[1:-1]) == {0} and not ended


def test_line_protocol():
    sent = mmadiff('gen', FMA, '--cases=20')
    lines, operands = re.fullmatch(r'# instruction: x86/vfmadd231ss\n# lines: 20\n((?:[0-9a-f]{8} '
                                   r'[0-9a-f]{8} [0-9a-f]{8}\n){20})# operands: (.{16})\n', sent).groups()
    assert int(operands, 16) == xxh3_64(lines.encode())
    check_answers(mmadiff('eval', FMA, stdin=sent).encode())


def test_case():
    path, = (ROOT / 'corpus/regressions/x86').glob('fasi_rounding_4_vdpbf16ps-*.txtpb')
    text = path.read_text()

    def value(name):
        return re.search(rf'^ *{name}: "(.*)"$', text, re.M).group(1)

    k = len(value('a').split())
    inputs = value('instruction').encode() + struct.pack('<x4I', 1, 1, k, 1)

    def words(name):
        return b''.join(struct.pack('<Q', int(word, 16)) for word in value(name).split())

    def texts(*values):
        return b''.join(struct.pack('<Q', len(v)) + v.encode() for v in values)

    inputs += words('a') + words('b') + words('c')
    assert path.stem.split('-')[1] == f'{xxh3_128(inputs):032x}'[:12]
    said = inputs + texts(value('slug'), value('why'), '', value('source').replace("\\'", "'"))
    said += struct.pack('<3I', 0, 0, 0) + texts(value('device'), value('identity'), value('date'))
    assert value('checksum') == f'{xxh3_128(said + words("d")):032x}'


def test_model_digests():
    models, sample = {}, {}
    for line in (ROOT / 'corpus/model_digests.txt').read_text().splitlines():
        word, rest = line.split(' ', 1)
        if word == 'model':
            name, text = rest.split(' ', 1)
            assert int(name, 16) == xxh3_64(text.encode())
            models[name] = text
        elif word != '#':
            model, *digests = rest.split(' ')
            assert model in models and len(digests) == 2
            sample[word] = digests
    bf16, elements, n = 'x86/vdpbf16ps', 16, 8
    dots = answers(bf16, 64)
    chosen = [dots[i * elements + (j * (elements // n) + i + j) % elements]
              for i in range(64) for j in range(n)]
    hashes = [xxh3_64(in_8_bytes(words)) for words in
              ([word for dot in chosen for word in dot[:-1]], [dot[-1] for dot in chosen])]
    assert sample[bf16] == [f'{value:016x}' for value in hashes]


def main():
    tests = [test for name, test in globals().items() if name.startswith('test_')]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in tests:
            test()
        os.chdir('/')
    print(f'{len(tests)} tests')


main()
