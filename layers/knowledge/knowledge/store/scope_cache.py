"""Small scopes held in memory: all that a search shows, read once for each version of the table.

A scope of ten thousand passages is some ten megabytes. Reading it whole takes as many round trips as reading one row
does, and saves two of them, and dozens of requests, at every query that follows.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from knowledge.errors import StorageUnavailableError
from knowledge.store.schema import ARCHIVED, BASE, HEAD, PASSAGE, PUBLISHED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy.typing as npt

HELD_ROWS: Final = 20_000
"""Scopes with more rows, counting heads and history, are asked row by row: they would take too long to load."""

CALL_ROWS: Final = 100_000
"""Rows that one call may hold: a caller with more scopes has smaller ones held, so that memory stays bounded."""

SHELF_BYTES: Final = 128 * 1024 * 1024
"""All scopes held in a process together; the ones not asked for longest go first."""

COLUMNS: Final = [
    "kind", "scope", "base_id", "item_id", "revision_id", "title", "language", "source_type", "source_uri",
    "total_chars", "content_sha256", "state", "published_at", "start", "heading", "text", "terms",
]  # fmt: skip
_TOLD: Final = [name for name in COLUMNS if name != "terms"]
_ROW_ID: Final = "_rowid"


def most_held(scopes: int) -> int:
    """Rows up to which each of so many scopes in one call is held."""
    return min(HELD_ROWS, CALL_ROWS // max(1, scopes))


@dataclass(frozen=True, slots=True)
class Held:
    """The rows of a scope but its history. Rows are told by their row ids, which hold for one version only."""

    rows: pa.Table
    passages: int
    archived_bases: frozenset[str]
    published_bases: frozenset[str]
    row_ids: npt.NDArray[np.uint64]
    heads: Mapping[str, int]
    starts: Mapping[tuple[str, int], int]
    items: Mapping[str, Sequence[int]]

    def candidates(self, row_ids: pa.ChunkedArray, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Rows by row id, in the order asked for; raises `StorageUnavailableError` for one that is not there."""
        wanted = np.asarray(row_ids.to_numpy(), np.uint64)
        at = np.searchsorted(self.row_ids, wanted)
        if not np.array_equal(self.row_ids[np.minimum(at, len(self.row_ids) - 1)], wanted):
            raise StorageUnavailableError
        return self._listed(at, columns)

    def shown(self, passages: Iterable[tuple[str, int]]) -> list[dict[str, Any]]:
        """Rows of passages, given as item and start, and of their items' heads; those that are there."""
        wanted = set(passages)
        heads = [self.heads.get(item) for item in {item for item, _ in wanted}]
        found = [at for at in (*heads, *map(self.starts.get, wanted)) if at is not None]
        return self._listed(np.array(found, np.int64), _TOLD)

    def item(self, item_id: str) -> list[dict[str, Any]]:
        """Rows of an item's head and passages; none for an item that is not there."""
        return self._listed(np.array(self.items.get(item_id, []), np.int64), _TOLD)

    def _listed(self, positions: npt.NDArray[np.integer[Any]], columns: Sequence[str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.rows.select(list(columns)).take(pa.array(positions)).to_pylist()
        return rows


def hold(rows: pa.Table, scope: str) -> Held:
    """Hold all rows of a scope's table, `COLUMNS` and row ids; raises `StorageUnavailableError` for a strange scope."""
    if pc.any(pc.not_equal(rows.column("scope"), scope)).as_py():
        raise StorageUnavailableError
    kept = rows.filter(pc.is_in(rows.column("kind"), pa.array([PASSAGE, HEAD, BASE])))
    kept = kept.sort_by(_ROW_ID).combine_chunks()
    kinds, items = kept.column("kind").to_pylist(), kept.column("item_id").to_pylist()
    starts = kept.column("start").to_pylist()
    parts: dict[str, list[int]] = {}
    for at, item in enumerate(items):
        parts.setdefault(item, []).append(at)
    return Held(
        rows=kept,
        passages=kinds.count(PASSAGE),
        archived_bases=_bases(kept, BASE, ARCHIVED),
        published_bases=_bases(kept, HEAD, PUBLISHED),
        row_ids=np.asarray(kept.column(_ROW_ID).to_numpy(), np.uint64),
        heads={items[at]: at for at, kind in enumerate(kinds) if kind == HEAD},
        starts={(items[at], starts[at]): at for at, kind in enumerate(kinds) if kind == PASSAGE},
        items=parts,
    )


def _bases(rows: pa.Table, kind: str, state: str) -> frozenset[str]:
    chosen = pc.and_(pc.equal(rows.column("kind"), kind), pc.equal(rows.column("state"), state))
    return frozenset(rows.column("base_id").filter(chosen).unique().to_pylist())


class Shelf:
    """What is held of which version, within `SHELF_BYTES`."""

    def __init__(self) -> None:
        self._held: OrderedDict[str, tuple[object, Held]] = OrderedDict()

    def __contains__(self, name: str) -> bool:
        """Whether some version of a table is held."""
        return name in self._held

    def get(self, name: str, version: object) -> Held | None:
        """What is held of a table in just this version."""
        known, found = self._held.get(name, (None, None))
        if found is None or known != version:
            return None
        self._held.move_to_end(name)
        return found

    def put(self, name: str, version: object, rows: Held) -> None:
        """Hold a version instead of any other of the same table."""
        self._held[name] = (version, rows)
        self._held.move_to_end(name)
        while len(self._held) > 1 and sum(one.rows.nbytes for _, one in self._held.values()) > SHELF_BYTES:
            self._held.popitem(last=False)

    def clear(self) -> None:
        """Let go of everything."""
        self._held.clear()
