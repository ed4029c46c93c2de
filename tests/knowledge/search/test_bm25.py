"""BM25 across scopes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from knowledge.scopes import Scope
from knowledge.search.analysis import AnalyzedQuery
from knowledge.search.bm25 import K1, B, CandidatePool, RescoredPools, count_terms, rescore, score_in_own_scope
from knowledge.store.revision import Retrieved

ANA = Scope("owner", "ana")
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


def rescore_all(
    pools: Sequence[CandidatePool], words: Sequence[tuple[str, ...]], repeats: Sequence[int] = ()
) -> RescoredPools:
    query = make_query(words, repeats)
    return rescore([count_terms(each, query.terms) for each in pools], query)


def pool_of_items(texts: Sequence[tuple[str, str]], chars: Mapping[str, int], scope: Scope = ANA) -> CandidatePool:
    """A complete pool of passages, each given by its item and its terms, with the same score of the index."""
    hits = [Retrieved(scope, item, at, 1.0, terms, chars[item]) for at, (item, terms) in enumerate(texts)]
    return CandidatePool(tuple(hits), len(hits), complete=True)


def large_corpus() -> list[list[str]]:
    """5,000 texts: beta in every second, alpha in every 500th, gamma nowhere."""
    filler = [f"word{number}" for number in range(97)]
    return [
        [filler[number % 97], filler[number * 7 % 97], filler[number * 11 % 97]]
        + (["beta"] if number % 2 == 0 else [])
        + (["alpha"] if number % 500 == 0 else [])
        for number in range(5000)
    ]


def make_query(words: Sequence[tuple[str, ...]], repeats: Sequence[int] = ()) -> AnalyzedQuery:
    terms = tuple(dict.fromkeys(term for word in words for term in word))
    return AnalyzedQuery(tuple(words), terms, tuple(map(str, words)), tuple(repeats or [1] * len(words)))


def test_a_passage_that_is_its_item_has_the_bm25_of_its_terms() -> None:
    corpus = [["alpha", "beta"], ["beta", "x"], ["none", "x"]]
    mine = pool_of(ANA, corpus, 10)
    mine = replace(mine, hits=tuple(hit._replace(item_chars=8) for hit in mine.hits))
    idf = idfs(corpus, ["alpha", "beta"])
    expected = [bm25(corpus[0], idf, 2), bm25(corpus[1], idf, 2)]
    assert rescore_all([mine], WORDS[:2]).scores[0] == pytest.approx(expected)


def test_further_terms_of_a_word_count_half() -> None:
    texts = [("a", "alpha beta"), ("b", "alpha x"), ("c", "beta x")]
    pool = pool_of_items(texts, dict.fromkeys("abc", 10))
    both, alpha, beta = rescore_all([pool], [("alpha", "beta")]).scores[0]
    assert alpha == beta
    assert both == pytest.approx(1.5 * alpha)


def test_a_passage_counts_half_and_what_the_pool_holds_of_its_item_the_other_half() -> None:
    spread = [("spread", "alpha x x x"), ("spread", "beta x x x"), ("single", "alpha x x x"), ("other", "beta x x x")]
    chars = {"spread": 100, "single": 100, "other": 100}
    first, second, third, fourth = rescore_all([pool_of_items(spread, chars)], WORDS[:2]).scores[0]
    assert first == second > third == fourth > 0.5
    longer = rescore_all([pool_of_items(spread, {**chars, "spread": 10_000})], WORDS[:2]).scores[0]
    assert longer[0] < longer[2]


def test_a_repeated_word_counts_more_often() -> None:
    texts = [("a", "alpha x"), ("b", "beta x")]
    pool = pool_of_items(texts, {"a": 10, "b": 10})
    once, twice = rescore_all([pool], WORDS[:2]), rescore_all([pool], WORDS[:2], (2, 1))
    assert once.scores[0][0] == once.scores[0][1]
    assert twice.scores[0][0] == pytest.approx(2 * twice.scores[0][1])
    assert twice.ideal_score == pytest.approx(1.5 * once.ideal_score)


def test_shown_scores_are_by_the_statistics_of_the_own_scope() -> None:
    notes = pool_of(ANA, [["alpha", "beta"], ["beta"], ["none"]], 10)
    team = pool_of(Scope("team", "big"), large_corpus(), 128)
    query = make_query(WORDS)
    for pool in (notes, team):
        (scores,) = rescore_all([pool], WORDS).scores
        shown = [hit.passage for hit in pool.hits[:2]]
        alone = score_in_own_scope(count_terms(pool, query.terms), query, shown)
        assert alone == dict(zip(shown, scores[:2], strict=True))


def test_a_perfect_hit_among_few_notes_beats_partial_hits_among_thousands() -> None:
    notes = [["alpha", "beta", "gamma", "note"], *[["beta", "other", "note"]] * 19]
    mine, team = (
        pool_of(ANA, notes, 128),
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
    mine = pool_of(ANA, [["alpha"], ["beta"], ["beta"], ["x"]], 10)
    plain = rescore_all([mine], [("alpha",)]).ideal_score
    assert rescore_all([mine], [("alpha", "unknown-stem")]).ideal_score == plain
    assert rescore_all([mine], [("missing",)]).ideal_score > plain
    assert rescore_all([mine], []).ideal_score == 0
