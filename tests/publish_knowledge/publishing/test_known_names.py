"""Names that a dataset has, and those that are similar to an unknown one."""

from __future__ import annotations

import asyncio
import time

import pytest

from knowledge.errors import InvalidRequestError
from knowledge.scopes import Scope
from publish_knowledge.publishing.known_names import (
    MAX_NAMES,
    explain_unknown_base,
    find_similar,
    find_unknown_scopes,
    list_scope_names,
    require_known_base,
    require_known_scope,
    suggest,
)
from publish_knowledge.publishing.lifecycle import purge_scope
from tests.support.datasets import ANA, FIELD, SUPPORT, Location, put
from tests.support.publishing import RIVER

SCOPES = ["owner:ana", "team:field", "team:support", "team:Support-2"]


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        ("team:suport", ["team:support", "team:Support-2"]),
        ("team:SUPPORT", ["team:support", "team:Support-2"]),
        ("owner:support", ["team:support"]),
        ("team:ana", ["owner:ana"]),
        ("owner:anna", ["owner:ana"]),
        ("team: support ", ["team:support"]),
        ("team:ｓupport", ["team:support"]),
    ],
)
def test_a_slip_finds_the_name_that_was_meant_first(name: str, similar: list[str]) -> None:
    assert find_similar(name, SCOPES)[: len(similar)] == similar


def test_nothing_is_similar_to_another_word_and_the_names_there_are_are_listed() -> None:
    assert find_similar("zebra", ["handbook"]) == []
    assert suggest("zebra", ["handbook"]) == "There is 'handbook'."
    assert suggest("zebra", map(str, range(8))) == "There is '0', '1', '2', '3', '4' and 3 more."
    assert suggest("zebra", []) == ""


def test_names_are_shown_with_their_controls() -> None:
    sentence = explain_unknown_base([SUPPORT], "handbook\x1b", ["hand\nbook"])
    assert sentence == (
        r"team:support has no base 'handbook\x1b'. `knowledge list` shows the bases there are. "
        r"Did you mean 'hand\nbook'?"
    )


def test_many_long_names_are_compared_in_seconds() -> None:
    begun = time.process_time()
    find_similar("ab" * 50_000, [f"{number}{'ba' * 50_000}" for number in range(MAX_NAMES)])
    spent = time.process_time() - begun
    begun = time.process_time()
    sum(range(20_000_000))
    assert spent < 20 * (time.process_time() - begun)


def test_scopes_that_were_published_to_or_purged_are_known(location: Location) -> None:
    async def check() -> tuple[tuple[Scope, ...], list[str]]:
        for scope in (SUPPORT, FIELD):
            await put(location, scope, "base", {"a.md": RIVER})
        async with location.store() as store:
            await purge_scope(store, FIELD)
            return await find_unknown_scopes(store, [ANA, SUPPORT, FIELD]), await list_scope_names(store)

    assert asyncio.run(check()) == ((ANA,), ["team:support"])


def test_a_scope_with_one_of_its_tables_is_known(folder: Location) -> None:
    async def check() -> tuple[Scope, ...]:
        await put(folder, SUPPORT, "base", {"a.md": RIVER})
        async with folder.store() as store:
            await store.drop_table(SUPPORT.current_table)
            return await find_unknown_scopes(store, [SUPPORT])

    assert asyncio.run(check()) == ()


def test_an_unknown_scope_or_base_is_refused_by_its_name(folder: Location) -> None:
    async def check() -> None:
        await put(folder, SUPPORT, "base", {"a.md": RIVER})
        async with folder.store() as store:
            await require_known_scope(store, SUPPORT)
            await require_known_base(store, [ANA, SUPPORT], "base")
            with pytest.raises(InvalidRequestError, match=r"no team 'suport' in the dataset at .*'team:support'"):
                await require_known_scope(store, Scope("team", "suport"))
            with pytest.raises(InvalidRequestError, match=r"owner:ana or team:support has no base 'bas'\. .*'base'"):
                await require_known_base(store, [ANA, SUPPORT], "bas")

    asyncio.run(check())
