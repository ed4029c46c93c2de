"""Ranked search in three steps: retrieve the candidates of every scope, fuse them into ranked items, show the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from knowledge.errors import StorageUnavailableError
from knowledge.results import Scores, SearchAnswer, SearchHit
from knowledge.search.analyzers import ANALYZERS
from knowledge.search.bm25 import score_in_own_scope
from knowledge.search.fusion import fuse
from knowledge.search.retrieval import retrieve
from knowledge.store.concurrency import gather_all
from knowledge.store.revision import is_readable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from knowledge.embedding.base import Vectors
    from knowledge.requests import SearchRequest
    from knowledge.search.excerpts import Excerpt
    from knowledge.search.fusion import Ranked
    from knowledge.search.retrieval import ScopeCandidates
    from knowledge.store.revision import Head, PassageRow, Retrieved
    from knowledge.store.snapshot import Snapshot

    Extract = Callable[[str], Excerpt]
    KnownExcerpts = dict[tuple[object, str, frozenset[str]], Excerpt]
    Passage = tuple[str, int]
    Shown = tuple[dict[str, Head], dict[Passage, PassageRow]]


async def search(
    snapshots: Sequence[Snapshot], request: SearchRequest, vector: asyncio.Future[Vectors] | None
) -> SearchAnswer:
    """Answer a request over one snapshot of each scope that the caller may read and that has any knowledge.

    `vector` is the query's, possibly still being computed, and `None` where the request's mode has no semantic side.
    """
    return await compose_answer(await retrieve(snapshots, request, vector), request)


async def compose_answer(candidates: Sequence[ScopeCandidates], request: SearchRequest) -> SearchAnswer:
    """Fuse and show what was retrieved; the request's mode may use fewer sides than were searched."""
    ranked = fuse(candidates, request.mode, request.alpha)
    hits = await show(candidates, ranked, request.max_results)
    return SearchAnswer(request.mode, request.alpha if request.mode == "hybrid" else None, tuple(hits))


async def show(candidates: Sequence[ScopeCandidates], ranked: Sequence[Ranked], limit: int) -> list[SearchHit]:
    """The first ranked items that are readable, with their texts; raises `StorageUnavailableError` for a lost text."""
    passages = _by_passage(candidates)
    known: KnownExcerpts = {}
    extract = {scope.snapshot.scope: _choose_extract(scope, known) for scope in candidates}
    hits: list[SearchHit] = []
    for chunk in _chunks(ranked, limit):
        retrieved = [passages[one.candidate.passage] for one in chunk]
        shown, raw = await _load(candidates, retrieved), _score_lexical(candidates, retrieved)
        found = zip(chunk, retrieved, strict=True)
        hits += [hit for one, its in found if (hit := _hit(one, its, shown, raw, extract[its.scope])) is not None]
        if len(hits) >= limit:
            break
    return hits[:limit]


def _chunks(ranked: Sequence[Ranked], size: int) -> Iterator[Sequence[Ranked]]:
    return (ranked[start : start + size] for start in range(0, len(ranked), size))


def _by_passage(candidates: Sequence[ScopeCandidates]) -> dict[Passage, Retrieved]:
    """Candidates by passage."""
    semantic = {hit.passage: hit for scope in candidates for hit in scope.semantic}
    return {**semantic, **{hit.passage: hit for scope in candidates for hit in scope.lexical.pool.hits}}


def _score_lexical(candidates: Sequence[ScopeCandidates], hits: Sequence[Retrieved]) -> dict[Passage, float]:
    """The lexical side's raw scores of what it found, each by the statistics of its own scope."""
    found: dict[Passage, float] = {}
    for scope in candidates:
        own = {hit.passage for hit in hits if hit.scope == scope.snapshot.scope}
        found.update(score_in_own_scope(scope.lexical, scope.query, own) if own else {})
    return found


async def _load(candidates: Sequence[ScopeCandidates], hits: Sequence[Retrieved]) -> Shown:
    """Heads of readable items, and the passages' texts, from all scopes in parallel."""
    by_scope = [(scope, [hit for hit in hits if hit.scope == scope.snapshot.scope]) for scope in candidates]
    parts = await gather_all(_load_from(scope, own) for scope, own in by_scope if own)
    heads = {item: head for part, _ in parts for item, head in part.items()}
    return heads, {key: row for _, part in parts for key, row in part.items()}


async def _load_from(scope: ScopeCandidates, hits: Sequence[Retrieved]) -> Shown:
    heads, texts = await scope.snapshot.read_hits(hits)
    archived = scope.archived_bases
    readable = {item: head for item, head in heads.items() if is_readable(head.state, head.revision.base_id, archived)}
    return readable, texts


def _choose_extract(scope: ScopeCandidates, known: KnownExcerpts) -> Extract:
    """How texts of a scope are shown; a text that several teams have published is looked at once."""
    extract = ANALYZERS[max(scope.snapshot.analyzer_versions)].extract_excerpt
    terms = frozenset(scope.query.terms)

    def choose(text: str) -> Excerpt:
        key = (extract, text, terms)
        if key not in known:
            known[key] = extract(text, terms)
        return known[key]

    return choose


def _hit(
    ranked: Ranked, retrieved: Retrieved, shown: Shown, lexical: Mapping[Passage, float], extract: Extract
) -> SearchHit | None:
    heads, texts = shown
    head, row = heads.get(retrieved.item_id), texts.get(retrieved.passage)
    if head is None:
        return None
    if row is None:
        # Retrieved from the same version, so it must exist.
        raise StorageUnavailableError
    if row.revision_id != head.revision.revision_id:
        return None
    excerpt = extract(row.text)
    raw = None if ranked.lexical_rank is None else lexical[retrieved.passage]
    scores = Scores(ranked.score, raw, ranked.candidate.semantic, ranked.lexical_rank, ranked.semantic_rank)
    return SearchHit(head.revision, excerpt.text, row.start + excerpt.offset, row.heading, scores)
