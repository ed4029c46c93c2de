"""`knowledge search` and `knowledge read`: the same core library, and the same JSON, as the served tool."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from knowledge.errors import KnowledgeError, StorageUnavailableError
from knowledge.requests import (
    DEFAULT_ALPHA,
    DEFAULT_MODE,
    DEFAULT_RESULTS,
    DEFAULT_WINDOW,
    MAX_RESULTS,
    MODES,
    ReadRequest,
    SearchRequest,
)
from knowledge.results import ReadAnswer, SearchAnswer
from knowledge.scopes import Scope
from knowledge.service import KnowledgeService
from publish_knowledge.cli.diagnosis import Addressed, explain_failure, list_unknown_scopes
from publish_knowledge.cli.items import find_item, item_argument, path_option
from publish_knowledge.cli.options import ID, any_scopes, format_example, optional_base, target_options
from publish_knowledge.cli.session import Target
from publish_knowledge.passages.indexed_text import join_headings

if TYPE_CHECKING:
    from knowledge.store.dataset import Dataset

T = TypeVar("T")

DEADLINE_SECONDS: Final = 60.0
"""A person waits longer than a gateway; an unavailable store is still reported within a minute."""

_WINDOW: Final = 1_000_000
"""Characters of one window of a whole text: a few megabytes, and so few windows that a long text takes seconds."""

_EXCERPT_CHARS: Final = 300
"""Characters of an excerpt that a person sees: four lines of a terminal."""

_COUNT: Final = click.IntRange(1, MAX_RESULTS)
_SHARE: Final = click.FloatRange(0, 1, clamp=True)
_ALPHA: Final = "Weight of the lexical side in hybrid, 0 to 1."
_LIMIT: Final = "Characters to read at most."
_RESULTS: Final = "Results to show at most."


def _require_number(_ctx: click.Context, _param: click.Parameter, value: float) -> float:
    if math.isnan(value):
        raise click.BadParameter("It must be a number.")
    return value


@click.command(
    epilog=format_example(
        'knowledge search "how do refunds work" --uri ./dataset --team support',
        'knowledge search "reembolso" --uri ./dataset --owner ana --team support --mode lexical --json',
    )
)
@click.argument("query")
@target_options
@any_scopes
@optional_base
@click.option("--mode", type=click.Choice(MODES), default=DEFAULT_MODE, show_default=True, help="How to rank.")
@click.option("--alpha", type=_SHARE, default=DEFAULT_ALPHA, show_default=True, callback=_require_number, help=_ALPHA)
@click.option("--max-results", type=_COUNT, default=DEFAULT_RESULTS, show_default=True, help=_RESULTS)
def search(query: str, target: Target, scopes: tuple[Scope, ...], base_id: str | None, **options: Any) -> None:  # noqa: ANN401 - the fields of a request
    """Search the published items of owners and teams."""
    if not query.strip():
        raise click.UsageError("QUERY must not be blank.")
    request = SearchRequest(query=query, base_id=base_id or "", **options)
    answer = _run(target, Addressed(scopes, request.base_id), lambda service: service.search(scopes, request))
    target.session.output.result(answer.as_dict(), _format_hits(answer))


@click.command(
    epilog=format_example(
        "knowledge read ki_… --uri ./dataset --team support",
        "knowledge read ki_… --revision kr_… --offset 4000 --limit-chars 20000 --uri ./dataset --team support",
        "knowledge read --base handbook --path docs/install.md --uri ./dataset --team support",
        "knowledge read ki_… --all --uri ./dataset --team support > install.md",
    )
)
@item_argument
@target_options
@any_scopes
@optional_base
@path_option
@click.option("--revision", "revision_id", type=ID, help="Id of one revision.  [default: the current one]")
@click.option("--offset", type=click.IntRange(0), default=0, show_default=True, help="First character to read.")
@click.option("--limit-chars", "limit", type=click.IntRange(1), default=DEFAULT_WINDOW, show_default=True, help=_LIMIT)
@click.option("--all", "whole", is_flag=True, help="Read to the end, whatever --limit-chars says.")
def read(
    item_id: str | None,
    target: Target,
    scopes: tuple[Scope, ...],
    base_id: str | None,
    path: str | None,
    *,
    whole: bool,
    **options: Any,  # noqa: ANN401 - the fields of a request
) -> None:
    """Read a window of one item's text.

    A file or a pipe gets exactly the text, in UTF-8; a terminal shows its control characters as escapes.
    """
    options["revision_id"] = options["revision_id"] or ""
    item_id = find_item(target, scopes, item_id, base_id, path)
    request = ReadRequest(item_id=item_id, base_id=base_id or "", **options)
    call = _read_to_the_end if whole else KnowledgeService.read
    addressed = Addressed(scopes, request.base_id, item_id, request.revision_id)
    answer = _run(target, addressed, lambda service: call(service, scopes, request))
    output = target.session.output
    if output.as_json:
        output.result(answer.as_dict(), ())
        return
    output.text(answer.content)
    output.note("")
    output.note(_describe_window(answer))


async def _read_to_the_end(service: KnowledgeService, scopes: tuple[Scope, ...], request: ReadRequest) -> ReadAnswer:
    """Join the windows of one revision, so that a publish meanwhile does not mix two texts."""
    first = window = await service.read(scopes, request)
    parts = [first.content]
    while (end := window.offset + len(window.content)) < first.revision.total_chars and window.content:
        following = replace(request, revision_id=first.revision.revision_id, offset=end, limit=_WINDOW)
        window = await service.read(scopes, following)
        parts.append(window.content)
    return replace(first, content="".join(parts))


def _run(target: Target, addressed: Addressed, call: Callable[[KnowledgeService], Awaitable[T]]) -> T:
    async def run_and_explain() -> T:
        dataset = target.create_dataset()
        try:
            answer = await _call_within_deadline(dataset, target, call)
            unknown = [scope for scope in addressed.scopes if await dataset.snapshot(scope) is None]
        except KnowledgeError as error:
            async with target.create_store() as store:
                raise await explain_failure(store, error, addressed) from error.__cause__
        finally:
            await dataset.close()
        if unknown:
            async with target.create_store() as store:
                for sentence in await list_unknown_scopes(store, addressed.scopes):
                    target.session.output.note(sentence)
        return answer

    return asyncio.run(run_and_explain())


async def _call_within_deadline(
    dataset: Dataset, target: Target, call: Callable[[KnowledgeService], Awaitable[T]]
) -> T:
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            return await call(KnowledgeService(dataset, target.provider))
    except TimeoutError as error:
        raise StorageUnavailableError from error


def _format_hits(answer: SearchAnswer) -> Iterator[str]:
    if not answer.hits:
        yield "Nothing found."
    for rank, hit in enumerate(answer.hits, start=1):
        revision = hit.revision
        yield f"{rank}. {join_headings(revision.title, hit.locator)}  [{hit.scores.score:.3f}]"
        yield f"   {revision.source_uri}  {revision.scope.name}  {revision.base_id}  {revision.item_id}"
        yield f"   {' '.join(hit.excerpt.split())[:_EXCERPT_CHARS]}"


def _describe_window(answer: ReadAnswer) -> str:
    end, total = answer.offset + len(answer.content), answer.revision.total_chars
    window = f"[characters {answer.offset} to {end} of {total}, revision {answer.revision.revision_id}]"
    return f"{window} Next: --revision {answer.revision.revision_id} --offset {end}" if end < total else window
