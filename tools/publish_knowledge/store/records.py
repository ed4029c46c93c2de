"""Rows of both tables as the publisher's values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from knowledge.store.revision import RevisionInfo
from knowledge.store.schema import State
from publish_knowledge.passages.splitting import Passage

HalfVectors = npt.NDArray[np.float16]
"""Vectors as they are stored: half precision, one row for each passage."""

RevisionKey = tuple[str, str]
"""Item id and revision id."""

Range = tuple[int, int]
"""Start and end of a passage, [start, end), in code points."""


@dataclass(frozen=True, slots=True)
class Lineage:
    """What a publisher knows of a revision besides what readers see: `previous_id` is the revision it replaced."""

    info: RevisionInfo
    previous_id: str
    fingerprint: str

    @property
    def item_id(self) -> str:
        """Id of the item."""
        return self.info.item_id

    @property
    def base_id(self) -> str:
        """Id of the item's base."""
        return self.info.base_id

    @property
    def revision_id(self) -> str:
        """Id of the revision."""
        return self.info.revision_id

    @property
    def key(self) -> RevisionKey:
        """Item id and revision id."""
        return (self.info.item_id, self.info.revision_id)


@dataclass(frozen=True, slots=True)
class ItemHead(Lineage):
    """A head or history row: the item's state and its current revision, whose id is "" where none ever was."""

    state: State
    sequence: int


@dataclass(frozen=True, slots=True)
class StoredMetadata(Lineage):
    """What every row of a stored revision says about it."""

    created_at: str


@dataclass(frozen=True, slots=True)
class StoredRevision(StoredMetadata):
    """A revision as the archive has it. `vectors` has shape (len(passages), dimensions), in passage order.

    A passage that holds nothing readable has no vector: its row is NaN here, and null in the tables.
    """

    passages: tuple[Passage, ...]
    vectors: HalfVectors

    @property
    def is_complete(self) -> bool:
        """Whether the passages tile [0, total_chars) exactly."""
        return is_tiled([(passage.start, passage.end) for passage in self.passages], self.info.total_chars)


@dataclass(frozen=True, slots=True)
class IndexedRevision:
    """A revision as `current` has it: its passages, and the terms of each, `None` where it has none."""

    info: RevisionInfo
    passages: tuple[Passage, ...]
    terms: tuple[str | None, ...]

    @property
    def key(self) -> RevisionKey:
        """Item id and revision id."""
        return (self.info.item_id, self.info.revision_id)


def is_tiled(ranges: Iterable[Range], total: int) -> bool:
    """Whether ranges in order cover [0, total) without gap or overlap; even an empty text has one."""
    found: Sequence[Range] = list(ranges)
    starts = [0, *(end for _, end in found)]
    return bool(found) and starts[:-1] == [start for start, _ in found] and starts[-1] == total
