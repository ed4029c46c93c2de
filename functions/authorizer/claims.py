"""Turn a token's claims into the flat texts that a gateway can pass to the tool.

Their names are fixed, whatever the issuer calls its claims, so that only this side has to be configured. Teams are
passed as a JSON array, the only form that is never ambiguous. `knowledge.claims` defines what a claim's value means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from authorizer.errors import RefusedCallerError
from authorizer.settings import Settings, UsageKeys
from knowledge.claims import (
    FREE_TIER,
    AmbiguousClaimError,
    ClaimNames,
    read_owner,
    read_permissions,
    read_teams,
    read_text,
)

PERMISSION: Final = "knowledge:read"
"""The tool's name of the permission to read; an issuer may have another name for it."""

MAX_CONTEXT_BYTES: Final = 7000
"""The gateway accepts an answer of 8 kB, policy included."""

_OTHER_CLIENT_CLAIM: Final = "azp"

Claims = Mapping[str, Any]


def context_of(claims: Claims, settings: Settings) -> dict[str, str]:
    """The caller as texts: `sub`, `teams`, `scope`, `client_id`, `tier`.

    Raises `RefusedCallerError` if the token lacks the required scope, or if owner or teams are ambiguous.
    """
    names = settings.claim_names
    try:
        context = {
            "scope": " ".join(_permissions(claims, names, settings.required_scope)),
            "sub": _owner(claims, names),
            "teams": json.dumps(read_teams(claims, names), separators=(",", ":")),
            "client_id": read_text(claims.get(names.client)) or read_text(claims.get(_OTHER_CLIENT_CLAIM)),
            "tier": read_text(claims.get(names.tier)) or FREE_TIER,
        }
    except AmbiguousClaimError as error:
        raise RefusedCallerError(str(error)) from None
    if len(json.dumps(context)) > MAX_CONTEXT_BYTES:
        raise RefusedCallerError("the claims are larger than the gateway can pass on")
    return context


def usage_key(claims: Claims, context: Mapping[str, str], names: ClaimNames, keys: UsageKeys) -> str:
    """The API key that counts the call: the caller's own, else its tier's; empty if there is none."""
    own = read_text(claims.get(names.usage_key)) or keys.by_owner.get(context["sub"], "")
    return own or keys.by_tier.get(context["tier"], "") or keys.by_tier.get(FREE_TIER, "")


def _permissions(claims: Claims, names: ClaimNames, required: str) -> Sequence[str]:
    granted = read_permissions(claims, names, arrays_in_text=False)
    if required not in granted:
        msg = f"the token lacks the scope {required}"
        raise RefusedCallerError(msg)
    return sorted({PERMISSION, *granted})


def _owner(claims: Claims, names: ClaimNames) -> str:
    owner = read_owner(claims, names)
    if not owner:
        msg = f"the token names no owner in the claim {names.owner}"
        raise RefusedCallerError(msg)
    return owner
