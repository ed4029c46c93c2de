"""The cache of words: its values are those of the function, its bytes stay below its limit."""

from __future__ import annotations

import sys
import tracemalloc

import pytest

from knowledge.search import analysis
from knowledge.search.word_cache import MAX_CACHE_BYTES, WordCache

WORDS = {
    "words": lambda number: f"word{number}",
    "long words": lambda number: f"{number}" * 40,
    "wide words": lambda number: f"𝒜{number}" * 20,
    "many terms": lambda number: f"{number}",
}


def spell(word: str) -> tuple[str, ...]:
    return (word, *(word[-length:] for length in range(1, 8)))


def test_a_word_is_computed_once() -> None:
    asked: list[str] = []

    def compute(word: str) -> tuple[str, ...]:
        asked.append(word)
        return (word,)

    cache = WordCache(compute)
    assert [cache["pump"], cache["valve"], cache["pump"]] == [("pump",), ("valve",), ("pump",)]
    assert asked == ["pump", "valve"]


@pytest.mark.parametrize("kind", WORDS)
def test_its_bytes_stay_below_the_limit_whatever_the_words_are(kind: str) -> None:
    limit = 1_000_000
    cache = WordCache(spell, limit)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(5_000):
            word = WORDS[kind](number)
            assert cache[word] == spell(word)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    held = sum(sys.getsizeof(part) for word, terms in cache.items() for part in (word, terms, *terms))
    assert held <= cache.bytes_held <= limit
    # The interpreter keeps some freed tuples for itself.
    assert after - before <= 2 * limit


def test_a_word_too_long_for_the_cache_is_not_kept() -> None:
    cache = WordCache(spell)
    assert cache["w" * 2_000] == spell("w" * 2_000)
    assert not cache


def test_a_full_cache_starts_over() -> None:
    cache = WordCache(spell, 3_000)
    for number in range(100):
        assert cache[f"{number}"] == spell(f"{number}")
    assert 0 < len(cache) < 100
    assert cache["7"] == spell("7")


def test_the_caches_of_the_analysis_have_a_known_total() -> None:
    caches = [found for found in vars(analysis)["_TEXT_WORDS"].values() if isinstance(found, WordCache)]
    assert len(caches) == 5
    assert len(caches) * MAX_CACHE_BYTES <= 40 * 1024 * 1024
