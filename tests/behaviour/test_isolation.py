"""Isolation: generated calls over many owners and teams with confusable ids never show a foreign row."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import pytest

from knowledge.claims import CONTEXT_MARK
from knowledge.requests import MODES
from knowledge.scopes import Scope
from search_knowledge.app import Handler
from tests.support.calls import Context, Json, body_of, call, rest_event, switched_on, tool_call
from tests.support.campaign import choose_trials
from tests.support.datasets import Location, build, item

CALLS: Final = choose_trials(20_000, 200_000)
CHECKED_IN_FULL: Final = 10
"""One call in so many is checked against the schema of answers, which takes longer than the call itself."""
HOSTILE: Final = [
    "ana",
    "Ana",
    "ana ",
    " ana",
    "a b",
    "a",
    "b",
    "a,b",
    "x' OR '1'='1",
    'x" OR ""="',
    "'; DROP TABLE current; --",
    "team:support",
    "owner:ana",
    "аna",
    "ana\u200b",
    "ﬁ",
    "fi",
    "é",
    "e\u0301",
    "ßtrasse",
    "日本",
    "../../ana",
    "%",
    "_",
    "[a b]",
    '["a","b"]',
    "null",
    "a\tb",
    "𝒜",
    "A" * 300,
]
WORDS: Final = ["pump", "valve", "router", "password", "invoice", "holiday"]


@dataclass(frozen=True, slots=True)
class World:
    """A handler over scopes that all have the same base and paths; each text names its scope."""

    handler: Handler
    scopes: tuple[Scope, ...]


def make_texts(scope: Scope) -> dict[str, str]:
    token = f"belongs-to {scope.kind} number {abs(hash(scope.name)) % 97}"
    return {
        "docs/install.md": f"# Install\n\nThe pump and the valve, {token}.\n",
        "docs/other.md": f"# Other\n\nRouter password and invoice, {token}.\n",
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    scopes = (*(Scope("owner", one) for one in HOSTILE), *(Scope("team", one) for one in HOSTILE))
    where = Location(str(tmp_path_factory.mktemp("isolation") / "data"))
    build(where, {(scope, "docs"): make_texts(scope) for scope in scopes})
    with switched_on(where.uri) as handler:
        yield World(handler, scopes)


def make_claims(owner: str, teams: list[str]) -> Json:
    return {"sub": owner, "scope": "knowledge:read", "teams": json.dumps(teams), **CONTEXT_MARK}


def make_list_claims(owner: str, teams: list[str]) -> Json:
    return {"lambda": {"sub": owner, "scope": "knowledge:read", "teams": teams}}


def make_text_claims(owner: str, text: str) -> Json:
    """What Cognito's authorizer makes of one group with this name."""
    return {"claims": {"sub": owner, "scope": "knowledge:read", "teams": text}}


def list_rights(owner: str, teams: list[str]) -> set[tuple[str, str]]:
    return {("owner", owner), *(("team", team) for team in teams)}


def scope_of(result: Mapping[str, Any]) -> tuple[str, str]:
    return result["scope"], result["owner_id"] if result["scope"] == "owner" else result["team_id"]


def ask(world: World, number: int, arguments: Json, authorizer: Json) -> Json:
    if number % CHECKED_IN_FULL == 0:
        return call(world.handler, arguments, authorizer=authorizer)
    answer = world.handler(rest_event(tool_call(arguments), authorizer=authorizer), Context())
    envelope: Json = body_of(answer)["result"]["structuredContent"]
    return envelope


def test_no_call_shows_a_foreign_row(world: World) -> None:
    chance = random.Random(11)
    refused = set()
    for number in range(CALLS):
        owner, teams = chance.choice(HOSTILE), chance.sample(HOSTILE, chance.randint(0, 2))
        allowed = list_rights(owner, teams)
        claims = chance.choice([make_claims, make_list_claims])(owner, teams)
        if number % 2:
            target = chance.choice(world.scopes)
            arguments: Json = {"knowledge_item_id": item(target, "docs", chance.choice([*make_texts(target)]))}
            envelope = ask(world, number, arguments, claims)
            if (target.kind, target.id) in allowed:
                assert scope_of(envelope) == (target.kind, target.id)
            else:
                refused.add(json.dumps(envelope))
        else:
            # Semantic modes are slower; most calls are lexical, and every mode gets its share.
            mode = chance.choice([*MODES, *["lexical"] * 4])
            arguments = {"query": " ".join(chance.sample(WORDS, 2)), "mode": mode, "max_results": 50}
            envelope = ask(world, number, arguments, claims)
            assert {scope_of(hit) for hit in envelope["results"]} <= allowed
            assert envelope["results"]
    assert len(refused) == 1


def test_the_name_of_a_group_opens_that_group_or_nothing(world: World) -> None:
    names = [*HOSTILE, *(json.dumps(HOSTILE[start : start + 2]) for start in range(0, len(HOSTILE), 2)), '["support"]']
    arguments = {"query": "pump valve", "mode": "lexical", "max_results": 50}
    opened = 0
    for owner, name in product(("ana", "b"), names):
        envelope = call(world.handler, arguments, authorizer=make_text_claims(owner, name))
        if envelope["type"] == "knowledge_error":
            assert envelope["error"]["code"] == "knowledge_scope_required"
        else:
            assert {scope_of(hit) for hit in envelope["results"]} == list_rights(owner, [name])
            opened += 1
    assert 0 < opened < 2 * len(names)


def test_a_team_of_the_same_name_is_not_its_owner(world: World) -> None:
    for name in HOSTILE:
        envelope = call(world.handler, {"query": "pump valve", "max_results": 50}, authorizer=make_claims(name, []))
        assert {scope_of(hit) for hit in envelope["results"]} == {("owner", name)}


def test_ids_with_quotes_and_filters_in_them_are_plain_ids(world: World) -> None:
    for hostile in HOSTILE:
        for field in ("knowledge_base_id", "knowledge_item_id"):
            arguments = {field: hostile} | ({"query": "pump"} if field == "knowledge_base_id" else {})
            envelope = call(world.handler, arguments, authorizer=make_claims("ana", ["a"]))
            assert envelope["error"]["code"] == "knowledge_resource_unavailable"


def test_table_names_reveal_nothing_about_the_tenant(world: World) -> None:
    names = {scope.current_table for scope in world.scopes} | {scope.revisions_table for scope in world.scopes}
    assert len(names) == 2 * len(world.scopes)
    assert all(name.partition("_")[2].isalnum() and name.isascii() for name in names)
