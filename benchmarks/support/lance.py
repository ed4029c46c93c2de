"""A full-text index of LanceDB with one of its own analyzers, as the baseline of lexical search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import lancedb
import pyarrow as pa
from lancedb.index import FTS

from knowledge.store.lance import any_term
from publish_knowledge.evaluation.metrics import compute_metrics

DEPTH: Final = 128
"""Texts requested; more than are measured, because the tool fuses and ranks as many."""

ICU_ENGLISH: Final[Mapping[str, Any]] = {
    "base_tokenizer": "icu/split",
    "language": "English",
    "stem": True,
    "remove_stop_words": False,
    "ascii_folding": True,
    "lower_case": True,
}
"""The best analyzer that LanceDB has for one index over several languages."""

PREPARED_TERMS: Final[Mapping[str, Any]] = {
    "base_tokenizer": "whitespace",
    "stem": False,
    "remove_stop_words": False,
    "ascii_folding": False,
    "lower_case": False,
    "max_token_length": None,
}
"""For texts that are terms of the tool's own analysis, between spaces."""


class TextIndex:
    """A full-text index over texts with names."""

    def __init__(self, table: lancedb.AsyncTable) -> None:
        self._table = table

    async def rank(self, query: str) -> list[tuple[str, float]]:
        """Return names and BM25 scores, best first."""
        found = self._table.query().nearest_to_text(any_term(query, "text")).select(["name", "_score"]).limit(DEPTH)
        return [(row["name"], row["_score"]) for row in (await found.to_arrow()).to_pylist()]

    async def score(self, query: str, grades: Mapping[str, int]) -> float:
        """nDCG@10 of a query."""
        return compute_metrics([name for name, _ in await self.rank(query)], grades).ndcg


async def build_text_index(
    uri: str, name: str, texts: Iterable[tuple[str, str]], analyzer: Mapping[str, Any]
) -> TextIndex:
    """Index texts, given as pairs of name and text, in a table of their own."""
    rows: Sequence[tuple[str, str]] = list(texts)
    connection = await lancedb.connect_async(uri)
    data = pa.table({"name": [row[0] for row in rows], "text": [row[1] for row in rows]})
    table = await connection.create_table(name, data)
    await table.create_index("text", config=FTS(**analyzer))
    return TextIndex(table)
