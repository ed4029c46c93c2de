"""Full-text queries: the tool's prepared terms against LanceDB's own analyzer.

Both find the best passages of the same texts, each with the terms that its own analysis gives. The tool's query has
more terms, because the language of a question is unknown; and its analysis counts in its time.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pyarrow as pa

from benchmarks.support.figures import Figure, format_number, format_spread
from benchmarks.support.lance import DEPTH, ICU_ENGLISH, PREPARED_TERMS, build_text_index
from benchmarks.support.synthetic import make_dataset
from benchmarks.support.texts import draw_questions
from knowledge.scopes import Scope
from knowledge.search.analysis import analyze_query
from knowledge.store.lance import connect

PART: Final = "lexical"
PASSAGES: Final = 10_000
TEAM: Final = "main"
ROUNDS: Final = 300
WARM_UP: Final = 30
MOST: Final = 2.0

Ask = Callable[[str], Awaitable[Sequence[Any]]]


def measure(folder: Path) -> list[Figure]:
    """Measure the ratio of both queries."""
    return [asyncio.run(_compare(folder))]


async def _compare(folder: Path) -> Figure:
    texts, terms = await _read_passages(make_dataset(folder, {TEAM: PASSAGES}))
    with TemporaryDirectory() as folder_of_indexes:
        prepared = await build_text_index(folder_of_indexes, "prepared", terms, PREPARED_TERMS)
        analyzed = await build_text_index(folder_of_indexes, "analyzed", texts, ICU_ENGLISH)
        ours, theirs = await _time_in_turns(
            draw_questions(folder, ROUNDS + WARM_UP),
            lambda question: prepared.rank(" ".join(analyze_query(question).terms)),
            analyzed.rank,
        )
    ratio = statistics.median(ours) / statistics.median(theirs)
    times = f"prepared {format_spread(ours)}, icu/split {format_spread(theirs)}"
    detail = f"{format_number(len(texts))} passages, {DEPTH} deep: {times}"
    return Figure(PART, "full-text query over one with LanceDB's analyzer", MOST, ratio, "×", detail)


async def _read_passages(uri: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return texts and prepared terms of all passages, each with its key."""
    connection = await connect(str(uri), {})
    table = await connection.open_table(Scope("team", TEAM).current_table)
    rows: pa.Table = await table.query().where("kind = 'passage'").select(["key", "text", "terms"]).to_arrow()
    keys = rows.column("key").to_pylist()
    return (
        list(zip(keys, rows.column("text").to_pylist(), strict=True)),
        list(zip(keys, rows.column("terms").to_pylist(), strict=True)),
    )


async def _time_in_turns(questions: Sequence[str], ours: Ask, theirs: Ask) -> tuple[list[float], list[float]]:
    """Return milliseconds of both sides over the same questions; they take turns at being first."""
    taken: dict[Ask, list[float]] = {ours: [], theirs: []}
    for turn, question in enumerate(questions):
        for side in (ours, theirs) if turn % 2 else (theirs, ours):
            started = time.perf_counter()
            await side(question)
            if turn >= WARM_UP:
                taken[side].append(1000 * (time.perf_counter() - started))
    return taken[ours], taken[theirs]
