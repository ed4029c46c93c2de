"""`knowledge sync`: make a base equal to its sources, and report what was done or would be."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

import click

from knowledge.scopes import Scope
from knowledge.store.schema import digest
from publish_knowledge.cli.options import base_option, finish, format_example, one_scope, target_options
from publish_knowledge.cli.publish import Batch, announce_new_names, build_options, print_findings, print_report
from publish_knowledge.cli.session import Target
from publish_knowledge.cli.sources.opening import (
    SOURCES,
    find_sources,
    open_given_sources,
    parse_reading,
    require_local_root,
)
from publish_knowledge.publishing.plan import PublishReport
from publish_knowledge.publishing.sync import DEFAULT_MAX_ARCHIVE, Loaded, SyncSource
from publish_knowledge.publishing.sync import sync as sync_base
from publish_knowledge.sources.files import FoundFiles
from publish_knowledge.sources.loading import IdSource, LoadedFiles
from publish_knowledge.sources.remote.fetching import Sources
from publish_knowledge.sources.selection import Selection

TYPE: Final = "knowledge_sync_report"

_EXAMPLE: Final = format_example(
    "knowledge sync docs --uri s3://bucket/knowledge --team support --base handbook",
    "knowledge sync s3://documents/handbook --uri ./dataset --owner ana --base notes --dry-run --json",
)
_FOLDER: Final = click.Path(exists=True, file_okay=False, path_type=Path)
_PERCENT: Final = click.FloatRange(0, 100)
_LIMIT: Final = "Archive at most this share of the base's items, else write nothing; one item may always go, unless 0."


@dataclass(frozen=True, slots=True)
class _Reading:
    """How the sources are read."""

    root: Path | None
    language: str | None
    exclude: tuple[str, ...]
    include: tuple[str, ...]
    ids: IdSource


@dataclass(slots=True)
class _Opened:
    """Sources that are open, with what was found in them; they are loaded when it is known what is unchanged."""

    sources: Sources
    found: FoundFiles
    selection: Selection
    language: str | None
    ids: IdSource
    loaded: LoadedFiles = field(default_factory=lambda: LoadedFiles((), ()))

    def load(self, unchanged: Collection[str]) -> Loaded:
        self.loaded = self.sources.load(self.found, self.language, self.ids, unchanged)
        return Loaded(self.loaded.documents, self.loaded.unread)

    @property
    def batch(self) -> Batch:
        return Batch(self.found, self.loaded, self.selection)


@click.command(epilog=_EXAMPLE)
@click.argument("sources", nargs=-1, required=True, metavar=SOURCES)
@target_options
@one_scope
@base_option
@click.option("--dry-run", is_flag=True, help="Report what would be done, and do nothing.")
@click.option(
    "--max-archive", type=_PERCENT, default=DEFAULT_MAX_ARCHIVE, show_default=True, metavar="PERCENT", help=_LIMIT
)
@click.option("--language", metavar="CODE", help="Language of texts that do not declare theirs.")
@click.option("--root", type=_FOLDER, help="Folder that item paths relate to.  [default: the given folder's parent]")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out what matches; may be repeated.")
@click.option("--include", multiple=True, metavar="PATTERN", help="Take only what matches; may be repeated.")
@click.option(
    "--ids",
    type=click.Choice(get_args(IdSource)),
    default="front-matter",
    show_default=True,
    help="What identifies items.",
)
@click.option("--cache/--no-cache", default=True, help="Keep embeddings between runs.  [default: keep]")
@click.option("--verbose", is_flag=True, help="List the files that are passed over.")
def sync(target: Target, sources: tuple[str, ...], scope: Scope, base_id: str, **options: Any) -> None:  # noqa: ANN401 - see the decorators
    """Make a base equal to its sources.

    A SOURCE is a folder, s3://bucket/prefix, or a Git repository at a revision
    (git+https://host/repository@revision#subdirectory=docs, also git+ssh and git+file). Give all sources of the base in
    one command.

    New files are published, changed ones get a revision, renamed ones keep their item with its history, and items
    whose file is gone are archived. Objects of a bucket are fetched only where their ETag is new.

    Nothing is archived where a part of a source could not be listed.
    """
    reading = _Reading(**{name: options.pop(name) for name in _Reading.__slots__})
    with open_given_sources(target.session, sources, None) as opened:
        require_local_root(opened, reading.root)
        if not all(path.is_dir() for path in opened.paths):
            raise click.UsageError("sync needs whole folders: other files of the base would count as gone.")
        tag, selection = parse_reading(reading.language, reading.exclude, reading.include)
        found = find_sources(opened, sources, reading.root, selection)
        state = _Opened(opened, found, selection, tag, reading.ids)
        report = asyncio.run(_run(target, state, scope, base_id, options))
    print_findings(target.session.output, state.batch, verbose=options["verbose"])
    finish(print_report(target.session.output, scope, base_id, report, state.batch, kind=TYPE))


async def _run(target: Target, state: _Opened, scope: Scope, base_id: str, options: dict[str, Any]) -> PublishReport:
    wanted = {"scope": scope, "base_id": base_id, "dry_run": options["dry_run"]}
    publishing = build_options(state.batch, wanted, is_whole_base=True)
    source = SyncSource(
        paths=frozenset(source.path for source in state.found.files),
        load=state.load,
        objects=state.sources.objects,
        reading=digest("reading", state.language or "", state.ids),
        is_whole=is_whole(state.found),
    )
    if not publishing.dry_run:
        target.report_engine()
    with target.session.output.progress() as progress:
        embedder = target.create_embedder(
            partial(progress, "embed"), cached=options["cache"], on_load=partial(progress, "load", 0, 0)
        )
        async with target.create_store() as store:
            for sentence in await announce_new_names(store, publishing):
                target.session.output.note(sentence)
            return await sync_base(
                store, publishing, source, embedder=embedder, max_archive=options["max_archive"], on_progress=progress
            )


def is_whole(found: FoundFiles) -> bool:
    """Whether everything could be listed: no source failed, no folder refused, and none that was given is empty."""
    filled = {folder for source in found.files for folder in found.folders if source.path.startswith(folder)}
    failed = {f"{error.path.rstrip('/')}/" for error in found.errors} & {*found.unseen}
    return not failed and "" not in found.unseen and filled == {*found.folders}
