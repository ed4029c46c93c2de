"""Scopes: names, tables, and what a caller may read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.errors import InvalidRequestError, ScopeRequiredError
from knowledge.scopes import MAX_SCOPES, Caller, Scope, authorized_scopes, parse_scope

READ = "knowledge:read"
ANY_TEXT = st.text(st.characters(exclude_categories=[]), min_size=1)
SCOPES = st.builds(Scope, st.sampled_from(["owner", "team"]), ANY_TEXT)


@given(SCOPES)
def test_a_name_reads_back_as_its_scope(scope: Scope) -> None:
    assert parse_scope(scope.name) == scope


@pytest.mark.parametrize("name", ["", "ana", "owner", "owner:", ":ana", "user:ana", "Owner:ana", " owner:ana"])
def test_other_names_are_refused_with_what_is_expected(name: str) -> None:
    with pytest.raises(ValueError, match="expected owner:<id> or team:<id>"):
        parse_scope(name)


@given(st.lists(SCOPES, unique=True))
def test_every_scope_has_tables_of_its_own_under_plain_names(scopes: list[Scope]) -> None:
    tables = [name for scope in scopes for name in (scope.current_table, scope.revisions_table)]
    assert len(set(tables)) == 2 * len(scopes)
    assert all(name.isascii() and name.isidentifier() for name in tables)


def test_the_names_of_tables_never_change() -> None:
    assert Scope("owner", "ana").current_table == "current_f4afeacd11ef78e4e2de971cb14bda3d7bf48ca8"
    assert Scope("team", "support").revisions_table == "revisions_158af367a243b21f0c47253ee03c1cf687526ca3"


def test_a_caller_reads_its_own_scope_first_and_then_its_teams_each_once() -> None:
    caller = Caller("ana", ("support", "field", "support"))
    assert caller.scopes() == (Scope("owner", "ana"), Scope("team", "field"), Scope("team", "support"))
    assert caller.scopes() == Caller("ana", ("field", "support")).scopes()


def test_a_permitted_caller_gets_its_scopes() -> None:
    caller = Caller("ana", ("support",), frozenset({READ, "other"}))
    assert authorized_scopes(caller, READ) == caller.scopes()
    assert authorized_scopes(Caller("ana"), "") == (Scope("owner", "ana"),)


@pytest.mark.parametrize("caller", [None, Caller(""), Caller("", ("support",), frozenset({READ}))])
def test_without_a_verified_owner_nothing_is_read(caller: Caller | None) -> None:
    with pytest.raises(ScopeRequiredError, match="the token must name an owner"):
        authorized_scopes(caller, READ)


@pytest.mark.parametrize("permissions", [set(), {"knowledge:write"}, {"knowledge:Read"}, {"knowledge"}])
def test_without_the_permission_nothing_is_read(permissions: set[str]) -> None:
    with pytest.raises(ScopeRequiredError, match="The token lacks the scope knowledge:read"):
        authorized_scopes(Caller("ana", (), frozenset(permissions)), READ)


def test_as_many_scopes_as_a_call_may_span_are_read_and_one_more_is_refused() -> None:
    most = Caller("ana", tuple(f"t{number}" for number in range(MAX_SCOPES - 1)), frozenset({READ}))
    assert len(authorized_scopes(most, READ)) == MAX_SCOPES
    crowd = Caller("ana", tuple(f"t{number}" for number in range(MAX_SCOPES)), frozenset({READ}))
    with pytest.raises(InvalidRequestError, match="51 scopes"):
        authorized_scopes(crowd, READ)
