"""Versions of the analyzer: every version that a table may name has one, and each scope is asked by its own."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest

from knowledge.errors import DatasetMismatchError
from knowledge.requests import MODES, SearchRequest
from knowledge.results import SearchAnswer
from knowledge.scopes import Scope
from knowledge.search import analyzers
from knowledge.search.analysis import AnalyzedQuery, analyze_query
from knowledge.search.analyzers import ANALYZERS, Analyzer, analyze_query_for, merge_queries
from knowledge.store.schema import ANALYZER_VERSION, META_ANALYZER, TERMS
from publish_knowledge.passages import indexed_text
from tests.support.datasets import ANA, SUPPORT, Location, put
from tests.support.publishing import open_tables
from tests.support.reading import open_service

pytestmark = pytest.mark.anyio


def test_every_version_that_a_table_may_name_can_be_asked_and_written() -> None:
    assert list(ANALYZERS) == list(range(1, ANALYZER_VERSION + 1))
    assert list(indexed_text._BUILDERS) == list(ANALYZERS)  # noqa: SLF001 - the publisher's half of the registry


def test_versions_with_one_analysis_of_queries_are_asked_once() -> None:
    assert analyze_query_for((1, 2), "resets the router") == analyze_query("resets the router")


def test_analyses_are_merged_word_by_word() -> None:
    old = AnalyzedQuery((("appl",), ("tree", "tre")), ("appl", "tree", "tre"), ("apples", "trees"), (1, 1))
    new = AnalyzedQuery((("apple",), ("tree",)), ("apple", "tree"), ("apples", "trees"), (1, 1))
    merged = merge_queries([old, new])
    assert merged.words == (("appl", "apple"), ("tree", "tre"))
    assert merged.terms == ("appl", "apple", "tree", "tre")
    assert merged.sources == ("apples", "trees")
    assert merged.repeats == (1, 1)
    assert merge_queries([old]) is old


def test_a_word_of_a_long_query_counts_as_often_as_the_analysis_that_counts_it_most() -> None:
    text = "The valve, the valve and the pump: which gasket, bolt, flange, hose, clamp, motor, belt or filter?"
    merged = analyze_query_for((1, 3), text)
    counts = dict(zip(merged.sources, merged.repeats, strict=True))
    assert (counts["valve"], counts["pump"]) == (2, 1)


async def set_versions(where: Location, text: str) -> None:
    tables = await open_tables(where)
    await tables.current.set_column_metadata(TERMS, {META_ANALYZER: text})


async def ask(where: Location, scopes: list[Scope], request: SearchRequest) -> SearchAnswer:
    async with open_service(where) as reader:
        return await reader.search(scopes, request)


@pytest.mark.parametrize(
    "text", [f"{ANALYZER_VERSION + 1}", f"{ANALYZER_VERSION} {ANALYZER_VERSION + 1}", "", "two", "0"]
)
async def test_terms_of_an_unknown_version_are_refused(folder: Location, text: str) -> None:
    await put(folder, ANA, "notes", {"a.md": "Router."})
    await set_versions(folder, text)
    with pytest.raises(DatasetMismatchError, match="analyzer"):
        await ask(folder, [ANA], SearchRequest("router"))
    with pytest.raises(DatasetMismatchError, match="analyzer"):
        await open_tables(folder)


@pytest.mark.parametrize("mode", MODES)
async def test_a_table_of_another_version_answers_the_same_where_queries_are_analyzed_alike(
    folder: Location, mode: str
) -> None:
    await put(folder, ANA, "notes", {"a.md": "Reset the router.", "b.md": "The router has a password."})
    await put(folder, SUPPORT, "manuals", {"c.md": "A router, and its password."})
    request = SearchRequest("router password", mode=mode)  # type: ignore[arg-type]  # one of MODES
    first = await ask(folder, [ANA, SUPPORT], request)
    for text in ("1", "1 2"):
        await set_versions(folder, text)
        assert await ask(folder, [ANA, SUPPORT], request) == first


def analyze_backwards(query: str) -> AnalyzedQuery:
    """An analysis that spells every term from its end."""
    plain = analyze_query(query)
    words = tuple(tuple(term[::-1] for term in word) for word in plain.words)
    return replace(plain, words=words, terms=tuple(term[::-1] for term in plain.terms))


async def test_scopes_of_different_versions_are_asked_by_their_own_and_ranked_on_one_scale(
    folder: Location, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = {f"n{n}.md": f"Note {n} on pumps." for n in range(5)} | {"router.md": "Reset the router password here."}
    theirs = {f"t{n}.md": f"Manual {n}: the router and pump {n}." for n in range(40)}
    await put(folder, ANA, "notes", mine)
    await put(folder, SUPPORT, "manuals", theirs)
    request = SearchRequest("reset router password", mode="lexical", max_results=50)
    expected = await ask(folder, [ANA, SUPPORT], request)
    # The same texts, but ANA's terms are spelled by another version.
    backwards = Analyzer(analyze_backwards, ANALYZERS[1].extract_excerpt)
    monkeypatch.setattr(analyzers, "ANALYZERS", MappingProxyType({**ANALYZERS, 1: backwards}))
    tables = await open_tables(folder)
    rows = await tables.current.read_rows({"kind": "passage"}, ["key", "terms"])
    spelled = [" ".join(term[::-1] for term in terms.split()) for terms in rows.column("terms").to_pylist()]
    await tables.current.set_terms(rows.column("key").to_pylist(), spelled)
    await set_versions(folder, "1")
    found = await ask(folder, [ANA, SUPPORT], request)
    assert [hit.revision.item_id for hit in found.hits] == [hit.revision.item_id for hit in expected.hits]
    assert [hit.scores.score for hit in found.hits] == pytest.approx([hit.scores.score for hit in expected.hits])
