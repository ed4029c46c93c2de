"""What prepared terms cost at search time: the tool's full-text query against one with LanceDB's own analyzer.

Both find the best passages of the same texts, each with the words that its own analysis makes of the question. The
tool's has more terms, because a question's language is unknown; and its analysis is part of what is timed.
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

from benchmarks.support.figures import Figure, number, spread
from benchmarks.support.lance import AS_THEY_ARE, DEPTH, ICU_ENGLISH, text_index
from benchmarks.support.synthetic import dataset
from benchmarks.support.texts import questions
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
    """One ratio."""
    return [asyncio.run(_compared(folder))]


async def _compared(folder: Path) -> Figure:
    texts, terms = await _passages(dataset(folder, {TEAM: PASSAGES}))
    with TemporaryDirectory() as position:
        prepared = await text_index(position, "prepared", terms, AS_THEY_ARE)
        analyzed = await text_index(position, "analyzed", texts, ICU_ENGLISH)
        ours, theirs = await _in_turns(
            questions(folder, ROUNDS + WARM_UP),
            lambda asked: prepared.ranked(" ".join(analyze_query(asked).terms)),
            analyzed.ranked,
        )
    ratio = statistics.median(ours) / statistics.median(theirs)
    detail = f"{number(len(texts))} passages, {DEPTH} deep: prepared {spread(ours)}, icu/split {spread(theirs)}"
    return Figure(PART, "full-text query over one with LanceDB's analyzer", MOST, ratio, "×", detail)


async def _passages(uri: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Texts and prepared terms of all passages, each with its key."""
    connection = await connect(str(uri), {})
    table = await connection.open_table(Scope("team", TEAM).current_table)
    rows: pa.Table = await table.query().where("kind = 'passage'").select(["key", "text", "terms"]).to_arrow()
    keys = rows.column("key").to_pylist()
    return (
        list(zip(keys, rows.column("text").to_pylist(), strict=True)),
        list(zip(keys, rows.column("terms").to_pylist(), strict=True)),
    )


async def _in_turns(asked: Sequence[str], ours: Ask, theirs: Ask) -> tuple[list[float], list[float]]:
    """Milliseconds of each side over the same questions, which of them first changing every time."""
    taken: dict[Ask, list[float]] = {ours: [], theirs: []}
    for turn, question in enumerate(asked):
        for side in (ours, theirs) if turn % 2 else (theirs, ours):
            started = time.perf_counter()
            await side(question)
            if turn >= WARM_UP:
                taken[side].append(1000 * (time.perf_counter() - started))
    return taken[ours], taken[theirs]
