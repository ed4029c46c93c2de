"""The versions of the analyzer: how a scope's terms were made, and so how it is asked.

Publishing writes terms, queries look for them, and both must agree. A table says of which version its terms are
(`META_ANALYZER` in `schema.py`), and each scope is asked by its own. Old versions stay, so that a dataset answers as
before until `knowledge reindex` renews its terms. `docs/extend.md` says how to add one.

| version | terms of a passage |
|---|---|
| 1 | title, heading path and text |
| 2 | also the table's header row and the words of the path; none of unreadable text |
| 3 | the same, of normalized text, with the parts of identifiers (`knowledge.search.words`) |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from knowledge.search import words
from knowledge.search.analysis import AnalyzedQuery, analyze_query, limit_query
from knowledge.search.excerpts import Excerpt, extract_excerpt, extract_readable_excerpt


@dataclass(frozen=True, slots=True)
class Analyzer:
    """How texts of one version are asked for and shown.

    `extract_excerpt` takes a passage's text and the terms that the query looks for in its scope.
    """

    analyze_query: Callable[[str], AnalyzedQuery]
    extract_excerpt: Callable[[str, frozenset[str]], Excerpt]


ANALYZERS: Final[Mapping[int, Analyzer]] = MappingProxyType(
    {
        1: Analyzer(analyze_query, extract_excerpt),
        2: Analyzer(analyze_query, extract_readable_excerpt),
        3: Analyzer(words.analyze_query, words.extract_excerpt),
    }
)
"""By version, ascending; `ANALYZER_VERSION` is the last, which new tables get."""


def analyze_query_for(versions: Sequence[int], query: str) -> AnalyzedQuery:
    """A query for a scope whose terms are of one version, or of several while they are being renewed."""
    analyses = dict.fromkeys(ANALYZERS[version].analyze_query for version in versions)
    return merge_queries([analyze(query) for analyze in analyses])


def merge_queries(queries: Sequence[AnalyzedQuery]) -> AnalyzedQuery:
    """One query that looks for each word by the terms of all the given analyses of it."""
    if len(queries) == 1:
        return queries[0]
    merged: dict[str, dict[str, None]] = {}
    times: dict[str, int] = {}
    for query in queries:
        for source, word, count in zip(query.sources, query.words, query.repeats, strict=True):
            merged.setdefault(source, {}).update(dict.fromkeys(word))
            times[source] = max(count, times.get(source, 1))
    words = {source: tuple(word) for source, word in merged.items()}
    return limit_query(words.items(), {word: times[source] for source, word in words.items()})
