"""`knowledge publish`: publish files as items, and report what happened to each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import click

from publish_knowledge.cli.options import base_option, finish, format_example, one_scope, target_options
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.session import Target
from publish_knowledge.publishing.options import PublishOptions
from publish_knowledge.publishing.plan import PublishReport
from publish_knowledge.publishing.publish import publish as publish_documents
from publish_knowledge.sources.files import KINDS, find_files
from publish_knowledge.sources.languages import normalize_language
from publish_knowledge.sources.loading import LoadedFiles, load_documents

_EXAMPLE: Final = format_example(
    "knowledge publish docs --uri s3://bucket/knowledge --team support --base handbook",
    "knowledge publish docs/guide/install.md --root . --uri ./dataset --owner ana --base notes --draft",
)
_PATHS: Final = click.Path(exists=True, path_type=Path)
_FOLDER: Final = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command(epilog=_EXAMPLE)
@click.argument("paths", nargs=-1, required=True, type=_PATHS, metavar="PATH…")
@target_options
@one_scope
@base_option
@click.option("--draft", is_flag=True, help="Store the revisions without making them readable.")
@click.option("--prune", is_flag=True, help="Archive items of the given folders whose file is missing.")
@click.option("--dry-run", is_flag=True, help="Report what would be done, and do nothing.")
@click.option("--language", metavar="CODE", help="Language of texts that do not declare theirs.")
@click.option("--root", type=_FOLDER, help="Folder that item paths relate to.  [default: the given folder's parent]")
@click.option("--cache/--no-cache", default=True, help="Keep embeddings between runs.  [default: keep]")
def publish(
    paths: tuple[Path, ...],
    target: Target,
    root: Path | None,
    language: str | None,
    *,
    cache: bool,
    **options: Any,  # noqa: ANN401 - fields of `PublishOptions`
) -> None:
    """Publish folders or files into a base.

    Markdown (.md, .markdown, .mdx) and plain text (.txt) are accepted, in UTF-8.

    An item is identified by its path from the given folder's name on (`docs` gives `docs/install.md`), or by an `id` in
    its front matter. Unchanged files are skipped, so the same command again publishes nothing.
    """
    if options["draft"] and options["prune"]:
        raise click.UsageError("A draft changes nothing that may be read, so it cannot --prune. Leave one of the two.")
    loaded = _load_files(paths, root, language, prune=options["prune"])
    unread = {error.path for error in loaded.errors}
    _publish(target, PublishOptions(**options, folders=loaded.folders, unread=unread), loaded, cache=cache)


def _load_files(paths: tuple[Path, ...], root: Path | None, language: str | None, *, prune: bool) -> LoadedFiles:
    if prune and not all(path.is_dir() for path in paths):
        raise click.UsageError("--prune needs whole folders: other files of the base would count as gone.")
    try:
        tag = None if language is None else normalize_language(language)
        found = find_files(paths, root)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if not found.files and not found.errors:
        raise click.UsageError(f"No {', '.join(KINDS)} files found in {', '.join(map(str, paths))}.")
    return load_documents(found, tag)


def _publish(target: Target, options: PublishOptions, loaded: LoadedFiles, *, cache: bool) -> None:
    output = target.session.output
    for error in loaded.errors:
        output.note(f"{error.path}: {error.reason}")
    report = asyncio.run(_run(target, options, loaded, cache=cache))
    output.result(_build_document(options, report, loaded), _format_lines(report, loaded))
    finish(choose_exit_code(report, loaded))


async def _run(target: Target, options: PublishOptions, loaded: LoadedFiles, *, cache: bool) -> PublishReport:
    if not options.dry_run:
        target.report_engine()
    with target.session.output.progress() as progress:
        embedder = target.create_embedder(partial(progress, "embed"), cached=cache)
        async with target.create_store() as store:
            return await publish_documents(store, options, loaded.documents, embedder=embedder, on_progress=progress)


def choose_exit_code(report: PublishReport, loaded: LoadedFiles) -> ExitCode:
    """The exit code of the most serious outcome."""
    if report.count("overwritten"):
        return ExitCode.OVERWRITTEN
    if report.count("refused"):
        return ExitCode.REFUSED
    return ExitCode.PROBLEMS if loaded.errors else ExitCode.OK


def _build_document(options: PublishOptions, report: PublishReport, loaded: LoadedFiles) -> dict[str, Any]:
    return {
        "type": "knowledge_publish_report",
        "scope": options.scope.name,
        "knowledge_base_id": options.base_id,
        "dry_run": report.dry_run,
        "counts": {**report.count_actions(), "problems": len(loaded.errors)},
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
        "problems": [error.as_dict() for error in loaded.errors],
    }


def _format_lines(report: PublishReport, loaded: LoadedFiles) -> Iterator[str]:
    for outcome in report.outcomes:
        if outcome.action != "unchanged":
            detail = f"  ({outcome.detail})" if outcome.detail else ""
            yield f"{outcome.action:<11} {outcome.source_path}{detail}"
    parts = [f"{count} {action}" for action, count in report.count_actions().items()]
    if loaded.errors:
        parts.append(f"{len(loaded.errors)} left out because of problems")
    yield ("Dry run, nothing written: " if report.dry_run else "") + ", ".join(parts) + "."
