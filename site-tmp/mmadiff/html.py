"""Tables for notebooks."""
from html import escape

_MOST = 200  # lines of a table


def table(lines, head=()):
    """A table of lines of cells, under a head if there is one."""
    def line(cells, tag):
        texts = (f'<{tag} style="text-align:left">{escape(str(cell))}</{tag}>' for cell in cells)
        return f"<tr>{''.join(texts)}</tr>"
    lines = list(lines)
    more = len(lines) - _MOST
    parts = ['<table>', *([line(head, 'th')] if head else []), *(line(cells, 'td') for cells in lines[:_MOST]), '</table>']
    return '\n'.join(parts + ([f'<p>and {more} more</p>'] if more > 0 else []))


def records(dictionaries):
    """The same of dictionaries with equal keys."""
    dictionaries = list(dictionaries)
    return table([one.values() for one in dictionaries], list(dictionaries[0])) if dictionaries else '<p>none</p>'
