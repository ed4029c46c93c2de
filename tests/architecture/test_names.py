"""Words of the field: names and prose that an engineer would search for, and no private word."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import Final

from tests.architecture.source import ROOT, tracked_texts

PARTS: Final = {
    "heart": "core library",
    "face": "server or publisher",
    "shelf": "cache",
    "door": "authorizer, or the function's entry",
    "house": "architecture",
    "workshop": "collections_dataset",
    "contestant": "worker",
    "journal": "call_log",
    "catalogue": "tool_definition",
    "exchange": "http_messages",
    "guards": "request_validation",
    "judgment": "qrels",
    "judgments": "qrels",
    "disagreement": "Inconsistencies",
    "strays": "orphan_passages",
    "strange": "unknown",
    "anew": "again",
    "told": "reported",
    "knock": "call",
    "signpost": "metadata",
    "about": "metadata_json",
    "described": "metadata_json",
}
"""Words that no name, of a module up to a variable, may have for a part, and what to say instead."""

WHOLE: Final = {
    "held": "CachedScope",
    "hold": "load_scope",
    "most_held": "cache_row_limit",
    "place": "row_address",
    "question": "AnalyzedQuery",
    "found": "ScopeCandidates",
    "pool": "CandidatePool",
    "counted": "TermCounts",
    "comparable": "RescoredPools",
    "evidence": "query coverage",
    "floor": "cutoff score",
    "possible": "ideal score",
    "asked": "prepared_query",
    "begun": "start_embedding",
    "together": "gather_all",
    "both": "gather_pair",
    "common_part": "mean_centering",
    "settle": "reconcile",
    "looked_back": "detect_overwrite",
    "take_out": "archive_items",
    "keep_quick": "optimize_if_needed",
    "admit": "validate_request",
    "judged": "qrels",
    "measures": "metrics",
    "sweep_picture": "alpha_plot",
    "outline": "markdown_blocks",
    "problems": "file_errors",
    "bare": "baseline",
}
"""Names that no module, function or class may have: one word for several things, a participle or an image."""

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
    "hears": "gets or is called",
    "knocks": "calls",
    "walls": "isolation layers",
    "workshop": "what the module does",
    "contestant": "alternative or worker",
    "signpost": "metadata API",
    "blanks": "spaces or whitespace",
}
"""Words that no prose may have: the image and the private word, and what to say instead."""

_PART: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PROSE: Final = re.compile(rf"(?<![\w-])({'|'.join(PROSE)})(?![\w-])".replace(" ", r"\s(?:[ #]*)"), re.IGNORECASE)
_CHECKED: Final = ("functions/", "layers/", "tools/", "benchmarks/", "tests/")
_TEXTS: Final = (".md", ".mjs", ".py", ".sh", ".toml", ".yaml", ".yml", "Makefile", ".ci/run")
_DEFINITION: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
# This file quotes the words; texts of the sample base and lists of words say what they say.
_LEFT_OUT: Final = ("tests/architecture/test_names.py", "examples/", "layers/knowledge/knowledge/search/stop_words.py")

_IRREGULAR: Final = re.compile(
    "begun|bought|brought|built|caught|chosen|done|drawn|felt|found|given|gone|got|heard|held|kept|known|led|left|lost|"
    "made|meant|met|paid|said|seen|sent|shown|sold|spent|spoken|stood|taken|thought|told|understood|written"
)
_VERBS_IN_ED: Final = frozenset(("embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed"))
_VALUES: Final = ("property", "fixture")
"""Decorators after which a function's name is that of a value."""


def identifiers(source: str) -> Iterator[tuple[int, str, bool]]:
    """Names that a module defines; those of functions and classes are definitions."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _DEFINITION):
            yield node.lineno, node.name, True
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg, False
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id, False
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr, False


def named_wrongly(files: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{path}:{line} {name}: say {instead}"
        for path, text in files
        for line, name, is_definition in ((1, PurePosixPath(path).stem, True), *identifiers(text))
        if (instead := _instead_of(name, is_definition=is_definition))
    ]


def _instead_of(name: str, *, is_definition: bool) -> str | None:
    parts = [part.lower() for part in _PART.findall(name)]
    if name.startswith("test_"):  # a sentence
        return next((PROSE[part] for part in parts if part in PROSE), None)
    whole = WHOLE.get("_".join(parts)) if is_definition else None
    return whole or next((PARTS[part] for part in parts if part in PARTS), None)


def bare_participles(files: Iterable[tuple[str, str]]) -> list[str]:
    """Functions called by a participle alone: whether that is a value, a question or a command is left open."""
    return [
        f"{path}:{node.lineno} {node.name}"
        for path, text in files
        for node in ast.walk(ast.parse(text))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and _is_participle(node.name.strip("_"))
        if not any(word in ast.unparse(decorator) for decorator in node.decorator_list for word in _VALUES)
    ]


def _is_participle(name: str) -> bool:
    return bool(_IRREGULAR.fullmatch(name)) or (name.isalpha() and name.endswith("ed") and name not in _VERBS_IN_ED)


def written_wrongly(files: Iterable[tuple[str, str]]) -> list[str]:
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1} {word}: say {PROSE[word.lower()]}"
        for path, text in files
        for match in _PROSE.finditer(text)
        for word in [" ".join(re.findall(r"\w+", match.group()))]
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
    source = "class ScopeShelf: ...\ndef open_door(pool: int) -> None:\n    faces = 1\ndef _asked(): ...\n"
    assert named_wrongly([("a.py", source), ("knowledge/journal.py", ""), ("outline.py", "")]) == [
        "a.py:1 ScopeShelf: say cache",
        "a.py:2 open_door: say authorizer, or the function's entry",
        "a.py:4 _asked: say prepared_query",
        "knowledge/journal.py:1 journal: say call_log",
        "outline.py:1 outline: say markdown_blocks",
    ]


def test_functions_are_not_called_by_a_participle() -> None:
    assert bare_participles(code()) == []


def test_a_participle_as_a_function_s_name_is_caught() -> None:
    source = "def _opened(): ...\ndef told(): ...\ndef embed(): ...\n@pytest.fixture\ndef published(): ...\n"
    assert bare_participles([("a.py", source)]) == ["a.py:1 _opened", "a.py:2 told"]


def test_prose_is_plain() -> None:
    assert written_wrongly(prose()) == []


def test_an_image_in_prose_is_caught() -> None:
    text = "The heart is read anew.\nA strange-table, an outdoor interface.\nHouse rules hold # for\n    # good."
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
