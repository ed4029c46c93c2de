"""Count lines of code as Python's tokenizer sees them: `python -m tests.architecture.code_lines [FOLDER…]`.

A line counts if it holds a token of code: blank lines, comments and docstrings do not count.
"""

from __future__ import annotations

import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FOLDERS: Final = ("functions", "layers", "tools", "benchmarks", "tests")
_LAYOUT: Final = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def code_lines(source: str) -> int:
    """Number of physical lines with code."""
    lines: set[int] = set()
    for statement in _statements(source):
        if not all(token.type == tokenize.STRING for token in statement):
            lines.update(line for token in statement for line in range(token.start[0], token.end[0] + 1))
    return len(lines)


def _statements(source: str) -> Iterator[list[tokenize.TokenInfo]]:
    """Tokens of code, by logical line."""
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            yield statement
            statement = []
        elif token.type not in _LAYOUT:
            statement.append(token)


def main(folders: list[str]) -> None:
    """Print the count of each folder."""
    for folder in folders or FOLDERS:
        files = [path for path in sorted(Path(folder).rglob("*.py")) if "node_modules" not in path.parts]
        print(f"{folder:<12} {sum(code_lines(path.read_text(encoding='utf-8')) for path in files):>7,}")  # noqa: T201 - its purpose


if __name__ == "__main__":
    main(sys.argv[1:])
