"""The short way to a query's rows gives what the library's own way gives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from knowledge.store.lance import any_term, col, connect, fetch_rows, lit, stream_batches
from tests.support.datasets import SUPPORT, build, embedding


class Sealed:
    """A query of another make, without anything behind it."""

    async def to_arrow(self) -> str:
        return "its own way"

    async def to_batches(self, **_options: object) -> AsyncIterator[str]:
        async def own_way() -> AsyncIterator[str]:
            yield "its own way"

        return own_way()


def test_both_ways_give_the_same_rows(tmp_path: Path) -> None:
    build(str(tmp_path), {(SUPPORT, "manuals"): {f"{n}.md": f"Open valve {n} of the pump." for n in range(9)}})
    vector = embedding().embed_query("valve")

    async def compare() -> list[bool]:
        table = await (await connect(str(tmp_path), {})).open_table(SUPPORT.current_table)

        def queries() -> list[Any]:
            return [
                table.query().where(col("kind") == lit("passage")).select(["item_id", "text"]),
                table.query().where(col("kind") == lit("none")).select(["item_id"]),
                table.query().nearest_to_text(any_term("valv", "terms")).select(["item_id", "_score"]).limit(5),
                table.query().nearest_to(vector).distance_type("cosine").select(["item_id", "_distance"]).limit(5),
            ]

        pairs = zip(queries(), queries(), strict=True)
        return [(await fetch_rows(one)).equals(await other.to_arrow()) for one, other in pairs]

    assert asyncio.run(compare()) == [True] * 4


def test_a_query_without_the_short_way_goes_its_own() -> None:
    async def stream() -> list[object]:
        return [batch async for batch in stream_batches(Sealed(), 1)]

    assert asyncio.run(fetch_rows(Sealed())) == "its own way"
    assert asyncio.run(stream()) == ["its own way"]


def test_rows_are_streamed_in_small_batches(tmp_path: Path) -> None:
    build(str(tmp_path), {(SUPPORT, "manuals"): {f"{n}.md": f"Open valve {n} of the pump." for n in range(9)}})

    async def compare() -> tuple[list[int], bool]:
        table = await (await connect(str(tmp_path), {})).open_table(SUPPORT.current_table)
        batches = [batch async for batch in stream_batches(table.query().select(["item_id", "text"]), 5)]
        whole = await fetch_rows(table.query().select(["item_id", "text"]))
        return [len(batch) for batch in batches], pa.Table.from_batches(batches).equals(whole)

    sizes, equal = asyncio.run(compare())
    assert max(sizes) <= 5 < len(sizes) * 5
    assert equal
