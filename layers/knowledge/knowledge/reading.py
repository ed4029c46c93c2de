"""Addressed reads: one window of one revision, joined from passages that cover it without a gap."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from knowledge.errors import ResourceUnavailableError, StorageUnavailableError
from knowledge.results import ReadAnswer
from knowledge.store.concurrency import gather_all, gather_pair
from knowledge.store.revision import is_readable
from knowledge.store.schema import MAX_OFFSET, content_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from knowledge.requests import ReadRequest
    from knowledge.store.revision import PassageRow, RevisionInfo
    from knowledge.store.snapshot import Snapshot


async def read(snapshots: Sequence[Snapshot], request: ReadRequest) -> ReadAnswer:
    """Read a window over one snapshot of each scope the caller may read.

    Raises `ResourceUnavailableError`, the same for all reasons, when the revision is not readable, and
    `StorageUnavailableError` when its stored passages do not cover the window, or are a whole text of another digest.
    """
    located = await gather_all(_locate(snapshot, request) for snapshot in snapshots)
    readable = [found for found in located if found is not None]
    if not readable:
        raise ResourceUnavailableError
    found = readable[0]
    rows = await _read_passages(found, request)
    content = "".join(_clip(row, request) for row in rows)
    _verify_whole_text(content, found.revision)
    locator = rows[0].heading if rows else ""
    return ReadAnswer(found.revision, found.is_current, content, locator, request.offset, request.limit)


@dataclass(frozen=True, slots=True)
class _LocatedRevision:
    """A readable revision; `current` holds the passages of its item's current revision that overlap the window."""

    snapshot: Snapshot
    revision: RevisionInfo
    is_current: bool
    current: list[PassageRow]


async def _locate(snapshot: Snapshot, request: ReadRequest) -> _LocatedRevision | None:
    # The end of the text is not known yet, and an offset may be far beyond it.
    start = min(request.offset, MAX_OFFSET)
    found, archived = await gather_pair(
        snapshot.read_item(request.item_id, request.revision_id, start, start + request.limit),
        snapshot.archived_bases(),
    )
    head = found.head
    if head is None or not is_readable(head.state, head.revision.base_id, archived):
        return None
    if request.base_id and request.base_id != head.revision.base_id:
        return None
    chosen = found.history if request.revision_id else head
    if chosen is None:
        return None
    is_current = chosen.revision.revision_id == head.revision.revision_id
    return _LocatedRevision(snapshot, chosen.revision, is_current, found.passages)


async def _read_passages(found: _LocatedRevision, request: ReadRequest) -> list[PassageRow]:
    revision, start = found.revision, request.offset
    end = min(start + request.limit, revision.total_chars)
    if start >= end:
        return []
    rows = [row for row in found.current if row.revision_id == revision.revision_id]
    if found.is_current and _covers(rows, start, end):
        return rows
    # The archive's handle may be older than the head that names the revision: open it again before giving up.
    for fresh in (False, True):
        rows = await found.snapshot.read_archive(revision.item_id, revision.revision_id, start, end, fresh=fresh)
        if _covers(rows, start, end):
            return rows
    raise StorageUnavailableError


def _covers(rows: Sequence[PassageRow], start: int, end: int) -> bool:
    """Whether ordered rows cover [start, end) without a gap or an overlap."""
    if not rows or rows[0].start > start or rows[-1].end < end:
        return False
    return all(before.end == after.start for before, after in pairwise(rows))


def _verify_whole_text(content: str, revision: RevisionInfo) -> None:
    """Compare a window that is the whole text with its digest; a part of a text cannot be compared with anything."""
    if len(content) == revision.total_chars and content_digest(content) != revision.content_sha256:
        raise StorageUnavailableError


def _clip(row: PassageRow, request: ReadRequest) -> str:
    return row.text[max(0, request.offset - row.start) : request.offset + request.limit - row.start]
