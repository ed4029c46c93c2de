"""From a token's claims to the flat texts that a gateway can carry to the tool.

Their names are fixed, whatever the issuer calls its claims, so that only this side has to be told. Teams travel as a
JSON array, the only form that cannot be misread: a claim never gives a right that it does not name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from authorizer.errors import RefusedCallerError
from authorizer.settings import ClaimNames, Settings, UsageKeys

PERMISSION: Final = "knowledge:read"
"""What the tool calls the right to read; issuers that cannot write it so have another name for it."""

FREE: Final = "free"

MAX_CONTEXT_BYTES: Final = 7000
"""The gateway takes an answer of 8 kB, policy included."""

_OTHER_SCOPE_CLAIM: Final = "scp"
_OTHER_CLIENT_CLAIM: Final = "azp"

Claims = Mapping[str, Any]


def context_of(claims: Claims, settings: Settings) -> dict[str, str]:
    """The caller as texts: `sub`, `teams`, `scope`, `client_id`, `tier`.

    Raises `RefusedCallerError` if the token lacks the required scope, or if owner or teams cannot be told for certain.
    """
    names = settings.claim_names
    context = {
        "scope": " ".join(_permissions(claims, names, settings.required_scope)),
        "sub": _owner(claims, names),
        "teams": json.dumps(_teams(claims.get(names.teams), names), separators=(",", ":")),
        "client_id": _plain(claims.get(names.client)) or _plain(claims.get(_OTHER_CLIENT_CLAIM)),
        "tier": _plain(claims.get(names.tier)) or FREE,
    }
    if len(json.dumps(context)) > MAX_CONTEXT_BYTES:
        raise RefusedCallerError("the claims are larger than the gateway can carry")
    return context


def usage_key(claims: Claims, context: Mapping[str, str], names: ClaimNames, keys: UsageKeys) -> str:
    """The API key on which the call counts: the caller's own, else its tier's; empty if there is none."""
    own = _plain(claims.get(names.usage_key)) or keys.by_owner.get(context["sub"], "")
    return own or keys.by_tier.get(context["tier"], "") or keys.by_tier.get(FREE, "")


def _permissions(claims: Claims, names: ClaimNames, required: str) -> Sequence[str]:
    found = claims.get(names.scope) or claims.get(_OTHER_SCOPE_CLAIM)
    held = found.split(" ") if isinstance(found, str) else found if isinstance(found, list) else []
    if required not in held:
        msg = f"the token lacks the scope {required}"
        raise RefusedCallerError(msg)
    return sorted({PERMISSION, *(one for one in held if isinstance(one, str) and one)})


def _owner(claims: Claims, names: ClaimNames) -> str:
    owner = _plain(claims.get(names.owner))
    if not owner.strip():
        msg = f"the token names no owner in the claim {names.owner}"
        raise RefusedCallerError(msg)
    return _text(owner, names.owner)


def _teams(value: object, names: ClaimNames) -> Sequence[str]:
    if value is None:
        return []
    if isinstance(value, list):
        return _listed(value, names.teams)
    text = _plain(value)
    if not text and value != "":
        raise _uncertain(names.teams, "it is neither text nor a list of texts")
    if text.lstrip().startswith("["):
        return _listed(_json_array(text, names.teams), names.teams)
    return _words(text, names)


def _listed(values: Sequence[object], name: str) -> Sequence[str]:
    ids = [_plain(value) for value in values]
    if any(not identity and value != "" for identity, value in zip(ids, values, strict=True)):
        raise _uncertain(name, "one of its entries is not text")
    return [_text(identity, name) for identity in ids if identity]


def _json_array(text: str, name: str) -> Sequence[object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, list):
        return found
    raise _uncertain(name, "it begins like a JSON array and is none")


def _words(text: str, names: ClaimNames) -> Sequence[str]:
    ids = text.replace(",", " ").split(" ") if names.teams_are_words else [text]
    if any("," in identity or any(map(str.isspace, identity)) for identity in ids):
        raise _uncertain(names.teams, "an id with a blank or a comma cannot be told from two ids")
    return [_text(identity, names.teams) for identity in ids if identity]


def _plain(value: object) -> str:
    """Text as it is, a whole number in digits; empty for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _text(identity: str, name: str) -> str:
    if any("\ud800" <= character <= "\udfff" for character in identity):
        raise _uncertain(name, "it holds a lone surrogate, which is not text")
    return identity


def _uncertain(name: str, reason: str) -> RefusedCallerError:
    return RefusedCallerError(f"the claim {name} cannot be read for certain: {reason}")
