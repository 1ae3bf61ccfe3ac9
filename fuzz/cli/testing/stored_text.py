"""What a folder of mmadiff's files holds, as text: block logs decoded record by record, so that files can be compared
field by field. Fields that a clock or a process fills are left out."""
import pathlib, re, struct, subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
assert (ROOT / 'proto/run.proto').is_file()
MAGIC, HEADER = b'\x93mmalog\n', 64  # corpus/block_log.cc
MESSAGES = {'UnitRecord': 'run', 'RecordedOutputs': 'run', 'RecordedDigests': 'run', 'SurveyPart': 'survey',
            'SurveyManifest': 'survey', 'SurveyResult': 'survey', 'SurveyEnd': 'survey'}
CLOCK = r'^\s*(seconds|pace|ended|last_ended|date|xxh3|run|bytes): .*\n?'


def decode(message, data):
    done = subprocess.run(['protoc', '-I%s/proto' % ROOT, '--decode=mmadiff.proto.' + message, MESSAGES[message] + '.proto'],
                          input=data, capture_output=True)
    return done.stdout.decode() if done.returncode == 0 else 'no %s: %r\n' % (message, data)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def records(data):
    found, at = [], 0
    while data[at:at + 8] == MAGIC:
        end = at + HEADER + struct.unpack_from('<I', data, at + 12)[0]
        at += HEADER
        while at < end:
            length, at = varint(data, at)
            found.append(data[at:at + length])
            at += length
    return found


def fields(data):
    """Of a message of varints and bytes: by number."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found[key >> 3] = value
    return found


def survey(parts):
    joined, found = b'', []
    for part in map(fields, parts):
        joined = (joined if part.get(1, 0) else b'') + part.get(4, b'')
        if part.get(1, 0) + 1 == part[2]:
            found.append(decode(['SurveyResult', 'SurveyManifest', 'SurveyEnd'][part.get(3, 0)], joined))
    return found


def log(name, data):
    found = records(data)
    if name == 'answers.log' and found and fields(found[0]).get(3) == 1:
        return survey(found)
    message = 'UnitRecord' if name.startswith('units-') else 'RecordedDigests' if name == 'digests.log' else 'RecordedOutputs'
    texts = sorted(decode(message, record) for record in found)  # whatever thread was first
    # How often a part was stored before its unit was done depends on how long that took.
    unit = lambda text: re.findall(r'^(?:instruction|unit): .*', text, re.M)
    done = [unit(text) for text in texts if 'part: true' not in text]
    return [text for text in texts if 'part: true' not in text or unit(text) not in done]


def dump(folder):
    """The text of each file below the folder, by its path."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob('*')):
        if not path.is_file() or path.is_symlink() or 'lock' in path.name:
            continue
        data = path.read_bytes()
        text = '\n'.join(log(path.name, data)) if data.startswith(MAGIC) else data.decode(errors='backslashreplace')
        if path.suffix in ('.log', '.txtpb'):
            text = re.sub(CLOCK, '', text, flags=re.M)
            text = re.sub('"[0-9a-f]{32}"', 'HASH', text)
        found[str(path.relative_to(folder))] = text
    return found
