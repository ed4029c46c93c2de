"""Scopes isolate tenants: an item belongs to exactly one scope, which alone decides who may read it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

from knowledge.errors import InvalidRequestError, ScopeRequiredError

ScopeKind = Literal["owner", "team"]

MAX_SCOPES = 50
"""Scopes one call may span: 30 scopes already cost 3.4 s cold at 20 ms a request."""

_TABLE_DIGITS = 40
"""Hex digits of the scope's digest in a table name: 160 bits, far beyond accidental collision."""


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """The knowledge of one owner or one team. Ids are compared byte for byte, never normalized."""

    kind: ScopeKind
    id: str

    @property
    def name(self) -> str:
        """`owner:<id>` or `team:<id>`, as written into every row and table."""
        return f"{self.kind}:{self.id}"

    @property
    def current_table(self) -> str:
        """Name of the table with current revisions and heads."""
        return f"current_{self._digest}"

    @property
    def revisions_table(self) -> str:
        """Name of the table with every revision's text."""
        return f"revisions_{self._digest}"

    @property
    def _digest(self) -> str:
        # Ids are arbitrary strings; a digest is a valid table name for all of them and says nothing about the tenant.
        return hashlib.sha256(self.name.encode("utf-8", "surrogatepass")).hexdigest()[:_TABLE_DIGITS]


def parse_scope(name: str) -> Scope:
    """Read `owner:<id>` or `team:<id>` back; raises `ValueError` for anything else."""
    kind, found, identity = name.partition(":")
    if not found or not identity or kind not in ("owner", "team"):
        msg = f"not a scope name: {name!r}; expected owner:<id> or team:<id>"
        raise ValueError(msg)
    return Scope("owner" if kind == "owner" else "team", identity)


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls, as verified claims say. `permissions` are the OAuth scopes of the token."""

    owner_id: str
    team_ids: tuple[str, ...] = ()
    permissions: frozenset[str] = frozenset()
    client_id: str = ""
    tier: str = "free"

    def scopes(self) -> tuple[Scope, ...]:
        """All scopes that the caller may read: its own first, no repeats, in a stable order."""
        teams = sorted(set(self.team_ids))
        return (Scope("owner", self.owner_id), *(Scope("team", team) for team in teams))


def authorized_scopes(caller: Caller | None, required: str) -> tuple[Scope, ...]:
    """Resolve a caller to its scopes.

    Raises `ScopeRequiredError` for no verified caller or one without the permission `required`, `InvalidRequestError`
    for one with more than `MAX_SCOPES` scopes.
    """
    if caller is None or not caller.owner_id:
        raise ScopeRequiredError("No verified caller: the token must name an owner.")
    if required and required not in caller.permissions:
        raise ScopeRequiredError(f"The token lacks the scope {required}.")
    scopes = caller.scopes()
    if len(scopes) > MAX_SCOPES:
        msg = f"The caller has {len(scopes)} scopes (itself and its teams); one call may span {MAX_SCOPES} at most."
        raise InvalidRequestError(msg)
    return scopes
