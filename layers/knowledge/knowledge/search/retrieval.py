"""Candidates of both sides from the caller's scopes: every query of a search that comes before the fusion."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from knowledge.requests import MAX_RESULTS
from knowledge.search.analysis import query_terms
from knowledge.search.bm25 import Counted, Pool, count
from knowledge.store.concurrency import gather_all, gather_pair

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from knowledge.embedding.providers import Vectors
    from knowledge.requests import SearchRequest
    from knowledge.store.revision import Retrieved
    from knowledge.store.snapshot import Snapshot

    Side = Callable[[Sequence[str], int], Awaitable[list[Retrieved]]]

POOL_DEPTH: Final = 128
"""Passages asked of each side at first; fixed, so that the first k results are the same for every k."""

DEEPENING: Final = 4
"""Growth of the depth while a few long items crowd the pool."""

_LEXICAL_MODES: Final = frozenset({"hybrid", "lexical", "rrf"})
SEMANTIC_MODES: Final = frozenset({"hybrid", "semantic", "rrf"})


@dataclass(frozen=True, slots=True)
class Question:
    """A request with its words analysed and, where a semantic side is asked, its vector on the way."""

    request: SearchRequest
    words: list[tuple[str, ...]]
    vector: asyncio.Task[Vectors] | None


@dataclass(frozen=True, slots=True)
class Found:
    """One scope's passages; bases that are out of service; and whether the base asked for is here to be seen."""

    snapshot: Snapshot
    lexical: Counted
    semantic: tuple[Retrieved, ...]
    hidden_bases: frozenset[str]
    base_visible: bool


async def retrieve(snapshots: Sequence[Snapshot], question: Question) -> list[Found]:
    """Search all scopes side by side. Any failure fails the whole search: a part is not an answer."""
    return await gather_all(_search_scope(snapshot, question) for snapshot in snapshots)


async def _search_scope(snapshot: Snapshot, question: Question) -> Found:
    base_id = question.request.base_id
    await snapshot.prepare()
    sides, (hidden, visible) = await gather_pair(
        gather_pair(_lexical(snapshot, question), _semantic(snapshot, question)),
        gather_pair(snapshot.archived_bases(), _base_visible(snapshot, base_id)),
    )
    lexical, semantic = sides
    return Found(snapshot, lexical, semantic, hidden, visible and base_id not in hidden)


async def _base_visible(snapshot: Snapshot, base_id: str) -> bool:
    return not base_id or await snapshot.has_published(base_id)


async def _lexical(snapshot: Snapshot, question: Question) -> Counted:
    terms = " ".join(query_terms(question.words))
    base_id = question.request.base_id
    if question.request.mode not in _LEXICAL_MODES or not terms:
        return count(Pool((), 0, complete=True), question.words)

    async def side(exclude: Sequence[str], limit: int) -> list[Retrieved]:
        return await snapshot.lexical(terms, base_id, exclude, limit)

    passages, hits = await gather_pair(snapshot.passages(), _deepened(side))
    # Counted here, while the semantic side is still on its way.
    return count(Pool(hits, passages, complete=len(hits) < POOL_DEPTH), question.words)


async def _semantic(snapshot: Snapshot, question: Question) -> tuple[Retrieved, ...]:
    if question.vector is None:
        return ()
    # Shielded: one scope that fails must not cancel the vector that the others wait for.
    vector = await asyncio.shield(question.vector)

    async def side(exclude: Sequence[str], limit: int) -> list[Retrieved]:
        return await snapshot.semantic(vector, question.request.base_id, exclude, limit)

    return await _deepened(side)


async def _deepened(side: Side) -> tuple[Retrieved, ...]:
    """Ask further, without the items already found, until there are enough items or no more passages."""
    hits: list[Retrieved] = []
    items: set[str] = set()
    depth = POOL_DEPTH
    while True:
        more = await side(sorted(items), depth)
        hits += more
        items.update(hit.item_id for hit in more)
        if len(more) < depth or len(items) >= MAX_RESULTS:
            return tuple(hits)
        depth *= DEEPENING
