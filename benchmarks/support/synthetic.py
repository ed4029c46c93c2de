"""Generate datasets with scopes of any size, for benchmarks.

They equal published ones: the rows come from the publisher's own code, but are written in one commit. Everything
follows from the scope's id and size, so that two machines generate the same.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Final

import lancedb
import numpy as np
import pyarrow as pa

from benchmarks.support.texts import Sample, Topic, load_sample
from knowledge.embedding.providers import LOCAL, provider
from knowledge.scopes import Scope
from knowledge.store.schema import SCHEMA_VERSION, current_schema, digest, item_id, revisions_schema
from publish_knowledge.maintenance import optimize_tables
from publish_knowledge.passages.indexed_text import list_embedded_texts
from publish_knowledge.passages.splitting import Passage
from publish_knowledge.publishing.plan import (
    Step,
    build_head,
    build_revision,
    plan_step,
    prepare_document,
)
from publish_knowledge.sources.documents import Document, derive_item_source
from publish_knowledge.store import marker
from publish_knowledge.store.arrow_rows import (
    build_archive_rows,
    build_current_rows,
    build_head_rows,
    build_history_rows,
)
from publish_knowledge.store.database import Store
from publish_knowledge.store.records import ItemHead, StoredRevision
from publish_knowledge.store.scope_tables import ensure_scope

BASE: Final = "bench"
"""The base that all items are in."""

ITEM_PASSAGES: Final = 8
_CHUNK_ITEMS: Final = 200
_MADE_AT: Final = "2026-01-01T00:00:00Z"

_GENERATOR_VERSION: Final = "1"
"""Part of a dataset's name: increment it when the generated content changes."""


@dataclass(frozen=True, slots=True)
class _Chunk:
    """A range of a scope's items, and the folder for their rows."""

    scope: Scope
    items: range
    passages: int
    folder: Path


@dataclass(frozen=True, slots=True)
class _Files:
    """Rows of both tables in Arrow files."""

    current: Path
    revisions: Path


def make_dataset(folder: Path, scopes: Mapping[str, int], embedding: str = LOCAL) -> Path:
    """Return a dataset with so many passages for each team; it is generated once and kept in `folder`."""
    name = digest(_GENERATOR_VERSION, SCHEMA_VERSION, provider(embedding).model, json.dumps(scopes))[:8]
    path = folder / f"{max(scopes.values())}-{name}"
    if not path.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="making-", dir=folder) as made:
            asyncio.run(_make(Path(made), load_sample(folder, embedding), scopes))
            shutil.move(Path(made) / "dataset", path)
        taken = time.monotonic() - started
        print(f"generated {sum(scopes.values()):,} passages in {taken:.0f} s", file=sys.stderr, flush=True)
    return path


def name_item(team: str, number: int) -> str:
    """Return the id of a team's item, counted from 0."""
    return item_id(Scope("team", team), BASE, derive_item_source(_item_path(number)))


def count_items(passages: int) -> int:
    """Return how many items a scope of that many passages has."""
    return math.ceil(passages / ITEM_PASSAGES)


def make_document(folder: Path, team: str, passages: int, number: int, embedding: str = LOCAL) -> Document:
    """Return an item of a scope of that many passages, as reading its file would."""
    _, revision = _make_item(
        load_sample(folder, embedding), _Chunk(Scope("team", team), range(0), passages, folder), number
    )
    text = "".join(passage.text for passage in revision.passages)
    return Document(
        _item_path(number),
        text,
        revision.info.title,
        revision.info.language,
        "plain",
        derive_item_source(_item_path(number)),
    )


async def _make(folder: Path, known: Sample, scopes: Mapping[str, int]) -> None:
    model = provider(known.embedding)
    async with Store(str(folder / "dataset"), model.model, model.dimensions) as store:
        await marker.ensure_dataset(store)
        for team, passages in scopes.items():
            scope = Scope("team", team)
            files = await asyncio.to_thread(_make_files, known, _split_into_chunks(folder, scope, passages))
            archive, current = _build_schemas(known, scope)
            await _add(store, scope.revisions_table, archive, [each.revisions for each in files])
            await _add(store, scope.current_table, current, [each.current for each in files])
            await optimize_tables(await ensure_scope(store, scope))


def _build_schemas(known: Sample, scope: Scope) -> tuple[pa.Schema, pa.Schema]:
    model = provider(known.embedding)
    named = (scope, model.model, model.dimensions)
    return revisions_schema(*named), current_schema(*named)


async def _add(store: Store, name: str, schema: pa.Schema, files: Sequence[Path]) -> None:
    """Write all rows in one commit, where the publisher would merge them item by item."""
    await store.create_table(name, schema)
    table = await (await lancedb.connect_async(store.uri)).open_table(name)
    batches = (batch for file in files for batch in _read_batches(file))
    await table.add(pa.RecordBatchReader.from_batches(schema, batches), on_bad_vectors="null")


def _read_batches(file: Path) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(file)) as source:
        yield from pa.ipc.open_stream(source)
    file.unlink()


def _split_into_chunks(folder: Path, scope: Scope, passages: int) -> list[_Chunk]:
    count = count_items(passages)
    firsts = range(0, count, _CHUNK_ITEMS)
    return [_Chunk(scope, range(each, min(each + _CHUNK_ITEMS, count)), passages, folder) for each in firsts]


def _make_files(known: Sample, chunks: Sequence[_Chunk]) -> list[_Files]:
    work = partial(_make_rows, known)
    if len(chunks) == 1:
        return [work(chunks[0])]
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        return list(pool.map(work, chunks))


def _make_rows(known: Sample, chunk: _Chunk) -> _Files:
    """Write the rows that publishing these items in one batch would have written."""
    archive, current = _build_schemas(known, chunk.scope)
    made = [_make_item(known, chunk, number) for number in chunk.items]
    heads = [head for head, _ in made]
    parts = [build_head_rows(current, heads), build_history_rows(current, heads)]
    parts += [build_current_rows(current, revision) for _, revision in made]
    kept = [build_archive_rows(archive, revision) for _, revision in made]
    return _Files(_write_rows(chunk, "current", parts), _write_rows(chunk, "revisions", kept))


def _write_rows(chunk: _Chunk, kind: str, parts: Sequence[pa.Table]) -> Path:
    file = chunk.folder / f"{kind}-{chunk.scope.id}-{chunk.items.start}.arrow"
    rows = pa.concat_tables(parts).combine_chunks()
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return file


def _make_item(known: Sample, chunk: _Chunk, number: int) -> tuple[ItemHead, StoredRevision]:
    """Generate an item in one language, each of its passages on a topic of its own."""
    drawn, noise = random.Random(f"{chunk.scope.id} {number}"), np.random.default_rng(number)
    language = drawn.choice(known.topics).language
    count = min(ITEM_PASSAGES, chunk.passages - number * ITEM_PASSAGES)
    topics = drawn.choices([topic for topic in known.topics if topic.language == language], k=count)
    texts = [known.draw_text(topic, drawn) for topic in topics]
    step = _plan_item(chunk.scope, f"{topics[0].title} {number}", language, "".join(texts), number)
    passages = tuple(_make_passages(topics, texts))
    vectors = [known.draw_vector(topic, noise).astype(np.float16) for topic in topics]
    embedded_texts = list_embedded_texts(step.info.title, passages)
    embedded = {text: vector for text, vector in zip(embedded_texts, vectors, strict=True) if text is not None}
    return build_head(step, _MADE_AT), build_revision(step, passages, embedded, _MADE_AT)


def _plan_item(scope: Scope, title: str, language: str, text: str, number: int) -> Step:
    path = _item_path(number)
    document = Document(path, text, title, language, "plain", derive_item_source(path))
    return plan_step(prepare_document(scope, BASE, document), None, draft=False)


def _make_passages(topics: Sequence[Topic], texts: Sequence[str]) -> Iterator[Passage]:
    start = 0
    for ordinal, (topic, text) in enumerate(zip(topics, texts, strict=True)):
        yield Passage(ordinal, start, start + len(text), topic.heading, text)
        start += len(text)


def _item_path(number: int) -> str:
    return f"items/{number}.txt"
