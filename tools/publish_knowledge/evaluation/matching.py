"""Match the document ids of a qrels file with published items: by source path, item id, or front matter id."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from knowledge.scopes import Scope
from knowledge.store.schema import item_id
from publish_knowledge.evaluation.qrels import Qrels, QrelsError
from publish_knowledge.evaluation.runs import JudgedQuery
from publish_knowledge.sources.documents import derive_item_source


@dataclass(frozen=True, slots=True)
class PublishedItem:
    """A published item, with all that a document id may refer to."""

    scope: Scope
    base_id: str
    item_id: str
    source_path: str


@dataclass(frozen=True, slots=True)
class MatchedQrels:
    """Queries with their grades by item id, and the document ids that match no item.

    Such a document keeps its grade, under an id that no item has: it should have been found.
    """

    queries: tuple[JudgedQuery, ...]
    unknown: tuple[str, ...]


def match_items(qrels: Qrels, items: Collection[PublishedItem]) -> MatchedQrels:
    """Find the items of the judged documents; raises `QrelsError` for an id that matches several items."""
    found = {document: _find_item(document, items) for document in qrels.documents()}
    queries = [JudgedQuery(query.id, query.text, _map_grades(query.grades, found)) for query in qrels.queries]
    return MatchedQrels(tuple(queries), tuple(document for document, item in found.items() if item is None))


def _map_grades(grades: Mapping[str, int], found: Mapping[str, str | None]) -> dict[str, int]:
    by_item: dict[str, int] = {}
    for document, grade in grades.items():
        item = found[document] or f"missing:{document}"
        by_item[item] = max(grade, by_item.get(item, 0))
    return by_item


def _find_item(document: str, items: Collection[PublishedItem]) -> str | None:
    by_path = [item for item in items if item.source_path == document]
    if len(by_path) > 1:
        raise QrelsError(_explain_ambiguity(document, by_path))
    if by_path:
        return by_path[0].item_id
    ids = {item.item_id for item in items}
    named = {document, *_list_front_matter_items(document, items)} & ids
    if len(named) > 1:
        raise QrelsError(_explain_ambiguity(document, [item for item in items if item.item_id in named]))
    return next(iter(named), None)


def _list_front_matter_items(identity: str, items: Iterable[PublishedItem]) -> set[str]:
    source = derive_item_source("", identity)
    return {item_id(scope, base_id, source) for scope, base_id in {(item.scope, item.base_id) for item in items}}


def _explain_ambiguity(document: str, items: Iterable[PublishedItem]) -> str:
    places = ", ".join(sorted(f"{item.base_id} of {item.scope.name}" for item in items))
    return f"The document id {document!r} names several items: in {places}. Give --base, or judge by item ids."
