"""Words of the field: names and prose that an engineer would search for, and no private dialect."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Final

from tests.architecture.source import ROOT, tracked_texts

NAMES: Final = {
    "heart": "core library",
    "face": "server or publisher",
    "shelf": "cache",
    "door": "authorizer",
    "journal": "call_log",
    "catalogue": "tool_definition",
    "exchange": "http_messages",
    "guards": "request_validation",
    "admit": "validate_request",
    "described": "metadata_json",
    "settle": "reconcile",
    "disagreement": "Inconsistencies",
    "strays": "orphan_passages",
    "list_paths": "markdown_blocks",
    "judgments": "qrels",
    "workshop": "collections_dataset",
    "contestant": "worker",
    "knock": "call",
}
"""Words that no name may have for a part, and what to say instead."""

PROSE: Final = {
    "heart": "core library",
    "hearts": "core library",
    "face": "server or publisher",
    "faces": "server and publisher",
    "aboard": "included or shipped",
    "shelf": "cache",
    "door": "authorizer",
    "house rules": "architecture tests",
    "told": "reported, known or said",
    "anew": "again",
    "strange": "unknown or unexpected",
    "for good": "permanently",
}
"""Words that no prose may have: the image and the private dialect, and what to say instead."""


_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PROSE: Final = re.compile(rf"(?<![\w-])({'|'.join(PROSE)})(?![\w-])", re.IGNORECASE)
_CHECKED: Final = ("functions/", "layers/", "tools/", "benchmarks/", "tests/")
_TEXTS: Final = (".md", ".py", ".yaml", ".toml")
# This file quotes the words; a changelog, texts of examples and lists of words say what they say.
_LEFT_OUT: Final = ("tests/architecture/test_names.py", "examples/", "layers/knowledge/knowledge/search/stop_words.py")


def identifiers(source: str) -> Iterator[tuple[int, str]]:
    """Names that a module gives: of functions, classes, arguments, variables and attributes."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.lineno, node.name
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id


def named_wrongly(files: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{path}:{line} {name}: say {NAMES[part]}"
        for path, text in files
        for line, name in identifiers(text)
        if not name.startswith("test_")
        for part in (one.lower() for one in _PART.findall(name))
        if part in NAMES
    ]


def written_wrongly(files: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{path}:{number} {match.group()}: say {PROSE[match.group().lower()]}"
        for path, text in files
        for number, line in enumerate(text.splitlines(), start=1)
        for match in _PROSE.finditer(line)
    ]


def unnamed_assertions(files: Iterable[tuple[str, str]]) -> list[str]:
    """Helpers of tests that assert and return nothing, but are not called so."""
    return [
        f"{path}:{node.lineno} {node.name}"
        for path, text in files
        for node in ast.parse(text).body
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if not node.name.startswith(("test_", "assert_")) and not node.decorator_list
        if _asserts(node) and ast.unparse(node.returns or ast.Constant(None)) == "None"
    ]


def _asserts(node: ast.AST) -> bool:
    """Whether the end of a function is an assertion: one on the way may only please the type checker."""
    last = node.body[-1] if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else node
    return any(isinstance(one, ast.Assert) for one in ast.walk(last))


def code() -> Iterator[tuple[str, str]]:
    return ((path, text) for path, text in tracked_texts() if path.endswith(".py") and path.startswith(_CHECKED))


def prose() -> Iterator[tuple[str, str]]:
    texts = ((path, text) for path, text in tracked_texts() if path.endswith(_TEXTS))
    return ((path, text) for path, text in texts if not path.startswith(_LEFT_OUT) and (ROOT / path).is_file())


def test_names_are_words_of_the_field() -> None:
    assert named_wrongly(code()) == []


def test_a_private_word_in_a_name_is_caught() -> None:
    source = "class ScopeShelf: ...\ndef open_door(row: int) -> None:\n    faces = 1\n"
    assert named_wrongly([("a.py", source)]) == [
        "a.py:1 ScopeShelf: say cache",
        "a.py:2 open_door: say authorizer",
    ]


def test_prose_is_plain() -> None:
    assert written_wrongly(prose()) == []


def test_an_image_in_prose_is_caught() -> None:
    text = "The heart is read anew.\nA strange-table, an outdoor interface.\nHouse rules hold for good."
    assert written_wrongly([("a.md", text)]) == [
        "a.md:1 heart: say core library",
        "a.md:1 anew: say again",
        "a.md:3 House rules: say architecture tests",
        "a.md:3 for good: say permanently",
    ]


def test_helpers_that_assert_say_so() -> None:
    assert unnamed_assertions(one for one in code() if one[0].startswith("tests/")) == []


def test_a_helper_that_asserts_under_another_name_is_caught() -> None:
    source = "def check(found: int) -> None:\n    assert found\ndef count() -> int:\n    assert 1\n    return 1\n"
    assert unnamed_assertions([("a.py", source)]) == ["a.py:1 check"]
