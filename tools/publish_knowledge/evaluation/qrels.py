"""Questions and judgments to measure with: `queries.jsonl` and `qrels.tsv` in one folder.

A line of `queries.jsonl` is an object with `id` and `text` (and `lang`, for people); a line of `qrels.tsv` has a
question's id, a document's and a grade, separated by tabs: 0 for a document that does not help, more for a better one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

QUERIES: Final = "queries.jsonl"
QRELS: Final = "qrels.tsv"

_COLUMNS: Final = 3
_NAMED: Final = 3
"""Ids named in a message; more would hide its end."""


class JudgmentsError(ValueError):
    """A folder that cannot be measured with; the message names the file, the line and what to do."""


@dataclass(frozen=True, slots=True)
class Query:
    """One question, and the grades of documents by the ids that the file gives them."""

    id: str
    text: str
    language: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Judgments:
    """The questions with at least one helpful document, in the file's order, and the ids of those without."""

    queries: tuple[Query, ...]
    unjudged: tuple[str, ...]

    def documents(self) -> tuple[str, ...]:
        """Ids of all documents judged, each once."""
        return tuple(dict.fromkeys(document for query in self.queries for document in query.grades))


def read_judgments(folder: Path) -> Judgments:
    """Read both files; raises `JudgmentsError`."""
    grades = _grades(folder / QRELS)
    asked = _queries(folder / QUERIES)
    strangers = [query_id for query_id in grades if query_id not in asked]
    if strangers:
        raise JudgmentsError(f"{QRELS} judges questions that {QUERIES} does not have: {named(strangers)}.")
    queries = [
        Query(query_id, text, language, grades.get(query_id, {})) for query_id, (text, language) in asked.items()
    ]
    judged = [query for query in queries if any(query.grades.values())]
    if not judged:
        raise JudgmentsError(f"No question of {QUERIES} has a helpful document in {QRELS}: nothing can be measured.")
    return Judgments(tuple(judged), tuple(query.id for query in queries if query not in judged))


def named(ids: list[str] | tuple[str, ...]) -> str:
    """The first few of many ids."""
    more = f" and {len(ids) - _NAMED} more" if len(ids) > _NAMED else ""
    return ", ".join(ids[:_NAMED]) + more


def _queries(file: Path) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for place, line in _lines(file):
        record = _record(place, line)
        query_id, text = record.get("id"), record.get("text")
        if not isinstance(query_id, str) or not isinstance(text, str) or not query_id.strip() or not text.strip():
            raise JudgmentsError(f"{place}: expected an `id` and a `text`, both strings that are not blank.")
        if query_id in found:
            raise JudgmentsError(f"{place}: the id {query_id!r} is taken by an earlier line.")
        found[query_id] = (text, str(record.get("lang") or ""))
    return found


def _record(place: str, line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise JudgmentsError(f"{place}: not JSON ({error}).") from None
    if not isinstance(record, dict):
        raise JudgmentsError(f"{place}: expected a JSON object with `id` and `text`.")
    return record


def _grades(file: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for place, line in _lines(file):
        columns = line.split("\t")
        if len(columns) != _COLUMNS or not columns[2].strip().isdecimal():
            raise JudgmentsError(f"{place}: expected question id, document id and a whole grade, separated by tabs.")
        query_id, document, grade = columns
        found.setdefault(query_id, {})[document] = int(grade)
    return found


def _lines(file: Path) -> Iterator[tuple[str, str]]:
    """Lines that are not blank, each with the place to name in a message."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise JudgmentsError(f"{file.parent} has no {file.name}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise JudgmentsError(f"{file} cannot be read as UTF-8: {error}.") from None
    # Not `splitlines`: JSON may hold separators that it takes for ends of lines.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{file.name}, line {number}", line.rstrip("\r")
