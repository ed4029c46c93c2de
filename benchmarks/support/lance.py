"""What LanceDB finds by itself, to compare with: one full-text index over whole texts, with an analyzer of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import lancedb
import pyarrow as pa
from lancedb.index import FTS

from knowledge.store.lance import any_term

DEPTH: Final = 128
"""Texts asked for; more than are measured, because the other side may rank them again."""

ICU_ENGLISH: Final[Mapping[str, Any]] = {
    "base_tokenizer": "icu/split",
    "language": "English",
    "stem": True,
    "remove_stop_words": False,
    "ascii_folding": True,
    "lower_case": True,
}
"""The best that one index over several languages does without knowing them."""

AS_THEY_ARE: Final[Mapping[str, Any]] = {
    "base_tokenizer": "whitespace",
    "stem": False,
    "remove_stop_words": False,
    "ascii_folding": False,
    "lower_case": False,
    "max_token_length": None,
}
"""For texts whose terms were prepared."""


class TextIndex:
    """An index over texts by name."""

    def __init__(self, table: lancedb.AsyncTable) -> None:
        self._table = table

    async def ranked(self, query: str) -> list[tuple[str, float]]:
        """Names and BM25 scores, best first."""
        found = self._table.query().nearest_to_text(any_term(query, "text")).select(["name", "_score"]).limit(DEPTH)
        return [(row["name"], row["_score"]) for row in (await found.to_arrow()).to_pylist()]


async def text_index(uri: str, name: str, texts: Iterable[tuple[str, str]], analyzer: Mapping[str, Any]) -> TextIndex:
    """Index texts, given as pairs of name and text, in a database of their own."""
    rows: Sequence[tuple[str, str]] = list(texts)
    connection = await lancedb.connect_async(uri)
    data = pa.table({"name": [row[0] for row in rows], "text": [row[1] for row in rows]})
    table = await connection.create_table(name, data)
    await table.create_index("text", config=FTS(**analyzer))
    return TextIndex(table)
