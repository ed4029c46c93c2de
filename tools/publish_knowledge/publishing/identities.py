"""Which item a document continues: the one that was published from its path, or from another path with the same text.

An item's id is a digest of the first path it had. So a path is looked up among the items that there are before an id is
computed from it: a file that was renamed keeps its item, and a new file at its old path gets another one. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import PurePosixPath
from typing import Final

from knowledge.scopes import Scope
from knowledge.store.schema import ARCHIVED, PUBLISHED, content_digest, item_id
from publish_knowledge.sources.documents import Document, normalize_path
from publish_knowledge.store.records import ItemHead

_DECLARED: Final = "id:"


@dataclass(slots=True)
class _Matching:
    """Documents that still need an item, in order of paths, and the items that have one."""

    scope: Scope
    base_id: str
    heads: Sequence[ItemHead]
    documents: dict[str, Document]
    taken: set[str]
    ids: dict[str, str] = field(default_factory=dict)

    def give(self, document: Document, item: str) -> None:
        self.taken.add(item)
        self.ids[document.source_path] = item
        del self.documents[document.source_path]

    def list_free(self, *, archived: bool) -> list[ItemHead]:
        """Items without a document, in the order in which they are preferred for a path."""
        free = (head for head in self.heads if head.item_id not in self.taken and (head.state == ARCHIVED) == archived)
        return sorted(free, key=self._rank)

    def _rank(self, head: ItemHead) -> tuple[bool, bool, str]:
        return head.state != PUBLISHED, head.item_id != self.derive(_path_of(head)), head.item_id

    def derive(self, path: str, number: int = 1) -> str:
        """The id that a path gives; a number keeps it apart where an item that has moved away has the first."""
        # No path holds a NUL.
        return item_id(self.scope, self.base_id, f"path:{path}" if number == 1 else f"path:{path}\0{number}")


def assign_items(
    scope: Scope,
    base_id: str,
    documents: Iterable[Document],
    heads: Sequence[ItemHead],
    *,
    reserved: Collection[str] = (),
    is_gone: Callable[[ItemHead], bool] | None = None,
) -> list[Document]:
    """Name the item of every document, in the order given; `heads` are those of all items of the base.

    An id that a document declares is its item's. The others continue the item that is published from their path, else,
    of the items that `is_gone` admits, one with the same text, else the archived item of their path, else none.
    Items in `reserved` are not continued.
    """
    given = [*documents]
    declared = {one.item_source: item_id(scope, base_id, one.item_source) for one in given if _declares_id(one)}
    others = {one.source_path: one for one in given if not _declares_id(one)}
    matching = _Matching(scope, base_id, heads, dict(sorted(others.items())), {*declared.values(), *reserved})
    _match_paths(matching, archived=False)
    if is_gone is not None:
        _match_texts(matching, [head for head in matching.list_free(archived=False) if is_gone(head)])
    _match_paths(matching, archived=True)
    _give_new_ids(matching)
    # Two documents with one path get one item, of which the publisher refuses the second.
    ids = [declared[one.item_source] if _declares_id(one) else matching.ids[one.source_path] for one in given]
    return [replace(one, item_id=item) for one, item in zip(given, ids, strict=True)]


def _declares_id(document: Document) -> bool:
    return document.item_source.startswith(_DECLARED)


def _match_paths(matching: _Matching, *, archived: bool) -> None:
    for head in matching.list_free(archived=archived):
        document = matching.documents.get(_path_of(head))
        if document is not None:
            matching.give(document, head.item_id)


def _match_texts(matching: _Matching, gone: Iterable[ItemHead]) -> None:
    """Pair what has the same text: under the same file name first, then in order of paths."""
    by_text: defaultdict[str, list[ItemHead]] = defaultdict(list)
    for head in sorted(gone, key=lambda head: (_path_of(head), head.item_id)):
        by_text[head.info.content_sha256].append(head)
    if not by_text:
        return
    moved = [(one, by_text.get(content_digest(one.text), [])) for one in matching.documents.values()]
    for is_same in (_has_same_name, _is_any):
        for document, heads in moved:
            same = [head for head in heads if is_same(head, document)]
            if same and document.source_path in matching.documents:
                heads.remove(same[0])
                matching.give(document, same[0].item_id)


def _has_same_name(head: ItemHead, document: Document) -> bool:
    return PurePosixPath(_path_of(head)).name == PurePosixPath(document.source_path).name


def _is_any(_head: ItemHead, _document: Document) -> bool:
    return True


def _give_new_ids(matching: _Matching) -> None:
    known: Collection[str] = {head.item_id for head in matching.heads}
    for document in [*matching.documents.values()]:
        ids: Iterator[str] = (matching.derive(document.source_path, number) for number in count(1))
        matching.give(document, next(one for one in ids if one not in known and one not in matching.taken))


def _path_of(head: ItemHead) -> str:
    return normalize_path(head.info.source_uri)
