"""Rows of the tables as values. Values of another type than the publisher stores raise `TypeError`."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from knowledge.store.schema import PUBLISHED, head_address

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from knowledge.scopes import Scope


def is_readable(state: str, base_id: str, archived_bases: Collection[str]) -> bool:
    """Whether readers may see an item: it is published, and its base is active.

    The product's most important rule: search, reads and the publisher's checks all use this function. `archived_bases`
    are the ids of the archived bases in the item's scope.
    """
    return state == PUBLISHED and base_id not in archived_bases


@dataclass(frozen=True, slots=True)
class RevisionInfo:
    """One revision of one item: its ids, and its metadata.

    Times are ISO 8601 in UTC, lengths count code points, `content_sha256` is the digest of the whole text.
    """

    scope: Scope
    base_id: str
    item_id: str
    revision_id: str
    title: str
    language: str
    published_at: str
    source_type: str
    source_uri: str
    total_chars: int
    content_sha256: str


INFO_COLUMNS: Final = tuple(field.name for field in fields(RevisionInfo) if field.name != "scope")
"""Columns that hold a `RevisionInfo`; the scope is the table's own."""


@dataclass(frozen=True, slots=True)
class Head:
    """A head or history row: a revision's metadata, and for a head the item's state."""

    state: str
    revision: RevisionInfo

    @property
    def published(self) -> bool:
        """Whether readers may see the item."""
        return self.state == PUBLISHED


class Retrieved(NamedTuple):
    """A passage that one side found; `score` is that side's raw measure. A tuple, as every call makes hundreds.

    `terms` and `item_chars`, the characters of its item's whole text, are read for the lexical side alone.
    """

    scope: Scope
    item_id: str
    start: int
    score: float
    terms: str
    item_chars: int = 0

    @property
    def passage(self) -> tuple[str, int]:
        """Key by which both sides name the same passage."""
        return (self.item_id, self.start)


@dataclass(frozen=True, slots=True)
class ScopeHeads:
    """Bases of a scope that are archived, those that have published items, and sorted addresses of readable heads."""

    archived_bases: frozenset[str]
    published_bases: frozenset[str]
    addresses: npt.NDArray[np.int64]

    def has_readable(self, item_id: str) -> bool:
        """Whether an item can be read. Two items may have one address, so that its rows still have to be checked."""
        address = head_address(item_id)
        at = int(np.searchsorted(self.addresses, address))
        return at < len(self.addresses) and int(self.addresses[at]) == address


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A passage's text and where it starts in the revision, in code points."""

    item_id: str
    revision_id: str
    start: int
    heading: str
    text: str

    @property
    def end(self) -> int:
        """Where the next passage starts."""
        return self.start + len(self.text)

    def overlaps(self, start: int, end: int) -> bool:
        """Whether any character of [start, end) is in the passage."""
        return self.start < end and self.end > start


def info_of(scope: Scope, row: Mapping[str, Any]) -> RevisionInfo:
    """The revision that a row describes; a column that is null or missing becomes empty."""
    values: dict[str, Any] = {name: _text(row.get(name)) for name in INFO_COLUMNS if name != "total_chars"}
    return RevisionInfo(scope, **values, total_chars=_number(row.get("total_chars") or 0))


def head_of(scope: Scope, row: Mapping[str, Any]) -> Head:
    """A head or history row."""
    return Head(row["state"] or "", info_of(scope, row))


def retrieved_of(scope: Scope, row: Mapping[str, Any], score: float) -> Retrieved:
    """A row of a lexical or semantic query; raises `ValueError` for a score that is not finite."""
    if not math.isfinite(score):
        raise ValueError("a score is not finite")
    item_chars = _number(row.get("total_chars", 0))
    return Retrieved(scope, _text(row["item_id"]), _number(row["start"]), score, _text(row.get("terms")), item_chars)


def passage_of(row: Mapping[str, Any]) -> PassageRow:
    """A passage row with its text; raises `TypeError` or `LookupError` for one that is damaged."""
    return PassageRow(
        item_id=_text(row["item_id"]),
        revision_id=_text(row["revision_id"]),
        start=_number(row["start"]),
        heading=_text(row["heading"]),
        text=_text(row["text"]),
    )


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError("a stored value is no text")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError("a stored value is no number")
    return value
