"""`knowledge publish`: publish files as items, and report what happened to each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import click

from knowledge.scopes import Scope
from publish_knowledge.cli.options import base_option, finish, format_example, one_scope, target_options
from publish_knowledge.cli.output import ExitCode, Output
from publish_knowledge.cli.passed_over import format_passed_over
from publish_knowledge.cli.session import Target
from publish_knowledge.cli.sources.opening import (
    SOURCES,
    find_sources,
    name_option,
    open_given_sources,
    parse_reading,
    require_local_root,
)
from publish_knowledge.maintenance import find_outdated_terms
from publish_knowledge.publishing.known_names import (
    find_similar,
    find_unknown_scopes,
    list_bases,
    list_scope_names,
)
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import PublishReport
from publish_knowledge.publishing.publish import publish as publish_documents
from publish_knowledge.sources.file_errors import FileError
from publish_knowledge.sources.files import FoundFiles
from publish_knowledge.sources.loading import IdSource, LoadedFiles
from publish_knowledge.sources.selection import Selection
from publish_knowledge.store.marker import dataset_exists
from publish_knowledge.store.scope_tables import open_scope

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store

TYPE: Final = "knowledge_publish_report"

GONE_SHOWN: Final = 5
"""Paths named by the hint that files are gone; `--json` has all of them."""

_EXAMPLE: Final = format_example(
    "knowledge publish docs --uri s3://bucket/knowledge --team support --base handbook",
    "knowledge publish docs/guide/install.md --root . --uri ./dataset --owner ana --base notes --draft",
)
_FOLDER: Final = click.Path(exists=True, file_okay=False, path_type=Path)
_EXCLUDE: Final = "Leave out what matches, in gitignore's syntax; may be repeated. See also .knowledgeignore."
_INCLUDE: Final = "Publish only what matches, in gitignore's syntax; may be repeated."
_RECONVERT: Final = "Make new revisions of unchanged files that are converted differently today."
_IDS: Final = "What identifies items: `id` in the front matter where there is one, or the path alone."


@dataclass(frozen=True, slots=True)
class _Source:
    """Which files are published, and how they are read."""

    sources: tuple[str, ...]
    name: str | None
    root: Path | None
    language: str | None
    exclude: tuple[str, ...]
    include: tuple[str, ...]
    ids: IdSource


@dataclass(frozen=True, slots=True)
class Batch:
    """What was found and loaded, and the patterns that decided."""

    found: FoundFiles
    loaded: LoadedFiles
    selection: Selection

    @property
    def warnings(self) -> list[FileError]:
        """What the writer of a file should know, although nothing is left undone."""
        return sorted((*self.found.links, *self.loaded.warnings), key=lambda warning: warning.path)


@click.command(epilog=_EXAMPLE)
@click.argument("sources", nargs=-1, required=True, metavar=SOURCES)
@target_options
@one_scope
@base_option
@click.option("--draft", is_flag=True, help="Store the revisions without making them readable.")
@click.option("--prune", is_flag=True, help="Archive items of the given folders whose file is missing.")
@click.option("--dry-run", is_flag=True, help="Report what would be done, and do nothing.")
@click.option("--reconvert", is_flag=True, help=_RECONVERT)
@click.option("--language", metavar="CODE", help="Language of texts that do not declare theirs.")
@click.option("--root", type=_FOLDER, help="Folder that item paths relate to.  [default: the given folder's parent]")
@name_option
@click.option("--exclude", multiple=True, metavar="PATTERN", help=_EXCLUDE)
@click.option("--include", multiple=True, metavar="PATTERN", help=_INCLUDE)
@click.option("--ids", type=click.Choice(get_args(IdSource)), default="front-matter", show_default=True, help=_IDS)
@click.option("--cache/--no-cache", default=True, help="Keep embeddings between runs.  [default: keep]")
@click.option("--verbose", is_flag=True, help="List the files that are passed over.")
def publish(target: Target, *, cache: bool, verbose: bool, **options: Any) -> None:  # noqa: ANN401 - fields of `_Source` and `PublishOptions`
    """Publish folders, files or other sources into a base.

    A SOURCE is a folder, a file, s3://bucket/prefix, a Git repository at a revision
    (git+https://host/repository@revision#subdirectory=docs, also git+ssh and git+file), or - for standard input.

    Markdown (.md, .markdown, .mdx) and plain text (.txt) are accepted, in UTF-8, and with the extra `formats` also
    documents that are converted to Markdown, such as HTML, Word and Excel.

    An item is identified by its path from the given folder's name on (`docs` gives `docs/install.md`), or by an `id` in
    its front matter. Unchanged files are skipped, so the same command again publishes nothing.

    Hidden files, installed packages and build folders are left out, and what .knowledgeignore files say.
    """
    source = _Source(**{item.name: options.pop(item.name) for item in fields(_Source)})
    if options["draft"] and options["prune"]:
        raise click.UsageError("A draft changes nothing that may be read, so it cannot --prune. Leave one of the two.")
    batch = _load(target, source, prune=options["prune"])
    _publish(target, build_options(batch, options), batch, cache=cache, verbose=verbose)


def _load(target: Target, source: _Source, *, prune: bool) -> Batch:
    with open_given_sources(target.session, source.sources, source.name) as sources:
        if prune and not all(path.is_dir() for path in sources.paths):
            raise click.UsageError("--prune needs whole folders: other files of the base would count as gone.")
        require_local_root(sources, source.root)
        tag, selection = parse_reading(source.language, source.exclude, source.include)
        found = find_sources(sources, source.sources, source.root, selection)
        found = _refuse_unseen(found) if prune else found
        return Batch(found, sources.load(found, tag, source.ids), selection)


def _refuse_unseen(found: FoundFiles) -> FoundFiles:
    """With `--prune`, a folder of which nothing is known is an error."""
    reason = "No file to publish is in it: perhaps it is not mounted. What was published from it is not archived."
    paths = (source.path for source in found.files)
    filled = {folder for path in paths for folder in found.folders if path.startswith(folder)}
    known = {error.path for error in found.errors}
    empty = [folder for folder in found.folders if folder not in filled and folder.rstrip("/") not in known]
    errors = (*found.errors, *found.links, *(FileError(folder.rstrip("/"), reason) for folder in empty))
    return replace(found, errors=errors, links=(), unseen=(*found.unseen, *empty))


def build_options(batch: Batch, options: Mapping[str, Any], *, is_whole_base: bool = False) -> PublishOptions:
    """The options of a publish of a batch; `is_whole_base` where what is found is all that the base should hold."""
    found = batch.found
    by_default = (f"{one.path}/" if one.is_folder else one.path for one in found.passed_over if one.reason == "default")
    return PublishOptions(
        **options,
        folders=("",) if is_whole_base else found.folders,
        unread=batch.loaded.unread,
        unseen=(*found.unseen, *by_default),
        selects=partial(batch.selection.includes, bases=found.folders),
        siblings=found.siblings,
        report_gone=bool(found.folders) and not is_whole_base,
    )


def _publish(target: Target, options: PublishOptions, batch: Batch, *, cache: bool, verbose: bool) -> None:
    output = target.session.output
    print_findings(output, batch, verbose=verbose)
    report = asyncio.run(_run(target, options, batch.loaded, cache=cache))
    code = print_report(output, options.scope, options.base_id, report, batch)
    if report.gone:
        output.note(_describe_gone(report.gone))
    finish(code)


def print_findings(output: Output, batch: Batch, *, verbose: bool) -> None:
    """Say on stderr which files are left out, what their writers should know, and what was passed over."""
    for error in batch.loaded.errors:
        output.note(f"{error.path}: {error.reason}")
    for warning in batch.warnings:
        output.note(f"{warning.path}: Warning: {warning.reason}")
    for line in format_passed_over(batch.found.passed_over, verbose=verbose):
        output.note(line)


def print_report(
    output: Output, scope: Scope, base_id: str, report: PublishReport, batch: Batch, kind: str = TYPE
) -> ExitCode:
    """Print what was done to each item, and return the exit code that says so."""
    output.result(_build_document(scope, base_id, report, batch, kind), _format_lines(report, batch.loaded))
    return choose_exit_code(report, batch.loaded)


async def _run(target: Target, options: PublishOptions, loaded: LoadedFiles, *, cache: bool) -> PublishReport:
    if not options.dry_run:
        target.report_engine()
    with target.session.output.progress() as progress:
        embedder = target.create_embedder(
            partial(progress, "embed"), cached=cache, on_load=partial(progress, "load", 0, 0)
        )
        async with target.create_store() as store:
            announced = await announce_new_names(store, options)
            for sentence in (*announced, *map(str, await find_outdated_terms(store, options.scope))):
                target.session.output.note(sentence)
            return await publish_documents(store, options, loaded.documents, embedder=embedder, on_progress=progress)


def _describe_gone(paths: Sequence[str]) -> str:
    some = ", ".join(paths[:GONE_SHOWN]) + (", …" if len(paths) > GONE_SHOWN else "")
    count = "1 item is" if len(paths) == 1 else f"{len(paths):,} items are"
    return f"{count} still published although the file is gone: {some}. Add --prune to archive what is gone."


async def announce_new_names(store: Store, options: PublishOptions) -> list[str]:
    """What a mistyped address, owner, team or base would look like: something new, which publishing may also mean."""
    begins = "would begin" if options.dry_run else "begins"
    if not await dataset_exists(store):
        makes = "would make" if options.dry_run else "makes"
        return [f"There is no dataset at {store.uri} yet: this {makes} a new one."]
    scope = options.scope
    if await find_unknown_scopes(store, [scope]):
        hint = find_similar(scope.name, await list_scope_names(store))
        return [_announce(f"{scope.name} has nothing in this dataset yet: this {begins} it.", hint)]
    bases = await list_bases(await open_scope(store, scope))
    if options.base_id in bases:
        return []
    hint = find_similar(options.base_id, bases)
    return [_announce(f"{scope.name} has no base {options.base_id!r} yet: this {begins} it.", hint)]


def _announce(sentence: str, similar: list[str]) -> str:
    return f"{sentence} Similar: {', '.join(map(repr, similar))}." if similar else sentence


def choose_exit_code(report: PublishReport, loaded: LoadedFiles) -> ExitCode:
    """The exit code of the most serious outcome."""
    if report.count("overwritten"):
        return ExitCode.OVERWRITTEN
    if report.count("refused"):
        return ExitCode.REFUSED
    return ExitCode.PROBLEMS if loaded.errors or report.count("kept") else ExitCode.OK


def _build_document(scope: Scope, base_id: str, report: PublishReport, batch: Batch, kind: str) -> dict[str, Any]:
    return {
        "type": kind,
        "scope": scope.name,
        "knowledge_base_id": base_id,
        "dry_run": report.dry_run,
        "counts": {**report.count_actions(), "problems": len(batch.loaded.errors)},
        "items": [
            {
                "source_path": outcome.source_path,
                "knowledge_item_id": outcome.item_id,
                "knowledge_revision_id": outcome.revision_id,
                "action": outcome.action,
                "detail": outcome.detail,
            }
            for outcome in report.outcomes
        ],
        "gone": [*report.gone],
        "problems": [error.as_dict() for error in batch.loaded.errors],
        "warnings": [warning.as_dict() for warning in batch.warnings],
        "passed_over": [asdict(one) for one in batch.found.passed_over],
    }


def _format_lines(report: PublishReport, loaded: LoadedFiles) -> Iterator[str]:
    for outcome in report.outcomes:
        if outcome.action != "unchanged" or outcome.detail:
            detail = f"  ({outcome.detail})" if outcome.detail else ""
            yield f"{outcome.action:<11} {outcome.source_path}{detail}"
    parts = [f"{count} {action}" for action, count in report.count_actions().items()]
    if loaded.errors:
        parts.append(f"{len(loaded.errors)} left out because of problems")
    yield ("Dry run, nothing written: " if report.dry_run else "") + ", ".join(parts) + "."
