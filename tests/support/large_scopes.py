"""Scopes of any size, written in seconds: some items are built by the publisher's own code, the others are copies.

A copy has ids, addresses and vectors of its own. The vectors are known, random ones, so that no model is needed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Final

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knowledge.embedding.base import EmbeddingProvider
from knowledge.scopes import Scope
from knowledge.store.revision import RevisionInfo
from knowledge.store.schema import (
    HISTORY,
    METADATA_JSON,
    PUBLISHED,
    ROW_ADDRESS,
    current_schema,
    digest,
    head_address,
    history_address,
    item_id,
    revision_id,
)
from publish_knowledge.maintenance import optimize_tables
from publish_knowledge.passages.splitting import Passage
from publish_knowledge.store import marker
from publish_knowledge.store.arrow_rows import build_current_rows, build_head_rows, build_history_rows
from publish_knowledge.store.database import Store
from publish_knowledge.store.records import HalfVectors, ItemHead, StoredRevision
from publish_knowledge.store.scope_tables import ensure_scope

BASE: Final = "large"
MADE_AT: Final = "2026-01-01T00:00:00Z"
ROWS_BESIDE_PASSAGES: Final = 2
"""Rows of an item besides its passages: its head, and one revision in its history."""

_CHINESE: Final = range(0x4E00, 0x4E00 + 3_500)
_SYLLABLES: Final = ("ka", "lo", "mi", "ten", "sur", "va", "ne", "ro", "pi", "du", "gel", "ost")

Draw = Callable[[random.Random, int], str]
"""Draws a text of so many characters."""


@dataclass(frozen=True, slots=True)
class ScopeShape:
    """How large a scope is: items, passages of each, and characters of a passage, which `draw` draws.

    `distinct` items are built, the others are copies of them.
    """

    items: int
    passages: int
    characters: int
    draw: Draw
    language: str = "en"
    distinct: int = 20

    @property
    def rows(self) -> int:
        """Rows of the scope's table."""
        return self.items * (self.passages + ROWS_BESIDE_PASSAGES)


def draw_latin(drawn: random.Random, characters: int) -> str:
    """Words of two to four syllables, the frequent ones much more frequent than the rare, as in a language."""
    words = _words()
    found = (words[int(len(words) ** drawn.random()) - 1] for _ in range(characters))
    return " ".join(islice(found, characters // 4))[: characters - 1].ljust(characters - 1) + "\n"


@cache
def _words() -> tuple[str, ...]:
    drawn = random.Random(1)
    return tuple("".join(drawn.choices(_SYLLABLES, k=drawn.randint(2, 4))) for _ in range(20_000))


def draw_chinese(drawn: random.Random, characters: int) -> str:
    """Characters with the frequencies of a language; each pair of neighbours is a term."""
    count = len(_CHINESE)
    return "".join(chr(_CHINESE[int(count ** drawn.random()) - 1]) for _ in range(characters - 1)) + "\n"


def name_item(scope: Scope, number: int) -> str:
    """The id of a scope's item, counted from 0."""
    return item_id(scope, BASE, str(number))


def write_dataset(folder: Path, model: EmbeddingProvider, scopes: dict[Scope, ScopeShape]) -> None:
    """Write a dataset with these scopes, indexed as the publisher indexes it."""

    async def write() -> None:
        async with Store(str(folder), model.model, model.dimensions) as store:
            await marker.ensure_dataset(store)
            for scope, shape in scopes.items():
                await write_scope(store, scope, shape)

    asyncio.run(write())


async def write_scope(store: Store, scope: Scope, shape: ScopeShape) -> None:
    """Write one scope in one commit, and optimize it. The archive stays empty: current reads do without."""
    schema = current_schema(scope, store.model, store.dimensions)
    await store.create_table(scope.current_table, schema)
    table = await (await lancedb.connect_async(store.uri)).open_table(scope.current_table)
    batches = (batch for rows in _make_items(scope, shape, schema) for batch in rows.to_batches())
    await table.add(pa.RecordBatchReader.from_batches(schema, batches), on_bad_vectors="null")
    await optimize_tables(await ensure_scope(store, scope))


def _make_items(scope: Scope, shape: ScopeShape, schema: pa.Schema) -> Iterator[pa.Table]:
    built = [_build_item(scope, shape, schema, number) for number in range(min(shape.distinct, shape.items))]
    for number in range(shape.items):
        info, rows = built[number % len(built)]
        yield rows if number < len(built) else _copy_item(rows, info, _name(info, number), number)


def _build_item(scope: Scope, shape: ScopeShape, schema: pa.Schema, number: int) -> tuple[RevisionInfo, pa.Table]:
    drawn = random.Random(f"{shape.language} {number}")
    texts = [shape.draw(drawn, shape.characters) for _ in range(shape.passages)]
    size = shape.characters
    passages = tuple(Passage(at, at * size, (at + 1) * size, "Part", text) for at, text in enumerate(texts))
    empty = RevisionInfo(
        scope, BASE, "", "", "Large", shape.language, MADE_AT, "file", "", len(texts) * size, digest(*texts)
    )
    info = _name(empty, number)
    vectors = _draw_vectors(len(texts), schema, number)
    revision = StoredRevision(info, "", digest(info.revision_id), MADE_AT, passages, vectors)
    heads = [ItemHead(info, "", revision.fingerprint, PUBLISHED, 1)]
    parts = [build_head_rows(schema, heads), build_history_rows(schema, heads), build_current_rows(schema, revision)]
    return info, pa.concat_tables(parts).combine_chunks()


def _name(info: RevisionInfo, number: int) -> RevisionInfo:
    item = name_item(info.scope, number)
    return replace(info, item_id=item, revision_id=revision_id(item, "", str(number)), source_uri=f"{number}.md")


def _draw_vectors(count: int, schema: pa.Schema, number: int) -> HalfVectors:
    width = schema.field("vector").type.list_size
    drawn = np.random.default_rng(number).standard_normal((count, width))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True), dtype=np.float16)


def _copy_item(rows: pa.Table, info: RevisionInfo, named: RevisionInfo, number: int) -> pa.Table:
    """The rows of an item under another one's ids."""
    for name in ("item_id", "revision_id", METADATA_JSON):
        column = pc.replace_substring(rows.column(name), info.item_id, named.item_id)
        rows = _replace(rows, name, pc.replace_substring(column, info.revision_id, named.revision_id))
    shift = head_address(named.item_id) - head_address(info.item_id)
    addresses = pc.if_else(
        pc.equal(rows.column("kind"), HISTORY),
        history_address(named.item_id, named.revision_id),
        pc.add(rows.column(ROW_ADDRESS), shift),
    )
    rows = _replace(rows, ROW_ADDRESS, addresses)
    rows = _replace(rows, "key", pa.array([f"{number:016x}{at:016x}" for at in range(len(rows))]))
    drawn = _draw_vectors(len(rows) - ROWS_BESIDE_PASSAGES, rows.schema, number)
    flat = pa.array(np.concatenate([np.zeros((ROWS_BESIDE_PASSAGES, drawn.shape[1]), np.float16), drawn]).reshape(-1))
    mask = pa.array([True] * ROWS_BESIDE_PASSAGES + [False] * len(drawn))
    vectors = pa.FixedSizeListArray.from_arrays(flat, drawn.shape[1], mask=mask)
    return _replace(rows, "vector", vectors)


def _replace(rows: pa.Table, name: str, values: pa.Array | pa.ChunkedArray) -> pa.Table:
    at = rows.schema.get_field_index(name)
    return rows.set_column(at, rows.schema.field(at), values)
