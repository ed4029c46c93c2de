"""`knowledge list`, `history`, `archive` and `restore`: show items and revisions, archive items and restore them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import click

from knowledge.errors import InvalidRequestError
from knowledge.scopes import Scope
from publish_knowledge.cli.diagnosis import list_unknown_scopes
from publish_knowledge.cli.options import ID, Command, format_example, one_scope, optional_base, target_options
from publish_knowledge.cli.output import UnknownIdError
from publish_knowledge.cli.session import Target
from publish_knowledge.publishing import lifecycle
from publish_knowledge.publishing.catalog import ItemEntry, RevisionEntry, list_items, list_revisions
from publish_knowledge.publishing.known_names import require_known_base
from publish_knowledge.publishing.lifecycle import LifecycleReport
from publish_knowledge.sources.documents import normalize_path

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store

_item_option: Final = click.option("--item", "item_id", type=ID, help="Id of the item.")
Names = tuple[str | None, str | None, str | None]
"""What is archived or restored: an item id, a path, a base id."""

path_option: Final = click.option("--path", type=ID, help="Path the item was published from; needs --base.")
item_argument: Final = click.argument("item_id", type=ID, metavar="[ITEM]", required=False)


@click.command("list", epilog=format_example("knowledge list --uri ./dataset --team support --base handbook"))
@target_options
@one_scope
@optional_base
def items(target: Target, scope: Scope, base_id: str | None) -> None:
    """List the items of an owner or a team.

    Items of every state are listed, with their drafts.
    """
    with distinguish_unknown_ids():
        entries = target.run_in_scope(scope, lambda store: _list_known_items(store, scope, base_id))
    document = {
        "type": "knowledge_items",
        "scope": scope.name,
        "items": [_build_item_document(entry) for entry in entries],
    }
    target.session.output.result(document, _format_items(entries))


async def _list_known_items(store: Store, scope: Scope, base_id: str | None) -> tuple[ItemEntry, ...]:
    entries = await list_items(store, scope, base_id)
    if base_id is not None and not entries:
        await require_known_base(store, [scope], base_id)
    return entries


@click.command(
    epilog=format_example(
        "knowledge history ki_… --uri ./dataset --team support",
        "knowledge history --base handbook --path docs/install.md --uri ./dataset --team support",
    )
)
@item_argument
@target_options
@one_scope
@optional_base
@path_option
def history(item_id: str | None, target: Target, scope: Scope, base_id: str | None, path: str | None) -> None:
    """List the revisions of an item, latest first."""
    item_id = find_item(target, [scope], item_id, base_id, path)
    with distinguish_unknown_ids():
        entries = target.run_in_scope(scope, lambda store: list_revisions(store, scope, item_id))
    document = {
        "type": "knowledge_history",
        "scope": scope.name,
        "knowledge_item_id": item_id,
        "revisions": [_build_revision_document(entry) for entry in entries],
    }
    lines = (f"{entry.state:<8} {entry.at}  {entry.info.revision_id}  {entry.info.title}" for entry in entries)
    target.session.output.result(document, lines)


def _add_options(command: Command) -> Command:
    return target_options(one_scope(_item_option(path_option(optional_base(command)))))


@click.command(
    epilog=format_example(
        "knowledge archive --item ki_… --uri ./dataset --team support",
        "knowledge archive --base handbook --path docs/old.md --uri ./dataset --team support",
        "knowledge archive --base handbook --uri ./dataset --team support",
    )
)
@_add_options
def archive(target: Target, scope: Scope, item_id: str | None, path: str | None, base_id: str | None) -> None:
    """Remove an item, or a whole base, from queries and reads."""
    _change(target, scope, "archived", (item_id, path, base_id))


@click.command(
    epilog=format_example(
        "knowledge restore --item ki_… --uri ./dataset --team support",
        "knowledge restore --base handbook --uri ./dataset --team support",
    )
)
@_add_options
def restore(target: Target, scope: Scope, item_id: str | None, path: str | None, base_id: str | None) -> None:
    """Make an archived item, or a whole base, readable again.

    Items that were archived one by one stay archived when their base comes back.
    """
    _change(target, scope, "restored", (item_id, path, base_id))


def _change(target: Target, scope: Scope, action: str, names: Names) -> None:
    item_id, path, base_id = names
    if (item_id is not None) + (path is not None) > 1 or (path is not None and base_id is None) or not any(names):
        raise click.UsageError("Give --item ID, or --base ID with --path PATH, or --base ID alone for the whole base.")
    with distinguish_unknown_ids():
        report = target.run_in_scope(scope, lambda store: _change_in_store(store, scope, action, names))
    document = {"type": f"knowledge_{action}", "scope": scope.name, **asdict(report)}
    target.session.output.result(document, [_summarize(action, report)])


def _summarize(action: str, report: LifecycleReport) -> str:
    count = len(report.item_ids)
    done = f"{action.capitalize()} {count} {'item' if count == 1 else 'items'}." if report.changed else ""
    return " ".join(part for part in (done, report.detail) if part)


async def _change_in_store(store: Store, scope: Scope, action: str, names: Names) -> LifecycleReport:
    item_id, path, base_id = names
    on_item = lifecycle.archive_item if action == "archived" else lifecycle.restore_item
    on_base = lifecycle.archive_base if action == "archived" else lifecycle.restore_base
    if path is not None and base_id is not None:
        item_id = await _find_item_at(store, [scope], base_id, path, "--item with")
    if item_id is not None:
        return await on_item(store, scope, item_id)
    return await on_base(store, scope, base_id or "")


def find_item(
    target: Target, scopes: Sequence[Scope], item_id: str | None, base_id: str | None, path: str | None
) -> str:
    """The item that ITEM names, or --base and --path; raises `UnknownIdError`."""
    if path is not None and base_id is not None and item_id is None:
        with distinguish_unknown_ids():
            return target.run(lambda store: _find_item_at(store, scopes, base_id, path, "ITEM,"))
    if item_id is None or path is not None:
        raise click.UsageError("Give ITEM, or --base ID with --path PATH.")
    return item_id


async def _find_item_at(store: Store, scopes: Sequence[Scope], base_id: str, path: str, instead: str) -> str:
    entries = [entry for scope in scopes for entry in await list_items(store, scope, base_id)]
    if not entries:
        await list_unknown_scopes(store, scopes)
        await require_known_base(store, scopes, base_id)
    paths = ((entry.head.item_id, normalize_path(entry.head.info.source_uri)) for entry in entries)
    found = [item_id for item_id, source in paths if source == normalize_path(path)]
    if len(found) == 1:
        return found[0]
    if found:
        raise click.UsageError(f"Several items were published from {path!r}: give {instead} one of {', '.join(found)}.")
    raise UnknownIdError(f"Base {base_id!r} has no item from {path!r}. `knowledge list` shows the paths.", field="path")


@contextmanager
def distinguish_unknown_ids() -> Iterator[None]:
    """Give an unknown id an exit code of its own: the store refuses it like any other invalid request."""
    try:
        yield
    except InvalidRequestError as error:
        raise UnknownIdError(error.message, field=error.field) from error


def _build_item_document(entry: ItemEntry) -> dict[str, Any]:
    head = entry.head
    return {
        "knowledge_base_id": head.base_id,
        "knowledge_item_id": head.item_id,
        "knowledge_revision_id": head.revision_id,
        "state": head.state,
        "base_archived": entry.base_archived,
        "title": head.info.title,
        "language": head.info.language,
        "source_path": head.info.source_uri,
        "total_chars": head.info.total_chars,
        "content_sha256": head.info.content_sha256,
        "published_at": head.info.published_at,
        "drafts": [_build_revision_document(draft) for draft in entry.drafts],
    }


def _build_revision_document(entry: RevisionEntry) -> dict[str, Any]:
    info = entry.info
    return {
        "knowledge_revision_id": info.revision_id,
        "state": entry.state,
        "sequence": entry.sequence,
        "title": info.title,
        "language": info.language,
        "source_uri": info.source_uri,
        "total_chars": info.total_chars,
        "content_sha256": info.content_sha256,
        "previous_id": entry.previous_id,
        "at": entry.at,
    }


def _format_items(entries: tuple[ItemEntry, ...]) -> Iterator[str]:
    for entry in entries:
        head, info = entry.head, entry.head.info
        drafts = f"  (+{len(entry.drafts)} drafts)" if entry.drafts else ""
        hidden = " (base archived)" if entry.base_archived else ""
        yield f"{head.state:<9} {head.base_id}{hidden}  {info.item_id}  {info.source_uri}  {info.title}{drafts}"
    if not entries:
        yield "No items."
