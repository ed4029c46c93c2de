"""BM25 across scopes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import pytest

from knowledge.scopes import Scope
from knowledge.search.bm25 import K1, B, CandidatePool, RescoredPools, count_terms, rescore
from knowledge.store.revision import Retrieved

WORDS = [("alpha",), ("beta",), ("gamma",)]


def idfs(corpus: list[list[str]], terms: list[str]) -> dict[str, float]:
    found = {term: sum(term in text for text in corpus) for term in terms}
    return {term: math.log(1 + (len(corpus) - count + 0.5) / (count + 0.5)) for term, count in found.items()}


def bm25(document: list[str], idf: dict[str, float], mean: float) -> float:
    norm = K1 * (1 - B + B * len(document) / mean)
    counts = Counter(document)
    return sum(weight * counts[term] * (K1 + 1) / (counts[term] + norm) for term, weight in idf.items())


def pool_of(scope: Scope, corpus: list[list[str]], depth: int) -> CandidatePool:
    idf = idfs(corpus, [term for word in WORDS for term in word])
    mean = sum(map(len, corpus)) / len(corpus)
    scored = [(bm25(text, idf, mean), number, text) for number, text in enumerate(corpus)]
    matching = sorted((one for one in scored if one[0] > 0), key=lambda one: (-one[0], one[1]))
    hits = tuple(
        Retrieved(scope, f"{scope.id}-{number}", 0, score, " ".join(text)) for score, number, text in matching[:depth]
    )
    return CandidatePool(hits, len(corpus), complete=len(matching) < depth)


def rescore_all(pools: Sequence[CandidatePool], words: Sequence[tuple[str, ...]]) -> RescoredPools:
    terms = list(dict.fromkeys(term for word in words for term in word))
    return rescore([count_terms(each, terms) for each in pools], words)


def large_corpus() -> list[list[str]]:
    """5,000 texts: beta in every second, alpha in every 500th, gamma nowhere."""
    filler = [f"word{number}" for number in range(97)]
    return [
        [filler[number % 97], filler[number * 7 % 97], filler[number * 11 % 97]]
        + (["beta"] if number % 2 == 0 else [])
        + (["alpha"] if number % 500 == 0 else [])
        for number in range(5000)
    ]


def test_one_scope_keeps_its_own_scores() -> None:
    mine = pool_of(Scope("owner", "ana"), [["alpha", "beta"], ["beta"], ["none"]], 10)
    empty = CandidatePool((), 900, complete=True)
    assert rescore_all([mine, empty], WORDS).scores == (tuple(hit.score for hit in mine.hits), ())


def test_a_perfect_hit_among_few_notes_beats_partial_hits_among_thousands() -> None:
    notes = [["alpha", "beta", "gamma", "note"], *[["beta", "other", "note"]] * 19]
    mine, team = (
        pool_of(Scope("owner", "ana"), notes, 128),
        pool_of(Scope("team", "big"), large_corpus(), 128),
    )
    assert mine.hits[0].score < team.hits[0].score
    own, theirs = rescore_all([mine, team], WORDS).scores
    assert own[0] > max(theirs)
    assert max(own[1:]) < max(theirs)


def test_what_an_incomplete_pool_hides_is_estimated_from_its_scores() -> None:
    corpus = large_corpus()
    full, whole = (pool_of(Scope("team", "big"), corpus, depth) for depth in (128, 9000))
    assert (full.complete, whole.complete) == (False, True)
    for word in WORDS:
        assert rescore_all([full], [word]).ideal_score == pytest.approx(
            rescore_all([whole], [word]).ideal_score, abs=0.5
        )


def test_the_ideal_score_counts_each_word_once_by_its_best_known_stem() -> None:
    mine = pool_of(Scope("owner", "ana"), [["alpha"], ["beta"], ["beta"], ["x"]], 10)
    plain = rescore_all([mine], [("alpha",)]).ideal_score
    assert rescore_all([mine], [("alpha", "unknown-stem")]).ideal_score == plain
    assert rescore_all([mine], [("missing",)]).ideal_score > plain
    assert rescore_all([mine], []).ideal_score == 0
