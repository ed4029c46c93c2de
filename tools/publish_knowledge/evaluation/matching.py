"""From the document ids of a judgments file to items: by source path, by item id, or by front matter id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from knowledge.scopes import Scope
from knowledge.store.schema import item_id
from publish_knowledge.evaluation.qrels import Judgments, JudgmentsError
from publish_knowledge.evaluation.runs import JudgedQuery
from publish_knowledge.sources.documents import derive_item_source


@dataclass(frozen=True, slots=True)
class Item:
    """A published item, as far as it can be named."""

    scope: Scope
    base_id: str
    item_id: str
    source_path: str


@dataclass(frozen=True, slots=True)
class Judged:
    """Questions with their grades by item id, and the document ids that no item goes by.

    A document that is not there keeps its grade, under an id that no item has: it should have been found.
    """

    questions: tuple[JudgedQuery, ...]
    unknown: tuple[str, ...]


def judged(judgments: Judgments, items: Collection[Item]) -> Judged:
    """Find the items that are judged; raises `JudgmentsError` for an id that several items go by."""
    found = {document: _found(document, items) for document in judgments.documents()}
    questions = [JudgedQuery(query.id, query.text, _by_item(query.grades, found)) for query in judgments.queries]
    return Judged(tuple(questions), tuple(document for document, item in found.items() if item is None))


def _by_item(grades: Mapping[str, int], found: Mapping[str, str | None]) -> dict[str, int]:
    by_item: dict[str, int] = {}
    for document, grade in grades.items():
        item = found[document] or f"missing:{document}"
        by_item[item] = max(grade, by_item.get(item, 0))
    return by_item


def _found(document: str, items: Collection[Item]) -> str | None:
    by_path = [item for item in items if item.source_path == document]
    if len(by_path) > 1:
        raise JudgmentsError(_ambiguous(document, by_path))
    if by_path:
        return by_path[0].item_id
    ids = {item.item_id for item in items}
    named = {document, *_by_front_matter(document, items)} & ids
    if len(named) > 1:
        raise JudgmentsError(_ambiguous(document, [item for item in items if item.item_id in named]))
    return next(iter(named), None)


def _by_front_matter(identity: str, items: Iterable[Item]) -> set[str]:
    source = derive_item_source("", identity)
    return {item_id(scope, base_id, source) for scope, base_id in {(item.scope, item.base_id) for item in items}}


def _ambiguous(document: str, items: Iterable[Item]) -> str:
    places = ", ".join(sorted(f"{item.base_id} of {item.scope.name}" for item in items))
    return f"The document id {document!r} names several items: in {places}. Give --base, or judge by item ids."
