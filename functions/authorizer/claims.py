"""Turn a token's claims into the flat texts that a gateway can pass to the tool.

Their names are fixed, whatever the issuer calls its claims, so that only this side has to be configured. Teams are
passed as a JSON array, the only form that is never ambiguous, and the context is marked as this authorizer's own.
`knowledge.claims` defines what a claim's value means, here and in the function.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from authorizer.errors import RefusedCallerError
from authorizer.settings import Settings, UsageKeys
from knowledge.claims import (
    CONTEXT_MARK,
    FREE_TIER,
    AmbiguousClaimError,
    ClaimNames,
    read_caller,
    read_label,
)

PERMISSION: Final = "knowledge:read"
"""The tool's name of the permission to read; an issuer may have another name for it."""

Claims = Mapping[str, Any]


def context_of(claims: Claims, settings: Settings) -> dict[str, str]:
    """The caller as texts: `sub`, `teams`, `scope`, `client_id`, `tier`, and the mark.

    Raises `RefusedCallerError` if the token lacks the required scope or an owner, or if a claim is ambiguous.
    """
    names = settings.claim_names
    try:
        caller = read_caller(claims, names)
    except AmbiguousClaimError as error:
        raise RefusedCallerError(str(error)) from None
    if settings.required_scope not in caller.permissions:
        msg = f"the token lacks the scope {settings.required_scope}"
        raise RefusedCallerError(msg)
    if not caller.owner:
        msg = f"the token names no owner in the claim {names.owner}"
        raise RefusedCallerError(msg)
    return {
        "scope": " ".join(sorted({PERMISSION, *caller.permissions})),
        "sub": caller.owner,
        "teams": json.dumps(caller.teams, separators=(",", ":")),
        "client_id": caller.client,
        "tier": caller.tier,
        **CONTEXT_MARK,
    }


def usage_key(claims: Claims, context: Mapping[str, str], names: ClaimNames, keys: UsageKeys) -> str:
    """The API key that counts the call: the caller's own, else its tier's; empty if there is none.

    Raises `RefusedCallerError` if the claim is not text.
    """
    try:
        named = read_label(claims, names.usage_key) if names.usage_key else ""
        own = named or keys.by_owner.get(context["sub"], "")
    except AmbiguousClaimError as error:
        raise RefusedCallerError(str(error)) from None
    return own or keys.by_tier.get(context["tier"], "") or keys.by_tier.get(FREE_TIER, "")
