"""Small modules and small functions, wherever code is shipped."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from statistics import median
from typing import Final

from tests.architecture.source import shipped_files

MODULE_LINES: Final = 500
USUAL_LINES: Final = 300
LONG_SHARE: Final = 0.1
"""Of the modules, so many may have more lines than usual: those whose subject is one, and larger."""
FUNCTION_LINES: Final = 30
MEDIAN_LINES: Final = 10
FUNCTION: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def long_modules(files: Iterable[tuple[str, str]]) -> list[str]:
    counted = ((path, len(text.splitlines())) for path, text in files)
    return [f"{path}: {lines} lines" for path, lines in counted if lines > MODULE_LINES]


def function_lengths(files: Iterable[tuple[str, str]]) -> Iterator[tuple[str, int]]:
    """Each function's lines from `def` to its end; decorators and the docstring do not count."""
    for path, text in files:
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, FUNCTION):
                yield f"{path}:{node.lineno} {node.name}", _lines(node) - _docstring_lines(node)


def long_functions(files: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{name}: {lines} lines" for name, lines in function_lengths(files) if lines > FUNCTION_LINES]


def median_length(files: Iterable[tuple[str, str]]) -> float:
    return median([lines for _, lines in function_lengths(files)] or [0])


def _lines(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _docstring_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return _lines(node.body[0]) if ast.get_docstring(node, clean=False) is not None else 0


def function_of(lines: int, docstring: str = '"""Say it."""') -> str:
    """A made-up function that counts for `lines` lines."""
    return f"def made():\n    {docstring}\n" + "    made()\n" * (lines - 1)


def test_no_module_is_too_long() -> None:
    assert long_modules(shipped_files()) == []


def test_a_module_that_is_too_long_is_caught() -> None:
    files = [("fits.py", "\n" * MODULE_LINES), ("long.py", "\n" * (MODULE_LINES + 1))]
    assert long_modules(files) == ["long.py: 501 lines"]


def test_most_modules_are_short() -> None:
    lengths = [len(text.splitlines()) for _, text in shipped_files()]
    assert sum(length > USUAL_LINES for length in lengths) <= LONG_SHARE * len(lengths)


def test_no_function_is_too_long() -> None:
    assert long_functions(shipped_files()) == []


def test_a_function_that_is_too_long_is_caught() -> None:
    files = [("fits.py", function_of(FUNCTION_LINES)), ("long.py", function_of(FUNCTION_LINES + 1))]
    assert long_functions(files) == ["long.py:1 made: 31 lines"]


def test_a_long_docstring_does_not_make_a_long_function() -> None:
    docstring = '"""Say it.\n' + "    and more\n" * 40 + '    """'
    assert [lines for _, lines in function_lengths([("long.py", function_of(5, docstring))])] == [5]


def test_most_functions_are_short() -> None:
    assert median_length(shipped_files()) <= MEDIAN_LINES


def test_a_growing_median_is_seen() -> None:
    assert median_length([("all.py", "\n".join(map(function_of, (2, 11, 12))))]) == 11
