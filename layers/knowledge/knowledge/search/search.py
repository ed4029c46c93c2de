"""Ranked search: the caller's scopes side by side, both sides at once, passages fused, items answered."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from knowledge.errors import ResourceUnavailableError, StorageUnavailableError
from knowledge.results import Scores, SearchAnswer, SearchHit
from knowledge.search.analysis import query_terms, query_words
from knowledge.search.bm25 import compare
from knowledge.search.excerpts import excerpt
from knowledge.search.fusion import Candidate, Evidence, rank
from knowledge.search.retrieval import SEMANTIC_MODES, Question, retrieve
from knowledge.store.concurrency import gather_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from knowledge.embedding.providers import Vectors
    from knowledge.requests import SearchRequest
    from knowledge.search.fusion import Ranked
    from knowledge.search.retrieval import Found
    from knowledge.store.revision import Head, PassageRow, Retrieved
    from knowledge.store.snapshot import Snapshot

    Passage = tuple[str, int]
    Shown = tuple[dict[str, Head], dict[Passage, PassageRow]]

HAND_OVER_SECONDS: Final = 0.002
"""Longest wait for the embedding's thread; it takes a tenth of a millisecond, and longer only while all are busy."""


async def search(
    snapshots: Sequence[Snapshot], request: SearchRequest, embed: Callable[[str], Vectors]
) -> SearchAnswer:
    """Answer a request over one snapshot of each scope that the caller may read and that has any knowledge."""
    with asked(request, embed) as question:
        return await answer(snapshots, question)


@contextmanager
def asked(request: SearchRequest, embed: Callable[[str], Vectors]) -> Iterator[Question]:
    """A request's question, to be answered inside; its vector is on the way meanwhile, beside whatever is awaited."""
    semantic = request.mode in SEMANTIC_MODES
    vector = asyncio.ensure_future(_embedded(_begun(request.query, embed))) if semantic else None
    try:
        yield Question(request, query_words(request.query), vector)
    finally:
        if vector is not None and not vector.cancel() and not vector.cancelled():
            # Seen, though nobody may have waited for it: else the loop would complain.
            vector.exception()


async def answer(snapshots: Sequence[Snapshot], question: Question) -> SearchAnswer:
    """The answer over one snapshot of each scope."""
    request, found = question.request, await retrieve(snapshots, question)
    if request.base_id and not any(one.base_visible for one in found):
        raise ResourceUnavailableError
    alpha = request.alpha if request.mode == "hybrid" else None
    return SearchAnswer(request.mode, alpha, tuple(await _hits(found, question)))


def _begun(query: str, embed: Callable[[str], Vectors]) -> asyncio.Future[Vectors]:
    """The embedding, already going on in a thread.

    A new thread gets its turn when this one waits for something, which would be a tenth of a search later: so wait.
    """
    started = threading.Event()

    def work() -> Vectors:
        started.set()
        return embed(query)

    made = asyncio.get_running_loop().run_in_executor(None, work)
    started.wait(HAND_OVER_SECONDS)
    return made


async def _embedded(made: asyncio.Future[Vectors]) -> Vectors:
    try:
        return await made
    except Exception as error:
        raise StorageUnavailableError from error


def _fused(found: Sequence[Found], question: Question) -> list[Ranked]:
    pools = [one.lexical for one in found]
    comparable = compare(pools, question.words)
    lexical = {
        hit.passage: score
        for pool, scores in zip(pools, comparable.scores, strict=True)
        for hit, score in zip(pool.pool.hits, scores, strict=True)
    }
    semantic = {hit.passage: hit.score for one in found for hit in one.semantic}
    candidates = [Candidate(*key, lexical.get(key), semantic.get(key)) for key in lexical.keys() | semantic.keys()]
    evidence = Evidence(comparable.possible, comparable.floor)
    return rank(candidates, question.request.mode, question.request.alpha, evidence)


async def _hits(found: Sequence[Found], question: Question) -> list[SearchHit]:
    """The first ranked items that may be shown, with their texts."""
    wanted = question.request.max_results
    terms = frozenset(query_terms(question.words))
    passages = _by_passage(found)
    hits: list[SearchHit] = []
    for chunk in _chunks(_fused(found, question), wanted):
        shown = await _shown(found, [passages[_key(one)][0] for one in chunk])
        hits += [hit for one in chunk if (hit := _hit(one, passages[_key(one)], shown, terms)) is not None]
        if len(hits) >= wanted:
            break
    return hits[:wanted]


def _chunks(ranked: Sequence[Ranked], size: int) -> Iterator[Sequence[Ranked]]:
    return (ranked[start : start + size] for start in range(0, len(ranked), size))


def _key(ranked: Ranked) -> Passage:
    return (ranked.candidate.item_id, ranked.candidate.start)


def _by_passage(found: Sequence[Found]) -> dict[Passage, tuple[Retrieved, float | None]]:
    """What was retrieved, with the raw BM25 of its own scope."""
    semantic = {hit.passage: (hit, None) for one in found for hit in one.semantic}
    return {**semantic, **{hit.passage: (hit, hit.score) for one in found for hit in one.lexical.pool.hits}}


async def _shown(found: Sequence[Found], hits: Sequence[Retrieved]) -> Shown:
    """Heads that readers may see, and the texts, one wave over all scopes."""
    mine = [(one, [hit for hit in hits if hit.scope == one.snapshot.scope]) for one in found]
    parts = await gather_all(_shown_in(one, own) for one, own in mine if own)
    heads = {item: head for part, _ in parts for item, head in part.items()}
    return heads, {key: row for _, part in parts for key, row in part.items()}


async def _shown_in(found: Found, hits: Sequence[Retrieved]) -> Shown:
    heads, texts = await found.snapshot.shown(hits)
    visible = {
        item: head for item, head in heads.items() if head.published and head.revision.base_id not in found.hidden_bases
    }
    return visible, texts


def _hit(
    ranked: Ranked, retrieved: tuple[Retrieved, float | None], shown: Shown, terms: frozenset[str]
) -> SearchHit | None:
    found, raw = retrieved
    head, row = shown[0].get(found.item_id), shown[1].get(found.passage)
    if head is None:
        return None
    if row is None:
        # Retrieved from this very version, so it must be there.
        raise StorageUnavailableError
    if row.revision_id != head.revision.revision_id:
        return None
    part = excerpt(row.text, terms)
    scores = Scores(ranked.score, raw, ranked.candidate.semantic, ranked.lexical_rank, ranked.semantic_rank)
    return SearchHit(head.revision, part.text, row.start + part.offset, row.heading, scores)
