"""Make a base equal to a source: publish what is new, changed or renamed, then archive what is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from knowledge.errors import InvalidRequestError
from knowledge.store.schema import PUBLISHED
from publish_knowledge.embedding.embedder import Embedder
from publish_knowledge.publishing.identities import assign_items
from publish_knowledge.publishing.lifecycle import archive_items
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import ItemOutcome, PublishReport
from publish_knowledge.publishing.publish import Progress, publish
from publish_knowledge.sources.documents import Document, normalize_path
from publish_knowledge.sources.remote.buckets import RemoteObject
from publish_knowledge.store import marker
from publish_knowledge.store.purges import PurgeGuard, digest_of, read_record
from publish_knowledge.store.records import ItemHead
from publish_knowledge.store.scope_tables import ScopeTables, open_scope
from publish_knowledge.store.source_objects import SourceObject, read_objects, write_objects

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store

DEFAULT_MAX_ARCHIVE: Final = 20.0
"""Percent of a base: more than an ordinary day deletes, less than a wrong folder would."""


_SHOWN: Final = 5
"""Paths that the message about too many items names."""

_STORED: Final = frozenset({"created", "changed", "restored", "unchanged"})
"""Outcomes of a document that is what readers see now."""

_GONE: Final = "Its file is gone."
_UNSEEN: Final = "A part of the source could not be listed: it is not taken for gone."


@dataclass(frozen=True, slots=True)
class Loaded:
    """Documents of a source. `unread` are paths of files that are there, and could not be read."""

    documents: tuple[Document, ...]
    unread: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SyncSource:
    """What a source holds. `paths` are those of all its files, `objects` those with an ETag.

    `load` reads all files but the given ones. `reading` says how files are read: other options read them again. With
    `is_whole` false a part of the source could not be listed: then nothing is gone.
    """

    paths: Collection[str]
    load: Callable[[Collection[str]], Loaded]
    objects: Mapping[str, RemoteObject]
    reading: str = ""
    is_whole: bool = True


class ArchiveLimitError(InvalidRequestError):
    """More would be archived than the user allows; nothing was written."""


@dataclass(frozen=True, slots=True)
class _Base:
    """What is stored of a base before anything is written."""

    heads: tuple[ItemHead, ...] = ()
    objects: Mapping[str, SourceObject] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Plan:
    documents: tuple[Document, ...]
    options: PublishOptions
    unchanged: Mapping[str, ItemHead]
    lost: tuple[ItemHead, ...]
    is_whole: bool


async def sync(
    store: Store,
    options: PublishOptions,
    source: SyncSource,
    *,
    embedder: Embedder,
    max_archive: float = DEFAULT_MAX_ARCHIVE,
    on_progress: Progress = lambda _stage, _done, _total: None,
) -> PublishReport:
    """Make a base equal to a source; `max_archive` is in percent of its published items.

    Raises `ArchiveLimitError` before anything is written, and `InvalidRequestError` for an archived base.
    """
    base = await _read_base(store, options)
    plan = await asyncio.to_thread(_build_plan, base, options, source)
    if plan.is_whole:
        _check_limit(base, plan, max_archive)
    report = await publish(store, plan.options, plan.documents, embedder=embedder, on_progress=on_progress)
    refused = {one.item_id for one in report.outcomes if one.action == "refused"}
    gone = [head for head in plan.lost if plan.is_whole and head.item_id not in refused]
    tables = None if options.dry_run else await open_scope(store, options.scope)
    if tables is not None:
        await archive_items(tables, gone)
        await _remember(store, options, source, base, plan, report)
    return _complete(base, plan, report, gone)


async def _read_base(store: Store, options: PublishOptions) -> _Base:
    if not await marker.dataset_exists(store):
        return _Base()
    tables: ScopeTables | None = await open_scope(store, options.scope)
    if tables is None:
        return _Base()
    heads = await tables.list_heads(options.base_id)
    return _Base(tuple(heads), await read_objects(store, options.scope, options.base_id))


def _build_plan(base: _Base, options: PublishOptions, source: SyncSource) -> _Plan:
    unchanged = _find_unchanged(base, source)
    loaded = source.load(frozenset(unchanged))
    there = frozenset((*source.paths, *loaded.unread))
    # What is there without a document is not gone: it could not be read, or is known already.
    silent = there - {document.source_path for document in loaded.documents}
    options = replace(options, unread=silent, prune=False, report_gone=False)

    def is_gone(head: ItemHead) -> bool:
        return normalize_path(head.info.source_uri) not in there and options.covers(head)

    documents = assign_items(
        options.scope,
        options.base_id,
        loaded.documents,
        base.heads,
        reserved={head.item_id for head in unchanged.values()},
        is_gone=is_gone,
    )
    lost = _find_lost(base, documents, unchanged, is_gone)
    return _Plan(tuple(documents), options, unchanged, lost, source.is_whole)


def _find_unchanged(base: _Base, source: SyncSource) -> dict[str, ItemHead]:
    """Items by path whose object is what they were published from, so that it need not be fetched."""
    heads = {head.item_id: head for head in base.heads if head.state == PUBLISHED}
    found: dict[str, ItemHead] = {}
    for path, listed in source.objects.items():
        known = base.objects.get(path)
        head = heads.get(known.item_id) if known else None
        if known is None or head is None or path not in source.paths:
            continue
        same_object = (known.uri, known.etag, known.size) == (listed.uri, listed.etag, listed.size)
        same_item = (known.revision_id, path) == (head.revision_id, normalize_path(head.info.source_uri))
        if same_object and same_item and known.reading == source.reading:
            found[path] = head
    return found


def _find_lost(
    base: _Base,
    documents: Sequence[Document],
    unchanged: Mapping[str, ItemHead],
    is_gone: Callable[[ItemHead], bool],
) -> tuple[ItemHead, ...]:
    """Published items without a file: it is gone, or is another item's now."""
    kept = {document.item_id for document in documents} | {head.item_id for head in unchanged.values()}
    paths = {document.source_path for document in documents}
    free = (head for head in base.heads if head.state == PUBLISHED and head.item_id not in kept)
    lost = (head for head in free if is_gone(head) or normalize_path(head.info.source_uri) in paths)
    return tuple(sorted(lost, key=lambda head: (head.info.source_uri, head.item_id)))


def _check_limit(base: _Base, plan: _Plan, max_archive: float) -> None:
    """One item may always go, so that a small base can lose a file; with a limit of zero none may."""
    published = sum(head.state == PUBLISHED for head in base.heads)
    allowed = max(1, int(published * max_archive / 100)) if max_archive > 0 else 0
    if len(plan.lost) > allowed:
        some = ", ".join(head.info.source_uri for head in plan.lost[:_SHOWN])
        raise ArchiveLimitError(
            f"{len(plan.lost):,} of {published:,} items would be archived, and {allowed:,} may be: {some}"
            f"{', …' if len(plan.lost) > _SHOWN else ''}. Nothing was written. Check the source; if it is right, allow "
            "more with --max-archive PERCENT."
        )


async def _remember(
    store: Store, options: PublishOptions, source: SyncSource, base: _Base, plan: _Plan, report: PublishReport
) -> None:
    """Note which object each revision is of, so that the next run need not fetch it."""
    if not source.objects and not base.objects:
        return
    kept = {path: one for path, one in base.objects.items() if path in plan.unchanged or not source.is_whole}
    for outcome in report.outcomes:
        listed = source.objects.get(outcome.source_path)
        if listed is None or outcome.action not in _STORED or not outcome.revision_id:
            continue
        kept[outcome.source_path] = SourceObject(
            options.base_id,
            outcome.source_path,
            listed.uri,
            listed.etag,
            listed.size,
            outcome.item_id,
            outcome.revision_id,
            source.reading,
        )
    guard = PurgeGuard(store, options.scope, await read_record(store, digest_of(options.scope)))
    await write_objects(store, guard, options.base_id, kept.values(), base.objects)


def _complete(base: _Base, plan: _Plan, report: PublishReport, gone: Iterable[ItemHead]) -> PublishReport:
    """Add what was done besides publishing, and call a rename by its name."""
    paths = {head.item_id: normalize_path(head.info.source_uri) for head in base.heads}
    done = [_name_rename(outcome, paths.get(outcome.item_id, outcome.source_path)) for outcome in report.outcomes]
    done += [ItemOutcome(path, head.item_id, head.revision_id, "unchanged") for path, head in plan.unchanged.items()]
    done.sort(key=lambda outcome: outcome.source_path)
    done += [ItemOutcome(head.info.source_uri, head.item_id, head.revision_id, "archived", _GONE) for head in gone]
    if not plan.is_whole:
        done += [ItemOutcome(one.info.source_uri, one.item_id, one.revision_id, "kept", _UNSEEN) for one in plan.lost]
    return replace(report, outcomes=tuple(done))


def _name_rename(outcome: ItemOutcome, before: str) -> ItemOutcome:
    if outcome.action != "changed" or before == outcome.source_path:
        return outcome
    return replace(outcome, action="renamed", detail=f"It was {before}.")
