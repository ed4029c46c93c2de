"""`knowledge publish`: files in, items out, and a report of both."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from knowledge.scopes import Scope
from publish_knowledge.cli.options import base_option, example, finish, one_scope, target_options
from publish_knowledge.cli.output import ExitCode
from publish_knowledge.cli.session import Target
from publish_knowledge.sources import files as sources
from publish_knowledge.sources import languages, loading
from publish_knowledge.sources.loading import Loaded

if TYPE_CHECKING:
    from publish_knowledge.publishing.plan import PublishReport

_EXAMPLE: Final = example(
    "knowledge publish docs --uri s3://bucket/knowledge --team support --base handbook",
    "knowledge publish docs/guide/install.md --root . --uri ./dataset --owner ana --base notes --draft",
)
_PATHS: Final = click.Path(exists=True, path_type=Path)
_FOLDER: Final = click.Path(exists=True, file_okay=False, path_type=Path)


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be published, where, and how."""

    scope: Scope
    base_id: str
    draft: bool
    prune: bool
    dry_run: bool
    cache: bool


@click.command(epilog=_EXAMPLE)
@click.argument("paths", nargs=-1, required=True, type=_PATHS, metavar="PATH…")
@target_options
@one_scope
@base_option
@click.option("--draft", is_flag=True, help="Store the revisions without making them readable.")
@click.option("--prune", is_flag=True, help="Archive items of the given folders whose file is gone.")
@click.option("--dry-run", is_flag=True, help="Tell what would be done, and do nothing.")
@click.option("--language", metavar="CODE", help="Language of texts that do not declare theirs.")
@click.option("--root", type=_FOLDER, help="Folder that item paths relate to.  [default: the given folder's parent]")
@click.option("--cache/--no-cache", default=True, help="Keep embeddings between runs.  [default: keep]")
def publish(paths: tuple[Path, ...], target: Target, root: Path | None, language: str | None, **job: Any) -> None:  # noqa: ANN401 - the fields of Job
    """Publish folders or files into a base.

    Markdown (.md, .markdown, .mdx) and plain text (.txt) is taken, in UTF-8.

    An item is known by its path from the given folder's name on (`docs` gives `docs/install.md`), or by an `id` in its
    front matter. What has not changed is left alone, so the same command again publishes nothing.
    """
    if job["draft"] and job["prune"]:
        raise click.UsageError("A draft changes nothing that may be read, so it cannot --prune. Leave one of the two.")
    _publish(target, Job(**job), _loaded(paths, root, language, prune=job["prune"]))


def _loaded(paths: tuple[Path, ...], root: Path | None, language: str | None, *, prune: bool) -> Loaded:
    if prune and not all(path.is_dir() for path in paths):
        raise click.UsageError("--prune needs whole folders: other files of the base would count as gone.")
    try:
        tag = None if language is None else languages.normalized(language)
        found = sources.find(paths, root)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    if not found.files and not found.problems:
        raise click.UsageError(f"No {', '.join(sources.KINDS)} files found in {', '.join(map(str, paths))}.")
    return loading.load(found, tag)


def _publish(target: Target, job: Job, loaded: Loaded) -> None:
    output = target.session.output
    for problem in loaded.problems:
        output.note(f"{problem.path}: {problem.reason}")
    report = asyncio.run(_run(target, job, loaded))
    output.result(_document(job, report, loaded), _lines(report, loaded))
    finish(exit_code(report, loaded))


async def _run(target: Target, job: Job, loaded: Loaded) -> PublishReport:
    from publish_knowledge.publishing.publish import publish as publish_documents  # noqa: PLC0415 - see `Target`

    with target.session.output.progress() as progress:
        async with target.store() as store:
            return await publish_documents(
                store,
                job.scope,
                job.base_id,
                loaded.documents,
                embedder=target.embedder(partial(progress, "embed"), cached=job.cache),
                draft=job.draft,
                prune=job.prune,
                present={problem.path for problem in loaded.problems},
                folders=loaded.folders,
                dry_run=job.dry_run,
                on_progress=progress,
            )


def exit_code(report: PublishReport, loaded: Loaded) -> ExitCode:
    """The gravest of what happened."""
    if report.count("overwritten"):
        return ExitCode.OVERWRITTEN
    if report.count("refused"):
        return ExitCode.REFUSED
    return ExitCode.PROBLEMS if loaded.problems else ExitCode.OK


def _counts(report: PublishReport) -> dict[str, int]:
    counts: dict[str, int] = {}
    for outcome in report.outcomes:
        counts[outcome.action] = counts.get(outcome.action, 0) + 1
    return counts


def _document(job: Job, report: PublishReport, loaded: Loaded) -> dict[str, Any]:
    return {
        "type": "knowledge_publish_report",
        "scope": job.scope.name,
        "knowledge_base_id": job.base_id,
        "dry_run": report.dry_run,
        "counts": {**_counts(report), "problems": len(loaded.problems)},
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
        "problems": [problem.as_dict() for problem in loaded.problems],
    }


def _lines(report: PublishReport, loaded: Loaded) -> Iterator[str]:
    for outcome in report.outcomes:
        if outcome.action != "unchanged":
            detail = f"  ({outcome.detail})" if outcome.detail else ""
            yield f"{outcome.action:<11} {outcome.source_path}{detail}"
    parts = [f"{count} {action}" for action, count in _counts(report).items()]
    if loaded.problems:
        parts.append(f"{len(loaded.problems)} left out because of problems")
    yield ("Dry run, nothing written: " if report.dry_run else "") + ", ".join(parts) + "."
