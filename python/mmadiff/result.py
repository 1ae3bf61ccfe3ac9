"""Results of the program: its JSON as objects, as text, and as HTML for notebooks."""
import base64
import pprint
from collections.abc import Callable, Iterator, KeysView, Mapping
from html import escape
from typing import Any

from . import html

# Members that the program leaves out if they have no value (`mmadiff help VERB --schema`): they are None.
_PERHAPS_ABSENT = frozenset((
    'tree', 'row', 'same_rows', 'near', 'nan_bits_unknown', 'also', 'nodes', 'nearest', 'nearest_misses', 'refuting',
    'model_lines', 'operands',
    'b', 'c', 'd', 'scale_a', 'scale_b', 'metadata', 'failure', 'said', 'against'))

# Tables of each verb: the member that is a list, and the columns.
_TABLES: dict[str, dict[str, tuple[str, ...]]] = {
    'run': {'instructions': ('instruction', 'kind', 'cases', 'dot_products', 'mismatches', 'verdict'),
            'findings': ('instruction', 'bucket', 'cases', 'diagnosis', 'path')},
    'probe': {'answers': ('instruction', 'question', 'answer', 'agreement')},
    'identify': {'architectures': ('name', 'verdict', 'given')},
    'check': {'differing': ('line', 'a', 'b', 'c', 'd', 'model')},
}


class Record:
    """A JSON object whose members are attributes, and a mapping. `json` is the dict itself.

    >>> record = Record({'terms': 8, 'row': {'family': 'fused_sum'}})
    >>> record.terms, record.row.family, dict(record.row)
    (8, 'fused_sum', {'family': 'fused_sum'})
    """

    def __init__(self, json: Any) -> None:
        self.json = json

    def __getattr__(self, name: str) -> Any:
        members = self.__dict__.get('json')  # None while it is unpickled
        if isinstance(members, dict):
            if name in members:
                return wrapped(members[name])
            if name in _PERHAPS_ABSENT:
                return None
        raise AttributeError(f"no member '{name}' (members: {', '.join(members if isinstance(members, dict) else ())})")

    def __getitem__(self, name: Any) -> Any:
        return wrapped(self.json[name])

    def keys(self) -> KeysView[str]:
        return self.json.keys()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.json if isinstance(self.json, dict) else wrapped(self.json))

    def __len__(self) -> int:
        return len(self.json)

    def __contains__(self, name: object) -> bool:
        return name in self.json

    def __dir__(self):
        members = self.json if isinstance(self.json, dict) else ()
        return sorted({*super().__dir__(), *filter(str.isidentifier, members)})

    def __eq__(self, other: object) -> bool:
        return self.json == other.json if isinstance(other, Record) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return type(self), (self.json,)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.json.items())})"


def wrapped(value):
    """Objects of JSON as records, also in lists."""
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [wrapped(one) for one in value]
    return value


class Result(Record):
    """The result of a verb of the program.

    json:      the program's --json
    text:      a report for people, as `print` shows it
    svg:       a drawing, or None
    exit_code: the program's: 0, no mismatch; 1, a mismatch; 5, `infer` got answers that did not repeat; 3, `infer` found
               models of several families (`row`, `also`), and no parameter is decided
    agrees:    whether it is 0
    names:     {text: text to show in its place}: the name of a function as device
    If the answer is about one instruction, the members of that instruction are attributes of the result, too.
    """

    def __init__(self, json: Any, verb: str = '', exit_code: int = 0, svg: str | None = None, text: str | None = None,
                 names: Mapping[str, str] | None = None, printer: Callable[[], str] | None = None, folder: Any = None) -> None:
        super().__init__(json)
        self._names = dict(names or {})
        self.verb, self.exit_code, self.svg = verb, exit_code, svg
        self._text, self._printer = text, printer  # the text is printed once it is read
        self._folder = folder  # a temporary folder: lives as long as the result

    @property
    def agrees(self) -> bool:
        return self.exit_code == 0

    def __getattr__(self, name: str) -> Any:
        only = self.__dict__.get('json') and self._only()
        if only and name not in self.json:
            return getattr(Record(only), name)
        return super().__getattr__(name)

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = self._named(self._printer()) if self._printer else self._printed() or _facts_and_tables(self)
        return self._text

    def _named(self, text):
        for old, new in self._names.items():
            text = text.replace(old, new)
        return text

    def _printed(self):
        """The text of `infer`."""
        found = self.json['instructions'] if self.verb == 'infer' else []
        return self._named(''.join(one['text'] for one in found)).rstrip()

    def _only(self):
        instructions = self.json.get('instructions') if isinstance(self.json, dict) else None
        return instructions[0] if instructions and len(instructions) == 1 else None

    def __dir__(self):
        return sorted({*super().__dir__(), *(self._only() or ())})

    def __reduce__(self):
        return type(self), (self.json, self.verb, self.exit_code, self.svg, self.text, self._names)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_html_(self):
        parts = []
        if self.svg:  # as an image: the style sheet of an inline SVG would hold for the whole page
            data = base64.b64encode(self.svg.encode()).decode()
            parts.append(f'<img src="data:image/svg+xml;base64,{data}">')
        facts, tables = self._facts(), self._tables()
        if facts:
            parts.append(html.table(facts))
        if not facts and not tables:
            parts.append(f'<pre>{escape(self.text)}</pre>')
        return '\n'.join(parts + [html.table(rows, columns) for columns, rows in tables])

    def _facts(self):
        """[(label, text)]"""
        return [(label, self._named(text)) for label, text in _FACTS[self.verb](self.json)] if self.verb in _FACTS else []

    def _tables(self):
        """[(columns, rows)], without the empty ones"""
        if not isinstance(self.json, dict):
            return []
        return [(columns, [[_cell(record.get(name)) for name in columns] for record in self.json[member]])
                for member, columns in _TABLES.get(self.verb, {}).items() if self.json.get(member)]


def _cell(value):
    return ' '.join(map(str, value)) if isinstance(value, list) else '' if value is None else str(value)


def _identify_facts(found):
    yield 'device', f"{found['device']}: {found['device_identity']}"
    yield 'verdict', found['text']


def _run_facts(found):
    yield 'device', found['device_identity']
    yield 'verdict', found['verdict']


def _check_facts(found):
    yield 'instruction', found['instruction']
    yield 'equal', f"{found['equal']} of {found['lines']}"


_FACTS = {'identify': _identify_facts, 'run': _run_facts, 'check': _check_facts}


def _columns(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return '\n'.join('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def _facts_and_tables(result):
    tables = [result._facts(), *([columns, *rows] for columns, rows in result._tables())]
    return '\n'.join(_columns(rows) for rows in tables if rows) or pprint.pformat(result.json, sort_dicts=False, compact=True)
