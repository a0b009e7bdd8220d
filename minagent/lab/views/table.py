"""A table of what was counted: HTML where it can be shown, aligned text where it cannot, and nbval compares both."""

from collections.abc import Iterable, Sequence
from html import escape


class Table:
    """Rows under heads, all of one length; numbers stand to the right. Units belong in the heads."""

    def __init__(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        body = [list(row) for row in rows]
        self.right = [all(isinstance(value, int | float) for value in column) for column in zip(*body, strict=True)]
        self.rows = [list(heads), *([str(value) for value in row] for row in body)]

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        lines = [zip(row, widths, self.right, strict=True) for row in self.rows]
        aligned = ["  ".join(text.rjust(n) if right else text.ljust(n) for text, n, right in line) for line in lines]
        return "\n".join(line.rstrip() for line in aligned)

    def _repr_html_(self) -> str:
        (head, *body) = ["".join(map(self._cell, row, self.right)) for row in self.rows]
        rows = "".join(f"<tr>{row}</tr>" for row in body)
        return f"<table><thead><tr>{head.replace('td', 'th')}</tr></thead><tbody>{rows}</tbody></table>"

    @staticmethod
    def _cell(text: str, right: bool) -> str:
        return f'<td style="text-align: {"right" if right else "left"}">{escape(text)}</td>'
