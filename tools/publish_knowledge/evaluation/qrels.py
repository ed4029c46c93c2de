"""Read queries and relevance judgments (qrels) from `queries.jsonl` and `qrels.tsv` in one folder.

A line of `queries.jsonl` is an object with `id` and `text` (and `lang`, for people). A line of `qrels.tsv` has the id
of a query, the id of a document and a grade, separated by tabs: 0 is irrelevant, and more is more relevant.
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
_LISTED: Final = 3
"""Ids listed in a message; more would hide its end."""


class QrelsError(ValueError):
    """A folder that cannot be used for an evaluation; the message names the file, the line and the remedy."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query, and the grades of documents by the ids that the file uses."""

    id: str
    text: str
    language: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Qrels:
    """The queries with at least one relevant document, in the file's order, and the ids of those without."""

    queries: tuple[Query, ...]
    unjudged: tuple[str, ...]

    def documents(self) -> tuple[str, ...]:
        """Ids of all judged documents, each once."""
        return tuple(dict.fromkeys(document for query in self.queries for document in query.grades))


def read_qrels(folder: Path) -> Qrels:
    """Read both files of a folder; raises `QrelsError`."""
    grades = _read_grades(folder / QRELS)
    queries = _read_queries(folder / QUERIES)
    unknown = [query_id for query_id in grades if query_id not in queries]
    if unknown:
        raise QrelsError(f"{QRELS} judges questions that {QUERIES} does not have: {list_some(unknown)}.")
    every = [
        Query(query_id, text, language, grades.get(query_id, {})) for query_id, (text, language) in queries.items()
    ]
    judged = [query for query in every if any(query.grades.values())]
    if not judged:
        raise QrelsError(f"No question of {QUERIES} has a helpful document in {QRELS}: nothing can be measured.")
    return Qrels(tuple(judged), tuple(query.id for query in every if query not in judged))


def list_some(ids: list[str] | tuple[str, ...]) -> str:
    """The first few of many ids, for a message."""
    more = f" and {len(ids) - _LISTED} more" if len(ids) > _LISTED else ""
    return ", ".join(ids[:_LISTED]) + more


def _read_queries(file: Path) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for position, line in _read_lines(file):
        record = _parse_record(position, line)
        query_id, text = record.get("id"), record.get("text")
        if not isinstance(query_id, str) or not isinstance(text, str) or not query_id.strip() or not text.strip():
            raise QrelsError(f"{position}: expected an `id` and a `text`, both strings that are not blank.")
        if query_id in found:
            raise QrelsError(f"{position}: the id {query_id!r} is taken by an earlier line.")
        found[query_id] = (text, str(record.get("lang") or ""))
    return found


def _parse_record(position: str, line: str) -> Mapping[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise QrelsError(f"{position}: not JSON ({error}).") from None
    if not isinstance(record, dict):
        raise QrelsError(f"{position}: expected a JSON object with `id` and `text`.")
    return record


def _read_grades(file: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for position, line in _read_lines(file):
        columns = line.split("\t")
        if len(columns) != _COLUMNS or not columns[2].strip().isdecimal():
            raise QrelsError(f"{position}: expected question id, document id and a whole grade, separated by tabs.")
        query_id, document, grade = columns
        found.setdefault(query_id, {})[document] = int(grade)
    return found


def _read_lines(file: Path) -> Iterator[tuple[str, str]]:
    """Lines that are not blank, each with its position for a message."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise QrelsError(f"{file.parent} has no {file.name}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise QrelsError(f"{file} cannot be read as UTF-8: {error}.") from None
    # Not `splitlines`: it also splits at separators that JSON strings may contain.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{file.name}, line {number}", line.rstrip("\r")
