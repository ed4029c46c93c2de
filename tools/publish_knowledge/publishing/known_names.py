"""Owners, teams and bases that a dataset has.

A mistyped name is named, beside similar ones: nothing is hidden from those who may write to a dataset.
"""

from __future__ import annotations

import asyncio
import difflib
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from knowledge.errors import InvalidRequestError
from knowledge.scopes import Scope, parse_scope
from knowledge.store.schema import HEAD, META_SCOPE, read_metadata
from publish_knowledge.store.purges import digest_of, read_records
from publish_knowledge.store.scope_tables import open_scope

if TYPE_CHECKING:
    from publish_knowledge.store.database import Store
    from publish_knowledge.store.scope_tables import ScopeTables

MAX_NAMES: Final = 1_000
"""Names that are compared with an unknown one: a dataset may have any number, and each costs a request."""

LOOKING_SECONDS: Final = 10.0
"""Time for collecting them; what was not found by then is not suggested."""

_PARALLEL: Final = 16
"""Tables opened at once."""

_COMPARED_CHARS: Final = 60
"""Start of a name that is compared: the comparison takes time with the square of it."""

_SUGGESTED: Final = 3
_LISTED: Final = 5
"""Names in a message: similar ones, or, where there are none, those that there are."""


async def find_unknown_scopes(store: Store, scopes: Iterable[Scope]) -> tuple[Scope, ...]:
    """Those to which nothing was ever published; a scope that was purged is known."""
    without = [scope for scope in scopes if not await _has_table(store, scope)]
    purged = await read_records(store) if without else {}
    return tuple(scope for scope in without if digest_of(scope) not in purged)


async def _has_table(store: Store, scope: Scope) -> bool:
    # One of the two may be left alone by an interruption, and then has to be purged or repaired.
    names = (scope.current_table, scope.revisions_table)
    return any([await store.open_table(name) is not None for name in names])


async def require_known_scope(store: Store, scope: Scope) -> None:
    """Raise `InvalidRequestError` for an owner or a team to which nothing was ever published."""
    if await find_unknown_scopes(store, [scope]):
        raise InvalidRequestError(await explain_unknown_scope(store, scope), field=scope.kind)


async def explain_unknown_scope(store: Store, scope: Scope) -> str:
    """Say that there is no such owner or team, and which there are."""
    names = await list_scope_names(store)
    return f"There is no {scope.kind} {scope.id!r} in the dataset at {store.uri}. {suggest(scope.name, names)}".strip()


async def require_known_base(store: Store, scopes: Sequence[Scope], base_id: str) -> None:
    """Raise `InvalidRequestError` for a base that none of the scopes has."""
    names = [name for scope in scopes for name in await list_bases(await open_scope(store, scope))]
    if base_id not in names:
        raise InvalidRequestError(explain_unknown_base(scopes, base_id, names), field="base_id")


def explain_unknown_base(scopes: Iterable[Scope], base_id: str, names: Iterable[str]) -> str:
    """Say that the scopes have no such base, and which they have."""
    has = f"{' or '.join(scope.name for scope in scopes)} has no base {base_id!r}."
    return f"{has} `knowledge list` shows the bases there are. {suggest(base_id, names)}".strip()


async def list_bases(tables: ScopeTables | None) -> list[str]:
    """The bases of a scope, in every state, sorted."""
    if tables is None:
        return []
    rows = await tables.current.read_rows({"kind": HEAD}, ["base_id"])
    return sorted(rows.column("base_id").unique().to_pylist())


async def list_scope_names(store: Store) -> list[str]:
    """Names of the scopes that have tables, sorted: at most `MAX_NAMES`, and what is found in `LOOKING_SECONDS`."""
    tables = [name for name in await store.list_tables() if name.startswith("current_")][:MAX_NAMES]
    limit, names = asyncio.Semaphore(_PARALLEL), set[str]()

    async def look(name: str) -> None:
        async with limit:
            table = await store.open_table(name)
            named = read_metadata(await table.schema()).get(META_SCOPE) if table else None
        if named and parse_scope(named).current_table == name:
            names.add(named)

    looking = [asyncio.create_task(look(name)) for name in tables]
    if looking:
        _, late = await asyncio.wait(looking, timeout=LOOKING_SECONDS)
        for task in late:
            task.cancel()
        await asyncio.gather(*looking, return_exceptions=True)
    return sorted(names)


def suggest(name: str, known: Iterable[str]) -> str:
    """A sentence with names similar to one that is unknown, else with some that there are; "" where there are none."""
    names = list(dict.fromkeys(known))
    similar = find_similar(name, names)
    if similar:
        return f"Did you mean {' or '.join(map(repr, similar))}?"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"There is {', '.join(map(repr, names[:_LISTED]))}{more}." if names else ""


def find_similar(name: str, known: Iterable[str]) -> list[str]:
    """Names that differ from one by a slip, most similar first; case and compatibility forms do not count."""
    spelled: dict[str, list[str]] = {}
    for one in list(known)[:MAX_NAMES]:
        spelled.setdefault(_fold(one), []).append(one)
    # An owner's id given as a team's, or the other way round, differs in its kind alone.
    wanted = _fold(name)
    others = [key for key in spelled if _without_kind(key) == _without_kind(wanted)]
    close = difflib.get_close_matches(wanted, spelled, _SUGGESTED)
    found = [one for key in dict.fromkeys([*others, *close]) for one in spelled[key] if one != name]
    return found[:_SUGGESTED]


def _fold(name: str) -> str:
    return unicodedata.normalize("NFKC", name[:_COMPARED_CHARS]).casefold().strip()[:_COMPARED_CHARS]


def _without_kind(name: str) -> str:
    return name.removeprefix("owner:").removeprefix("team:")
