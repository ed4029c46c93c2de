"""Retrieval, the first step of a search: the candidates of both sides from each of the caller's scopes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from knowledge.embedding.base import embedding_faults
from knowledge.errors import ResourceUnavailableError
from knowledge.requests import LEXICAL_MODES, MAX_RESULTS
from knowledge.search.analyzers import analyze_query_for
from knowledge.search.bm25 import CandidatePool, TermCounts, count_terms
from knowledge.store.concurrency import gather_all, gather_pair

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from knowledge.embedding.base import Vectors
    from knowledge.requests import SearchRequest
    from knowledge.search.analysis import AnalyzedQuery
    from knowledge.store.revision import Retrieved
    from knowledge.store.snapshot import Snapshot

    Side = Callable[[Sequence[str], int], Awaitable[list[Retrieved]]]

POOL_DEPTH: Final = 128
"""Passages that each side returns first; fixed, so that the first k results are the same for every k."""

DEEPENING: Final = 4
"""Growth of the depth while a few long items fill the pool."""

MAX_CANDIDATES: Final = 6_400
"""Most passages that one side returns from all scopes of a call, if they are deepened: as many as 50 scopes return that
are not. Each takes our own processor time, and memory for its terms."""


@dataclass(frozen=True, slots=True)
class ScopeCandidates:
    """What both sides found in one scope, its archived bases, and whether the requested base is visible in it.

    `query` is what the lexical side was asked, by the analyzer of the scope's terms.
    """

    snapshot: Snapshot
    query: AnalyzedQuery
    lexical: TermCounts
    semantic: tuple[Retrieved, ...]
    archived_bases: frozenset[str]
    base_visible: bool


def start_embedding(query: str, embed: Callable[[str], Vectors]) -> asyncio.Future[Vectors]:
    """Start to embed a query in a thread; the future raises `StorageUnavailableError` where the model fails.

    The caller cancels it when the search has ended, successfully or not.
    """
    vector = asyncio.get_running_loop().run_in_executor(None, _embed, query, embed)
    # A search that fails first never awaits its vector; the loop would report an exception that nobody retrieved.
    vector.add_done_callback(lambda done: done.cancelled() or done.exception())
    return vector


async def retrieve(
    snapshots: Sequence[Snapshot], request: SearchRequest, vector: asyncio.Future[Vectors] | None
) -> list[ScopeCandidates]:
    """Search all scopes in parallel, on the sides that the request's mode uses; `vector` may be `None` in lexical mode.

    Each scope is asked by the analyzer that its terms were made by.

    Any failure fails the whole search, because a partial answer would be wrong. Raises `ResourceUnavailableError` where
    the requested base is visible in no scope.
    """
    versions = {snapshot.analyzer_versions for snapshot in snapshots}
    queries = {each: analyze_query_for(each, request.query) for each in versions}
    most = MAX_CANDIDATES // max(1, len(snapshots))
    found = await gather_all(
        _retrieve_from(snapshot, request, queries[snapshot.analyzer_versions], vector, most) for snapshot in snapshots
    )
    if request.base_id and not any(scope.base_visible for scope in found):
        raise ResourceUnavailableError
    return found


def _embed(query: str, embed: Callable[[str], Vectors]) -> Vectors:
    with embedding_faults():
        return embed(query)


async def _retrieve_from(
    snapshot: Snapshot, request: SearchRequest, query: AnalyzedQuery, vector: asyncio.Future[Vectors] | None, most: int
) -> ScopeCandidates:
    if request.base_id and not await _is_visible(snapshot, request.base_id):
        # Not searched: an archived base, which still has passages, would cost more than one that does not exist.
        nothing = count_terms(CandidatePool((), 0, complete=True), query.terms)
        return ScopeCandidates(snapshot, query, nothing, (), await snapshot.archived_bases(), base_visible=False)
    (lexical, semantic), archived = await gather_pair(
        gather_pair(
            _search_lexical(snapshot, request, query, most), _search_semantic(snapshot, request.base_id, vector, most)
        ),
        snapshot.archived_bases(),
    )
    return ScopeCandidates(snapshot, query, lexical, semantic, archived, base_visible=True)


async def _is_visible(snapshot: Snapshot, base_id: str) -> bool:
    return await snapshot.has_published(base_id) and base_id not in await snapshot.archived_bases()


async def _search_lexical(snapshot: Snapshot, request: SearchRequest, query: AnalyzedQuery, most: int) -> TermCounts:
    if request.mode not in LEXICAL_MODES or not query.terms:
        return count_terms(CandidatePool((), 0, complete=True), query.terms)
    joined = " ".join(query.terms)

    async def side(exclude: Sequence[str], limit: int) -> list[Retrieved]:
        return await snapshot.search_lexical(joined, request.base_id, exclude, limit)

    passages, hits = await gather_pair(snapshot.count_passages(), _deepen(side, most))
    # Counted here, while the semantic side is still being searched.
    return count_terms(CandidatePool(hits, passages, complete=len(hits) < POOL_DEPTH), query.terms)


async def _search_semantic(
    snapshot: Snapshot, base_id: str, vector: asyncio.Future[Vectors] | None, most: int
) -> tuple[Retrieved, ...]:
    if vector is None:
        return ()
    # Shielded: one scope that fails must not cancel the vector that the others wait for.
    embedded = await asyncio.shield(vector)

    async def side(exclude: Sequence[str], limit: int) -> list[Retrieved]:
        return await snapshot.search_semantic(embedded, base_id, exclude, limit)

    return await _deepen(side, most)


async def _deepen(side: Side, most: int) -> tuple[Retrieved, ...]:
    """Search again, without the items already found, until there are enough items, no more passages, or `most` hits."""
    hits: list[Retrieved] = []
    items: set[str] = set()
    depth = POOL_DEPTH
    while True:
        more = await side(sorted(items), depth)
        hits += more
        items.update(hit.item_id for hit in more)
        if len(more) < depth or len(items) >= MAX_RESULTS or len(hits) >= most:
            return tuple(hits)
        depth = min(depth * DEEPENING, most - len(hits))
